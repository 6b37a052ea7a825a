//! Hosts of computed sources of units: the gate asks only those that the settings of the base name.

use std::collections::BTreeSet;
use std::path::Path;

use super::{GateRoot, GateRoots};
use crate::addr::Hostname;
use crate::config::ModuleSource;
use crate::path::shown;
use crate::words::counted;

/// Hosts that the gate would not ask, though sources of units come from there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UnlistedHosts {
    hosts: BTreeSet<String>,
    /// All hosts of modules, which the setting has to name.
    all: BTreeSet<String>,
    units: usize,
    first: String,
}

impl UnlistedHosts {
    /// `None` if there are none.
    pub fn of(roots: &GateRoots) -> Option<Self> {
        let opened: Vec<(&Path, &GateRoot)> =
            roots.iter().filter_map(|(path, root)| Some((&**path, root.as_ref().ok()?))).collect();
        // A host that some unit names without anything computed is asked too.
        let literal: BTreeSet<String> = opened.iter().filter_map(|(_, root)| literal_host(root)).collect();
        let mut found = Self::default();
        for (path, root) in &opened {
            let Some(tree) = root.tree() else { continue };
            let listed = root.settings().settings.policy.module_hosts.iter().flatten().map(Hostname::as_ascii);
            let listed: BTreeSet<&str> = listed.collect();
            found.all.extend(listed.iter().map(|host| (*host).to_owned()));
            found.all.extend(tree.remote_modules.iter().filter_map(|call| call.address.as_ref()?.host()));
            let Some(host) = &tree.computed_host else { continue };
            found.all.insert(host.clone());
            if !literal.contains(host) && !listed.contains(&**host) {
                found.hosts.insert(host.clone());
                found.units += 1;
                if found.first.is_empty() {
                    found.first = shown(path);
                }
            }
        }
        (found.units > 0).then_some(found)
    }

    /// `module_hosts = ["a.com", "b.com"]`
    pub fn line(&self) -> String {
        let hosts: Vec<String> = self.all.iter().map(|host| format!("{host:?}")).collect();
        format!("module_hosts = [{}]", hosts.join(", "))
    }

    /// What the gate would say, and what helps.
    pub fn note(&self) -> String {
        let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        format!(
            "with --base, the sources of {}, such as {}, are not fetched: they are computed, and the settings do not name {} in \
             module_hosts; add `{}` to the `policy` block of .tflock.hcl",
            counted(self.units, "unit"),
            self.first,
            hosts.join(", "),
            self.line()
        )
    }
}

/// The host of the source of a unit that has nothing computed in it.
fn literal_host(root: &GateRoot) -> Option<String> {
    let tree = root.tree().filter(|tree| tree.computed_host.is_none())?;
    let source = tree.unit.as_ref()?.source.as_deref()?;
    ModuleSource::parse(source, false, root.settings().dialect).ok()?.host()
}

//! What the findings about the whole working tree mean for its root modules. It is decided before a root module is judged, so no
//! finding has to be changed afterwards.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::base::Base;
use super::root::{GateRoot, GateRoots};
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};

/// The root modules, by path, that a denied finding about the whole tree concerns.
#[derive(Debug, Default)]
pub struct TreeVerdict {
    /// Their files are for another tool than they are judged for.
    of_other_tool: BTreeSet<PathBuf>,
    /// They are of another kind than at the base.
    of_other_kind: BTreeSet<PathBuf>,
    /// What leads to their lock files is denied, so nothing is written there.
    barred: BTreeSet<PathBuf>,
}

impl TreeVerdict {
    pub(super) fn of(base: Option<&Base>, findings: &[Finding], roots: &GateRoots) -> Self {
        let denied: Vec<&Finding> = findings.iter().filter(|finding| finding.level() == Level::Deny).collect();
        let opened = roots.iter().filter_map(|(path, root): &(PathBuf, Result<GateRoot, Error>)| {
            root.as_ref().ok().map(|root| (path, root))
        });
        let mut verdict = Self::default();
        if denied.iter().any(|finding| finding.rule == Rule::DialectChanged) {
            let of_other_tool = opened.clone().filter(|(_, root)| root.tool_changed());
            verdict.of_other_tool = of_other_tool.map(|(path, _)| path.clone()).collect();
        }
        for finding in denied.iter().filter(|finding| finding.rule == Rule::RootKindChanged) {
            let directory = finding.file.as_deref().and_then(Path::parent);
            verdict.of_other_kind.extend(directory.map(Path::to_owned));
        }
        if let Some(base) = base {
            let files: Vec<&Path> = denied.iter().filter_map(|finding| finding.file.as_deref()).collect();
            let barred = opened.filter(|(_, root)| base.is_barred(root, &files));
            verdict.barred = barred.map(|(path, _)| path.clone()).collect();
        }
        verdict
    }

    /// True if nothing may be written for a root module.
    pub(super) fn is_barred(&self, path: &Path) -> bool {
        self.barred.contains(path)
    }

    /// True if breaking a rule follows from the other tool by which a root module is judged.
    pub(super) fn explains(&self, path: &Path, rule: Rule) -> bool {
        [Rule::EntryMissing, Rule::PossiblyFromState].contains(&rule) && self.of_other_tool.contains(path)
    }

    /// The level of requirements that are not read, where that follows from the other kind of a root module. `stated` is the one of
    /// the settings.
    pub(super) fn level_of_unread(&self, path: &Path, stated: Option<Level>) -> Option<Level> {
        let level = stated.map_or(Level::Warn, |stated| stated.min(Level::Warn));
        if self.of_other_kind.contains(path) { Some(level) } else { None }
    }
}

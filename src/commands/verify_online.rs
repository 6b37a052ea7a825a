//! The part of `verify` that asks registries: from lock files to what is known of their releases.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::LockOptions;
use super::lock::RuleBook;
use super::verify::{Known, Root};
use crate::engine::gather::GatherOptions;
use crate::engine::inquiry::{Depth, Inquiry};
use crate::engine::run;
use crate::error::Error;
use crate::hash::HashScheme;
use crate::settings::H1Rule;
use crate::verify::is_well_formed;

/// Asks about each locked release once, whatever the number of root modules that lock it.
///
/// What the settings of all these root modules forbid is not asked about.
///
/// # Errors
///
/// As [`run::inquire`].
pub fn ask(roots: &[(PathBuf, Result<Root, Error>)], options: GatherOptions, depth: Depth) -> Result<Known, Error> {
    let inquiries = inquiries(roots, depth);
    if inquiries.is_empty() { Ok(Known::new()) } else { run::inquire(options, inquiries) }
}

fn inquiries(roots: &[(PathBuf, Result<Root, Error>)], depth: Depth) -> BTreeMap<run::ReleaseKey, Inquiry> {
    let mut inquiries: BTreeMap<run::ReleaseKey, Inquiry> = BTreeMap::new();
    for root in roots.iter().filter_map(|(_, root)| root.as_ref().ok()) {
        let run = root.settings();
        let rules = RuleBook::new(run, &LockOptions::default());
        let platforms = run.settings.platforms.clone().unwrap_or_default();
        for (addr, entry) in root.lock().iter().filter(|(addr, _)| !rules.forbids(addr)) {
            let own = run.settings.hosts.get(addr.host()).copied().or(run.settings.policy.h1);
            let h1 = entry.hashes.of(HashScheme::H1).filter(|hash| is_well_formed(hash));
            let inquiry = Inquiry {
                rules: rules.of(addr, &platforms),
                believe: own != Some(H1Rule::Verified),
                platforms: platforms.iter().cloned().collect(),
                h1: h1.cloned().collect(),
                depth,
            };
            match inquiries.entry((addr.clone(), entry.version.clone())) {
                std::collections::btree_map::Entry::Vacant(vacant) => {
                    vacant.insert(inquiry);
                }
                std::collections::btree_map::Entry::Occupied(mut occupied) => occupied.get_mut().join(inquiry),
            }
        }
    }
    inquiries
}

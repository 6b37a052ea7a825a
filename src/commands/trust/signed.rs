//! Which recorded releases a signer signed: what stays accepted of it when another takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::locks_below;
use crate::addr::{AddrPattern, ProviderAddr};
use crate::commands::lock::RuleBook;
use crate::commands::sources::Sources;
use crate::commands::{LockOptions, Services};
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::git::Git;
use crate::path::shown;
use crate::query::cached;
use crate::query::question::Query;
use crate::release::{Lookup, ReleaseKey};
use crate::trust::pins::{Pins, Signer};
use crate::version::Version;
use crate::workspace::RunSettings;

pub(super) type Signed = BTreeMap<Signer, BTreeSet<Version>>;

/// What is asked about, and who answers.
#[derive(Clone, Copy)]
pub(super) struct Signatures<'a, 's> {
    pub(super) services: &'a Services<'s>,
    pub(super) root: &'a RunSettings,
    pub(super) cache: &'a Arc<Cache>,
}

impl Signatures<'_, '_> {
    /// The versions that the working tree or its history records of the providers that the pin of a pattern applies to, by
    /// who signed them. Their signatures are checked: with what earlier runs kept, else with what the registry serves.
    /// Providers with a pin of their own are left out.
    pub(super) fn of(self, pattern: &AddrPattern, pins: &Pins, notes: &mut Vec<String>) -> Result<Signed, Error> {
        let is_governed = |addr: &ProviderAddr| {
            pattern.matches(addr) && pins.pin(addr).is_none_or(|(counting, _)| counting.covers(pattern))
        };
        let recorded = recorded(&self.root.boundary, notes)?.into_iter().filter(|(addr, _)| is_governed(addr));
        let rules = RuleBook::new(self.root, &LockOptions::default());
        let (mut by_signer, mut open, mut unproven) = (Signed::new(), BTreeMap::<ReleaseKey, Query>::new(), Vec::new());
        for (addr, version) in recorded {
            let disputed = self.cache.release(&addr, &version).is_some_and(|record| record.disputed);
            let kept = cached::release(self.cache, &addr, &version, rules.check(&addr));
            match kept.release().and_then(|release| release.signer.clone()).filter(|_| !disputed) {
                Some(signer) => drop(by_signer.entry(signer).or_default().insert(version)),
                None if rules.forbids(&addr, &version) => unproven.push(format!("{addr} {version}")),
                None => {
                    let query = super::init::question(version.clone(), rules.of(&addr, &[]));
                    open.insert((addr, version), query);
                }
            }
        }
        for ((addr, version), lookup) in self.look_up(&open)? {
            match lookup {
                Lookup::Inconclusive(error) => {
                    let way = "with --offline, versions whose signer is not known from earlier runs are not kept";
                    return Err(error.hint(way));
                }
                Lookup::Known(release) => match &release.signer {
                    Some(signer) => drop(by_signer.entry(signer.clone()).or_default().insert(version)),
                    None => unproven.push(format!("{addr} {version}")),
                },
                Lookup::NotRequested | Lookup::Withdrawn(_) | Lookup::Refused(..) => {
                    unproven.push(format!("{addr} {version}"));
                }
            }
        }
        if !unproven.is_empty() {
            let names = unproven.join(", ");
            notes.push(format!("the earlier signers are not kept for {names}: no signature shows that one signed it"));
        }
        Ok(by_signer)
    }

    fn look_up(self, open: &BTreeMap<ReleaseKey, Query>) -> Result<BTreeMap<ReleaseKey, Lookup>, Error> {
        if open.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.services.events_for(Some(self.root.dialect));
        let sources = Sources::new(self.services, self.cache);
        let source = self.root.source();
        let mut answers: BTreeMap<ReleaseKey, Lookup> =
            open.keys().map(|key| (key.clone(), Lookup::NotRequested)).collect();
        let providers: Vec<&ProviderAddr> = answers.keys().map(|(addr, _)| addr).collect();
        let groups = sources.groups([(0, source, providers.into_iter())]);
        for group in groups {
            let Some(session) = group.opened?.filter(|_| !self.root.offline) else { continue };
            let known = session.block_on(async |sources| sources.lookups(open.clone()).await)?;
            answers.extend(known);
        }
        Ok(answers)
    }
}

/// The releases that the lock files of a working tree record, now or in its history.
fn recorded(top: &Path, notes: &mut Vec<String>) -> Result<BTreeSet<ReleaseKey>, Error> {
    let unread = |path: &Path| {
        notes.push(format!("{} cannot be read; its versions do not count as locked", shown(path)));
    };
    let locks = locks_below(top, unread)?;
    let now = locks.iter().flat_map(|lock| lock.iter().map(|(addr, entry)| (addr.clone(), entry.version.clone())));
    let mut recorded: BTreeSet<ReleaseKey> = now.collect();
    // Without git, and where git gives no answer, there is only what is here now.
    if let Ok(earlier) = Git::open(top).and_then(|git| git.once_locked()) {
        recorded.extend(earlier);
    }
    Ok(recorded)
}

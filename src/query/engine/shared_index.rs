//! What others computed: entries that were imported, and shared indexes. They spare downloads where rules let them, and
//! are checked against what is computed here.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, MutexGuard};

use super::equipment::each;
use super::registry::RegistrySource;
use super::{FetchOrder, SourceSet, SourceState};
use crate::disk::cache::exchange::{IndexKey, decode_line, decode_program};
use crate::disk::cache::{IndexEntry, IndexOrigin, ProgramRecord};
use crate::finding::{Finding, Level, Rule};
use crate::hash::{PackageHash, Sha256Digest};
use crate::parallel::locked;
use crate::platform::Platform;
use crate::query::question::Selected;
use crate::query::select::Rules;
use crate::query::{Event, PackageKey};
use crate::release::{Attestation, ReleaseKey};
use crate::settings::{Index, IndexTrust};
use crate::trust::Evidence;

/// What imported entries are reported by.
const IMPORT: &str = "import";

/// What others say of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) h1: PackageHash,
    pub(super) size: u64,
    pub(super) by: Arc<str>,
    /// True if that counts as if it were computed here.
    pub(super) verified: bool,
}

impl SourceSet {
    /// What shared indexes know of the programs of packages, requested in parallel.
    pub async fn shared_programs(
        self: &Arc<Self>,
        orders: BTreeMap<PackageKey, FetchOrder>,
    ) -> BTreeMap<PackageKey, Option<ProgramRecord>> {
        each(self, orders, |sources, key, order| async move {
            for source in sources.taking(&key.address) {
                if let SourceState::Registry(registry) = source
                    && let Some(program) = registry.shared_program(&key.platform, &order).await
                {
                    return Some(program);
                }
            }
            None
        })
        .await
    }
}

impl RegistrySource {
    pub(super) fn report(&self, zh: &Sha256Digest, rules: &Rules) -> Option<Report> {
        let imported = || {
            let (h1, size) = self.cache.imported_h1_of(zh).filter(|_| rules.imported)?;
            Some(Report { h1, size, by: Arc::from(IMPORT), verified: false })
        };
        let shared = self.shared().get(zh).cloned().filter(|(index, _)| rules.indexes.contains(index));
        shared.map(report).or_else(imported)
    }

    fn shared(&self) -> MutexGuard<'_, HashMap<Sha256Digest, (Index, IndexEntry)>> {
        locked(&self.shared)
    }

    /// Looks up an unknown archive in shared indexes, unless an answer exists already.
    pub(super) async fn query_indexes(&self, zh: Sha256Digest, rules: &Rules) {
        if self.cache.h1_of(&zh).is_some() || self.report(&zh, rules).is_some_and(|report| report.verified) {
            return;
        }
        for index in &rules.indexes {
            let line = self.look_up(index, IndexKey::Archive(zh)).await;
            if let Some(entry) = line.and_then(|line| decode_line(&line)) {
                self.shared().insert(zh, (index.clone(), entry));
                return;
            }
        }
    }

    async fn look_up(&self, index: &Index, key: IndexKey) -> Option<Arc<[u8]>> {
        let answer = self.indexes.look_up(index, key).await;
        if let Some(text) = answer.note {
            self.equipment.events.emit(Event::Note { text });
        }
        answer.line
    }

    /// What the program of a package was built from, by the first index that knows it; reported, unless the index counts
    /// as if it were computed here.
    async fn shared_program(&self, platform: &Platform, order: &FetchOrder) -> Option<ProgramRecord> {
        for index in order.rules.iter().flat_map(|rules| &rules.indexes) {
            let h1 = order.recorded.iter().filter_map(|hash| hash.as_str().strip_prefix("h1:"));
            for h1 in h1.filter_map(Sha256Digest::from_base64) {
                let line = self.look_up(index, IndexKey::Program(h1)).await;
                let program = line.and_then(|line| decode_program(std::str::from_utf8(&line).ok()?));
                if let Some(program) = program.filter(|program| program.platform == *platform) {
                    let is_verified = index.trust == IndexTrust::Verified;
                    let origin = if is_verified { IndexOrigin::Computed } else { IndexOrigin::Imported };
                    return Some(ProgramRecord { origin, ..program });
                }
            }
        }
        None
    }

    /// Says of the packages of a release whose `h1:` is the word of an index that it is.
    pub(super) fn attribute_to_indexes(&self, known: &mut Selected, rules: &Rules) {
        for (platform, package) in known.packages.iter().filter(|(_, package)| !package.computed) {
            let Some((zh, own)) = package.zh.zip(package.h1.as_ref()) else {
                continue;
            };
            if let Some(report) = self.report(&zh, rules).filter(|report| report.h1 == *own) {
                let (platform, evidence) = (Some(platform.clone()), Evidence::ReportedByIndex(report.by));
                known.release.attest(own.clone(), Attestation::new(platform, evidence));
            }
        }
    }

    /// Where what others report of archives is not what was computed here.
    pub(super) fn against_reports(
        &self,
        release: &ReleaseKey,
        archives: impl Iterator<Item = (Platform, Sha256Digest)>,
    ) -> Vec<Finding> {
        archives.filter_map(|(platform, zh)| self.contradiction(release, &platform, zh)).collect()
    }

    fn contradiction(&self, (addr, version): &ReleaseKey, platform: &Platform, zh: Sha256Digest) -> Option<Finding> {
        let (own, _) = self.cache.h1_of(&zh)?;
        let imported = self.cache.imported_h1_of(&zh);
        let imported = imported.map(|(h1, size)| Report { h1, size, by: Arc::from(IMPORT), verified: false });
        let shared = self.shared().get(&zh).cloned().map(report);
        let wrong = shared.into_iter().chain(imported).find(|report| report.h1 != own)?;
        let message = format!(
            "the index {:?} gives {} for the archive of {addr} {version} for {platform}, which has {own}",
            wrong.by, wrong.h1,
        );
        let finding = Finding::new(Rule::IndexDiffers, message).about(addr);
        Some(if wrong.verified { finding.at_level(Level::Deny) } else { finding })
    }
}

fn report((index, entry): (Index, IndexEntry)) -> Report {
    Report { h1: entry.h1_hash(), size: entry.size, by: index.name, verified: index.trust == IndexTrust::Verified }
}

//! What is known of the releases and archives that changes are about: from the cache, or from registries that were asked.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use super::verify::Known;
use crate::addr::ProviderAddr;
use crate::diff::{ArchiveFacts, Attribution, ReleaseFacts};
use crate::disk::cache::Cache;
use crate::engine::recollect::recollect;
use crate::error::Error;
use crate::evidence::Evidence;
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::Change;
use crate::settings::SignatureRule;
use crate::verify::{Knowledge, Line, Release};
use crate::version::Version;

/// What the cache knows of releases and archives, after `asked` what registries said of releases in this run.
///
/// A kept signature is verified again, and its signer is told, not trusted: whoever made the first run may have been
/// given any key.
pub fn attribution(changes: &[Change], asked: &Known, cache: &Cache, now: SystemTime) -> Attribution {
    let mut known = Attribution::default();
    for change in changes.iter().filter(|change| is_judged(change)) {
        let Some(entry) = change.new.as_ref().or(change.old.as_ref()) else { continue };
        let key = (change.address.clone(), entry.version.clone());
        let (knowledge, unanswered) = match asked.get(&key) {
            Some(Knowledge::Inconclusive(error)) => {
                (recollect(cache, &key.0, &key.1, (SignatureRule::IfKeysKnown, now)), Some(error))
            }
            Some(knowledge) => (knowledge.clone(), None),
            None => (recollect(cache, &key.0, &key.1, (SignatureRule::IfKeysKnown, now)), None),
        };
        let mut archives: BTreeSet<PackageHash> = BTreeSet::new();
        if let Some(facts) = facts(&key, &knowledge, unanswered) {
            archives.extend(facts.packages.iter().map(|package| package.zh.clone()));
            known.releases.insert(key, facts);
        }
        // Without either, what an archive contains tells nothing about this release.
        let counts = is_same_version(change) || !archives.is_empty();
        for entry in [&change.old, &change.new].into_iter().flatten().filter(|_| counts) {
            archives.extend(entry.hashes.of(HashScheme::Zh).cloned());
        }
        if let Knowledge::Known(release) = &knowledge {
            computed(&mut known, release);
        }
        for zh in archives {
            if let Some((h1, _)) = zh.zh_digest().and_then(|digest| cache.h1_of(&digest)) {
                known.computed(zh, h1);
            }
        }
    }
    known
}

/// The entries that registries would have to be asked about: releases with the hashes that came or went.
pub fn questions(changes: &[Change]) -> LockFile {
    let mut questions = LockFile::new();
    for change in changes.iter().filter(|change| is_judged(change)) {
        let Some(new) = &change.new else { continue };
        let mut entry =
            LockEntry { hashes: change.hashes_added.iter().map(|it| it.hash.clone()).collect(), ..new.clone() };
        if is_same_version(change) {
            entry.hashes.extend(change.hashes_removed.iter().cloned());
        }
        questions.insert(change.address.clone(), entry);
    }
    questions
}

/// True if some hash of the change gets a verdict.
fn is_judged(change: &Change) -> bool {
    !change.hashes_added.is_empty() || is_same_version(change) && !change.hashes_removed.is_empty()
}

fn is_same_version(change: &Change) -> bool {
    change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(old, new)| old.version == new.version)
}

/// What the knowledge of a release means for its hashes; none if there is no knowledge.
fn facts(
    (addr, version): &(ProviderAddr, Version),
    knowledge: &Knowledge,
    unanswered: Option<&Error>,
) -> Option<ReleaseFacts> {
    match knowledge {
        Knowledge::Unasked | Knowledge::Inconclusive(_) => {
            let inconclusive = Some(unanswered?.clone());
            Some(ReleaseFacts { inconclusive, ..ReleaseFacts::default() })
        }
        Knowledge::Refused(finding) => {
            Some(ReleaseFacts { findings: vec![finding.clone().about(addr)], ..ReleaseFacts::default() })
        }
        // Whoever could vouch for it says that there is no such release.
        Knowledge::Withdrawn(message) => Some(ReleaseFacts {
            asked: true,
            complete: true,
            findings: vec![Finding::new(Rule::VersionWithdrawn, message).about(addr)],
            ..ReleaseFacts::default()
        }),
        Knowledge::Known(release) => {
            debug_assert_eq!((addr, version), (&release.address, &release.version));
            let facts = known(release);
            let inconclusive = unanswered.cloned().or(facts.inconclusive);
            Some(ReleaseFacts { inconclusive, ..facts })
        }
    }
}

fn known(release: &Release) -> ReleaseFacts {
    let mut facts = ReleaseFacts {
        signer: Some(release.signer.clone()),
        asked: release.current,
        complete: release.current && release.complete,
        link: release.link.clone(),
        findings: release.findings.clone(),
        inconclusive: release.inconclusive.clone(),
        ..ReleaseFacts::default()
    };
    for (digest, line) in &release.lines {
        let zh = PackageHash::zh(*digest);
        match line {
            Line::Archive(platform) => facts.packages.push(ArchiveFacts { zh, platform: platform.clone() }),
            Line::Other => {
                facts.other_lines.insert(zh);
            }
        }
    }
    let reported = release.h1.iter().filter(|(_, vouched)| vouched.evidence == Evidence::ReportedByOrigin);
    facts.reported = reported.map(|(h1, vouched)| (h1.clone(), vouched.platform.clone())).collect();
    facts
}

/// Adds what was computed from the archives of a release.
fn computed(known: &mut Attribution, release: &Release) {
    let mut archives = BTreeMap::new();
    for (digest, line) in &release.lines {
        if let Line::Archive(Some(platform)) = line {
            archives.insert(platform, PackageHash::zh(*digest));
        }
    }
    for (h1, vouched) in release.h1.iter().filter(|(_, vouched)| vouched.evidence == Evidence::Computed) {
        if let Some(zh) = vouched.platform.as_ref().and_then(|platform| archives.get(platform)) {
            known.computed(zh.clone(), h1.clone());
        }
    }
}

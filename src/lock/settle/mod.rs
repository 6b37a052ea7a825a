//! Decides which hashes are written, and why. Pure: it turns a step, the facts about its release and the rules into a
//! new entry, or into findings that refuse it. Source: the recorded hashes follow
//! `internal/getproviders/package_authentication.go` and `internal/providercache/installer.go`; further refusals are
//! tflock's own.

#[cfg(test)]
mod tests;
mod unattested;

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::diff::AddedHash;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::query::question::{PackageFacts, Query, Refusal, Selected, Selection};
use crate::query::select::ReportedRule;
use crate::release::continuity::{self, Continuity, EarlierRecord};
use crate::release::hashes::HashJudge;
use crate::release::{Release, hashes};
use crate::step::Step;
use crate::trust::Evidence;
use crate::trust::pins::Signer;
use crate::version::Version;

pub use unattested::remedy as unattested_remedy;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryDecision {
    pub entry: LockEntry,
    /// The new hashes, each with all evidence for it.
    pub added: Vec<AddedHash>,
    pub signer: Option<Signer>,
    pub first_use: bool,
    /// True if changed hashes of the recorded version were accepted.
    pub republished: bool,
    /// True if the entry had the same archives at another address.
    pub identical: bool,
    pub findings: Vec<Finding>,
}

impl EntryDecision {
    /// An entry that stays unchanged.
    pub fn kept(entry: LockEntry) -> Self {
        let (added, findings) = (Vec::new(), Vec::new());
        Self { entry, added, signer: None, first_use: false, republished: false, identical: false, findings }
    }
}

/// Settles one provider. `leveled` sets the level of a finding by the settings; `records` returns other records of a
/// release that seems to be republished.
pub fn settle(
    step: &Query,
    facts: &Selected,
    leveled: &dyn Fn(Finding) -> Finding,
    records: &dyn Fn(&Release) -> Vec<EarlierRecord>,
) -> Result<EntryDecision, Vec<Refusal>> {
    let addr = &facts.release.address;
    let mut findings = facts.release.findings.clone();
    let errors = lacks(addr, step, facts, &mut findings);
    if facts.release.signer.is_some() {
        let packages = facts.packages.iter();
        findings.extend(packages.filter_map(|(platform, package)| {
            hashes::unusual_name(addr, facts.version(), platform, &package.file_name)
        }));
    }
    let recorded = recorded_under(step, facts);
    let claims = Claims::of(step, facts);
    let (said, first_use) = match &recorded {
        Some(entry) => continuity(entry, step, facts, records),
        None => (Vec::new(), true),
    };
    findings.extend(said);
    // A mirror without a recorded package gave none either.
    if !findings.iter().any(|finding| finding.rule == Rule::MirrorDiffers) {
        findings.extend(mirror_only(addr, recorded.filter(|_| !first_use), step, facts));
    }
    findings.extend(hashes::unsigned(&facts.release).filter(|_| step.rules.signature_stated));
    let signer = facts.release.signer.clone().filter(|_| first_use);
    let mut findings: Vec<Finding> = findings.into_iter().map(leveled).collect();
    if !errors.is_empty() || findings.iter().any(|finding| finding.level() == Level::Deny) {
        let findings = findings.into_iter().map(Refusal::from);
        return Err(errors.into_iter().map(Refusal::Error).chain(findings).collect());
    }
    let has_known = |entry: &LockEntry| {
        [HashScheme::H1, HashScheme::Zh].iter().any(|scheme| entry.hashes.of(*scheme).next().is_some())
    };
    let identical = identical(step, facts);
    let republished = first_use && recorded.is_some_and(has_known);
    let dropped = match recorded.filter(|_| step.drop_unattested && !first_use) {
        Some(entry) => unattested::droppable(entry, &facts.release).map_err(|error| vec![Refusal::Error(error)])?,
        None => BTreeSet::new(),
    };
    let kept = match recorded {
        Some(_) if republished => PackageHashes::new(),
        Some(entry) => entry.hashes.iter().filter(|hash| !dropped.contains(*hash)).cloned().collect(),
        None => identical.map(|entry| entry.hashes.clone()).unwrap_or_default(),
    };
    let unsigned_entry = recorded.filter(|_| !first_use && !is_signed(facts));
    let added: Vec<AddedHash> = claims
        .into_added()
        .filter(|added| !kept.contains(&added.hash))
        .filter(|added| unsigned_entry.is_none() || is_shown(facts, &added.hash))
        .collect();
    let entry = recorded.filter(|_| !republished).or(identical);
    if let (Some(entry), Some(_)) = (entry, &facts.release.signer) {
        let staying = LockEntry { hashes: kept.clone(), ..entry.clone() };
        let unattested = unattested::kept(&staying, &facts.release);
        findings.extend(unattested.into_iter().chain(unattributed(addr, &staying, facts)).map(leveled));
    }
    let mut hashes = kept;
    hashes.extend(added.iter().map(|added| added.hash.clone()));
    findings.extend(fewer(addr, step, &hashes));
    let entry = LockEntry { version: facts.version().clone(), constraints: step.constraints.clone(), hashes };
    Ok(EntryDecision { entry, added, signer, first_use, republished, identical: identical.is_some(), findings })
}

/// What is said of an entry that is put back as an earlier commit has it: warnings if the source serves something else by now,
/// or a refusal if a mirror has no package of it, since nothing else shows which release a mirror serves.
pub fn restored(entry: &LockEntry, facts: &Selected) -> Vec<Finding> {
    let release = &facts.release;
    let differs = hashes::differs(release, &entry.hashes);
    let verdict = continuity::judge_release(&entry.hashes, release);
    let republished = match verdict {
        // Without packages it is open whose the contents are.
        Continuity::Republished { .. } if differs.is_none() && is_signed(facts) => {
            continuity::republished(&entry.hashes, release, &verdict)
        }
        _ => None,
    };
    let unattested = if republished.is_none() { unattested::kept(entry, release) } else { Vec::new() };
    let warned = republished.map(|finding| finding.at_level(Level::Warn));
    differs.into_iter().chain(warned).chain(unattested).collect()
}

/// A warning if only a mirror attests new hashes: for a release that is new to the file, or for packages without a recorded hash.
fn mirror_only(addr: &ProviderAddr, recorded: Option<&LockEntry>, step: &Query, facts: &Selected) -> Option<Finding> {
    if facts.release.signer.is_some() || facts.packages.is_empty() {
        return None;
    }
    let version = facts.version();
    let message = match recorded {
        None => format!(
            "only a mirror attests {addr} {version}, and it signs nothing: the hashes are of the packages that it serves"
        ),
        Some(entry) => {
            let is_new = |platform: &&Platform| {
                let package = facts.packages.get(*platform);
                package.is_some_and(|package| !package.hashes().any(|hash| entry.hashes.contains(&hash)))
            };
            let new: Vec<&str> = step.platforms.iter().filter(is_new).map(Platform::as_str).collect();
            if new.is_empty() {
                return None;
            }
            let others = "which gave a recorded package of that release too";
            format!("only the mirror, {others}, attests {addr} {version} for {}", new.join(", "))
        }
    };
    Some(Finding::new(Rule::MirrorOnly, message).about(addr))
}

/// The entry of a release at another address, if signed checksums list the same archives here.
fn identical<'a>(step: &'a Query, facts: &Selected) -> Option<&'a LockEntry> {
    facts.release.key()?;
    let entry = &step.moved.as_ref().filter(|_| step.recorded.is_none())?.entry;
    let is_same = entry.version == *facts.version() && continuity::has_same_archives(&entry.hashes, &facts.release);
    is_same.then_some(entry)
}

/// A note if an entry has fewer `h1:` hashes than at its old address.
fn fewer(addr: &ProviderAddr, step: &Query, hashes: &PackageHashes) -> Option<Finding> {
    let moved = step.moved.as_ref()?;
    let [old, new] = [&moved.entry.hashes, hashes].map(|hashes| hashes.of(HashScheme::H1).count());
    let message = format!(
        "{addr} has {new} h1, where {} had {old}: platforms that were not named with --platform may be missing now",
        moved.from,
    );
    (new < old).then(|| Finding::new(Rule::UnknownPlatformHash, message).about(addr))
}

fn lacks(addr: &ProviderAddr, step: &Query, facts: &Selected, findings: &mut Vec<Finding>) -> Vec<Error> {
    let mut errors = Vec::new();
    for (platform, newest) in &facts.missing {
        let place = facts.place.as_ref().map(|place| format!(" in {place}")).unwrap_or_default();
        let message = format!("provider {addr} {} is not available for {platform}{place}", facts.version());
        if step.rules.optional.contains(platform) || step.rules.unnamed.contains(platform) {
            findings.push(Finding::new(Rule::PlatformMissing, message).about(addr));
            continue;
        }
        let own = (*platform == Platform::host()).then(|| {
            format!(
                "{platform} is the platform of this machine: with --platform, or with `platforms` in .tflock.hcl, only those \
                 named there are wanted"
            )
        });
        let optional = "if the package is not needed, name the platform under optional_platforms in .tflock.hcl";
        let near = platform.meant().map(Step::meant);
        let error = Error::new(ErrorKind::NotFound, message).about(addr.clone()).hints(near);
        let error = error.hints(elsewhere(platform, newest.as_ref(), step, facts));
        errors.push(error.hints(own).hint(optional));
    }
    if !facts.supported_protocol {
        let message = format!("provider {addr} {} does not support plugin protocol 5 or 6", facts.version());
        let hint = match &facts.newest_supported {
            Some(version) => format!("the newest version with a supported protocol is {version}"),
            None => format!("no version of {addr} supports plugin protocol 5 or 6"),
        };
        errors.push(Error::new(ErrorKind::NotFound, message).hint(hint));
    }
    errors
}

/// Where there is a package for a platform that the release lacks.
fn elsewhere(platform: &Platform, newest: Option<&Version>, step: &Query, facts: &Selected) -> Vec<Step> {
    let addr = &facts.release.address;
    if facts.place.is_some() {
        let there =
            newest.map(|version| format!("the newest version with a package for {platform} there is {version}"));
        let origin = step!(
            "the origin registry may have it: `tflock lock --source origin` locks it from there, \
             `tflock mirror DIR --source origin --platform {}` copies it into a filesystem mirror",
            platform
        );
        return there.map(Step::from).into_iter().chain([origin]).collect();
    }
    let newest = match newest {
        Some(version) if step.constraints.allows(version) => {
            format!("the newest allowed version with a package for {platform} is {version}")
        }
        Some(version) => {
            format!("{version} has a package for {platform}, but the constraint \"{}\" excludes it", step.constraints)
        }
        None => format!("no other version of {addr} has a package for {platform}"),
    };
    let complete = facts.complete.as_ref().filter(|_| step.moved.is_none()).map(|version| {
        step!(
            "`tflock upgrade --precise {} {}` selects a version that is available for all wanted platforms",
            version,
            addr
        )
    });
    std::iter::once(newest.into()).chain(complete).collect()
}

fn is_signed(facts: &Selected) -> bool {
    facts.release.key().is_some()
}

/// True if the hash belongs to an inspected package, or comes from a mirror that the user trusts.
fn is_shown(facts: &Selected, hash: &PackageHash) -> bool {
    let trusted = || facts.trusted.values().flatten().any(|trusted| trusted == hash);
    trusted()
        || facts
            .packages
            .values()
            .any(|package| package.h1.as_ref() == Some(hash) || package.zh_hash().as_ref() == Some(hash))
}

fn recorded_under<'a>(step: &'a Query, facts: &Selected) -> Option<&'a LockEntry> {
    match &step.selection {
        Selection::Keep(version) if *version == *facts.version() => step.recorded_release(),
        _ => step.recorded.as_ref().filter(|entry| entry.version == *facts.version()),
    }
}

/// Applies hash continuity; returns findings, and whether the release counts as new to the file.
fn continuity(
    entry: &LockEntry,
    step: &Query,
    facts: &Selected,
    records: &dyn Fn(&Release) -> Vec<EarlierRecord>,
) -> (Vec<Finding>, bool) {
    let release = &facts.release;
    let name = format!("{} {}", release.address, entry.version);
    let said = |rule, message| Finding::new(rule, message).about(&release.address);
    if let Some(differs) = hashes::differs(release, &entry.hashes) {
        if !step.accept_republished {
            return (vec![differs], false);
        }
        // The user named the mirror, whose packages were rebuilt, unless it was the lock file that changed.
        let altered = continuity::altered(&entry.hashes, release, &records(release));
        let is_altered = altered.is_some();
        return (altered.map(|it| unaccepted(it, step)).into_iter().collect(), !is_altered);
    }
    let (malformed, is_all) = malformed(&release.address, entry);
    if is_all {
        return (malformed, false);
    }
    let (said, first_use) = match judge(entry, facts) {
        Continuity::FirstUse => {
            let message = format!("{name} records no hash of a known scheme: this is a first use");
            (vec![said(Rule::FirstUse, message)], true)
        }
        Continuity::Shown { .. } => (Vec::new(), false),
        Continuity::Grew { new } => {
            let message = format!(
                "{name} has {new} {} that {} not recorded; all recorded packages are unchanged",
                if new == 1 { "package" } else { "packages" },
                if new == 1 { "was" } else { "were" },
            );
            (vec![said(Rule::ReleaseGrew, message)], false)
        }
        verdict @ (Continuity::Republished { .. } | Continuity::NotReproduced) => {
            let altered = || continuity::altered(&entry.hashes, release, &records(release));
            // A mirror may have only a part of a release.
            match release.signer.as_ref().and_then(|_| altered()) {
                Some(altered) => (vec![unaccepted(altered, step)], false),
                None if step.accept_republished => (Vec::new(), true),
                None => (continuity::republished(&entry.hashes, release, &verdict).into_iter().collect(), false),
            }
        }
    };
    if !first_use && let Some(replaced) = replaced(entry, step, release, records) {
        return (vec![replaced], false);
    }
    (said.into_iter().chain(malformed).collect(), first_use)
}

/// The finding that an entry was changed whose release is the recorded one: hashes that no package has took the place of
/// recorded ones. To drop the former and compute the latter is another way back.
fn replaced(
    entry: &LockEntry,
    step: &Query,
    release: &Release,
    records: &dyn Fn(&Release) -> Vec<EarlierRecord>,
) -> Option<Finding> {
    let refuted = unattested::refuted(&entry.hashes, release);
    let verdict = continuity::judge_release(&entry.hashes, release);
    let is_other = matches!(verdict, Continuity::Republished { .. } | Continuity::NotReproduced);
    if refuted.is_empty() || step.drop_unattested || is_other {
        return None;
    }
    continuity::replaced(&entry.hashes, release, &refuted, &records(release)).map(|it| unaccepted(it, step))
}

/// The finding, for a user who takes the change of the file for one of the release.
fn unaccepted(finding: Finding, step: &Query) -> Finding {
    if !step.accept_republished {
        return finding;
    }
    finding.remarked("the release was not published again, so there is nothing to accept")
}

/// Recorded hashes that no package can have, which stay next to valid ones. The flag is true if there are no valid
/// ones, so the recorded release is unknown.
fn malformed(addr: &ProviderAddr, entry: &LockEntry) -> (Vec<Finding>, bool) {
    let known = || entry.hashes.iter().filter(|hash| hash.scheme() != HashScheme::Other);
    let is_all = known().next().is_some() && !known().any(PackageHash::is_well_formed);
    let malformed = known().filter(|hash| !hash.is_well_formed());
    let findings = malformed.map(|hash| {
        let finding = continuity::malformed(hash, addr, &entry.version);
        if is_all {
            return finding;
        }
        finding.at_level(Level::Warn).remarked("kept")
    });
    (findings.collect(), is_all)
}

fn judge(entry: &LockEntry, facts: &Selected) -> Continuity {
    if is_signed(facts) {
        return continuity::judge_release(&entry.hashes, &facts.release);
    }
    let verdicts = facts.packages.values().map(|package| {
        let own: Vec<PackageHash> = package.hashes().collect();
        continuity::judge_package(&entry.hashes, &own)
    });
    if hashes::is_mirror_only(&facts.release) {
        // A mirror that served one recorded package has the recorded release.
        return verdicts.min_by_key(severity).unwrap_or(Continuity::Shown { unexplained: Vec::new() });
    }
    verdicts.max_by_key(severity).unwrap_or(Continuity::Shown { unexplained: Vec::new() })
}

fn severity(verdict: &Continuity) -> u8 {
    match verdict {
        Continuity::Shown { .. } | Continuity::Grew { .. } => 0,
        Continuity::FirstUse => 1,
        Continuity::NotReproduced | Continuity::Republished { .. } => 2,
    }
}

fn unattributed(addr: &ProviderAddr, entry: &LockEntry, facts: &Selected) -> Option<Finding> {
    let judge = HashJudge::of(Some(&facts.release));
    let message = match entry.hashes.of(HashScheme::H1).filter(|hash| judge.judge(hash).status.is_open()).count() {
        0 => return None,
        1 => format!("a recorded h1 of {addr} {} belongs to an unknown platform; kept", entry.version),
        count => format!("{count} recorded h1 of {addr} {} belong to unknown platforms; kept", entry.version),
    };
    Some(Finding::new(Rule::UnknownPlatformHash, message).about(addr))
}

struct Claims {
    by_hash: BTreeMap<PackageHash, (BTreeSet<Platform>, BTreeSet<Evidence>)>,
}

impl Claims {
    fn of(step: &Query, facts: &Selected) -> Self {
        let mut claims = Self { by_hash: BTreeMap::new() };
        if let Some(signer) = &facts.release.signer {
            claims.add_sums(facts, signer);
        }
        for platform in &step.platforms {
            let Some(package) = facts.packages.get(platform) else {
                continue;
            };
            let Some(h1) = &package.h1 else { continue };
            let attested = facts.release.h1.get(h1).map(|attested| &attested.evidence);
            let by_index = attested.filter(|evidence| matches!(evidence, Evidence::ReportedByIndex(_)));
            let evidence = match (package.computed, by_index, &facts.release.signer) {
                (true, ..) => Evidence::Computed,
                (false, Some(by_index), _) => by_index.clone(),
                (false, None, Some(_)) => Evidence::ReportedByOrigin,
                (false, None, None) => Evidence::ReportedByMirror,
            };
            claims.add(h1.clone(), Some(platform), evidence);
            if let Some(zh) = package.zh_hash().filter(|_| package.tells_zh) {
                claims.add(zh, Some(platform), Evidence::Computed);
            }
        }
        if step.rules.reported == ReportedRule::Write {
            let trusted = facts.trusted.iter().map(|trusted| (trusted, Evidence::ReportedByMirror));
            let reported = facts.reported.iter().map(|reported| (reported, Evidence::ReportedByOrigin));
            for ((platform, hashes), evidence) in reported.chain(trusted) {
                for hash in hashes {
                    claims.add(hash.clone(), Some(platform), evidence.clone());
                }
            }
        }
        claims
    }

    /// Adds the whole list; if an invalid line spoils it, only the inspected packages, as the tools do.
    fn add_sums(&mut self, facts: &Selected, signer: &Signer) {
        let evidence = match signer {
            Signer::Key(key) => Evidence::Signed(key.clone()),
            Signer::Unsigned => Evidence::ReportedByOrigin,
        };
        let own = |(platform, package): (_, &PackageFacts)| Some((package.zh_hash()?, platform));
        let own: Vec<(PackageHash, &Platform)> = facts.packages.iter().filter_map(own).collect();
        for digest in &facts.release.listed {
            self.add(PackageHash::zh(*digest), None, evidence.clone());
        }
        let is_written = |hash: &PackageHash| facts.release.listed.is_empty() || self.by_hash.contains_key(hash);
        for (hash, platform) in own.into_iter().filter(|(hash, _)| is_written(hash)).collect::<Vec<_>>() {
            self.add(hash, Some(platform), evidence.clone());
        }
    }

    fn add(&mut self, hash: PackageHash, platform: Option<&Platform>, evidence: Evidence) {
        let claim = self.by_hash.entry(hash).or_default();
        claim.0.extend(platform.cloned());
        claim.1.insert(evidence);
    }

    fn into_added(self) -> impl Iterator<Item = AddedHash> {
        self.by_hash.into_iter().map(|(hash, (platforms, evidence))| AddedHash {
            hash,
            platforms,
            evidence: evidence.into_iter().collect(),
        })
    }
}

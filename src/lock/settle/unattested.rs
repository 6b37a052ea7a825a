//! Recorded hashes that no package of the release has: kept with a warning, or taken out if the user wants that and each archive
//! of the release was hashed here.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::release::hashes::{self, HashJudge, HashStatus};
use crate::release::{ListedLine, Release};
use crate::step::Step;

/// The recorded hashes that belong to no package of the release.
pub(super) fn refuted<'a>(recorded: &'a PackageHashes, release: &Release) -> Vec<&'a PackageHash> {
    let judge = HashJudge::of(Some(release));
    recorded.iter().filter(|hash| judge.judge(hash).status.is_refuted()).collect()
}

/// What is said of them where they stay: writing takes nothing out, so it is a warning; `verify` denies them.
pub(super) fn kept(entry: &LockEntry, release: &Release) -> Vec<Finding> {
    let addr = &release.address;
    let finding = |hash: &PackageHash| {
        let of = if hash.scheme() == HashScheme::Zh { "is not in its checksums" } else { "belongs to no package" };
        let message = format!("recorded hash {hash} of {addr} {} {of}; kept", entry.version);
        let finding = Finding::new(Rule::UnattestedHash, message).about(addr);
        finding.unless_stated(Level::Warn).remedied_by(remedy(addr, hash.as_str()))
    };
    refuted(&entry.hashes, release).into_iter().map(finding).collect()
}

/// What takes a hash out of an entry that no package of the release has.
pub fn remedy(addr: &ProviderAddr, hash: &str) -> Step {
    if !hash.starts_with("h1:") {
        return step!("Find out who added it (`git log -S {}`); then remove the line and run `tflock lock`.", hash);
    }
    step!(
        "Find out who added it (`git log -S {}`). `tflock lock {} --drop-unattested` removes each h1 that no archive of the \
         release has.",
        hash,
        addr
    )
}

/// The recorded `h1:` to take out of an entry whose release is the recorded one: those that no archive of it has, which only
/// all of its archives show. Never a `zh:`.
///
/// # Errors
///
/// Why nothing may be taken out, if an `h1:` is unexplained: an archive was not hashed here, it is not known which archives
/// there are, or nothing that stays is proven.
pub(super) fn droppable(entry: &LockEntry, release: &Release) -> Result<BTreeSet<PackageHash>, Error> {
    let unexplained = entry.hashes.of(HashScheme::H1).find(|hash| hash.is_well_formed() && !release.owns(hash));
    let Some(first) = unexplained else { return Ok(BTreeSet::new()) };
    let name = format!("{} {}", release.address, entry.version);
    let open = format!("so {} may belong to one of them; nothing was removed", first.abridged());
    let archives = release.named_archives();
    if hashes::is_mirror_only(release) || archives.is_empty() {
        let message = format!("the source does not show which archives {name} has, {open}");
        let hint = step!("`tflock lock --source origin` reads the signed checksums");
        return Err(Error::new(ErrorKind::NotFound, message).hint(hint));
    }
    let unhashed: Vec<&str> = archives.iter().filter(|it| !is_hashed(release, it)).map(|(file, _)| &**file).collect();
    if let [file, ..] = unhashed[..] {
        let (missing, all) = (unhashed.len(), archives.len());
        let message = format!("{missing} of the {all} archives of {name} could not be hashed (first: {file}), {open}");
        return Err(Error::new(ErrorKind::Unavailable, message).hint("run it again when the registry serves them"));
    }
    let judge = HashJudge::of(Some(release));
    let is_proven = |hash: &PackageHash| matches!(judge.judge(hash).status, HashStatus::Proven(_));
    if !entry.hashes.iter().any(is_proven) {
        let message = format!("no recorded hash of {name} is one of the release that is served; nothing was removed");
        return Err(Error::new(ErrorKind::Trust, message));
    }
    let refuted = refuted(&entry.hashes, release).into_iter();
    Ok(refuted.filter(|hash| hash.scheme() == HashScheme::H1).cloned().collect())
}

/// True if an archive of the checksums was hashed here for each platform that it is for.
fn is_hashed(release: &Release, (_, digest): &(String, crate::hash::Sha256Digest)) -> bool {
    let is_computed = |platform: &Platform| release.computed().any(|(_, of)| of == Some(platform));
    match release.lines.get(digest) {
        Some(ListedLine::Archive(platforms)) => !platforms.is_empty() && platforms.iter().all(is_computed),
        Some(ListedLine::Other) | None => false,
    }
}

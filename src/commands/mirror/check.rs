//! Checks without requests whether a mirror is complete, unchanged, and has the packages that lock files require. The
//! signed documents in the mirror replace the registry's answers, as the cache does for `verify --offline`.

use std::time::SystemTime;

use super::contents::{Contents, has};
use super::wanted::{Need, of_releases, wanted};
use super::{MirrorArgs, mirrored, placed, unread};
use crate::commands::verify::{Root, Roots, VerifyOptions, judged, recalled};
use crate::disk::cache::{Cache, CacheOptions};
use crate::disk::directory_lock::DirectoryLock;
use crate::disk::mirror::FilesystemMirror;
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::hash::PackageHash;
use crate::hash::archive::ArchiveHashes;
use crate::outcome::{Body, Fate, MirrorReport, RootOutcome};
use crate::query::PackageKey;
use crate::query::engine::unrecorded;
use crate::release::{Release, Releases, naming};
use crate::settings::SourceChoice;

pub(super) fn check(
    args: &MirrorArgs,
    roots: Roots,
    now: SystemTime,
) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
    FilesystemMirror::open(&args.directory)?;
    let _lock = DirectoryLock::acquire_shared(&args.directory)?;
    let contents = Contents::read(&args.directory)?;
    let memory = Cache::open(CacheOptions { disabled: true, ..CacheOptions::default() });
    contents.remember(&memory);
    let known = recalled(&roots, &memory);
    let opened: Vec<Option<Root>> = roots.iter().map(|(_, root)| root.as_ref().ok().cloned()).collect();
    let (outcomes, notes) = judged(roots, &known, &memory, VerifyOptions::default());
    let checked = opened.into_iter().zip(outcomes).map(|(root, mut outcome)| {
        let Some(root) = root.filter(|root| root.spans().is_some()) else { return unread(outcome, args) };
        of_releases(&mut outcome, &root);
        Checked { args, contents: &contents, root: &root, known: &known }.finish(outcome)
    });
    let mut checked: Vec<RootOutcome> = checked.collect();
    // Problems of the mirror itself are reported once.
    if let Some(first) = checked.first_mut() {
        first.findings.extend(contents.findings(now));
    }
    let directory = args.directory.to_string_lossy();
    for finding in checked.iter_mut().flat_map(|outcome| &mut outcome.findings) {
        *finding = finding.clone().filled("DIR", &directory);
    }
    Ok((checked, notes))
}

struct Checked<'a> {
    args: &'a MirrorArgs,
    contents: &'a Contents,
    root: &'a Root,
    known: &'a Releases,
}

impl Checked<'_> {
    fn finish(&self, mut outcome: RootOutcome) -> RootOutcome {
        let (mut report, mut findings) = (self.args.report(), Vec::new());
        for (key, need) in wanted(self.args, self.root, self.known, &outcome.findings) {
            match self.contents.hashes.get(&key) {
                Some(Ok(hashes)) => findings.extend(self.package(&key, hashes, &mut report)),
                None if self.is_missed(&key, need) => findings.push(lacks(&key, "the mirror has no package of")),
                // An unreadable package is reported once, for the whole mirror.
                None | Some(Err(_)) => {}
            }
        }
        outcome.findings.extend(placed(self.root, findings));
        RootOutcome { body: Ok(Body::Mirror(report)), ..outcome }
    }

    /// The locked release of a package, by the signed documents in the mirror.
    fn release(&self, key: &PackageKey) -> Option<&Release> {
        let known = self.known.get(&(key.address.clone(), key.version.clone()))?;
        known.release().map(AsRef::as_ref)
    }

    /// Checks that an existing package belongs in the mirror, and that clients find it over the network.
    fn package(&self, key: &PackageKey, hashes: &ArchiveHashes, report: &mut MirrorReport) -> Vec<Finding> {
        let mut findings = Vec::new();
        let contents = self.contents.releases.get(&(key.address.clone(), key.version.clone()));
        let listed = contents.and_then(|contents| contents.listed.as_ref().filter(|_| contents.indexed));
        if !listed.is_some_and(|listed| listed.contains_key(&key.platform)) {
            findings.push(lacks(key, "index.json and the document of the version do not name the package of"));
        }
        // A mirror as the source may have had no signed documents to copy.
        let is_signed = self.root.settings().source().choice == SourceChoice::Origin;
        if is_signed && contents.is_none_or(|contents| contents.sums.is_none()) {
            findings.push(lacks(key, "there is no SHA256SUMS next to the package of"));
        }
        let entry = self.root.lock().get(&key.address);
        let zh = PackageHash::zh(hashes.zh);
        if entry.is_some_and(|entry| entry.hashes.iter().any(|hash| has(hashes, hash))) {
            let file_name = naming::conventional(&key.address, &key.version, &key.platform);
            let hashes = (hashes.size, vec![hashes.h1.clone(), zh]);
            report.packages.push(mirrored(self.args, key, &file_name, hashes, Fate::Present));
        } else if self.release(key).is_some_and(|release| release.owns(&zh)) {
            report.failed.push(unrecorded(key));
        } else {
            let PackageKey { address, version, platform } = key;
            let message = format!(
                "the package of {address} {version} for {platform} in the mirror has the checksum {zh}, which neither the \
                 lock file nor a signed list next to it has",
            );
            findings.push(Finding::new(Rule::MirrorAltered, message).about(address));
        }
        findings
    }

    /// True if a missing package is required.
    fn is_missed(&self, key: &PackageKey, need: Need) -> bool {
        match need {
            Need::Named => true,
            Need::Optional => false,
            Need::Likely => {
                self.release(key).is_none_or(|release| release.platforms().any(|platform| *platform == key.platform))
            }
        }
    }
}

fn lacks(PackageKey { address, version, platform }: &PackageKey, what: &str) -> Finding {
    let message = format!("{what} {address} {version} for {platform}");
    Finding::new(Rule::MirrorIncomplete, message).about(address)
}

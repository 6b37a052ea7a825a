//! Checks without requests whether a mirror is complete, unchanged, and has the packages that lock files require. The
//! signed documents in the mirror replace the registry's answers, as the cache does for `verify --offline`.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::contents::{Contents, Problem};
use super::wanted::{Judged, Need, judged};
use super::{MirrorArgs, mirrored, records};
use crate::commands::verify::{Root, Roots, recalled};
use crate::disk::cache::{Cache, CacheOptions};
use crate::disk::directory_lock::DirectoryLock;
use crate::disk::mirror::FilesystemMirror;
use crate::error::Error;
use crate::finding::{Finding, Rule, shell_word};
use crate::hash::PackageHash;
use crate::outcome::{Fate, MirroredPackage, RootOutcome};
use crate::path::shown;
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::query::answer::Refusal;
use crate::query::engine::unrecorded;
use crate::release::{Release, ReleaseKey, Releases};
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
    let (judged, notes) = judged(args, roots, &known, &memory);
    let locked: Vec<BTreeSet<ReleaseKey>> =
        judged.iter().map(|judged| judged.as_ref().map(locked).unwrap_or_default()).collect();
    let wanted: BTreeSet<PackageKey> =
        judged.iter().flatten().flat_map(|judged| &judged.wanted).map(|(key, _)| key.clone()).collect();
    let checking = Checking { contents: &contents, known: &known };
    let checked = judged.into_iter().map(|judged| match judged {
        Ok(judged) => judged.finish(args, |root, key, need| checking.package(root, key, need)),
        Err(outcome) => *outcome,
    });
    let mut checked: Vec<RootOutcome> = checked.collect();
    let mut platforms: BTreeSet<Platform> = args.platforms.iter().cloned().collect();
    for Problem { release, platform, finding } in contents.problems(now) {
        // Without the option only the wanted packages are copied.
        platforms.extend(platform.filter(|platform| !wanted.contains(&PackageKey::of(&release, platform))));
        let mut users = checked.iter_mut().zip(&locked).filter(|(_, locked)| locked.contains(&release)).peekable();
        if users.peek().is_some() {
            users.for_each(|(outcome, _)| outcome.findings.push(finding.clone()));
        } else if let Some(first) = checked.first_mut() {
            first.findings.push(of_no_root(finding, &release));
        }
    }
    let command = command(args, &platforms);
    for finding in checked.iter_mut().flat_map(|outcome| &mut outcome.findings) {
        let is_of_mirror = matches!(finding.rule, Rule::MirrorAltered | Rule::MirrorIncomplete);
        if is_of_mirror && finding.remedy.is_none() {
            let remedy = finding.rule.help().replace("tflock mirror DIR", &command);
            *finding = finding.clone().remedied_by(&remedy);
        }
    }
    Ok((checked, notes))
}

fn locked(judged: &Judged) -> BTreeSet<ReleaseKey> {
    judged.root.lock().iter().map(|(address, entry)| (address.clone(), entry.version.clone())).collect()
}

/// The command that copies again what this run checked.
fn command(args: &MirrorArgs, platforms: &BTreeSet<Platform>) -> String {
    let recursive = if args.recursive { " -r" } else { "" };
    let directory = shell_word(&shown(&args.directory));
    let platforms = platforms.iter().fold(String::new(), |text, platform| text + " --platform " + platform.as_str());
    format!("tflock mirror{recursive} {directory}{platforms}{}", args.packages.option())
}

/// A problem of a release that earlier runs copied for other lock files.
fn of_no_root(finding: Finding, (address, version): &ReleaseKey) -> Finding {
    if finding.remedy.is_some() {
        return finding;
    }
    let remedy = format!(
        "Find out who changed it; then restore it from a copy, or remove all files of that version: no lock file of this run \
         records {address} {version}."
    );
    finding.remedied_by(&remedy)
}

struct Checking<'a> {
    contents: &'a Contents,
    known: &'a Releases,
}

impl Checking<'_> {
    /// The locked release of a package, by the signed documents in the mirror.
    fn release(&self, key: &PackageKey) -> Option<&Release> {
        let known = self.known.get(&key.release())?;
        known.release().map(AsRef::as_ref)
    }

    /// Checks that a package is there and belongs in the mirror, and that clients find it over the network.
    fn package(&self, root: &Root, key: &PackageKey, need: Need) -> Vec<Result<MirroredPackage, Refusal>> {
        let facts = match self.contents.packages.get(key) {
            Some(Ok(facts)) => facts,
            None if self.is_missed(key, need) => return vec![Err(lacks(key, "the mirror has no package of"))],
            // An unreadable package is reported once, for the whole mirror.
            None | Some(Err(_)) => return Vec::new(),
        };
        let mut answers = Vec::new();
        let contents = self.contents.releases.get(&key.release());
        let listed = contents.and_then(|contents| contents.listed.as_ref().filter(|_| contents.indexed));
        if !listed.is_some_and(|listed| listed.contains_key(&key.platform)) {
            answers.push(Err(lacks(key, "index.json and the document of the version do not name the package of")));
        }
        // A mirror as the source may have had no signed documents to copy.
        let is_signed = root.settings().source().choice == SourceChoice::Origin;
        if is_signed && contents.is_none_or(|contents| contents.sums.is_none()) {
            answers.push(Err(lacks(key, "there is no SHA256SUMS next to the package of")));
        }
        let zh = facts.zh_hash();
        let owns = |release: &Release| zh.as_ref().is_some_and(|zh| release.owns(zh));
        answers.push(if records(root, key, facts) {
            Ok(mirrored(key, facts, Fate::Present))
        } else if self.release(key).is_some_and(owns) {
            Err(unrecorded(key).into())
        } else {
            let zh = zh.as_ref().map(PackageHash::as_str).unwrap_or_default();
            let message = format!(
                "the package of {key} in the mirror has the checksum {zh}, which neither the lock file nor a signed list next to \
                 it has",
            );
            Err(Finding::new(Rule::MirrorAltered, message).about(&key.address).into())
        });
        answers
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

fn lacks(key: &PackageKey, what: &str) -> Refusal {
    Finding::new(Rule::MirrorIncomplete, format!("{what} {key}")).about(&key.address).into()
}

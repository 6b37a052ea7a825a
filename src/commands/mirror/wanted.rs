//! Selects the packages of root modules for a mirror, and reports what became of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{MirrorArgs, placed};
use crate::addr::ProviderAddr;
use crate::commands::verify::online::Questions;
use crate::commands::verify::{self, Root, Roots, VerifyOptions};
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::finding::{Class, Finding, Level};
use crate::lockfile::LockEntry;
use crate::outcome::{Body, MirroredPackage, RootOutcome};
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::query::answer::Refusal;
use crate::query::question::{Depth, Query};
use crate::release::{ReleaseKey, Releases};

/// How strongly a package is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Named,
    /// The settings make its platform optional for the provider.
    Optional,
    /// Its platform is this machine's, or known from the hashes of entries.
    Likely,
}

/// The queries about the locked releases of all root modules. Judging downloads no package; the required ones are
/// hashed when they are copied.
pub(super) fn queries<'a>(roots: impl Iterator<Item = &'a Root>, args: &MirrorArgs) -> BTreeMap<ReleaseKey, Query> {
    let mut questions = Questions::new(Depth::DOCUMENTS, false);
    for root in roots {
        questions.add(root.settings(), root.lock(), named(args, root).unwrap_or_default());
    }
    questions.queries
}

/// The platforms named by flags, else by the settings.
fn named<'a>(args: &'a MirrorArgs, root: &'a Root) -> Option<&'a [Platform]> {
    let flags = Some(&args.platforms[..]).filter(|platforms| !platforms.is_empty());
    flags.or(root.settings().settings.platforms.as_deref())
}

/// The platforms to copy: the named ones, else this machine's and those that the recorded `h1:` hashes are known to be for.
fn platforms(args: &MirrorArgs, root: &Root, known: &Releases) -> (BTreeSet<Platform>, Need) {
    if let Some(named) = named(args, root) {
        return (named.iter().cloned().collect(), Need::Named);
    }
    let attributed = root.lock().iter().flat_map(|(addr, entry)| {
        let release = known.get(&(addr.clone(), entry.version.clone())).and_then(|known| known.release());
        let recorded = release.into_iter().flat_map(|release| release.platforms_with(&entry.hashes));
        recorded.map(|(platform, _)| platform.clone())
    });
    (attributed.chain([Platform::host()]).collect(), Need::Likely)
}

/// A root module after its judgement.
pub(super) struct Judged {
    pub(super) root: Root,
    outcome: RootOutcome,
    /// The packages of entries without findings against them, each with its need.
    pub(super) wanted: Vec<(PackageKey, Need)>,
    /// What the report begins with.
    pub(super) failed: Vec<Error>,
}

/// Judges root modules as `verify` does, and selects the packages of each; of one whose lock file could not be read, it gives
/// the outcome.
pub(super) fn judged(
    args: &MirrorArgs,
    roots: Roots,
    known: &Releases,
    cache: &Cache,
) -> (Vec<Result<Judged, Box<RootOutcome>>>, Vec<String>) {
    let opened: Vec<Option<Root>> = roots.iter().map(|(_, root)| root.as_ref().ok().cloned()).collect();
    let (outcomes, notes) = verify::judged(roots, known, cache, VerifyOptions::default());
    let judged = opened.into_iter().zip(outcomes).map(|(root, mut outcome)| {
        let Some(root) = root.filter(|root| root.spans().is_some()) else {
            let body = outcome.body.map(|_| Body::Mirror(args.report()));
            return Err(Box::new(RootOutcome { body, ..outcome }));
        };
        // `verify` checks the requirements.
        outcome.findings.retain(|finding| finding.rule.class() != Class::Other);
        let wanted = wanted(args, &root, known, &outcome.findings);
        Ok(Judged { root, outcome, wanted, failed: Vec::new() })
    });
    (judged.collect(), notes)
}

fn wanted(args: &MirrorArgs, root: &Root, known: &Releases, findings: &[Finding]) -> Vec<(PackageKey, Need)> {
    let (platforms, need) = platforms(args, root, known);
    let refused = |addr: &ProviderAddr| {
        findings.iter().any(|finding| finding.level == Level::Deny && finding.address.as_ref() == Some(addr))
    };
    let settings = &root.settings().settings;
    let of_entry = |(addr, entry): (&ProviderAddr, &LockEntry)| {
        let package = |platform: &Platform| {
            let need = if settings.optional(addr, platform) { Need::Optional } else { need };
            (PackageKey::of(&(addr.clone(), entry.version.clone()), platform), need)
        };
        platforms.iter().map(package).collect::<Vec<_>>()
    };
    root.lock().iter().filter(|(addr, _)| !refused(addr)).flat_map(of_entry).collect()
}

impl Judged {
    /// The outcome, by what there is to say of each wanted package.
    pub(super) fn finish<A: IntoIterator<Item = Result<MirroredPackage, Refusal>>>(
        self,
        args: &MirrorArgs,
        mut answers: impl FnMut(&Root, &PackageKey, Need) -> A,
    ) -> RootOutcome {
        let Self { root, mut outcome, wanted, mut failed } = self;
        let (mut report, mut findings) = (args.report(), Vec::new());
        for answer in wanted.into_iter().flat_map(|(key, need)| answers(&root, &key, need)) {
            match answer {
                Ok(package) => report.packages.push(package),
                Err(Refusal::Error(error)) => failed.push(error),
                Err(Refusal::Finding(finding, _)) => findings.push(*finding),
            }
        }
        outcome.findings.extend(placed(&root, findings));
        report.failed = Error::all(failed).map(|error| error.each().cloned().collect()).unwrap_or_default();
        RootOutcome { body: Ok(Body::Mirror(report)), ..outcome }
    }
}

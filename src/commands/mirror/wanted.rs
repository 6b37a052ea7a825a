//! Selects the packages of a root module for a mirror.

use std::collections::{BTreeMap, BTreeSet};

use super::MirrorArgs;
use crate::addr::ProviderAddr;
use crate::commands::verify::Root;
use crate::commands::verify_online::Questions;
use crate::finding::{Class, Finding, Level};
use crate::lockfile::LockEntry;
use crate::outcome::RootOutcome;
use crate::platform::Platform;
use crate::query::PackageKey;
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

/// The packages of entries without findings against them, each with its need.
pub(super) fn wanted(
    args: &MirrorArgs,
    root: &Root,
    known: &Releases,
    findings: &[Finding],
) -> Vec<(PackageKey, Need)> {
    let (platforms, need) = platforms(args, root, known);
    let refused = |addr: &ProviderAddr| {
        findings.iter().any(|finding| finding.level == Level::Deny && finding.address.as_ref() == Some(addr))
    };
    let settings = &root.settings().settings;
    let of_entry = |(addr, entry): (&ProviderAddr, &LockEntry)| {
        let package = |platform: &Platform| {
            let need = if settings.optional(addr, platform) { Need::Optional } else { need };
            let (address, version) = (addr.clone(), entry.version.clone());
            (PackageKey { address, version, platform: platform.clone() }, need)
        };
        platforms.iter().map(package).collect::<Vec<_>>()
    };
    root.lock().iter().filter(|(addr, _)| !refused(addr)).flat_map(of_entry).collect()
}

/// Keeps only findings about releases. `verify` checks the requirements; other findings stay only if no lock file could be read.
pub(super) fn of_releases(outcome: &mut RootOutcome, root: &Root) {
    if root.spans().is_some() {
        outcome.findings.retain(|finding| finding.rule.class() != Class::Other);
    }
}

//! Which packages a root module wants in a mirror.

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

/// How much a package is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Named,
    /// The settings call its platform optional for the provider.
    Optional,
    /// Its platform is one that entries are locked for, or that of this machine.
    Likely,
}

/// What is to be asked about the locked releases of all root modules. Nothing is downloaded to judge: the packages that are wanted
/// are hashed when they come.
pub(super) fn queries<'a>(roots: impl Iterator<Item = &'a Root>, args: &MirrorArgs) -> BTreeMap<ReleaseKey, Query> {
    let mut questions = Questions::new(Depth::DOCUMENTS, false);
    for root in roots {
        questions.add(root.settings(), root.lock(), named(args, root).unwrap_or_default());
    }
    questions.queries
}

/// The platforms that someone named: by flag, else in the settings.
fn named<'a>(args: &'a MirrorArgs, root: &'a Root) -> Option<&'a [Platform]> {
    let flags = Some(&args.platforms[..]).filter(|platforms| !platforms.is_empty());
    flags.or(root.settings().settings.platforms.as_deref())
}

/// The platforms that a root module wants packages for: those that were named, else those that its recorded `h1:` are
/// known to be for, and that of this machine.
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

/// The packages of the entries that nothing speaks against, with how much each is wanted.
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

/// What of the judgment is about releases. What the configuration requires is the business of `verify`, unless there is
/// no lock file that could be read.
pub(super) fn of_releases(outcome: &mut RootOutcome, root: &Root) {
    if root.spans().is_some() {
        outcome.findings.retain(|finding| finding.rule.class() != Class::Other);
    }
}

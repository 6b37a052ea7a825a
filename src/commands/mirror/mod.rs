//! `mirror`: copies the locked packages into a directory that is both a filesystem mirror and a network mirror. Lock
//! files are judged as `verify` judges them, and refused packages are not copied. The trust file does not change.

mod contents;
mod copy;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Services;
use super::options::{Packages, Within, platform};
use super::targets::{Targets, Unlocked};
use super::verify::Root;
use super::verify::opening::open;
use crate::disk::mirror_writer::directory_in;
use crate::error::Error;
use crate::finding::Finding;
use crate::outcome::{Fate, MirrorReport, MirroredPackage, Outcome};
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::query::question::PackageFacts;
use crate::release::reported;

/// Copy the locked packages into a directory that serves as a mirror.
///
/// Writes the packages of the lock file, checked as `verify` checks them, as a filesystem mirror. Served over https, the
/// same directory is a network mirror. Next to the packages it writes SHA256SUMS, its signature and the registry's keys, if
/// the source of the packages has them. Existing packages are not downloaded again, and other versions stay.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock mirror /srv/mirror --platform linux_amd64 --platform darwin_arm64\n  tflock mirror -r /srv/mirror\n  tflock mirror --check -r /srv/mirror"
)]
pub(crate) struct MirrorArgs {
    /// The mirror.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Copy the packages of this platform; may be repeated. Default: the platforms of .tflock.hcl, else the locked ones.
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    pub(crate) platforms: Vec<Platform>,
    /// Write nothing and do not use the network; exit 1 if the mirror lacks a file, 3 if a file was altered.
    #[arg(long)]
    pub(crate) check: bool,
    /// Copy for every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn mirror(args: &MirrorArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let scope = &services.scope;
    let targets = Targets::of(scope, args.recursive, Unlocked::Opened)?.or_none()?;
    let roots = open(&targets, None, scope)?.whole();
    services.events_for(targets.dialect());
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let (roots, mut notes) = if args.check {
        contents::check_mirror(args, roots, scope.environment.now)?
    } else {
        copy::copy(args, roots, services, &cache)?
    };
    notes.extend(cache.finish());
    Ok(targets.finish("mirror", roots, notes))
}

impl MirrorArgs {
    fn report(&self) -> MirrorReport {
        MirrorReport { directory: self.directory.clone(), checked: self.check, ..MirrorReport::default() }
    }
}

/// A package in the mirror.
fn mirrored(key: &PackageKey, facts: &PackageFacts, fate: Fate) -> MirroredPackage {
    let PackageKey { address, version, platform } = key.clone();
    let file_name = reported::conventional_name(&address, &version, &platform);
    let file = directory_in(Path::new(""), &address).join(file_name);
    let (size, hashes) = (facts.size.unwrap_or_default(), facts.installed().collect());
    MirroredPackage { address, version, platform, file, size, hashes, fate }
}

/// True if the lock file of a root module records a package.
fn records(root: &Root, key: &PackageKey, facts: &PackageFacts) -> bool {
    let entry = root.lock().get(&key.address);
    entry.is_some_and(|entry| facts.hashes().any(|hash| entry.hashes.contains(&hash)))
}

/// Places findings at the entries of the lock file.
pub(super) fn placed(root: &Root, findings: Vec<Finding>) -> Vec<Finding> {
    let block = |finding: &Finding| Some(root.spans()?.entries.get(finding.address.as_ref()?)?.block);
    let at = |finding: Finding| match block(&finding) {
        Some(block) => finding.at(block),
        None => finding,
    };
    root.placed(findings.into_iter().map(at).collect())
}

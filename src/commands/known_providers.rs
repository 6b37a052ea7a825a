//! The providers that a working tree knows, to suggest names and complete them in shells.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::trust_store::TrustStore;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::{below, root_files};
use crate::error::Error;
use crate::finding::Finding;
use crate::git::Git;
use crate::lockfile::{self, Decoded};
use crate::workspace::{Environment, Reading, RootModule, RunSettings, Scope, named_roots, one_dialect};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Each provider by its type, or by its address if two have the same type.
    pub types: BTreeSet<String>,
    pub addresses: BTreeSet<String>,
}

/// The providers that can be named in some directories; those of the whole working tree too, if `everywhere` or the
/// directories know none.
pub fn offered(environment: Environment, named: Vec<PathBuf>, everywhere: bool) -> Offered {
    let scope = Scope::offline(environment, named);
    let roots = named_roots(&scope).unwrap_or_default();
    let mut known: BTreeSet<ProviderAddr> = roots.iter().flat_map(of_root).collect();
    if everywhere || known.is_empty() {
        let tops: BTreeSet<&Path> = roots.iter().map(|root| root.boundary.as_path()).collect();
        known.extend(tops.into_iter().flat_map(locked_below));
        known.extend(roots.iter().flat_map(remembered));
    }
    let dialect = one_dialect(&roots).unwrap_or(Dialect::Terraform);
    let is_only = |addr: &ProviderAddr| known.iter().filter(|other| other.type_name() == addr.type_name()).count() == 1;
    let name = |addr| if is_only(addr) { addr.type_name().to_owned() } else { addr.short(dialect) };
    let addresses = known.iter().flat_map(|addr| [addr.short(dialect), addr.to_string()]).collect();
    Offered { types: known.iter().map(name).collect(), addresses }
}

/// The providers that the configuration and the lock file of a root module name.
pub(super) fn of_root(root: &RunSettings) -> BTreeSet<ProviderAddr> {
    // Unreadable files contribute no provider, here and below.
    let Ok(mut module) = RootModule::open(root) else { return BTreeSet::new() };
    let _ = module.read_configuration(Reading::LENIENT);
    module.names().known()
}

pub(super) fn locked_below(directory: &Path) -> BTreeSet<ProviderAddr> {
    locked_below_except(directory, &BTreeSet::new())
}

/// The providers of all lock files except `others`.
pub(super) fn locked_below_except(directory: &Path, others: &BTreeSet<PathBuf>) -> BTreeSet<ProviderAddr> {
    let places = below::survey(directory).map(|survey| survey.places).unwrap_or_default();
    let files = places.into_iter().filter(|place| place.has_lock);
    let files = files.map(|place| directory.join(place.path).join(lockfile::FILE_NAME));
    let files = files.filter(|file| !others.contains(file));
    let texts: BTreeSet<Vec<u8>> = files.filter_map(|file| root_files::read_lock_file(&file).ok().flatten()).collect();
    let locked = texts.iter().filter_map(|bytes| {
        let dialect = lockfile::detect_dialect(bytes).unwrap_or(Dialect::Terraform);
        Some(lockfile::decode(bytes, dialect).ok()?.lock)
    });
    locked.flat_map(|lock| lock.iter().map(|(addr, _)| addr.clone()).collect::<Vec<_>>()).collect()
}

type Below = Vec<(PathBuf, Result<Decoded, Vec<Finding>>)>;

/// Each lock file below a directory, with the path of its own directory from there.
pub(super) fn locks_below(top: &Path) -> Result<Below, Error> {
    let mut locks = Vec::new();
    for place in below::survey(top)?.places.into_iter().filter(|place| place.has_lock) {
        let Some(bytes) = root_files::read_lock_file(&top.join(&place.path).join(lockfile::FILE_NAME))? else {
            continue;
        };
        let dialect = lockfile::detect_dialect(&bytes).unwrap_or(Dialect::Terraform);
        locks.push((place.path, lockfile::decode(&bytes, dialect)));
    }
    Ok(locks)
}

pub(super) fn remembered(root: &RunSettings) -> BTreeSet<ProviderAddr> {
    let pins = TrustStore::load(&root.trust).map(|store| store.pins().clone()).unwrap_or_default();
    let exact = pins.providers.keys().filter(|pattern| pattern.is_exact());
    exact.filter_map(|pattern| ProviderAddr::parse(&pattern.to_string(), root.dialect).ok()).collect()
}

pub(super) fn once_locked(root: &RunSettings) -> BTreeSet<ProviderAddr> {
    let Ok(git) = Git::open(&root.root) else { return BTreeSet::new() };
    let path = git.directory().join(lockfile::FILE_NAME);
    let labels = git.lines_taken_out(&path, "provider \"").unwrap_or_default();
    let labels = labels.iter().filter_map(|line| line.split('"').nth(1));
    labels.filter_map(|label| ProviderAddr::parse(label, root.dialect).ok()).collect()
}

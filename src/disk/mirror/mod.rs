//! Filesystem mirrors, and everything else laid out like one: `.terraform/providers` and the plugin cache.
//!
//! ```text
//! BASE/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip     packed
//! BASE/HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/                                unpacked
//! ```
//!
//! A lookup is about one provider and reads that provider's directory, and the directories above it once for all providers. Unknown
//! names are ignored, as in the tools. Packages are found here, not opened.
//!
//! Source: `internal/getproviders/filesystem_search.go`, `SearchLocalDirectory`, in both tools.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::addr::{Hostname, ProviderAddr, normalise_namespace, normalise_part};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::parallel::locked;
use crate::platform::Platform;
use crate::version::Version;

/// A mirror; copies share what was read of the directories above those of providers.
#[derive(Debug, Clone)]
pub struct FilesystemMirror {
    base: PathBuf,
    names: Arc<Mutex<HashMap<PathBuf, Arc<Names>>>>,
}

/// The directories in a directory by their normalised names; several may be written differently.
type Names = BTreeMap<String, Vec<PathBuf>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalPackage {
    Packed(PathBuf),
    Unpacked(PathBuf),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalPackages(BTreeMap<Version, BTreeMap<Platform, LocalPackage>>);

#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    #[error("the filesystem mirror {0} does not exist")]
    Missing(PathBuf),
    #[error("the filesystem mirror {0} is not a directory")]
    NotADirectory(PathBuf),
    #[error("cannot search {path} for packages: {reason}")]
    Unreadable {
        path: PathBuf,
        #[source]
        reason: io::Error,
    },
}

impl FilesystemMirror {
    pub fn open(base: impl Into<PathBuf>) -> Result<Self, MirrorError> {
        let base = base.into();
        match std::fs::metadata(&base) {
            Ok(found) if found.is_dir() => Ok(Self { base, names: Arc::default() }),
            Ok(_) => Err(MirrorError::NotADirectory(base)),
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Err(MirrorError::Missing(base)),
            Err(reason) => Err(MirrorError::Unreadable { path: base, reason }),
        }
    }

    /// All packages of a provider, in one reading. None at all if the mirror does not have it.
    pub fn packages(&self, addr: &ProviderAddr) -> Result<LocalPackages, MirrorError> {
        let mut packages = LocalPackages::default();
        for host in of_name(&*self.names(&self.base, host_name)?, &addr.host().to_string()) {
            for namespace in of_name(&*self.names(host, namespace_name)?, addr.namespace()) {
                for kind in of_name(&*self.names(namespace, part_name)?, addr.type_name()) {
                    packages.read_provider(kind, addr.type_name())?;
                }
            }
        }
        Ok(packages)
    }

    /// The providers that have packages.
    pub fn providers(&self) -> Result<BTreeSet<ProviderAddr>, MirrorError> {
        let mut found = BTreeSet::new();
        for (addr, directory) in self.directories()? {
            let mut packages = LocalPackages::default();
            packages.read_provider(&directory, addr.type_name())?;
            if !packages.is_empty() {
                found.insert(addr);
            }
        }
        Ok(found)
    }

    /// The directories of providers, whatever is in them.
    pub fn directories(&self) -> Result<Vec<(ProviderAddr, PathBuf)>, MirrorError> {
        let mut found = Vec::new();
        for host in self.names(&self.base, host_name)?.values().flatten() {
            for namespace in self.names(host, namespace_name)?.values().flatten() {
                for kind in self.names(namespace, part_name)?.values().flatten() {
                    let parts = kind.strip_prefix(&self.base).unwrap_or(kind).to_string_lossy().replace('\\', "/");
                    // A text of three parts means the same to both tools.
                    found.extend(ProviderAddr::parse(&parts, Dialect::Terraform).ok().map(|addr| (addr, kind.clone())));
                }
            }
        }
        Ok(found)
    }

    /// The directories in a directory on the way to providers. Links to directories do not count.
    fn names(&self, directory: &Path, normal: fn(&str) -> Option<String>) -> Result<Arc<Names>, MirrorError> {
        if let Some(known) = locked(&self.names).get(directory) {
            return Ok(Arc::clone(known));
        }
        let mut names = Names::new();
        for entry in list(directory)? {
            let name = entry.file_name().to_str().and_then(normal);
            if let Some(name) = name.filter(|_| is_own_directory(&entry)) {
                names.entry(name).or_default().push(entry.path());
            }
        }
        let names = Arc::new(names);
        locked(&self.names).insert(directory.to_owned(), Arc::clone(&names));
        Ok(names)
    }

    pub fn versions(&self, addr: &ProviderAddr) -> Result<Vec<Version>, MirrorError> {
        Ok(self.packages(addr)?.versions().cloned().collect())
    }

    #[cfg(test)]
    pub fn package(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Option<LocalPackage>, MirrorError> {
        Ok(self.packages(addr)?.package(version, platform).cloned())
    }

    #[cfg(test)]
    pub fn platforms(&self, addr: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, MirrorError> {
        Ok(self.packages(addr)?.of(version).map(|(platform, _)| platform.clone()).collect())
    }
}

impl LocalPackages {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        self.0.keys()
    }

    /// The packages of one version.
    pub fn of(&self, version: &Version) -> impl Iterator<Item = (&Platform, &LocalPackage)> {
        self.0.get(version).into_iter().flatten()
    }

    pub fn package(&self, version: &Version, platform: &Platform) -> Option<&LocalPackage> {
        self.0.get(version)?.get(platform)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Version, &Platform, &LocalPackage)> {
        self.0.iter().flat_map(|(version, platforms)| {
            platforms.iter().map(move |(platform, package)| (version, platform, package))
        })
    }

    /// Reads the directory of a provider. The first package of its kind counts, in the order of the names: there an
    /// unpacked one comes before a packed one.
    fn read_provider(&mut self, directory: &Path, kind: &str) -> Result<(), MirrorError> {
        for entry in list(directory)? {
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let path = entry.path();
            if is_own_directory(&entry) {
                if let Ok(version) = name.parse() {
                    self.read_version(&path, &version)?;
                }
            } else if path.is_file()
                && let Some((version, platform)) = parse_archive_name(&name, kind)
            {
                self.add(version, platform, LocalPackage::Packed(path));
            }
        }
        Ok(())
    }

    fn read_version(&mut self, directory: &Path, version: &Version) -> Result<(), MirrorError> {
        for entry in list(directory)? {
            let platform = entry.file_name().to_str().and_then(|name| name.parse().ok());
            // Here a link will do: `init` installs from the plugin cache that way.
            if let Some(platform) = platform
                && entry.path().is_dir()
            {
                self.add(version.clone(), platform, LocalPackage::Unpacked(entry.path()));
            }
        }
        Ok(())
    }

    fn add(&mut self, version: Version, platform: Platform, package: LocalPackage) {
        if let Entry::Vacant(place) = self.0.entry(version).or_default().entry(platform) {
            place.insert(package);
        }
    }
}

/// Reads `terraform-provider-TYPE_VERSION_OS_ARCH.zip` without regard to case. What follows ARCH after a further `_` is
/// ignored, as in the tools.
fn parse_archive_name(name: &str, kind: &str) -> Option<(Version, Platform)> {
    let name = name.to_lowercase();
    let middle = name.strip_prefix("terraform-provider-")?.strip_prefix(kind)?.strip_prefix('_')?;
    let mut pieces = middle.strip_suffix(".zip")?.split('_');
    let (version, os, arch) = (pieces.next()?, pieces.next()?, pieces.next()?);
    Some((version.parse().ok()?, Platform::new(os, arch).ok()?))
}

fn host_name(name: &str) -> Option<String> {
    Hostname::parse(name).ok().map(|host| host.to_string())
}

/// Of either tool: Terraform's namespaces are those of OpenTofu and more.
fn namespace_name(name: &str) -> Option<String> {
    normalise_namespace(name, Dialect::Terraform).ok()
}

fn part_name(name: &str) -> Option<String> {
    normalise_part(name).ok()
}

fn of_name<'a>(names: &'a Names, name: &str) -> &'a [PathBuf] {
    names.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// The entries of a directory in the order of their names, bytewise.
fn list(directory: &Path) -> Result<Vec<DirEntry>, MirrorError> {
    let entries = std::fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>);
    let mut entries = entries.map_err(|reason| MirrorError::Unreadable { path: directory.to_owned(), reason })?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn is_own_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

impl From<MirrorError> for Error {
    fn from(error: MirrorError) -> Self {
        let (MirrorError::Missing(path) | MirrorError::NotADirectory(path) | MirrorError::Unreadable { path, .. }) =
            &error;
        let mapped = Self::new(ErrorKind::Disk, error.to_string()).in_file(path);
        match error {
            MirrorError::Missing(_) | MirrorError::NotADirectory(_) => {
                mapped.hint(step!("correct the path of the filesystem mirror; `tflock mirror DIR` makes one"))
            }
            MirrorError::Unreadable { .. } => mapped,
        }
    }
}

#[cfg(test)]
mod tests;

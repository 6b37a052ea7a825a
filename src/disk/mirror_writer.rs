//! Writes a mirror, and reads what one has: a directory that is a filesystem mirror and, behind any web server, a network mirror.
//!
//! ```text
//! BASE/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip     packages
//! BASE/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_SHA256SUMS      the signed list, as the registry serves it
//! BASE/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_SHA256SUMS.sig  its detached signature
//! BASE/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_SHA256SUMS.asc  the keys that the registry lists, in its order
//! BASE/HOST/NAMESPACE/TYPE/VERSION.json                                    the packages of a version with their hashes
//! BASE/HOST/NAMESPACE/TYPE/index.json                                      the versions
//! ```
//!
//! A file appears whole or not at all, and after the files that it names. What a document says of other versions and
//! platforms stays.
//!
//! Source: `internal/command/providers_mirror.go`, whose documents of older versions get the hashes of newer ones.
//! The content of such a directory is read here too, file by file; packages are found, not opened.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use super::atomic::{self, FileMode, NewFile, StoreError, failed, put_in_place};
use super::files;
use super::mirror::{FilesystemMirror, LocalPackage};
use super::root_files::{DirectoryLock, OUTPUT};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash};
use crate::interrupt::{Interrupt, What};
use crate::parallel::locked;
use crate::path::shown;
use crate::platform::Platform;
use crate::release::hashes;
use crate::version::Version;

const DOCUMENT: FileMode = FileMode::KeepOr(0o644);

#[derive(Debug)]
pub struct MirrorWriter {
    base: PathBuf,
    interrupt: Interrupt,
    _lock: DirectoryLock,
}

#[derive(Debug, Clone, Default)]
pub struct MirrorRelease {
    pub sums: Option<Vec<u8>>,
    pub signature: Option<Vec<u8>>,
    pub keys: Vec<String>,
    /// The hashes of the packages, by the platforms that name their files.
    pub archives: BTreeMap<Platform, Vec<PackageHash>>,
}

/// What became of a package in a mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    Fetched,
    /// Downloaded; it replaced a file with another digest.
    Replaced,
    Present,
}

/// The names of the copies of what was signed, next to the packages: checksums, signature, keys.
pub fn copy_names(addr: &ProviderAddr, version: &Version) -> [String; 3] {
    let sums = format!("terraform-provider-{}_{version}_SHA256SUMS", addr.type_name());
    [sums.clone(), format!("{sums}.sig"), format!("{sums}.asc")]
}

pub fn directory_in(base: &Path, addr: &ProviderAddr) -> PathBuf {
    base.join(addr.host().as_ascii()).join(addr.namespace()).join(addr.type_name())
}

impl MirrorWriter {
    /// The mirror in a directory, which is made if there is none. Other runs that write it are waited for.
    pub fn open(base: &Path, interrupt: Interrupt) -> Result<Self, Error> {
        if base.metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(failed("write into", base)(std::io::ErrorKind::NotADirectory.into()).into());
        }
        files::create_directory(base).map_err(failed("create", base))?;
        let lock = DirectoryLock::acquire(base)?;
        Ok(Self { base: base.to_owned(), interrupt, _lock: lock })
    }

    /// The directory of a provider, made if need be and cleared of what a killed run left. A symbolic link below
    /// the mirror is refused: the tools follow none there.
    pub fn directory(&self, addr: &ProviderAddr) -> Result<PathBuf, Error> {
        let directory = directory_in(&self.base, addr);
        files::create_directory_below(&self.base, &directory).map_err(failed("create", &directory))?;
        atomic::sweep(&directory);
        Ok(directory)
    }

    /// Writes what is known of a release whose packages are there: signed documents, then the document of the version,
    /// then the index.
    pub fn publish(&self, addr: &ProviderAddr, version: &Version, release: &MirrorRelease) -> Result<(), Error> {
        let directory = self.directory(addr)?;
        let of_version = directory.join(format!("{version}.json"));
        let of_provider = directory.join("index.json");
        let archives = release.archives.iter().map(|(platform, hashes)| {
            let file_name = hashes::conventional_name(addr, version, platform);
            let hashes: Vec<&str> = hashes.iter().map(PackageHash::as_str).collect();
            (platform.to_string(), json!({ "url": file_name, "hashes": hashes }))
        });
        let versions = [(version.to_string(), json!({}))];
        let of_version_text = extended(&of_version, "archives", archives)?;
        let index_text = extended(&of_provider, "versions", versions)?;
        let [sums, signature, asc] = copy_names(addr, version).map(|name| directory.join(name));
        let keys: String = release.keys.iter().flat_map(|key| [key.trim_end(), "\n"]).collect();
        let copies = [
            (asc, Some(keys.as_bytes()).filter(|keys| !keys.is_empty())),
            (signature, release.signature.as_deref()),
            (sums, release.sums.as_deref()),
        ];
        let copies = copies.iter().filter_map(|(path, bytes)| Some((path, (*bytes)?)));
        let documents = [(&of_version, of_version_text.as_bytes()), (&of_provider, index_text.as_bytes())];
        for (path, bytes) in copies.chain(documents) {
            let file = NewFile { path, bytes, mode: DOCUMENT, what: What::File };
            atomic::store(file, &self.base, &self.interrupt)?;
        }
        Ok(())
    }
}

pub fn members(path: &Path, member: &str) -> Result<Option<Map<String, Value>>, Error> {
    let wrong = |reason: String| {
        let message = format!("{} is not a document of a network mirror: {reason}", shown(path));
        let error = Error::new(ErrorKind::Disk, message).in_file(path);
        error.hint(step!("restore the file, or remove it and run `tflock mirror` for each version that it named"))
    };
    let Some(text) = files::read(path).map_err(|problem| wrong(problem.to_string()))? else {
        return Ok(None);
    };
    let document: Value = serde_json::from_slice(&text).map_err(|problem| wrong(problem.to_string()))?;
    match document.get(member) {
        Some(Value::Object(members)) => Ok(Some(members.clone())),
        _ => Err(wrong(format!("it has no object {member:?}"))),
    }
}

/// The text of a document with more members, all of them in the order of their names.
fn extended(path: &Path, member: &str, more: impl IntoIterator<Item = (String, Value)>) -> Result<String, Error> {
    let mut all: BTreeMap<String, Value> = members(path, member)?.into_iter().flatten().collect();
    all.extend(more);
    let document = json!({ member: all.into_iter().collect::<Map<String, Value>>() });
    Ok(format!("{document:#}\n"))
}

/// An archive on its way into a directory: a file next to those that count, until it is put in its place.
#[derive(Debug)]
pub struct ArchiveCopy {
    directory: PathBuf,
    name: String,
    interrupt: Interrupt,
    file: Mutex<Option<NamedTempFile>>,
}

impl ArchiveCopy {
    /// A copy that will have this name in a directory of a mirror.
    pub fn new(directory: PathBuf, name: String, interrupt: Interrupt) -> Self {
        Self { directory, name, interrupt, file: Mutex::default() }
    }

    pub fn begin(&self) -> Result<(), StoreError> {
        let file = atomic::temporary(&self.directory, self.name.as_ref())
            .map_err(failed("create a file next to", &self.path()))?;
        *locked(&self.file) = Some(file);
        Ok(())
    }

    pub fn write(&self, bytes: &[u8]) -> Result<(), StoreError> {
        match &mut *locked(&self.file) {
            Some(file) => file.as_file_mut().write_all(bytes).map_err(failed("write", &self.path())),
            None => Ok(()),
        }
    }

    /// Puts the file in its place. Without this call, the file is removed.
    pub fn keep(&self) -> Result<(), StoreError> {
        let Some(file) = locked(&self.file).take() else { return Ok(()) };
        atomic::set_mode(file.as_file(), OUTPUT, &self.path())
            .map_err(failed("set the permissions of", &self.path()))?;
        file.as_file().sync_all().map_err(failed("write", &self.path()))?;
        let writing = self.interrupt.writing()?;
        put_in_place(file, &self.path()).map_err(failed("replace", &self.path()))?;
        writing.wrote(What::MirroredPackage, &self.path());
        Ok(())
    }

    /// Its place.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }
}

#[derive(Debug, Clone, Default)]
pub struct ReleaseContents {
    pub indexed: bool,
    /// What the document of the version says of each platform; `None` if it does not exist.
    pub listed: Option<BTreeMap<Platform, ListedArchive>>,
    pub archives: BTreeMap<Platform, PathBuf>,
    /// The unpacked packages, which the tools take before packed ones.
    pub unpacked: BTreeMap<Platform, PathBuf>,
    pub sums: Option<Vec<u8>>,
    pub signature: Option<Vec<u8>>,
    pub keys: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedArchive {
    /// Where it is: the name of a file next to the document, or any other URL.
    pub url: String,
    pub hashes: Vec<PackageHash>,
}

/// The releases that a mirror has anything of.
pub fn releases(
    mirror: &FilesystemMirror,
    addr: &ProviderAddr,
    directory: &Path,
) -> Result<BTreeMap<Version, ReleaseContents>, Error> {
    let mut releases: BTreeMap<Version, ReleaseContents> = BTreeMap::new();
    let packages = mirror.packages(addr)?;
    for (version, platform, package) in packages.iter() {
        let release = releases.entry(version.clone()).or_default();
        match package {
            LocalPackage::Packed(path) => {
                release.archives.insert(platform.clone(), path.clone());
            }
            LocalPackage::Unpacked(path) => {
                release.unpacked.insert(platform.clone(), path.clone());
                let packed = directory.join(hashes::conventional_name(addr, version, platform));
                if packed.is_file() {
                    release.archives.insert(platform.clone(), packed);
                }
            }
        }
    }
    for name in members(&directory.join("index.json"), "versions")?.into_iter().flatten().map(|(name, _)| name) {
        // The tools pass over other names, too.
        if let Ok(version) = name.parse::<Version>() {
            releases.entry(version).or_default().indexed = true;
        }
    }
    for (version, release) in &mut releases {
        let of_version = members(&directory.join(format!("{version}.json")), "archives")?;
        release.listed = of_version.map(|archives| archives.iter().filter_map(listed).collect());
        let copies = copy_names(addr, version).map(|name| files::read(&directory.join(name)).ok().flatten());
        let keys;
        [release.sums, release.signature, keys] = copies;
        release.keys = keys.map(|text| armored_blocks(&String::from_utf8_lossy(&text))).unwrap_or_default();
    }
    Ok(releases)
}

fn listed((platform, value): (&String, &Value)) -> Option<(Platform, ListedArchive)> {
    let hashes = value.get("hashes").and_then(Value::as_array).into_iter().flatten();
    let hashes = hashes.filter_map(|hash| hash.as_str()?.parse::<PackageHash>().ok());
    let url = value.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
    let known = hashes.filter(|hash| hash.scheme() != HashScheme::Other);
    Some((platform.parse().ok()?, ListedArchive { url, hashes: known.collect() }))
}

pub fn armored_blocks(text: &str) -> Vec<String> {
    const BEGIN: &str = "-----BEGIN";
    let starts: Vec<usize> = text.match_indices(BEGIN).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| text[*start..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn copies_are_next_to_the_packages() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let names = copy_names(&addr, &Version::new(1, 4, 0));
        assert_eq!(names[0], "terraform-provider-widget_1.4.0_SHA256SUMS");
        assert!(names[1].ends_with("_SHA256SUMS.sig") && names[2].ends_with("_SHA256SUMS.asc"));
    }

    #[test]
    fn keys_follow_each_other() {
        let block =
            |name: &str| format!("-----BEGIN PGP PUBLIC KEY BLOCK-----\n{name}\n-----END PGP PUBLIC KEY BLOCK-----\n");
        let file = format!("a remark\n{}{}", block("a"), block("b"));
        assert_eq!(armored_blocks(&file), [block("a"), block("b")]);
        assert!(armored_blocks("").is_empty());
    }
}

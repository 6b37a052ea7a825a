//! `.terraform/modules`: where the tools look for installed modules, where they are put for them, and their hashes by the rule of
//! module locks.
//!
//! The list of installed modules never names a directory that is not what it says: what is replaced is taken out of the
//! list first, then the directories are exchanged, then the new list is swapped in.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use super::atomic::{FileMode, NewFile, stage, sweep};
use super::files::{self, around_data_dir, create_directory_below, refuse_linked_directory};
use super::own;
use crate::config::{ConfigFiles, Installed, Manifest};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::hash::digest::h1;
use crate::hash::{PackageHash, Sha256Digest};
use crate::interrupt::{Interrupt, What, Writing};
use crate::path::{links, shown};

const LIST: &str = "modules.json";

const STAGING: &str = ".tflock-";

#[derive(Debug)]
pub struct ModulesDir {
    path: PathBuf,
    /// What a link may not lead out of.
    data_dir: PathBuf,
}

impl ModulesDir {
    /// Makes the directory, if it is not there: `data_dir` is `.terraform` of the root module, or what replaces it.
    /// Removes what a killed run left there, so the caller must hold the lock on the root module.
    pub fn open(data_dir: &Path) -> Result<Self, Error> {
        refuse_linked_directory(data_dir, "modules")?;
        let path = data_dir.join("modules");
        create_directory_below(around_data_dir(data_dir), &path).map_err(|reason| unwritable(&path, &reason))?;
        let left = fs::read_dir(&path).into_iter().flatten().flatten();
        for entry in left.filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING)) {
            let _ = fs::remove_dir_all(entry.path());
        }
        sweep(&path);
        Ok(Self { path, data_dir: data_dir.to_owned() })
    }

    pub fn of(&self, key: &str) -> PathBuf {
        self.path.join(key)
    }

    /// A new directory to lay out modules in, by their keys. It goes away if nothing comes of it.
    pub fn staging(&self) -> Result<tempfile::TempDir, Error> {
        let made = own::temporary_directory(STAGING, &self.path);
        made.map_err(|reason| unwritable(&self.path, &reason))
    }

    /// The list of installed modules; an empty one if there is none, or none that can be read.
    pub fn manifest(&self) -> Manifest {
        let bytes = files::read(&self.path.join(LIST)).ok().flatten().unwrap_or_default();
        Manifest::decode(&String::from_utf8_lossy(&bytes)).unwrap_or_default()
    }

    /// Puts modules from a staging directory in their places, and records all `installed` ones.
    pub fn replace(
        &self,
        staging: &tempfile::TempDir,
        keys: &[String],
        installed: Vec<(String, Installed)>,
        interrupt: &Interrupt,
    ) -> Result<(), Error> {
        let writing = interrupt.writing()?;
        let mut manifest = self.manifest();
        // Each is looked at: no `any`, which would stop at the first.
        let removed = keys.iter().filter(|key| manifest.remove_with_below(key)).count();
        if removed > 0 {
            self.write(&manifest, &writing)?;
        }
        for key in keys {
            let place = self.of(key);
            if fs::symlink_metadata(&place).is_ok() {
                let aside = staging.path().join(format!("{STAGING}{key}"));
                fs::rename(&place, &aside).map_err(|reason| unwritable(&place, &reason))?;
            }
            fs::rename(staging.path().join(key), &place).map_err(|reason| unwritable(&place, &reason))?;
            writing.wrote(What::InstalledModule, &place);
        }
        for (key, record) in installed {
            manifest.insert(key, record);
        }
        self.write(&manifest, &writing)
    }

    fn write(&self, manifest: &Manifest, writing: &Writing<'_>) -> Result<(), Error> {
        let (path, text) = (self.path.join(LIST), manifest.encode());
        let file = NewFile { path: &path, bytes: text.as_bytes(), mode: FileMode::KeepOr(0o644), what: What::File };
        stage(file, &self.data_dir)?.replace(writing)?;
        Ok(())
    }
}

fn unwritable(path: &Path, reason: &io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write {}: {reason}", shown(path))).in_file(path)
}

/// The most bytes of a file; a whole package has the same limit.
const MAX_BYTES: u64 = 512 << 20;

/// The longest target of a link, and a zero byte, as systems have it.
const MAX_TARGET: usize = 4096;

/// What no comparison of installed modules covers.
pub const COMPARED: &str =
    "installed modules are compared without files whose names begin with a dot, because the tools do not copy them";

/// The hashes of an installed module: of its files unchanged, and as they would be checked in. Names that begin with a
/// dot do not count, and a link counts as its target. Empty where hashes prove nothing: if a link leads to what no hash
/// covers, or if a file could be the text of a link.
pub fn installed_hashes(place: &Path) -> io::Result<Vec<PackageHash>> {
    let (mut as_they_are, mut checked_in) = (Vec::new(), Vec::new());
    let mut folders = vec![(place.to_owned(), String::new())];
    while let Some((folder, within)) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let own = entry.file_name().into_string().map_err(|_| io::ErrorKind::InvalidData)?;
            if own.starts_with('.') {
                continue;
            }
            let (name, kind) = (format!("{within}{own}"), entry.file_type()?);
            if kind.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
                continue;
            }
            let bytes = if kind.is_symlink() {
                if reach(place, &entry.path()) != LinkReach::Covered {
                    return Ok(Vec::new());
                }
                let target = fs::read_link(entry.path())?.into_os_string().into_string();
                target.map_err(|_| io::ErrorKind::InvalidData)?.into_bytes()
            } else {
                let bytes = read_regular(&entry.path())?;
                if may_be_link(&entry.path(), &bytes) {
                    return Ok(Vec::new());
                }
                bytes
            };
            checked_in.push((name.clone(), Sha256Digest::of(&plain(&bytes))));
            as_they_are.push((name, Sha256Digest::of(&bytes)));
        }
    }
    let hash = |files| h1(files).map_err(io::Error::other);
    Ok(vec![hash(as_they_are)?, hash(checked_in)?])
}

/// What a path in a package leads over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkReach {
    Covered,
    /// A name that begins with a dot.
    Hidden,
    Outside,
}

/// What a path leads over, the texts of all links on the way included.
fn reach(package: &Path, path: &Path) -> LinkReach {
    let Ok(top) = links::resolve(package) else {
        return LinkReach::Outside;
    };
    let has_dot = |path: &Path| {
        let mut names = path.components().filter(|part| matches!(part, Component::Normal(_)));
        names.any(|name| name.as_os_str().as_encoded_bytes().starts_with(b"."))
    };
    let (mut reach, mut texts) = (LinkReach::Covered, Vec::new());
    for station in links::stations(path).into_iter().skip_while(|station| !station.starts_with(&top)) {
        match station.strip_prefix(&top) {
            Ok(within) if has_dot(within) => reach = LinkReach::Hidden,
            Ok(_) => {}
            Err(_) => return LinkReach::Outside,
        }
        texts.extend(fs::read_link(&station));
    }
    let is_hidden = texts.iter().any(|text| has_dot(text)) || path.strip_prefix(package).is_ok_and(has_dot);
    if is_hidden { LinkReach::Hidden } else { reach }
}

/// True if a link with this text in the place of a file would lead to something else.
fn may_be_link(place: &Path, bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty() && text.len() < MAX_TARGET);
    let target = text.filter(|text| !text.starts_with('/') && !text.contains(['\0', '\n']));
    let end = target.and_then(|target| Some(place.parent()?.join(target))).filter(|end| end != place);
    end.is_some_and(|end| fs::symlink_metadata(end).is_ok())
}

/// True if a module is read from what no hash of its package covers: its directory, or a file of its configuration, is reached
/// over a name that begins with a dot.
pub fn is_read_from_hidden(package: &Path, dir: &Path) -> bool {
    let names: Vec<String> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let of = |dialect| {
        let ConfigFiles { primary, overrides, tests, .. } = ConfigFiles::select(names.iter().cloned(), dialect);
        [primary, overrides, tests].concat()
    };
    let files = [Dialect::Terraform, Dialect::OpenTofu].into_iter().flat_map(of);
    let is_hidden = |path: &Path| reach(package, path) == LinkReach::Hidden;
    is_hidden(dir) || files.into_iter().any(|name| is_hidden(&dir.join(name)))
}

/// What is in a regular file that is no larger than a package may be; nothing is opened that is none.
pub fn read_regular(place: &Path) -> io::Result<Vec<u8>> {
    let meta = fs::symlink_metadata(place)?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    fs::File::open(place)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A text as it would be checked in: its lines end in LF.
pub fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memmem::find(bytes, b"\r\n").is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            text.push(*byte);
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checkout_converts() {
        for (there, stored) in [("a\r\nb\r\n", "a\nb\n"), ("$Id: x $\n", "$Id: x $\n"), ("a\rb", "a\rb"), ("", "")] {
            assert_eq!(plain(there.as_bytes()), stored.as_bytes(), "{there:?}");
        }
    }
}

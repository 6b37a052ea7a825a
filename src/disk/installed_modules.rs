//! Installed modules on the disk: their hashes by the rule of module locks.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path};

use crate::config::ConfigFiles;
use crate::dialect::Dialect;
use crate::hash::h1::h1;
use crate::hash::{PackageHash, Sha256Digest};
use crate::path::links;

/// The most bytes of a file; a whole package has the same limit.
const MAX_BYTES: u64 = 512 << 20;

/// The longest target of a link, and a zero byte, as systems have it.
const MAX_TARGET: usize = 4096;

/// The hashes of an installed module: of its files unchanged, and as they would be checked in. Names that begin with a
/// dot do not count, and a link counts as its target. Empty where hashes prove nothing: if a link leads to what no hash
/// covers, or if a file could be the text of a link.
pub fn hashes(place: &Path) -> io::Result<Vec<PackageHash>> {
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
                if reach(place, &entry.path()) != Reach::Covered {
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
enum Reach {
    Covered,
    /// A name that begins with a dot.
    Hidden,
    Outside,
}

/// What a path leads over, the texts of all links on the way included.
fn reach(package: &Path, path: &Path) -> Reach {
    let Ok(top) = links::resolve(package) else { return Reach::Outside };
    let has_dot = |path: &Path| {
        let mut names = path.components().filter(|part| matches!(part, Component::Normal(_)));
        names.any(|name| name.as_os_str().as_encoded_bytes().starts_with(b"."))
    };
    let (mut reach, mut texts) = (Reach::Covered, Vec::new());
    for station in links::stations(path).into_iter().skip_while(|station| !station.starts_with(&top)) {
        match station.strip_prefix(&top) {
            Ok(within) if has_dot(within) => reach = Reach::Hidden,
            Ok(_) => {}
            Err(_) => return Reach::Outside,
        }
        texts.extend(fs::read_link(&station));
    }
    let is_hidden = texts.iter().any(|text| has_dot(text)) || path.strip_prefix(package).is_ok_and(has_dot);
    if is_hidden { Reach::Hidden } else { reach }
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
    let is_hidden = |path: &Path| reach(package, path) == Reach::Hidden;
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

//! Installed modules on the disk: their hashes by the rule of module locks.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use crate::hash::h1::h1;
use crate::hash::{PackageHash, Sha256Digest};

/// The hashes of an installed module: of its files as they are, and as they would be checked in. Names with a component that
/// begins with a dot do not count, and a link counts as its target.
///
/// # Errors
///
/// What the system says.
pub fn hashes(place: &Path) -> io::Result<[PackageHash; 2]> {
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
            let bytes = match kind {
                kind if kind.is_symlink() => fs::read_link(entry.path())?.to_string_lossy().into_owned().into_bytes(),
                kind if kind.is_file() => fs::read(entry.path())?,
                _ => return Err(io::ErrorKind::InvalidData.into()),
            };
            checked_in.push((name.clone(), Sha256Digest::of(&plain(&bytes))));
            as_they_are.push((name, Sha256Digest::of(&bytes)));
        }
    }
    let hash = |files| h1(files).map_err(io::Error::other);
    Ok([hash(as_they_are)?, hash(checked_in)?])
}

/// A text as it would be checked in: its lines end in LF, and no `$Id$` is expanded.
pub fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.contains(&b'\r') && memchr::memmem::find(bytes, b"$Id:").is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, behind)) = rest.split_first() {
        let expanded = rest.strip_prefix(b"$Id:").and_then(|rest| {
            let end = memchr::memchr2(b'$', b'\n', rest)?;
            (rest[end] == b'$').then(|| &rest[end + 1..])
        });
        if let Some(behind) = expanded {
            text.extend_from_slice(b"$Id$");
            rest = behind;
        } else {
            if byte != b'\r' || behind.first() != Some(&b'\n') {
                text.push(byte);
            }
            rest = behind;
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checkout_converts() {
        for (there, stored) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("x $Id: 055c8729cdcc372500a08db659c045e16c4409fb $ y", "x $Id$ y"),
            ("$Id: cut\n", "$Id: cut\n"),
            ("a\rb", "a\rb"),
            ("", ""),
        ] {
            assert_eq!(plain(there.as_bytes()), stored.as_bytes(), "{there:?}");
        }
        assert_ne!(plain(b"$Id: a $evil"), plain(b"$Id$"));
    }
}

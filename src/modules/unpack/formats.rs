//! The formats of archives, tar compressed in one of three ways and zip, and where their links lead, by their texts alone: no file
//! system has a say in it.
//!
//! Of tar the crate gives the raw headers. Their meaning is decided here as the tools decide it, and an archive
//! whose headers readers take in different ways is refused: what is hashed is what the tools install. Zip is read by the reader that
//! hashes the archives of providers.
//!
//! Source: Go's `archive/tar`, `reader.go`; `github.com/hashicorp/go-getter` v1, `decompress_tar.go`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};

use super::{Builder, MAX_ENTRIES, MAX_NAME, UnpackError, beginning, text_of};
use crate::hash::archive::{Limits, ReadError, Unpacking};

/// The most memory for a dictionary, in KiB: that of the strongest preset.
const MAX_DICTIONARY: u32 = 96 * 1024;

/// The most bytes of what a header says of the next entry; they are in memory at once.
const MAX_SAID: u64 = 64 * 1024;

/// The bits of a mode that are no permissions: some archives have the kind of the entry there.
const TAR_KIND: u64 = !0o7777;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::modules) enum Compression {
    Gzip,
    Bzip2,
    Xz,
}

pub(in crate::modules) fn unpack_tar(
    archive: impl Read,
    compression: Compression,
    builder: &mut Builder,
) -> Result<(), UnpackError> {
    let archive = BufReader::with_capacity(128 * 1024, archive);
    match compression {
        Compression::Gzip => unpack_tar_entries(flate2::bufread::MultiGzDecoder::new(archive), builder),
        Compression::Bzip2 => unpack_tar_entries(bzip2::bufread::MultiBzDecoder::new(archive), builder),
        Compression::Xz => {
            unpack_tar_entries(lzma_rust2::XzReader::new_mem_limit(archive, true, MAX_DICTIONARY), builder)
        }
    }
}

pub(super) fn unpack_tar_entries(plain: impl Read, builder: &mut Builder) -> Result<(), UnpackError> {
    // Headers and padding count too, a little: what is skipped has to be decompressed as well.
    let plain = plain.take(builder.bytes_left().saturating_mul(2));
    let mut archive = tar::Archive::new(plain);
    let mut said = Said::default();
    for entry in archive.entries().map_err(UnpackError::Archive)?.raw(true) {
        let mut entry = entry.map_err(UnpackError::Archive)?;
        match kind_of(&entry) {
            b'x' => said.pax = Pax::read(&content(&mut entry)?)?,
            b'L' => said.name = Some(up_to_zero(&content(&mut entry)?).to_owned()),
            b'K' => said.target = Some(up_to_zero(&content(&mut entry)?).to_owned()),
            // It is an entry of its own, which has no content.
            b'g' => said = Said::default(),
            _ => lay_out(&mut entry, &std::mem::take(&mut said), builder)?,
        }
    }
    // What is behind the limit would be left out without a word.
    if archive.into_inner().limit() == 0 { Err(UnpackError::TooLarge) } else { Ok(()) }
}

fn lay_out<R: Read>(entry: &mut tar::Entry<'_, R>, said: &Said, builder: &mut Builder) -> Result<(), UnpackError> {
    let header = TarHeader(*entry.header().as_bytes());
    let (name, target) = (said.name(&header)?, said.target(&header));
    let name = text_of(&name)?;
    if said.pax.size.is_some_and(|size| size != entry.size()) {
        return Err(unclear("its size is given twice"));
    }
    let kind = match kind_of(entry) {
        0 if name.ends_with('/') => b'5',
        0 | b'7' => b'0',
        kind => kind,
    };
    // Some readers take what follows for its content, others for the next header.
    if matches!(kind, b'1' | b'2' | b'5') && entry.size() != 0 {
        return Err(unclear("a link or directory has content"));
    }
    let mode = header.mode()?;
    let usual = match kind {
        b'5' => 0o40_000,
        b'2' => 0o120_000,
        _ => 0o100_000,
    };
    if !matches!(mode & TAR_KIND, 0 | 0o40_000 | 0o100_000 | 0o120_000)
        || (mode & TAR_KIND != 0 && mode & TAR_KIND != usual)
    {
        return Err(UnpackError::Special(beginning(name)));
    }
    match kind {
        b'0' => {
            builder.file(name, entry)?;
            if mode & 0o111 != 0 { builder.executable(name) } else { Ok(()) }
        }
        b'5' => builder.directory(name),
        b'2' => builder.link(name, text_of(&target)?),
        b'1' => builder.hard_link(name, text_of(&target)?),
        b'S' => Err(unclear("a file is sparse")),
        _ => Err(UnpackError::Special(beginning(name))),
    }
}

/// The raw kind: the crate takes two of them for one.
fn kind_of<R: Read>(entry: &tar::Entry<'_, R>) -> u8 {
    entry.header().as_bytes()[156]
}

/// What headers say of the entry after them.
#[derive(Default)]
struct Said {
    pax: Pax,
    /// In a header of GNU tar, which counts most.
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
}

impl Said {
    fn name(&self, header: &TarHeader) -> Result<Vec<u8>, UnpackError> {
        let own = header.name()?;
        let name = self.name.as_ref().filter(|name| !name.is_empty()).or(self.pax.path.as_ref());
        Ok(name.cloned().unwrap_or(own))
    }

    fn target(&self, header: &TarHeader) -> Vec<u8> {
        let target = self.target.as_ref().filter(|target| !target.is_empty()).or(self.pax.link_path.as_ref());
        target.cloned().unwrap_or_else(|| up_to_zero(&header.0[157..257]).to_owned())
    }
}

/// What matters of a PAX header. Of several records with one key the last one counts, and an empty one says nothing.
#[derive(Default)]
struct Pax {
    path: Option<Vec<u8>>,
    link_path: Option<Vec<u8>>,
    size: Option<u64>,
}

impl Pax {
    fn read(mut rest: &[u8]) -> Result<Self, UnpackError> {
        let mut pax = Self::default();
        while !rest.is_empty() {
            let (key, value, behind) = record(rest).ok_or_else(|| unclear("a PAX header is malformed"))?;
            let text = Some(value.to_owned()).filter(|value| !value.is_empty());
            match key {
                b"path" => pax.path = text,
                b"linkpath" => pax.link_path = text,
                b"size" => {
                    let number = text.map(|text| decimal(&text).ok_or_else(|| unclear("a PAX header is malformed")));
                    pax.size = number.transpose()?;
                }
                _ if key.starts_with(b"GNU.sparse.") => return Err(unclear("a file is sparse")),
                _ => {}
            }
            rest = behind;
        }
        Ok(pax)
    }
}

/// The first record, `LENGTH KEY=VALUE` and a line feed, and what is behind it.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = memchr::memchr(b' ', bytes)?;
    let length = usize::try_from(decimal(&bytes[..space])?).ok()?;
    let (record, behind) = bytes.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = memchr::memchr(b'=', record).filter(|at| *at > 0)?;
    Some((&record[..equals], &record[equals + 1..], behind))
}

/// A header of 512 bytes.
struct TarHeader([u8; 512]);

impl TarHeader {
    fn name(&self) -> Result<Vec<u8>, UnpackError> {
        let (is_ustar, is_gnu) = (self.0[257..263] == *b"ustar\0", self.0[257..265] == *b"ustar  \0");
        let name = up_to_zero(&self.0[..100]);
        if is_ustar && self.0[508..] == *b"tar\0" {
            return Err(unclear("it is one of star, whose names are divided otherwise"));
        }
        // Go takes two times that are none for a part of the name.
        let is_time = |field: &[u8]| field[0] == 0 || field[0] & 0x80 != 0 || octal(field).is_some();
        if is_gnu && !(is_time(&self.0[345..357]) && is_time(&self.0[357..369])) {
            return Err(unclear("a time is malformed"));
        }
        let prefix = if is_ustar { up_to_zero(&self.0[345..500]) } else { b"" };
        Ok(if prefix.is_empty() { name.to_owned() } else { [prefix, b"/", name].concat() })
    }

    fn mode(&self) -> Result<u64, UnpackError> {
        octal(&self.0[100..108]).ok_or_else(|| unclear("a mode is malformed"))
    }
}

/// A number of octal digits, with blanks and zero bytes around it; zero without any.
fn octal(field: &[u8]) -> Option<u64> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | 0);
    let start = field.iter().position(|byte| !is_blank(byte)).unwrap_or(field.len());
    let digits = up_to_zero(&field[start..]);
    let end = digits.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    let digit = |number: u64, byte: &u8| matches!(byte, b'0'..=b'7').then(|| number << 3 | u64::from(byte - b'0'));
    digits[..end].iter().try_fold(0, digit)
}

fn decimal(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

fn up_to_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The content of an entry that describes the next one.
fn content<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<Vec<u8>, UnpackError> {
    let size = entry.size();
    if size > MAX_SAID {
        let words = format!("the headers of an entry have more than {} KiB", MAX_SAID >> 10);
        return Err(UnpackError::Archive(io::Error::other(words)));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(UnpackError::Archive)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(unclear("it is cut short")) }
}

/// What programs read in different ways.
fn unclear(why: &str) -> UnpackError {
    UnpackError::Archive(io::Error::other(format!("its content is ambiguous: {why}")))
}

/// The bits of a Unix mode that say what an entry is.
const ZIP_KIND: u32 = 0o170_000;

/// Entries up to this size are not written to the disk twice.
const SMALL: usize = 1 << 20;

/// The most bytes of the central directory.
const MAX_DIRECTORY: u64 = 64 << 20;

pub(in crate::modules) fn unpack_zip(mut archive: File, builder: &mut Builder) -> Result<(), UnpackError> {
    unpack_zip_entries(&mut archive, builder)
}

pub(super) fn unpack_zip_entries<R: Read + Seek>(archive: &mut R, builder: &mut Builder) -> Result<(), UnpackError> {
    let limits =
        Limits { entries: MAX_ENTRIES, name: MAX_NAME, directory: MAX_DIRECTORY, unpacked: builder.bytes_left() };
    let mut entries = Unpacking::open(archive, limits).map_err(damaged)?;
    loop {
        // Only what is sound to its end becomes a file.
        let mut content = tempfile::spooled_tempfile(SMALL);
        let Some(entry) = entries.next_into(&mut content).map_err(damaged)? else {
            return Ok(());
        };
        content.rewind().map_err(UnpackError::Archive)?;
        let name = text_of(&entry.name)?;
        let mode = entry.mode.unwrap_or(0);
        match mode & ZIP_KIND {
            _ if entry.directory => builder.directory(name)?,
            0o120_000 => {
                let mut target = Vec::new();
                // One byte more than allowed, so a longer one is noticed and not cut.
                content.take(MAX_NAME as u64 + 1).read_to_end(&mut target).map_err(UnpackError::Archive)?;
                builder.link(name, text_of(&target)?)?;
            }
            0 | 0o100_000 => {
                builder.file(name, &mut content)?;
                if mode & 0o111 != 0 {
                    builder.executable(name)?;
                }
            }
            _ => return Err(UnpackError::Special(beginning(name))),
        }
    }
}

fn damaged(error: ReadError) -> UnpackError {
    UnpackError::Archive(match error {
        ReadError::Io(reason) => reason,
        ReadError::Bad(bad) => io::Error::other(bad),
    })
}

/// How many links in a row are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// The most steps of a way; a system that follows paths of at most 4096 bytes takes fewer.
const MAX_STEPS: usize = 4096;

/// The way of a path that never leaves its package, whether something is at its end or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkEnd {
    /// Its end; empty for the top of the package.
    pub(super) end: String,
    /// True if it leads over a name that begins with a dot.
    pub(super) is_hidden: bool,
}

/// Where a link or another path leads; `None` if any step is outside of the package.
pub(super) fn way(links: &BTreeMap<String, String>, name: &str) -> Option<LinkEnd> {
    let mut rest: Vec<&str> = name.rsplit('/').collect();
    let mut place: Vec<&str> = Vec::new();
    let (mut followed, mut is_hidden) = (0, false);
    for _ in 0..MAX_STEPS {
        match rest.pop() {
            None => return Some(LinkEnd { end: place.join("/"), is_hidden }),
            Some("" | ".") => {}
            Some("..") => drop(place.pop()?),
            Some(part) => {
                is_hidden |= part.starts_with('.');
                place.push(part);
                let Some(target) = links.get(&place.join("/")) else {
                    continue;
                };
                followed += 1;
                if followed > MAX_LINKS {
                    // They lead to each other, and so nowhere.
                    return Some(LinkEnd { end: place.join("/"), is_hidden });
                }
                place.pop();
                rest.extend(target.rsplit('/'));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_by_their_texts() {
        let links = [
            ("in", "a/b"),
            ("a/up", "../in/c"),
            ("top", "a/.."),
            ("out", "top/../x"),
            ("around", "around"),
            ("nowhere", "a/gone/../../b"),
            ("d/e/f", "../.."),
            ("extra.tf", "d/e/f/../../../payload/evil.tf"),
            ("hidden", ".h/x"),
            ("by", "hidden/y"),
        ];
        let links = links.map(|(name, target)| (name.to_owned(), target.to_owned())).into();
        for (name, hidden) in [
            ("in", Some(false)),
            ("a/up", Some(false)),
            ("top", Some(false)),
            ("out", None),
            ("around", Some(false)),
            ("nowhere", Some(false)),
            ("d/e/f", Some(false)),
            ("extra.tf", None),
            ("hidden", Some(true)),
            ("by", Some(true)),
        ] {
            assert_eq!(way(&links, name).map(|way| way.is_hidden), hidden, "{name}");
        }
    }
}

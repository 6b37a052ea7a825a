//! What is known of archives, by their `zh:`, and the logs that it and the programs are kept in.
//!
//! There are up to 4096 logs of each kind, of lines with a checksum, chosen by the first three digits of a hash.
//!
//! ```text
//! index/NNN     ZH(64 hex digits) H1(base64) SIZE ORIGIN(c or i) CRC32(8 hex digits)
//! programs/NNN  ORIGIN(c or i) H1(base64) PLATFORM JSON CRC32(8 hex digits)
//! ```
//!
//! A run appends whole lines, as many in one write as stay below 4 KiB, which never mix with those of other runs on a local
//! file system. A line that was cut off, or that mixed with another, costs itself only, since each write begins with a line
//! feed. A log is read whole when the first of its entries is looked up.
//!
//! The number of logs is measured, with warm files: of 100,000 entries, 200 lookups took 1.5 ms with 4096 logs, 11 ms
//! with 256 and 33 ms with one; 20 lookups took 0.1 ms, 1.1 ms and 21 ms; of 20,000 entries, 200 lookups took 0.5 ms
//! with 4096 logs. A file for each entry is a little faster to read, but costs a block of the disk for 130 bytes, and a
//! directory and a renaming when it is written.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::LAYOUT;
use super::folder::{self, CacheError, replace};
use super::programs::{self, PROGRAMS, ProgramRecord};
use crate::disk::own::OwnFolder;
use crate::hash::{PackageHash, Sha256Digest};

pub(super) const FOLDER: &str = "index";

/// The size of one append.
const MAX_WRITE: usize = 4000;

/// How an entry came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexOrigin {
    /// Computed by this user's runs, from bytes whose `zh:` was checked.
    Computed,
    /// Reported by an export that was imported.
    Imported,
}

impl IndexOrigin {
    pub(super) fn letter(self) -> char {
        if self == Self::Computed { 'c' } else { 'i' }
    }

    pub(super) fn of_letter(letter: &str) -> Option<Self> {
        [Self::Computed, Self::Imported].into_iter().find(|origin| letter.strip_prefix(origin.letter()) == Some(""))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexEntry {
    pub zh: Sha256Digest,
    pub h1: Sha256Digest,
    pub size: u64,
    /// How we know.
    pub origin: IndexOrigin,
}

impl IndexEntry {
    /// The entry of an archive. `None` if the hash is not an `h1:` that was computed from something.
    pub fn new(zh: Sha256Digest, h1: &PackageHash, size: u64, origin: IndexOrigin) -> Option<Self> {
        let h1 = Sha256Digest::from_base64(h1.as_str().strip_prefix("h1:")?)?;
        Some(Self { zh, h1, size, origin })
    }

    pub fn h1_hash(&self) -> PackageHash {
        PackageHash::h1(self.h1)
    }

    fn to_line(&self) -> String {
        sealed(&format!("{} {} {} {}", self.zh, self.h1.to_base64(), self.size, self.origin.letter()))
    }

    fn from_line(line: &[u8]) -> Option<Self> {
        let mut fields = unsealed(line)?.split(' ');
        let zh = Sha256Digest::from_hex(fields.next()?)?;
        let h1 = Sha256Digest::from_base64(fields.next()?)?;
        let size = fields.next()?.parse().ok()?;
        let origin = IndexOrigin::of_letter(fields.next()?)?;
        fields.next().is_none().then_some(Self { zh, h1, size, origin })
    }
}

#[derive(Debug, Default)]
pub(super) struct HashIndex {
    logs: HashMap<u16, Log>,
    fresh: HashMap<Sha256Digest, Vec<IndexEntry>>,
    unwritten: Vec<IndexEntry>,
}

#[derive(Debug, Default)]
pub(super) struct Log(Vec<u8>);

impl HashIndex {
    /// The one answer of this origin; `None` if there are two.
    pub(super) fn lookup(
        &mut self,
        folder: Option<&OwnFolder>,
        zh: &Sha256Digest,
        origin: IndexOrigin,
    ) -> Option<(PackageHash, u64)> {
        let entries = self.of(folder, zh);
        agreed(entries.iter().filter(|entry| entry.origin == origin)).map(|entry| (entry.h1_hash(), entry.size))
    }

    /// Takes in an entry, unless it is known.
    pub(super) fn record(&mut self, folder: Option<&OwnFolder>, entry: IndexEntry) {
        if !self.of(folder, &entry.zh).contains(&entry) {
            self.fresh.entry(entry.zh).or_default().push(entry.clone());
            self.unwritten.push(entry);
        }
    }

    fn of(&mut self, folder: Option<&OwnFolder>, zh: &Sha256Digest) -> Vec<IndexEntry> {
        let mut entries = match folder {
            Some(folder) => {
                let log = self.logs.entry(log_number(zh)).or_insert_with(|| Log::load(folder, &log_path(FOLDER, zh)));
                log.of(zh)
            }
            None => Vec::new(),
        };
        entries.extend(self.fresh.get(zh).into_iter().flatten().cloned());
        entries
    }

    pub(super) fn entries(&self, folder: Option<&OwnFolder>) -> Vec<IndexEntry> {
        let written = folder.into_iter().flat_map(|folder| logs(folder, FOLDER)).flat_map(|(_, log)| log.entries());
        without_contradictions(written.chain(self.fresh.values().flatten().cloned()))
    }

    /// Appends what is unwritten.
    pub(super) fn flush(&mut self, folder: &OwnFolder) -> Result<(), CacheError> {
        let unwritten = std::mem::take(&mut self.unwritten);
        append_all(folder, FOLDER, unwritten.iter().map(|entry| (&entry.zh, entry.to_line())))
    }
}

impl Log {
    pub(super) fn load(folder: &OwnFolder, way: &Path) -> Self {
        Self(folder.read(way).unwrap_or_default())
    }

    /// Returns the number of bytes removed.
    fn rewrite(&self, folder: &OwnFolder, way: &Path, text: &str) -> Result<u64, CacheError> {
        // Line feeds of their own are not worth a rewrite.
        if self.lines().map(|line| line.len() + 1).sum::<usize>() == text.len() {
            return Ok(0);
        }
        replace(folder, way, text.as_bytes())?;
        Ok(self.0.len().saturating_sub(text.len()) as u64)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }

    /// The entries of an archive.
    fn of(&self, zh: &Sha256Digest) -> Vec<IndexEntry> {
        let start = format!("{zh} ");
        self.lines().filter(|line| line.starts_with(start.as_bytes())).filter_map(IndexEntry::from_line).collect()
    }

    fn entries(&self) -> Vec<IndexEntry> {
        self.lines().filter_map(IndexEntry::from_line).collect()
    }
}

/// A line of a log.
pub(super) fn sealed(facts: &str) -> String {
    format!("{facts} {:08x}\n", crc32fast::hash(facts.as_bytes()))
}

/// What an undamaged line says.
pub(super) fn unsealed(line: &[u8]) -> Option<&str> {
    let (facts, checksum) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
    (format!("{:08x}", crc32fast::hash(facts.as_bytes())) == checksum).then_some(facts)
}

fn log_number(digest: &Sha256Digest) -> u16 {
    let [first, second, ..] = *digest.as_bytes();
    u16::from_be_bytes([first, second]) >> 4
}

pub(super) fn log_path(kind: &str, digest: &Sha256Digest) -> PathBuf {
    [LAYOUT, kind, &format!("{:03x}", log_number(digest))].iter().collect()
}

pub(super) fn logs<'a>(folder: &'a OwnFolder, kind: &str) -> impl Iterator<Item = (PathBuf, Log)> + use<'a> {
    let of_kind = Path::new(LAYOUT).join(kind);
    let ways = folder::files_in(folder, &of_kind).into_iter().map(move |file| of_kind.join(file.file_name()));
    ways.map(|way| (way.clone(), Log::load(folder, &way)))
}

/// Appends lines to the logs of their digests.
pub(super) fn append_all<'a>(
    folder: &OwnFolder,
    kind: &str,
    lines: impl Iterator<Item = (&'a Sha256Digest, String)>,
) -> Result<(), CacheError> {
    let mut by_log: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for (digest, line) in lines {
        by_log.entry(log_path(kind, digest)).or_default().push(line);
    }
    // If one fails, the others are tried all the same.
    let mut result = Ok(());
    for (way, lines) in &by_log {
        result = result.and(append(folder, way, lines).map_err(CacheError::in_folder(folder, way)));
    }
    result
}

fn append(folder: &OwnFolder, way: &Path, lines: &[String]) -> io::Result<()> {
    let mut file = folder.append(way)?;
    let mut batch = "\n".to_owned();
    for line in lines {
        if batch.len() > 1 && batch.len() + line.len() > MAX_WRITE {
            file.write_all(batch.as_bytes())?;
            batch.truncate(1);
        }
        batch.push_str(line);
    }
    file.write_all(batch.as_bytes())
}

/// Rewrites the logs without damaged, double and contradictory lines, and perhaps without imported ones. Returns the number
/// of bytes removed.
pub(super) fn compact(folder: &OwnFolder, imported: bool) -> Result<u64, CacheError> {
    let mut removed = 0;
    for (way, log) in logs(folder, FOLDER) {
        let entries = log.entries().into_iter().filter(|entry| imported || entry.origin == IndexOrigin::Computed);
        removed += log.rewrite(
            folder,
            &way,
            &without_contradictions(entries).iter().map(IndexEntry::to_line).collect::<String>(),
        )?;
    }
    for (way, log) in logs(folder, PROGRAMS) {
        let best = programs::best(&log, imported);
        removed += log.rewrite(folder, &way, &best.values().map(ProgramRecord::encode).collect::<String>())?;
    }
    Ok(removed)
}

/// The entry that all agree on.
fn agreed<'a>(mut entries: impl Iterator<Item = &'a IndexEntry>) -> Option<&'a IndexEntry> {
    let first = entries.next()?;
    entries.all(|entry| entry == first).then_some(first)
}

fn without_contradictions(entries: impl IntoIterator<Item = IndexEntry>) -> Vec<IndexEntry> {
    let mut by_archive: BTreeMap<(Sha256Digest, IndexOrigin), HashSet<IndexEntry>> = BTreeMap::new();
    for entry in entries {
        by_archive.entry((entry.zh, entry.origin)).or_default().insert(entry);
    }
    by_archive.into_values().filter(|same| same.len() == 1).flatten().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_say_what_they_were_made_from(zh: [u8; 32], h1: [u8; 32], size: u64, computed: bool, at in 0_usize..110) {
            let entry = IndexEntry {
                zh: Sha256Digest::from_bytes(zh),
                h1: Sha256Digest::from_bytes(h1),
                size,
                origin: if computed { IndexOrigin::Computed } else { IndexOrigin::Imported },
            };
            let line = entry.to_line();
            let line = line.trim_end().as_bytes();
            prop_assert_eq!(IndexEntry::from_line(line), Some(entry));
            let mut damaged = line.to_vec();
            damaged[at] ^= 1;
            prop_assert_eq!(IndexEntry::from_line(&damaged), None);
            prop_assert_eq!(IndexEntry::from_line(&line[..at]), None);
        }
    }
}

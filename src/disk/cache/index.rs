//! What is known of packages: their hashes in the index, and what their programs were built from, by the `h1:` of the package in one
//! file each.
//!
//! The index has up to 4096 logs, chosen by the first three digits of the `zh`, of lines that carry a checksum.
//!
//! ```text
//! ZH(64 hex digits) H1(base64) SIZE ORIGIN(c or i) CRC32(8 hex digits)
//! ```
//!
//! A run appends whole lines in writes below 4 KiB, which never mix with those of other runs on a local file system. A
//! line that was cut off costs itself only, since each write begins with a line feed. A log is read whole when the
//! first of its entries is looked up.
//!
//! The number of logs is measured, with warm files: of 100,000 entries, 200 lookups took 1.5 ms with 4096 logs, 11 ms
//! with 256 and 33 ms with one; 20 lookups took 0.1 ms, 1.1 ms and 21 ms; of 20,000 entries, 200 lookups took 0.5 ms
//! with 4096 logs. A file for each entry is a little faster, but costs a block of the disk for 130 bytes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{DirEntry, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Cache, CacheError, fan_out, prune, replace};
use crate::disk::files;
use crate::goinfo::{BuiltFrom, GoInfo, Unknown};
use crate::hash::archive::{MOST_PROGRAMS, PackagePrograms, ProgramFile};
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;

pub(super) const FOLDER: &str = "index";

/// As many as three hexadecimal digits can name.
const LOGS: u16 = 0x1000;

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
        let origin = match self.origin {
            IndexOrigin::Computed => 'c',
            IndexOrigin::Imported => 'i',
        };
        let facts = format!("{} {} {} {origin}", self.zh, self.h1.to_base64(), self.size);
        format!("{facts} {:08x}\n", crc32fast::hash(facts.as_bytes()))
    }

    fn from_line(line: &[u8]) -> Option<Self> {
        let (facts, checksum) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
        if format!("{:08x}", crc32fast::hash(facts.as_bytes())) != checksum {
            return None;
        }
        let mut fields = facts.split(' ');
        let zh = Sha256Digest::from_hex(fields.next()?)?;
        let h1 = Sha256Digest::from_base64(fields.next()?)?;
        let size = fields.next()?.parse().ok()?;
        let origin = match fields.next()? {
            "c" => IndexOrigin::Computed,
            "i" => IndexOrigin::Imported,
            _ => return None,
        };
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
struct Log(Vec<u8>);

impl HashIndex {
    /// The one answer of this origin; `None` if there are two.
    pub(super) fn lookup(
        &mut self,
        folder: Option<&Path>,
        zh: &Sha256Digest,
        origin: IndexOrigin,
    ) -> Option<(PackageHash, u64)> {
        let entries = self.of(folder, zh);
        agreed(entries.iter().filter(|entry| entry.origin == origin)).map(|entry| (entry.h1_hash(), entry.size))
    }

    /// Takes in an entry, unless it is known.
    pub(super) fn record(&mut self, folder: Option<&Path>, entry: IndexEntry) {
        if !self.of(folder, &entry.zh).contains(&entry) {
            self.fresh.entry(entry.zh).or_default().push(entry.clone());
            self.unwritten.push(entry);
        }
    }

    fn of(&mut self, folder: Option<&Path>, zh: &Sha256Digest) -> Vec<IndexEntry> {
        let mut entries = match folder {
            Some(folder) => {
                let number = log_number(zh);
                self.logs.entry(number).or_insert_with(|| Log::load(&log_path(folder, number))).of(zh)
            }
            None => Vec::new(),
        };
        entries.extend(self.fresh.get(zh).into_iter().flatten().cloned());
        entries
    }

    pub(super) fn entries(&self, folder: Option<&Path>) -> Vec<IndexEntry> {
        let logs = folder.into_iter().flat_map(|folder| (0..LOGS).map(move |number| log_path(folder, number)));
        let written = logs.flat_map(|path| Log::load(&path).entries());
        without_contradictions(written.chain(self.fresh.values().flatten().cloned()))
    }

    /// Appends what is unwritten.
    pub(super) fn flush(&mut self, folder: &Path) -> Result<(), CacheError> {
        let mut by_log: BTreeMap<u16, Vec<IndexEntry>> = BTreeMap::new();
        for entry in std::mem::take(&mut self.unwritten) {
            by_log.entry(log_number(&entry.zh)).or_default().push(entry);
        }
        let mut result = Ok(());
        for (number, entries) in by_log {
            // The others are tried all the same.
            result = result.and(append(&log_path(folder, number), &entries));
        }
        result
    }
}

impl Log {
    fn load(path: &Path) -> Self {
        Self(std::fs::read(path).unwrap_or_default())
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
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

fn log_number(zh: &Sha256Digest) -> u16 {
    let [first, second, ..] = *zh.as_bytes();
    u16::from_be_bytes([first, second]) >> 4
}

fn log_path(folder: &Path, number: u16) -> PathBuf {
    folder.join(FOLDER).join(format!("{number:03x}"))
}

fn append(path: &Path, entries: &[IndexEntry]) -> Result<(), CacheError> {
    let open = || File::options().append(true).create(true).open(path);
    let file = open().or_else(|_| {
        path.parent().map_or(Ok(()), files::create_directory)?;
        open()
    });
    let mut file = file.map_err(CacheError::at(path))?;
    let mut batch = "\n".to_owned();
    for entry in entries {
        let line = entry.to_line();
        if batch.len() + line.len() > MAX_WRITE {
            file.write_all(batch.as_bytes()).map_err(CacheError::at(path))?;
            batch.truncate(1);
        }
        batch.push_str(&line);
    }
    file.write_all(batch.as_bytes()).map_err(CacheError::at(path))
}

/// Rewrites a log without damaged, double and contradictory lines, and perhaps without imported ones, if it has any.
/// Returns the number of bytes removed.
pub(super) fn compact(path: &Path, imported: bool) -> Result<u64, CacheError> {
    let log = Log::load(path);
    let entries = log.entries().into_iter().filter(|entry| imported || entry.origin == IndexOrigin::Computed);
    let text: String = without_contradictions(entries).iter().map(IndexEntry::to_line).collect();
    // Line feeds of their own are not worth a rewrite.
    if log.lines().map(|line| line.len() + 1).sum::<usize>() == text.len() {
        return Ok(0);
    }
    super::replace(path, text.as_bytes())?;
    Ok(log.0.len().saturating_sub(text.len()) as u64)
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

pub(super) const PROGRAMS: &str = "programs";

/// The way in which programs are read. A record that was made in another way counts as missing, so it is made again.
const VERSION: u64 = 2;

/// What the programs of one package were built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRecord {
    /// The digest over the contents of the package, as in the `h1:` hash.
    pub h1: Sha256Digest,
    pub platform: Platform,
    pub programs: PackagePrograms,
    pub origin: IndexOrigin,
}

impl ProgramRecord {
    /// `None` if the hash is not an `h1:` that was computed from something.
    pub fn new(h1: &PackageHash, platform: &Platform, programs: PackagePrograms) -> Option<Self> {
        let h1 = Sha256Digest::from_base64(h1.as_str().strip_prefix("h1:")?)?;
        Some(Self { h1, platform: platform.clone(), programs, origin: IndexOrigin::Computed })
    }

    /// The record in one line, without its origin.
    pub fn to_line(&self) -> String {
        let info = |info: &Result<GoInfo, Unknown>| match info {
            Ok(info) => json!({ "go": info.go, "modules": info.text() }),
            Err(unknown) => json!({ "unknown": unknown }),
        };
        let file = |file: &ProgramFile| json!({ "path": file.path, "built_from": file.built_from.iter().map(info).collect::<Vec<_>>() });
        let PackagePrograms { files, unread } = &self.programs;
        let files: Vec<Value> = files.iter().map(file).collect();
        let record = json!({ "version": VERSION, "programs": files, "unread": unread });
        format!("{} {} {record}", self.h1.to_base64(), self.platform)
    }

    /// The record of a line; `None` if this version of tflock would not have written it.
    pub fn from_line(line: &str, origin: IndexOrigin) -> Option<Self> {
        let (h1, rest) = line.split_once(' ')?;
        let (platform, record) = rest.split_once(' ')?;
        let mut record: Value = serde_json::from_str(record).ok()?;
        let unread = usize::try_from(record["unread"].as_u64()?).ok()?;
        let files = record["programs"].as_array_mut()?;
        let files: Option<Vec<ProgramFile>> = files.iter_mut().map(file_of).collect();
        let programs = PackagePrograms { files: files.filter(|files| files.len() <= MOST_PROGRAMS)?, unread };
        if record["version"] != VERSION {
            return None;
        }
        Some(Self { h1: Sha256Digest::from_base64(h1)?, platform: platform.parse().ok()?, programs, origin })
    }

    /// True if it is worth passing on: something is known, and what is not will not be known elsewhere.
    pub fn is_worth_sharing(&self) -> bool {
        self.programs.is_any_known() && !self.programs.has_old_layout()
    }

    fn encode(&self) -> String {
        let origin = if self.origin == IndexOrigin::Computed { 'c' } else { 'i' };
        let line = format!("{origin} {}", self.to_line());
        format!("{line}\n{:08x}\n", crc32fast::hash(line.as_bytes()))
    }

    fn decode(text: &str) -> Option<Self> {
        let (line, checksum) = text.strip_suffix('\n')?.split_once('\n')?;
        if format!("{:08x}", crc32fast::hash(line.as_bytes())) != checksum {
            return None;
        }
        let (origin, line) = line.split_once(' ')?;
        Self::from_line(line, if origin == "c" { IndexOrigin::Computed } else { IndexOrigin::Imported })
    }
}

fn file_of(value: &mut Value) -> Option<ProgramFile> {
    let path = value["path"].as_str()?.to_owned();
    let info = |info: &mut Value| match (info["go"].as_str(), info["modules"].as_str()) {
        (Some(go), Some(modules)) => GoInfo::new(go, modules).ok().map(Ok),
        _ => serde_json::from_value(info["unknown"].take()).ok().map(Err),
    };
    let built_from: Option<BuiltFrom> = value["built_from"].as_array_mut()?.iter_mut().map(info).collect();
    Some(ProgramFile { path, built_from: built_from.filter(|all| !all.is_empty())? })
}

impl Cache {
    /// Keeps what programs were built from, unless as much is known already.
    pub fn record_program(&self, record: ProgramRecord) {
        let rank = |record: &ProgramRecord| (record.origin == IndexOrigin::Computed, !record.programs.has_old_layout());
        let known = self.program_of(&record.h1);
        if known.is_none_or(|known| rank(&known) < rank(&record)) {
            self.state().programs.insert(record.h1, record);
        }
    }

    /// What the programs of a package were built from.
    pub fn program(&self, h1: &PackageHash) -> Option<ProgramRecord> {
        self.program_of(&Sha256Digest::from_base64(h1.as_str().strip_prefix("h1:")?)?)
    }

    /// All that is known of programs, in no order.
    pub fn programs(&self) -> Vec<ProgramRecord> {
        let kept = self.folder().into_iter().flat_map(|folder| prune::files(&folder.join(PROGRAMS)));
        let kept = kept.filter_map(|file| ProgramRecord::decode(&std::fs::read_to_string(file.path()).ok()?));
        let mut programs: HashMap<_, _> = kept.map(|program| (program.h1, program)).collect();
        programs.extend(self.state().programs.iter().map(|(h1, program)| (*h1, program.clone())));
        programs.into_values().collect()
    }

    fn program_of(&self, h1: &Sha256Digest) -> Option<ProgramRecord> {
        let kept = self.state().programs.get(h1).cloned();
        kept.or_else(|| {
            let text = std::fs::read_to_string(fan_out(&self.folder()?, PROGRAMS, &h1.to_hex())).ok()?;
            ProgramRecord::decode(&text).filter(|record| record.h1 == *h1)
        })
    }
}

pub(super) fn is_imported(file: &DirEntry) -> bool {
    let record = std::fs::read_to_string(file.path()).ok().and_then(|text| ProgramRecord::decode(&text));
    record.is_some_and(|record| record.origin == IndexOrigin::Imported)
}

pub(super) fn store(folder: &Path, record: &ProgramRecord) -> Result<(), CacheError> {
    replace(&fan_out(folder, PROGRAMS, &record.h1.to_hex()), record.encode().as_bytes())
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

#[cfg(test)]
mod programs_tests {
    use super::*;

    #[test]
    fn records_say_what_they_were_made_from() {
        let h1 = PackageHash::h1(Sha256Digest::of(b"x"));
        let platform: Platform = "linux_amd64".parse().unwrap();
        let text = "path\texample.com/p\nmod\texample.com/p\tv1.0.0\t\"\\h1:=\"\n";
        let known = || GoInfo::new("go1.22.1", text);
        let unknown = || Err(Unknown::Damaged("a \"b\"\n".to_owned()));
        for built_from in [vec![known()], vec![Err(Unknown::OldLayout)], vec![unknown(), known()]] {
            let file = |path: &str| ProgramFile { path: path.to_owned(), built_from: built_from.clone() };
            let programs = PackagePrograms { files: vec![file("a b\"c"), file("\u{1b}\n")], unread: 3 };
            let record = ProgramRecord::new(&h1, &platform, programs).unwrap();
            let encoded = record.encode();
            assert_eq!(ProgramRecord::decode(&encoded), Some(record.clone()));
            assert_eq!(ProgramRecord::decode(&encoded.replacen("linux", "netbsd", 1)), None);
            let refused =
                |line: String| assert_eq!(ProgramRecord::from_line(&line, IndexOrigin::Imported), None, "{line}");
            refused(record.to_line().replace("\"version\":2", "\"version\":1"));
            refused(record.to_line().replace("\"unread\":3", "\"unread\":-3"));
            refused(record.to_line().replace("\"built_from\":[{", "\"built_from\":[],\"x\":[{"));
        }
        let file = ProgramFile { path: "x".to_owned(), built_from: vec![known()] };
        let many = PackagePrograms { files: vec![file; MOST_PROGRAMS + 1], unread: 0 };
        let line = ProgramRecord::new(&h1, &platform, many).unwrap().to_line();
        assert_eq!(ProgramRecord::from_line(&line, IndexOrigin::Imported), None);
    }

    /// Earlier versions chose one program by its name in the archive: what they read is read again.
    #[test]
    fn earlier_records_count_as_missing() {
        let h1 = Sha256Digest::of(b"x").to_base64();
        for info in [r#"{"go":"go1.22.1","modules":""}"#, r#"{"unknown":"no-record"}"#] {
            let line = format!("{h1} linux_amd64 {info}");
            assert_eq!(ProgramRecord::from_line(&line, IndexOrigin::Computed), None);
        }
    }
}

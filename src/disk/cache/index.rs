//! What is known of packages: their hashes in the index, by the `zh:` of the archive, and what their programs were built from, by the
//! `h1:` of the package.
//!
//! Both are up to 4096 logs of lines with a checksum, chosen by the first three digits of the hash.
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
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Cache, CacheError, prune, replace};
use crate::disk::files;
use crate::goinfo::{BuiltFrom, GoInfo, Unknown};
use crate::hash::archive::{MOST_PROGRAMS, PackagePrograms, ProgramFile};
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;

pub(super) const FOLDER: &str = "index";

pub(super) const PROGRAMS: &str = "programs";

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
    fn letter(self) -> char {
        if self == Self::Computed { 'c' } else { 'i' }
    }

    fn of_letter(letter: &str) -> Option<Self> {
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
                let log = self.logs.entry(log_number(zh)).or_insert_with(|| Log::load(&log_path(folder, FOLDER, zh)));
                log.of(zh)
            }
            None => Vec::new(),
        };
        entries.extend(self.fresh.get(zh).into_iter().flatten().cloned());
        entries
    }

    pub(super) fn entries(&self, folder: Option<&Path>) -> Vec<IndexEntry> {
        let written = folder.into_iter().flat_map(|folder| logs(folder, FOLDER)).flat_map(|(_, log)| log.entries());
        without_contradictions(written.chain(self.fresh.values().flatten().cloned()))
    }

    /// Appends what is unwritten.
    pub(super) fn flush(&mut self, folder: &Path) -> Result<(), CacheError> {
        let unwritten = std::mem::take(&mut self.unwritten);
        append_all(folder, FOLDER, unwritten.iter().map(|entry| (&entry.zh, entry.to_line())))
    }
}

impl Log {
    fn load(path: &Path) -> Self {
        Self(std::fs::read(path).unwrap_or_default())
    }

    /// Returns the number of bytes removed.
    fn rewrite(&self, path: &Path, text: &str) -> Result<u64, CacheError> {
        // Line feeds of their own are not worth a rewrite.
        if self.lines().map(|line| line.len() + 1).sum::<usize>() == text.len() {
            return Ok(0);
        }
        replace(path, text.as_bytes())?;
        Ok(self.0.len().saturating_sub(text.len()) as u64)
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

    /// What is best known of the programs of each package.
    fn programs(&self, imported: bool) -> HashMap<Sha256Digest, ProgramRecord> {
        let mut best = HashMap::new();
        for record in self.lines().filter_map(ProgramRecord::decode) {
            if (imported || record.origin == IndexOrigin::Computed)
                && best.get(&record.h1).is_none_or(|known: &ProgramRecord| known.rank() <= record.rank())
            {
                best.insert(record.h1, record);
            }
        }
        best
    }
}

/// A line of a log.
fn sealed(facts: &str) -> String {
    format!("{facts} {:08x}\n", crc32fast::hash(facts.as_bytes()))
}

/// What an undamaged line says.
fn unsealed(line: &[u8]) -> Option<&str> {
    let (facts, checksum) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
    (format!("{:08x}", crc32fast::hash(facts.as_bytes())) == checksum).then_some(facts)
}

fn log_number(digest: &Sha256Digest) -> u16 {
    let [first, second, ..] = *digest.as_bytes();
    u16::from_be_bytes([first, second]) >> 4
}

fn log_path(folder: &Path, kind: &str, digest: &Sha256Digest) -> PathBuf {
    folder.join(kind).join(format!("{:03x}", log_number(digest)))
}

fn logs(folder: &Path, kind: &str) -> impl Iterator<Item = (PathBuf, Log)> {
    let paths = prune::files(&folder.join(kind)).into_iter().map(|file| file.path());
    paths.map(|path| (path.clone(), Log::load(&path)))
}

/// Appends lines to the logs of their digests.
fn append_all<'a>(
    folder: &Path,
    kind: &str,
    lines: impl Iterator<Item = (&'a Sha256Digest, String)>,
) -> Result<(), CacheError> {
    let mut by_log: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for (digest, line) in lines {
        by_log.entry(log_path(folder, kind, digest)).or_default().push(line);
    }
    // If one fails, the others are tried all the same.
    let mut result = Ok(());
    for (path, lines) in &by_log {
        result = result.and(append(path, lines));
    }
    result
}

fn append(path: &Path, lines: &[String]) -> Result<(), CacheError> {
    let open = || File::options().append(true).create(true).open(path);
    let file = open().or_else(|_| {
        path.parent().map_or(Ok(()), files::create_directory)?;
        open()
    });
    let mut file = file.map_err(CacheError::at(path))?;
    let mut batch = "\n".to_owned();
    for line in lines {
        if batch.len() > 1 && batch.len() + line.len() > MAX_WRITE {
            file.write_all(batch.as_bytes()).map_err(CacheError::at(path))?;
            batch.truncate(1);
        }
        batch.push_str(line);
    }
    file.write_all(batch.as_bytes()).map_err(CacheError::at(path))
}

/// Rewrites the logs without damaged, double and contradictory lines, and perhaps without imported ones. Returns the number
/// of bytes removed.
pub(super) fn compact(folder: &Path, imported: bool) -> Result<u64, CacheError> {
    let mut removed = 0;
    for (path, log) in logs(folder, FOLDER) {
        let entries = log.entries().into_iter().filter(|entry| imported || entry.origin == IndexOrigin::Computed);
        removed +=
            log.rewrite(&path, &without_contradictions(entries).iter().map(IndexEntry::to_line).collect::<String>())?;
    }
    for (path, log) in logs(folder, PROGRAMS) {
        removed +=
            log.rewrite(&path, &log.programs(imported).values().map(ProgramRecord::encode).collect::<String>())?;
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

    /// The more is known, the higher.
    fn rank(&self) -> (bool, bool) {
        (self.origin == IndexOrigin::Computed, !self.programs.has_old_layout())
    }

    fn encode(&self) -> String {
        sealed(&format!("{} {}", self.origin.letter(), self.to_line()))
    }

    fn decode(line: &[u8]) -> Option<Self> {
        let (origin, record) = unsealed(line)?.split_once(' ')?;
        Self::from_line(record, IndexOrigin::of_letter(origin)?)
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
        if self.program_of(&record.h1).is_none_or(|known| known.rank() < record.rank()) {
            self.state().programs.insert(record.h1, record);
        }
    }

    /// What the programs of a package were built from.
    pub fn program(&self, h1: &PackageHash) -> Option<ProgramRecord> {
        self.program_of(&Sha256Digest::from_base64(h1.as_str().strip_prefix("h1:")?)?)
    }

    /// All that is known of programs, in no order.
    pub fn programs(&self) -> Vec<ProgramRecord> {
        let folder = self.folder();
        let kept = folder.iter().flat_map(|folder| logs(folder, PROGRAMS));
        let mut programs: HashMap<_, _> = kept.flat_map(|(_, log)| log.programs(true)).collect();
        programs.extend(self.state().programs.iter().map(|(h1, program)| (*h1, program.clone())));
        programs.into_values().collect()
    }

    fn program_of(&self, h1: &Sha256Digest) -> Option<ProgramRecord> {
        let kept = self.state().programs.get(h1).cloned();
        kept.or_else(|| Log::load(&log_path(&self.folder()?, PROGRAMS, h1)).programs(true).remove(h1))
    }
}

pub(super) fn store<'a>(folder: &Path, records: impl Iterator<Item = &'a ProgramRecord>) -> Result<(), CacheError> {
    append_all(folder, PROGRAMS, records.map(|record| (&record.h1, record.encode())))
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
            let line = encoded.strip_suffix('\n').unwrap();
            assert_eq!(ProgramRecord::decode(line.as_bytes()), Some(record.clone()));
            assert_eq!(ProgramRecord::decode(line.replacen("linux", "netbsd", 1).as_bytes()), None);
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

    #[test]
    fn the_best_record_counts_and_a_damaged_line_costs_itself() {
        let directory = tempfile::tempdir().unwrap();
        let record = |content: &[u8], built_from: Result<GoInfo, Unknown>, origin| {
            let file = ProgramFile { path: "x".to_owned(), built_from: vec![built_from] };
            let programs = PackagePrograms { files: vec![file], unread: 0 };
            let h1 = PackageHash::h1(Sha256Digest::of(content));
            ProgramRecord { origin, ..ProgramRecord::new(&h1, &"linux_amd64".parse().unwrap(), programs).unwrap() }
        };
        let known = || GoInfo::new("go1.22.1", "");
        let reported = record(b"a", known(), IndexOrigin::Imported);
        let old = record(b"a", Err(Unknown::OldLayout), IndexOrigin::Computed);
        let computed = record(b"a", known(), IndexOrigin::Computed);
        let other = record(b"b", known(), IndexOrigin::Imported);
        // Each in a run of its own; what is worse than what is known is not written.
        let open = || Cache::at(Some(directory.path().to_owned()), None);
        for (program, left) in [(&reported, &reported), (&old, &old), (&computed, &computed), (&old, &computed)] {
            open().record_program(program.clone());
            open().record_program(other.clone());
            assert_eq!(open().program_of(&program.h1).as_ref(), Some(left));
        }
        let log = log_path(&directory.path().join(super::super::LAYOUT), PROGRAMS, &computed.h1);
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(text.lines().filter(|line| !line.is_empty()).count(), 3);
        std::fs::write(&log, text.replacen("linux", "netbsd", 2)).unwrap();
        assert_eq!(open().program_of(&computed.h1).as_ref(), Some(&computed));
        let cut = &text[..text.len() - 9];
        std::fs::write(&log, cut).unwrap();
        assert_eq!(open().program_of(&computed.h1).as_ref(), Some(&old));
        open().record_program(computed.clone());
        assert_eq!((open().program_of(&computed.h1).as_ref(), open().programs().len()), (Some(&computed), 2));
        open().prune(prune::Prune::Imported).unwrap();
        assert_eq!(open().programs(), std::slice::from_ref(&computed));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), computed.encode());
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

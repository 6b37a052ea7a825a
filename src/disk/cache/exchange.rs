//! The index for other machines: as one file, and entry by entry in a directory that several share.
//!
//! ```text
//! tflock index 1
//! ZH(64 lower-case hex digits) H1(base64, as in the hash) SIZE(bytes, decimal)
//! …
//! programs H1(base64) PLATFORM JSON(what the programs of that package were built from)
//! …
//! sha256 DIGEST(of all bytes before this line, 64 lower-case hex digits)
//! ```
//!
//! Lines end with a line feed; entries are in the order of their `ZH`, each archive once: the same index gives the same
//! file; programs follow in the order of their `H1`. Lines `program …` of earlier versions are passed over: they were about
//! one program of a package only. Only what was computed here is exported; the importing cache marks it as
//! imported. Signed documents are not exported: an import could attest its own entries with the keys in them.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{IndexEntry, IndexOrigin, ProgramRecord};
use crate::disk::atomic::{new_file, set_mode};
use crate::disk::files;
use crate::disk::root_files::OUTPUT;
use crate::hash::Sha256Digest;
use crate::path::links::refuse_on_the_way;
use crate::path::{shown, worktree};
use crate::settings::IndexPlace;

const FIRST_LINE: &str = "tflock index 1";

/// The most bytes of an export: entries of about two million archives.
pub const LIMIT: u64 = 256 << 20;

/// Why a text is no export of an index. Nothing of it counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    #[error("it does not begin with the line {FIRST_LINE:?}")]
    Kind,
    #[error("it has the format {0:?}, which this version of tflock does not know")]
    Form(String),
    /// Larger than [`LIMIT`].
    #[error("it is larger than 256 MiB")]
    TooLarge,
    #[error("it is damaged or incomplete: its last line is not the digest of the others")]
    Digest,
    #[error(
        "line {0} is not an entry: expected a zh, an h1 and a size, or what the programs of a package were built from"
    )]
    Entry(usize),
    #[error("line {0} is not in order")]
    Order(usize),
}

/// The content of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    pub entries: Vec<IndexEntry>,
    pub programs: Vec<ProgramRecord>,
}

/// What a shared index has one file about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexKey {
    /// The hash of an archive, by its `zh:`.
    Archive(Sha256Digest),
    /// What the programs of a package were built from, by its `h1:`.
    Program(Sha256Digest),
}

/// The content of one file of a shared index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine {
    pub key: IndexKey,
    pub text: String,
}

impl IndexKey {
    /// Its file, below the index.
    pub fn name(&self) -> String {
        let (folder, hex) = match self {
            Self::Archive(zh) => ("v1", zh.to_hex()),
            Self::Program(h1) => ("v2/programs", h1.to_hex()),
        };
        format!("{folder}/{}/{hex}", &hex[..2])
    }

    /// The most bytes of its file.
    pub fn limit(&self) -> u64 {
        match self {
            Self::Archive(_) => LONGEST_LINE,
            Self::Program(_) => LONGEST_PROGRAM,
        }
    }

    pub fn is_described_by(&self, text: &[u8]) -> bool {
        match self {
            Self::Archive(zh) => decode_line(text).is_some_and(|entry| entry.zh == *zh),
            Self::Program(h1) => {
                let text = std::str::from_utf8(text).ok();
                text.and_then(decode_program).is_some_and(|program| program.h1 == *h1 && program.is_worth_sharing())
            }
        }
    }
}

impl fmt::Display for IndexKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive(zh) => write!(to, "zh:{zh}"),
            Self::Program(h1) => write!(to, "the programs of h1:{}", h1.to_base64()),
        }
    }
}

impl From<&IndexEntry> for IndexLine {
    fn from(entry: &IndexEntry) -> Self {
        Self { key: IndexKey::Archive(entry.zh), text: encode_line(entry) }
    }
}

impl From<&ProgramRecord> for IndexLine {
    fn from(program: &ProgramRecord) -> Self {
        Self { key: IndexKey::Program(program.h1), text: program.to_line() }
    }
}

/// What is before a record of programs in its line.
pub const PROGRAMS: &str = "programs ";

/// The same of earlier versions.
const EARLIER: &str = "program ";

/// The text of an export: what was computed here.
pub fn encode(Exported { mut entries, mut programs }: Exported) -> String {
    entries.retain(|entry| entry.origin == IndexOrigin::Computed);
    entries.sort_unstable();
    programs.retain(|program| program.origin == IndexOrigin::Computed);
    programs.sort_unstable_by_key(|program| program.h1);
    let mut text = format!("{FIRST_LINE}\n");
    for entry in entries {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", encode_line(&entry));
    }
    for program in programs {
        let _ = writeln!(text, "{PROGRAMS}{}", program.to_line());
    }
    let digest = Sha256Digest::of(text.as_bytes());
    text + &format!("sha256 {digest}\n")
}

/// The content of an export, marked as imported.
pub fn decode(bytes: &[u8]) -> Result<Exported, ExchangeError> {
    if bytes.len() as u64 > LIMIT {
        return Err(ExchangeError::TooLarge);
    }
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first != FIRST_LINE.as_bytes() {
        let kind = FIRST_LINE.trim_end_matches(char::is_numeric).as_bytes();
        let form = first.strip_prefix(kind).filter(|form| form.len() < 8 && form.iter().all(u8::is_ascii_digit));
        return Err(form.map_or(ExchangeError::Kind, |form| {
            ExchangeError::Form(format!("tflock index {}", String::from_utf8_lossy(form)))
        }));
    }
    let (facts, last) = bytes.split_at_checked(bytes.len().saturating_sub(LAST_LINE)).ok_or(ExchangeError::Digest)?;
    if last != format!("sha256 {}\n", Sha256Digest::of(facts)).as_bytes() {
        return Err(ExchangeError::Digest);
    }
    let text = std::str::from_utf8(facts).map_err(|_| ExchangeError::Kind)?;
    let Exported { mut entries, mut programs } = Exported::default();
    for (number, line) in text.split_terminator('\n').enumerate().skip(1) {
        let wrong = ExchangeError::Entry(number + 1);
        if line.starts_with(EARLIER) {
            continue;
        }
        if let Some(line) = line.strip_prefix(PROGRAMS) {
            let program = decode_program(line).ok_or(wrong)?;
            if programs.last().is_some_and(|before: &ProgramRecord| before.h1 >= program.h1) {
                return Err(ExchangeError::Order(number + 1));
            }
            programs.push(program);
            continue;
        }
        let entry = decode_line(line.as_bytes()).ok_or(wrong)?;
        if !programs.is_empty() || entries.last().is_some_and(|before: &IndexEntry| before.zh >= entry.zh) {
            return Err(ExchangeError::Order(number + 1));
        }
        entries.push(entry);
    }
    Ok(Exported { entries, programs })
}

/// `sha256 `, 64 digits and a line feed.
const LAST_LINE: usize = 7 + 64 + 1;

/// The most bytes of one entry: two digests and a number of twenty digits, with spaces and a line feed.
pub const LONGEST_LINE: u64 = 64 + 1 + 44 + 1 + 20 + 1;

/// The most bytes about the programs of one package: their modules take 1 MiB, and more with escaped line feeds.
pub const LONGEST_PROGRAM: u64 = 2 << 20;

/// The programs of one line, as imported ones; `None` if it is not exactly what is written.
pub fn decode_program(line: &str) -> Option<ProgramRecord> {
    ProgramRecord::from_line(line, IndexOrigin::Imported).filter(|program| program.to_line() == line)
}

pub fn encode_line(entry: &IndexEntry) -> String {
    format!("{} {} {}", entry.zh, entry.h1.to_base64(), entry.size)
}

/// The entry of one line, as an imported one; `None` if it is not exactly what [`encode_line`] writes.
pub fn decode_line(line: &[u8]) -> Option<IndexEntry> {
    let line = std::str::from_utf8(line).ok()?;
    let mut fields = line.split(' ');
    let zh = Sha256Digest::from_hex(fields.next()?)?;
    let h1 = Sha256Digest::from_base64(fields.next()?)?;
    let size = fields.next()?.parse().ok()?;
    let entry = IndexEntry { zh, h1, size, origin: IndexOrigin::Imported };
    // Whatever could be written in several ways is taken in the one that is written.
    (fields.next().is_none() && line == encode_line(&entry)).then_some(entry)
}

/// True if an index is a directory in one of some working trees, by whatever spelling.
pub fn is_index_within(place: &IndexPlace, trees: &[PathBuf]) -> bool {
    match place {
        IndexPlace::Directory(base) => worktree::is_within(base, trees),
        IndexPlace::Https(_) | IndexPlace::Cloud(_) => false,
    }
}

/// The content of an entry of an index; `None` if it does not exist.
pub fn read_entry(base: &Path, key: &IndexKey) -> Result<Option<Vec<u8>>, String> {
    match files::read_shared(&base.join(key.name()), key.limit()) {
        Ok(text) => Ok(Some(text)),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound && base.is_dir() => Ok(None),
        Err(problem) => Err(format!("{}: {problem}", shown(base))),
    }
}

/// Writes an entry, whole or not at all. One that is there stays unchanged; false then. The umask decides who else may add entries
/// to its directory.
pub fn write_entry(entry: &Path, line: &str) -> io::Result<bool> {
    if entry.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let directory = entry.parent().unwrap_or(entry);
    refuse_on_the_way(directory, directory)?;
    std::fs::create_dir_all(directory)?;
    let mut temporary = new_file(".tmp".as_ref(), directory)?;
    temporary.as_file_mut().write_all(line.as_bytes())?;
    set_mode(temporary.as_file(), OUTPUT, entry)?;
    match temporary.persist_noclobber(entry) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error.kind().into()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash::PackageHash;
    use crate::hash::archive::PackagePrograms;
    use crate::platform::Platform;

    fn entries(count: u32) -> Vec<IndexEntry> {
        let digest = |salt: &str, number: u32| Sha256Digest::of(format!("{salt}{number}").as_bytes());
        let entry = |number| IndexEntry {
            zh: digest("zh", number),
            h1: digest("h1", number),
            size: u64::from(number),
            origin: IndexOrigin::Computed,
        };
        (0..count).map(entry).collect()
    }

    fn exported(entries: Vec<IndexEntry>) -> Exported {
        Exported { entries, programs: Vec::new() }
    }

    #[test]
    fn programs_follow_the_entries() {
        let h1 = |text: &str| PackageHash::h1(Sha256Digest::of(text.as_bytes()));
        let platform: Platform = "linux_amd64".parse().unwrap();
        let program = |text| ProgramRecord::new(&h1(text), &platform, PackagePrograms::default()).unwrap();
        let imported = ProgramRecord { origin: IndexOrigin::Imported, ..program("c") };
        let programs = vec![program("a"), program("b"), imported];
        let text = encode(Exported { entries: entries(2), programs });
        let read = decode(text.as_bytes()).unwrap();
        assert_eq!((read.entries.len(), read.programs.len()), (2, 2));
        assert!(read.programs.iter().all(|program| program.origin == IndexOrigin::Imported));
        let lines: Vec<&str> = text.lines().collect();
        let refused = |lines: &[&str]| decode(&sealed(lines)).unwrap_err();
        assert_eq!(refused(&[lines[0], lines[1], lines[4], lines[3]]), ExchangeError::Order(4));
        assert_eq!(refused(&[lines[0], lines[3], lines[1]]), ExchangeError::Order(3));
        let earlier = [lines[0], "program of an earlier version", lines[3], "program "];
        assert_eq!(decode(&sealed(&earlier)).unwrap().programs.len(), 1);
        assert_eq!(refused(&[lines[0], &lines[3].replace(" {", "  {")]), ExchangeError::Entry(2));
        assert_eq!(refused(&[lines[0], &lines[3].replace("linux_amd64", "linux")]), ExchangeError::Entry(2));
    }

    #[test]
    fn the_same_index_gives_the_same_text() {
        let (forth, mut back) = (entries(50), entries(50));
        back.reverse();
        let imported = IndexEntry { origin: IndexOrigin::Imported, ..entries(51).remove(50) };
        back.push(imported);
        assert_eq!(encode(exported(forth.clone())), encode(exported(back)));
        let mut read = decode(encode(exported(forth.clone())).as_bytes()).unwrap().entries;
        assert!(read.iter().all(|entry| entry.origin == IndexOrigin::Imported) && read.len() == 50);
        for entry in &mut read {
            entry.origin = IndexOrigin::Computed;
        }
        assert_eq!(encode(exported(read)), encode(exported(forth)));
        assert_eq!(decode(encode(Exported::default()).as_bytes()), Ok(Exported::default()));
    }

    /// A text with the digest that belongs to it.
    fn sealed(lines: &[&str]) -> Vec<u8> {
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        format!("{text}sha256 {}\n", Sha256Digest::of(text.as_bytes())).into_bytes()
    }

    #[test]
    fn what_is_no_export_is_refused() {
        let (zh, h1) = ("a".repeat(64), Sha256Digest::of(b"h1").to_base64());
        let good = format!("{zh} {h1} 7");
        assert_eq!(decode(&sealed(&[FIRST_LINE, &good])).unwrap().entries.len(), 1);
        let refused = |lines: &[&str]| decode(&sealed(lines)).unwrap_err();
        assert_eq!(refused(&["hello"]), ExchangeError::Kind);
        assert_eq!(refused(&["tflock index 2", &good]), ExchangeError::Form("tflock index 2".to_owned()));
        assert_eq!(refused(&[FIRST_LINE, &good, &good]), ExchangeError::Order(3));
        let wrong = [
            String::new(),
            format!("{zh} {h1}"),
            format!("{zh} {h1} 7 c"),
            format!("{zh} {h1} 07"),
            format!("{zh} {h1} -7"),
            format!("{zh}  {h1} 7"),
            format!("{} {h1} 7", zh.to_uppercase()),
            format!("{zh} h1:{h1} 7"),
            format!("{good}\r"),
        ];
        for line in wrong {
            assert_eq!(refused(&[FIRST_LINE, &line]), ExchangeError::Entry(2), "{line:?}");
        }
        assert_eq!(decode(b""), Err(ExchangeError::Kind));
        assert_eq!(decode(format!("{FIRST_LINE}\n").as_bytes()), Err(ExchangeError::Digest));
    }

    proptest! {
        #[test]
        fn damaged_exports_are_refused(at in 0_usize..2000, bit in 0_u8..8, cut: bool) {
            let mut bytes = encode(exported(entries(10))).into_bytes();
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
            prop_assert!(decode(&bytes).is_err());
        }
    }
}

#[cfg(test)]
mod index_directory_tests {
    use super::*;
    use crate::disk::cache::exchange::{decode_line, encode_line};
    use crate::disk::cache::{IndexEntry, IndexOrigin};
    use crate::hash::Sha256Digest;

    /// 200 readers and 8 writers at once: an entry is there whole or not at all.
    #[test]
    fn nothing_is_torn() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        let digest = |salt: &str, number: u32| Sha256Digest::of(format!("{salt}{number}").as_bytes());
        let entries: Vec<IndexEntry> = (0..50)
            .map(|number| IndexEntry {
                zh: digest("zh", number),
                h1: digest("h1", number),
                size: u64::from(number),
                origin: IndexOrigin::Imported,
            })
            .collect();
        let read_all = || {
            for entry in &entries {
                if let Some(text) = read_entry(base, &IndexKey::Archive(entry.zh)).unwrap() {
                    assert_eq!(decode_line(&text).as_ref(), Some(entry));
                }
            }
        };
        let written = std::sync::atomic::AtomicUsize::new(0);
        let write_all = || {
            for entry in &entries {
                let news = write_entry(&base.join(IndexKey::Archive(entry.zh).name()), &encode_line(entry)).unwrap();
                written.fetch_add(usize::from(news), std::sync::atomic::Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for number in 0..208 {
                if number % 26 == 0 {
                    scope.spawn(write_all)
                } else {
                    scope.spawn(read_all)
                };
            }
        });
        assert_eq!(written.into_inner(), entries.len());
        read_all();
    }
}

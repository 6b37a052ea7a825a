//! What the programs of packages were built from, by the `h1:` of the package, in logs like those of the index.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Cache;
use super::folder::CacheError;
use super::index::{IndexOrigin, Log, append_all, log_path, logs, sealed, unsealed};
use crate::disk::own::OwnFolder;
use crate::goinfo::{BuiltFrom, GoInfo, Unknown};
use crate::hash::archive::{MOST_PROGRAMS, PackagePrograms, ProgramFile};
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;

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

    /// The more is known, the higher.
    fn rank(&self) -> (bool, bool) {
        (self.origin == IndexOrigin::Computed, !self.programs.has_old_layout())
    }

    pub(super) fn encode(&self) -> String {
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
        let kept = self.folder().into_iter().flat_map(|folder| logs(folder, PROGRAMS));
        let mut programs: HashMap<_, _> = kept.flat_map(|(_, log)| best(&log, true)).collect();
        programs.extend(self.state().programs.iter().map(|(h1, program)| (*h1, program.clone())));
        programs.into_values().collect()
    }

    fn program_of(&self, h1: &Sha256Digest) -> Option<ProgramRecord> {
        let kept = self.state().programs.get(h1).cloned();
        kept.or_else(|| best(&Log::load(self.folder()?, &log_path(PROGRAMS, h1)), true).remove(h1))
    }
}

pub(super) fn store<'a>(
    folder: &OwnFolder,
    records: impl Iterator<Item = &'a ProgramRecord>,
) -> Result<(), CacheError> {
    append_all(folder, PROGRAMS, records.map(|record| (&record.h1, record.encode())))
}

/// What is best known of the programs of each package.
pub(super) fn best(log: &Log, imported: bool) -> HashMap<Sha256Digest, ProgramRecord> {
    let mut best = HashMap::new();
    for record in log.lines().filter_map(ProgramRecord::decode) {
        if (imported || record.origin == IndexOrigin::Computed)
            && best.get(&record.h1).is_none_or(|known: &ProgramRecord| known.rank() <= record.rank())
        {
            best.insert(record.h1, record);
        }
    }
    best
}

#[cfg(test)]
mod tests {
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
        let open = || Cache::at(OwnFolder::at(directory.path()).ok(), None);
        for (program, left) in [(&reported, &reported), (&old, &old), (&computed, &computed), (&old, &computed)] {
            open().record_program(program.clone());
            open().record_program(other.clone());
            assert_eq!(open().program_of(&program.h1).as_ref(), Some(left));
        }
        let log = directory.path().join(log_path(PROGRAMS, &computed.h1));
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(text.lines().filter(|line| !line.is_empty()).count(), 3);
        std::fs::write(&log, text.replacen("linux", "netbsd", 2)).unwrap();
        assert_eq!(open().program_of(&computed.h1).as_ref(), Some(&computed));
        let cut = &text[..text.len() - 9];
        std::fs::write(&log, cut).unwrap();
        assert_eq!(open().program_of(&computed.h1).as_ref(), Some(&old));
        open().record_program(computed.clone());
        assert_eq!((open().program_of(&computed.h1).as_ref(), open().programs().len()), (Some(&computed), 2));
        open().prune(crate::disk::cache::Prune::Imported).unwrap();
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

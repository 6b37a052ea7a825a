//! What the programs of packages were built from, by the `h1:` of the package: one file each.

use std::collections::HashMap;
use std::fs::DirEntry;
use std::path::Path;

use serde_json::{Value, json};

use super::{Cache, CacheError, Origin, fan_out, prune, replace};
use crate::goinfo::{BuiltFrom, GoInfo, Unknown};
use crate::hash::archive::{MOST_PROGRAMS, PackagePrograms, ProgramFile};
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;

pub(super) const FOLDER: &str = "programs";

/// The way in which programs are read. A record that was made in another way counts as missing, so it is made again.
const VERSION: u64 = 2;

/// What the programs of one package were built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRecord {
    /// The digest over the contents of the package, as in the `h1:` hash.
    pub h1: Sha256Digest,
    pub platform: Platform,
    pub programs: PackagePrograms,
    pub origin: Origin,
}

impl ProgramRecord {
    /// `None` if the hash is not an `h1:` that was computed from something.
    pub fn new(h1: &PackageHash, platform: &Platform, programs: PackagePrograms) -> Option<Self> {
        let h1 = Sha256Digest::from_base64(h1.as_str().strip_prefix("h1:")?)?;
        Some(Self { h1, platform: platform.clone(), programs, origin: Origin::Computed })
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
    pub fn from_line(line: &str, origin: Origin) -> Option<Self> {
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
        let origin = if self.origin == Origin::Computed { 'c' } else { 'i' };
        let line = format!("{origin} {}", self.to_line());
        format!("{line}\n{:08x}\n", crc32fast::hash(line.as_bytes()))
    }

    fn decode(text: &str) -> Option<Self> {
        let (line, checksum) = text.strip_suffix('\n')?.split_once('\n')?;
        if format!("{:08x}", crc32fast::hash(line.as_bytes())) != checksum {
            return None;
        }
        let (origin, line) = line.split_once(' ')?;
        Self::from_line(line, if origin == "c" { Origin::Computed } else { Origin::Imported })
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
        let rank = |record: &ProgramRecord| (record.origin == Origin::Computed, !record.programs.has_old_layout());
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
        let kept = self.folder().into_iter().flat_map(|folder| prune::files(&folder.join(FOLDER)));
        let kept = kept.filter_map(|file| ProgramRecord::decode(&std::fs::read_to_string(file.path()).ok()?));
        let mut programs: HashMap<_, _> = kept.map(|program| (program.h1, program)).collect();
        programs.extend(self.state().programs.iter().map(|(h1, program)| (*h1, program.clone())));
        programs.into_values().collect()
    }

    fn program_of(&self, h1: &Sha256Digest) -> Option<ProgramRecord> {
        let kept = self.state().programs.get(h1).cloned();
        kept.or_else(|| {
            let text = std::fs::read_to_string(fan_out(&self.folder()?, FOLDER, &h1.to_hex())).ok()?;
            ProgramRecord::decode(&text).filter(|record| record.h1 == *h1)
        })
    }
}

pub(super) fn is_imported(file: &DirEntry) -> bool {
    let record = std::fs::read_to_string(file.path()).ok().and_then(|text| ProgramRecord::decode(&text));
    record.is_some_and(|record| record.origin == Origin::Imported)
}

pub(super) fn store(folder: &Path, record: &ProgramRecord) -> Result<(), CacheError> {
    replace(&fan_out(folder, FOLDER, &record.h1.to_hex()), record.encode().as_bytes())
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
            assert_eq!(ProgramRecord::decode(&encoded), Some(record.clone()));
            assert_eq!(ProgramRecord::decode(&encoded.replacen("linux", "netbsd", 1)), None);
            let refused = |line: String| assert_eq!(ProgramRecord::from_line(&line, Origin::Imported), None, "{line}");
            refused(record.to_line().replace("\"version\":2", "\"version\":1"));
            refused(record.to_line().replace("\"unread\":3", "\"unread\":-3"));
            refused(record.to_line().replace("\"built_from\":[{", "\"built_from\":[],\"x\":[{"));
        }
        let file = ProgramFile { path: "x".to_owned(), built_from: vec![known()] };
        let many = PackagePrograms { files: vec![file; MOST_PROGRAMS + 1], unread: 0 };
        let line = ProgramRecord::new(&h1, &platform, many).unwrap().to_line();
        assert_eq!(ProgramRecord::from_line(&line, Origin::Imported), None);
    }

    /// Earlier versions chose one program by its name in the archive: what they read is read again.
    #[test]
    fn earlier_records_count_as_missing() {
        let h1 = Sha256Digest::of(b"x").to_base64();
        for info in [r#"{"go":"go1.22.1","modules":""}"#, r#"{"unknown":"no-record"}"#] {
            let line = format!("{h1} linux_amd64 {info}");
            assert_eq!(ProgramRecord::from_line(&line, Origin::Computed), None);
        }
    }
}

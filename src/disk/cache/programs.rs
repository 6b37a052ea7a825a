//! What programs were built from, by the `h1:` of their package: one file each.

use std::collections::HashMap;
use std::fs::DirEntry;
use std::path::Path;

use serde_json::{Value, json};

use super::{Cache, CacheError, Origin, fan_out, prune, replace};
use crate::goinfo::{GoInfo, Unknown};
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;

pub(super) const FOLDER: &str = "programs";

/// What the program of one package was built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRecord {
    /// The digest over the contents of the package, as in the `h1:` hash.
    pub h1: Sha256Digest,
    pub platform: Platform,
    pub info: Result<GoInfo, Unknown>,
    pub origin: Origin,
}

impl ProgramRecord {
    /// `None` if the hash is not an `h1:` that was computed from something.
    pub fn new(h1: &PackageHash, platform: &Platform, info: Result<GoInfo, Unknown>) -> Option<Self> {
        let h1 = Sha256Digest::from_base64(h1.as_str().strip_prefix("h1:")?)?;
        Some(Self { h1, platform: platform.clone(), info, origin: Origin::Computed })
    }

    /// The record in one line, without its origin.
    pub fn to_line(&self) -> String {
        let info = match &self.info {
            Ok(info) => json!({ "go": info.go, "modules": info.text() }),
            Err(unknown) => json!({ "unknown": unknown }),
        };
        format!("{} {} {info}", self.h1.to_base64(), self.platform)
    }

    pub fn from_line(line: &str, origin: Origin) -> Option<Self> {
        let (h1, rest) = line.split_once(' ')?;
        let (platform, info) = rest.split_once(' ')?;
        let mut info: Value = serde_json::from_str(info).ok()?;
        let info = match (info["go"].as_str(), info["modules"].as_str()) {
            (Some(go), Some(modules)) => Ok(GoInfo::new(go, modules).ok()?),
            _ => Err(serde_json::from_value(info["unknown"].take()).ok()?),
        };
        Some(Self { h1: Sha256Digest::from_base64(h1)?, platform: platform.parse().ok()?, info, origin })
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

impl Cache {
    /// Keeps what a program was built from, unless as much is known already.
    pub fn record_program(&self, record: ProgramRecord) {
        let rank = |record: &ProgramRecord| (record.origin == Origin::Computed, record.info != Err(Unknown::OldLayout));
        let known = self.program_of(&record.h1);
        if known.is_none_or(|known| rank(&known) < rank(&record)) {
            self.state().programs.insert(record.h1, record);
        }
    }

    /// What the program of a package was built from.
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
        for info in
            [GoInfo::new("go1.22.1", text), Err(Unknown::OldLayout), Err(Unknown::Damaged("a \"b\"\n".to_owned()))]
        {
            let record = ProgramRecord::new(&h1, &platform, info).unwrap();
            let encoded = record.encode();
            assert_eq!(ProgramRecord::decode(&encoded), Some(record));
            assert_eq!(ProgramRecord::decode(&encoded.replacen("linux", "netbsd", 1)), None);
        }
    }
}

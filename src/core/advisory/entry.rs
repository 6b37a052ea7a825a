//! One advisory, as `ID/GO-….json` has it, and the versions of Go modules and of Go that it names.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Deserialize;

use super::{BadDocument, Component};
use crate::platform::Platform;

/// An advisory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advisory {
    /// Its id: `GO-2025-3503`.
    pub id: String,
    /// Its other ids: `CVE-…`, `GHSA-…`.
    pub aliases: Vec<String>,
    /// What it is about, in one line.
    pub summary: String,
    /// When it was last changed, as the index says too.
    pub modified: String,
    withdrawn: bool,
    affected: Vec<Affected>,
}

/// Of the rest of an entry nothing decides. What decides is read strictly: who does not know a field cannot judge by it.
#[derive(Deserialize)]
struct OsvEntry {
    id: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    summary: String,
    modified: String,
    withdrawn: Option<String>,
    affected: Vec<EntryAffected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryAffected {
    package: EntryPackage,
    #[serde(default)]
    ranges: Vec<EntryRange>,
    ecosystem_specific: Option<EntrySpecific>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryPackage {
    name: String,
    #[serde(rename = "ecosystem")]
    _ecosystem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryRange {
    #[serde(rename = "type")]
    kind: String,
    events: Vec<EntryEvent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryEvent {
    introduced: Option<String>,
    fixed: Option<String>,
}

/// `custom_ranges` are of versions that Go does not have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntrySpecific {
    imports: Option<Vec<EntryImport>>,
    #[serde(rename = "custom_ranges")]
    _custom_ranges: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryImport {
    #[serde(rename = "path")]
    _path: Option<String>,
    #[serde(rename = "symbols")]
    _symbols: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    goos: Vec<String>,
    #[serde(default)]
    goarch: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Affected {
    module: String,
    /// The affected ranges; `None` if all versions are affected.
    ranges: Option<Vec<Range>>,
    /// The systems and architectures of each of its packages; empty for all.
    packages: Vec<[Vec<String>; 2]>,
}

/// Versions at which a range begins (true) or ends, ascending; none for the beginning of time. No events mean all versions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range(Vec<(Option<GoVersion>, bool)>);

impl Advisory {
    /// Reads an entry of a database.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadDocument> {
        let OsvEntry { id, aliases, summary, modified, withdrawn, affected } = serde_json::from_slice(bytes)?;
        let affected = affected.into_iter().map(Affected::of).collect::<Result<_, _>>()?;
        Ok(Self { id, aliases, summary, modified, withdrawn: withdrawn.is_some(), affected })
    }

    /// The paths of the modules that it is about.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.affected.iter().map(|affected| affected.module.as_str())
    }

    /// `None` if a part of a program for a platform is not affected; else the first later version that is not, if there is one.
    pub fn affects(&self, part: &Component, platform: &Platform) -> Option<Option<GoVersion>> {
        let of_module = || self.affected.iter().filter(|it| it.module == part.module);
        let is_affected = of_module().any(|it| it.has(&part.version) && it.is_built_for(platform));
        if self.withdrawn || !is_affected {
            return None;
        }
        let ranges = || of_module().flat_map(|it| it.ranges.iter().flatten());
        let ends = ranges().flat_map(|range| range.0.iter()).filter(|(_, begins)| !begins);
        let mut candidates: Vec<&GoVersion> =
            ends.filter_map(|(at, _)| at.as_ref()).filter(|at| **at > part.version).collect();
        candidates.sort();
        let fixed = candidates.into_iter().find(|fix| !ranges().any(|range| range.has(fix)));
        Some(fixed.cloned())
    }
}

/// Advisories by the modules that they are about.
#[derive(Debug, Clone, Default)]
pub struct ByModule<'a>(HashMap<&'a str, BTreeMap<usize, &'a Advisory>>);

impl<'a> ByModule<'a> {
    /// Groups advisories.
    pub fn of(advisories: &'a [Advisory]) -> Self {
        let mut by_module = Self::default();
        for (at, advisory) in advisories.iter().enumerate() {
            for module in advisory.modules() {
                by_module.0.entry(module).or_default().insert(at, advisory);
            }
        }
        by_module
    }

    /// The advisories about the modules of some parts, in their order, each with the number of the part.
    pub fn about<'p>(&self, parts: impl IntoIterator<Item = &'p Component>) -> Vec<(&'a Advisory, usize)> {
        let mut found = BTreeMap::new();
        for (number, part) in parts.into_iter().enumerate() {
            for (at, advisory) in self.0.get(part.module.as_str()).into_iter().flatten() {
                found.insert((*at, number), (*advisory, number));
            }
        }
        found.into_values().collect()
    }
}

impl Affected {
    fn of(entry: EntryAffected) -> Result<Self, BadDocument> {
        let semantic: Vec<EntryRange> = entry.ranges.into_iter().filter(|range| range.kind == "SEMVER").collect();
        let ranges = semantic.into_iter().map(|range| Range::of(range.events)).collect::<Result<Vec<_>, _>>()?;
        let imports = entry.ecosystem_specific.and_then(|it| it.imports).unwrap_or_default();
        Ok(Self {
            module: entry.package.name,
            ranges: (!ranges.is_empty()).then_some(ranges),
            packages: imports.into_iter().map(|import| [import.goos, import.goarch]).collect(),
        })
    }

    fn has(&self, version: &GoVersion) -> bool {
        self.ranges.as_ref().is_none_or(|ranges| ranges.iter().any(|range| range.has(version)))
    }

    fn is_built_for(&self, platform: &Platform) -> bool {
        let names = |list: &Vec<String>, name: &str| list.is_empty() || list.iter().any(|it| it == name);
        let is_built = |[os, arch]: &[Vec<String>; 2]| names(os, platform.os()) && names(arch, platform.arch());
        self.packages.is_empty() || self.packages.iter().any(is_built)
    }
}

impl Range {
    fn of(events: Vec<EntryEvent>) -> Result<Self, BadDocument> {
        let read = |text: String| {
            GoVersion::parse(&text)
                .ok_or_else(|| BadDocument(format!("the version {text:?} of a range cannot be read")))
        };
        let mut read_events = Vec::with_capacity(events.len());
        for event in events {
            read_events.push(match (event.introduced, event.fixed) {
                (Some(text), None) if text == "0" => (None, true),
                (Some(text), None) => (Some(read(text)?), true),
                (None, Some(text)) => (Some(read(text)?), false),
                _ => return Err(BadDocument("an event of a range is not one of introduced and fixed".to_owned())),
            });
        }
        read_events.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Self(read_events))
    }

    fn has(&self, version: &GoVersion) -> bool {
        let mut has = self.0.is_empty();
        for (at, begins) in &self.0 {
            if has != *begins && at.as_ref().is_none_or(|at| version >= at) {
                has = *begins;
            }
        }
        has
    }
}

/// A semantic version as Go orders them. Build metadata such as `+incompatible` counts for nothing.
#[derive(Debug, Clone)]
pub struct GoVersion {
    version: semver::Version,
    /// Without `v` and `go`.
    text: String,
}

impl GoVersion {
    /// Reads a version with or without `v` or `go` before it; `1` and `1.2` mean `1.0.0` and `1.2.0`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.strip_prefix("go").unwrap_or(text);
        let full = match text.split('.').count() {
            _ if text.contains(['-', '+']) => text.to_owned(),
            1 => format!("{text}.0.0"),
            2 => format!("{text}.0"),
            _ => text.to_owned(),
        };
        let version = semver::Version::parse(&full).ok()?;
        Some(Self { version, text: full })
    }

    /// The version of the standard library, from what a toolchain calls itself: `go1.22.11`, `go1.22rc1 X:boringcrypto`. None
    /// for others than releases, such as `devel go1.23-1f0e3f`.
    pub fn of_toolchain(name: &str) -> Option<Self> {
        let number = name.split_whitespace().next()?.strip_prefix("go")?;
        let at = ["beta", "rc"].iter().find_map(|kind| number.find(kind)).unwrap_or(number.len());
        let (numbers, before) = number.split_at(at);
        let parts: Vec<&str> = numbers.split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !(1..=3).contains(&parts.len()) || !parts.iter().all(is_number) {
            return None;
        }
        let kind = before.trim_end_matches(|c: char| c.is_ascii_digit());
        match before.strip_prefix(kind)? {
            "" if before.is_empty() => Self::parse(numbers),
            count if is_number(&count) && matches!(kind, "beta" | "rc") => {
                let Self { text, .. } = Self::parse(numbers)?;
                Self::parse(&format!("{text}-{kind}.{count}"))
            }
            _ => None,
        }
    }
}

impl PartialEq for GoVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for GoVersion {}

impl PartialOrd for GoVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for GoVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.version.cmp_precedence(&other.version)
    }
}

impl fmt::Display for GoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.text)
    }
}

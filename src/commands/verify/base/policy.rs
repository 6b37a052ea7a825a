//! Compares the settings of the change with the base, file by file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::Base;
use super::snapshot::effective;
use crate::dialect::Dialect;
use crate::disk::text;
use crate::error::Error;
use crate::finding::{Finding, Position, Rule};
use crate::git::Kind;
use crate::path::RepoPath;
use crate::settings::{FILE_NAME, Settings};
use crate::verify::{Weakening, weakenings};

/// Compares the effective settings of each directory that has a settings file on either side. A change of an outer file
/// is reported once, at that file.
pub(super) fn findings(base: &Base) -> Result<Vec<Finding>, Error> {
    let is_settings = |path: &&str| super::name_of(path) == FILE_NAME;
    // A link may lead to a file of any name.
    let is_link = |path: &str| base.before.tree().kind(path) == Some(Kind::Link);
    if !base.changes.paths().any(|path| is_settings(&path)) && !base.before.paths(FILE_NAME).any(is_link) {
        return Ok(Vec::new());
    }
    let files = base.before.paths(FILE_NAME).chain(base.changes.paths().filter(is_settings));
    // Sorted, so each directory comes before those in it.
    let directories: BTreeSet<&Path> = files.filter_map(|path| Path::new(path).parent()).collect();
    let mut reported: BTreeMap<&Path, Vec<Weakening>> = BTreeMap::new();
    let (mut findings, mut moved) = (Vec::new(), BTreeSet::new());
    for directory in directories {
        let now = effective(directory, |path| now(base, path))?;
        let way = RepoPath::of(directory);
        // If the earlier settings cannot be read, compare with the trusted ones.
        let before = base.before.effective(&way).or_else(|_| base.trusted.effective(&way))?;
        let around: Vec<&Weakening> =
            directory.ancestors().skip(1).filter_map(|place| reported.get(place)).flatten().collect();
        let mut found = weakenings(&before, &now);
        found.retain(|weakening| !around.contains(&weakening));
        let tools = [&before, &now].map(Settings::dialect);
        if tools[0] != tools[1] && !directory.ancestors().skip(1).any(|place| moved.contains(place)) {
            findings.push(other_tool(directory, tools));
            moved.insert(directory);
        }
        findings.extend(placed(base, directory, &found));
        reported.insert(directory, found);
    }
    Ok(findings)
}

/// The finding for settings that name another tool than before, or none.
fn other_tool(directory: &Path, tools: [Option<Dialect>; 2]) -> Finding {
    let [before, now] = tools.map(|tool| tool.map_or("auto", Dialect::program));
    let message = format!("the settings have tool = {now:?}, and had {before:?} at the base");
    Finding::new(Rule::DialectChanged, message).in_file(directory.join(FILE_NAME))
}

/// The text of a settings file of the working tree; `None` if it is only reached through a link above it.
fn now(base: &Base, path: &Path) -> Result<Option<Vec<u8>>, Error> {
    if !base.changes.is_present(&RepoPath::of(path)) {
        return Ok(None);
    }
    text::read(&base.top.join(path))
}

/// Places weakenings at the lines that cause them, or at the file that lost a line.
fn placed(base: &Base, directory: &Path, weakenings: &[Weakening]) -> Vec<Finding> {
    if weakenings.is_empty() {
        return Vec::new();
    }
    let changed = directory.ancestors().map(|place| place.join(FILE_NAME));
    let changed = changed.into_iter().find(|path| base.changes.has(&RepoPath::of(path)));
    let file: PathBuf = changed.unwrap_or_else(|| directory.join(FILE_NAME));
    let lines = lines(base, &file);
    let finding = |weakening: &Weakening| {
        let finding = Finding::new(Rule::PolicyWeakened, &weakening.message).in_file(&file);
        finding.at(lines.get(&weakening.line).copied())
    };
    weakenings.iter().map(finding).collect()
}

/// The positions of settings in a file, by the words before a brace or an equals sign.
fn lines(base: &Base, file: &Path) -> HashMap<String, Position> {
    let bytes = text::read(&base.top.join(file)).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = HashMap::new();
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let position = Position { line: at + 1, column: line.len() - trimmed.len() + 1 };
        let start = trimmed.split(['{', '=']).next().unwrap_or_default().trim_end();
        lines.entry(start.to_owned()).or_insert(position);
    }
    lines
}

//! What the change did to the settings, file by file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::snapshot::effective;
use super::{Base, slashed};
use crate::dialect::Dialect;
use crate::disk::text;
use crate::error::Error;
use crate::finding::{Finding, Position, Rule};
use crate::git::Kind;
use crate::settings::{FILE_NAME, Settings};
use crate::verify::{Weakening, weakenings};

/// Compares what holds in each directory that has settings on either side. What an outer file does to all below is told
/// once, of the outer file.
pub(super) fn findings(base: &Base) -> Result<Vec<Finding>, Error> {
    let is_settings = |path: &&str| super::name_of(path) == FILE_NAME;
    // A link may lead to a file by any name.
    let is_link = |path: &str| base.before.tree().kind(path) == Some(Kind::Link);
    if !base.changes.paths().any(|path| is_settings(&path)) && !base.before.paths(FILE_NAME).any(is_link) {
        return Ok(Vec::new());
    }
    let files = base.before.paths(FILE_NAME).chain(base.changes.paths().filter(is_settings));
    // The top of the work tree comes first, each directory before those in it.
    let directories: BTreeSet<&Path> = files.filter_map(|path| Path::new(path).parent()).collect();
    let mut told: BTreeMap<&Path, Vec<Weakening>> = BTreeMap::new();
    let (mut findings, mut moved) = (Vec::new(), BTreeSet::new());
    for directory in directories {
        let now = effective(directory, |path| now(base, path))?;
        // If what stood there cannot be read, what is believed now is the measure.
        let before = base.before.effective(directory).or_else(|_| base.believed.effective(directory))?;
        let around: Vec<&Weakening> =
            directory.ancestors().skip(1).filter_map(|place| told.get(place)).flatten().collect();
        let mut found = weakenings(&before, &now);
        found.retain(|weakening| !around.contains(&weakening));
        let tools = [&before, &now].map(Settings::dialect);
        if tools[0] != tools[1] && !directory.ancestors().skip(1).any(|place| moved.contains(place)) {
            findings.push(other_tool(directory, tools));
            moved.insert(directory);
        }
        findings.extend(found.iter().map(|weakening| finding(base, directory, weakening)));
        told.insert(directory, found);
    }
    Ok(findings)
}

/// The settings name another tool than before, or none.
fn other_tool(directory: &Path, tools: [Option<Dialect>; 2]) -> Finding {
    let [before, now] = tools.map(|tool| tool.map_or("auto", Dialect::program));
    let message = format!("the settings have tool = {now:?}, and had {before:?} at the base");
    Finding::new(Rule::DialectChanged, message).in_file(directory.join(FILE_NAME))
}

/// The text of a settings file of the work tree; what only a link above it leads to does not stand there.
fn now(base: &Base, path: &Path) -> Result<Option<Vec<u8>>, Error> {
    if !base.changes.stands(&slashed(path)) {
        return Ok(None);
    }
    Ok(text::read(&base.top.join(path))?)
}

/// At the line that says it, or at the file that no longer says what it did.
fn finding(base: &Base, directory: &Path, weakening: &Weakening) -> Finding {
    let changed = directory.ancestors().map(|place| place.join(FILE_NAME));
    let changed = changed.into_iter().find(|path| base.changes.paths().any(|other| other == slashed(path)));
    let file: PathBuf = changed.unwrap_or_else(|| directory.join(FILE_NAME));
    let finding = Finding::new(Rule::PolicyWeakened, &weakening.message).in_file(&file);
    match position(base, &file, &weakening.line) {
        Some(position) => finding.at(position),
        None => finding,
    }
}

fn position(base: &Base, file: &Path, start: &str) -> Option<Position> {
    let bytes = text::read(&base.top.join(file)).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().enumerate().find_map(|(at, line)| {
        let trimmed = line.trim_start();
        let rest = trimmed.strip_prefix(start)?;
        let ends = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || "={".contains(c));
        ends.then_some(Position { line: at + 1, column: line.len() - trimmed.len() + 1 })
    })
}

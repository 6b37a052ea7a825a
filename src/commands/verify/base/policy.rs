//! Compares the settings of the change with the base, file by file.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::Base;
use super::snapshot::over;
use crate::dialect::Dialect;
use crate::disk::files;
use crate::error::Error;
use crate::finding::{Finding, Position, Rule};
use crate::git::Kind;
use crate::path::RepoPath;
use crate::settings::{FILE_NAME, Settings};
use crate::verify::{Outer, Weakening, weakenings_within};

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
    let mut findings = Vec::new();
    // The directories around, the innermost last, and all that was found there. So each file is decoded once, and its bans
    // are compared once.
    let (mut around, mut known): (Vec<Around<'_>>, HashSet<Weakening>) = (Vec::new(), HashSet::new());
    for directory in directories {
        while let Some(left) = around.pop_if(|outer| !directory.starts_with(outer.directory)) {
            left.found.iter().for_each(|weakening| _ = known.remove(weakening));
        }
        let outer = around.last();
        let settings_around = outer.map_or_else(|| Some(Settings::default()), |outer| outer.before.clone());
        let text = now(base, &directory.join(FILE_NAME))?;
        let now = over(directory, text, outer.map(|outer| outer.now.clone()).unwrap_or_default())?;
        let before = settings_around.and_then(|all| base.before.over(directory, all).ok());
        let compared =
            before.as_ref().zip(outer).and_then(|(_, outer)| Some(Outer::of(outer.before.as_ref()?, &outer.now)));
        // If the earlier settings cannot be read, compare with the trusted ones.
        let trusted;
        let compared_with = if let Some(before) = &before {
            before
        } else {
            trusted = base.trusted.effective(&RepoPath::of(directory))?;
            &trusted
        };
        let mut found = weakenings_within(compared_with, &now, compared.unwrap_or_default());
        found.retain(|weakening| !known.contains(weakening));
        let tools = [compared_with, &now].map(Settings::dialect);
        let was_moved = outer.is_some_and(|outer| outer.moved);
        let moved = was_moved || tools[0] != tools[1];
        if moved && !was_moved {
            findings.push(other_tool(directory, tools));
        }
        findings.extend(placed(base, directory, &found));
        known.extend(found.iter().cloned());
        around.push(Around { directory, before, now, found, moved });
    }
    Ok(findings)
}

/// The effective settings of a directory.
struct Around<'a> {
    directory: &'a Path,
    /// At the base; `None` if they cannot be read.
    before: Option<Settings>,
    now: Settings,
    /// What they let pass that those around them do not.
    found: Vec<Weakening>,
    /// Whether they name another tool than before, here or further out.
    moved: bool,
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
    files::read_file(&base.top.join(path))
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
    let bytes = files::read_file(&base.top.join(file)).ok().flatten().unwrap_or_default();
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

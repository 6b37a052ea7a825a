//! Root modules whose configuration is of another kind than at the base: other files decide what they require.

use std::collections::{BTreeMap, BTreeSet};

use super::{Base, directory_of, name_of};
use crate::commands::verify::root::GateRoot;
use crate::config::{RootKind, UNIT_FILES, is_root_configuration};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::finding::{Finding, Rule};
use crate::lockfile::FILE_NAME;
use crate::path::RepoPath;

impl Base {
    /// The findings about directories that had a lock file before; `judged` are the root modules of the working tree.
    pub(super) fn changed_kinds(&self, judged: &BTreeMap<RepoPath, &GateRoot>) -> Vec<Finding> {
        let changed = self.changes.paths().filter(|path| is_root_configuration(name_of(path))).map(directory_of);
        let directories: BTreeSet<RepoPath> = changed.map(RepoPath::from_git).collect();
        directories.iter().filter(|way| self.had_lock(way)).filter_map(|way| self.changed_kind(way, judged)).collect()
    }

    fn changed_kind(&self, way: &RepoPath, judged: &BTreeMap<RepoPath, &GateRoot>) -> Option<Finding> {
        let own = judged.get(way).map(|root| root.settings().dialect);
        // Which tool reads it is another question.
        let dialect = own.or_else(|| self.tool_before(way)).unwrap_or(Dialect::Terraform);
        let old = self.before.names_in(way);
        let place = self.top.join(&**way);
        let new = files::names_in(&place);
        let kind = |names: &[&str]| {
            let of = |dialect| RootKind::of(names.iter().copied(), dialect);
            of(dialect).or_else(|| of(dialect.other()))
        };
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let (before, now) = (kind(&old)?, kind(&new));
        // The second file of a unit replaces the first.
        let is_replaced = old.contains(&UNIT_FILES[0]) && !old.contains(&UNIT_FILES[1]) && new.contains(&UNIT_FILES[1]);
        let phrase = before.traits().phrase;
        let message = match now {
            None if !files::is_there(&place.join(FILE_NAME)) => return None,
            None => format!("it was {phrase} at the base, and has no configuration now"),
            Some(now) if now != before => format!("it was {phrase} at the base, and is {} now", now.traits().phrase),
            Some(_) if is_replaced => {
                format!("{} is new, and Terragrunt reads it in place of {}", UNIT_FILES[1], UNIT_FILES[0])
            }
            Some(_) => return None,
        };
        Some(Finding::new(Rule::RootKindChanged, message).in_file(&*way.join(FILE_NAME)))
    }
}

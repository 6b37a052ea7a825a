//! Finds tracked names that other systems treat as another name.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

use super::Roots;
use crate::config::is_read;
use crate::finding::{Finding, Rule};
use crate::git::TrackedFiles;
use crate::path::{ambiguous_names, worktree};
use crate::settings::Settings;
use crate::verify::of_tree;

/// The findings about tracked paths of one working tree.
pub(super) fn findings<'a>(tracked: impl Iterator<Item = &'a str> + Clone) -> Vec<Finding> {
    let found = ambiguous_names(tracked, is_read).into_iter();
    let finding = |path: &str, read_as: &str| {
        let message = format!("{path} is one name with {read_as} on macOS or Windows, which tflock reads");
        Finding::new(Rule::AmbiguousName, message).in_file(path)
    };
    found.map(|name| finding(name.path, &name.read_as)).collect()
}

/// The findings about all working trees of a run, each by the settings of its first root module.
pub(super) fn of_trees(starts: &[PathBuf], roots: &Roots, tracked: &TrackedFiles, now: SystemTime) -> Vec<Finding> {
    let nothing = Settings::default();
    let opened = roots.iter().filter_map(|(_, root)| root.as_ref().ok()).map(super::Root::settings);
    let judged = opened.map(|root| (root.boundary.clone(), &root.settings));
    let started = starts.iter().filter_map(|start| Some((worktree::top(start)?, &nothing)));
    let mut seen = BTreeSet::new();
    let trees = judged.chain(started).filter(|(top, _)| seen.insert(top.clone()));
    let of_one = |(top, settings): (PathBuf, &Settings)| {
        tracked.with_paths(&top, |paths| of_tree(findings(paths.iter().map(|path| &**path)), settings, now))
    };
    trees.flat_map(of_one).collect()
}

//! What several root modules have in common, told once.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use crate::outcome::Outcome;
use crate::report::{Detail, Style, printable, slashed};

/// How many root modules are named before they are only counted.
const MOST_NAMES: usize = 3;

/// Equal items with the root modules that have them, in the order in which they came first.
pub(in crate::report) struct Same<'a, K> {
    items: Vec<(K, Vec<&'a Path>)>,
    at: HashMap<K, usize>,
}

impl<'a, K: Hash + Eq + Clone> Same<'a, K> {
    pub(in crate::report) fn new() -> Self {
        Self { items: Vec::new(), at: HashMap::new() }
    }

    /// Groups the items of some root modules.
    pub(in crate::report) fn of(items: impl IntoIterator<Item = (&'a Path, K)>) -> Self {
        let mut same = Self::new();
        items.into_iter().for_each(|(path, item)| same.add(path, item));
        same
    }

    pub(in crate::report) fn add(&mut self, path: &'a Path, item: K) {
        if let Some(at) = self.at.get(&item) {
            let paths = &mut self.items[*at].1;
            // A root module is counted once, however often it has the item.
            if paths.last() != Some(&path) {
                paths.push(path);
            }
        } else {
            self.at.insert(item.clone(), self.items.len());
            self.items.push((item, vec![path]));
        }
    }

    pub(in crate::report) fn into_items(self) -> Vec<(K, Vec<&'a Path>)> {
        self.items
    }
}

/// The root modules that a text is about.
#[derive(Clone, Copy)]
pub(in crate::report) struct Whose {
    /// How many the run is about.
    all: usize,
    verbose: bool,
    /// True if they were searched for.
    pub(in crate::report) recursive: bool,
}

impl Whose {
    pub(in crate::report) fn of(outcome: &Outcome, style: Style) -> Self {
        let mut paths: Vec<&Path> = outcome.roots.iter().map(|root| root.path.as_path()).collect();
        paths.dedup();
        Self { all: paths.len(), verbose: style.detail == Detail::Verbose, recursive: outcome.recursive }
    }

    /// `live/a, live/b`, `23 root modules`, `all 30 root modules`.
    pub(in crate::report) fn told(self, paths: &[&Path]) -> String {
        if paths.len() <= MOST_NAMES { names(paths) } else { counted(paths.len(), self.all) }
    }

    /// The same in a cell of a table: with -v every name.
    pub(in crate::report) fn cell(self, paths: &[&Path]) -> String {
        if self.verbose { names(paths) } else { self.told(paths) }
    }

    /// A text whose first line says whose it is; with -v every name stands below.
    pub(in crate::report) fn behind(self, text: &str, paths: &[&Path]) -> String {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let names = self.names_below(paths).unwrap_or_default();
        format!("{first}  {}\n{names}{rest}", self.told(paths))
    }

    /// A line with every name, where they are only counted and -v asks for them.
    pub(in crate::report) fn names_below(self, paths: &[&Path]) -> Option<String> {
        (self.verbose && self.told(paths) != names(paths)).then(|| format!("    in {}\n", names(paths)))
    }
}

fn counted(count: usize, all: usize) -> String {
    if count == all { format!("all {}", root_modules(count)) } else { root_modules(count) }
}

/// `1 root module`, `30 root modules`.
pub(in crate::report) fn root_modules(count: usize) -> String {
    format!("{count} root {}", if count == 1 { "module" } else { "modules" })
}

fn names(paths: &[&Path]) -> String {
    paths.iter().map(|path| name(path)).collect::<Vec<_>>().join(", ")
}

/// A root module as reports name it.
pub(in crate::report) fn name(path: &Path) -> String {
    let path = slashed(path);
    if path.is_empty() { ".".to_owned() } else { printable(&path).into_owned() }
}

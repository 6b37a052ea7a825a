//! Paths of module calls in words. There may be more of them than anyone can count, so some are named and the others counted.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::{MissingModule, Tree, TreeWarning};
use crate::requirements::module_name;
use crate::words::first_of;

/// How many paths are named.
const MOST_NAMED: usize = 10;

/// How many characters of a path are shown.
const LONGEST: usize = 200;

/// Paths that are not listed one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnlistedPaths {
    /// How many there are; `u64::MAX` for more than that.
    pub count: u64,
    /// The first ones.
    named: Vec<String>,
}

impl UnlistedPaths {
    /// Counts all paths below the module of one.
    pub(super) fn add(&mut self, key: &str, count: u64) {
        self.count = self.count.saturating_add(count);
        if self.named.len() < MOST_NAMED {
            self.named.push(shown(key));
        }
    }
}

impl fmt::Display for UnlistedPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.named.join(", ");
        match self.count {
            u64::MAX => write!(f, "too many paths of module calls to count lead to modules already named")?,
            count => write!(f, "{count} more paths of module calls lead to modules already named")?,
        }
        write!(f, ", and are not listed; those to {named} are the first of them")
    }
}

impl Tree {
    /// The calls of missing modules, each once, and which paths lead to the module if there are more paths than calls.
    pub fn missing_calls(&self) -> Vec<(&MissingModule, Option<String>)> {
        let mut calls: Vec<&MissingModule> = Vec::new();
        let mut known = HashSet::new();
        let mut modules: HashMap<_, MissingPaths<'_>> = HashMap::new();
        for call in &self.missing {
            let of_module = modules.entry(module_of(call)).or_default();
            of_module.keys.push(&call.key);
            if known.insert((module_of(call), &call.place.file, call.place.position)) {
                of_module.calls += 1;
                calls.push(call);
            }
        }
        let is_cut = self.warnings.iter().any(|warning| matches!(warning, TreeWarning::ManyPaths(_)));
        calls.into_iter().map(|call| (call, modules[&module_of(call)].in_words(is_cut))).collect()
    }
}

/// What makes two missing modules one: what would be fetched, and why it was not.
fn module_of(call: &MissingModule) -> [Option<&str>; 3] {
    let reason = call.reason.as_ref().map(|reason| reason.message.as_str());
    [Some(&call.source), call.version.as_deref(), reason]
}

/// The ways to a missing module.
#[derive(Debug, Default)]
struct MissingPaths<'a> {
    keys: Vec<&'a str>,
    /// How many calls name it.
    calls: usize,
}

impl MissingPaths<'_> {
    fn in_words(&self, is_cut: bool) -> Option<String> {
        if self.keys.len() <= self.calls {
            return None;
        }
        let names: Vec<String> = self.keys.iter().map(|key| shown(key)).collect();
        let least = if is_cut { "at least " } else { "" };
        Some(format!("{least}{} paths of calls lead to it: {}", names.len(), first_of(&names, MOST_NAMED)))
    }
}

fn shown(key: &str) -> String {
    let name = module_name(key);
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

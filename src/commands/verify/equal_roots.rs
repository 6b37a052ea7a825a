//! Finds root modules with equal files and rules, which are judged once.

use std::collections::HashMap;

use super::{Root, Roots};

/// For each root module the number of the first one that equals it, possibly its own.
pub(super) fn firsts(roots: &Roots) -> Vec<usize> {
    let opened = |at: usize| roots[at].1.as_ref().ok();
    let mut known: HashMap<[usize; 2], Vec<usize>> = HashMap::new();
    let first = |at: usize| {
        let Some((root, texts)) = opened(at).and_then(|root| Some((root, root.texts()?))) else { return at };
        let known = known.entry(texts).or_default();
        let is_like = |other: &&usize| opened(**other).is_some_and(|other: &Root| other.is_under_rules_of(root));
        if let Some(first) = known.iter().find(is_like) {
            return *first;
        }
        known.push(at);
        at
    };
    (0..roots.len()).map(first).collect()
}

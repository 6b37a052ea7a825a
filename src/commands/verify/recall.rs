//! What earlier runs left about locked releases.

use std::path::PathBuf;

use super::Root;
use crate::commands::LockOptions;
use crate::commands::lock::RuleBook;
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::release::{Known, cached};

/// What earlier runs left about the locked releases; nobody is asked.
pub fn recalled(roots: &[(PathBuf, Result<Root, Error>)], cache: &Cache) -> Known {
    let mut known = Known::new();
    for root in roots.iter().filter_map(|(_, root)| root.as_ref().ok()) {
        let rules = RuleBook::new(root.settings(), &LockOptions::default());
        for (addr, entry) in root.lock().iter() {
            known
                .entry((addr.clone(), entry.version.clone()))
                .or_insert_with(|| cached::release(cache, addr, &entry.version, rules.check(addr)));
        }
    }
    known
}

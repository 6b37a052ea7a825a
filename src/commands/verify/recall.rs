//! Reads the records of earlier runs about locked releases.

use std::collections::BTreeMap;

use super::Roots;
use super::root::firsts;
use crate::commands::LockOptions;
use crate::commands::lock::RuleBook;
use crate::disk::cache::Cache;
use crate::query::cached;
use crate::release::{ReleaseKey, Releases};

/// The records of earlier runs about the locked releases; sends no request.
pub fn recalled(roots: &Roots, cache: &Cache) -> Releases {
    // A release is checked by the rules of each root module that locks it.
    let mut checks: BTreeMap<ReleaseKey, cached::Check> = BTreeMap::new();
    let firsts = firsts(roots).into_iter().enumerate().filter(|(at, first)| at == first);
    for root in firsts.filter_map(|(at, _)| roots[at].1.as_ref().ok()) {
        let rules = RuleBook::new(root.settings(), &LockOptions::default());
        for (addr, entry) in root.lock().iter() {
            let check = rules.check(addr);
            let of_release = checks.entry((addr.clone(), entry.version.clone()));
            of_release.and_modify(|known| *known = known.stricter(check)).or_insert(check);
        }
    }
    let recalled = |((addr, version), check): (ReleaseKey, cached::Check)| {
        let knowledge = cached::release(cache, &addr, &version, check);
        ((addr, version), knowledge)
    };
    checks.into_iter().map(recalled).collect()
}

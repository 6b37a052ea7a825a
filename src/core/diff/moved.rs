//! Providers that moved to another host or namespace.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::lockfile::LockFile;

/// The providers that came, each with the one that it was before; where there is a choice, nothing moved.
///
/// A provider at another host keeps namespace and type; one in another namespace keeps host and type. The first counts
/// more, since that is what a change of tools does to every provider.
pub(super) fn moves<'a>(old: &'a LockFile, new: &'a LockFile) -> BTreeMap<&'a ProviderAddr, &'a ProviderAddr> {
    let mut left: BTreeSet<&ProviderAddr> = without(old, new);
    let mut came: BTreeSet<&ProviderAddr> = without(new, old);
    let mut moves = BTreeMap::new();
    let other_host = |addr: &'a ProviderAddr| (addr.type_name(), addr.namespace().to_owned());
    let other_namespace = |addr: &'a ProviderAddr| (addr.type_name(), addr.host().to_string());
    for same in [&other_host as &dyn Fn(&'a ProviderAddr) -> Key<'a>, &other_namespace] {
        for (from, to) in pairs(&left, &came, same) {
            left.remove(from);
            came.remove(to);
            moves.insert(to, from);
        }
    }
    moves
}

/// What a provider keeps when it moves.
type Key<'a> = (&'a str, String);

fn without<'a>(lock: &'a LockFile, other: &LockFile) -> BTreeSet<&'a ProviderAddr> {
    lock.iter().map(|(addr, _)| addr).filter(|addr| other.get(addr).is_none()).collect()
}

/// Those that have one counterpart, which has no other counterpart.
fn pairs<'a>(
    left: &BTreeSet<&'a ProviderAddr>,
    came: &BTreeSet<&'a ProviderAddr>,
    same: &dyn Fn(&'a ProviderAddr) -> Key<'a>,
) -> Vec<(&'a ProviderAddr, &'a ProviderAddr)> {
    let mut groups: BTreeMap<Key<'a>, [Vec<&'a ProviderAddr>; 2]> = BTreeMap::new();
    for (side, addresses) in [left, came].into_iter().enumerate() {
        for addr in addresses {
            groups.entry(same(addr)).or_default()[side].push(addr);
        }
    }
    let pair = |group: [Vec<&'a ProviderAddr>; 2]| match group.each_ref().map(Vec::as_slice) {
        [[from], [to]] => Some((*from, *to)),
        _ => None,
    };
    groups.into_values().filter_map(pair).collect()
}

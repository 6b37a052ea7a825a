//! Providers that moved to another host or namespace.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::lockfile::LockFile;

/// The providers that came, each with the one that it was before; where there is a choice, nothing moved.
///
/// A provider at another host keeps namespace and type; one in another namespace keeps host and type. The first counts
/// more, since that is what a change of tools does to every provider.
pub(super) fn moves<'a>(old: &'a LockFile, new: &'a LockFile) -> BTreeMap<&'a ProviderAddr, &'a ProviderAddr> {
    let mut left: Vec<&ProviderAddr> = without(old, new);
    let mut came: Vec<&ProviderAddr> = without(new, old);
    let mut moves = BTreeMap::new();
    let other_host =
        |a: &ProviderAddr, b: &ProviderAddr| a.type_name() == b.type_name() && a.namespace() == b.namespace();
    let other_namespace = |a: &ProviderAddr, b: &ProviderAddr| a.type_name() == b.type_name() && a.host() == b.host();
    for same in [&other_host as &dyn Fn(&ProviderAddr, &ProviderAddr) -> bool, &other_namespace] {
        for (from, to) in pairs(&left, &came, same) {
            left.retain(|addr| *addr != from);
            came.retain(|addr| *addr != to);
            moves.insert(to, from);
        }
    }
    moves
}

fn without<'a>(lock: &'a LockFile, other: &LockFile) -> Vec<&'a ProviderAddr> {
    lock.iter().map(|(addr, _)| addr).filter(|addr| other.get(addr).is_none()).collect()
}

/// Those that have one counterpart, which has no other counterpart.
fn pairs<'a>(
    left: &[&'a ProviderAddr],
    came: &[&'a ProviderAddr],
    same: &dyn Fn(&ProviderAddr, &ProviderAddr) -> bool,
) -> Vec<(&'a ProviderAddr, &'a ProviderAddr)> {
    let one = |addr: &ProviderAddr, others: &[&'a ProviderAddr]| {
        let mut found = others.iter().filter(|other| same(addr, other));
        found.next().filter(|_| found.next().is_none()).copied()
    };
    left.iter().filter_map(|from| Some((*from, one(from, came)?))).filter(|(_, to)| one(to, left).is_some()).collect()
}

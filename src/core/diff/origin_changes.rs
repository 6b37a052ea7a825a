//! Who requires a provider otherwise than before, and which providers moved to another host or namespace.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::diff::{Change, OriginChange};
use crate::lockfile::LockFile;
use crate::requirements::{Origin, Requirements};

/// Fills in the places whose requirement on the provider of a change is new, removed or different.
pub fn find_callers(change: &mut Change, old: &Requirements, new: &Requirements) {
    let before = origins(old, change.moved_from.as_ref().unwrap_or(&change.address));
    let now = origins(new, &change.address);
    let mut left: Vec<&Origin> = before.iter().collect();
    let mut callers = Vec::new();
    for origin in now {
        match left.iter().position(|was| is_same_place(was, origin)) {
            Some(at) => {
                let was = left.remove(at);
                if was.constraint != origin.constraint {
                    callers.push(OriginChange::Changed { was: was.constraint.clone(), now: origin.clone() });
                }
            }
            None => callers.push(OriginChange::Came(origin.clone())),
        }
    }
    callers.extend(left.into_iter().cloned().map(OriginChange::Went));
    change.callers = callers;
}

fn origins<'a>(requirements: &'a Requirements, addr: &ProviderAddr) -> &'a [Origin] {
    requirements.get(addr).map_or(&[], |requirement| &requirement.origins)
}

/// The same construct, even if the lines around it moved.
fn is_same_place(a: &Origin, b: &Origin) -> bool {
    (&a.module, &a.file, a.kind, &a.local_name) == (&b.module, &b.file, b.kind, &b.local_name)
}

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

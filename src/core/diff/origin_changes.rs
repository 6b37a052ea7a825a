//! Who requires a provider otherwise than before.

use crate::addr::ProviderAddr;
use crate::diff::{Change, OriginChange};
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

//! Notes on what was assumed of units: values in generated files that are not known, and fallbacks.

use std::collections::{BTreeMap, BTreeSet};

use super::root::GateRoots;
use crate::disk::roots::{UnreadPart, file_from};
use crate::path::shown;
use crate::words::counted;

/// How many are named.
const MOST: usize = 5;

/// One note for each place, whatever the number of root modules.
pub(super) fn notes(roots: &GateRoots) -> Vec<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (path, root) in roots {
        let Some(tree) = root.as_ref().ok().and_then(|root| root.tree()) else { continue };
        let placed =
            |part: &UnreadPart| format!("{}:{}", shown(&file_from(path, &part.place.file)), part.place.position.line);
        let holes = tree
            .holes
            .iter()
            .map(|hole| format!("{}: a value that decides no requirement is not known: {}", placed(hole), hole.reason));
        let notes = tree.notes.iter().map(|note| format!("{}: {}", placed(note), note.reason));
        let of_root: BTreeSet<String> = holes.chain(notes).collect();
        for note in of_root {
            *found.entry(note).or_default() += 1;
        }
    }
    let more = found.len().saturating_sub(MOST);
    let named = found.into_iter().take(MOST).map(|(note, count)| match count {
        1 => note,
        count => format!("{note} (in {count} root modules)"),
    });
    named.chain((more > 0).then(|| format!("{} of this kind", counted(more, "more note")))).collect()
}

//! Notes on what was assumed of units: values in generated files that are not known, and fallbacks. And on units that only stacks use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::disk::roots::{Tree, UnreadPart, file_from};
use crate::path::shown;
use crate::words::counted;

/// How many are named.
const MOST: usize = 5;

/// What was assumed of a unit at a path.
pub fn of_unit(path: &Path, tree: &Tree) -> BTreeSet<String> {
    let placed =
        |part: &UnreadPart| format!("{}:{}", shown(&file_from(path, &part.place.file)), part.place.position.line);
    let holes = tree
        .holes
        .iter()
        .map(|hole| format!("{}: a value that decides no requirement is not known: {}", placed(hole), hole.reason));
    holes.chain(tree.notes.iter().map(|note| format!("{}: {}", placed(note), note.reason))).collect()
}

/// One note for each place, whatever the number of root modules.
pub fn notes(of_roots: impl IntoIterator<Item = BTreeSet<String>>) -> Vec<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for note in of_roots.into_iter().flatten() {
        *found.entry(note).or_default() += 1;
    }
    let more = found.len().saturating_sub(MOST);
    let named = found.into_iter().take(MOST).map(|(note, count)| match count {
        1 => note,
        count => format!("{note} (in {count} root modules)"),
    });
    named.chain((more > 0).then(|| format!("{} of this kind", counted(more, "more note")))).collect()
}

/// That lock files of templates, at these paths, go elsewhere.
pub fn of_templates(templates: &[&Path]) -> Option<String> {
    let first = shown(templates.first()?);
    let count = counted(templates.len(), "unit template");
    Some(format!(
        "{count} with a lock file, such as {first}: Terragrunt copies it to each unit that a stack generates, so lock it there"
    ))
}

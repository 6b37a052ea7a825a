//! Notes on what was assumed of units: values in generated files that are not known, and fallbacks. And on units that only stacks use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::disk::roots::{Tree, UnreadPart, file_from};
use crate::path::shown;
use crate::words::counted;

/// How many are named.
const MOST: usize = 5;

/// What was assumed in one place, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumed {
    text: String,
    /// Equal for equal causes, wherever they are.
    pub reason: String,
}

/// What was assumed of a unit at a path.
pub fn of_unit(path: &Path, tree: &Tree) -> BTreeSet<Assumed> {
    let placed =
        |part: &UnreadPart| format!("{}:{}", shown(&file_from(path, &part.place.file)), part.place.position.line);
    let assumed = |part: &UnreadPart, before: &str| Assumed {
        text: format!("{}: {before}{}", placed(part), part.reason),
        reason: part.reason.clone(),
    };
    let holes = tree.holes.iter().map(|hole| assumed(hole, "a value that decides no requirement is not known: "));
    holes.chain(tree.notes.iter().map(|note| assumed(note, ""))).collect()
}

/// One note for each place, whatever the number of root modules; what was assumed before comes last.
pub fn notes(of_roots: impl IntoIterator<Item = BTreeSet<Assumed>>, is_old: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: BTreeMap<(bool, String), usize> = BTreeMap::new();
    for note in of_roots.into_iter().flatten() {
        *found.entry((is_old(&note.reason), note.text)).or_default() += 1;
    }
    let more = found.len().saturating_sub(MOST);
    let named = found.into_iter().take(MOST).map(|((_, note), count)| match count {
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

//! Notes on the configuration of root modules: warnings, and what was assumed of units, which are values in generated files that are not
//! known, and fallbacks.

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

/// What was assumed of the unit at a path.
pub fn assumed(path: &Path, tree: &Tree) -> BTreeSet<Assumed> {
    let placed =
        |part: &UnreadPart| format!("{}:{}", shown(&file_from(path, &part.place.file)), part.place.position.line);
    let of = |part: &UnreadPart, before: &str| Assumed {
        text: format!("{}: {before}{}", placed(part), part.reason),
        reason: part.reason.clone(),
    };
    let holes = tree.holes.iter().map(|hole| of(hole, "a value that decides no requirement is not known: "));
    holes.chain(tree.notes.iter().map(|note| of(note, ""))).collect()
}

/// What the trees of root modules give cause to note.
#[derive(Debug, Default)]
pub struct TreeNotes {
    warnings: Vec<String>,
    /// What was assumed of each of them.
    assumed: Vec<BTreeSet<Assumed>>,
}

impl TreeNotes {
    /// Adds the root module at a path.
    pub fn add(&mut self, path: &Path, tree: &Tree) {
        self.warnings.extend(tree.warnings.iter().map(ToString::to_string));
        self.assumed.push(assumed(path, tree));
    }

    pub fn notes(self) -> impl Iterator<Item = String> {
        self.warnings.into_iter().chain(on_assumed(self.assumed, |_| false))
    }
}

/// One note for each place, whatever the number of root modules; what was assumed before comes last.
pub fn on_assumed(of_roots: impl IntoIterator<Item = BTreeSet<Assumed>>, is_old: impl Fn(&str) -> bool) -> Vec<String> {
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

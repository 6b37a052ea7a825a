//! How paths, lists and numbers appear in messages and JSON documents: paths with slashes, numbers with their words.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Serialize, Serializer};

/// A path for users and reports: with slashes on every system, and without the prefix by which Windows allows long ones.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { with_slashes(&text) }
}

fn with_slashes(text: &str) -> String {
    let plain = text.strip_prefix(r"\\?\UNC\").map(|share| format!(r"\\{share}"));
    plain.as_deref().or(text.strip_prefix(r"\\?\")).unwrap_or(text).replace('\\', "/")
}

pub fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shown(path))
}

/// The first value, or `null`.
pub fn first<T: Serialize + Ord, S: Serializer>(values: &BTreeSet<T>, serializer: S) -> Result<S::Ok, S::Error> {
    values.first().serialize(serializer)
}

/// `1 package`, `3 packages`, `2 directories`.
pub fn counted(count: usize, noun: &str) -> String {
    let vowels = ['a', 'e', 'i', 'o', 'u'];
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(vowels)) {
        _ if count == 1 => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

/// The object name of a commit, short enough for users.
pub fn short_commit(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// The first names of many: `a, b, c and 15 more`.
pub fn first_of<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let (first, others) = names.split_at(names.len().min(most));
    let first = first.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if others.is_empty() { first } else { format!("{first} and {} more", others.len()) }
}

/// The counts that are not zero: `2 denied, 1 note`.
pub fn nonzero<'a>(counts: impl IntoIterator<Item = (usize, &'a str)>) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_have_their_plural() {
        let words = ["package", "directory", "day"].map(|noun| [counted(1, noun), counted(2, noun)]);
        assert_eq!(words, [["1 package", "2 packages"], ["1 directory", "2 directories"], ["1 day", "2 days"]]);
    }

    #[test]
    fn paths_of_windows_are_shown_with_slashes() {
        let rows = [
            (r"a\b", "a/b"),
            (r"\\?\C:\a\b", "C:/a/b"),
            (r"\\?\UNC\server\share\a", "//server/share/a"),
            (r"\\server\share", "//server/share"),
            ("a/b", "a/b"),
        ];
        for (path, wanted) in rows {
            assert_eq!(with_slashes(path), wanted);
        }
    }

    #[test]
    fn the_first_names_are_named_and_the_others_counted() {
        assert_eq!(first_of(&["a", "b", "c"], 3), "a, b, c");
        assert_eq!(first_of(&["a", "b", "c", "d"], 3), "a, b, c and 1 more");
        assert_eq!(first_of::<&str>(&[], 3), "");
    }
}

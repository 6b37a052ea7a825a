//! Numbers with their words.

/// `1 package`, `3 packages`.
pub fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
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
    fn the_first_names_are_named_and_the_others_counted() {
        assert_eq!(first_of(&["a", "b", "c"], 3), "a, b, c");
        assert_eq!(first_of(&["a", "b", "c", "d"], 3), "a, b, c and 1 more");
        assert_eq!(first_of::<&str>(&[], 3), "");
    }
}

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

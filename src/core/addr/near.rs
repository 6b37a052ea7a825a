//! Texts that are at most two edits apart, found without comparing each with each.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Two edits, of which a swap of neighbours is one, touch at most four of these. So one of them is in both texts, at most two
/// places apart.
const PIECES: usize = 5;
const EDITS: usize = 2;

/// Some texts, by their pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct Near(HashMap<Piece, Vec<usize>>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Piece {
    /// How many characters the whole text has.
    length: usize,
    number: usize,
    characters: String,
}

impl Near {
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut pieces: HashMap<Piece, Vec<usize>> = HashMap::new();
        for (at, text) in texts.into_iter().enumerate() {
            let text: Vec<char> = text.chars().collect();
            for number in 0..PIECES {
                let characters = text[range(text.len(), number)].iter().collect();
                pieces.entry(Piece { length: text.len(), number, characters }).or_default().push(at);
            }
        }
        Self(pieces)
    }

    /// The numbers of all texts that are at most two edits away from this one, among few others.
    pub(super) fn candidates(&self, text: &str) -> BTreeSet<usize> {
        let text: Vec<char> = text.chars().collect();
        let mut found = BTreeSet::new();
        for length in text.len().saturating_sub(EDITS)..=text.len() + EDITS {
            for number in 0..PIECES {
                let Range { start, end } = range(length, number);
                for from in start.saturating_sub(EDITS)..=start + EDITS {
                    let Some(part) = text.get(from..from + (end - start)) else { continue };
                    let piece = Piece { length, number, characters: part.iter().collect() };
                    found.extend(self.0.get(&piece).into_iter().flatten());
                }
            }
        }
        found
    }
}

fn range(length: usize, number: usize) -> Range<usize> {
    length * number / PIECES..length * (number + 1) / PIECES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_texts_are_compared() {
        let names = |word: &str| -> Vec<String> {
            (0..2_000_u64).map(|n| format!("{word}{:x}/{:x}", n * 7_919 % 65_537, n * 104_729 % 99_991)).collect()
        };
        let (old, new) = (names("acme"), names("other"));
        let near = Near::of(old.iter().map(String::as_str));
        let compared: usize = new.iter().map(|name| near.candidates(name).len()).sum();
        assert!(compared < 200_000, "{compared} of 4,000,000 pairs");
    }

    proptest! {
        #[test]
        fn what_is_near_is_a_candidate(one in "[ab/é]{0,14}", other in "[ab/é]{0,14}") {
            let is_near = strsim::osa_distance(&one, &other) <= EDITS;
            prop_assert!(!is_near || Near::of([one.as_str()]).candidates(&other).contains(&0));
        }

        #[test]
        fn what_was_edited_is_a_candidate(
            text in "[a-z/]{6,40}",
            edits in proptest::collection::vec((0..4, 0..40_usize, proptest::char::range('a', 'z')), 0..=EDITS),
        ) {
            let mut edited: Vec<char> = text.chars().collect();
            for (kind, at, character) in edits {
                let at = at % (edited.len() - 1);
                match kind {
                    0 => edited.insert(at, character),
                    1 => drop(edited.remove(at)),
                    2 => edited[at] = character,
                    _ => edited.swap(at, at + 1),
                }
            }
            let edited: String = edited.into_iter().collect();
            let is_near = strsim::osa_distance(&text, &edited) <= EDITS;
            prop_assert!(!is_near || Near::of([text.as_str()]).candidates(&edited).contains(&0));
        }
    }
}

//! Pieces of a text that are replaced at once, all others kept byte for byte.

use std::ops::Range;

/// Replacements in one text. They must not overlap; of two at one place the earlier comes first.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(super) fn one(range: Range<usize>, new: impl Into<String>) -> Self {
        Self(vec![(range, new.into())])
    }

    pub(super) fn replace(&mut self, range: Range<usize>, new: impl Into<String>) {
        self.0.push((range, new.into()));
    }

    pub(super) fn insert(&mut self, at: usize, new: impl Into<String>) {
        self.replace(at..at, new);
    }

    /// The text after all replacements. One that overlaps with an earlier one is left out.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut result = String::with_capacity(text.len() + 64);
        let mut at = 0;
        for (range, new) in self.0 {
            if let Some(kept) = text.get(at..range.start) {
                result.push_str(kept);
                result.push_str(&new);
                at = range.end;
            }
        }
        result.push_str(text.get(at..).unwrap_or_default());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_else_is_kept() {
        let mut splices = Splices::one(4..5, "E");
        splices.insert(0, "<");
        splices.insert(0, "[");
        splices.replace(1..3, "");
        assert_eq!(splices.apply("abcdef"), "<[adEf");
    }
}

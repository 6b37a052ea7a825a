//! What an unknown value comes from, as a text that the base and a change are compared by.

use std::collections::BTreeSet;

use crate::hash::Sha256Digest;

/// The longest description that stands for itself: others are known by their hash.
const MOST: usize = 256;

/// What an unknown value comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OriginText {
    /// Equal for equal origins; `None` if it is not known.
    pub(super) text: Option<String>,
    /// The files that it names.
    pub(super) files: BTreeSet<String>,
}

impl OriginText {
    pub(super) fn of(text: String) -> Self {
        Self { text: Some(text), files: BTreeSet::new() }
    }

    pub(super) fn add(&mut self, part: &str) {
        if let Some(text) = &mut self.text {
            text.push_str(part);
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.files.extend(other.files.iter().cloned());
        match &other.text {
            Some(part) => self.add(part),
            None => self.text = None,
        }
    }

    /// The same, with a hash for a long text.
    pub(super) fn shortened(self) -> Self {
        let shorten =
            |text: String| if text.len() > MOST { Sha256Digest::of(text.as_bytes()).to_string() } else { text };
        Self { text: self.text.map(shorten), ..self }
    }
}

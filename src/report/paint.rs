//! The few colours of human output, as plain control sequences.

use std::fmt;

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Something went wrong, or is refused, or goes away.
    Bad,
    /// Something to look at.
    Careful,
    /// Something new, or well.
    Good,
    /// Something said aside.
    Aside,
    /// A heading.
    Strong,
}

impl Paint {
    fn codes(self) -> &'static str {
        match self {
            Paint::Bad => "1;31",
            Paint::Careful => "33",
            Paint::Good => "32",
            Paint::Aside => "36",
            Paint::Strong => "1",
        }
    }
}

/// A text in its colour, or plain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Painted<T>(pub(crate) T, pub(crate) Option<Paint>);

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(paint) => write!(f, "\x1b[{}m{}\x1b[0m", paint.codes(), self.0),
            None => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_or_painted() {
        assert_eq!(Painted("a", None).to_string(), "a");
        assert_eq!(Painted("a", Some(Paint::Bad)).to_string(), "\x1b[1;31ma\x1b[0m");
    }
}

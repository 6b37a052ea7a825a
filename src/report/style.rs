//! The form of what people read: colours, width, detail and the words for levels.

use std::fmt;

use anstyle::AnsiColor;

use super::layout::printable;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::Level;

/// The least width of lines, even on narrower terminals.
const LEAST_WIDTH: usize = 40;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Detail {
    Quiet,
    #[default]
    Normal,
    /// Also print each hash and the evidence for it.
    Verbose,
}

/// The form of human output. The default is plain text with full addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Style {
    pub colour: bool,
    /// The tool whose default registry host is omitted from addresses; `None` if the root modules differ.
    pub dialect: Option<Dialect>,
    pub detail: Detail,
    pub width: Option<usize>,
}

impl Style {
    /// The width of lines, wide enough for text next to an indent.
    pub(super) fn room(self) -> usize {
        self.width.map_or(usize::MAX, |width| width.max(LEAST_WIDTH))
    }

    pub(super) fn paint<T>(self, paint: Paint, text: T) -> Painted<T> {
        Painted(text, self.colour.then_some(paint))
    }

    pub(super) fn addr(self, addr: &ProviderAddr) -> String {
        let text = match self.dialect {
            Some(dialect) => addr.short(dialect),
            None => addr.to_string(),
        };
        printable(&text).into_owned()
    }
}

/// The word of a level for users.
pub(super) fn word_of(level: Level) -> &'static str {
    match level {
        Level::Deny => "denied",
        Level::Warn => "warning",
        Level::Note => "note",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Bad,
    Careful,
    Good,
    Aside,
    Strong,
}

impl Paint {
    fn style(self) -> anstyle::Style {
        match self {
            Paint::Bad => AnsiColor::Red.on_default().bold(),
            Paint::Careful => AnsiColor::Yellow.on_default(),
            Paint::Good => AnsiColor::Green.on_default(),
            Paint::Aside => AnsiColor::Cyan.on_default(),
            Paint::Strong => anstyle::Style::new().bold(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Painted<T>(pub(crate) T, pub(crate) Option<Paint>);

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(paint) => write!(f, "{style}{}{style:#}", self.0, style = paint.style()),
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
        assert_eq!(Painted("a", Some(Paint::Bad)).to_string(), "\x1b[1m\x1b[31ma\x1b[0m");
    }
}

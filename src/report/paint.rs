//! The few colours of human output.

use std::fmt;

use anstyle::{AnsiColor, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Bad,
    Careful,
    Good,
    Aside,
    Strong,
}

impl Paint {
    fn style(self) -> Style {
        match self {
            Paint::Bad => AnsiColor::Red.on_default().bold(),
            Paint::Careful => AnsiColor::Yellow.on_default(),
            Paint::Good => AnsiColor::Green.on_default(),
            Paint::Aside => AnsiColor::Cyan.on_default(),
            Paint::Strong => Style::new().bold(),
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

//! Why an evaluation gives no value: the tool certainly refuses the expression, or nothing is known.

use super::Unevaluated;
use crate::finding::Location;

/// What the tools certainly refuse. `try` moves on, and `can` is false, only for one of these; whatever else fails is unknown.
///
/// Each was seen with the tools: `testdata/vectors/functions.tsv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A known value has no such attribute, key or index.
    MissingPart,
    /// Null where a value is needed.
    Null,
    /// Text that is no number or no bool.
    WrongText,
    /// A value whose type cannot become the wanted one, such as a list where text is needed.
    WrongType,
    /// A file that certainly does not exist.
    MissingFile,
    /// Each argument of `coalesce` is null or empty text.
    AllEmpty,
    /// A regular expression that matches no part of the text.
    NoMatch,
    /// Text that is no JSON.
    WrongJson,
}

/// Why an evaluation ended without a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The tool certainly refuses the expression, unless something around it passes over that.
    Refused(CertainRefusal),
    /// There is no value, whatever is around: unknown, or a mistake that the tools find before they evaluate anything.
    Final(Unevaluated),
}

/// What the tool certainly refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertainRefusal {
    /// The row of the table.
    pub cause: Cause,
    /// The same in words.
    pub reason: String,
    /// Where it is written.
    pub place: Option<Location>,
}

impl Cause {
    /// A failure of this cause.
    pub fn refuses(self, reason: impl Into<String>) -> Failure {
        Failure::Refused(CertainRefusal { cause: self, reason: reason.into(), place: None })
    }
}

impl Failure {
    /// A value that is unknown, with all that is around it.
    pub fn unknown(what: impl Into<String>) -> Self {
        Self::Final(Unevaluated::limit(what))
    }

    /// A mistake that the tools find before they evaluate anything, such as a name that is not declared.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Final(Unevaluated::refused(reason))
    }

    /// The same, at a place, unless a deeper one is known.
    #[must_use]
    pub fn at(self, known: &Location) -> Self {
        match self {
            Self::Refused(refused) => {
                let place = refused.place.or_else(|| Some(known.clone()));
                Self::Refused(CertainRefusal { place, ..refused })
            }
            Self::Final(reason) => Self::Final(reason.at(known)),
        }
    }

    /// The same, with what was computed before the reason in words.
    #[must_use]
    pub fn within(self, what: &str) -> Self {
        match self {
            Self::Refused(refused) => {
                Self::Refused(CertainRefusal { reason: format!("{what}: {}", refused.reason), ..refused })
            }
            failure @ Self::Final(_) => failure,
        }
    }
}

impl From<Unevaluated> for Failure {
    fn from(reason: Unevaluated) -> Self {
        Self::Final(reason)
    }
}

impl From<Failure> for Unevaluated {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(CertainRefusal { reason, place, .. }) => Self::Refused { reason, place },
            Failure::Final(reason) => reason,
        }
    }
}

//! What of a unit is not known, and why.

use crate::finding::Location;
use crate::value::Unevaluated;

/// A part of the configuration that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Why, equal for equal causes.
    pub reason: String,
    /// Where.
    pub place: Location,
}

/// A value in a quoted argument of a generated file that is unknown and, unless its text ends the quotes, decides nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// Why it is unknown, and where it is written.
    pub part: Unread,
    /// What it comes from, equal for equal origins: the expression, and what its arguments are. `None` if that is not known, so it
    /// equals no other.
    pub origin: Option<String>,
    /// The files that its origin names, absolute.
    pub files: Vec<String>,
    /// True if its text cannot end the quotes, by its form or because the settings say so.
    pub is_harmless: bool,
}

/// Something that starts a program, or that decides what `init` installs, when Terragrunt runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Influence {
    /// What it is, as in "the hook \"copy\"".
    pub what: String,
    pub place: Location,
    /// What the base and a change are compared by: what is written, and what its arguments are.
    pub identity: String,
    /// The files and directories of the repository that it names, absolute: they decide what it does.
    pub files: Vec<String>,
}

impl Unread {
    pub(super) fn of(reason: Unevaluated, place: &Location) -> Self {
        let bare = |reason| Unevaluated::to_string(&reason);
        match reason {
            Unevaluated::Limit { what, place: at } => {
                Self { reason: bare(Unevaluated::limit(what)), place: at.unwrap_or_else(|| place.clone()) }
            }
            Unevaluated::Refused { reason, place: at } => Self { reason, place: at.unwrap_or_else(|| place.clone()) },
            reason @ Unevaluated::Unset(_) => Self { reason: bare(reason), place: place.clone() },
        }
    }
}

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

/// A value in a generated file that is unknown and decides nothing.
pub type Hole = Unread;

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

//! Why there is no value, and how much may be computed for one.

use std::cell::Cell;
use std::sync::Arc;

use super::Value;
use crate::finding::Location;

/// Why there is no value, as the end of a sentence with "because".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unevaluated {
    /// A variable of the root module without a value.
    #[error("it depends on var.{0}, which has no value")]
    Unset(String),
    /// Something that only the tool evaluates.
    #[error("it depends on {what}{at}", at = parenthesized(.place.as_ref()))]
    Limit {
        /// What it is.
        what: String,
        /// Where it is written.
        place: Option<Location>,
    },
    /// Something that the tool refuses.
    #[error("{reason}{at}", at = parenthesized(.place.as_ref()))]
    Refused {
        /// Why it does.
        reason: String,
        /// Where it is written.
        place: Option<Location>,
    },
}

fn parenthesized(place: Option<&Location>) -> String {
    place.map(|place| format!(" ({place})")).unwrap_or_default()
}

impl Unevaluated {
    /// Something that only the tool evaluates.
    pub fn limit(what: impl Into<String>) -> Self {
        Self::Limit { what: what.into(), place: None }
    }

    /// Something that the tool refuses.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into(), place: None }
    }

    /// The same with the place that it names moved.
    #[must_use]
    pub fn moved(mut self, moved: impl Fn(Location) -> Location) -> Self {
        if let Self::Limit { place, .. } | Self::Refused { place, .. } = &mut self {
            *place = place.take().map(moved);
        }
        self
    }

    /// The same, at a place, unless a deeper one is known.
    #[must_use]
    pub fn at(mut self, known: &Location) -> Self {
        if let Self::Limit { place, .. } | Self::Refused { place, .. } = &mut self {
            place.get_or_insert_with(|| known.clone());
        }
        self
    }
}

/// How much may still be computed for the values of one configuration: a unit is about a byte that is made or read.
///
/// Every operation whose result may be larger than its operands spends before it computes.
#[derive(Debug)]
pub struct Budget {
    left: Cell<u64>,
    most: u64,
}

impl Budget {
    /// What one configuration may need: some 64 MB of text, or a million elements.
    pub const UNITS: u64 = 64 << 20;
    /// What all root modules of a run may need together, as long as that leaves each one [`Self::LEAST`].
    const RUN: u64 = 4 * Self::UNITS;
    /// What each root module may need, however many there are: some twenty times of what a usual one takes.
    const LEAST: u64 = 1 << 20;
    /// What an element of a collection costs.
    pub const ELEMENT: u64 = 64;

    /// A budget of so many units.
    pub const fn new(units: u64) -> Self {
        Self { left: Cell::new(units), most: units }
    }

    /// The budget of one of so many root modules: a share, so that it does not matter which one is read first.
    pub fn of_root(roots: usize) -> Self {
        Self::new((Self::RUN / length(roots).max(1)).clamp(Self::LEAST, Self::UNITS))
    }

    /// How many units are left.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// Spends units.
    ///
    /// # Errors
    ///
    /// [`Unevaluated::Limit`] if there are not so many left.
    pub fn spend(&self, units: u64) -> Result<(), Unevaluated> {
        let left = self.left.get().checked_sub(units);
        self.left.set(left.unwrap_or(0));
        let limit = || Unevaluated::limit(format!("values that take more than {} MB to compute", self.most >> 20));
        left.map(|_| ()).ok_or_else(limit)
    }

    /// Spends what a text of so many bytes costs.
    ///
    /// # Errors
    ///
    /// [`Unevaluated::Limit`] if there is not so much left.
    pub fn spend_text(&self, bytes: usize) -> Result<(), Unevaluated> {
        self.spend(length(bytes))
    }

    /// Spends what so many elements of a collection cost.
    ///
    /// # Errors
    ///
    /// [`Unevaluated::Limit`] if there is not so much left.
    pub fn spend_elements(&self, count: usize) -> Result<(), Unevaluated> {
        self.spend(length(count).saturating_mul(Self::ELEMENT))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Self::UNITS)
    }
}

/// A length as units.
pub(super) fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl From<&Arc<Unevaluated>> for Value {
    fn from(reason: &Arc<Unevaluated>) -> Self {
        Self::Unknown(reason.clone())
    }
}

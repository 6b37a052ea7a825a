//! `diff`: what a change of a lock file means.

mod inputs;
#[cfg(feature = "online")]
mod known;
mod pairs;
#[cfg(feature = "online")]
mod run;

pub use super::diff_signers::Trust;
pub use inputs::{Asked, Comparison, compare};
pub use pairs::{Knowledge, Pair, Side, changes, is_alarming, is_refused, review};
#[cfg(feature = "online")]
pub use run::{Request, diff};

//! `diff`: explains a change of a lock file.

mod args;
mod inputs;
mod known;
mod pairs;
mod run;
mod signers;

pub(crate) use args::DiffArgs;
#[cfg(test)]
pub use pairs::{Knowledge, Pair, Side, review};
pub use run::diff;
#[cfg(test)]
pub use signers::Trust;

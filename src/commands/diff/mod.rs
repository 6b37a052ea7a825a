//! `diff`: explains a change of a lock file.

mod inputs;
mod known;
mod pairs;
mod run;

#[cfg(test)]
pub use super::diff_signers::Trust;
pub use inputs::DiffInputs;
#[cfg(test)]
pub use pairs::{Knowledge, Pair, Side, review};
pub use run::{Request, diff};

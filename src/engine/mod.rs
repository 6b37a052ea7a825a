//! The four stages of every command that may write a lock file: plan, gather, settle, commit.
//!
//! ```text
//! requirements + lock file + intent ──plan──► steps ──gather──► facts ──settle──► new lock file, findings ──commit──► disk
//! ```
//!
//! `plan` and `settle` are pure and hold all decisions. `gather` asks and downloads but decides nothing. `commit` is
//! last and alone: an error before it leaves the disk as it was.

pub mod commit;
pub mod complete;
pub mod criteria;
mod event;
pub mod facts;
pub mod held_back;
pub mod inquiry;
pub mod parallel;
pub mod plan;
pub mod rules;
pub mod same_version;
pub mod select;
pub mod settle;

#[cfg(feature = "online")]
pub mod gather;
#[cfg(feature = "online")]
pub mod run;

pub use event::{Event, Events, PackageKey};

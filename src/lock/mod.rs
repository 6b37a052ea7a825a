//! What a command that may write a lock file decides: what has to be asked, and what is written by the answers.
//!
//! ```text
//! requirements + lock file + intent ──plan──► questions ──ask──► answers ──settle──► new lock file, findings ──commit──► disk
//! ```
//!
//! `plan` and `settle` are pure and hold all decisions. `commit` is last and alone: an error before it leaves the disk as
//! it was.

pub mod commit;
pub mod complete;
pub mod held_back;
pub mod plan;
pub mod settle;

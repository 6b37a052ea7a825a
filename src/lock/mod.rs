//! Decides what a command writes into a lock file: which queries to send, and what to write by the answers. `plan`
//! makes queries from requirements, lock file and intent; `settle` turns the answers into a new lock file and findings.
//! Both are pure and make all decisions. `commit` comes last and writes: an error before it leaves the disk unchanged.

pub mod commit;
pub mod complete;
pub mod held_back;
pub mod plan;
pub mod settle;

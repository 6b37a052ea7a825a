//! The program `tflock`: everything around the values and judgments of `tflock-core`.
//!
//! ```text
//! cli ──► commands ──► lock ──► query ► source · modules ─► net   shell, questions and answers, network
//!  │          │                 │              │
//!  └► report  └─► workspace ────┴──► disk · git ◄──┘               root modules, blocking files, the git program
//! ────────────────────────────────────────────────────────────────────────────────────────────────────────────
//! tflock-core                                                      values, documents, judgments
//! ```
//!
//! Arrows are what a folder may use: downwards or to the right, never back. Nothing here is an interface for other programs.

#[macro_use]
extern crate tflock_core;

pub mod cli;
mod commands;
mod disk;
mod git;
mod interrupt;
mod lock;
mod modules;
mod net;
mod outcome;
mod parallel;
mod path;
mod query;
mod report;
mod source;
mod topics;
mod workspace;

use tflock_core::{
    addr, advisory, config, dialect, diff, documents, error, evaluate, finding, goinfo, hash, hcl, lockfile, merge,
    modulelock, platform, provenance, redact, release, requirements, settings, step, terragrunt, trust, value, verify,
    version, witness, words,
};

#[cfg(test)]
#[path = "core/vectors.rs"]
mod vectors;

/// What fuzz targets, benchmarks and tests against real servers call. Not an interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::disk::cache::exchange::IndexLine;
    pub use crate::disk::cache::{IndexEntry, IndexOrigin};
    pub use crate::disk::cli_config::CliConfig;
    pub use crate::disk::roots::{TreeOptions, load_tree};
    pub use crate::git::read_answers as read_git_answers;
    pub use crate::modules::read_package;
    pub use crate::net::{Client, ClientOptions, Credentials};
    pub use crate::report::Format;
    pub use crate::source::{IndexStores, Published, read_answers as read_registry_answers};
}

//! `tflock`: the dependency lock file of OpenTofu and Terraform.
//!
//! ```text
//! cli ──► commands ──► lock ──► ask ──► source · modules ──► net   shell, questions and answers, network
//!  │          │                 │              │
//!  └► report  ├─► workspace ────┴──► disk ◄────┘                  root modules, blocking files
//!       ▼     ▼                  ▼
//!       │   release             git                                releases, the git program
//!       ▼     ▼                  ▼
//! finding · evidence · merge · modulelock · outcome · trust · verify · diff      judgments, pure
//!       ▼
//! lockfile · requirements · config · settings · hcl · hash · version · platform · addr · dialect      values, pure
//! ```
//!
//! Arrows are what a folder may use: downwards or to the right, never back. Without the feature `online` there is
//! neither a runtime nor a TLS client in the library.

pub mod addr;
pub mod config;
pub mod dialect;
pub mod hash;
pub mod hcl;
pub mod lockfile;
mod parallel;
pub mod platform;
mod redact;
pub mod requirements;
pub mod settings;
pub mod version;

pub mod diff;
pub mod error;
pub mod evidence;
pub mod exit_code;
pub mod finding;
pub mod merge;
pub mod modulelock;
pub mod outcome;
pub mod trust;
pub mod verify;

pub mod disk;
pub mod git;

#[cfg(feature = "online")]
pub mod modules;
#[cfg(feature = "online")]
pub mod net;
#[cfg(feature = "online")]
pub mod source;

pub mod release;

pub mod topics;

pub mod ask;
pub mod lock;

pub mod workspace;

pub mod commands;
pub mod report;

#[cfg(feature = "online")]
pub mod cli;

#[cfg(test)]
mod vectors;

//! Commands: one a file, from settings to an outcome.
//!
//! A command prints nothing and knows no command line.

pub mod below;
pub mod compare;
pub mod diff;
pub mod diff_known;
mod diff_signers;
#[cfg(feature = "online")]
pub mod earlier;
pub mod explain;
pub mod fmt;
pub mod git;
pub mod hash;
pub mod list;
#[cfg(feature = "online")]
pub mod lock;
mod lock_options;
pub mod memory;
#[cfg(feature = "online")]
pub mod migrate;
#[cfg(feature = "online")]
pub mod outdated;
#[cfg(feature = "online")]
pub mod requirement;
pub mod resolve;
pub mod rotation;
mod run_settings;
pub mod trust;
pub mod verify;
#[cfg(feature = "online")]
pub mod verify_online;
pub mod why;

pub use lock_options::LockOptions;
pub use run_settings::RunSettings;

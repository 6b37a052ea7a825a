//! Commands: one a file, from settings to an outcome.
//!
//! A command prints nothing and knows no command line.

pub mod hash;
mod lock_options;
mod run_settings;

pub use lock_options::LockOptions;
pub use run_settings::RunSettings;

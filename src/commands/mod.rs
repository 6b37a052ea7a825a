//! Commands: one a file, from settings to an outcome.
//!
//! A command prints nothing and knows no command line.

pub mod hash;
mod lock_options;

pub use lock_options::{H1Rule, LockOptions};

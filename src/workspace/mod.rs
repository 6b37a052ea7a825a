//! Root modules: their paths, and the combination of flags, environment and settings files for each.

mod clues;
pub mod discover;
mod environment;
mod exclusions;
mod names;
mod readings;
mod restore;
mod root_module;
mod root_settings;
mod scope;
mod settings;

pub use environment::Environment;
pub use exclusions::Exclusions;
pub use names::{Named, Names, directory};
pub use readings::Readings;
pub use restore::{git_in, refused};
pub use root_module::{LockedRoot, Reading, RootModule, absent};
pub use root_settings::{RootSource, RunSettings, TrustPlace};
pub use scope::{Scope, ToolChoice};
pub use settings::{dialect_of_text, existing_directory, named_roots, one_dialect, root_settings, with_base_settings};

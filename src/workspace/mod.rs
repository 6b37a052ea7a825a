//! Root modules: their paths, and the combination of flags, environment and settings files for each.

pub mod discover;
mod names;
mod root_module;
mod root_settings;
mod settings;

pub use discover::Exclusions;
pub use names::{NamedProviders, Names, directory};
pub use root_module::{LockedRoot, Reading, Readings, RootModule, absent, git_in, refused};
pub use root_settings::{RootSource, RunSettings, TrustPlace};
pub use settings::{Environment, Scope, ToolSelection};
pub use settings::{dialect_of_text, existing_directory, named_roots, one_dialect, root_settings, with_base_settings};

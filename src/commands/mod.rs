//! Commands: each is a function from arguments and services to an outcome. A command prints nothing; the doc comments
//! of its arguments are its help. Shared parts are next to the commands: the root modules of a run ([`targets`]), the
//! sources, the trust files.

pub mod add;
pub mod audit;
mod available_versions;
pub mod cache;
pub mod diff;
pub mod explain;
pub mod fmt;
pub mod get;
pub mod git;
pub mod git_history;
pub mod hash;
pub mod install;
mod key_names;
mod known_providers;
pub mod list;
mod local_places;
pub mod lock;
pub mod locking;
pub mod merge;
pub mod migrate;
pub mod mirror;
mod modules;
mod online;
pub(crate) mod options;
#[cfg(test)]
mod options_tests;
pub mod outdated;
mod publish;
pub mod remove;
pub mod resolve;
mod roots;
pub mod sbom;
mod services;
pub mod setup;
mod sources;
pub mod status;
mod suggest_provider;
pub mod targets;
pub mod trust;
pub mod trust_store;
pub mod upgrade;
pub mod verify;
pub mod why;
mod witnesses;

pub use crate::workspace::RunSettings;
pub use known_providers::{Offered, offered};
pub use locking::LockOptions;
pub use modules::module_fetch;
pub use online::Online;
pub use services::Services;
pub use suggest_provider::with_near_names;

//! Commands: each a function from its request and the services to an outcome.
//!
//! A command prints nothing and knows no command line. Beside the commands stands what several of them need: the root
//! modules of a run ([`targets`]), which sources to ask, the trust files.

#[cfg(feature = "online")]
pub mod add;
#[cfg(feature = "online")]
mod available_versions;
pub mod cache;
pub mod diff;
mod diff_signers;
#[cfg(feature = "online")]
pub mod edit_requirements;
pub mod explain;
pub mod fmt;
#[cfg(feature = "online")]
pub mod get;
pub mod git;
#[cfg(feature = "online")]
pub mod git_history;
pub mod hash;
mod key_names;
#[cfg(feature = "online")]
mod known_providers;
pub mod list;
#[cfg(feature = "online")]
pub mod lock;
mod lock_options;
#[cfg(feature = "online")]
pub mod locking;
pub mod merge;
#[cfg(feature = "online")]
pub mod migrate;
#[cfg(feature = "online")]
pub mod mirror;
#[cfg(feature = "online")]
mod modules;
#[cfg(feature = "online")]
mod online;
#[cfg(feature = "online")]
pub mod outdated;
#[cfg(feature = "online")]
mod outdated_modules;
#[cfg(feature = "online")]
mod publish;
#[cfg(feature = "online")]
pub mod remove;
pub mod resolve;
pub mod rotation;
mod services;
#[cfg(feature = "online")]
mod sources;
#[cfg(feature = "online")]
mod suggest_provider;
pub mod targets;
pub mod trust;
pub mod trust_store;
#[cfg(feature = "online")]
pub mod upgrade;
pub mod verify;
#[cfg(feature = "online")]
pub mod verify_online;
pub mod why;
mod witnesses;

pub use crate::workspace::RunSettings;
#[cfg(feature = "online")]
pub use known_providers::{Offered, offered};
pub use lock_options::LockOptions;
#[cfg(feature = "online")]
pub use modules::module_fetch;
#[cfg(feature = "online")]
pub use online::Online;
pub use services::Services;
#[cfg(feature = "online")]
pub use suggest_provider::with_near_names;

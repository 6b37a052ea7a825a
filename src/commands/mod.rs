//! Commands: each is a function from arguments and services to an outcome. A command prints nothing; the doc comments
//! of its arguments are its help. What several commands share is in [`shared`].

pub mod audit;
pub mod diff;
pub mod explain;
pub mod fmt;
pub mod get;
pub mod hashes;
pub mod install;
pub mod list;
pub mod lock;
pub mod merge;
pub mod migrate;
pub mod mirror;
pub mod outdated;
pub mod requirements;
pub mod sbom;
pub mod setup;
pub(crate) mod shared;
pub mod status;
pub mod trust;
pub mod upgrade;
pub mod verify;

pub use shared::services::{Online, Services};

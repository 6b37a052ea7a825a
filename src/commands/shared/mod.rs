//! What commands share, and is none itself: the root modules of a run ([`targets`]), sources and services, options, the
//! trust file, known providers, and other records of a release.

pub mod earlier;
pub(crate) mod options;
#[cfg(test)]
mod options_tests;
pub mod providers;
pub(crate) mod rules;
pub mod services;
pub mod sharing;
pub mod sources;
pub mod targets;
pub mod tree_notes;
pub mod trust_store;

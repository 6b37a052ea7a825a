//! From a question about a release to its answer.
//!
//! A [`question`] says what is wanted of one provider; [`select`] and [`criteria`] choose one of the offered versions,
//! as values; `run` sends requests to the sources, each once for all root modules, and decides nothing.

pub mod answer;
pub mod cached;
pub mod criteria;
mod event;
pub mod question;
pub mod rules;
pub mod same_version;
pub mod select;

pub mod engine;
pub mod run;

pub use event::{Event, Events, PackageKey};

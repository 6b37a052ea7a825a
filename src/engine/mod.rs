//! The engine: from an intent to a written lock file, in four stages.

mod event;

pub use event::{Event, Events, PackageKey};

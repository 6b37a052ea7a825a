//! From a question about a release to its answer.
//!
//! A [`question`] says what is wanted of one provider; [`select`] chooses one of the offered versions,
//! as values; a [`Session`] sends requests to the sources, each once for all root modules, and decides nothing. What progress
//! may show are plain [`Events`], whose sender knows nothing of bars, terminals or languages.

pub mod cached;
pub mod engine;
mod events;
pub mod question;
pub mod select;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::disk::cache::exchange::IndexLine;
use crate::error::Error;
use crate::net::Background;
use crate::settings::IndexPlace;
use crate::source::{IndexStores, Published};
use engine::{GatherOptions, SourceSet};
use question::Query;

pub use events::{Event, Events, PackageKey};

/// The sources of some root modules, with their answers so far; nothing is requested twice.
#[derive(Debug, Clone)]
pub struct Session {
    background: Arc<Background>,
    sources: Arc<SourceSet>,
}

impl Session {
    pub fn open(background: Arc<Background>, options: GatherOptions) -> Self {
        Self { background, sources: Arc::new(SourceSet::new(options)) }
    }

    /// The answers to some queries; each request is sent once for all of them.
    pub fn block_on<T>(&self, questions: impl AsyncFnOnce(Arc<SourceSet>) -> T) -> Result<T, Error> {
        self.background.run(questions(Arc::clone(&self.sources)))
    }

    /// Begins the requests of some queries, and does not wait for them.
    pub fn prefetch(&self, queries: BTreeMap<ProviderAddr, Query>) {
        let sources = Arc::clone(&self.sources);
        // A later query reports the error.
        self.background.begin(async move { sources.prefetch(queries).await }, |_| {});
    }
}

pub fn publish(
    background: &Background,
    stores: IndexStores,
    place: IndexPlace,
    lines: Vec<IndexLine>,
) -> Result<Published, Error> {
    background.run(Arc::new(stores).publish(place, lines))?
}

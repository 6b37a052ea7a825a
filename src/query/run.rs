//! Sends requests for commands, which know no runtime.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::engine::{GatherOptions, Sources};
use super::question::Query;
use crate::addr::ProviderAddr;
use crate::disk::cache::exchange::IndexLine;
use crate::error::Error;
use crate::net::Background;
use crate::settings::IndexPlace;
use crate::source::{IndexStores, Published};

/// The sources of some root modules, with their answers so far; nothing is requested twice.
#[derive(Debug, Clone)]
pub struct Session {
    background: Arc<Background>,
    sources: Arc<Sources>,
}

impl Session {
    pub fn open(background: Arc<Background>, options: GatherOptions) -> Self {
        Self { background, sources: Arc::new(Sources::new(options)) }
    }

    /// The answers to some queries; each request is sent once for all of them.
    pub fn block_on<T>(&self, questions: impl AsyncFnOnce(Arc<Sources>) -> T) -> Result<T, Error> {
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

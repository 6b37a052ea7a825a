//! Asks sources for commands, which know no runtime.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::engine::{GatherOptions, Sources};
use super::question::Query;
use crate::addr::ProviderAddr;
use crate::disk::cache::IndexEntry;
use crate::error::Error;
use crate::net::Background;
use crate::settings::IndexPlace;
use crate::source::{IndexStores, Published};

/// The sources of some root modules, with what they were asked already; none of it is asked again.
#[derive(Debug, Clone)]
pub struct Session {
    background: Arc<Background>,
    sources: Arc<Sources>,
}

impl Session {
    pub fn open(background: Arc<Background>, options: GatherOptions) -> Self {
        Self { background, sources: Arc::new(Sources::new(options)) }
    }

    /// What some questions come to; each of them is put once for all who ask it.
    pub fn ask<T>(&self, questions: impl AsyncFnOnce(Arc<Sources>) -> T) -> Result<T, Error> {
        self.background.run(questions(Arc::clone(&self.sources)))
    }

    /// Begins to ask what some queries will want to know, and does not wait for it.
    pub fn prefetch(&self, queries: BTreeMap<ProviderAddr, Query>) {
        let sources = Arc::clone(&self.sources);
        // Whoever asks for it later is told what is wrong.
        self.background.begin(async move { sources.prefetch(queries).await }, |_| {});
    }
}

pub fn publish(
    background: &Background,
    stores: IndexStores,
    place: IndexPlace,
    entries: Vec<IndexEntry>,
) -> Result<Published, Error> {
    background.run(Arc::new(stores).publish(place, entries))?
}

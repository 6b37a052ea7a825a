//! Indexes of known hashes that several machines share: directories, web servers, cloud stores.
//!
//! ```text
//! BASE/v1/ab/abcdef…            one line `ZH H1 SIZE` about the archive whose digest is the name of the file
//! BASE/v2/programs/ab/abcdef…   one line `H1 PLATFORM JSON` about the programs of the package whose digest is that
//! ```
//!
//! An entry is a function of its name and never changes, so readers need no lock, and a writer of one that
//! exists already is done. Of an entry only the line about the digest in its name is used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::index_store::IndexStores;
use crate::disk::cache::exchange::IndexKey;
use crate::net::{Client, Credentials, Shared};
use crate::settings::{Index, IndexPlace};

/// The time for one answer. A run that waits longer would be better off without the index.
const PATIENCE: Duration = Duration::from_secs(1);

/// Looks up archives and programs in the indexes of a run, each once in each index.
#[derive(Debug)]
pub struct SharedIndexes {
    stores: IndexStores,
    answers: Shared<(IndexPlace, IndexKey), Option<Arc<[u8]>>>,
    /// Whether an index gets no further requests.
    lines: Mutex<HashMap<IndexPlace, watch::Sender<bool>>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexAnswer {
    /// The line about the key.
    pub line: Option<Arc<[u8]>>,
    /// What users should know; said once of an index.
    pub note: Option<String>,
}

impl SharedIndexes {
    /// Indexes that are requested with the options and the budget of a client, and the user's tokens.
    pub fn new(client: &Client, credentials: Arc<Credentials>) -> Self {
        let stores = IndexStores::new(client, credentials, PATIENCE);
        Self { stores, answers: Shared::new(), lines: Mutex::default() }
    }

    /// What an index has about a key. One that does not answer in time gets no further requests, and waiting callers go on.
    pub async fn look_up(&self, index: &Index, key: IndexKey) -> IndexAnswer {
        let mut note = None;
        let request = async {
            let sender = self.sender(&index.place);
            let mut dead = sender.subscribe();
            let failure = tokio::select! {
                biased;
                // The sender lives as long as this run.
                _ = dead.wait_for(|dead| *dead) => return None,
                answer = self.stores.read(&index.place, &key) => match answer {
                    Ok(line) => return line.map(Arc::from),
                    Err(failure) => failure.message,
                },
            };
            if !sender.send_replace(true) {
                note = Some(format!("skipping the index {:?} for the rest of this run: {failure}", index.name));
            }
            None
        };
        let line = self.answers.answer((index.place.clone(), key), request).await;
        IndexAnswer { line, note }
    }

    fn sender(&self, place: &IndexPlace) -> watch::Sender<bool> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.entry(place.clone()).or_insert_with(|| watch::Sender::new(false)).clone()
    }
}

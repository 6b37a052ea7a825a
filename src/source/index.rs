//! Indexes of known hashes that several machines share: a directory, or a web server.
//!
//! ```text
//! BASE/v1/ab/abcdef…        one line `ZH H1 SIZE` about the archive whose digest is the name of the file
//! ```
//!
//! An entry is a function of its name and never changes, so that whoever reads needs no lock, and whoever writes one that
//! is there already is done. Nothing is believed of an entry but what its line says of the digest it is named by.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use url::Url;

use crate::addr::Hostname;
use crate::disk::cache::{IndexEntry, exchange};
use crate::disk::index_directory;
use crate::hash::Sha256Digest;
use crate::net::{Ask, Client, ClientOptions, Credentials, Kind, Shared};
use crate::settings::{Index, IndexPlace, Secret};

/// The time for one answer. A run that waits longer would be better off without the index.
const PATIENCE: Duration = Duration::from_secs(1);

/// What asks the indexes of a run, each about each archive once.
#[derive(Debug)]
pub struct SharedIndexes {
    client: OnceLock<Client>,
    options: ClientOptions,
    credentials: Arc<Credentials>,
    answers: Shared<(IndexPlace, Sha256Digest), Option<IndexEntry>>,
    /// Whether an index is not asked any more.
    lines: Mutex<HashMap<IndexPlace, watch::Sender<bool>>>,
}

/// What an index answered about one archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexAnswer {
    /// The entry, if there is one.
    pub entry: Option<IndexEntry>,
    /// What people should know; said once of an index.
    pub note: Option<String>,
}

impl SharedIndexes {
    /// Indexes that are asked with the options of a client, and the user's tokens.
    pub fn new(options: &ClientOptions, credentials: Arc<Credentials>) -> Self {
        let options = ClientOptions { timeout: PATIENCE, connect_timeout: PATIENCE, retries: 0, ..options.clone() };
        let (answers, lines) = (Shared::new(), Mutex::default());
        Self { client: OnceLock::new(), options, credentials, answers, lines }
    }

    /// What an index says of an archive. One that does not answer in time is not asked again, and who waits for it goes on.
    pub async fn entry(&self, index: &Index, zh: Sha256Digest) -> IndexAnswer {
        let mut note = None;
        let ask = async {
            let line = self.line(&index.place);
            let mut dead = line.subscribe();
            let failure = tokio::select! {
                biased;
                // The sender lives as long as this run.
                _ = dead.wait_for(|dead| *dead) => return None,
                answer = self.fetch(&index.place, &zh) => match answer {
                    Ok(entry) => return entry,
                    Err(failure) => failure,
                },
            };
            if !line.send_replace(true) {
                note = Some(format!("the index {:?} is not asked any more: {failure}", index.name));
            }
            None
        };
        let entry = self.answers.answer((index.place.clone(), zh), ask).await;
        IndexAnswer { entry, note }
    }

    fn line(&self, place: &IndexPlace) -> watch::Sender<bool> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.entry(place.clone()).or_insert_with(|| watch::Sender::new(false)).clone()
    }

    async fn fetch(&self, place: &IndexPlace, zh: &Sha256Digest) -> Result<Option<IndexEntry>, String> {
        let text = match place {
            IndexPlace::Directory(base) => {
                let (base, path) = (base.clone(), base.join(index_directory::entry_of(zh)));
                let read = tokio::task::spawn_blocking(move || index_directory::read(&base, &path));
                let read = tokio::time::timeout(PATIENCE, read).await.map_err(|_| "no answer in time".to_owned())?;
                read.map_err(|problem| problem.to_string())??
            }
            IndexPlace::Https(base) => self.download(base, zh).await?,
        };
        let Some(text) = text else { return Ok(None) };
        let entry = exchange::decode_line(text.strip_suffix(b"\n").unwrap_or(&text)).filter(|entry| entry.zh == *zh);
        entry.map(Some).ok_or_else(|| format!("what it has about zh:{zh} is no entry about it"))
    }

    async fn download(&self, base: &Url, zh: &Sha256Digest) -> Result<Option<Vec<u8>>, String> {
        let url = base.join(&index_directory::entry_of(zh)).map_err(|problem| problem.to_string())?;
        let client = self.client.get_or_init(|| Client::new(self.options.clone()));
        let token = tokio::time::timeout(PATIENCE, self.token(base)).await.unwrap_or_default();
        match client.document(&Ask::new(url, Kind::IndexEntry).token(token)).await {
            Ok(document) => Ok(Some(document.body)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The user's token for the host of an index, if there is one.
    async fn token(&self, base: &Url) -> Option<Secret> {
        let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = Hostname::parse_any_spelling(&format!("{}{port}", base.host_str()?)).ok()?;
        self.credentials.token(&host).await.ok().flatten()
    }
}

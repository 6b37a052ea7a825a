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
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

#[cfg(feature = "cloud")]
use super::index_cloud::Clouds;
use crate::addr::Hostname;
use crate::disk::cache::exchange::{self, IndexKey, IndexLine};
use crate::error::{Error, ErrorKind};
use crate::net::{Client, Credentials, DocumentKind, DocumentRequest, Shared};
use crate::parallel::locked;
use crate::path::shown;
use crate::settings::{Index, IndexPlace, Secret};

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
        let mut lines = locked(&self.lines);
        lines.entry(place.clone()).or_insert_with(|| watch::Sender::new(false)).clone()
    }
}

/// Entries that are written at once.
const ABREAST: usize = 16;

#[derive(Debug)]
pub struct IndexStores {
    credentials: Arc<Credentials>,
    client: Client,
    #[cfg(feature = "cloud")]
    clouds: Clouds,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Published {
    /// How many are new in it.
    pub news: usize,
    pub known: usize,
    /// What it says where that is not what was to be written, which it is left with.
    pub differing: Vec<IndexLine>,
}

impl IndexStores {
    /// Stores that are requested with the options and the budget of a client and the user's tokens, with a time limit for
    /// each entry.
    pub fn new(client: &Client, credentials: Arc<Credentials>, patience: Duration) -> Self {
        Self {
            credentials,
            client: client.impatient(patience),
            #[cfg(feature = "cloud")]
            clouds: Clouds::default(),
        }
    }

    /// The line about a key, if there is one.
    pub async fn read(&self, place: &IndexPlace, key: &IndexKey) -> Result<Option<Vec<u8>>, Error> {
        let text = match place {
            IndexPlace::Directory(base) => {
                let (base, key) = (base.clone(), *key);
                let read = tokio::task::spawn_blocking(move || exchange::read_entry(&base, &key));
                self.in_time(async {
                    read.await.map_err(stopped)?.map_err(|problem| Error::new(ErrorKind::Disk, problem))
                })
                .await?
            }
            IndexPlace::Https(base) => self.download(base, key).await?,
            #[cfg(feature = "cloud")]
            IndexPlace::Cloud(url) => self.in_time(self.clouds.read(&self.client, url, key)).await?,
            #[cfg(not(feature = "cloud"))]
            IndexPlace::Cloud(url) => return Err(without_clouds(url)),
        };
        let Some(mut text) = text else { return Ok(None) };
        text.truncate(text.strip_suffix(b"\n").unwrap_or(&text).len());
        if !key.is_described_by(&text) {
            let message = format!("what it has about {key} is not an entry about it");
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        Ok(Some(text))
    }

    /// Writes a line whole, or not at all, where there was none.
    pub async fn write(&self, place: &IndexPlace, IndexLine { key, text }: IndexLine) -> Result<(), Error> {
        match place {
            IndexPlace::Directory(base) => {
                let path = base.join(key.name());
                let entry = path.clone();
                let writing = tokio::task::spawn_blocking(move || exchange::write_entry(&path, &text));
                let failed = |problem| {
                    let message = format!("cannot write {}: {problem}", shown(&entry));
                    Error::new(ErrorKind::Disk, message).in_file(&entry)
                };
                self.in_time(async { writing.await.map_err(stopped)?.map_err(failed) }).await?;
                Ok(())
            }
            IndexPlace::Https(base) => self.upload(base, &key, text).await,
            #[cfg(feature = "cloud")]
            IndexPlace::Cloud(url) => self.in_time(self.clouds.write(&self.client, url, &key, text)).await,
            #[cfg(not(feature = "cloud"))]
            IndexPlace::Cloud(url) => Err(without_clouds(url)),
        }
    }

    /// Writes the lines that are not there. What is there stays, right or wrong.
    pub async fn publish(self: Arc<Self>, place: IndexPlace, lines: Vec<IndexLine>) -> Result<Published, Error> {
        let (mut published, mut tasks) = (Published::default(), JoinSet::new());
        let mut lines = lines.into_iter();
        loop {
            for line in lines.by_ref().take(ABREAST - tasks.len()) {
                let (stores, place) = (Arc::clone(&self), place.clone());
                tasks.spawn(async move {
                    let key = line.key;
                    let Some(there) = stores.read(&place, &key).await? else {
                        stores.write(&place, line).await?;
                        return Ok::<_, Error>(None);
                    };
                    let differing = (there != line.text.as_bytes()).then(|| {
                        let text = String::from_utf8_lossy(&there).into_owned();
                        IndexLine { key, text }
                    });
                    Ok(Some(differing))
                });
            }
            match tasks.join_next().await {
                None => return Ok(published),
                Some(done) => match done.map_err(stopped)?? {
                    None => published.news += 1,
                    Some(None) => published.known += 1,
                    Some(Some(differing)) => published.differing.push(differing),
                },
            }
        }
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let late = || Err(Error::new(ErrorKind::Unavailable, "no answer in time"));
        tokio::time::timeout(self.client.options().timeout, work).await.unwrap_or_else(|_| late())
    }

    async fn download(&self, base: &Url, key: &IndexKey) -> Result<Option<Vec<u8>>, Error> {
        let kind = match key {
            IndexKey::Archive(_) => DocumentKind::IndexEntry,
            IndexKey::Program(_) => DocumentKind::IndexProgram,
        };
        let request = DocumentRequest::new(url_of(base, key)?, kind).token(self.token(base).await);
        match self.client.document(&request).await {
            Ok(document) => Ok(Some(document.body)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn upload(&self, base: &Url, key: &IndexKey, line: String) -> Result<(), Error> {
        // Who knows this header writes nothing over an entry that came meanwhile.
        let request = DocumentRequest::new(url_of(base, key)?, DocumentKind::Metadata).header("if-none-match", "*");
        match self.client.document(&request.token(self.token(base).await).putting(line)).await {
            Ok(_) => Ok(()),
            Err(error) if error.status() == Some(412) => Ok(()),
            Err(error) if matches!(error.status(), Some(404 | 405 | 409)) => {
                Err(Error::from(error).hint("the server must accept PUT there, and make the directories that it lacks"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The user's token for the host of an index, if there is one.
    async fn token(&self, base: &Url) -> Option<Secret> {
        let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = Hostname::parse_any_spelling(&format!("{}{port}", base.host_str()?)).ok()?;
        // A helper may take its time.
        tokio::time::timeout(self.client.options().timeout, self.credentials.token(&host)).await.ok()?.ok().flatten()
    }
}

fn url_of(base: &Url, key: &IndexKey) -> Result<Url, Error> {
    base.join(&key.name()).map_err(|problem| Error::new(ErrorKind::Settings, problem.to_string()))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn stopped(problem: tokio::task::JoinError) -> Error {
    Error::new(ErrorKind::Interrupted, format!("the lookup in an index stopped: {problem}"))
}

#[cfg(not(feature = "cloud"))]
fn without_clouds(url: &Url) -> Error {
    let problem = crate::settings::IndexPlaceError::Cloud(url.scheme().to_owned());
    Error::new(ErrorKind::Settings, problem.to_string())
}

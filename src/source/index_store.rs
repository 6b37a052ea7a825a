//! Where the entries of shared indexes are read and written.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use url::Url;

#[cfg(feature = "cloud")]
use super::index_cloud::Clouds;
use crate::addr::Hostname;
use crate::disk::cache::{IndexEntry, exchange};
use crate::disk::index_directory::{self, entry_of};
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::{Ask, Client, Credentials, Kind};
use crate::path::shown;
use crate::settings::{IndexPlace, Secret};

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
    pub differing: Vec<IndexEntry>,
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

    pub async fn read(&self, place: &IndexPlace, zh: &Sha256Digest) -> Result<Option<IndexEntry>, Error> {
        let text = match place {
            IndexPlace::Directory(base) => {
                let (base, path) = (base.clone(), base.join(entry_of(zh)));
                let read = tokio::task::spawn_blocking(move || index_directory::read(&base, &path));
                self.in_time(async {
                    read.await.map_err(stopped)?.map_err(|problem| Error::new(ErrorKind::Disk, problem))
                })
                .await?
            }
            IndexPlace::Https(base) => self.download(base, zh).await?,
            #[cfg(feature = "cloud")]
            IndexPlace::Cloud(url) => self.in_time(self.clouds.read(&self.client, url, zh)).await?,
            #[cfg(not(feature = "cloud"))]
            IndexPlace::Cloud(url) => return Err(without_clouds(url)),
        };
        let Some(text) = text else { return Ok(None) };
        let entry = exchange::decode_line(text.strip_suffix(b"\n").unwrap_or(&text)).filter(|entry| entry.zh == *zh);
        let message = || format!("what it has about zh:{zh} is not an entry about it");
        entry.map(Some).ok_or_else(|| Error::new(ErrorKind::Unavailable, message()))
    }

    /// Writes an entry whole, or not at all, where there was none.
    pub async fn write(&self, place: &IndexPlace, entry: &IndexEntry) -> Result<(), Error> {
        let line = exchange::encode_line(entry);
        match place {
            IndexPlace::Directory(base) => {
                let path = base.join(entry_of(&entry.zh));
                let entry = path.clone();
                let writing = tokio::task::spawn_blocking(move || index_directory::write(&path, &line));
                let failed = |problem| {
                    let message = format!("cannot write {}: {problem}", shown(&entry));
                    Error::new(ErrorKind::Disk, message).in_file(&entry)
                };
                self.in_time(async { writing.await.map_err(stopped)?.map_err(failed) }).await?;
                Ok(())
            }
            IndexPlace::Https(base) => self.upload(base, &entry.zh, line).await,
            #[cfg(feature = "cloud")]
            IndexPlace::Cloud(url) => self.in_time(self.clouds.write(&self.client, url, (&entry.zh, line))).await,
            #[cfg(not(feature = "cloud"))]
            IndexPlace::Cloud(url) => Err(without_clouds(url)),
        }
    }

    /// Writes the entries that are not there. What is there stays, right or wrong.
    pub async fn publish(self: Arc<Self>, place: IndexPlace, entries: Vec<IndexEntry>) -> Result<Published, Error> {
        let (mut published, mut tasks) = (Published::default(), JoinSet::new());
        let mut entries = entries.into_iter();
        loop {
            for entry in entries.by_ref().take(ABREAST - tasks.len()) {
                let (stores, place) = (Arc::clone(&self), place.clone());
                tasks.spawn(async move {
                    let there = stores.read(&place, &entry.zh).await?;
                    if there.is_none() {
                        stores.write(&place, &entry).await?;
                    }
                    let differs = |there: &IndexEntry| there.h1 != entry.h1 || there.size != entry.size;
                    Ok::<_, Error>(there.map(|there| Some(there).filter(differs)))
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

    async fn download(&self, base: &Url, zh: &Sha256Digest) -> Result<Option<Vec<u8>>, Error> {
        let ask = Ask::new(url_of(base, zh)?, Kind::IndexEntry).token(self.token(base).await);
        match self.client.document(&ask).await {
            Ok(document) => Ok(Some(document.body)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn upload(&self, base: &Url, zh: &Sha256Digest, line: String) -> Result<(), Error> {
        // Who knows this header writes nothing over an entry that came meanwhile.
        let ask = Ask::new(url_of(base, zh)?, Kind::Metadata).header("if-none-match", "*");
        match self.client.document(&ask.token(self.token(base).await).putting(line)).await {
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

fn url_of(base: &Url, zh: &Sha256Digest) -> Result<Url, Error> {
    base.join(&entry_of(zh)).map_err(|problem| Error::new(ErrorKind::Settings, problem.to_string()))
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

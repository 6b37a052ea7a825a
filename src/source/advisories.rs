//! Databases of advisories in the layout of <https://vuln.go.dev>: downloaded, or read from disk.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::task::JoinSet;
use url::Url;

use crate::advisory::{Advisory, AdvisoryIndex, BadDocument, ListedAdvisory, modified};
use crate::disk::advisories;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::net::{Client, DocumentKind, DocumentRequest};
use crate::path::shown;
use crate::settings::Date;

/// The database of the Go project.
pub const DEFAULT: &str = "https://vuln.go.dev";

/// A database that did not change for so long is not kept any more: advisories come every week.
const STALE: Duration = Duration::from_secs(180 * 86400);

const DATE: &str = "index/db.json";
const INDEX: &str = "index/modules.json";

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabasePlace {
    Url(Url),
    Directory(PathBuf),
    Archive(PathBuf),
}

impl FromStr for DatabasePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains("://") {
            let url = Url::parse(text).map_err(|problem| problem.to_string())?;
            let is_local =
                url.scheme() == "http" && matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
            return if url.scheme() == "https" || is_local {
                Ok(Self::Url(url))
            } else {
                Err("expected https".to_owned())
            };
        }
        let path = PathBuf::from(text);
        let is_archive = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
        Ok(if is_archive { Self::Archive(path) } else { Self::Directory(path) })
    }
}

impl fmt::Display for DatabasePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url.as_str().trim_end_matches('/')),
            Self::Directory(path) | Self::Archive(path) => shown(path).fmt(f),
        }
    }
}

/// A database whose index was read.
pub struct IndexedDatabase {
    place: DatabasePlace,
    /// When it was last changed.
    pub modified: String,
    /// Why it may lack advisories.
    pub problem: Option<Error>,
    index: AdvisoryIndex,
    /// Its date and index, as they were read.
    read: [Vec<u8>; 2],
    documents: Documents,
}

/// Where the other documents are.
#[derive(Clone)]
enum Documents {
    Directory(PathBuf),
    Archive(Arc<HashMap<String, Vec<u8>>>),
    /// Without a client only what earlier runs got.
    Server(Option<Client>, Arc<Cache>, Url),
}

impl IndexedDatabase {
    /// Reads the index of a database. Without a client no request is sent.
    pub async fn open(
        place: &DatabasePlace,
        client: Option<Client>,
        cache: &Arc<Cache>,
        now: SystemTime,
    ) -> Result<Self, Error> {
        let documents = match place {
            DatabasePlace::Directory(path) => Documents::Directory(path.clone()),
            DatabasePlace::Archive(path) => Documents::Archive(Arc::new(advisories::advisory_documents(path)?)),
            DatabasePlace::Url(url) => Documents::Server(client, Arc::clone(cache), url.clone()),
        };
        let mut database = Self::read(place, documents.clone()).await;
        if let (Documents::Server(Some(_), _, url), DatabasePlace::Url(_)) = (documents, place) {
            let kept = Self::read(place, Documents::Server(None, Arc::clone(cache), url.clone())).await.ok();
            database = match (database, kept) {
                (Ok(new), Some(kept)) if new.modified < kept.modified => {
                    let message = format!(
                        "{place} serves its state of {}, older than that of {} which it served before",
                        new.modified, kept.modified
                    );
                    let stale = Error::new(ErrorKind::Unavailable, message).about_url(url.as_str());
                    Ok(Self { problem: Some(stale), ..kept })
                }
                (Ok(new), _) => {
                    // The date comes last: an index with the date of a newer one would count as current.
                    for (name, document) in [INDEX, DATE].into_iter().zip(new.read.iter().rev()) {
                        cache.keep_advisory_document(url.as_str(), name, document);
                    }
                    Ok(new)
                }
                (Err(error), Some(kept)) => {
                    let hint = format!("judged by the copy of {}", kept.modified);
                    Ok(Self { problem: Some(error.hint(hint)), ..kept })
                }
                (Err(error), None) => Err(error),
            };
        }
        let mut database = database?;
        let day = database.modified.get(..10).and_then(|day| day.parse::<Date>().ok());
        let at = day.and_then(|day| u64::try_from(day.unix_seconds()).ok()).unwrap_or_default();
        let is_stale = SystemTime::UNIX_EPOCH + Duration::from_secs(at) + STALE < now;
        if is_stale && database.problem.is_none() {
            let message = format!("the database of advisories {place} was last changed at {}", database.modified);
            let error = Error::new(ErrorKind::Unavailable, message);
            database.problem = Some(error.hint(format!("get a newer one, or use --db {DEFAULT}")));
        }
        Ok(database)
    }

    async fn read(place: &DatabasePlace, documents: Documents) -> Result<Self, Error> {
        let bad = |name: &str, problem: BadDocument| {
            let message = format!("{name} of the database of advisories {place} cannot be used: {problem}");
            Error::new(ErrorKind::Unavailable, message)
        };
        let read = [documents.get(DATE).await?, documents.get(INDEX).await?];
        let modified = modified(&read[0]).map_err(|problem| bad(DATE, problem))?;
        let index = AdvisoryIndex::decode(&read[1]).map_err(|problem| bad(INDEX, problem))?;
        Ok(Self { place: place.clone(), modified, problem: None, index, read, documents })
    }

    /// What the index lists about modules.
    pub fn index(&self) -> &AdvisoryIndex {
        &self.index
    }

    /// Advisories, side by side; each that cannot be had is named by its error.
    pub async fn advisories<'l>(
        &self,
        listed: impl Iterator<Item = &'l ListedAdvisory>,
    ) -> BTreeMap<String, Result<Advisory, Error>> {
        let wanted: BTreeMap<String, String> = listed.map(|it| (it.id.clone(), it.modified.clone())).collect();
        let mut tasks = JoinSet::new();
        for (id, modified) in wanted {
            let (documents, place) = (self.documents.clone(), self.place.clone());
            tasks.spawn(async move {
                let advisory = documents.advisory(&id, &modified).await;
                let named = |error: Error| {
                    let message =
                        format!("the advisory {id} of the database {place} cannot be used: {}", error.message);
                    Error { kind: ErrorKind::Unavailable, message, ..error }
                };
                let advisory = advisory.map_err(named);
                (id, advisory)
            });
        }
        tasks.join_all().await.into_iter().collect()
    }
}

impl Documents {
    async fn get(&self, name: &str) -> Result<Vec<u8>, Error> {
        match self {
            Self::Directory(path) => advisories::advisory_document(path, name),
            Self::Archive(documents) => documents
                .get(name)
                .cloned()
                .ok_or_else(|| Error::new(ErrorKind::Unavailable, format!("the database has no {name}"))),
            Self::Server(Some(client), _, url) => {
                Ok(client.document(&DocumentRequest::new(below(url, name)?, DocumentKind::Metadata)).await?.body)
            }
            Self::Server(None, cache, url) => cache.advisory_document(url.as_str(), name).ok_or_else(|| {
                let message = format!("no earlier run got {name} of the database of advisories");
                Error::new(ErrorKind::Offline, message)
                    .about_url(url.as_str())
                    .hint("run the command without --offline once")
            }),
        }
    }

    /// An advisory in the state that the index is about.
    async fn advisory(&self, id: &str, modified: &str) -> Result<Advisory, Error> {
        let name = format!("ID/{id}.json");
        let read = |bytes: &[u8]| -> Result<Advisory, Error> {
            let bad = |problem: &dyn fmt::Display| Error::new(ErrorKind::Unavailable, problem.to_string());
            let advisory = Advisory::decode(bytes).map_err(|problem| bad(&problem))?;
            if advisory.id != id || advisory.modified != modified {
                return Err(bad(&format_args!("it is not the entry of {modified} that the index lists")));
            }
            Ok(advisory)
        };
        let Self::Server(Some(_), cache, url) = self else { return read(&self.get(&name).await?) };
        if let Some(Ok(kept)) = cache.advisory_document(url.as_str(), &name).map(|bytes| read(&bytes)) {
            return Ok(kept);
        }
        let bytes = self.get(&name).await?;
        let advisory = read(&bytes)?;
        cache.keep_advisory_document(url.as_str(), &name, &bytes);
        Ok(advisory)
    }
}

fn below(base: &Url, name: &str) -> Result<Url, Error> {
    let text = format!("{}/{name}", base.as_str().trim_end_matches('/'));
    Url::parse(&text).map_err(|problem| Error::new(ErrorKind::Usage, problem.to_string()).about_url(base.as_str()))
}

impl fmt::Debug for IndexedDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("place", &self.place).field("modified", &self.modified).finish_non_exhaustive()
    }
}

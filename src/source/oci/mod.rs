//! The OCI distribution protocol, as far as packages are pulled with it: tags, manifests, blobs.
//!
//! ```text
//! https://REGISTRY/v2/NAME/tags/list            the tags, page by page
//! https://REGISTRY/v2/NAME/manifests/REFERENCE  an index or an image manifest, by tag or digest
//! https://REGISTRY/v2/NAME/blobs/DIGEST         bytes
//! ```
//!
//! Everything is asked over https. What comes by its digest is held to it.
//!
//! Source: the OCI distribution specification 1.1, the OCI image specification 1.1.

mod authorize;
mod manifest;
mod mirror;
mod repository;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Mutex;
use url::Url;

use crate::disk::oci_credentials::OciCredentials;
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::{Ask, Authorization, Client, Document, Kind, NetError, ShownUrl};

pub use manifest::{Descriptor, Manifest};
pub use mirror::{OciMirror, OciPackage, Template};
pub use repository::Repository;

/// The most pages of a list of tags: with a hundred tags a page more than any provider has.
const MAX_PAGES: usize = 200;

/// Why a registry gave no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OciError {
    /// 404.
    #[error("{repository}{what}: not found")]
    NotFound {
        /// Where.
        repository: Repository,
        /// `:TAG` or `@DIGEST`; empty for the repository itself.
        what: String,
    },
    /// 401 or 403, also from where tokens are given out.
    #[error("the OCI registry of {repository} {}", if *.sent { "rejected the credentials" } else { "requires credentials" })]
    Unauthorized {
        /// What was asked for.
        repository: Repository,
        /// Whether credentials were sent.
        sent: bool,
    },
    /// The credentials cannot be had.
    #[error("the credentials for {repository} cannot be used: {reason}")]
    Credentials {
        /// What they are for.
        repository: Repository,
        /// Why not.
        reason: String,
    },
    /// Not reachable, or another error.
    #[error("asking the OCI registry about {repository} failed: {source}")]
    Net {
        /// What was asked about.
        repository: Repository,
        /// What happened.
        source: NetError,
    },
    /// An answer that means nothing.
    #[error("the OCI registry's response about {repository}{what} cannot be used: {reason}")]
    Answer {
        /// Where.
        repository: Repository,
        /// `:TAG` or `@DIGEST`.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Other bytes than those of the digest that was asked for.
    #[error("{repository}@{wanted} has the checksum sha256:{got}")]
    Digest {
        /// Where.
        repository: Repository,
        /// What was asked for.
        wanted: String,
        /// What came.
        got: Sha256Digest,
    },
}

/// Asks registries, with the credentials of its user. Cheap to clone; all clones share what they were granted.
#[derive(Debug, Clone)]
pub struct OciClient {
    client: Client,
    credentials: Arc<OciCredentials>,
    granted: Arc<Mutex<HashMap<Repository, Authorization>>>,
}

impl OciClient {
    /// A client that was granted nothing yet.
    pub fn new(client: Client, credentials: Arc<OciCredentials>) -> Self {
        Self { client, credentials, granted: Arc::default() }
    }

    /// The client, for downloads.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// All tags of a repository.
    ///
    /// # Errors
    ///
    /// [`OciError::NotFound`] if there is no such repository.
    pub async fn tags(&self, repository: &Repository) -> Result<Vec<String>, OciError> {
        let wrong = |reason: String| OciError::Answer { repository: repository.clone(), what: String::new(), reason };
        let mut tags = Vec::new();
        let mut url = repository.url("tags/list");
        for _ in 0..MAX_PAGES {
            let document = self.document(repository, "", Ask::new(url.clone(), Kind::Metadata)).await?;
            tags.extend(manifest::tags(&document.body).map_err(wrong)?);
            match document.header("link").and_then(next_page) {
                None => return Ok(tags),
                Some(next) => {
                    let next = url.join(next).map_err(|problem| wrong(format!("its next page is {problem}")))?;
                    if next.host() != url.host() || next.port() != url.port() || next.scheme() != url.scheme() {
                        return Err(wrong("its next page is on another host".to_owned()));
                    }
                    url = next;
                }
            }
        }
        Err(wrong(format!("its list of tags has more than {MAX_PAGES} pages")))
    }

    /// A manifest by its tag.
    ///
    /// # Errors
    ///
    /// [`OciError`].
    pub async fn tagged(&self, repository: &Repository, tag: &str) -> Result<Manifest, OciError> {
        let ask = Ask::new(repository.url(&format!("manifests/{tag}")), Kind::Manifest);
        let what = format!(":{tag}");
        let document = self.document(repository, &what, ask).await?;
        let digest = Sha256Digest::of(&document.body);
        let announced = document.header("docker-content-digest").map(str::to_owned);
        if let Some(wanted) = announced.filter(|wanted| wanted.starts_with("sha256:") && *wanted != written(&digest)) {
            return Err(OciError::Digest { repository: repository.clone(), wanted, got: digest });
        }
        Self::read(repository, &what, &document)
    }

    /// A manifest by its digest.
    ///
    /// # Errors
    ///
    /// [`OciError`].
    pub async fn manifest(&self, repository: &Repository, descriptor: &Descriptor) -> Result<Manifest, OciError> {
        let wanted = &descriptor.digest;
        let ask = Ask::new(repository.url(&format!("manifests/{wanted}")), Kind::Manifest);
        let what = format!("@{wanted}");
        let document = self.document(repository, &what, ask).await?;
        let got = Sha256Digest::of(&document.body);
        if *wanted != written(&got) {
            return Err(OciError::Digest { repository: repository.clone(), wanted: wanted.clone(), got });
        }
        Self::read(repository, &what, &document)
    }

    fn read(repository: &Repository, what: &str, document: &Document) -> Result<Manifest, OciError> {
        let read = Manifest::read(&document.body, document.media_type().as_deref());
        read.map_err(|reason| OciError::Answer { repository: repository.clone(), what: what.to_owned(), reason })
    }

    /// Where a blob is, and what it takes to download it.
    pub async fn blob(&self, repository: &Repository, digest: &Sha256Digest) -> (Url, Option<Authorization>) {
        let url = repository.url(&format!("blobs/{}", written(digest)));
        (url, self.granted.lock().await.get(repository).cloned())
    }

    /// Asks as what was granted so far; where the registry wants more, for that.
    async fn document(&self, repository: &Repository, what: &str, ask: Ask) -> Result<Document, OciError> {
        let ask = manifest::MEDIA_TYPES.iter().fold(ask, |ask, media| ask.header("Accept", *media));
        let first = self.granted.lock().await.get(repository).cloned();
        let error = match self.client.document(&ask.clone().authorized(first.clone())).await {
            Ok(document) => return Ok(document),
            Err(error) => error,
        };
        let Some(challenge) = error.challenge().map(str::to_owned) else {
            return Err(refused(repository, what, first.is_some(), error));
        };
        let granted = self.authorize(repository, &challenge, first).await?;
        let sent = granted.is_some();
        let again = self.client.document(&ask.authorized(granted)).await;
        again.map_err(|error| refused(repository, what, sent, error))
    }
}

fn refused(repository: &Repository, what: &str, sent: bool, error: NetError) -> OciError {
    let repository = repository.clone();
    match error.status() {
        Some(404) => OciError::NotFound { repository, what: what.to_owned() },
        Some(401 | 403) => OciError::Unauthorized { repository, sent },
        _ => OciError::Net { repository, source: error },
    }
}

/// The target of `<…>; rel="next"`.
fn next_page(link: &str) -> Option<&str> {
    let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
    parameters.to_ascii_lowercase().replace([' ', '"'], "").contains("rel=next").then_some(target)
}

/// A digest as manifests write it.
fn written(digest: &Sha256Digest) -> String {
    format!("sha256:{digest}")
}

impl From<OciError> for Error {
    fn from(error: OciError) -> Self {
        let message = error.to_string();
        let at = |kind: ErrorKind, repository: &Repository| {
            let url = ShownUrl::new(&repository.url(""));
            Error::new(kind, message.clone()).about_url(url.as_str())
        };
        match &error {
            OciError::NotFound { repository, .. } => at(ErrorKind::NotFound, repository),
            OciError::Unauthorized { repository, .. } => at(ErrorKind::Unauthorized, repository)
                .hint(format!("`docker login {}` stores credentials that are found", repository.registry()))
                .hint("or write an oci_credentials block into the CLI configuration of OpenTofu"),
            OciError::Credentials { repository, .. } => at(ErrorKind::Unauthorized, repository),
            OciError::Net { source, .. } => Error { message, ..Error::from(source.clone()) },
            OciError::Answer { repository, .. } => at(ErrorKind::Unavailable, repository),
            OciError::Digest { repository, .. } => at(ErrorKind::Trust, repository),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other() {
        assert_eq!(next_page("</v2/a/tags/list?last=b&n=2>; rel=\"next\""), Some("/v2/a/tags/list?last=b&n=2"));
        assert_eq!(next_page("</x>; rel=next"), Some("/x"));
        assert_eq!(next_page("</x>; rel=\"prev\""), None);
        assert_eq!(next_page("/x"), None);
    }
}

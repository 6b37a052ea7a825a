//! What the registry serves, and the requests that it got: the state that builder, tests and server share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use super::answer::{Answer, Endpoint};
use super::modules::Module;
use super::release::Release;

/// One request, as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub endpoint: Endpoint,
    pub method: String,
    /// The `Host` header: `localhost:PORT` or the other host.
    pub host: String,
    pub path: String,
    /// `namespace/type`; of modules `namespace/name/system`; empty if the request is about neither.
    pub provider: String,
    pub authorization: Option<String>,
    pub user_agent: Option<String>,
}

/// A document that a test brought along.
#[derive(Debug, Clone)]
pub struct Document {
    pub content_type: String,
    pub body: Vec<u8>,
}

/// Paths that want an `Authorization` of their own, else 401.
#[derive(Debug, Clone)]
pub struct Guard {
    /// What the paths start with.
    pub start: String,
    pub authorization: String,
    /// The `WWW-Authenticate` of the 401.
    pub challenge: String,
}

/// Everything the server knows.
#[derive(Debug, Default)]
pub struct World {
    pub releases: Vec<Release>,
    pub modules: Vec<Module>,
    pub answers: Vec<(Endpoint, Answer)>,
    pub documents: BTreeMap<String, Document>,
    /// The bearer token that the lists of versions and the download documents want.
    pub token: Option<String>,
    pub guards: Vec<Guard>,
    /// What the paths start with where files may be put.
    pub shelf: Option<String>,
    /// Service discovery names no provider registry.
    pub no_providers: bool,
    /// Archives, sums and signatures are served by the other host.
    pub files_elsewhere: bool,
    /// The same, by releases of a repository on GitHub.
    pub files_on_github: bool,
    /// Addresses in download documents are relative.
    pub relative: bool,
    pub warnings: Vec<String>,
    pub requests: Vec<Request>,
    /// Bytes that bodies without end have given so far.
    pub endless: Arc<AtomicU64>,
    /// Answers that wait, or waited, for others.
    pub waiting: Arc<AtomicUsize>,
    /// `127.0.0.1:PORT`, the same site under another name.
    pub other_host: String,
}

impl World {
    /// The releases of a provider; `None` if it is unknown.
    pub fn releases_of(&self, provider: &str) -> impl Iterator<Item = &Release> {
        self.releases.iter().filter(move |release| release.provider == provider)
    }

    pub fn release(&self, provider: &str, version: &str) -> Option<&Release> {
        self.releases_of(provider).find(|release| release.version == version)
    }

    /// A release that the test has described before.
    pub fn release_mut(&mut self, provider: &str, version: &str) -> &mut Release {
        let found = self.releases.iter_mut().find(|it| it.provider == provider && it.version == version);
        found.unwrap_or_else(|| panic!("{provider} has no release {version}"))
    }
}

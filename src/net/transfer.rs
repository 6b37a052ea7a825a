//! Requests and their answers: documents, which are read whole, and downloads, whose bytes go into the caller's buffers as they come.
//!
//! A retry of a download after bytes have flowed must start the consumer again, and only the consumer can do that. So the loop is the
//! caller's, and the counting and waiting ours:
//!
//! ```ignore
//! let mut download = client.download(&url);
//! loop {
//!     let mut body = download.open().await?;     // retries by itself until an answer begins
//!     match hash(&mut body).await {              // `body.fill(&mut buffer)` until it says `false`
//!         Ok(hashes) => break hashes,
//!         Err(broken) => download.again(broken).await?, // waits, or gives the error back
//!     }
//! }
//! ```

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use url::Url;

use super::client::Client;
use super::error::{Fault, NetError, RedirectFault, ShownUrl};
use super::policy::Retry;
use crate::settings::Secret;

/// The kinds of document, each with its size limit, which applies after decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// `/.well-known/terraform.json`: 1 MiB.
    Discovery,
    /// Answers of registries and mirrors: 10 MiB.
    Metadata,
    /// SHA256SUMS: 1 MiB.
    Sums,
    /// A detached signature: 64 KiB.
    Signature,
    /// A manifest of an OCI registry: 4 MiB.
    Manifest,
    /// An entry of a shared index: 131 bytes.
    IndexEntry,
    /// What a shared index has about a program: 2 MiB.
    IndexProgram,
    /// A list of attestations: 4 MiB.
    Attestations,
    /// An attestation: 1 MiB.
    Bundle,
}

impl DocumentKind {
    pub fn limit(self) -> u64 {
        match self {
            DocumentKind::Discovery | DocumentKind::Sums | DocumentKind::Bundle => 1024 * 1024,
            DocumentKind::Metadata => 10 * 1024 * 1024,
            DocumentKind::Signature => 64 * 1024,
            DocumentKind::IndexEntry => crate::disk::cache::exchange::LONGEST_LINE,
            DocumentKind::IndexProgram => crate::disk::cache::exchange::LONGEST_PROGRAM,
            DocumentKind::Manifest | DocumentKind::Attestations => 4 * 1024 * 1024,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Authorization {
    Bearer(Secret),
    /// A user and a password, with a colon between, in base64.
    Basic(Secret),
}

impl Authorization {
    pub(super) fn header(&self) -> String {
        match self {
            Self::Bearer(token) => format!("Bearer {}", token.reveal()),
            Self::Basic(both) => format!("Basic {}", both.reveal()),
        }
    }
}

/// What is sent along with a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// A form, URL-encoded; by POST.
    Form(Secret),
    /// A file; by PUT.
    File(String),
}

#[derive(Debug, Clone)]
pub struct DocumentRequest {
    pub url: Url,
    pub kind: DocumentKind,
    /// The credentials for the host of `url`. Sent over `https` only, and to no other host that a redirect names.
    pub authorization: Option<Authorization>,
    /// The body. A request with a body does not follow redirects.
    pub sent: Option<Sent>,
    pub headers: Vec<(&'static str, String)>,
    /// True if no redirect leads to another host.
    pub confined: bool,
}

impl DocumentRequest {
    pub fn new(url: Url, kind: DocumentKind) -> Self {
        Self { url, kind, authorization: None, sent: None, headers: Vec::new(), confined: false }
    }

    #[must_use]
    pub fn token(self, token: Option<Secret>) -> Self {
        self.authorized(token.map(Authorization::Bearer))
    }

    #[must_use]
    pub fn authorized(mut self, authorization: Option<Authorization>) -> Self {
        self.authorization = authorization;
        self
    }

    /// Follows redirects on its own host only.
    #[must_use]
    pub fn confined(mut self) -> Self {
        self.confined = true;
        self
    }

    #[must_use]
    pub fn posting(mut self, form: Option<Secret>) -> Self {
        self.sent = form.map(Sent::Form);
        self
    }

    /// Writes a file to the address instead of reading one.
    #[must_use]
    pub fn putting(mut self, file: String) -> Self {
        self.sent = Some(Sent::File(file));
        self
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A whole answer with a status of success (2xx).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedDocument {
    pub status: u16,
    /// The URL that answered, after redirects: the base of relative URLs in the document.
    pub final_url: Url,
    /// The bytes, decompressed, within the bound of their kind.
    pub body: Vec<u8>,
    pub(super) headers: HeaderMap,
}

impl FetchedDocument {
    /// The value of a header, if it is readable text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type without parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        media_type(&self.headers)
    }

    /// True if this is a page for users, as proxies and login forms give in place of a document.
    pub fn is_page(&self) -> bool {
        is_page(self.media_type().as_deref(), &self.body)
    }
}

/// The media type of an answer without parameters, in lower case; the whole header if a parameter is malformed, which the
/// tools refuse.
///
/// Source: Go `mime`, `ParseMediaType`.
pub(super) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let (kind, parameters) = value.split_once(';').unwrap_or((value, ""));
    let kind = if parameters.split(';').all(is_parameter) { kind } else { value };
    Some(kind.trim().to_ascii_lowercase())
}

/// `NAME=VALUE`, or nothing, as behind the last semicolon.
fn is_parameter(text: &str) -> bool {
    let is_token = |text: &str| !text.is_empty() && !text.contains([' ', '\t', '"', '=', ',']);
    let is_quoted = |text: &str| text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    match text.split_once('=') {
        Some((name, value)) => is_token(name.trim()) && (is_token(value.trim()) || is_quoted(value.trim())),
        None => text.trim().is_empty(),
    }
}

/// True for what is called HTML, or begins with `<` after white space.
pub(super) fn is_page(media_type: Option<&str>, start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    media_type == Some("text/html") || start.trim_ascii_start().starts_with(b"<")
}

#[derive(Debug)]
pub(super) struct RedirectChain {
    visited: Vec<Url>,
    guarded: bool,
    carries_token: bool,
    confined: bool,
    limit: usize,
}

impl RedirectChain {
    /// Starts at a URL. A token goes nowhere but over `https`.
    pub(super) fn new(url: Url, has_token: bool, limit: usize) -> Self {
        let carries_token = has_token && url.scheme() == "https";
        let mut trail = Self { visited: vec![url], guarded: has_token, carries_token, confined: false, limit };
        trail.drop_user_info();
        trail
    }

    pub(super) fn url(&self) -> &Url {
        // There is always the start.
        &self.visited[self.visited.len() - 1]
    }

    /// Whether the token may be sent to where we are.
    pub(super) fn carries_token(&self) -> bool {
        self.carries_token
    }

    /// The same, if it stays on its host and on `https`.
    pub(super) fn confined(mut self, confined: bool) -> Self {
        self.confined = confined;
        self
    }

    /// Follows a `Location`.
    ///
    /// The token stays with the scheme, name and port that it is for, and is never picked up again once it was dropped. Go's
    /// `net/http` would keep it for subdomains and other ports, where another service may be.
    pub(super) fn follow(&mut self, location: &str) -> Result<(), RedirectFault> {
        let refused = || RedirectFault::Target(ShownUrl::from_text(location));
        let mut next = self.url().join(location).map_err(|_| refused())?;
        next.set_fragment(None);
        if !matches!(next.scheme(), "https" | "http") || next.host().is_none() {
            return Err(refused());
        }
        if self.guarded && self.url().scheme() == "https" && next.scheme() == "http" {
            return Err(RedirectFault::Downgrade(ShownUrl::new(&next)));
        }
        if self.confined && next.origin() != self.visited[0].origin() {
            return Err(RedirectFault::Elsewhere(ShownUrl::new(&next)));
        }
        if self.visited.contains(&next) {
            return Err(RedirectFault::Loop(ShownUrl::new(&next)));
        }
        if self.visited.len() > self.limit {
            return Err(RedirectFault::TooMany(self.limit));
        }
        self.carries_token &= next.scheme() == "https" && next.origin() == self.visited[0].origin();
        self.visited.push(next);
        self.drop_user_info();
        Ok(())
    }

    /// The last URL, for the answer.
    pub(super) fn into_url(self) -> Url {
        self.url().clone()
    }

    /// User information would become an `Authorization` of its own next to the token.
    fn drop_user_info(&mut self) {
        if let (true, Some(url)) = (self.carries_token, self.visited.last_mut()) {
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
    }
}

/// The most bytes of an archive: many times the largest package, and little enough for a disk.
const MAX_ARCHIVE: u64 = 4 << 30;

/// The least that a body brings on average, in bytes a second, once it has had [`GRACE`].
const LEAST_RATE: u64 = 1024;

/// The time before the rate of a body counts.
const GRACE: Duration = Duration::from_secs(60);

/// The most time for one body.
const MAX_TIME: Duration = Duration::from_secs(2 * 60 * 60);

/// How many bytes a piece has at least, unless it is the last.
const PIECE: usize = 128 * 1024;

#[derive(Debug)]
pub struct Download {
    client: Client,
    request: DocumentRequest,
    retry: Retry,
}

impl Download {
    pub(super) fn new(client: Client, request: DocumentRequest) -> Self {
        let retry = Retry::new(client.options().first_delay, client.options().download_retries);
        Self { client, request, retry }
    }

    /// The same download with another number of further attempts, as `download_retry_count` sets it for a method.
    #[must_use]
    pub fn with_retries(mut self, times: u32) -> Self {
        self.retry = Retry::new(self.client.options().first_delay, times);
        self
    }

    /// Requests the archive, with retries, until a successful answer begins.
    pub async fn open(&mut self) -> Result<DownloadBody, NetError> {
        loop {
            match Box::pin(self.client.open(&self.request)).await {
                Ok(body) => {
                    self.client.ended(&self.request.url, None);
                    return Ok(body);
                }
                Err(fault) => {
                    let again = self.again(NetError::new(&self.request.url, fault)).await;
                    again.map_err(|error| self.client.failed(&self.request.url, error))?;
                }
            }
        }
    }

    /// Waits for the time of the next attempt after a body broke off.
    pub async fn again(&mut self, error: NetError) -> Result<(), NetError> {
        self.retry.again(error, &self.client).await
    }
}

/// The body of an archive's answer. Keeps the host's permit: drop it when done.
#[derive(Debug)]
pub struct DownloadBody {
    response: Response,
    shown: ShownUrl,
    length: Option<u64>,
    media_type: Option<String>,
    received: u64,
    client: Client,
    since: Instant,
    _permit: Option<OwnedSemaphorePermit>,
}

impl DownloadBody {
    pub(super) fn new(response: Response, client: Client, permit: Option<OwnedSemaphorePermit>) -> Self {
        let (length, shown) = (response.content_length(), ShownUrl::new(response.url()));
        let media_type = media_type(response.headers());
        Self { response, shown, length, media_type, received: 0, client, since: Instant::now(), _permit: permit }
    }

    /// The number of bytes that the server announced.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    pub fn received(&self) -> u64 {
        self.received
    }

    /// True if the answer, which begins with these bytes, is a page for users in place of an archive.
    pub fn is_page(&self, start: &[u8]) -> bool {
        is_page(self.media_type.as_deref(), start)
    }

    /// Appends what comes next to the buffer, until that has 128 KiB or the body ends. It may get more, never more
    /// than one read of the connection beyond (about 512 KiB). False when nothing is left.
    pub async fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<bool, NetError> {
        if self.length.unwrap_or_default().max(self.received) > MAX_ARCHIVE {
            return Err(self.failed(Fault::TooLarge(MAX_ARCHIVE)));
        }
        let before = buffer.len();
        while buffer.len() < PIECE {
            let left = self.client.budget().time_left().map_err(|exhausted| self.failed(exhausted.into()))?;
            let patience = self.client.options().idle_timeout.min(left);
            let chunk = tokio::time::timeout(patience, self.response.chunk()).await;
            match chunk.map_err(|_| self.silent())? {
                Ok(Some(chunk)) => {
                    self.received += chunk.len() as u64;
                    buffer.extend_from_slice(&chunk);
                    self.keeps_pace()?;
                }
                Ok(None) => break,
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(buffer.len() > before)
    }

    fn keeps_pace(&self) -> Result<(), NetError> {
        let (received, elapsed) = (self.received, self.since.elapsed());
        if is_too_slow(received, elapsed) {
            return Err(self.failed(Fault::TooSlow { received, elapsed }));
        }
        Ok(())
    }

    fn silent(&self) -> NetError {
        let over = self.client.budget().time_left().err();
        self.failed(over.map_or(Fault::Stalled(self.client.options().idle_timeout), Fault::from))
    }

    fn broken(&self, error: reqwest::Error) -> NetError {
        self.failed(Fault::of_body(error, self.received, self.length, self.client.options().idle_timeout))
    }

    fn failed(&self, fault: Fault) -> NetError {
        NetError { url: self.shown.clone(), attempts: 0, fault }
    }
}

/// True for a body that has come so far in this time, and would never end.
fn is_too_slow(received: u64, elapsed: Duration) -> bool {
    elapsed > MAX_TIME || (elapsed > GRACE && received < elapsed.as_secs() * LEAST_RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_parameter_is_part_of_the_type() {
        let of = |text: &str| media_type(&HeaderMap::from_iter([(CONTENT_TYPE, text.parse().unwrap())])).unwrap();
        for good in [
            "Application/JSON",
            "application/json;",
            "application/json; charset=utf-8",
            "application/json ; a=\"b c\"; d=e;",
        ] {
            assert_eq!(of(good), "application/json", "{good}");
        }
        for bad in ["application/json; foo", "application/json; =x", "application/json; a b=c", "application/json; a="]
        {
            assert_eq!(of(bad), bad);
        }
    }

    #[test]
    fn pages_for_people() {
        assert!(is_page(None, b" \r\n<!DOCTYPE html>"));
        assert!(is_page(Some("application/zip"), b"\xEF\xBB\xBF<html>"));
        assert!(is_page(Some("text/html"), b"please log in"));
        assert!(!is_page(Some("text/plain"), b"please log in"));
        assert!(!is_page(None, b"PK\x03\x04<"));
    }
}

#[cfg(test)]
mod redirect_tests;

#[cfg(test)]
mod download_tests {
    use super::*;

    #[test]
    fn trickles_end() {
        let slow = |received, seconds| is_too_slow(received, Duration::from_secs(seconds));
        assert!(!slow(1, 60), "everybody has a minute");
        assert!(slow(122, 61), "a byte each half second");
        assert!(!slow(61 * 1024, 61));
        assert!(!slow(600 << 20, 7200));
        assert!(slow(4 << 30, 7201));
    }
}

//! The one client: documents and downloads, with their bounds.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use reqwest::Response;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use url::Url;

use super::download::{Download, DownloadBody};
use super::error::{Fault, NetError, ShownUrl};
use super::policy::{Permits, Retry, RunBudget, retry_after};
use super::reason;
use super::redirect::RedirectChain;
use super::transfer::{Authorization, DocumentKind, DocumentRequest, FetchedDocument, Sent};
use super::{ClientOptions, ClientPurpose, build_client};
use crate::parallel::locked;

/// The most redirects of one request, except for discovery.
const MAX_REDIRECTS: usize = 10;

/// The longest `WWW-Authenticate` that is heeded, in bytes.
const MAX_CHALLENGE: usize = 4096;

/// The most redirects of service discovery. Source: `maxRedirects` of terraform-svchost.
const MAX_DISCOVERY_REDIRECTS: usize = 3;

/// An HTTP client. Cheap to clone; all clones share connections and permits.
///
/// Set up on the first request, so a run without requests pays nothing. All requests of a client must come from one
/// runtime.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    options: ClientOptions,
    watch: Watch,
    documents: OnceLock<Result<reqwest::Client, Fault>>,
    downloads: OnceLock<Result<reqwest::Client, Fault>>,
    /// Hosts whose answers came over HTTP/1: there a download may take over a connection that is open already.
    plain: Mutex<HashSet<String>>,
    document_permits: Permits,
    download_permits: Permits,
    budget: Arc<RunBudget>,
    is_impatient: bool,
}

impl Client {
    /// A client that reports no events.
    pub fn new(options: ClientOptions) -> Self {
        Self::watched(options, Watch::default(), Arc::default())
    }

    /// A client that reports its events, and spends from the budget of a run.
    pub fn watched(options: ClientOptions, watch: Watch, budget: Arc<RunBudget>) -> Self {
        Self::of(options, watch, budget, false)
    }

    fn of(options: ClientOptions, watch: Watch, budget: Arc<RunBudget>, is_impatient: bool) -> Self {
        let inner = ClientState {
            documents: OnceLock::new(),
            downloads: OnceLock::new(),
            plain: Mutex::default(),
            document_permits: Permits::new(options.requests_per_host),
            download_permits: Permits::new(options.downloads_per_host),
            options,
            watch,
            budget,
            is_impatient,
        };
        Self { inner: Arc::new(inner) }
    }

    /// A client with a timeout of `patience` and no retries. It spends from the same budget, but its timeouts do not mark a
    /// host as down for other clients.
    #[must_use]
    pub fn impatient(&self, patience: Duration) -> Self {
        let options = self.inner.options.clone();
        let options = ClientOptions { timeout: patience, connect_timeout: patience, retries: 0, ..options };
        Self::of(options, Watch::default(), Arc::clone(self.budget()), true)
    }

    pub fn options(&self) -> &ClientOptions {
        &self.inner.options
    }

    pub(crate) fn budget(&self) -> &Arc<RunBudget> {
        &self.inner.budget
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.inner.watch
    }

    /// Reads a whole document.
    ///
    /// Retries after transient failures: no connection, a timeout, a truncated body, 429, 5xx except 501.
    pub async fn document(&self, request: &DocumentRequest) -> Result<FetchedDocument, NetError> {
        let mut retry = Retry::new(self.inner.options.first_delay, self.inner.options.retries);
        loop {
            // On the heap: the future is large, and would make that of every caller as large.
            match Box::pin(self.attempt(request)).await {
                Ok(document) => {
                    self.ended(&request.url, None);
                    return Ok(document);
                }
                Err(fault) => {
                    let again = Box::pin(retry.again(NetError::new(&request.url, fault), self)).await;
                    again.map_err(|error| self.failed(&request.url, error))?;
                }
            }
        }
    }

    /// Records how a request ended, after all its retries.
    pub(super) fn ended(&self, url: &Url, fault: Option<&Fault>) {
        if !self.inner.is_impatient {
            self.inner.budget.ended(url, fault);
        }
    }

    /// The same for a failure. One of a host that went down while it was requested is not reported on its own.
    pub(super) fn failed(&self, url: &Url, error: NetError) -> NetError {
        let is_down = error.fault.is_silence() && self.inner.budget.check(url) == Err(Fault::Down);
        self.ended(url, Some(&error.fault));
        if is_down { NetError::new(url, Fault::Down) } else { error }
    }

    /// Starts the download of an archive. Never with a token.
    #[cfg(test)]
    pub fn download(&self, url: &Url) -> Download {
        self.download_as(url, None)
    }

    /// The same for protocols that want one for archives too.
    pub fn download_as(&self, url: &Url, authorization: Option<Authorization>) -> Download {
        // The kind gives no header and no bound here. Compression would hide the length.
        let request = DocumentRequest::new(url.clone(), DocumentKind::Sums).header("accept-encoding", "identity");
        Download::new(self.clone(), request.authorized(authorization))
    }

    async fn attempt(&self, request: &DocumentRequest) -> Result<FetchedDocument, Fault> {
        let client = self.http(ClientPurpose::Documents)?;
        let _permit = self.inner.document_permits.take(&request.url).await;
        self.within(self.inner.options.timeout, self.read(&client, request)).await
    }

    /// Works for a while, and no longer than the run may.
    async fn within<T>(&self, patience: Duration, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let left = self.inner.budget.time_left()?;
        let answer = tokio::time::timeout(patience.min(left), work).await;
        answer
            .unwrap_or_else(|_| Err(self.inner.budget.time_left().err().map_or(Fault::Timeout(patience), Fault::from)))
    }

    async fn read(&self, client: &reqwest::Client, request: &DocumentRequest) -> Result<FetchedDocument, Fault> {
        let patience = self.inner.options.timeout;
        let (response, final_url) = self.send(client, request, patience).await?;
        self.remember_protocol(&response);
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = read_bounded(response, request.kind.limit(), patience).await?;
        Ok(FetchedDocument { status, final_url, body, headers })
    }

    /// The head of an archive's answer, with the permit to read its body.
    pub(super) async fn open(&self, request: &DocumentRequest) -> Result<DownloadBody, Fault> {
        let url = &request.url;
        let client = self.http(self.purpose_of_download(url))?;
        let permit = self.inner.download_permits.take(url).await;
        let patience = self.inner.options.idle_timeout;
        let (response, _) = self.within(patience, self.send(&client, request, patience)).await?;
        Ok(DownloadBody::new(response, self.clone(), permit))
    }

    /// The client below, for a crate that speaks the protocols of cloud stores.
    #[cfg(feature = "cloud")]
    pub(crate) fn of_stores(&self) -> Result<reqwest::Client, Fault> {
        self.http(ClientPurpose::Downloads)
    }

    fn purpose_of_download(&self, url: &Url) -> ClientPurpose {
        let plain = locked(&self.inner.plain);
        if plain.contains(url.authority()) { ClientPurpose::Documents } else { ClientPurpose::Downloads }
    }

    fn remember_protocol(&self, response: &Response) {
        if response.version() <= reqwest::Version::HTTP_11 {
            let mut plain = locked(&self.inner.plain);
            plain.insert(response.url().authority().to_owned());
        }
    }

    fn http(&self, purpose: ClientPurpose) -> Result<reqwest::Client, Fault> {
        let cell = match purpose {
            ClientPurpose::Documents => &self.inner.documents,
            ClientPurpose::Downloads => &self.inner.downloads,
        };
        let build = || build_client(&self.inner.options, purpose).map_err(Fault::of_builder);
        cell.get_or_init(build).clone()
    }

    /// The proxy between us and a server.
    fn proxy(&self, url: &Url) -> Option<&ShownUrl> {
        let options = &self.inner.options;
        options.proxy.as_ref().filter(|_| options.system_proxy)?.between(url)
    }

    /// Sends a request and follows redirects until a response has a status of success.
    async fn send(
        &self,
        client: &reqwest::Client,
        request: &DocumentRequest,
        patience: Duration,
    ) -> Result<(Response, Url), Fault> {
        if !matches!(request.url.scheme(), "https" | "http") {
            return Err(Fault::Scheme(request.url.scheme().to_owned()));
        }
        let authorization = request.authorization.as_ref().map(sensitive).transpose()?;
        let most = if request.kind == DocumentKind::Discovery { MAX_DISCOVERY_REDIRECTS } else { MAX_REDIRECTS };
        let trail = RedirectChain::new(request.url.clone(), authorization.is_some(), most);
        let mut trail = trail.confined(request.confined);
        loop {
            self.inner.budget.request(trail.url())?;
            self.watch().notify(|| ClientEvent::Requesting(ShownUrl::new(trail.url())));
            let mut builder = match &request.sent {
                None => client.get(trail.url().clone()),
                Some(Sent::Form(form)) => {
                    let post = client.post(trail.url().clone()).body(form.reveal().to_owned());
                    post.header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                }
                Some(Sent::File(file)) => client.put(trail.url().clone()).body(file.clone()),
            };
            for (name, value) in &request.headers {
                builder = builder.header(*name, value);
            }
            if let (DocumentKind::Metadata, Some(version)) = (request.kind, &self.inner.options.terraform_version) {
                builder = builder.header("X-Terraform-Version", version);
            }
            if let (true, Some(authorization)) = (trail.carries_token(), &authorization) {
                builder = builder.header(AUTHORIZATION, authorization);
            }
            let failed = |error| Fault::of_request(error, patience).through(self.proxy(trail.url()));
            let response = builder.send().await.map_err(failed)?;
            if request.kind == DocumentKind::Bundle && self.proxy(trail.url()).is_none() {
                response.remote_addr().map_or(Ok(()), |address| check_public(address.ip()))?;
            }
            if is_answer(response.status().as_u16(), request) {
                return Ok((response, trail.into_url()));
            }
            match location(&response).filter(|_| request.sent.is_none()) {
                Some(location) => trail.follow(&location)?,
                None => return Err(refusal(response, trail.carries_token()).await),
            }
        }
    }
}

/// Refuses this machine and what is only on its own link. A registry or a proxy may be there, but not what a stranger names.
fn check_public(address: IpAddr) -> Result<(), Fault> {
    let is_public = match address.to_canonical() {
        IpAddr::V4(it) => !(it.is_loopback() || it.is_unspecified() || it.is_link_local()),
        IpAddr::V6(it) => !(it.is_loopback() || it.is_unspecified() || it.is_unicast_link_local()),
    };
    if is_public { Ok(()) } else { Err(Fault::Private(address)) }
}

fn sensitive(authorization: &Authorization) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_str(&authorization.header()).map_err(|_| Fault::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Where a redirect leads; none for other answers, and for a redirect that does not say.
fn location(response: &Response) -> Option<String> {
    let redirects = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| redirects)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// True for an answer that the tools take: 200, and 204 where a registry names a location in a header.
fn is_answer(status: u16, request: &DocumentRequest) -> bool {
    match request.sent {
        Some(Sent::File(_)) => (200..300).contains(&status),
        _ => status == 200 || status == 204 && request.kind == DocumentKind::Metadata,
    }
}

async fn refusal(response: Response, token_sent: bool) -> Fault {
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let given = header("retry-after").filter(|_| matches!(status, 429 | 503));
    let retry_after = given.and_then(|value| retry_after(value, header("date")));
    let challenge = header("www-authenticate").filter(|value| status == 401 && value.len() <= MAX_CHALLENGE);
    let challenge = challenge.map(str::to_owned);
    Fault::Status { status, token_sent, retry_after, challenge, words: reason_given(response).await }
}

/// How much of the body of a refusal is read, in bytes, and how long that may take.
const MOST_REASON: (u64, Duration) = (16 << 10, Duration::from_secs(2));

/// What the body of a refusal says of its reason. Credentials and waits have answers of their own.
async fn reason_given(response: Response) -> Option<String> {
    let status = response.status().as_u16();
    if !(400..500).contains(&status) || matches!(status, 401 | 403 | 408 | 429) {
        return None;
    }
    let (limit, patience) = MOST_REASON;
    let body = tokio::time::timeout(patience, read_bounded(response, limit, patience)).await;
    reason::of_body(&body.ok()?.ok()?)
}

/// The whole body, if it keeps within the limit. What is counted has been decompressed.
async fn read_bounded(mut response: Response, limit: u64, patience: Duration) -> Result<Vec<u8>, Fault> {
    let expected = response.content_length();
    if expected.is_some_and(|length| length > limit) {
        return Err(Fault::TooLarge(limit));
    }
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        match chunk.map_err(|error| Fault::of_body(error, body.len() as u64, expected, patience))? {
            Some(chunk) if (body.len() + chunk.len()) as u64 > limit => return Err(Fault::TooLarge(limit)),
            Some(chunk) => body.extend_from_slice(&chunk),
            None => return Ok(body),
        }
    }
}

#[cfg(test)]
mod tests;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// It sends a request, possibly after a redirect.
    Requesting(ShownUrl),
    /// It will retry after this delay.
    Again(NetError, Duration),
}

/// A callback, which must not block; cheap to clone.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>);

impl Watch {
    pub fn by(callback: impl Fn(ClientEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(callback)))
    }

    pub(super) fn notify(&self, doing: impl FnOnce() -> ClientEvent) {
        if let Some(callback) = &self.0 {
            callback(doing());
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(by a callback)" } else { "Watch(not set)" })
    }
}

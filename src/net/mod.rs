//! The network: documents and archives from servers that we do not trust.
//!
//! Everything that comes in is bounded in size and time; every URL that goes out into a message is shown without secrets;
//! a token goes to the host that it is for and to no other. What the documents mean is not known here, except for the one
//! that says where the services of a host are.
//!
//! This file has what a run sets up once: the options of its client, its runtime, and jobs that several callers share.

mod client;
mod download;
mod error;
mod host;
mod limit;
mod policy;
mod reason;
mod redirect;
mod transfer;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use reqwest::Certificate;
use reqwest::redirect::Policy;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;
use url::Url;

use crate::disk::cli_config::RegistryProtocols;
use crate::error::{Error, ErrorKind};
use crate::interrupt::{Interrupt, Interrupted};
use crate::parallel::locked;
use crate::settings::Variables;

pub use client::{Client, ClientEvent, Watch};
pub use download::{Download, DownloadBody};
#[cfg(test)]
pub use error::RedirectFault;
pub use error::{Fault, NetError, ShownUrl};
pub use host::{Credentials, Discovery, Service, token_variable_shown};
pub use limit::Cost;
pub use policy::RunBudget;
pub use transfer::{Authorization, DocumentKind, DocumentRequest, FetchedDocument};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// `User-Agent` of all requests.
    pub user_agent: String,
    /// `X-Terraform-Version` of metadata requests. Both tools send their own version there; we send none unless configured
    /// to, for it would be a claim to be one of them.
    pub terraform_version: Option<String>,
    /// The time for one attempt at a document, with redirects and body.
    pub timeout: Duration,
    /// The time for a connection.
    pub connect_timeout: Duration,
    /// The longest silence within a download; there is no limit to its whole time.
    pub idle_timeout: Duration,
    pub retries: u32,
    pub download_retries: u32,
    /// The delay before the second attempt; doubles from there.
    pub first_delay: Duration,
    /// Documents requested from one host at a time.
    pub requests_per_host: usize,
    /// Archives downloaded from one host at a time: many, for each connection may be slow.
    pub downloads_per_host: usize,
    /// The only certificates to trust, as PEM, in place of the system's: what `SSL_CERT_FILE` names.
    pub roots_pem: Option<Vec<u8>>,
    /// Whether the proxies of the environment and the system are used.
    pub system_proxy: bool,
    /// The one of them that errors name, where the environment has one.
    pub proxy: Option<Proxy>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("tflock/", env!("CARGO_PKG_VERSION")).to_owned(),
            terraform_version: None,
            timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            retries: 1,
            download_retries: 2,
            first_delay: Duration::from_secs(1),
            requests_per_host: 16,
            downloads_per_host: 24,
            roots_pem: None,
            system_proxy: true,
            proxy: None,
        }
    }
}

impl ClientOptions {
    /// The defaults, with what the CLI configuration and, before it, the environment say:
    /// `TF_REGISTRY_CLIENT_TIMEOUT`, `TF_REGISTRY_DISCOVERY_RETRY`, `TF_PROVIDER_DOWNLOAD_RETRY`,
    /// `TF_APPEND_USER_AGENT`.
    pub fn configured(variables: &Variables, protocols: RegistryProtocols) -> Self {
        let mut options = Self::default();
        let seconds = variables.positive("TF_REGISTRY_CLIENT_TIMEOUT").or(protocols.request_timeout_seconds);
        if let Some(seconds) = seconds {
            options.timeout = Duration::from_secs(seconds.into());
        }
        let retries = variables.positive("TF_REGISTRY_DISCOVERY_RETRY").or(protocols.retry_count);
        options.retries = retries.unwrap_or(options.retries);
        let retries = variables.positive("TF_PROVIDER_DOWNLOAD_RETRY");
        options.download_retries = retries.unwrap_or(options.download_retries);
        // A program that is released does not have this.
        #[cfg(debug_assertions)]
        if let Some(milliseconds) = variables.positive("TFLOCK_TEST_FIRST_DELAY") {
            options.first_delay = Duration::from_millis(milliseconds.into());
        }
        options.proxy = Proxy::of(variables);
        // What no header can carry would only make every request fail.
        let appended = variables.get("TF_APPEND_USER_AGENT").unwrap_or_default().replace(char::is_control, " ");
        if !appended.trim().is_empty() {
            options.user_agent = format!("{} {}", options.user_agent, appended.trim());
        }
        options
    }
}

/// The proxy that the environment names, so errors can name the proxy of a request. The HTTP library finds it itself, by the
/// same variables. Source: `hyper-util`, `client/proxy/matcher.rs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its address without secrets.
    shown: ShownUrl,
    /// The hosts that are contacted without it.
    bypassed: Vec<String>,
}

impl Proxy {
    /// That of `HTTPS_PROXY`, else of `ALL_PROXY`, in capitals or not.
    fn of(variables: &Variables) -> Option<Self> {
        let get = |name: &str| variables.get(name).or_else(|| variables.get(&name.to_lowercase()));
        let text = get("HTTPS_PROXY").or_else(|| get("ALL_PROXY")).filter(|text| !text.is_empty())?;
        let url = Url::parse(text).or_else(|_| Url::parse(&format!("http://{text}"))).ok()?;
        let bypassed = get("NO_PROXY").unwrap_or_default().split(',').map(|host| host.trim().to_lowercase());
        Some(Self { shown: ShownUrl::new(&url), bypassed: bypassed.filter(|host| !host.is_empty()).collect() })
    }

    /// The proxy, if requests to a server go through it.
    fn between(&self, url: &Url) -> Option<&ShownUrl> {
        let host = url.host_str()?.to_lowercase();
        let is_without = |name: &String| {
            let name = name.trim_start_matches('.');
            name == "*" || host == name || host.strip_suffix(name).is_some_and(|above| above.ends_with('.'))
        };
        (url.scheme() == "https" && !self.bypassed.iter().any(is_without)).then_some(&self.shown)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientPurpose {
    /// Small documents: compressed, many over one connection where the server can.
    Documents,
    /// Archives from servers that may speak HTTP/2, where all would share one connection and its window.
    Downloads,
}

/// Builds a client; redirects are not followed by it.
fn build_client(options: &ClientOptions, purpose: ClientPurpose) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if someone else has installed a provider before, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Some(pem) = &options.roots_pem {
        return base(options, purpose).tls_certs_only(Certificate::from_pem_bundle(pem)?).build();
    }
    match base(options, purpose).build() {
        Ok(client) => Ok(client),
        // A machine without roots, such as an empty container. Any other fault comes up again.
        Err(_) => base(options, purpose).tls_certs_only(bundled_roots()).build(),
    }
}

fn base(options: &ClientOptions, purpose: ClientPurpose) -> reqwest::ClientBuilder {
    let client = reqwest::Client::builder()
        .user_agent(&options.user_agent)
        .redirect(Policy::none())
        .connect_timeout(options.connect_timeout);
    let client = if options.system_proxy { client } else { client.no_proxy() };
    match purpose {
        ClientPurpose::Documents => client,
        ClientPurpose::Downloads => client.no_gzip().http1_only(),
    }
}

fn bundled_roots() -> impl Iterator<Item = Certificate> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|root| Certificate::from_der(root).ok())
}

/// How long work that a signal cut off may take to clear up.
const CLEARING: Duration = Duration::from_millis(250);

/// The only runtime of a run, so all requests share connections; built on first use.
#[derive(Debug, Default)]
pub struct Background {
    runtime: OnceLock<Result<Runtime, Error>>,
    interrupt: Interrupt,
    over: Shutdown,
}

/// Set when a run ends, to distinguish failures caused by stopping its threads from real ones.
#[derive(Debug, Clone, Default)]
pub struct Shutdown(Arc<AtomicBool>);

impl Shutdown {
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn notify(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Background {
    pub fn new(interrupt: Interrupt) -> Self {
        Self { runtime: OnceLock::new(), interrupt, over: Shutdown::default() }
    }

    /// Runs until `work` completes or the run is interrupted. After that no work begins.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        self.runtime()?.block_on(or_interrupted(work, self.interrupt.clone(), self.over.clone()))
    }

    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    pub fn over(&self) -> Shutdown {
        self.over.clone()
    }

    /// Starts work and passes its result, or the error of [`Self::run`], to `done`.
    pub fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        done: impl FnOnce(Result<T, Error>) + Send + 'static,
    ) {
        let failed = |problem| Error::new(ErrorKind::Disk, format!("the request failed: {problem}"));
        match self.runtime() {
            Ok(runtime) => {
                let work = runtime.spawn(or_interrupted(work, self.interrupt.clone(), self.over.clone()));
                drop(runtime.spawn(async move { done(work.await.unwrap_or_else(|problem| Err(failed(problem)))) }));
            }
            Err(error) => done(Err(error)),
        }
    }

    fn runtime(&self) -> Result<&Runtime, Error> {
        let failed = |problem| Error::new(ErrorKind::Disk, format!("cannot start the network runtime: {problem}"));
        let build = || {
            self.interrupt.catch_signals();
            Builder::new_multi_thread().enable_all().build().map_err(failed)
        };
        self.runtime.get_or_init(build).as_ref().map_err(Clone::clone)
    }
}

async fn or_interrupted<T>(work: impl Future<Output = T>, interrupt: Interrupt, over: Shutdown) -> Result<T, Error> {
    tokio::select! {
        // In this order: of work that begins after a signal not even the first step is done.
        biased;
        () = interrupt.requested() => {
            over.notify();
            Err(Interrupted.into())
        }
        answer = work => Ok(answer),
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Work in progress, such as hashing an archive, must not delay the end of a run.
        self.over.notify();
        match self.runtime.take() {
            // What is cut off removes its temporary files, before the process ends.
            Some(Ok(runtime)) if self.interrupt.is_requested() => runtime.shutdown_timeout(CLEARING),
            Some(Ok(runtime)) => runtime.shutdown_background(),
            _ => {}
        }
    }
}

/// Runs one job per key; later callers wait for its answer and share it.
///
/// With a `Result` as value, failures are shared too, so a dead host is contacted once per run. If the caller whose job
/// is running is dropped, the next caller runs its own job.
#[derive(Debug)]
pub struct Shared<K, V> {
    cells: Mutex<HashMap<K, Arc<OnceCell<V>>>>,
}

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self { cells: Mutex::default() }
    }
}

impl<K: Eq + Hash, V: Clone> Shared<K, V> {
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer for a key; runs the job only if there is no answer yet and no other job is running.
    pub async fn answer(&self, key: K, job: impl Future<Output = V>) -> V {
        // A poisoned lock is safe to use: no code under it can leave the map half changed.
        let cell = locked(&self.cells).entry(key).or_default().clone();
        cell.get_or_init(|| job).await.clone()
    }
}

#[cfg(test)]
mod tests {
    pub(super) mod server;
}

#[cfg(test)]
mod options_tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_configuration() {
        let protocols = RegistryProtocols { retry_count: Some(0), request_timeout_seconds: Some(20) };
        let options = ClientOptions::configured(&Variables::default(), protocols);
        assert_eq!((options.retries, options.timeout), (0, Duration::from_secs(20)));
        // Whole runs in the tests set another.
        assert_eq!(options.first_delay, Duration::from_secs(1));
        let variables = Variables::from_iter([
            ("TF_REGISTRY_CLIENT_TIMEOUT", "3"),
            ("TF_REGISTRY_DISCOVERY_RETRY", "5"),
            ("TF_PROVIDER_DOWNLOAD_RETRY", "7"),
            ("TF_APPEND_USER_AGENT", "  ci/1\n "),
        ]);
        let options = ClientOptions::configured(&variables, protocols);
        assert_eq!((options.retries, options.download_retries, options.timeout), (5, 7, Duration::from_secs(3)));
        assert_eq!(options.user_agent, concat!("tflock/", env!("CARGO_PKG_VERSION"), " ci/1"));
    }

    #[test]
    fn nonsense_changes_nothing() {
        let variables = Variables::from_iter([
            ("TF_REGISTRY_CLIENT_TIMEOUT", "0"),
            ("TF_REGISTRY_DISCOVERY_RETRY", "many"),
            ("TF_APPEND_USER_AGENT", " "),
        ]);
        assert_eq!(ClientOptions::configured(&variables, RegistryProtocols::default()), ClientOptions::default());
    }
}

#[cfg(test)]
mod proxy_tests {
    use super::*;

    #[test]
    fn hosts_that_bypass_the_proxy() {
        let variables =
            Variables::from_iter([("https_proxy", "proxy.example:3128"), ("NO_PROXY", "a.example, .b.example")]);
        let proxy = Proxy::of(&variables).unwrap();
        let between = |url: &str| proxy.between(&Url::parse(url).unwrap()).is_some();
        assert!(between("https://c.example/") && between("https://xa.example/"));
        assert!(!between("https://a.example/") && !between("https://x.b.example/") && !between("http://c.example/"));
        assert_eq!(Proxy::of(&Variables::default()), None);
    }
}

#[cfg(test)]
mod tls_tests {
    use super::*;

    #[test]
    fn named_roots_make_a_client_even_if_there_are_none() {
        for roots_pem in [b"".as_slice(), b"junk"] {
            let options = ClientOptions { roots_pem: Some(roots_pem.to_vec()), ..ClientOptions::default() };
            assert!(build_client(&options, ClientPurpose::Documents).is_ok());
        }
    }

    #[test]
    fn bundled_roots_make_a_client() {
        assert!(bundled_roots().count() > 50);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = base(&ClientOptions::default(), ClientPurpose::Documents).tls_certs_only(bundled_roots()).build();
        assert!(client.is_ok());
    }
}

#[cfg(test)]
mod background_tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_requests_share_one_job() {
        let shared = Shared::<&str, Result<u32, String>>::new();
        let runs = AtomicUsize::new(0);
        let job = async |answer| {
            runs.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            answer
        };
        let failure = Err("dead".to_owned());
        let (first, second) = tokio::join!(shared.answer("a", job(failure.clone())), shared.answer("a", job(Ok(1))));
        assert_eq!((&first, &second), (&failure, &failure));
        assert_eq!(shared.answer("a", job(Ok(2))).await, failure);
        assert_eq!(shared.answer("b", job(Ok(3))).await, Ok(3));
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_cancelled_request_leaves_no_hole() {
        let shared = Shared::<u8, u32>::new();
        let stuck = shared.answer(1, std::future::pending());
        tokio::select! {
            biased;
            _ = stuck => unreachable!("pending"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(shared.answer(1, async { 7 }).await, 7);
    }
}

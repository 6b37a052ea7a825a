//! What is known of a host: the services that it offers, by service discovery, and the token for it.
//!
//! Source: `github.com/hashicorp/terraform-svchost/disco`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::Shared;
use super::client::Client;
use super::error::{NetError, ShownUrl};
use super::policy::RunBudget;
use super::reason::bounded;
use super::transfer::{DocumentKind, DocumentRequest, FetchedDocument};
use crate::addr::Hostname;
use crate::config::{StandIn, is_stand_in};
use crate::disk::cli_config::CliConfig;
use crate::disk::helper::{HelperError, HelperProgram};
use crate::error::{Error, ErrorKind};
use crate::settings::{Secret, Variables};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    /// `providers.v1`.
    Providers,
    Modules,
}

impl Service {
    fn id(self) -> &'static str {
        match self {
            Service::Providers => "providers.v1",
            Service::Modules => "modules.v1",
        }
    }

    fn family(self) -> &'static str {
        match self {
            Service::Providers => "providers.",
            Service::Modules => "modules.",
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Service::Providers => "provider registry",
            Service::Modules => "module registry",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceMap {
    host: Hostname,
    base: Url,
    /// By service ID; `None` if the value is not a string.
    services: BTreeMap<String, Option<String>>,
    configured: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    #[error("the host {host} does not offer a {service}{}", if *other_version { " of a version that can be used" } else { "" })]
    NoService { host: Hostname, service: Service, other_version: bool },
    #[error("service discovery failed: could not connect to {host}: {error}")]
    Request { host: Hostname, error: Box<NetError> },
    #[error("service discovery failed: the host {host} answered {} with {reason}", url.as_str())]
    Document { host: Hostname, url: ShownUrl, reason: String },
    #[error("the URL of the {service} of host {host} cannot be used: {reason}")]
    ServiceUrl {
        host: Hostname,
        service: Service,
        reason: String,
        /// True if it is in a `host` block of the CLI configuration.
        configured: bool,
    },
    #[error("{0} cannot be a host in a URL")]
    Host(Hostname),
    #[error(
        "{0} is no registry: it means the host of the `cloud` block or of the `remote` backend, which is not known here"
    )]
    StandIn(Hostname),
}

/// Runs service discovery once per host and run; failures are remembered too.
#[derive(Debug)]
pub struct Discovery {
    client: Client,
    credentials: Arc<Credentials>,
    configured: BTreeMap<Hostname, BTreeMap<String, String>>,
    answers: Shared<Hostname, Result<Arc<ServiceMap>, DiscoveryError>>,
}

impl Discovery {
    /// A discovery that knows nothing but the `host` blocks of the CLI configuration, which replace it for their hosts.
    pub fn new(
        client: Client,
        credentials: Arc<Credentials>,
        configured: BTreeMap<Hostname, BTreeMap<String, String>>,
    ) -> Self {
        Self { client, credentials, configured, answers: Shared::new() }
    }

    /// The host to ask where an address names `host`: another one if that is a stand-in without a `host` block of its own.
    pub fn asked<'h>(&self, host: &'h Hostname, stand_in: Option<&'h StandIn>) -> &'h Hostname {
        let of_name = stand_in.filter(|it| it.is_for(host) && !self.configured.contains_key(host));
        of_name.map_or(host, |it| &it.host)
    }

    pub async fn services(&self, host: &Hostname) -> Result<Arc<ServiceMap>, DiscoveryError> {
        self.answers.answer(host.clone(), self.find(host)).await
    }

    /// The base URL of a service of a host. The URLs of its answers are relative to it unchanged: for `providers.v1`
    /// without a final `/` the last segment gives way, as in the tools.
    pub async fn url(&self, host: &Hostname, service: Service) -> Result<Url, DiscoveryError> {
        self.services(host).await?.url(service)
    }

    async fn find(&self, host: &Hostname) -> Result<Arc<ServiceMap>, DiscoveryError> {
        let url = format!("https://{}/.well-known/terraform.json", host.as_ascii());
        let url = Url::parse(&url).map_err(|_| DiscoveryError::Host(host.clone()))?;
        if let Some(services) = self.configured.get(host) {
            return Ok(Arc::new(ServiceMap::configured(host, url, services)));
        }
        if is_stand_in(host) {
            return Err(DiscoveryError::StandIn(host.clone()));
        }
        // Discovery may need no token: a helper that fails is reported where the token is needed.
        let token = self.credentials.token(host).await.unwrap_or_default();
        let request =
            DocumentRequest::new(url, DocumentKind::Discovery).token(token).header("Accept", "application/json");
        let map = match self.client.document(&request).await {
            Ok(document) => ServiceMap::decode(host, &document)?,
            Err(error) if error.is_not_found() => ServiceMap::empty(host, request.url),
            Err(error) => return Err(DiscoveryError::Request { host: host.clone(), error: Box::new(error) }),
        };
        Ok(Arc::new(map))
    }
}

impl ServiceMap {
    fn empty(host: &Hostname, base: Url) -> Self {
        Self { host: host.clone(), base, services: BTreeMap::new(), configured: false }
    }

    fn configured(host: &Hostname, base: Url, services: &BTreeMap<String, String>) -> Self {
        let services = services.iter().map(|(id, url)| (id.clone(), Some(url.clone()))).collect();
        Self { host: host.clone(), base, services, configured: true }
    }

    fn decode(host: &Hostname, document: &FetchedDocument) -> Result<Self, DiscoveryError> {
        let url = ShownUrl::new(&document.final_url);
        let nonsense = |reason| DiscoveryError::Document { host: host.clone(), url: url.clone(), reason };
        if document.status != 200 {
            return Err(nonsense(format!("status {}", document.status)));
        }
        match document.media_type().as_deref() {
            Some("application/json") => {}
            Some(other) => return Err(nonsense(format!("the content type {:?}, not JSON", bounded(other, 80)))),
            None => return Err(nonsense("no content type".to_owned())),
        }
        let services: BTreeMap<String, Value> = serde_json::from_slice(&document.body)
            .map_err(|error| nonsense(format!("no JSON object: {}", bounded(&error.to_string(), 120))))?;
        if !services.keys().any(|id| is_service(id)) {
            return Err(nonsense("a JSON object that names no service".to_owned()));
        }
        let services = services.into_iter().map(|(id, value)| (id, value.as_str().map(str::to_owned))).collect();
        Ok(Self { host: host.clone(), base: document.final_url.clone(), services, configured: false })
    }

    /// The base URL of a service; that of modules always ends with `/`.
    pub fn url(&self, service: Service) -> Result<Url, DiscoveryError> {
        let Some(Some(text)) = self.services.get(service.id()) else {
            let other_version = self.services.keys().any(|id| id.starts_with(service.family()));
            return Err(DiscoveryError::NoService { host: self.host.clone(), service, other_version });
        };
        let refused = |reason: &str| DiscoveryError::ServiceUrl {
            host: self.host.clone(),
            service,
            reason: reason.to_owned(),
            configured: self.configured,
        };
        if is_malformed(text) {
            return Err(refused("it is not a URL"));
        }
        let mut url = self.base.join(text).map_err(|_| refused("it is not a URL"))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(refused("its scheme is neither https nor http"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it contains a user name or password"));
        }
        url.set_fragment(None);
        if service == Service::Modules && !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(url)
    }
}

/// True for texts that the tools refuse as a URL, and that would otherwise name a path of the host: which gives 404, as if
/// the registry had no such provider.
///
/// Source: Go `net/url`, `parse`.
fn is_malformed(text: &str) -> bool {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let scheme = text.split(':').next().filter(|scheme| scheme.len() < text.len()).unwrap_or_default();
    let has_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_escape = |part: &str| part.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let first = path.split('/').next().unwrap_or_default();
    text.bytes().any(|byte| byte.is_ascii_control())
        || path.split('%').skip(1).any(|part| !is_escape(part))
        || !has_scheme && first.contains(':')
}

fn is_service(id: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    id.rsplit_once(".v").is_some_and(|(name, version)| !name.is_empty() && version.split('.').all(is_number))
}

impl From<DiscoveryError> for Error {
    fn from(error: DiscoveryError) -> Self {
        let message = error.to_string();
        match error {
            DiscoveryError::NoService { host, service, other_version } => {
                Error::new(ErrorKind::NotFound, message).hint(no_service_hint(&host, service, other_version))
            }
            DiscoveryError::Request { host, error } => {
                let refused = error.refused_token();
                let shown = Error { message, ..Error::from(*error) };
                match refused {
                    Some(_) => shown.hint(format!("the variable is {}", token_variable_shown(&host))),
                    None => shown,
                }
            }
            DiscoveryError::Document { url, .. } => {
                let hint = "a proxy or login page may have answered in place of the registry";
                Error::new(ErrorKind::Unavailable, message).about_url(url.as_str()).hint(hint)
            }
            DiscoveryError::ServiceUrl { configured: true, .. } => {
                Error::new(ErrorKind::Settings, message).hint("correct the host block of the CLI configuration")
            }
            DiscoveryError::ServiceUrl { .. } => Error::new(ErrorKind::Unavailable, message),
            DiscoveryError::Host(_) => Error::new(ErrorKind::Configuration, message),
            DiscoveryError::StandIn(name) => Error::new(ErrorKind::Configuration, message)
                .hint("write the host itself in the source address")
                .hint(
                    "a literal `hostname` in that block of the root module would do; under `--base` also name it in \
                     `module_hosts` of the base's settings",
                )
                .hint(format!("or name its services in a `host \"{name}\"` block of the CLI configuration")),
        }
    }
}

fn no_service_hint(host: &Hostname, service: Service, other_version: bool) -> &'static str {
    match host.as_ascii() {
        _ if other_version => "it may work with a newer tflock",
        "github.com" if service == Service::Providers => {
            "a source address names a provider in a registry, not a repository: try the address without github.com"
        }
        _ => "check the host name in the source address",
    }
}

/// The tokens that the user gave, by the host they are for.
///
/// In order: `TF_TOKEN_…` variables, `credentials` blocks, the credentials helper. A block without a usable token means
/// no token, and the helper is not called.
#[derive(Debug, Default)]
pub struct Credentials {
    environment: BTreeMap<Hostname, Secret>,
    blocks: BTreeMap<Hostname, Option<Secret>>,
    helper: Option<HelperProgram>,
    answers: Shared<Hostname, Result<Option<Secret>, HelperError>>,
    warnings: Vec<String>,
    budget: Arc<RunBudget>,
}

impl Credentials {
    /// The tokens of the environment and the CLI configuration. The helper is located, but not yet called; what it needs is
    /// spent from the budget of the run.
    pub fn new(variables: &Variables, config: &CliConfig, budget: Arc<RunBudget>) -> Self {
        let mut credentials = Self { blocks: config.credentials.clone(), budget, ..Self::default() };
        for (name, value) in variables.with_prefix("TF_TOKEN_") {
            // Names that are no host are ignored, as in the tools.
            let Some(host) = host_of_variable(name) else { continue };
            match Secret::new(value) {
                Some(secret) => drop(credentials.environment.insert(host, secret)),
                None => credentials.warnings.push(format!("TF_TOKEN_{name} is empty and is not used")),
            }
        }
        match config.credentials_helper.as_ref().map(|helper| HelperProgram::find(helper, &config.data_dirs)) {
            Some(Ok(program)) => credentials.helper = Some(program),
            // The tools log it and go on without.
            Some(Err(error)) => credentials.warnings.push(error.to_string()),
            None => {}
        }
        credentials
    }

    /// What a user should know, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The token for a host. The helper is called at most once for each host.
    pub async fn token(&self, host: &Hostname) -> Result<Option<Secret>, HelperError> {
        if let Some(secret) = self.environment.get(host) {
            return Ok(Some(secret.clone()));
        }
        if let Some(block) = self.blocks.get(host) {
            return Ok(block.clone());
        }
        let Some(helper) = &self.helper else { return Ok(None) };
        let call_helper = async {
            let limit = self.budget.helper().map_err(|exhausted| HelperError::Interrupted(exhausted.to_string()))?;
            call_helper(helper.clone(), host.clone(), limit).await
        };
        self.answers.answer(host.clone(), Box::pin(call_helper)).await
    }
}

async fn call_helper(helper: HelperProgram, host: Hostname, limit: Duration) -> Result<Option<Secret>, HelperError> {
    let asked = tokio::task::spawn_blocking(move || helper.token(&host, limit));
    asked.await.unwrap_or_else(|error| Err(HelperError::Interrupted(error.to_string())))
}

/// `my__corp_example_com` to `my-corp.example.com`.
fn host_of_variable(name: &str) -> Option<Hostname> {
    Hostname::parse_any_spelling(&name.replace("__", "-").replace('_', ".")).ok()
}

/// The name of the variable that gives a token for a host, for hints.
///
/// With a port it contains `:`, which shells cannot set but `env` can.
pub fn token_variable(host: &Hostname) -> String {
    format!("TF_TOKEN_{}", host.as_ascii().replace('-', "__").replace('.', "_"))
}

/// The variable, and how to set it where no shell can: a port brings a colon into its name.
pub fn token_variable_shown(host: &Hostname) -> String {
    let name = token_variable(host);
    if name.contains(':') {
        return format!("{name} (shells cannot export it: `env '{name}=TOKEN' tflock …`)");
    }
    name
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod credentials_tests;

//! What may be set about the client.

use std::time::Duration;

use super::proxy::Proxy;
use crate::disk::cli_config::RegistryProtocols;
use crate::settings::Variables;

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
        options.proxy = Proxy::of(variables);
        // What no header can carry would only make every request fail.
        let appended = variables.get("TF_APPEND_USER_AGENT").unwrap_or_default().replace(char::is_control, " ");
        if !appended.trim().is_empty() {
            options.user_agent = format!("{} {}", options.user_agent, appended.trim());
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_configuration() {
        let protocols = RegistryProtocols { retry_count: Some(0), request_timeout_seconds: Some(20) };
        let options = ClientOptions::configured(&Variables::default(), protocols);
        assert_eq!((options.retries, options.timeout), (0, Duration::from_secs(20)));
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

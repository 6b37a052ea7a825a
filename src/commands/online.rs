//! The network access of a run, shared by modules and providers: each host is connected to, discovered and given its token once.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::sources::watch;
use crate::dialect::Dialect;
use crate::disk::cli_config::CliConfig;
use crate::disk::files;
use crate::disk::oci_credentials::OciCredentials;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::net::{Background, Client, ClientOptions, Credentials, Discovery, RunBudget};
use crate::query::Events;
use crate::settings::Variables;
use crate::source::Connection;

pub struct Online {
    pub(super) background: Arc<Background>,
    variables: Variables,
    events: Events,
    budget: Arc<RunBudget>,
    /// By tool, since each has its own CLI configuration.
    of_tool: [OnceLock<Result<Access, Error>>; 2],
}

#[derive(Debug)]
pub(super) struct Access {
    pub(super) config: Arc<CliConfig>,
    pub(super) connection: Connection,
    /// Why the certificates of `SSL_CERT_FILE` cannot be used, if so.
    pub(super) roots_problem: Option<String>,
}

/// The certificates that the user trusts instead of the system's, and why the file cannot be used; then they are none, and
/// no server is trusted.
fn named_roots(path: &str) -> (Vec<u8>, Option<String>) {
    let wrong = match files::read_named_file(Path::new(path)) {
        Ok(Some(pem)) if memchr::memmem::find(&pem, b"-----BEGIN ").is_some() => return (pem, None),
        Ok(Some(_)) => "contains no PEM certificate".to_owned(),
        Ok(None) => "is not there".to_owned(),
        Err(problem) => format!("cannot be read: {problem}"),
    };
    (Vec::new(), Some(format!("SSL_CERT_FILE names {path}, which {wrong}")))
}

impl Online {
    /// Reads no file and contacts no server until necessary.
    pub fn new(variables: &Variables, events: &Events, interrupt: Interrupt) -> Self {
        let (variables, events) = (variables.clone(), events.clone());
        let budget = Arc::new(RunBudget::new(&variables));
        let background = Arc::new(Background::new(interrupt));
        Self { background, variables, events, budget, of_tool: Default::default() }
    }

    pub(super) fn access(&self, dialect: Dialect) -> Result<&Access, Error> {
        let of_tool = &self.of_tool[usize::from(dialect == Dialect::OpenTofu)];
        of_tool.get_or_init(|| self.open(dialect)).as_ref().map_err(Clone::clone)
    }

    fn open(&self, dialect: Dialect) -> Result<Access, Error> {
        let config = CliConfig::load(&self.variables, dialect)?;
        let (roots_pem, roots_problem) =
            self.variables.get("SSL_CERT_FILE").filter(|path| !path.is_empty()).map(named_roots).unzip();
        let options = ClientOptions::configured(&self.variables, config.registry_protocols);
        let client = self.client(ClientOptions { roots_pem, ..options });
        let credentials = Arc::new(Credentials::new(&self.variables, &config, Arc::clone(&self.budget)));
        let discovery = Arc::new(Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts.clone()));
        let defaults = config.oci_defaults.clone().unwrap_or_default();
        let oci = Arc::new(OciCredentials::new(&config.oci_credentials, &defaults, &self.variables));
        let connection = Connection { client, discovery, credentials, oci };
        Ok(Access { config: Arc::new(config), connection, roots_problem: roots_problem.flatten() })
    }

    /// A client with other options that emits the same events.
    pub(super) fn client(&self, options: ClientOptions) -> Client {
        Client::watched(options, watch(&self.events, self.background.over()), Arc::clone(&self.budget))
    }
}

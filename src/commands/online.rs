//! What it takes to ask servers, whatever they are asked for: made once in a run, so that each host is connected to, looked up
//! and given its token once for modules and providers together.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::sources::watch;
use crate::dialect::Dialect;
use crate::disk::cli_config::CliConfig;
use crate::error::Error;
use crate::net::{Background, Client, ClientOptions, Credentials, Discovery, RunBudget};
use crate::query::Events;
use crate::settings::Variables;

/// How the servers of a run are asked.
pub struct Online {
    /// The threads of the questions.
    pub(super) background: Arc<Background>,
    variables: Variables,
    events: Events,
    /// What the run may spend on servers.
    budget: Arc<RunBudget>,
    /// By tool, for each has its own CLI configuration.
    of_tool: [OnceLock<Result<Access, Error>>; 2],
}

/// What servers see of the user of one tool.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) config: Arc<CliConfig>,
    pub(super) client: Client,
    pub(super) credentials: Arc<Credentials>,
    pub(super) discovery: Arc<Discovery>,
}

impl Online {
    /// Nothing is read, and no server asked, before that is needed.
    pub fn new(variables: &Variables, events: &Events) -> Self {
        let (variables, events) = (variables.clone(), events.clone());
        let budget = Arc::new(RunBudget::new(&variables));
        Self { background: Arc::default(), variables, events, budget, of_tool: Default::default() }
    }

    /// What servers are asked with as the user of a tool.
    ///
    /// # Errors
    ///
    /// CLI configuration that cannot be read or understood.
    pub(super) fn access(&self, dialect: Dialect) -> Result<&Access, Error> {
        let of_tool = &self.of_tool[usize::from(dialect == Dialect::OpenTofu)];
        of_tool.get_or_init(|| self.open(dialect)).as_ref().map_err(Clone::clone)
    }

    fn open(&self, dialect: Dialect) -> Result<Access, Error> {
        let config = CliConfig::load(&self.variables, dialect)?;
        let client = self.client(ClientOptions::configured(&self.variables, config.registry_protocols));
        let credentials = Arc::new(Credentials::new(&self.variables, &config));
        let discovery = Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts.clone());
        Ok(Access { config: Arc::new(config), client, credentials, discovery: Arc::new(discovery) })
    }

    /// A client with other options, which tells what it does as well.
    pub(super) fn client(&self, options: ClientOptions) -> Client {
        Client::watched(options, watch(&self.events, self.background.over()), Arc::clone(&self.budget))
    }
}

impl fmt::Debug for Online {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Online")
    }
}

//! The services that every command receives: directories, the cache, progress events, and the network. Modules and providers
//! share it: each host is connected to, discovered and given its token once.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::sources::watch;
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, CacheOptions};
use crate::disk::cli_config::CliConfig;
use crate::disk::files;
use crate::disk::oci_credentials::OciCredentials;
use crate::disk::package_store::PackageStore;
use crate::disk::roots::ModuleFetch;
use crate::error::{Error, ErrorKind};
use crate::git::{Git, TrackedFiles};
use crate::interrupt::Interrupt;
use crate::modules::{Fetcher, FetcherOptions, ModuleRegistry, ModuleService, Netrc, Store};
use crate::net::{Background, Client, ClientOptions, Credentials, Discovery, RunBudget};
use crate::parallel::locked;
use crate::path::worktree;
use crate::query::{Event, Events};
use crate::settings::Variables;
use crate::source::Connection;
use crate::source::oci::OciClient;
use crate::workspace::discover::is_above_root_modules;
use crate::workspace::{RunSettings, Scope, named_roots};

pub struct Services<'a> {
    pub scope: Scope,
    pub events: Events,
    pub online: Arc<Online>,
    pub(crate) interrupt: Interrupt,
    pub stdin: Mutex<&'a mut (dyn Read + Send)>,
    /// Lets the user choose from a list; `None` without a terminal.
    pub(crate) choose: Option<Chooser>,
    /// True if the result is written in a format that explains what a change does.
    pub(crate) explains: bool,
}

/// Shows a question and a list, and returns the numbers of the chosen items.
pub(crate) type Chooser = Box<dyn Fn(&str, &[String]) -> Result<Vec<usize>, Error> + Send + Sync>;

impl Services<'_> {
    /// True if the one directory of the run is no root module, and there are root modules below it.
    pub fn is_above_root_modules(&self) -> bool {
        let [start] = &self.scope.directories()[..] else { return false };
        let start = if start.as_os_str().is_empty() { Path::new(".") } else { start };
        is_above_root_modules(start)
    }

    pub fn variables(&self) -> &Variables {
        &self.scope.environment.variables
    }

    pub fn named_roots(&self) -> Result<Vec<RunSettings>, Error> {
        named_roots(&self.scope)
    }

    pub fn read_stdin(&self) -> Result<Vec<u8>, Error> {
        self.read_stdin_to(u64::MAX - 1)
    }

    /// Reads at most `limit` bytes of standard input, plus one that reveals a longer text.
    pub fn read_stdin_to(&self, limit: u64) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        let mut stdin = locked(&self.stdin);
        let failed = |problem| Error::new(ErrorKind::Disk, format!("cannot read standard input: {problem}"));
        (&mut **stdin).take(limit + 1).read_to_end(&mut text).map_err(failed)?;
        Ok(text)
    }

    /// Progress events for one tool, whose default registry is omitted from provider names.
    pub fn events_for(&self, dialect: Option<Dialect>) -> Events {
        self.events.emit(Event::Tool { dialect });
        self.events.clone()
    }

    pub fn open_cache(&self, directories: &[PathBuf]) -> Cache {
        cache_for(&self.scope, directories)
    }

    pub fn open_cache_of(&self, roots: &[RunSettings]) -> Cache {
        self.open_cache(&roots.iter().map(|root| root.root.clone()).collect::<Vec<_>>())
    }
}

fn cache_for(scope: &Scope, directories: &[PathBuf]) -> Cache {
    Cache::open(cache_options(scope, directories))
}

/// The package store for root modules in these directories; without a cache, a temporary one for this run.
pub(crate) fn package_store(scope: &Scope, directories: &[PathBuf]) -> Result<PackageStore, Error> {
    let options = cache_options(scope, directories);
    if options.disabled {
        return PackageStore::temporary();
    }
    // Stored packages are hashed before use, so a change in the working tree cannot forge them.
    let is_ignored = |tree: &Path, place: &Path| {
        let is_tracked = TrackedFiles::default().first_at(place).map_or(true, |first| first.is_some());
        !is_tracked && Git::open(tree).is_ok_and(|git| git.is_ignored(&place.join("x")))
    };
    let hint = "set TFLOCK_CACHE_DIR to a directory of your own outside of the working tree, or to one in it that git ignores and in which it tracks nothing";
    options.package_store(is_ignored).map_err(|problem| Error::new(ErrorKind::Disk, problem).hint(hint))
}

fn cache_options(scope: &Scope, directories: &[PathBuf]) -> CacheOptions {
    // Root modules of one working tree share its top, which is costly to find.
    let mut work_trees: Vec<PathBuf> = Vec::new();
    for directory in directories {
        let directory = worktree::absolute(directory);
        if !work_trees.iter().any(|tree| directory.starts_with(tree)) {
            work_trees.extend(worktree::trees(&directory));
        }
    }
    CacheOptions {
        directory: scope.environment.variables.get("TFLOCK_CACHE_DIR").map(PathBuf::from),
        work_trees,
        disabled: scope.no_cache,
    }
}

pub struct Online {
    pub(in crate::commands) background: Arc<Background>,
    variables: Variables,
    events: Events,
    budget: Arc<RunBudget>,
    /// By tool, since each has its own CLI configuration.
    of_tool: [OnceLock<Result<Access, Error>>; 2],
}

#[derive(Debug)]
pub(crate) struct Access {
    pub(in crate::commands) config: Arc<CliConfig>,
    pub(in crate::commands) connection: Connection,
    /// Why the certificates of `SSL_CERT_FILE` cannot be used, if so.
    pub(super) roots_problem: Option<String>,
}

/// The certificates that the user trusts instead of the system's, and why the file cannot be used; then they are none, and
/// no server is trusted.
fn named_certificates(path: &str) -> (Vec<u8>, Option<String>) {
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

    pub(crate) fn access(&self, dialect: Dialect) -> Result<&Access, Error> {
        let of_tool = &self.of_tool[usize::from(dialect == Dialect::OpenTofu)];
        of_tool.get_or_init(|| self.open(dialect)).as_ref().map_err(Clone::clone)
    }

    fn open(&self, dialect: Dialect) -> Result<Access, Error> {
        let config = CliConfig::load(&self.variables, dialect)?;
        let (roots_pem, roots_problem) =
            self.variables.get("SSL_CERT_FILE").filter(|path| !path.is_empty()).map(named_certificates).unzip();
        let options = ClientOptions::configured(&self.variables, config.registry_protocols);
        let client = self.client(ClientOptions { roots_pem, ..options });
        let credentials = Arc::new(Credentials::new(&self.variables, &config, Arc::clone(&self.budget)));
        let discovery = Arc::new(Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts.clone()));
        let defaults = config.oci_defaults.clone().unwrap_or_default();
        let oci = Arc::new(OciCredentials::new(&config.oci_credentials, &defaults, &self.variables));
        let connection = Connection { client, discovery, credentials, oci, stand_in: None };
        Ok(Access { config: Arc::new(config), connection, roots_problem: roots_problem.flatten() })
    }

    /// A client with other options that emits the same events.
    pub(crate) fn client(&self, options: ClientOptions) -> Client {
        Client::watched(options, watch(&self.events, self.background.over()), Arc::clone(&self.budget))
    }
}

/// Fetches modules for all root modules of a run, each once; with `--offline` only cached ones.
pub fn module_fetch(scope: &Scope, online: &Arc<Online>) -> ModuleFetch {
    let (scope, background, online) = (scope.clone(), Arc::clone(&online.background), Arc::clone(online));
    Arc::new(ModuleService::new(background, move |dialect| fetcher(&scope, &online, dialect)))
}

fn fetcher(scope: &Scope, online: &Online, dialect: Dialect) -> Result<Fetcher, Error> {
    let environment = &scope.environment;
    let cache = cache_for(scope, &scope.directories());
    let store = Store::open(cache.dir(), environment.now)?;
    if let Some(note) = cache.dir().and_then(|_| cache.note()) {
        online.events.emit(Event::Note { text: note });
    }
    let access = online.access(dialect)?;
    let Connection { client, discovery, credentials, oci, .. } = access.connection.clone();
    let registry = ModuleRegistry::new(client.clone(), discovery, credentials);
    let oci = OciClient::new(client.clone(), oci);
    let netrc = Netrc::of_user(&environment.variables);
    let interrupt = online.background.interrupt();
    let options = FetcherOptions { offline: scope.offline, netrc, interrupt, ..FetcherOptions::new(oci) };
    Ok(Fetcher::new(client, registry, store, options))
}

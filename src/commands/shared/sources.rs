//! Opens the package sources of a run, from the command line, settings and CLI configuration. Root modules with the same
//! sources are queried together.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::addr::ProviderAddr;
use crate::commands::{Online, Services};
use crate::config::{StandIn, is_stand_in};
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::cli_config::{CliConfig, MethodKind};
use crate::disk::mirror::FilesystemMirror;
use crate::error::Error;
use crate::net::{ClientEvent, ClientOptions, Shutdown, Watch};
use crate::parallel::locked;
use crate::path::{shown, worktree};
use crate::query::engine::{DownloadBudget, Equipment, GatherOptions, SilentPlaces, UnusedMirrors, WitnessAccess};
use crate::query::question::Query;
use crate::query::{Event, Events, Session};
use crate::settings::SourceChoice;
use crate::source::provenance::AttestationService;
use crate::source::{Connection, Filter, IndexStores, Method, Registry, Source, SourceLocation};
use crate::words::counted;
use crate::workspace::{RootSource, RunSettings, Scope};

pub(crate) struct PackageSources<'a> {
    scope: &'a Scope,
    pub(in crate::commands) online: &'a Online,
    events: Events,
    cache: Arc<Cache>,
    /// Shared by the whole run.
    budget: Arc<DownloadBudget>,
    /// Also shared: the witnesses that did not answer in time.
    silent: SilentPlaces,
    sessions: Mutex<BTreeMap<SourceSetup, Opened>>,
    /// Notes for users, each once.
    notes: Mutex<BTreeSet<String>>,
    /// The providers that the CLI configuration takes from mirrors, where registries are used.
    mirrored: Mutex<BTreeMap<Dialect, BTreeSet<ProviderAddr>>>,
    /// True once the help of an error says so.
    is_named: Arc<AtomicBool>,
}

/// Root modules by their paths, each as it was read or with the error.
pub(in crate::commands) type RootResults<T> = Vec<(PathBuf, Result<T, Error>)>;

/// Opened sources; `None` if they need the network and `--offline` forbids it.
pub(crate) type Opened = Result<Option<Session>, Error>;

/// The sources of root modules; root modules with equal sources share every query.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SourceSetup {
    dialect: Dialect,
    methods: Vec<Method>,
    /// What `localterraform.com` means, if one of their providers is of there.
    stand_in: Option<StandIn>,
}

pub(crate) struct Group<R> {
    pub(in crate::commands) members: Vec<R>,
    pub(in crate::commands) opened: Opened,
}

impl<'a> PackageSources<'a> {
    pub(crate) fn new(services: &'a Services<'_>, cache: &Arc<Cache>) -> Self {
        let (events, cache) = (services.events.clone(), Arc::clone(cache));
        Self {
            scope: &services.scope,
            online: &services.online,
            events,
            cache,
            budget: Arc::default(),
            silent: SilentPlaces::default(),
            sessions: Mutex::default(),
            notes: Mutex::default(),
            mirrored: Mutex::default(),
            is_named: Arc::default(),
        }
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let mirrored = std::mem::take(&mut *locked(&self.mirrored));
        let mirrored = mirrored.iter().filter(|_| !self.is_named.load(Ordering::Relaxed));
        let unused: Vec<String> =
            mirrored.filter_map(|(dialect, providers)| unused_mirrors(*dialect, providers)).collect();
        std::mem::take(&mut *locked(&self.notes)).into_iter().chain(unused).collect()
    }

    /// Prints a note immediately.
    pub(crate) fn print(&self, text: String) {
        self.events.emit(Event::Note { text });
    }

    fn note(&self, text: impl Into<String>) {
        locked(&self.notes).insert(text.into());
    }

    /// Groups root modules by their sources. Each is given with its source and providers.
    pub(in crate::commands) fn groups<R, A: Borrow<ProviderAddr>, S: Borrow<RootSource>, P: Iterator<Item = A>>(
        &self,
        roots: impl IntoIterator<Item = (R, S, P)>,
    ) -> Vec<Group<R>> {
        let (mut groups, mut failed) = (BTreeMap::<SourceSetup, Vec<R>>::new(), Vec::new());
        for (root, source, providers) in roots {
            match self.of(source.borrow(), providers) {
                Ok(setup) => groups.entry(setup).or_default().push(root),
                Err(error) => failed.push(Group { members: vec![root], opened: Err(error) }),
            }
        }
        let groups = groups.into_iter().map(|(setup, members)| Group { members, opened: self.session(&setup) });
        groups.chain(failed).collect()
    }

    /// Groups root modules that keep their paths. `queries` returns the sources of one and its providers; failed ones form
    /// a group of their own.
    pub(in crate::commands) fn by_source<T>(
        &self,
        roots: RootResults<T>,
        queries: impl Fn(&T) -> (RootSource, Vec<ProviderAddr>),
    ) -> Vec<(Opened, RootResults<T>)> {
        let (mut opened, mut failed) = (Vec::new(), RootResults::new());
        for (path, root) in roots {
            match root {
                Ok(root) => {
                    let (source, providers) = queries(&root);
                    opened.push(((path, Ok(root)), source, providers.into_iter()));
                }
                Err(error) => failed.push((path, Err(error))),
            }
        }
        let groups = self.groups(opened).into_iter().map(|Group { members, opened }| (opened, members));
        groups.chain([(Ok(None), failed)]).collect()
    }

    /// Calls `query` once for each group, and returns the results by the number of the root module. `query` returns
    /// results in the order of the members.
    pub(in crate::commands) fn query_groups<'p, T, S: Borrow<RootSource>, P: Iterator<Item = &'p ProviderAddr>>(
        &self,
        roots: impl IntoIterator<Item = (usize, S, P)>,
        mut query: impl FnMut(Option<Session>, &[usize]) -> Result<Vec<T>, Error>,
    ) -> BTreeMap<usize, Result<T, Error>> {
        let mut answers = BTreeMap::new();
        for Group { members, opened } in self.groups(roots) {
            match opened.and_then(|session| query(session, &members)) {
                Ok(given) => answers.extend(members.into_iter().zip(given.into_iter().map(Ok))),
                Err(error) => answers.extend(members.into_iter().map(|number| (number, Err(error.clone())))),
            }
        }
        answers
    }

    /// Starts queries of a root module before all of them are known. Later queries return the results and errors.
    pub(crate) fn prefetch(&self, source: &RootSource, steps: &BTreeMap<ProviderAddr, Query>) {
        let session = self.setup(source, steps.keys()).and_then(|setup| self.session(&setup));
        if let Ok(Some(session)) = session {
            session.prefetch(steps.clone());
        }
    }

    fn of<A: Borrow<ProviderAddr>>(
        &self,
        source: &RootSource,
        providers: impl Iterator<Item = A>,
    ) -> Result<SourceSetup, Error> {
        let providers: Vec<A> = providers.collect();
        if source.choice == SourceChoice::Configured {
            let config = self.config(source.dialect)?;
            self.note_overrides(&config);
        } else if source.is_default && !self.scope.offline {
            self.note_unused(source, &providers)?;
        }
        self.setup(source, providers.iter().map(Borrow::borrow))
    }

    fn setup<'p>(
        &self,
        source: &RootSource,
        mut providers: impl Iterator<Item = &'p ProviderAddr>,
    ) -> Result<SourceSetup, Error> {
        let dialect = source.dialect;
        let is_configured = source.choice == SourceChoice::Configured;
        let config = if is_configured { self.config(dialect)? } else { Arc::default() };
        let methods = Method::of(&source.choice, &config, dialect, &source.root)?;
        let stand_in = if providers.any(|addr| is_stand_in(addr.host())) {
            source.stand_ins.of_root(&source.root, dialect)
        } else {
            None
        };
        Ok(SourceSetup { dialect, methods, stand_in })
    }

    /// The providers that a root module gets from a filesystem mirror inside one of some working trees. Errors about
    /// sources are reported when they are queried.
    pub(in crate::commands) fn served_within<'p>(
        &self,
        source: &RootSource,
        trees: &[PathBuf],
        providers: impl Iterator<Item = &'p ProviderAddr>,
    ) -> BTreeSet<ProviderAddr> {
        let Ok(SourceSetup { methods, .. }) = self.setup(source, std::iter::empty()) else { return BTreeSet::new() };
        let within: Vec<(&Filter, FilesystemMirror)> = methods
            .iter()
            .filter_map(|method| match &method.place {
                SourceLocation::Directory(directory) if worktree::is_within(directory, trees) => {
                    Some((&method.filter, FilesystemMirror::open(directory).ok()?))
                }
                _ => None,
            })
            .collect();
        let serves = |addr: &&ProviderAddr| {
            within.iter().any(|(filter, mirror)| {
                let lacks = || mirror.packages(addr).is_ok_and(|packages| packages.is_empty());
                filter.takes(addr) && !lacks()
            })
        };
        providers.filter(serves).cloned().collect()
    }

    fn config(&self, dialect: Dialect) -> Result<Arc<CliConfig>, Error> {
        let config = &self.online.access(dialect)?.config;
        locked(&self.notes).extend(config.warnings.iter().cloned());
        Ok(Arc::clone(config))
    }

    fn session(&self, setup: &SourceSetup) -> Opened {
        let mut sessions = locked(&self.sessions);
        let opened = sessions.entry(setup.clone()).or_insert_with(|| self.open(setup));
        opened.clone()
    }

    /// The directory from which `dev_overrides` run a provider. The CLI configuration was read before, so its errors are known.
    pub(in crate::commands) fn override_of(&self, dialect: Dialect, addr: &ProviderAddr) -> Option<PathBuf> {
        let config = self.config(dialect).ok()?;
        let mut overrides = config.installation.iter().flat_map(|installation| &installation.dev_overrides);
        let is_meant = |text: &str| ProviderAddr::parse(text, dialect).is_ok_and(|meant| meant == *addr);
        overrides.find(|over| is_meant(&over.address)).map(|over| over.path.clone())
    }

    /// Notes the providers whose locked packages are overridden and not installed.
    fn note_overrides(&self, config: &CliConfig) {
        for over in config.installation.iter().flat_map(|installation| &installation.dev_overrides) {
            self.note(format!(
                "dev_overrides of the CLI configuration run {} from {}, whatever is locked",
                over.address,
                shown(&over.path)
            ));
        }
    }

    /// Remembers that the CLI configuration has other sources, unless an option or setting chose the source.
    fn note_unused<A: Borrow<ProviderAddr>>(&self, source: &RootSource, providers: &[A]) -> Result<(), Error> {
        let config = self.config(source.dialect)?;
        let methods = Method::of(&SourceChoice::Configured, &config, source.dialect, &source.root);
        // Errors about sources that this run does not use are not reported.
        let Ok(methods) = methods else { return Ok(()) };
        let is_elsewhere = |addr: &&ProviderAddr| {
            let mut taking = methods.iter().filter(|method| method.filter.takes(addr));
            let direct = taking.next().is_some_and(|method| matches!(method.place, SourceLocation::Direct { .. }));
            !direct || taking.next().is_some()
        };
        let elsewhere = providers.iter().map(Borrow::borrow).filter(is_elsewhere).cloned();
        locked(&self.mirrored).entry(source.dialect).or_default().extend(elsewhere);
        Ok(())
    }

    /// Opens the sources; `None` if they need the network and `--offline` forbids it.
    fn open(&self, setup: &SourceSetup) -> Opened {
        let is_directory = |method: &Method| matches!(method.place, SourceLocation::Directory(_));
        if self.scope.offline && !setup.methods.iter().all(is_directory) {
            return Ok(None);
        }
        let connect = |retries| {
            let connection = self.online(setup.dialect, retries)?;
            Ok(Connection { stand_in: setup.stand_in.clone(), ..connection })
        };
        let source = |method: &Method| Ok((method.filter.clone(), Source::open(method, connect)?));
        let sources = setup.methods.iter().map(source).collect::<Result<_, Error>>()?;
        let equipment = Equipment {
            budget: Arc::clone(&self.budget),
            cache: Arc::clone(&self.cache),
            events: self.events.clone(),
            now: self.scope.environment.now,
            dialect: setup.dialect,
            threads: Arc::default(),
            attestations: self.attestations(setup.dialect)?,
            witnesses: self.witnesses(setup.dialect)?,
        };
        let unused = UnusedMirrors { filters: self.unused(setup)?, is_named: Arc::clone(&self.is_named) };
        Ok(Some(Session::open(Arc::clone(&self.online.background), GatherOptions { sources, equipment, unused })))
    }

    /// What the mirrors of the CLI configuration take, where the run uses the registries by default.
    fn unused(&self, setup: &SourceSetup) -> Result<Vec<Filter>, Error> {
        if self.scope.source.is_some() || setup.methods != [Method::origin()] {
            return Ok(Vec::new());
        }
        let config = self.config(setup.dialect)?;
        let methods = Method::of(&SourceChoice::Configured, &config, setup.dialect, Path::new(""));
        // Errors about sources that this run does not use are not reported.
        let mirrors = methods.into_iter().flatten();
        let mirrors = mirrors.filter(|method| !matches!(method.place, SourceLocation::Direct { .. }));
        Ok(mirrors.map(|method| method.filter).collect())
    }

    /// Who knows where releases were built; `None` with `--offline`.
    fn attestations(&self, dialect: Dialect) -> Result<Option<AttestationService>, Error> {
        if self.scope.offline {
            return Ok(None);
        }
        let client = self.online.access(dialect)?.connection.client.clone();
        Ok(Some(AttestationService::new(client, &self.scope.environment.variables)))
    }

    /// Who else knows releases; `None` with `--offline`.
    fn witnesses(&self, dialect: Dialect) -> Result<Option<Arc<WitnessAccess>>, Error> {
        let Some(github) = self.attestations(dialect)? else { return Ok(None) };
        let registry = Registry::new(self.online(dialect, None)?);
        Ok(Some(Arc::new(WitnessAccess { registry, github, silent: Arc::clone(&self.silent) })))
    }

    pub(in crate::commands) fn index_stores(&self, dialect: Dialect) -> Result<IndexStores, Error> {
        let Connection { client, credentials, .. } = self.online(dialect, None)?;
        Ok(IndexStores::new(&client, credentials, client.options().timeout))
    }

    /// The network access of a tool, with the given number of download retries.
    fn online(&self, dialect: Dialect, download_retries: Option<u32>) -> Result<Connection, Error> {
        let access = self.online.access(dialect)?;
        let Connection { client, credentials, .. } = &access.connection;
        let warnings = access.config.warnings.iter().chain(credentials.warnings());
        locked(&self.notes).extend(warnings.cloned().chain(access.roots_problem.clone()));
        let options = client.options();
        let other = download_retries.filter(|retries| *retries != options.download_retries);
        let with = |download_retries| self.online.client(ClientOptions { download_retries, ..options.clone() });
        Ok(Connection { client: other.map_or_else(|| client.clone(), with), ..access.connection.clone() })
    }
}

/// The note that mirrors are not used.
fn unused_mirrors(dialect: Dialect, providers: &BTreeSet<ProviderAddr>) -> Option<String> {
    let first = providers.first()?;
    let others = match providers.len() - 1 {
        0 => String::new(),
        count => format!(" and {}", counted(count, "more provider")),
    };
    Some(format!(
        "your CLI configuration uses a mirror for {first}{others}; tflock uses the origin registry; with --source configured \
         it uses the same mirrors as `{} init`",
        dialect.program()
    ))
}

pub(crate) fn watch(events: &Events, over: Shutdown) -> Watch {
    let events = events.clone();
    Watch::by(move |doing| {
        events.emit(match doing {
            // A request that is cut off at the end of the run is not retried.
            _ if over.is_requested() => return,
            ClientEvent::Requesting(url) => Event::Request { url: url.to_string() },
            ClientEvent::Again(error, delay) => {
                // Our own delays are short and random; one that a server requires may be long.
                let wait = if delay.as_secs() < 5 { String::new() } else { format!(" in {} s", delay.as_secs()) };
                Event::Note { text: format!("{error}; trying again{wait}") }
            }
        });
    })
}

/// The plugin cache and the filesystem mirrors of one root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::commands) struct LocalPlaces {
    pub(in crate::commands) plugin_cache: Option<PathBuf>,
    pub(in crate::commands) mirrors: Vec<PathBuf>,
}

impl LocalPlaces {
    /// Source: `internal/command/cliconfig/provider_installation.go` and `provider_source.go` of both tools.
    pub(crate) fn of(settings: &RunSettings) -> Result<Self, Error> {
        let config = CliConfig::load(&settings.variables, settings.dialect)?;
        let mirror = |kind: &MethodKind| match kind {
            MethodKind::FilesystemMirror { path } => Some(settings.root.join(path)),
            _ => None,
        };
        let stated = config.installation.as_ref().map(|installation| installation.methods.iter());
        let mirrors = stated.map_or_else(
            || config.plugin_dirs(&settings.root),
            |methods| methods.filter_map(|method| mirror(&method.kind)).collect(),
        );
        Ok(Self { plugin_cache: config.plugin_cache_dir.map(|cache| settings.root.join(cache)), mirrors })
    }
}

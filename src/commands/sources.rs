//! Where a run asks for packages: from what command line, settings and CLI configuration say to opened sources.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Services;
use crate::addr::ProviderAddr;
use crate::ask::gather::{Allowance, Equipment, GatherOptions};
use crate::ask::{Event, Events};
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::cli_config::CliConfig;
use crate::disk::oci_credentials::OciCredentials;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::Threads;
use crate::net::{Client, ClientOptions, Credentials, Discovery, Doing, Watch};
use crate::settings::SourceChoice;
use crate::source::oci::{OciClient, OciMirror, Template};
use crate::source::{DirectoryMirror, IndexStores, Method, Mirror, NetworkMirror, Place, Registry, Source};
use crate::workspace::{RootSource, Scope};

/// The sources of a run. Root modules may have different ones.
pub(super) struct Sources<'a> {
    scope: &'a Scope,
    events: Events,
    cache: Arc<Cache>,
    /// Of the whole run, whoever is asked.
    allowance: Arc<Allowance>,
    known: Mutex<Known>,
}

/// What was read and told already.
#[derive(Default)]
struct Known {
    configs: BTreeMap<Dialect, Arc<CliConfig>>,
    /// What people should know, each line once.
    notes: BTreeSet<String>,
}

/// The sources that some root modules ask. Those that ask the same share every question.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    dialect: Dialect,
    methods: Vec<Method>,
}

/// Root modules that ask the same sources.
pub(super) struct Group {
    /// Their numbers.
    pub(super) members: Vec<usize>,
    /// The sources, opened; none where --offline forbids asking them. Why not, where that fails.
    pub(super) opened: Result<Option<GatherOptions>, Error>,
}

impl<'a> Sources<'a> {
    /// Nothing is read yet.
    pub(super) fn new(services: &'a Services<'_>, cache: &Arc<Cache>) -> Self {
        let (events, cache) = (services.events.clone(), Arc::clone(cache));
        Self { scope: &services.scope, events, cache, allowance: Arc::default(), known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What people should know of the sources, a line each.
    pub(super) fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.known().notes).into_iter().collect()
    }

    fn note(&self, text: impl Into<String>) {
        self.known().notes.insert(text.into());
    }

    /// Root modules by the sources they ask, each given with its number and the providers that it asks about.
    pub(super) fn groups<'p, S: Borrow<RootSource>, P: Iterator<Item = &'p ProviderAddr>>(
        &self,
        roots: impl IntoIterator<Item = (usize, S, P)>,
    ) -> Vec<Group> {
        let (mut groups, mut failed) = (BTreeMap::<Asked, Vec<usize>>::new(), Vec::new());
        for (number, source, providers) in roots {
            match self.of(source.borrow(), providers) {
                Ok(asked) => groups.entry(asked).or_default().push(number),
                Err(error) => failed.push(Group { members: vec![number], opened: Err(error) }),
            }
        }
        let groups = groups.into_iter().map(|(asked, members)| Group { members, opened: self.open(&asked) });
        groups.chain(failed).collect()
    }

    /// What `ask` gives for each root module, by number: it is called once for each group, and answers for the members in
    /// their order. After an interruption no server is asked any more.
    pub(super) fn ask<'p, T, S: Borrow<RootSource>, P: Iterator<Item = &'p ProviderAddr>>(
        &self,
        roots: impl IntoIterator<Item = (usize, S, P)>,
        mut ask: impl FnMut(Option<GatherOptions>, &[usize]) -> Result<Vec<T>, Error>,
    ) -> BTreeMap<usize, Result<T, Error>> {
        let mut answers = BTreeMap::new();
        let mut interrupted: Option<Error> = None;
        for Group { members, opened } in self.groups(roots) {
            let opened = interrupted.clone().map_or(opened, Err);
            match opened.and_then(|options| ask(options, &members)) {
                Ok(given) => answers.extend(members.into_iter().zip(given.into_iter().map(Ok))),
                Err(error) => {
                    answers.extend(members.into_iter().map(|number| (number, Err(error.clone()))));
                    interrupted = Some(error).filter(|error| error.kind == ErrorKind::Interrupted);
                }
            }
        }
        answers
    }

    /// Which sources a root module asks about some providers.
    ///
    /// # Errors
    ///
    /// CLI configuration that cannot be read or understood, where it is needed.
    fn of<'p>(&self, source: &RootSource, providers: impl Iterator<Item = &'p ProviderAddr>) -> Result<Asked, Error> {
        let dialect = source.dialect;
        if source.choice == SourceChoice::Configured {
            let config = self.config(dialect)?;
            let methods = Method::of(&source.choice, &config, (dialect, &source.root))?;
            self.tell_overrides(&config);
            return Ok(Asked { dialect, methods });
        }
        if source.is_default && !self.scope.offline {
            self.tell_unasked(source, providers)?;
        }
        let methods = Method::of(&source.choice, &CliConfig::default(), (dialect, &source.root))?;
        Ok(Asked { dialect, methods })
    }

    /// The CLI configuration of a tool, read once.
    fn config(&self, dialect: Dialect) -> Result<Arc<CliConfig>, Error> {
        if let Some(config) = self.known().configs.get(&dialect) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(CliConfig::load(&self.scope.environment.variables, dialect)?);
        let mut known = self.known();
        known.notes.extend(config.warnings.iter().cloned());
        known.configs.insert(dialect, Arc::clone(&config));
        Ok(config)
    }

    /// Providers that are not installed at all, whatever is locked.
    fn tell_overrides(&self, config: &CliConfig) {
        for over in config.installation.iter().flat_map(|installation| &installation.dev_overrides) {
            self.note(format!(
                "dev_overrides of the CLI configuration run {} from {}, whatever is locked",
                over.address,
                over.path.display()
            ));
        }
    }

    /// The note where the CLI configuration has other sources, and no option or setting says that they are not to be asked.
    fn tell_unasked<'p>(
        &self,
        source: &RootSource,
        providers: impl Iterator<Item = &'p ProviderAddr>,
    ) -> Result<(), Error> {
        let config = self.config(source.dialect)?;
        let methods = Method::of(&SourceChoice::Configured, &config, (source.dialect, &source.root));
        // What is wrong with methods that are not asked is told by whoever asks them.
        let Ok(methods) = methods else { return Ok(()) };
        let is_elsewhere = |addr: &&ProviderAddr| {
            let mut taking = methods.iter().filter(|method| method.filter.takes(addr));
            let direct = taking.next().is_some_and(|method| matches!(method.place, Place::Direct { .. }));
            !direct || taking.next().is_some()
        };
        let mut elsewhere = providers.filter(is_elsewhere);
        let Some(first) = elsewhere.next() else { return Ok(()) };
        let others = match elsewhere.count() {
            0 => String::new(),
            1 => " and 1 more provider".to_owned(),
            count => format!(" and {count} more providers"),
        };
        self.note(format!(
            "the CLI configuration installs {first}{others} by other means than from the origin registry alone, which is what \
             was asked; --source configured asks as `{} init` does",
            source.dialect.program()
        ));
        Ok(())
    }

    /// The sources, opened; none where --offline forbids asking them.
    ///
    /// # Errors
    ///
    /// A mirror that is none, or CLI configuration that cannot be read.
    fn open(&self, asked: &Asked) -> Result<Option<GatherOptions>, Error> {
        let is_directory = |method: &Method| matches!(method.place, Place::Directory(_));
        if self.scope.offline && !asked.methods.iter().all(is_directory) {
            return Ok(None);
        }
        let mut sources = Vec::new();
        for method in &asked.methods {
            sources.push((method.filter.clone(), self.source(method, asked.dialect)?));
        }
        let equipment = Equipment {
            allowance: Arc::clone(&self.allowance),
            cache: Arc::clone(&self.cache),
            events: self.events.clone(),
            now: self.scope.environment.now,
            dialect: asked.dialect,
        };
        Ok(Some(GatherOptions { sources, equipment, threads: Threads::One }))
    }

    fn source(&self, method: &Method, dialect: Dialect) -> Result<Source, Error> {
        match &method.place {
            Place::Directory(base) => Ok(Source::Mirror(Mirror::Directory(DirectoryMirror::new(base.clone())))),
            Place::Direct { download_retries } => {
                let (client, credentials, config) = self.online(dialect, *download_retries)?;
                let discovery = Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts.clone());
                Ok(Source::Registry(Box::new(Registry::new(client, discovery, credentials))))
            }
            Place::Network { url, download_retries, trust_all_hashes } => {
                let (client, credentials, _) = self.online(dialect, *download_retries)?;
                let mirror = NetworkMirror::new(client, credentials, url)?.trusting_all_hashes(*trust_all_hashes);
                Ok(Source::Mirror(Mirror::Network(Box::new(mirror))))
            }
            Place::Oci(template) => {
                let (client, _, config) = self.online(dialect, None)?;
                let parsed = Template::parse(template, &method.filter.include)?;
                let mirror = OciMirror::new(oci_client(client, &config, self.scope), parsed, template);
                Ok(Source::Mirror(Mirror::Oci(Box::new(mirror))))
            }
        }
    }

    /// What writes shared indexes, as the user of a tool.
    ///
    /// # Errors
    ///
    /// CLI configuration that cannot be read.
    pub(super) fn index_stores(&self, dialect: Dialect) -> Result<IndexStores, Error> {
        let (client, credentials, _) = self.online(dialect, None)?;
        Ok(IndexStores::new(client.options(), credentials, client.options().timeout))
    }

    /// What it takes to ask servers.
    fn online(
        &self,
        dialect: Dialect,
        download_retries: Option<u32>,
    ) -> Result<(Client, Arc<Credentials>, Arc<CliConfig>), Error> {
        let (variables, config) = (&self.scope.environment.variables, self.config(dialect)?);
        let mut options = ClientOptions::configured(variables, config.registry_protocols);
        options.download_retries = download_retries.unwrap_or(options.download_retries);
        let credentials = Credentials::new(variables, &config);
        self.known().notes.extend(credentials.warnings().iter().cloned());
        Ok((Client::watched(options, watch(&self.events)), Arc::new(credentials), config))
    }
}

/// The credentials with which OCI registries are asked.
pub(super) fn oci_client(client: Client, config: &CliConfig, scope: &Scope) -> OciClient {
    let defaults = config.oci_defaults.clone().unwrap_or_default();
    let variables = &scope.environment.variables;
    OciClient::new(client, Arc::new(OciCredentials::new(&config.oci_credentials, &defaults, variables)))
}

/// What the client does, as events.
pub(super) fn watch(events: &Events) -> Watch {
    let events = events.clone();
    Watch::by(move |doing| {
        events.emit(match doing {
            Doing::Asking(url) => Event::Request { url: url.to_string() },
            Doing::Again(error, delay) => {
                // Our own delays are short and at random; one that a server asked for may be long.
                let wait = if delay.as_secs() < 5 { String::new() } else { format!(" in {} s", delay.as_secs()) };
                Event::Note { text: format!("{error}; asking again{wait}") }
            }
        });
    })
}

//! Modules that are fetched for a tree while it is read, because they are neither local nor installed.
//!
//! Reading a tree and fetching take turns: what is read names what is missing, someone fetches it, and the tree is read
//! again. Nothing here knows where modules come from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::error::{self, Assignment};
use super::{
    KeptUnit, MissingModules, ModuleLookup, StandInTerms, Tree, TreeError, TreeOptions, UnitOptions, load_tree,
};
use crate::addr::Hostname;
use crate::config::ModuleSource;
use crate::dialect::Dialect;
use crate::disk::roots;
use crate::error::Error;
use crate::modulelock::{Ambiguity, ModuleContent, ModuleKey, ModuleLock, ModulePin, Offered, Served};
use crate::terragrunt::Environment;
use crate::version::{ModuleConstraints, ModuleVersion};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleRequest {
    pub source: ModuleSource,
    pub constraints: Option<ModuleConstraints>,
    pub pin: Option<ModulePin>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedModule {
    pub dir: PathBuf,
    /// The top of its package, absolute: local modules below it are inside.
    pub package: PathBuf,
    pub version: Option<ModuleVersion>,
    pub shown: String,
    pub content: Option<ModuleContent>,
    /// Why it cannot be locked, if so; not known if only its configuration was fetched.
    pub ambiguity: Option<Ambiguity>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchedModules(BTreeMap<RequestKey, Result<FetchedModule, Error>>);

type RequestKey = (String, String, Option<(String, ModuleContent)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleTerms {
    pub dialect: Dialect,
    /// The hosts that modules may come from, by policy; none for any.
    pub hosts: Option<BTreeSet<Hostname>>,
    /// True if whole packages are wanted, and not only their configuration.
    pub whole: bool,
    /// True if what was learnt a while ago does not count.
    pub fresh: bool,
    pub work_tree: PathBuf,
    /// The directory of the root module.
    pub root: PathBuf,
    /// What `localterraform.com` may mean there.
    pub stand_ins: StandInTerms,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleLocking {
    pub wanted: bool,
    /// The packages that are newly selected.
    pub reselected: Reselected,
    /// True if what is locked of the other tool's default registry counts for the same modules of this one's.
    pub moves: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Reselected {
    #[default]
    None,
    All,
    Named(Vec<String>),
}

/// Takes what came of a request, on any thread.
pub type Handler = Box<dyn FnOnce(Result<FetchedModule, Error>) + Send>;

/// Fetches modules, and finds out what their sources serve and offer now.
pub trait FetchModules: Send + Sync {
    /// Begins to fetch a module; what comes of it is handed over later.
    fn begin(&self, terms: &ModuleTerms, request: &ModuleRequest, handler: Handler);

    /// What the sources of requests serve now in the place of what is locked, in the order of the requests.
    fn served(&self, terms: &ModuleTerms, requests: &[(ModuleRequest, ModulePin)]) -> Vec<Result<Served, Error>>;

    /// What the sources of requests offer now, in their order.
    fn offered(&self, terms: &ModuleTerms, requests: &[ModuleRequest]) -> Vec<Result<Offered, Error>>;
}

pub type ModuleFetch = Arc<dyn FetchModules>;

impl fmt::Debug for dyn FetchModules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FetchModules")
    }
}

#[derive(Debug, Clone, Default)]
pub struct ModuleAccess {
    pub lookup: ModuleLookup,
    /// What fetches those that are not installed, if anything.
    pub fetch: Option<ModuleFetch>,
    pub fetched: Arc<FetchedModules>,
    pub locking: ModuleLocking,
    /// Variables that the command line sets, for sources that depend on them; the last one counts.
    pub assigned: Vec<AssignedVariable>,
    /// The directory of test files that the command line names, relative to the root module.
    pub test_directory: Option<PathBuf>,
    /// True if computed sources of units may name only hosts of the policy, as a change could choose the host.
    pub is_guarded: bool,
    /// What the command line says of the environment of units.
    pub environment: Environment,
    /// What the settings of a change say of it, if those of the base apply and differ: the worse of both counts.
    pub other_environment: Option<Environment>,
    /// The hosts of sources that are written as they are at the base.
    pub known_hosts: Arc<BTreeSet<Hostname>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignedVariable {
    Value(String, String),
    /// A file of variables, from the directory of the process.
    File(PathBuf),
}

impl ModuleAccess {
    /// The environment of units: the command line goes before settings.
    pub fn over(&self, settings: &Environment) -> Environment {
        settings.clone().into_iter().chain(self.environment.clone()).collect()
    }

    /// Reads a tree and fetches what is missing in it; shows what is known of it before each fetch. Takes no lock
    /// itself while it waits for a server.
    pub fn load_tree(
        &mut self,
        root: &Path,
        options: &TreeOptions,
        terms: &ModuleTerms,
        show: &dyn Fn(&Arc<Tree>),
    ) -> Result<Arc<Tree>, Vec<TreeError>> {
        let read = roots::read(root).map_err(|error| vec![*error])?.map(Arc::new);
        let locked = read.as_ref().map(|read| &read.file.lock);
        let pins = self.locking.pins(locked, terms.dialect).map(Arc::new);
        let fresh = self.locking.reselected != Reselected::None;
        let terms = ModuleTerms { whole: pins.is_some(), fresh, ..terms.clone() };
        let assigned = self.assigned().map_err(|error| vec![error])?;
        let options = TreeOptions { pins, assigned, ..options.clone() };
        let mut tree = self.load_pinned(root, &options, &terms, show)?;
        if read.is_some() {
            Arc::make_mut(&mut tree).module_lock = read;
        }
        Ok(tree)
    }

    /// What the command line sets variables to, in its order.
    fn assigned(&self) -> Result<Vec<Assignment>, TreeError> {
        let assigned = self.assigned.iter().map(|assigned| match assigned {
            AssignedVariable::Value(name, value) => Ok(Assignment::Value(name.clone(), value.clone())),
            AssignedVariable::File(path) => error::named(path),
        });
        assigned.collect()
    }

    fn load_pinned(
        &mut self,
        root: &Path,
        options: &TreeOptions,
        terms: &ModuleTerms,
        show: &dyn Fn(&Arc<Tree>),
    ) -> Result<Arc<Tree>, Vec<TreeError>> {
        let mut under_way = UnderWay::default();
        let units = UnitOptions { kept: KeptUnit::new(), ..options.units.clone() };
        let options = &TreeOptions { units, ..options.clone() };
        loop {
            let (modules, fetched, fetching) = (self.lookup, Arc::clone(&self.fetched), self.fetch.is_some());
            let options = TreeOptions { modules, fetched, fetching, ..options.clone() };
            let Some(fetch) = self.fetch.as_ref().filter(|_| self.lookup == ModuleLookup::Auto) else {
                return load_tree(root, &options);
            };
            let tree = match load_tree(root, &TreeOptions { missing: MissingModules::Skip, ..options.clone() }) {
                // Errors are reported for the whole tree.
                Err(_) if !under_way.is_over() => {
                    Arc::make_mut(&mut self.fetched).0.extend(under_way.arrived());
                    continue;
                }
                tree => tree?,
            };
            for request in tree.missing.iter().filter_map(|missing| missing.request.as_ref()) {
                if self.fetched.get(request).is_none() {
                    under_way.begin(request, |handler| fetch.begin(terms, request, handler));
                }
            }
            if under_way.is_over() {
                let is_whole = tree.missing.is_empty() || options.missing == MissingModules::Skip;
                return if is_whole { Ok(tree) } else { load_tree(root, &options) };
            }
            show(&tree);
            Arc::make_mut(&mut self.fetched).0.extend(under_way.arrived());
        }
    }
}

impl ModuleLocking {
    /// What calls are checked against; `None` if modules are not locked.
    fn pins(&self, locked: Option<&ModuleLock>, dialect: Dialect) -> Option<ModuleLock> {
        let locked = match locked {
            Some(locked) => locked,
            None if self.wanted => return Some(ModuleLock::default()),
            None => return None,
        };
        Some(match &self.reselected {
            Reselected::None if self.moves => locked.with_those_of_other_tool(dialect),
            Reselected::None => locked.clone(),
            Reselected::All => ModuleLock::default(),
            Reselected::Named(names) => {
                let meant: BTreeSet<&str> = names.iter().flat_map(|name| locked.named(name, dialect)).collect();
                locked.without(|key: &ModuleKey| meant.contains(key.source.as_str()))
            }
        })
    }
}

impl FetchedModules {
    pub fn get(&self, request: &ModuleRequest) -> Option<&Result<FetchedModule, Error>> {
        self.0.get(&key(request))
    }
}

impl FetchedModule {
    pub(super) fn shown_path(&self, path: &Path) -> PathBuf {
        let within = path.strip_prefix(&self.package).unwrap_or(path);
        PathBuf::from(format!("{}//{}", self.shown, within.to_string_lossy().replace('\\', "/")))
    }
}

pub(super) fn key(request: &ModuleRequest) -> RequestKey {
    let constraints = request.constraints.as_ref().map(|constraints| constraints.as_str().to_owned());
    let version = |pin: &ModulePin| pin.version.as_ref().map(ModuleVersion::canonical).unwrap_or_default();
    let pin = request.pin.as_ref().map(|pin| (version(pin), pin.content.clone()));
    (request.source.address(), constraints.unwrap_or_default(), pin)
}

/// Modules that arrive closer together than this are read together.
const PAUSE: Duration = Duration::from_millis(10);

type Arrival = (RequestKey, Result<FetchedModule, Error>);

struct UnderWay {
    requested: BTreeSet<RequestKey>,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
}

impl Default for UnderWay {
    fn default() -> Self {
        let (sender, arrivals) = channel();
        Self { requested: BTreeSet::new(), sender, arrivals }
    }
}

impl UnderWay {
    /// Begins to fetch a module, unless that is under way.
    pub(super) fn begin(&mut self, request: &ModuleRequest, fetch: impl FnOnce(Handler)) {
        let (key, sender) = (key(request), self.sender.clone());
        if self.requested.insert(key.clone()) {
            // The reader of the tree may have given up.
            fetch(Box::new(move |answer| drop(sender.send((key, answer)))));
        }
    }

    fn is_over(&self) -> bool {
        self.requested.is_empty()
    }

    /// Waits until some of them have arrived: what those call need not wait for the slowest. For each arrival all of the tree
    /// is read again, therefore at least a quarter of them are waited for, and those that come right after.
    pub(super) fn arrived(&mut self) -> Vec<Arrival> {
        let (all, mut arrived) = (self.requested.len(), Vec::new());
        while arrived.len() < all {
            let next = if arrived.len() * 4 < all {
                self.arrivals.recv().ok()
            } else {
                self.arrivals.recv_timeout(PAUSE).ok()
            };
            let Some((key, answer)) = next else { break };
            self.requested.remove(&key);
            arrived.push((key, answer));
        }
        arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ModuleSource;
    use crate::error::ErrorKind;

    fn request(name: &str) -> ModuleRequest {
        let address = format!("https://a.example/{name}.zip");
        let source = ModuleSource::parse(&address, false, crate::dialect::Dialect::Terraform);
        ModuleRequest { source: source.unwrap(), constraints: None, pin: None }
    }

    #[test]
    fn slow_fetches_do_not_delay_the_others() {
        let mut under_way = UnderWay::default();
        let failed = || Err(Error::new(ErrorKind::Unavailable, "gone"));
        let mut slow = Vec::new();
        under_way.begin(&request("slow"), |handler| slow.push(handler));
        under_way.begin(&request("quick"), |handler| handler(failed()));
        // Once is enough.
        under_way.begin(&request("slow"), |handler| slow.push(handler));
        assert_eq!(slow.len(), 1);
        assert_eq!(under_way.arrived(), [(key(&request("quick")), failed())]);
        assert!(!under_way.is_over());
        for handler in slow {
            handler(failed());
        }
        assert_eq!(under_way.arrived(), [(key(&request("slow")), failed())]);
        assert!(under_way.is_over());
    }
}

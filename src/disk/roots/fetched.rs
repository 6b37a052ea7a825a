//! Modules that were fetched for a tree, because they are neither local nor installed.
//!
//! Reading a tree and fetching take turns: what is read names what is missing, somebody fetches it, and the tree is read
//! again. Nothing here knows where modules come from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MissingModules, ModuleLookup, Tree, TreeError, TreeOptions, load_tree, read};
use crate::addr::Hostname;
use crate::config::{ModuleConstraints, ModuleSource, ModuleVersion};
use crate::dialect::Dialect;
use crate::error::Error;

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleRequest {
    /// The source, which is not local.
    pub source: ModuleSource,
    /// Which versions will do.
    pub constraints: Option<ModuleConstraints>,
}

/// A module that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedModule {
    /// Its directory, absolute.
    pub dir: PathBuf,
    /// The top of its package, absolute: local modules below it are inside.
    pub package: PathBuf,
    /// The version, where it is of a registry.
    pub version: Option<ModuleVersion>,
    /// The package, as people know it.
    pub shown: String,
}

/// The modules that were fetched for a run, or why they could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchedModules(BTreeMap<(String, String), Result<FetchedModule, Error>>);

/// What holds for the modules of one root module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleTerms {
    /// The tool.
    pub dialect: Dialect,
    /// The hosts that modules may come from, by policy; none for any.
    pub hosts: Option<BTreeSet<Hostname>>,
}

type Fetch = dyn Fn(&ModuleTerms, &[ModuleRequest]) -> Vec<Result<FetchedModule, Error>> + Send + Sync;

/// Somebody who fetches modules: one answer for each request, in their order.
#[derive(Clone)]
pub struct ModuleFetch(Arc<Fetch>);

/// Where the modules of a root module come from that are not local.
#[derive(Debug, Clone, Default)]
pub struct ModuleAccess {
    /// Where they are looked for.
    pub lookup: ModuleLookup,
    /// Who fetches those that are not installed; nobody if none.
    pub fetch: Option<ModuleFetch>,
    /// Those that were fetched already.
    pub fetched: Arc<FetchedModules>,
}

impl ModuleFetch {
    /// Fetches with a function.
    pub fn new(
        fetch: impl Fn(&ModuleTerms, &[ModuleRequest]) -> Vec<Result<FetchedModule, Error>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(fetch))
    }
}

impl fmt::Debug for ModuleFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModuleFetch")
    }
}

impl ModuleAccess {
    /// Reads a tree, and has fetched what is missing in it. Nobody is asked while a lock is held if the caller holds none.
    ///
    /// # Errors
    ///
    /// As [`load_tree`].
    pub fn load_tree(
        &mut self,
        root: &Path,
        options: &TreeOptions,
        terms: &ModuleTerms,
    ) -> Result<Tree, Vec<TreeError>> {
        loop {
            let (modules, fetched) = (self.lookup, Arc::clone(&self.fetched));
            let options = TreeOptions { modules, fetched, ..options.clone() };
            let Some(fetch) = self.fetch.as_ref().filter(|_| self.lookup == ModuleLookup::Auto) else {
                return load_tree(root, &options);
            };
            let tree = load_tree(root, &TreeOptions { missing: MissingModules::Skip, ..options.clone() })?;
            let mut requests: Vec<ModuleRequest> = Vec::new();
            for request in tree.missing.iter().filter_map(|missing| missing.request.as_ref()) {
                if self.fetched.get(request).is_none() && !requests.contains(request) {
                    requests.push(request.clone());
                }
            }
            if requests.is_empty() {
                let is_whole = tree.missing.is_empty() || options.missing == MissingModules::Skip;
                return if is_whole { Ok(tree) } else { load_tree(root, &options) };
            }
            let answers = (fetch.0)(terms, &requests);
            let fetched = Arc::make_mut(&mut self.fetched);
            for (request, answer) in requests.iter().zip(answers) {
                fetched.insert(request, answer);
            }
        }
    }
}

impl FetchedModules {
    /// What came of a request; none if it was never made.
    pub fn get(&self, request: &ModuleRequest) -> Option<&Result<FetchedModule, Error>> {
        self.0.get(&key(request))
    }

    /// Adds what came of a request.
    pub fn insert(&mut self, request: &ModuleRequest, fetched: Result<FetchedModule, Error>) {
        self.0.insert(key(request), fetched);
    }
}

impl FetchedModule {
    /// A path in the package as reports show it: `PACKAGE//PATH`.
    pub(super) fn shown_path(&self, path: &Path) -> PathBuf {
        let within = path.strip_prefix(&self.package).unwrap_or(path);
        PathBuf::from(format!("{}//{}", self.shown, within.to_string_lossy().replace('\\', "/")))
    }
}

/// A file of a tree from another base: those of the work tree are below it, those of fetched packages are where they are.
pub fn file_from(base: &Path, file: &Path) -> PathBuf {
    if file.to_string_lossy().contains("//") { file.to_owned() } else { read::join(base, &file.to_string_lossy()) }
}

fn key(request: &ModuleRequest) -> (String, String) {
    let constraints = request.constraints.as_ref().map(|constraints| constraints.as_str().to_owned());
    (request.source.address(), constraints.unwrap_or_default())
}

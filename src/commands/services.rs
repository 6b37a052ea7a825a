//! The services that every command receives: directories, the cache, the network, and progress events.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use super::Online;
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, CacheOptions};
use crate::disk::package_store::{self, PackageStore};
use crate::error::{Error, ErrorKind};
use crate::git::{Git, TrackedFiles};
use crate::interrupt::Interrupt;
use crate::path::worktree;
use crate::query::{Event, Events};
use crate::settings::Variables;
use crate::workspace::discover::is_above_root_modules;
use crate::workspace::{RunSettings, Scope, named_roots};

pub struct Services<'a> {
    pub scope: Scope,
    pub events: Events,
    pub online: Arc<Online>,
    pub(crate) interrupt: Interrupt,
    pub stdin: Mutex<&'a mut (dyn Read + Send)>,
}

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
        let mut stdin = self.stdin.lock().unwrap_or_else(PoisonError::into_inner);
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

pub(super) fn cache_for(scope: &Scope, directories: &[PathBuf]) -> Cache {
    Cache::open(cache_options(scope, directories))
}

/// The package store for root modules in these directories; without a cache, a temporary one for this run.
pub(super) fn package_store(scope: &Scope, directories: &[PathBuf]) -> Result<(PackageStore, Option<TempDir>), Error> {
    let options = cache_options(scope, directories);
    if options.disabled {
        return package_store::temporary().map(|(store, directory)| (store, Some(directory)));
    }
    // Stored packages are hashed before use, so a change in the working tree cannot forge them.
    let is_ignored = |tree: &Path, place: &Path| {
        let is_tracked = TrackedFiles::default().first_at(place).is_some();
        !is_tracked && Git::open(tree).is_ok_and(|git| git.is_ignored(&place.join("x")))
    };
    match options.package_place(is_ignored) {
        Ok(place) => Ok((PackageStore::in_cache(&place), None)),
        Err(problem) => {
            let hint = "set TFLOCK_CACHE_DIR to a directory of your own outside of the working tree, or to one in it that git ignores and in which it tracks nothing";
            Err(Error::new(ErrorKind::Disk, problem).hint(hint))
        }
    }
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

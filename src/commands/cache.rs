//! `cache`: the index of known hashes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Services;
use crate::disk::cache::{Cache, CacheOptions, Prune, Pruned};
use crate::disk::worktree;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, CacheReport, Outcome};

/// What `cache` is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// The directory of the index.
    Dir,
    /// How much it holds.
    Stats,
    /// To remove what has not been used for long.
    Prune {
        /// Everything, also what is known of hashes.
        all: bool,
    },
}

/// How long documents and release records are kept.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Shows or clears the index of known hashes.
///
/// # Errors
///
/// That there is no index, or that it cannot be cleared.
pub fn cache(request: Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let directory = services.variables().get("TFLOCK_CACHE_DIR").map(PathBuf::from);
    let work_trees = worktree::top(Path::new(".")).into_iter().collect();
    let cache = Cache::open(CacheOptions { directory, work_trees, disabled: false });
    let Some(place) = cache.dir() else {
        let note = cache.note().unwrap_or("there is no cache directory");
        return Err(
            Error::new(ErrorKind::Disk, note).hint("set TFLOCK_CACHE_DIR to a directory outside of the work tree")
        );
    };
    let report = match request {
        Request::Dir => CacheReport::Directory(place.to_owned()),
        Request::Stats => CacheReport::Stats { directory: place.to_owned(), stats: cache.stats() },
        Request::Prune { all } => {
            let old = services.scope.environment.now.checked_sub(KEPT).map(Prune::OlderThan);
            let Pruned { files, bytes } = match (all, old) {
                (true, _) => cache.prune(Prune::All)?,
                (false, Some(old)) => cache.prune(old)?,
                // A clock before 1970 makes nothing old.
                (false, None) => Pruned::default(),
            };
            CacheReport::Pruned { files, bytes }
        }
    };
    Ok(Outcome::of_body("cache", Body::Cache(report)))
}

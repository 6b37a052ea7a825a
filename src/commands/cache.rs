//! `cache`: the index of known hashes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Services;
use crate::disk::cache::{Cache, CacheOptions, Prune, Pruned};
use crate::disk::worktree;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome};
use crate::report::size;

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
    let text = match request {
        Request::Dir => format!("{}\n", place.display()),
        Request::Stats => stats(&cache, place),
        Request::Prune { all } => {
            let old = services.scope.environment.now.checked_sub(KEPT).map(Prune::OlderThan);
            let pruned = match (all, old) {
                (true, _) => cache.prune(Prune::All)?,
                (false, Some(old)) => cache.prune(old)?,
                // A clock before 1970 makes nothing old.
                (false, None) => Pruned::default(),
            };
            format!("removed {} files, {}\n", pruned.files, size(pruned.bytes))
        }
    };
    Ok(Outcome::of_body("cache", Body::Text(text)))
}

fn stats(cache: &Cache, place: &Path) -> String {
    let stats = cache.stats();
    format!(
        "directory  {}\nhashes     {} computed here, {} imported\ndocuments  {}\nreleases   {}\nsize       {}\n",
        place.display(),
        stats.computed,
        stats.imported,
        stats.documents,
        stats.releases,
        size(stats.bytes)
    )
}

//! `cache dir|stats|prune`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Done, Session};
use crate::cli::args::{CacheArgs, CacheCommand};
use crate::disk::cache::{Cache, CacheOptions, Prune, Pruned};
use crate::disk::worktree;
use crate::error::{Error, ErrorKind};
use crate::report::size;

/// How long documents and release records are kept.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

pub(super) fn cache(session: &Session<'_>, arguments: &CacheArgs) -> Result<Done, Error> {
    let directory = session.environment.variables.get("TFLOCK_CACHE_DIR").map(PathBuf::from);
    let work_trees = worktree::top(Path::new(".")).into_iter().collect();
    let cache = Cache::open(CacheOptions { directory, work_trees, disabled: false });
    let Some(place) = cache.dir() else {
        let note = cache.note().unwrap_or("there is no cache directory");
        return Err(
            Error::new(ErrorKind::Disk, note).hint("set TFLOCK_CACHE_DIR to a directory outside of the work tree")
        );
    };
    let text = match arguments.command {
        CacheCommand::Dir => format!("{}\n", place.display()),
        CacheCommand::Stats => stats(&cache, place),
        CacheCommand::Prune { all } => {
            let old = session.environment.now.checked_sub(KEPT).map(Prune::OlderThan);
            let pruned = match (all, old) {
                (true, _) => cache.prune(Prune::All)?,
                (false, Some(old)) => cache.prune(old)?,
                // A clock before 1970 makes nothing old.
                (false, None) => Pruned::default(),
            };
            format!("removed {} files, {}\n", pruned.files, size(pruned.bytes))
        }
    };
    Ok(Done::text("cache", text))
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

//! `cache`: manages the index of known hashes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;

use super::{Services, publish};
use crate::disk::cache::exchange::{self, Exported};
use crate::disk::cache::{Cache, CacheOptions, IndexEntry, Prune, Pruned};
use crate::disk::package_store::PackageStore;
use crate::disk::{files, root_files};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::PackageHash;
use crate::interrupt::Interrupt;
use crate::outcome::{Body, CacheReport, Outcome, RootOutcome};
use crate::path::{shown, worktree};
use crate::settings::Age;

/// Show, clear or share the index of known hashes.
///
/// The index records which h1: belongs to which zh:, computed from verified archives, so no package is downloaded twice.
/// It is in the user's cache directory; `TFLOCK_CACHE_DIR` sets a different one.
#[derive(Debug, Clone, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

/// The commands below `cache`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print the directory of the index.
    Dir,
    /// Print the size of the index.
    Stats,
    /// Remove the package store and old documents, release records and module packages.
    ///
    /// Empties the package store; what is installed in root modules stays, except with `--link symlink`. Removes documents,
    /// release records and module packages that were written more than 90 days ago. Keeps the known hashes, which never
    /// become invalid.
    Prune {
        /// Only what was not used for so long, packages of the store too: 30d, 12h, 2w.
        #[arg(long, value_name = "AGE", conflicts_with_all = ["all", "imported"])]
        older_than: Option<Age>,
        /// Remove everything, including the known hashes.
        #[arg(long)]
        all: bool,
        /// Also remove the imported hashes.
        #[arg(long, conflicts_with = "all")]
        imported: bool,
    },
    /// Write the hashes that this machine computed to a file, for another machine.
    ///
    /// The same index gives the same file. Leaves out imported hashes.
    #[command(
        override_usage = "tflock cache export [OPTIONS] <FILE|->\n       tflock cache export [OPTIONS] --publish [--index <URL>]"
    )]
    Export {
        /// The file, or - for standard output.
        #[arg(value_name = "FILE|-", required_unless_present = "publish")]
        file: Option<PathBuf>,
        /// Write the missing ones to a shared index instead.
        #[arg(long, conflicts_with = "file")]
        publish: bool,
        /// The URL of the shared index; default `TFLOCK_INDEX`. Settings in the working tree cannot name it.
        #[arg(long, value_name = "URL", requires = "publish")]
        index: Option<String>,
    },
    /// Read the hashes that another machine exported.
    ///
    /// They save `lock` downloads, unless --h1 or the policy says verified, and appear as reported by an index. `verify`
    /// does not treat them as proof. A file that is damaged or contradicts a known hash is refused as a whole.
    Import {
        /// The file, or - for standard input.
        #[arg(value_name = "FILE|-")]
        file: PathBuf,
    },
}

/// How long `cache prune` keeps documents and release records.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

pub fn cache(args: &CacheArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let directory = services.variables().get("TFLOCK_CACHE_DIR").map(PathBuf::from);
    let work_trees = worktree::tops(Path::new("."));
    let cache = Cache::open(CacheOptions { directory, work_trees, disabled: false });
    let Some(place) = cache.dir() else {
        let note = cache.note().unwrap_or("there is no cache directory");
        return Err(
            Error::new(ErrorKind::Disk, note).hint("set TFLOCK_CACHE_DIR to a directory outside of the working tree")
        );
    };
    let report = match &args.command {
        CacheCommand::Dir => CacheReport::Directory { directory: place.to_owned() },
        CacheCommand::Stats => CacheReport::Stats { directory: place.to_owned(), stats: cache.stats() },
        CacheCommand::Prune { older_than, all, imported } => {
            let before = |age: Duration| services.scope.environment.now.checked_sub(age);
            let age = older_than.map(Age::duration);
            let mut pruned = match (*all, *imported, before(age.unwrap_or(KEPT))) {
                (true, ..) => cache.prune(Prune::All)?,
                (false, true, _) => cache.prune(Prune::Imported)?,
                (false, false, Some(old)) => cache.prune(Prune::OlderThan(old))?,
                // With a clock before 1970 no file is old.
                (false, false, None) => Pruned::default(),
            };
            if !imported {
                let packages = PackageStore::in_cache(place).prune(age.and_then(before))?;
                pruned = Pruned { files: pruned.files + packages.files, bytes: pruned.bytes + packages.bytes };
            }
            let Pruned { files, bytes } = pruned;
            CacheReport::Pruned { files, bytes }
        }
        CacheCommand::Export { file: Some(file), .. } => export(file.clone(), &cache, &services.interrupt)?,
        CacheCommand::Export { file: None, index, .. } => return publish::publish(index.as_deref(), cache, services),
        CacheCommand::Import { file } => return import(file.clone(), &cache, services),
    };
    Ok(Outcome::of_body("cache", Body::Cache(report)))
}

fn is_stream(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn export(file: PathBuf, cache: &Cache, interrupt: &Interrupt) -> Result<CacheReport, Error> {
    let text = exchange::encode(Exported { entries: cache.entries(), programs: cache.programs() });
    // Next to the entries there are a first line and a last one.
    let entries = text.lines().filter(|line| !line.starts_with(exchange::PROGRAMS)).count() - 2;
    if is_stream(&file) {
        return Ok(CacheReport::Exported { file, entries, text: Some(text) });
    }
    let _writing = interrupt.writing()?;
    root_files::write_report(&file, &text).map_err(|problem| {
        Error::new(ErrorKind::Disk, format!("cannot write {}: {problem}", shown(&file))).in_file(&file)
    })?;
    Ok(CacheReport::Exported { file, entries, text: None })
}

fn import(file: PathBuf, cache: &Cache, services: &Services<'_>) -> Result<Outcome, Error> {
    let bytes = if is_stream(&file) {
        services.read_stdin_to(exchange::LIMIT)?
    } else {
        files::read_named_to(&file, exchange::LIMIT).map_err(|problem| {
            Error::new(ErrorKind::Disk, format!("cannot read {}: {problem}", shown(&file))).in_file(&file)
        })?
    };
    let entries = exchange::decode(&bytes).map_err(|problem| {
        let message = format!("{} is not an exported index: {problem}", shown(&file));
        let mapped = Error::new(ErrorKind::Disk, message).in_file(&file);
        mapped.hint("nothing was imported; `tflock cache export FILE` writes such a file")
    })?;
    let count = entries.entries.len();
    let (imported, known, findings) = match cache.import(entries) {
        Ok(imported) => (imported, count - imported, Vec::new()),
        Err(found) => (0, 0, found.iter().map(|(entry, known)| contradicted(&file, entry, known)).collect()),
    };
    cache.flush()?;
    let body = Ok(Body::Cache(CacheReport::Imported { file, imported, known }));
    Ok(Outcome::of_roots("cache", vec![RootOutcome { path: PathBuf::new(), body, findings }]))
}

/// The whole export is refused: if it is wrong about one archive, it may be wrong about all.
fn contradicted(file: &Path, entry: &IndexEntry, known: &PackageHash) -> Finding {
    let message = format!(
        "it gives {} and {} bytes for the archive zh:{}, where {known} or another size is known; nothing was imported",
        entry.h1_hash(),
        entry.size,
        entry.zh,
    );
    Finding { level: Level::Deny, ..Finding::new(Rule::IndexDiffers, message).in_file(file) }
}

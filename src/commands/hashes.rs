//! Hashes: `hash` computes those of packages, `cache` manages the local index of known ones, and `--publish` writes to a shared
//! index.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Subcommand;
use url::Url;

use super::Services;
use super::shared::options::Within;
use super::shared::sources::PackageSources;
use crate::dialect::Dialect;
use crate::disk::atomic::failed;
use crate::disk::cache::exchange::{self, Exported, IndexKey, IndexLine, decode_line};
use crate::disk::cache::{Cache, CacheOptions, IndexEntry, IndexOrigin, ProgramRecord, Prune, Pruned};
use crate::disk::package::{PackageError, hash_archive, hash_directory};
use crate::disk::package_store::PackageStore;
use crate::disk::{files, root_files};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::PackageHash;
use crate::hash::archive::Threads;
use crate::interrupt::Interrupt;
use crate::net::{Client, ClientOptions};
use crate::outcome::{Body, CacheReport, HashLine, Outcome, RootOutcome};
use crate::path::{shown, worktree};
use crate::settings::{Age, IndexPlace};
use crate::source::{IndexStores, Published};
use crate::step::shell_word;
use crate::workspace::dialect_of_text;
use crate::{lockfile, query};

/// Print the hashes of provider packages.
///
/// Prints the zh: and h1: of archives and the h1: of unpacked directories, one line `HASH  PATH` each, as a lock file
/// records them.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example:\n  tflock hash terraform-provider-null_3.2.4_linux_amd64.zip")]
pub(crate) struct HashArgs {
    /// Archives and directories.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn hash(args: &HashArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let directories = services.scope.directories();
    let opened = directories.iter().flat_map(|directory| args.paths.iter().map(|path| directory.join(path)));
    let (lines, error) = hashed(&opened.collect::<Vec<_>>());
    Ok(Outcome::of_body("hash", Body::Hashed(lines)).with_error(error))
}

/// Hashes packages, in the order given: `zh:` and `h1:` of an archive, `h1:` of a directory. A package that cannot be
/// hashed gives an error next to the lines of the others.
fn hashed(paths: &[PathBuf]) -> (Vec<HashLine>, Option<Error>) {
    let (mut lines, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match hashes_of(path) {
            Ok(hashes) => lines.extend(hashes.into_iter().map(|hash| HashLine { hash, path: path.clone() })),
            Err(error) => errors.push(Error::from(error)),
        }
    }
    (lines, Error::all(errors))
}

fn hashes_of(path: &Path) -> Result<Vec<PackageHash>, PackageError> {
    if path.is_dir() {
        return Ok(vec![hash_directory(path)?]);
    }
    let hashes = hash_archive(path, Threads::Two)?;
    Ok(vec![PackageHash::zh(hashes.zh), hashes.h1])
}

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
        /// The URL of the shared index. Default: `TFLOCK_INDEX`. Settings in the working tree cannot name it.
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
    if services.scope.no_cache {
        let message = "`cache` works on the cache, which --no-cache leaves out";
        return Err(Error::new(ErrorKind::Usage, message).hint("leave out --no-cache"));
    }
    let directory = services.variables().get("TFLOCK_CACHE_DIR").map(PathBuf::from);
    let work_trees = worktree::tops(Path::new("."));
    let cache = Cache::open(CacheOptions { directory, work_trees, disabled: false });
    let Some(folder) = cache.dir() else {
        let note = cache.note().unwrap_or_else(|| "there is no cache directory".to_owned());
        return Err(
            Error::new(ErrorKind::Disk, note).hint("set TFLOCK_CACHE_DIR to a directory outside of the working tree")
        );
    };
    let report = match &args.command {
        CacheCommand::Dir => CacheReport::Directory { directory: folder.place().to_owned() },
        CacheCommand::Stats => CacheReport::Stats { directory: folder.place().to_owned(), stats: cache.stats() },
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
            if let Some(store) = PackageStore::existing_in(folder).filter(|_| !imported) {
                let packages = store.prune(age.and_then(before))?;
                pruned = Pruned { files: pruned.files + packages.files, bytes: pruned.bytes + packages.bytes };
            }
            let Pruned { files, bytes } = pruned;
            CacheReport::Pruned { files, bytes }
        }
        CacheCommand::Export { file: Some(file), .. } => export(file.clone(), &cache, &services.interrupt)?,
        CacheCommand::Export { file: None, index, .. } => return publish(index.as_deref(), cache, services),
        CacheCommand::Import { file } => return import(file.clone(), &cache, services),
    };
    let mut outcome = Outcome::of_body("cache", Body::Cache(report));
    outcome.notes.extend(cache.note());
    Ok(outcome)
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
    // A pipe waits for its reader, and is never half a file: a signal ends that wait.
    let is_pipe = file.metadata().is_ok_and(|found| !found.is_file());
    let _writing = if is_pipe { None } else { Some(interrupt.writing()?) };
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
        mapped.hint(step!("nothing was imported; `tflock cache export FILE` writes such a file"))
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
    Finding::new(Rule::IndexDiffers, message).in_file(file).at_level(Level::Deny)
}

#[derive(Debug, Clone)]
pub(super) struct Publishing {
    place: IndexPlace,
    /// The index as the user named it.
    pub(super) shown: String,
}

impl Publishing {
    /// The index from the option, else from `TFLOCK_INDEX`. tflock never writes to an index that a file of the working
    /// tree names, or to one inside the working tree.
    pub(super) fn of(named: Option<&str>, services: &Services<'_>) -> Result<Self, Error> {
        let refused = |problem: String| Error::new(ErrorKind::Usage, problem);
        let named = named.or_else(|| services.variables().get("TFLOCK_INDEX"));
        let shown = named.ok_or_else(|| {
            let message = "--publish writes into a shared index, but none is named";
            refused(message.to_owned()).hint("name it with --index, or in TFLOCK_INDEX")
        })?;
        if services.scope.no_cache {
            let message = "--publish writes what the index of this machine knows, which --no-cache leaves out";
            return Err(refused(message.to_owned()).hint("leave out one of the two"));
        }
        let place = IndexPlace::parse(shown).map_err(|problem| {
            let url = Path::new(shown).is_absolute().then(|| Url::from_file_path(shown).ok()).flatten();
            let hint = url.map(|url| format!("name it as a URL: `--index {}`", shell_word(url.as_str())));
            refused(problem.to_string()).hints(hint)
        })?;
        let here = [PathBuf::from(".")].into_iter().chain(services.scope.directories());
        let tops = here.filter(|directory| !directory.as_os_str().is_empty()).flat_map(|it| worktree::tops(&it));
        if exchange::is_index_within(&place, &tops.collect::<Vec<_>>()) {
            let message = format!("the index {shown} is inside the working tree, where a pull request could write it");
            return Err(refused(message).hint("keep it outside of the working tree"));
        }
        if services.scope.offline && !matches!(place, IndexPlace::Directory(_)) {
            let message = format!("writing to {shown} needs the network, which --offline forbids");
            return Err(Error::new(ErrorKind::Offline, message).hint("leave out one of the two"));
        }
        Ok(Self { place, shown: shown.to_owned() })
    }

    /// Writes the missing lines.
    fn publish(
        &self,
        lines: Vec<IndexLine>,
        sources: &PackageSources<'_>,
        stores: IndexStores,
    ) -> Result<Published, Error> {
        if let IndexPlace::Directory(base) = &self.place {
            files::create_directory(base).map_err(failed("create", base))?;
        }
        query::publish(&sources.online.background, stores, self.place.clone(), lines).map_err(|error| {
            let message = format!("cannot publish to {}: {}", self.shown, error.message);
            Error { message, ..error }
        })
    }

    fn stores(
        &self,
        directories: &[PathBuf],
        sources: &PackageSources<'_>,
        services: &Services<'_>,
    ) -> Result<IndexStores, Error> {
        if let IndexPlace::Directory(_) = self.place {
            // Without requests the CLI configuration is not needed.
            let client = Client::new(ClientOptions::default());
            return Ok(IndexStores::new(&client, Arc::default(), client.options().timeout));
        }
        let first = directories.first().map_or(Path::new(""), PathBuf::as_path);
        let text = root_files::read_lock_file(&first.join(lockfile::FILE_NAME))?.unwrap_or_default();
        sources.index_stores(dialect_of_text(first, &text, &services.scope)?)
    }

    /// The findings where the index contradicts hashes that were computed here.
    pub(super) fn contradictions(&self, published: &Published, cache: &Cache) -> Vec<Finding> {
        published.differing.iter().map(|there| self.contradiction(there, cache)).collect()
    }

    fn contradiction(&self, there: &IndexLine, cache: &Cache) -> Finding {
        let differs = match (there.key, decode_line(there.text.as_bytes())) {
            (IndexKey::Archive(zh), Some(entry)) => {
                let own = cache.h1_of(&zh).map(|(h1, _)| h1.to_string()).unwrap_or_default();
                let (h1, size) = (entry.h1_hash(), entry.size);
                format!("gives {h1} and {size} bytes for the archive zh:{zh}, which has {own}")
            }
            (key, _) => format!("gives other modules for {key} than were read here"),
        };
        let message = format!("the index {} {differs}; it was left unchanged", self.shown);
        Finding::new(Rule::IndexDiffers, message).remedied_by("Find out who filled it, and have that entry removed.")
    }

    /// Writes the hashes and programs that were computed and read here for all locked packages of these directories, and adds
    /// a report to the outcome.
    pub(super) fn publish_locked(&self, directories: &[PathBuf], services: &Services<'_>, outcome: Outcome) -> Outcome {
        let cache = Arc::new(services.open_cache(directories));
        let sources = PackageSources::new(services, &cache);
        let lines = locked(directories, &cache);
        let stores = self.stores(directories, &sources, services);
        match stores.and_then(|stores| self.publish(lines, &sources, stores)) {
            Ok(published) => {
                let Published { news, known, .. } = &published;
                let mut outcome = outcome;
                outcome.notes.push(format!("{news} of {} records are new in {}", news + known, self.shown));
                let contradictions = self.contradictions(&published, &cache);
                outcome.roots.iter_mut().take(1).for_each(|first| first.findings.extend(contradictions.clone()));
                outcome
            }
            Err(error) => outcome.with_error(Some(error)),
        }
    }
}

pub(super) fn publish(named: Option<&str>, cache: Cache, services: &Services<'_>) -> Result<Outcome, Error> {
    let publishing = Publishing::of(named, services)?;
    let cache = Arc::new(cache);
    let sources = PackageSources::new(services, &cache);
    let stores = publishing.stores(&services.scope.directories(), &sources, services)?;
    let published = publishing.publish(computed(&cache.entries(), &cache.programs()), &sources, stores)?;
    let contradictions = publishing.contradictions(&published, &cache).into_iter();
    let findings = contradictions.map(|finding| finding.at_level(Level::Deny)).collect();
    let Published { news, known, .. } = published;
    let body = Ok(Body::Cache(CacheReport::Published { index: publishing.shown, news, known }));
    let outcome = Outcome::of_roots("cache", vec![RootOutcome { path: PathBuf::new(), body, findings }]);
    Ok(Outcome { notes: sources.notes().into(), ..outcome })
}

/// What was computed here of the packages in some lock files; an unreadable file has none.
fn locked(directories: &[PathBuf], cache: &Cache) -> Vec<IndexLine> {
    let read = |directory: &PathBuf| {
        let text = root_files::read_lock_file(&directory.join(lockfile::FILE_NAME)).ok()??;
        Some(lockfile::decode(&text, Dialect::Terraform).ok()?.lock)
    };
    let locks = directories.iter().filter_map(read);
    let hashes: BTreeSet<PackageHash> = locks
        .flat_map(|lock| lock.iter().flat_map(|(_, entry)| entry.hashes.iter().cloned()).collect::<Vec<_>>())
        .collect();
    let known = |hash: &PackageHash| {
        let zh = hash.zh_digest()?;
        let (h1, size) = cache.h1_of(&zh)?;
        IndexEntry::new(zh, &h1, size, IndexOrigin::Computed)
    };
    let entries: Vec<IndexEntry> = hashes.iter().filter_map(known).collect();
    let programs: Vec<ProgramRecord> = hashes.iter().filter_map(|hash| cache.program(hash)).collect();
    computed(&entries, &programs)
}

/// The lines about what was computed here, not reported by others. Of programs about which nothing could be read, another
/// version of tflock may read more, so there is no line about them.
fn computed(entries: &[IndexEntry], programs: &[ProgramRecord]) -> Vec<IndexLine> {
    let entries = entries.iter().filter(|entry| entry.origin == IndexOrigin::Computed).map(IndexLine::from);
    let is_shared = |program: &&ProgramRecord| program.origin == IndexOrigin::Computed && program.is_worth_sharing();
    let programs = programs.iter().filter(is_shared).map(IndexLine::from);
    entries.chain(programs.filter(|line| line.text.len() as u64 <= line.key.limit())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn one_bad_package_does_not_hide_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.zip");
        let (lines, error) = hashed(&[missing.clone(), folder.path().to_owned()]);
        let hash = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".parse().unwrap();
        assert_eq!(lines, [HashLine { hash, path: folder.path().to_owned() }]);
        let error = error.unwrap();
        assert_eq!((error.kind, error.file), (ErrorKind::Disk, Some(missing)));
    }
}

//! `lock`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::targets::{Targets, Unlocked};
use super::{Done, Session};
use crate::cli::args::{Below, LockArgs, Unsupported};
use crate::cli::progress::{Mode as Bars, Progress};
use crate::cli::{ExitCode, Streams};
use crate::commands::lock::{self, Mode, Root, Roots, Run, Source};
use crate::commands::{LockOptions, RunSettings};
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, CacheOptions};
use crate::disk::cli_config::CliConfig;
use crate::disk::directory_lock::DirectoryLock;
use crate::disk::mirror::FilesystemMirror;
use crate::disk::worktree;
use crate::engine::gather::GatherOptions;
use crate::engine::{Event, Events};
use crate::error::{Error, ErrorKind};
use crate::net::{Client, ClientOptions, Credentials, Discovery, Doing, Watch};
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::source::Registry;

pub(super) fn lock(session: &Session<'_>, arguments: &LockArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let options = arguments.options().map_err(unsupported)?;
    let targets = Targets::of(session, &arguments.below, Unlocked::created(arguments.create))?;
    let prepare = |root: Root, _: &RunSettings| Ok(root);
    let asked = Asked { command: "lock", session, below: &arguments.below, options, prepare: &prepare, to: None };
    Ok(run(&asked, targets, streams))
}

/// An option that does not work yet.
pub(super) fn unsupported(Unsupported(option): Unsupported) -> Error {
    Error::new(ErrorKind::Usage, format!("{option} is not supported yet"))
        .hint("download the packages and use `--fs-mirror DIR`")
}

/// What a command of this kind was asked.
pub(super) struct Asked<'a> {
    /// As typed.
    pub(super) command: &'static str,
    pub(super) session: &'a Session<'a>,
    pub(super) below: &'a Below,
    pub(super) options: LockOptions,
    /// Changes what was read of a root module before anything is planned.
    pub(super) prepare: &'a (dyn Fn(Root, &RunSettings) -> Result<Root, Error> + Sync),
    /// The tool that all root modules are for from now on, whatever they were for. All of them are written, or none.
    pub(super) to: Option<Dialect>,
}

/// Runs a command that makes lock files what it was asked to make them.
pub(super) fn run(asked: &Asked<'_>, mut targets: Targets<'_>, streams: &Streams<'_>) -> Done {
    let (session, options) = (asked.session, LockOptions { found: targets.found, ..asked.options.clone() });
    let progress = progress(session, asked.to.or_else(|| targets.dialect()), streams);
    let cache = Arc::new(open_cache_of(session, &targets.directories()));
    let mode = match (options.dry_run, options.check) {
        (true, _) => Mode::DryRun,
        (_, true) => Mode::Check,
        _ => Mode::Write,
    };
    let first_outcomes = std::mem::take(&mut targets.outcomes);
    let run = Run {
        cache: &cache,
        mode,
        fail_fast: asked.below.fail_fast,
        local: options.fs_mirror.is_none(),
        all_or_none: asked.to.is_some(),
    };
    let warnings = Mutex::new(Vec::new());
    let open = |at| {
        let settings = targets.settings(at)?;
        let settings = RunSettings { dialect: asked.to.unwrap_or(settings.dialect), ..settings };
        // Lock file and configuration of one moment: another run writes one after the other.
        let _lock = DirectoryLock::acquire_shared(&settings.root)?;
        let root = Root::open(&settings, &options, &cache)?;
        warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(root.warnings().iter().cloned());
        (asked.prepare)(root, &settings)
    };
    let source = |dialect| source(session, dialect, options.fs_mirror.as_ref(), &cache, &progress.events());
    let mirrored = options.fs_mirror.is_some();
    let begun = lock::lock(run, &Roots { paths: &targets.paths, open: &open, source: &source });
    let mut notes = Vec::new();
    if begun.len() < targets.paths.len() {
        let count = targets.paths.len() - begun.len();
        let were = if count == 1 { "root module was" } else { "root modules were" };
        notes.push(format!("{count} {were} not begun, after one had failed"));
    }
    notes.append(&mut warnings.into_inner().unwrap_or_else(PoisonError::into_inner));
    notes.extend(unsigned(&begun).filter(|_| mirrored));
    notes.extend(cache.note().map(str::to_owned));
    notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    let mut roots: Vec<_> = begun.into_iter().chain(first_outcomes).collect();
    if targets.found {
        roots.sort_by(|one, other| one.path.cmp(&other.path));
    }
    let outcome = Outcome { command: asked.command, roots, many: targets.many(), notes };
    let code = ExitCode::of_outcome(&outcome, options.check);
    Done { outcome, code, dialect: asked.to.or_else(|| targets.dialect()) }
}

/// What must be known of hashes that a mirror gave; nothing if it gave none.
fn unsigned(roots: &[RootOutcome]) -> Option<String> {
    let of_root = |root: &RootOutcome| match &root.body {
        Ok(Body::Changes(changes)) => changes.changes.iter().any(|change| !change.hashes_added.is_empty()),
        _ => false,
    };
    roots
        .iter()
        .any(of_root)
        .then(|| "a mirror signs nothing: the new hashes are those of its packages, whoever put them there".to_owned())
}

/// Progress on standard error, as far as people want to see it.
pub(super) fn progress(session: &Session<'_>, dialect: Option<Dialect>, streams: &Streams<'_>) -> Progress {
    let detail = session.arguments.global.detail();
    let bars = Bars::choose(detail, streams.stderr_is_terminal, session.environment.ci());
    Progress::new(bars, detail, dialect, Box::new(std::io::stderr()))
}

/// The cache of a run over these root modules.
pub(super) fn open_cache(roots: &[RunSettings]) -> Cache {
    let directory = roots.iter().find_map(|root| root.variables.get("TFLOCK_CACHE_DIR")).map(PathBuf::from);
    Cache::open(CacheOptions {
        directory,
        work_trees: roots.iter().map(|root| root.boundary.clone()).collect(),
        disabled: roots.iter().any(|root| !root.cache),
    })
}

/// The cache of a run over root modules in these directories.
pub(super) fn open_cache_of(session: &Session<'_>, directories: &[PathBuf]) -> Cache {
    // Root modules of one work tree have one top, and finding it costs.
    let mut work_trees: Vec<PathBuf> = Vec::new();
    for directory in directories {
        let directory = worktree::absolute(directory);
        if !work_trees.iter().any(|tree| directory.starts_with(tree)) {
            work_trees.push(worktree::boundary(&directory));
        }
    }
    Cache::open(CacheOptions {
        directory: session.environment.variables.get("TFLOCK_CACHE_DIR").map(PathBuf::from),
        work_trees,
        disabled: session.arguments.global.no_cache,
    })
}

/// Whom a run may ask.
///
/// # Errors
///
/// A mirror that is none, or CLI configuration that cannot be read.
pub(super) fn source(
    session: &Session<'_>,
    dialect: Dialect,
    mirror: Option<&PathBuf>,
    cache: &Arc<Cache>,
    events: &Events,
) -> Result<Source, Error> {
    if let Some(directory) = mirror {
        return Ok(Source::Mirror(FilesystemMirror::open(directory)?, events.clone()));
    }
    if session.arguments.global.offline {
        return Ok(Source::Nobody);
    }
    let variables = &session.environment.variables;
    let config = CliConfig::load(variables, dialect)?;
    let client = Client::watched(ClientOptions::configured(variables, config.registry_protocols), watch(events));
    let credentials = Arc::new(Credentials::new(variables, &config));
    let discovery = Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts);
    Ok(Source::Registries(Box::new(GatherOptions {
        registry: Registry::new(client, discovery, credentials),
        cache: Arc::clone(cache),
        events: events.clone(),
        now: session.environment.now,
    })))
}

/// What the client does, as events.
fn watch(events: &Events) -> Watch {
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

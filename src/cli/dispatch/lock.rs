//! `lock`.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Done, Session};
use crate::cli::args::{LockArgs, Unsupported};
use crate::cli::progress::{Mode as Bars, Progress};
use crate::cli::{ExitCode, Streams, settings};
use crate::commands::lock::{self, Mode, Root, Source};
use crate::commands::{LockOptions, RunSettings};
use crate::disk::atomic::DirectoryLock;
use crate::disk::cache::{Cache, CacheOptions};
use crate::disk::cli_config::CliConfig;
use crate::disk::mirror::FilesystemMirror;
use crate::engine::gather::GatherOptions;
use crate::engine::{Event, Events};
use crate::error::{Error, ErrorKind};
use crate::net::{Client, ClientOptions, Credentials, Discovery, Doing, Watch};
use crate::source::Registry;

pub(super) fn lock(session: &Session<'_>, arguments: &LockArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let options = arguments.options().map_err(|Unsupported(option)| {
        Error::new(ErrorKind::Usage, format!("{option} is not supported yet"))
            .hint("download the packages and use `--fs-mirror DIR`")
    })?;
    let roots = session.roots()?;
    let dialect = settings::one_dialect(&roots);
    let detail = session.arguments.global.detail();
    let bars = Bars::choose(detail, streams.stderr_is_terminal, session.environment.ci());
    let progress = Progress::new(bars, detail, dialect, Box::new(std::io::stderr()));
    let cache = Arc::new(open_cache(&roots));
    let mode = match (options.dry_run, options.check) {
        (true, _) => Mode::DryRun,
        (_, true) => Mode::Check,
        _ => Mode::Write,
    };
    // Held to the end: what was read is what is replaced.
    let _locks = if mode == Mode::Write { acquire(&roots)? } else { Vec::new() };
    let source = source(&roots, &options, &cache, &progress.events())?;
    let opened = roots.iter().map(|root| (root.path.clone(), Root::open(root, &options, &cache))).collect();
    let mut outcome = lock::lock(opened, source, &cache, mode);
    outcome.many = session.many();
    outcome.notes.extend(cache.note().map(str::to_owned));
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    let code = ExitCode::of_outcome(&outcome, options.check);
    Ok(Done { outcome, code, dialect })
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

fn acquire(roots: &[RunSettings]) -> Result<Vec<DirectoryLock>, Error> {
    let mut directories: Vec<&PathBuf> = roots.iter().map(|root| &root.root).collect();
    directories.sort_unstable();
    directories.dedup();
    directories.into_iter().map(|directory| Ok(DirectoryLock::acquire(directory)?)).collect()
}

fn source(roots: &[RunSettings], options: &LockOptions, cache: &Arc<Cache>, events: &Events) -> Result<Source, Error> {
    if let Some(directory) = &options.fs_mirror {
        return Ok(Source::Mirror(FilesystemMirror::open(directory)?, events.clone()));
    }
    let Some(root) = roots.first().filter(|root| !root.offline) else { return Ok(Source::Nobody) };
    let config = CliConfig::load(&root.variables, root.dialect)?;
    let client = Client::watched(ClientOptions::configured(&root.variables, config.registry_protocols), watch(events));
    let credentials = Arc::new(Credentials::new(&root.variables, &config));
    let discovery = Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts);
    Ok(Source::Registries(Box::new(GatherOptions {
        registry: Registry::new(client, discovery, credentials),
        cache: Arc::clone(cache),
        events: events.clone(),
        now: root.now,
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

//! `diff`.

use std::path::PathBuf;

use super::{Done, Session};
use crate::cli::args::DiffArgs;
use crate::cli::{ExitCode, Streams};
use crate::commands::compare::{Asked, Comparison, compare};
use crate::commands::diff::{Knowledge, Pair, diff as explained, is_alarming, is_refused};
use crate::commands::diff_known::recall;
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, CacheOptions};
use crate::disk::worktree;
use crate::error::{Error, ErrorKind};
use crate::lockfile::detect_dialect;
use crate::outcome::{Body, Change, Outcome, RootOutcome};

/// What one root module gave: what is compared, or why nothing is.
type Compared = (PathBuf, Result<Comparison, Error>);

pub(super) fn diff(session: &Session<'_>, arguments: &DiffArgs, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let asked = Asked {
        names: arguments.names.clone(),
        files: session.arguments.dashes.then(|| arguments.files.clone()),
        tip: arguments.tip,
        recursive: arguments.recursive,
    };
    let dialect = session.arguments.global.tool.and_then(crate::cli::args::Tool::dialect);
    let directories = session.directories();
    let mut compared = Vec::new();
    for directory in &directories {
        let opened = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory.clone() };
        let found = compare(&asked, &opened, dialect, &mut || read_all(streams));
        compared.push((directory.clone(), found));
    }
    let cache = open_cache(session, &compared);
    let outcome = outcome(session, compared, &cache, arguments.recursive || directories.len() > 1)?;
    let code = outcome.roots.iter().map(|root| code(root, arguments.exit_code)).fold(ExitCode::Done, ExitCode::and);
    let dialect = dialect.or_else(|| one_dialect(&outcome));
    Ok(Done { outcome, code, dialect })
}

fn read_all(streams: &mut Streams<'_>) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let failed = |problem| Error::new(ErrorKind::Disk, format!("cannot read standard input: {problem}"));
    std::io::Read::read_to_end(&mut streams.stdin, &mut text).map_err(failed)?;
    Ok(text)
}

fn open_cache(session: &Session<'_>, compared: &[Compared]) -> Cache {
    Cache::open(CacheOptions {
        directory: session.environment.variables.get("TFLOCK_CACHE_DIR").map(PathBuf::from),
        work_trees: compared.iter().map(|(directory, _)| worktree::boundary(directory)).collect(),
        disabled: session.arguments.global.no_cache,
    })
}

/// Everything that was compared; of many only what differs.
fn outcome(session: &Session<'_>, compared: Vec<Compared>, cache: &Cache, many: bool) -> Result<Outcome, Error> {
    let packages = |changes: &[Change]| recall(cache, changes, session.environment.now);
    let mut roots = Vec::new();
    for (directory, found) in compared {
        match found {
            Ok(comparison) => {
                let requirements = |pair: &Pair| comparison.requirements(pair);
                let known = Knowledge { packages: &packages, requirements: &requirements };
                let told = comparison.pairs.iter().map(|pair| explained(pair, &known));
                roots.extend(told.filter(|root| !many || differs(root)));
            }
            Err(error) if !many => return Err(error),
            Err(error) => roots.push(RootOutcome { path: directory, body: Err(error), findings: Vec::new() }),
        }
    }
    let notes = cache.note().map(str::to_owned).into_iter().collect();
    Ok(Outcome { command: "diff", roots, many, notes })
}

fn differs(root: &RootOutcome) -> bool {
    !matches!(&root.body, Ok(Body::Changes(changes)) if !changes.changed)
}

fn code(root: &RootOutcome, wanted: bool) -> ExitCode {
    let body = match &root.body {
        Err(error) => return ExitCode::of_error(error),
        Ok(Body::Changes(changes)) if wanted && changes.changed => ExitCode::Findings,
        Ok(_) => ExitCode::Done,
    };
    let alarming = if wanted && is_alarming(root) { ExitCode::Refused } else { ExitCode::Done };
    let refused = if is_refused(root) { ExitCode::Failed } else { ExitCode::Done };
    body.and(alarming).and(refused)
}

/// The tool whose registry the providers of all texts come from, for short addresses.
fn one_dialect(outcome: &Outcome) -> Option<Dialect> {
    let changes = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Changes(changes)) => Some(&changes.changes),
        _ => None,
    });
    let hosts: Vec<String> = changes.flatten().map(|change| format!("\"{}", change.address)).collect();
    detect_dialect(hosts.concat().as_bytes())
}

//! `diff`.

use std::path::PathBuf;
use std::sync::Arc;

use super::lock::{open_cache_of, progress, source};
use super::{Done, Session};
use crate::addr::Hostname;
use crate::cli::args::DiffArgs;
use crate::cli::{ExitCode, Streams, settings};
use crate::commands::RunSettings;
use crate::commands::compare::{Asked, Comparison, compare};
use crate::commands::diff::{Knowledge, Pair, changes, diff as explained, is_alarming, is_refused};
use crate::commands::diff_known::{attribution, questions};
use crate::commands::lock::Source;
use crate::commands::verify::Known;
use crate::commands::verify_online::Questions;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::engine::inquiry::Depth;
use crate::error::{Error, ErrorKind};
use crate::lockfile::{LockFile, detect_dialect};
use crate::outcome::{Body, Change, Outcome, RootOutcome};
use crate::verify;

/// What one root module gave: what is compared, or why nothing is.
type Compared = (PathBuf, Result<Comparison, Error>);

pub(super) fn diff(session: &Session<'_>, arguments: &DiffArgs, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let asked = Asked {
        names: arguments.names.clone(),
        files: session.arguments.dashes.then(|| arguments.files.clone()),
        tip: arguments.tip,
        recursive: arguments.recursive,
        trust_file: session.arguments.global.trust_file.clone(),
    };
    let dialect = session.arguments.global.tool.and_then(crate::cli::args::Tool::dialect);
    let directories = session.directories();
    let mut compared = Vec::new();
    for directory in &directories {
        let opened = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory.clone() };
        let found = compare(&asked, &opened, dialect, &mut || read_all(streams));
        compared.push((directory.clone(), found));
    }
    let cache = Arc::new(open_cache_of(session, &directories));
    let known = if arguments.online { ask(session, arguments, streams, &compared, &cache)? } else { Known::new() };
    let mut outcome = outcome(session, arguments, compared, (&known, &cache))?;
    outcome.notes.extend(cache.note().map(str::to_owned));
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
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

/// Asks registries about the releases that changed, each once.
fn ask(
    session: &Session<'_>,
    arguments: &DiffArgs,
    streams: &Streams<'_>,
    compared: &[Compared],
    cache: &Arc<Cache>,
) -> Result<Known, Error> {
    let depth = Depth { download: !arguments.no_download, recompute: false, all_platforms: false };
    let mut wanted = Questions::new(depth, true);
    let (mut first, mut forbidden) = (None, Known::new());
    for comparison in compared.iter().filter_map(|(_, found)| found.as_ref().ok()) {
        for pair in &comparison.pairs {
            let questions = questions(&changes(pair));
            if !questions.is_empty() {
                let settings = settings_of(session, comparison, pair)?;
                first.get_or_insert(settings.dialect);
                wanted.add(&settings, &questions);
                forbidden.extend(not_allowed(&settings, &questions));
            }
        }
    }
    let Some(dialect) = first else { return Ok(Known::new()) };
    let progress = progress(session, Some(dialect), streams);
    let mut known = match source(session, dialect, None, cache, &progress.events())? {
        Source::Registries(options) => wanted.ask(*options)?,
        Source::Mirror(..) | Source::Nobody => Known::new(),
    };
    for (key, knowledge) in forbidden {
        known.entry(key).or_insert(knowledge);
    }
    Ok(known)
}

/// The releases whose registry the settings forbid to ask.
fn not_allowed(settings: &RunSettings, questions: &LockFile) -> Known {
    let forbidden = questions.iter().filter(|(addr, _)| !settings.settings.policy.allows_host(addr.host()));
    let unasked = |host: &Hostname| {
        let message = format!("the policy does not allow the host {host}, so that it was not asked");
        verify::Knowledge::Inconclusive(Error::new(ErrorKind::Settings, message))
    };
    forbidden.map(|(addr, entry)| ((addr.clone(), entry.version.clone()), unasked(addr.host()))).collect()
}

/// What settings say for a lock file, and the tool that its text is for.
fn settings_of(session: &Session<'_>, comparison: &Comparison, pair: &Pair) -> Result<RunSettings, Error> {
    let directory = comparison.directory(pair);
    let settings = settings::of_found(&directory, &directory, session.arguments, session.environment)?;
    let of_text = pair.new.text.as_deref().and_then(detect_dialect);
    let dialect = pair.dialect.or(settings.settings.dialect()).or(of_text).unwrap_or(settings.dialect);
    Ok(RunSettings { dialect, ..settings })
}

/// Everything that was compared; of many only what differs.
fn outcome(
    session: &Session<'_>,
    arguments: &DiffArgs,
    compared: Vec<Compared>,
    (known, cache): (&Known, &Cache),
) -> Result<Outcome, Error> {
    let many = arguments.recursive || compared.len() > 1;
    let packages = |changes: &[Change]| attribution(changes, known, cache, session.environment.now);
    let (mut roots, mut notes) = (Vec::new(), Vec::new());
    for (directory, found) in compared {
        match found {
            Ok(comparison) => {
                let requirements = |pair: &Pair| comparison.requirements(pair);
                let known = Knowledge {
                    packages: &packages,
                    requirements: &requirements,
                    trust: &comparison.trust,
                    asked: arguments.online,
                };
                let told = comparison.pairs.iter().map(|pair| explained(pair, &known));
                roots.extend(told.filter(|root| !many || differs(root)));
                notes.extend(comparison.notes.iter().cloned());
            }
            Err(error) if !many => return Err(error),
            Err(error) => roots.push(RootOutcome { path: directory, body: Err(error), findings: Vec::new() }),
        }
    }
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

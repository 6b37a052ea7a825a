//! The command: what is compared, whom to ask, and how it ends.

use std::path::PathBuf;
use std::sync::Arc;

use super::inputs::{Asked, Comparison, compare};
use super::known::{packages, questions};
use super::pairs::{Knowledge, Pair, changes, is_alarming, is_refused, review};
use crate::addr::Hostname;
use crate::ask::inquiry::Depth;
use crate::commands::Services;
use crate::commands::sources::Sources;
use crate::commands::verify_online::Questions;
use crate::dialect::Dialect;
use crate::diff::Packages;
use crate::error::{Error, ErrorKind};
use crate::exit_code::ExitCode;
use crate::lockfile::{LockFile, detect_dialect};
use crate::outcome::{Body, Change, Outcome, RootOutcome};
use crate::release::Known;
use crate::workspace::{RunSettings, Scope, root_settings};

/// What `diff` is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Which texts are compared.
    pub asked: Asked,
    /// Registries are asked about the releases that changed.
    pub online: bool,
    /// Nothing is downloaded for that.
    pub no_download: bool,
    /// A difference counts for the exit code, and so does a release or hash that must not be used.
    pub exit_code: bool,
}

/// What one root module gave: what is compared, or why nothing is.
type Compared = (PathBuf, Result<Comparison, Error>);

/// Explains what changed between two texts of lock files.
///
/// # Errors
///
/// Names that mean nothing, or two things, where only one root module was named; what keeps all questions from being
/// asked.
pub fn diff(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let directories = services.scope.directories();
    let mut compared = Vec::new();
    for directory in &directories {
        let opened = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory.clone() };
        let found = compare(&request.asked, &opened, services.scope.dialect(), &mut || services.read_stdin());
        compared.push((directory.clone(), found));
    }
    let cache = Arc::new(services.open_cache(&directories));
    let sources = Sources::new(services, &cache);
    let known = if request.online { ask(request, services, &compared, &sources)? } else { Known::new() };
    let now = services.scope.environment.now;
    let packages = |changes: &[Change]| packages(changes, &known, &cache, now);
    let mut outcome = outcome(request, compared, &packages)?;
    outcome.notes.extend(sources.notes());
    outcome.notes.extend(cache.note().map(str::to_owned));
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    outcome.code = ExitCode::all(outcome.roots.iter().map(|root| code(root, request.exit_code)));
    outcome.dialect = services.scope.dialect().or_else(|| one_dialect(&outcome));
    Ok(outcome)
}

/// Asks registries about the releases that changed, each once.
fn ask(
    request: &Request,
    services: &Services<'_>,
    compared: &[Compared],
    sources: &Sources<'_>,
) -> Result<Known, Error> {
    let depth = Depth { download: !request.no_download, most: u64::MAX, recompute: false, all_platforms: false };
    let mut wanted = Questions::new(depth, true);
    let (mut first, mut forbidden) = (None, Known::new());
    for comparison in compared.iter().filter_map(|(_, found)| found.as_ref().ok()) {
        for pair in &comparison.pairs {
            let questions = questions(&changes(pair));
            if !questions.is_empty() {
                let settings = settings_of(&services.scope, comparison, pair)?;
                first.get_or_insert_with(|| settings.source());
                wanted.add(&settings, &questions);
                forbidden.extend(not_allowed(&settings, &questions));
            }
        }
    }
    let Some(source) = first else { return Ok(Known::new()) };
    services.events_for(Some(source.dialect));
    let asked = sources.of(&source, wanted.providers())?;
    let mut known = match sources.open(&asked)? {
        Some(options) => wanted.ask(options)?,
        None => Known::new(),
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
        crate::release::Knowledge::Inconclusive(Error::new(ErrorKind::Settings, message))
    };
    forbidden.map(|(addr, entry)| ((addr.clone(), entry.version.clone()), unasked(addr.host()))).collect()
}

/// What settings say for a lock file, and the tool that its text is for.
fn settings_of(scope: &Scope, comparison: &Comparison, pair: &Pair) -> Result<RunSettings, Error> {
    let directory = comparison.directory(pair);
    let settings = root_settings(&directory, &directory, scope)?;
    let of_text = pair.new.text.as_deref().and_then(detect_dialect);
    let dialect = pair.dialect.or(settings.settings.dialect()).or(of_text).unwrap_or(settings.dialect);
    Ok(RunSettings { dialect, ..settings })
}

/// Everything that was compared; of many only what differs.
fn outcome(
    request: &Request,
    compared: Vec<Compared>,
    packages: &dyn Fn(&[Change]) -> Packages,
) -> Result<Outcome, Error> {
    let many = request.asked.recursive || compared.len() > 1;
    let (mut roots, mut notes) = (Vec::new(), Vec::new());
    for (directory, found) in compared {
        match found {
            Ok(comparison) => {
                let requirements = |pair: &Pair| comparison.requirements(pair);
                let known = Knowledge {
                    packages,
                    requirements: &requirements,
                    trust: &comparison.trust,
                    asked: request.online,
                };
                let told = comparison.pairs.iter().map(|pair| review(pair, &known));
                roots.extend(told.filter(|root| !many || differs(root)));
                notes.extend(comparison.notes.iter().cloned());
            }
            Err(error) if !many => return Err(error),
            Err(error) => roots.push(RootOutcome::failed(directory, error)),
        }
    }
    Ok(Outcome { many, notes, ..Outcome::of_roots("diff", roots) })
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

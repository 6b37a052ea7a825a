//! `diff`: explains a change of a lock file. Selects the texts and sources, and sets the exit code.

mod history;
mod inputs;
pub mod pairs;
pub mod signers;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::Services;
use super::shared::options::{Packages as PackageOptions, Within};
use super::shared::sources::PackageSources;
use super::verify::facts::Questions;
use crate::addr::{Hostname, ProviderAddr, UsedNames};
use crate::dialect::Dialect;
use crate::diff::{Change, Packages};
use crate::error::{Error, ErrorKind, ExitCode};
use crate::finding::Finding;
use crate::lockfile::{LockFile, detect_dialect, likely_dialect, salvage};
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::query::question::Depth;
use crate::release::Releases;
use crate::settings::Settings;
use crate::verify::Completion;
use crate::workspace::discover::below;
use crate::workspace::{RunSettings, Scope, root_settings};
use inputs::{Comparison, compare};
use pairs::{Knowledge, Pair, changes, is_alarming, is_refused, review};
use signers::{Trust, packages, questions};

/// Explain a change of the lock file.
///
/// Shows what changed for each provider, the likely reason, the effect, and whether each new checksum is verified.
/// Compares the merge base of REV and HEAD with the working tree, two revisions (A..B), the merge base of A and B
/// with B (A...B), or two files. Without arguments: what is not committed yet. Uses what earlier runs learned
/// about checksums and signers; with --online it requests the rest from the registries.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock diff main\n  tflock diff v1.2..v1.3 -- envs/prod\n  tflock diff -r origin/main --online --format markdown\n  tflock diff old.lock.hcl .terraform.lock.hcl"
)]
pub(crate) struct DiffArgs {
    /// A revision, A..B, A...B, or two files.
    #[arg(value_name = "REV | OLD NEW")]
    pub(crate) names: Vec<OsString>,
    /// A lock file or root module; an argument after -- is never a revision.
    #[arg(last = true, value_name = "PATH")]
    files: Vec<OsString>,
    /// True if there is `--`, after which names are files.
    #[arg(skip)]
    pub(crate) dashes: bool,
    /// Compare with the revision itself, not with its merge base.
    #[arg(long)]
    pub(in crate::commands) tip: bool,
    /// Every lock file below.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Request the signers and checksums of the changed releases from the registries.
    ///
    /// As `verify` does: signed checksums, the registry's reports, and for an h1 checksum that no source attests, the
    /// package itself. If a registry does not respond, the checksum stays not checked.
    #[arg(long, conflicts_with = "offline")]
    pub(crate) online: bool,
    /// With --online: download nothing.
    #[arg(long, requires = "online")]
    pub(super) no_download: bool,
    /// Exit 1 if there is a difference, 3 if trust is refused: a new checksum contradicts the record, no source attests it,
    /// or its release is refused.
    #[arg(long)]
    pub(in crate::commands) exit_code: bool,
    #[command(flatten)]
    pub(crate) packages: PackageOptions,
    #[command(flatten)]
    pub(crate) within: Within,
}

impl DiffArgs {
    /// True if files are compared, and not root modules.
    pub(crate) fn names_files(&self) -> bool {
        self.dashes || self.names.iter().any(|name| Path::new(name).exists())
    }

    /// The arguments after `--`, if any: files only.
    pub(crate) fn files(&self) -> Option<&[OsString]> {
        self.dashes.then_some(&self.files)
    }
}

/// The number of a root module, and of the pair of texts in it.
type PairIndex = (usize, usize);

type FoundReleases = BTreeMap<PairIndex, Arc<Releases>>;

type ComparedRoot = (PathBuf, Result<Comparison, Error>);

pub fn diff(args: &DiffArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let directories = services.scope.directories();
    let mut compared = Vec::new();
    for directory in &directories {
        let opened = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory.clone() };
        let found = compare(args, &opened, &services.scope);
        compared.push((directory.clone(), found));
    }
    let cache = Arc::new(services.open_cache(&directories));
    let sources = PackageSources::new(services, &cache);
    let known = if args.online { query_releases(args, services, &compared, &sources)? } else { FoundReleases::new() };
    let now = services.scope.environment.now;
    let packages = |at: &PairIndex, changes: &[Change]| {
        let (nothing, nobody) = (Releases::new(), Trust::default());
        let trust = compared[at.0].1.as_ref().map_or(&nobody, |comparison| &comparison.trust);
        packages(changes, trust, known.get(at).map_or(&nothing, |known| known), (&cache, now))
    };
    let mut outcome = outcome(args, &compared, &packages, &services.scope)?;
    outcome.notes.extend(sources.notes());
    outcome.notes.extend(cache.finish());
    outcome.code = outcome.code.and(ExitCode::all(outcome.roots.iter().map(|root| code(root, args.exit_code))));
    outcome.dialect = services.scope.dialect().or_else(|| one_dialect(&outcome));
    Ok(outcome)
}

/// Looks up the changed releases, once for all root modules with the same sources.
fn query_releases(
    args: &DiffArgs,
    services: &Services<'_>,
    compared: &[ComparedRoot],
    sources: &PackageSources<'_>,
) -> Result<FoundReleases, Error> {
    let mut wanted: Vec<(PairIndex, RunSettings, LockFile)> = Vec::new();
    for (at, (_, found)) in compared.iter().enumerate() {
        let Ok(comparison) = found else { continue };
        for (of_pair, pair) in comparison.pairs.iter().enumerate() {
            let questions = questions(&changes(pair));
            if !questions.is_empty() {
                let settings = settings_of(&services.scope, comparison, pair)?;
                wanted.push(((at, of_pair), settings, questions));
            }
        }
    }
    let Some((_, first, _)) = wanted.first() else { return Ok(FoundReleases::new()) };
    services.events_for(Some(first.dialect).filter(|first| wanted.iter().all(|(_, it, _)| it.dialect == *first)));
    let depth = Depth { download: !args.no_download, ..Depth::DOCUMENTS };
    let queried = wanted.iter().enumerate();
    let queried = queried.map(|(at, (_, settings, lock))| (at, settings.source(), lock.iter().map(|(addr, _)| addr)));
    let answers = sources.query_groups(queried, |session, members| {
        let (mut questions, mut forbidden) = (Questions::new(depth, true), Releases::new());
        for ((at, _), settings, lock) in members.iter().map(|at| &wanted[*at]) {
            let platforms = settings.settings.platforms.as_deref().unwrap_or_default();
            questions.add(settings, lock, platforms);
            if let Ok(comparison) = &compared[*at].1 {
                questions.demand(lock, |addr| comparison.trust.provenance(addr));
            }
            forbidden.extend(not_allowed(settings, lock));
        }
        let mut known = session.map(|session| questions.send(&session)).transpose()?.unwrap_or_default();
        for (key, knowledge) in forbidden {
            known.entry(key).or_insert(knowledge);
        }
        let known = Arc::new(known);
        Ok(members.iter().map(|_| Arc::clone(&known)).collect())
    });
    answers.into_iter().map(|(at, known)| Ok((wanted[at].0, known?))).collect()
}

/// The releases whose registry the settings forbid to contact.
fn not_allowed(settings: &RunSettings, questions: &LockFile) -> Releases {
    let forbidden = questions.iter().filter(|(addr, _)| !settings.settings.policy.allows_host(addr.host()));
    let unasked = |host: &Hostname| {
        let message = format!("the policy does not allow the host {host}, so it was not contacted");
        crate::release::Lookup::Inconclusive(Error::new(ErrorKind::Settings, message))
    };
    forbidden.map(|(addr, entry)| ((addr.clone(), entry.version.clone()), unasked(addr.host()))).collect()
}

/// The settings for a lock file, with the dialect of its text.
fn settings_of(scope: &Scope, comparison: &Comparison, pair: &Pair) -> Result<RunSettings, Error> {
    let directory = comparison.directory(pair);
    let settings = root_settings(&directory, &directory, scope)?;
    let of_text = pair.new.text.as_deref().and_then(detect_dialect);
    let dialect = pair.dialect.or(settings.settings.dialect()).or(of_text).unwrap_or(settings.dialect);
    Ok(RunSettings { dialect, ..settings })
}

/// The result; with several root modules only those that differ. Its exit code says whether the tools refuse a new text, which no
/// level changes.
fn outcome(
    args: &DiffArgs,
    compared: &[ComparedRoot],
    packages: &dyn Fn(&PairIndex, &[Change]) -> Packages,
    scope: &Scope,
) -> Result<Outcome, Error> {
    let now = scope.environment.now;
    let pairs: usize = compared.iter().filter_map(|(_, found)| found.as_ref().ok()).map(|it| it.pairs.len()).sum();
    let many = args.recursive || compared.len() > 1 || pairs > 1;
    let is_only_one = compared.len() == 1;
    let (mut roots, mut notes, mut refused) = (Vec::new(), Vec::new(), false);
    let before = OnceCell::new();
    let locked = || before.get_or_init(|| locked_before(compared).map(Arc::new)).clone();
    for (at, (directory, found)) in compared.iter().enumerate() {
        match found {
            Ok(comparison) => {
                let requirements = |pair: &Pair| comparison.requirements(pair);
                for (of_pair, pair) in comparison.pairs.iter().enumerate() {
                    let packages = |changes: &[Change]| packages(&(at, of_pair), changes);
                    let (trust, online) = (&comparison.trust, args.online);
                    let known = Knowledge {
                        packages: &packages,
                        requirements: &requirements,
                        locked: &locked,
                        trust,
                        online,
                        now,
                    };
                    let root = review(pair, &known);
                    refused |= is_refused(&root);
                    let root = if root.findings.is_empty() {
                        root
                    } else {
                        completed(root, &settings_of(scope, comparison, pair)?.settings, now)
                    };
                    let root = if many { root } else { hinted(root, directory) };
                    roots.extend(Some(root).filter(|root| !many || differs(root)));
                }
                notes.extend(comparison.notes.iter().cloned());
            }
            Err(error) if is_only_one => return Err(error.clone()),
            Err(error) => roots.push(RootOutcome::failed(directory, error.clone())),
        }
    }
    let code = if refused { ExitCode::Failed } else { ExitCode::Done };
    let next = compared.iter().find_map(|(_, found)| found.as_ref().ok()?.gate());
    Ok(Outcome { many, notes: notes.into(), code, next, ..Outcome::of_roots("diff", roots) })
}

/// The same with its findings complete.
fn completed(root: RootOutcome, settings: &Settings, now: SystemTime) -> RootOutcome {
    let version = |finding: &Finding| {
        let Ok(Body::Review(review)) = &root.body else { return None };
        let change = review.changes.iter().find(|change| Some(&change.address) == finding.address.as_ref())?;
        change.new.as_ref().map(|entry| entry.version.clone())
    };
    let completion = Completion::checking(settings, now);
    let findings = root.findings.iter().map(|finding| {
        let version = finding.version.as_deref().cloned().or_else(|| version(finding));
        completion.complete(finding.clone(), version.as_ref())
    });
    RootOutcome { findings: findings.collect(), ..root }
}

/// The providers that the repository locked on the old side: those of the compared files, and of all lock files of the
/// old commit.
fn locked_before(compared: &[ComparedRoot]) -> Result<UsedNames, Error> {
    let comparisons = || compared.iter().filter_map(|(_, found)| found.as_ref().ok());
    let compared = comparisons().flat_map(|comparison| &comparison.pairs).filter_map(|pair| pair.old.text.clone());
    let mut texts: BTreeSet<Vec<u8>> = compared.collect();
    // Directories of one repository are compared with the same commit.
    let by_top: BTreeMap<&Path, &Comparison> = comparisons().filter_map(|it| Some((it.top()?, it))).collect();
    for comparison in by_top.into_values() {
        texts.extend(comparison.lock_files_before()?);
    }
    let locked = texts.iter().map(|text| salvage(text, likely_dialect(text)).lock);
    let locked: BTreeSet<ProviderAddr> =
        locked.flat_map(|lock| lock.iter().map(|(addr, _)| addr.clone()).collect::<Vec<_>>()).collect();
    Ok(UsedNames::of(&locked))
}

/// If there is no lock file here, but below, names the option that looks there.
fn hinted(mut root: RootOutcome, directory: &Path) -> RootOutcome {
    let start = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    if let Err(error) = &mut root.body
        && error.kind == ErrorKind::NotFound
    {
        error.hints.extend(below(start));
    }
    root
}

fn differs(root: &RootOutcome) -> bool {
    !matches!(&root.body, Ok(Body::Review(changes)) if !changes.changed)
}

fn code(root: &RootOutcome, wanted: bool) -> ExitCode {
    let body = match &root.body {
        Err(error) => return ExitCode::of_error(error),
        Ok(Body::Review(changes)) if wanted && changes.changed => ExitCode::Findings,
        Ok(_) => ExitCode::Done,
    };
    body.and(if wanted && is_alarming(root) { ExitCode::Refused } else { ExitCode::Done })
}

fn one_dialect(outcome: &Outcome) -> Option<Dialect> {
    let changes = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Review(changes)) => Some(&changes.changes),
        _ => None,
    });
    let hosts: Vec<String> = changes.flatten().map(|change| format!("\"{}", change.address)).collect();
    detect_dialect(hosts.concat().as_bytes())
}

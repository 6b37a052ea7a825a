//! `lock`, and the parts that it shares with the other commands that write lock files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use super::LockRoots;
use super::request::{LockRequest, Preparation, WriteMode};
use super::session::LockSession;
use crate::addr::ProviderAddr;
use crate::commands::Services;
use crate::commands::hashes::Publishing;
use crate::commands::shared::options::{Below, LockFlags, Modules, Within};
use crate::commands::shared::sources::PackageSources;
use crate::commands::shared::targets::{Targets, Unlocked, not_considered};
use crate::dialect::Dialect;
use crate::disk::roots::Reselected;
use crate::error::{Error, ErrorKind, ExitCode};
use crate::interrupt::What;
use crate::outcome::{Body, Notes, Outcome, RootOutcome};
use crate::version::Version;
use crate::words::counted;
use crate::workspace::{NamedProviders, RunSettings};

/// Complete the lock file.
///
/// Adds the providers that the configuration needs, keeps selected versions, adds the hashes of missing platforms and
/// updates constraints. Removes nothing without --prune. Platforms come from --platform, else from .tflock.hcl, else from
/// the lock file plus the current machine. Also known as `tflock providers lock`.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock lock --platform linux_amd64 --platform darwin_arm64\n  tflock lock --check\n  tflock lock --dry-run hashicorp/aws"
)]
pub(crate) struct LockArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR")]
    pub(crate) providers: Vec<String>,
    #[command(flatten)]
    pub(crate) locking: LockFlags,
    /// Write nothing; exit 1 if the file would change.
    #[arg(long)]
    pub(crate) check: bool,
    /// With --check: download no package; whether the hashes cover all platforms is then not checked.
    #[arg(long, requires = "check", hide_short_help = true)]
    no_download: bool,
    /// Read no configuration; complete the hashes of the existing entries.
    #[arg(long, conflicts_with = "prune", hide_short_help = true)]
    pub(crate) from_lock: bool,
    /// Remove entries that no configuration requires.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Restore the entries of ADDR as this commit has them, and change nothing else.
    ///
    /// The commit must be an ancestor of HEAD or of its upstream.
    #[arg(
        long,
        value_name = "REV",
        requires = "providers",
        conflicts_with_all = ["from_lock", "prune", "state", "no_download", "accept_republished", "lock_modules", "create", "drop_unattested", "publish"],
        help_heading = "Trust"
    )]
    restore_from: Option<String>,
    /// Remove each h1 that no archive of the recorded release has, after hashing all its archives here.
    #[arg(long, conflicts_with_all = ["no_download", "accept_republished"], help_heading = "Trust", hide_short_help = true)]
    pub(crate) drop_unattested: bool,
    /// A state file, or the output of `state pull`: providers in it are kept.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) state: Option<PathBuf>,
    /// Replace the hashes of a release that was published again; may be repeated.
    #[arg(long, value_name = "ADDR@VERSION", value_parser = release, requires = "reason", help_heading = "Trust", hide_short_help = true)]
    pub(crate) accept_republished: Vec<(String, Version)>,
    /// The reason; it is kept in the trust file.
    #[arg(long, value_name = "TEXT", requires = "accept_republished", help_heading = "Trust", hide_short_help = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) reason: Option<String>,
    /// Lock modules too, in .tflock.modules.hcl, which later runs keep complete.
    #[arg(long, conflicts_with = "from_lock", help_heading = "Modules")]
    pub(crate) lock_modules: bool,
    /// With -r: also write missing lock files, where no module calls the directory.
    #[arg(long, requires = "recursive")]
    pub(crate) create: bool,
    /// Also write the hashes that this machine computed for the locked packages to a shared index: --index or `TFLOCK_INDEX`.
    #[arg(long, conflicts_with_all = ["check", "dry_run"], help_heading = "Shared index", hide_short_help = true)]
    publish: bool,
    /// The URL of the shared index to write to. Settings in the working tree cannot name it.
    #[arg(long, value_name = "URL", requires = "publish", help_heading = "Shared index", hide_short_help = true)]
    pub(crate) index: Option<String>,
    #[command(flatten)]
    pub(crate) below: Below,
    #[command(flatten)]
    pub(crate) modules: Modules,
    #[command(flatten)]
    pub(crate) within: Within,
}

impl LockArgs {
    pub(crate) fn request(&self) -> LockRequest {
        let restored = self.restore_from.clone().map(|revision| Preparation::Restore { revision });
        LockRequest {
            command: "lock",
            fail_fast: self.below.fail_fast,
            preparation: restored.unwrap_or_default(),
            no_download: self.no_download,
            from_lock: self.from_lock,
            prune: self.prune,
            state: self.state.clone(),
            providers: self.providers.clone(),
            accept_republished: self.accept_republished.clone(),
            reason: self.reason.clone(),
            drop_unattested: self.drop_unattested,
            lock_modules: self.lock_modules,
            found: self.below.recursive,
            ..self.locking.request(self.check)
        }
    }
}

fn release(text: &str) -> Result<(String, Version), String> {
    let (addr, version) = text.split_once('@').filter(|(addr, _)| !addr.is_empty()).ok_or("expected ADDR@VERSION")?;
    let version = version.parse().map_err(|problem| format!("{problem}"))?;
    Ok((addr.to_owned(), version))
}

pub fn lock(args: &LockArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let publishing = args.publish.then(|| Publishing::of(args.index.as_deref(), services)).transpose()?;
    let targets = Targets::with_instances(&services.scope, args.below.recursive, Unlocked::created(args.create))?;
    let directories = targets.directories();
    let without = if args.create { without_lock_file(&targets) } else { Vec::new() };
    let mut outcome = run(&args.request(), &targets, services);
    outcome.notes.extend(tools_of_new(&without));
    Ok(match publishing {
        Some(publishing) => publishing.publish_locked(&directories, services, outcome),
        None => outcome,
    })
}

fn without_lock_file(targets: &Targets<'_>) -> Vec<RunSettings> {
    let roots = targets.all_settings().unwrap_or_default();
    roots.into_iter().filter(|root| !root.lock_file().exists()).collect()
}

/// Names the tools of new lock files if they differ; `roots` had none before.
fn tools_of_new(roots: &[RunSettings]) -> Option<String> {
    let new = roots.iter().filter(|root| root.lock_file().exists());
    let (tofu, terraform): (Vec<_>, Vec<_>) = new.partition(|root| root.dialect == Dialect::OpenTofu);
    (!tofu.is_empty() && !terraform.is_empty()).then(|| {
        format!(
            "the new lock files are for both tools: {} for OpenTofu and {} for Terraform; `--tool` decides for all",
            tofu.len(),
            terraform.len()
        )
    })
}

/// Runs a command that writes lock files.
pub(in crate::commands) fn run(request: &LockRequest, targets: &Targets<'_>, services: &Services<'_>) -> Outcome {
    services.events_for(request.new_tool().or_else(|| targets.dialect()));
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let (now, interrupt) = (services.scope.environment.now, &services.interrupt);
    if request.mode == WriteMode::Write {
        interrupt.expect(What::LockFile, targets.paths.len());
    }
    let (sources, named) = (PackageSources::new(services, &cache), NamedProviders::new(&request.providers));
    let session = LockSession::new(request, &cache, now, interrupt);
    let roots = LockRoots { session, targets, sources: &sources, named: &named };
    let begun = roots.lock();
    let LockSession { collected, restored, .. } = roots.session;
    let collected = collected.into_inner().unwrap_or_else(PoisonError::into_inner);
    let all_begun = begun.len() == targets.paths.len();
    let mut notes: Notes = not_begun(targets.paths.len() - begun.len()).into_iter().collect();
    notes.extend(targets.notes_on_new().0);
    notes.extend(targets.notes().0);
    notes.extend(sources.notes());
    notes.extend(collected.of_trees.notes());
    notes.extend(cache.finish());
    let changed = |root: &RootOutcome| matches!(&root.body, Ok(Body::Changes(changes)) if changes.changed);
    let outcome = targets.finish(request.command, begun, notes);
    let differs = request.mode == WriteMode::Check && outcome.roots.iter().any(changed);
    let outcome = Outcome { dialect: request.new_tool().or(outcome.dialect), ..outcome };
    // Named root modules each report it; if some could not be opened, it is unknown.
    let missing = if targets.found && all_begun { named.unknown() } else { None };
    let unlocked = if all_begun { unlocked(&request.reselected_modules, &collected.reselected) } else { None };
    let unrecorded = if all_begun { unrecorded(&collected.accepted) } else { None };
    let outcome = outcome.exit_1_if(differs).with_error(missing).with_error(unlocked);
    let mut outcome = outcome.with_error(unrecorded).with_error(Error::all(collected.overridden));
    outcome.notes.extend(collected.notes);
    targets.mark_ignored(&mut outcome);
    outcome.notes.extend(not_considered(&outcome, services.variables()));
    if outcome.error.is_some() && !outcome.roots.iter().any(changed) {
        // Drop the root modules without results: "up to date" would hide that no request was sent.
        outcome.roots.retain(|root| root.code() != ExitCode::Done);
    }
    match &request.preparation {
        Preparation::Restore { revision } => restored.finish(&request.providers, revision, outcome),
        _ => outcome,
    }
}

fn not_begun(count: usize) -> Option<String> {
    (count > 0).then(|| format!("skipped {} after the failure above (--fail-fast)", counted(count, "root module")))
}

/// An error for each release to accept as republished that no lock file records.
fn unrecorded(accepted: &BTreeMap<(ProviderAddr, Version), bool>) -> Option<Error> {
    let unrecorded = accepted.iter().filter(|(_, is_recorded)| !**is_recorded);
    Error::all(unrecorded.map(|((addr, version), _)| {
        let message = format!("{addr} is not locked at {version}, so there is nothing to accept of that release");
        Error::new(ErrorKind::NotFound, message)
            .about(addr.clone())
            .hint(step!("`tflock list` shows which versions are locked"))
    }))
}

/// An error for each named module source that is not locked in any root module.
fn unlocked(named_modules: &Reselected, known: &BTreeSet<String>) -> Option<Error> {
    let Reselected::Named(names) = named_modules else { return None };
    let missing = names.iter().filter(|name| !known.contains(*name));
    Error::all(missing.map(|name| {
        Error::new(ErrorKind::NotFound, format!("no module from {name:?} is locked"))
            .hint(step!("`tflock list --modules` names the modules with their sources"))
    }))
}

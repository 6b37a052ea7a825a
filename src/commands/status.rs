//! `status` and `setup`: what a repository with lock files has, and what it lacks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::Services;
use super::shared::options::{Within, platform};
use super::shared::targets::{Targets, Unlocked};
use super::verify::module_hosts::UnlistedHosts;
use super::verify::opening::open;
use super::verify::{GateRoot, GateRoots, TreeVerdict, VerifyOptions, judged, recalled, recalled_by_source};
use crate::config::RootKind;
use crate::disk::atomic::{FileMode, NewFile, store};
use crate::disk::{files, root_files};
use crate::error::{Error, ErrorKind};
use crate::finding::{Level, Rule};
use crate::git::{ChangedFiles, Git, tracked};
use crate::interrupt::What;
use crate::outcome::{Body, NextStep, Outcome, RootOutcome, SetupFile, SetupReport, SetupState, Status};
use crate::path::{shown, worktree};
use crate::platform::Platform;
use crate::release::{Lookup, Releases};
use crate::step::CommandLine;
use crate::witness::WitnessPlace;
use crate::workspace::discover::{Search, UnlockedUnits};
use crate::{lockfile, modulelock, settings, trust, verify};

/// Summarize the lock files here and below, and name the command that comes next.
///
/// Shows in at most 15 lines how many root modules there are, which versions of providers they lock, which platforms are
/// missing and where, whose signers are not remembered, what `tflock verify` would deny, and what changed since the last
/// commit. Uses no network and changes nothing. `tflock` alone does the same if there are root modules.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock status\n  tflock status --format json",
    arg = clap::Arg::new("recursive").short('r').long("recursive").action(clap::ArgAction::SetTrue).hide(true)
        .help("Look at every root module below, as without it")
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn status(services: &Services<'_>) -> Result<Outcome, Error> {
    let scope = &services.scope;
    let git = scope.directories().first().and_then(|start| changes(start));
    let changes = git.as_ref().map(|(_, changes)| changes);
    let targets =
        Targets::within(scope, true, Unlocked::Opened, Search { changes, instances: true, ..Search::default() })?
            .or_none()?;
    let cache = services.open_cache(&targets.directories());
    let roots = open(&targets, None, scope)?.roots;
    let changed_files = git.as_ref().map(|(top, changes)| changed_files(changes, top, &roots));
    let groups = recalled_by_source(roots, &cache);
    let mut outcomes = Vec::new();
    for (roots, known) in &groups {
        let (judged, _) = judged(roots, known, &cache, VerifyOptions::default(), &TreeVerdict::default());
        outcomes.extend(judged.into_iter().map(|judged| judged.outcome));
    }
    let judged = targets.in_order(outcomes);
    let error = Error::all(settings_errors(&judged));
    let UnlockedUnits { paths, of_modules, .. } = &targets.unlocked_units;
    let mut status = Status {
        root_modules: judged.len(),
        excluded: targets.excluded,
        templates: targets.templates(),
        units_without_lock_file: paths.len() + of_modules.values().map(Vec::len).sum::<usize>(),
        changed_files,
        ..Status::default()
    };
    for kind in (0..targets.paths.len()).map(|at| targets.kind(at)).filter(|kind| *kind != RootKind::Module) {
        *status.kinds.entry(kind).or_default() += 1;
    }
    for (roots, known) in &groups {
        for (path, root) in roots.iter().filter_map(|(path, root)| Some((path, root.as_ref().ok()?))) {
            add_lock_file(&mut status, path, root, known);
        }
    }
    judged.iter().for_each(|root| add_judgment(&mut status, root));
    let (name, of_many, effect) = next(&status, judged.iter().any(needs_lock));
    let is_one = judged.len() == 1 && !services.is_above_root_modules();
    let options: Vec<&str> = of_many.iter().copied().filter(|option| !is_one || *option == "--fix").collect();
    status.next = NextStep { command: CommandLine::of(name, &options, &scope.named), effect };
    let notes = targets.notes_on_units().collect();
    Ok(Outcome {
        dialect: targets.dialect(),
        error,
        notes,
        ..Outcome::of_body("status", Body::Status(Box::new(status)))
    })
}

/// The errors in settings, each once: one of them may be the reason why no root module can be read.
fn settings_errors(judged: &[RootOutcome]) -> Vec<Error> {
    let mut errors: Vec<Error> = Vec::new();
    for error in judged.iter().filter_map(|root| root.body.as_ref().err()).flat_map(Error::each) {
        if error.kind == ErrorKind::Settings && !errors.contains(error) {
            errors.push(error.clone());
        }
    }
    errors
}

/// Adds what a lock file says, and what is known of it.
fn add_lock_file(status: &mut Status, path: &Path, root: &GateRoot, known: &Releases) {
    let settings = &root.settings().settings;
    if let Some(platforms) = &settings.platforms {
        status.platforms.get_or_insert_default().extend(platforms.iter().cloned());
    }
    status.trust_file |= root.pins().is_some();
    let mut missing = BTreeSet::new();
    for (addr, entry) in root.lock().iter() {
        let versions = status.providers.entry(addr.clone()).or_default();
        *versions.entry(entry.version.clone()).or_default() += 1;
        if root.pins().is_none_or(|pins| pins.pin(addr).is_none()) {
            status.not_remembered.insert(addr.clone());
        }
        let release = known.get(&(addr.clone(), entry.version.clone())).unwrap_or(&Lookup::NotRequested);
        missing.extend(verify::uncovered(addr, entry, release, settings));
    }
    for platform in missing {
        status.missing_platforms.entry(platform.clone()).or_default().push(name(path));
    }
}

/// Adds what was found in a root module.
fn add_judgment(status: &mut Status, root: &RootOutcome) {
    if root.body.is_err() {
        status.unreadable.push(name(&root.path));
    }
    if let Ok(Body::Verified(verified)) = &root.body {
        // Without the network only modules leave a question open.
        status.not_checked.extend((!verified.inconclusive.is_empty()).then(|| name(&root.path)));
        status.unknown_hashes += verified.unknown;
    }
    let has = |rule: Rule| root.findings.iter().any(|finding| finding.rule == rule);
    if has(Rule::RequirementsUnread) {
        status.requirements_unread.push(name(&root.path));
    }
    if has(Rule::LockFileMissing) {
        status.without_lock_file.push(name(&root.path));
    }
    for (level, counts) in [(Level::Deny, &mut status.denied), (Level::Warn, &mut status.warned)] {
        let found = root.findings.iter().filter(|finding| finding.level() == level);
        for rule in found.map(|finding| finding.rule).collect::<BTreeSet<Rule>>() {
            *counts.entry(rule.id()).or_default() += 1;
        }
    }
}

/// True if there is a finding that `lock` mends and `verify --fix` does not.
fn needs_lock(root: &RootOutcome) -> bool {
    root.findings.iter().any(|finding| MENDED.contains(&finding.rule) && !finding.is_repairable())
}

/// A command, its options for many root modules, and its effect: the first of these for which there is a reason, since what
/// blocks the others comes first.
fn next(status: &Status, needs_lock: bool) -> (&'static str, &'static [&'static str], &'static str) {
    let has = |rule: &Rule| [&status.denied, &status.warned].iter().any(|counts| counts.contains_key(rule.id()));
    let simple = MENDED.iter().chain(&[Rule::VersionNotAllowed, Rule::SignerNotPinned]);
    let simple: BTreeSet<&str> = simple.map(|rule| rule.id()).collect();
    if status.denied.contains_key(Rule::LockSyntax.id()) {
        return (
            "verify",
            &["-r"],
            "shows what is wrong in lock files; `tflock merge --resolve` ends an unfinished merge",
        );
    }
    if !status.unreadable.is_empty() {
        return ("verify", &["-r"], "shows what cannot be read");
    }
    if !status.denied.keys().all(|rule| simple.contains(rule)) {
        return ("verify", &["-r"], "explains what is denied");
    }
    let setup =
        ("setup", &[][..], "writes what this repository lacks: settings with platforms, a trust file, git attributes");
    if status.platforms.is_none() && !status.trust_file {
        return setup;
    }
    if !status.without_lock_file.is_empty() {
        return ("lock", &["-r", "--create"], "writes the missing lock files");
    }
    if has(&Rule::VersionNotAllowed) {
        return ("upgrade", &["-r"], "selects versions that the configuration allows");
    }
    if MENDED.iter().any(has) && !needs_lock && status.not_remembered.is_empty() {
        return ("verify", &["-r", "--fix"], "repairs the lock files and checks them again");
    }
    if MENDED.iter().any(has) {
        return ("lock", &["-r"], "adds what the lock files lack");
    }
    if status.platforms.is_none() {
        return setup;
    }
    if !status.not_remembered.is_empty() {
        return ("trust init", &["-r"], "remembers the signers of what is locked");
    }
    if !status.not_checked.is_empty() {
        return ("verify", &["-r"], "reads the modules that were never read, and checks everything");
    }
    if status.changed_files.as_ref().is_some_and(|files| !files.is_empty()) {
        return ("diff", &["-r"], "explains what changed, before you commit it");
    }
    ("outdated", &["-r"], "shows newer versions")
}

/// What `lock` mends without changing a recorded version or hash.
const MENDED: [Rule; 6] = [
    Rule::LockFileMissing,
    Rule::EntryMissing,
    Rule::PlatformUncovered,
    Rule::H1Missing,
    Rule::ConstraintsStale,
    Rule::NotCanonical,
];

/// What differs from the last commit; all files if there is none. `None` without git.
fn changes(start: &Path) -> Option<(PathBuf, ChangedFiles)> {
    let git = Git::open(start).ok()?;
    let changes = git.changes_since(&git.head_tree().ok()?).ok()?;
    Some((git.top().to_owned(), changes))
}

/// The changed files of ours, from the top, and those that links with the name of a lock file lead to.
fn changed_files(changes: &ChangedFiles, top: &Path, roots: &GateRoots) -> Vec<String> {
    let ours =
        [lockfile::FILE_NAME, modulelock::FILE_NAME, settings::FILE_NAME, trust::pins::FILE_NAME, tracked::FILE_NAME];
    let is_ours = |path: &&str| ours.contains(&path.rsplit('/').next().unwrap_or(path));
    let lock_files = roots.iter().filter_map(|(_, root)| Some(root.as_ref().ok()?.settings().lock_file()));
    let linked = lock_files.filter_map(|file| Some(shown(worktree::absolute(&file).strip_prefix(top).ok()?)));
    let named = changes.paths().filter(is_ours).map(str::to_owned);
    named.chain(linked.filter(|path| changes.has(path))).collect::<BTreeSet<String>>().into_iter().collect()
}

fn name(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { shown(path) }
}

/// Write the files that a repository with lock files needs.
///
/// Writes what is missing: the settings .tflock.hcl with the platforms that lock files cover, the trust file
/// .tflock.trust.hcl, the lines of .gitattributes for lock files, and with --ci the job of a CI system. Files
/// that exist stay unchanged. Afterwards `tflock lock -r` completes the lock files and remembers the signers.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock setup --platform linux_amd64 --platform darwin_arm64\n  tflock setup --ci gitlab --dry-run"
)]
pub(crate) struct SetupArgs {
    /// A platform that lock files have to cover, in addition to those that they already cover; may be repeated. Without
    /// either, the platform of this machine.
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    platforms: Vec<Platform>,
    /// Also write the job that runs `tflock verify` for each change.
    #[arg(long, value_name = "SYSTEM", value_enum)]
    ci: Option<CiSystem>,
    /// Write nothing; print what would be written.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// The values of `--ci`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CiSystem {
    /// A workflow with the action of this project; not offered while that has no published home.
    #[value(hide = true)]
    Github,
    /// A job in .gitlab/tflock.yml, which .gitlab-ci.yml includes.
    Gitlab,
}

/// The job for GitLab.
const GITLAB_JOB: &str = include_str!("../../docs/ci/gitlab-job.yml");

const GITLAB: &str = ".gitlab-ci.yml";
const GITLAB_INCLUDED: &str = ".gitlab/tflock.yml";

const TRUST: &str =
    "# Written by tflock: the signers of providers that were accepted, for `tflock verify`. Commit this file.\n";

pub fn setup(args: &SetupArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if args.ci == Some(CiSystem::Github) {
        let message = "there is no workflow to write: the action of tflock has no published home yet";
        let hint = "copy `action.yml` and `.github/action` of its source into a repository of yours; docs/ci/github-gate.yml has the workflow";
        return Err(Error::new(ErrorKind::Usage, message).hint(hint));
    }
    let scope = &services.scope;
    let start = match &scope.directories()[..] {
        [start] if !start.as_os_str().is_empty() => start.clone(),
        [_] | [] => PathBuf::from("."),
        _ => return Err(Error::new(ErrorKind::Usage, "setup works in one repository: pass -C once")),
    };
    let top = worktree::boundary(&worktree::absolute(&start));
    let run = Setup { top, dry_run: args.dry_run, services };
    let mut notes = Vec::new();
    let mut files = vec![
        run.settings(&args.platforms, &mut notes)?,
        run.create(trust::pins::FILE_NAME, TRUST, What::TrustFile)?,
        run.attributes()?,
    ];
    if args.ci == Some(CiSystem::Gitlab) {
        files.push(run.create(GITLAB_INCLUDED, GITLAB_JOB, What::File)?);
        let included = format!("include:\n  - local: {GITLAB_INCLUDED}\n");
        let file = run.create(GITLAB, &included, What::File)?;
        if file.state == SetupState::Kept && !run.read(GITLAB)?.unwrap_or_default().contains(GITLAB_INCLUDED) {
            notes.push(format!("{GITLAB} stays unchanged: add `- local: {GITLAB_INCLUDED}` to its `include`"));
        }
        files.push(file);
    }
    let options = if run.has_all_lock_files()? { &["-r"][..] } else { &["-r", "--create"] };
    let report = SetupReport { files, dry_run: args.dry_run, next: CommandLine::of("lock", options, &scope.named) };
    Ok(Outcome { notes: notes.into(), ..Outcome::of_body("setup", Body::Setup(report)) })
}

struct Setup<'a, 's> {
    /// Where the files are: the top of the working tree, or the directory of the run outside of git.
    top: PathBuf,
    dry_run: bool,
    services: &'a Services<'s>,
}

impl Setup<'_, '_> {
    fn read(&self, name: &str) -> Result<Option<String>, Error> {
        files::read_text(&self.top.join(name), Path::new(name), ErrorKind::Settings)
    }

    /// Writes a file that is not there.
    fn create(&self, name: &str, text: &str, what: What) -> Result<SetupFile, Error> {
        let path = self.top.join(name);
        let file = |state, text: &str| SetupFile { path: PathBuf::from(name), state, text: text.to_owned() };
        // A link is read, so one that leads out is refused.
        if self.read(name)?.is_some() {
            return Ok(file(SetupState::Kept, ""));
        }
        if !self.dry_run {
            if let Some(directory) = path.parent().filter(|directory| !directory.exists()) {
                std::fs::create_dir(directory).map_err(|reason| {
                    Error::new(ErrorKind::Disk, format!("cannot create {}: {reason}", shown(directory)))
                })?;
            }
            let file = NewFile { path: &path, bytes: text.as_bytes(), mode: FileMode::KeepOr(0o644), what };
            store(file, &self.top, &self.services.interrupt)?;
        }
        Ok(file(SetupState::Created, text))
    }

    fn settings(&self, named: &[Platform], notes: &mut Vec<String>) -> Result<SetupFile, Error> {
        let Locked { platforms: known, witnesses, hosts } = self.locked()?;
        let mut platforms: BTreeSet<Platform> = known.iter().chain(named).cloned().collect();
        if platforms.is_empty() {
            platforms.insert(Platform::host());
        }
        let list = platforms.iter().map(|platform| format!("\"{platform}\"")).collect::<Vec<_>>().join(", ");
        let line = format!("platforms = [{list}]");
        let mut text = format!("{line} # every lock file must cover these\n");
        if !witnesses.is_empty() {
            let list = witnesses.iter().map(|place| format!("\"{place}\"")).collect::<Vec<_>>().join(", ");
            let line =
                format!("witnesses = [{list}] # are asked about new releases, so they learn the names of providers\n");
            text.push_str(&line);
        }
        if let Some(hosts) = &hosts {
            let block = format!(
                "\npolicy {{\n  {} # all hosts of modules; the gate fetches computed sources from no other\n}}\n",
                hosts.line()
            );
            text.push_str(&block);
        }
        let file = self.create(settings::FILE_NAME, &text, What::File)?;
        if file.state == SetupState::Created && known.is_empty() && named.is_empty() {
            notes.push(format!(
                "`{line}` is for this machine alone: add to {} the other platforms that run this configuration",
                settings::FILE_NAME
            ));
        }
        if file.state == SetupState::Kept {
            let text = self.read(settings::FILE_NAME)?.unwrap_or_default();
            // What is wrong with it is reported where it is used.
            let stated = settings::decode(&text, settings::FILE_NAME.as_ref()).unwrap_or_default().platforms;
            let lacking = |platform: &&Platform| stated.as_ref().is_some_and(|stated| !stated.contains(platform));
            let lacking: Vec<String> = named.iter().filter(lacking).map(ToString::to_string).collect();
            if stated.is_none() {
                notes.push(format!("{} stays unchanged and names no platforms: add `{line}`", settings::FILE_NAME));
            } else if !lacking.is_empty() {
                let lacking = lacking.join(", ");
                notes.push(format!("{} stays unchanged: add {lacking} to its `platforms`", settings::FILE_NAME));
            }
            notes.extend(hosts.map(|hosts| hosts.note()));
        }
        Ok(file)
    }

    fn attributes(&self) -> Result<SetupFile, Error> {
        let old = files::read_file(&self.top.join(tracked::FILE_NAME))?;
        let has_instances = Git::open(&self.top).is_ok_and(|git| git.has_instances());
        let new = tracked::with_lines(old.as_deref().unwrap_or_default(), has_instances);
        let state = match &old {
            Some(old) if *old == new => SetupState::Kept,
            Some(_) => SetupState::Extended,
            None => SetupState::Created,
        };
        if state != SetupState::Kept && !self.dry_run {
            root_files::update_attributes(&self.top, &self.services.interrupt, |text| {
                tracked::with_lines(text, has_instances)
            })?;
        }
        let added = new.get(old.map_or(0, |old| old.len())..).unwrap_or_default();
        let text = String::from_utf8_lossy(added).trim_start().to_owned();
        Ok(SetupFile { path: PathBuf::from(tracked::FILE_NAME), state, text })
    }

    /// True if there are root modules, and each has a lock file.
    fn has_all_lock_files(&self) -> Result<bool, Error> {
        let roots = Targets::of(&self.services.scope, true, Unlocked::Opened)?.directories();
        Ok(!roots.is_empty() && roots.iter().all(|root| root.join(lockfile::FILE_NAME).is_file()))
    }

    /// What the lock files say about the settings that suit them.
    fn locked(&self) -> Result<Locked, Error> {
        let targets = Targets::with_instances(&self.services.scope, true, Unlocked::Opened)?;
        let roots = open(&targets, None, &self.services.scope)?.roots;
        let known = recalled(&roots, &self.services.open_cache(&targets.directories()));
        let read = roots.iter().filter_map(|(_, root)| root.as_ref().ok());
        let providers = read.flat_map(|root| root.lock().iter().map(|(addr, _)| addr));
        let witnesses = providers.flat_map(WitnessPlace::of_public).collect();
        Ok(Locked { platforms: platforms(&roots, &known), witnesses, hosts: UnlistedHosts::of(&roots) })
    }
}

struct Locked {
    platforms: BTreeSet<Platform>,
    /// The places that can know releases of its providers.
    witnesses: BTreeSet<WitnessPlace>,
    /// The hosts that the gate would not ask.
    hosts: Option<UnlistedHosts>,
}

fn platforms(roots: &GateRoots, known: &Releases) -> BTreeSet<Platform> {
    let mut platforms = BTreeSet::new();
    for root in roots.iter().filter_map(|(_, root)| root.as_ref().ok()) {
        for (addr, entry) in root.lock().iter() {
            let release = known.get(&(addr.clone(), entry.version.clone())).and_then(|lookup| lookup.release());
            let covered = release.into_iter().flat_map(|release| release.platforms_with(&entry.hashes));
            platforms.extend(covered.map(|(platform, _)| platform.clone()));
        }
    }
    platforms
}

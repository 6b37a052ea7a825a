//! `setup`: the files that a repository with lock files needs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::Services;
use super::shared::options::{Within, platform};
use super::shared::targets::{Targets, Unlocked};
use super::verify::module_hosts::UnlistedHosts;
use super::verify::opening::open;
use super::verify::{GateRoots, recalled};
use crate::disk::atomic::{FileMode, NewFile, store};
use crate::disk::{files, root_files};
use crate::error::{Error, ErrorKind};
use crate::git::{Git, tracked};
use crate::interrupt::What;
use crate::outcome::{Body, Outcome, SetupFile, SetupReport, SetupState};
use crate::path::{shown, worktree};
use crate::platform::Platform;
use crate::release::Releases;
use crate::step::CommandLine;
use crate::witness::WitnessPlace;
use crate::workspace::{RunSettings, Scope};
use crate::{lockfile, settings, trust};

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
    /// A platform that lock files must cover, besides those that they cover already; may be repeated. If there is
    /// neither, this machine's.
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
    refuse_unread(&top, scope)?;
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
    let report = SetupReport { files, dry_run: args.dry_run, next: run.next()? };
    Ok(Outcome { notes: notes.into(), ..Outcome::of_body("setup", Body::Setup(report)) })
}

/// True if root modules read settings and trust file in a directory: outside of git each has its own.
pub(super) fn is_read<'a>(directory: &Path, roots: impl Iterator<Item = &'a RunSettings>) -> bool {
    let mut roots = roots.peekable();
    worktree::top(directory).is_some() || roots.peek().is_none() || roots.any(|root| root.boundary == directory)
}

/// Refuses to write files that no root module reads.
fn refuse_unread(top: &Path, scope: &Scope) -> Result<(), Error> {
    let Ok(targets) = Targets::of(scope, true, Unlocked::Created) else { return Ok(()) };
    let roots: Vec<RunSettings> = (0..targets.paths.len()).filter_map(|at| targets.settings(at).ok()).collect();
    if is_read(top, roots.iter()) {
        return Ok(());
    }
    let first = targets.directories().into_iter().next().unwrap_or_default();
    let first = shown(first.strip_prefix(".").unwrap_or(&first));
    let message =
        "outside Git each root module has its own settings and trust file, and this directory is no root module";
    Err(Error::new(ErrorKind::Usage, message)
        .hint(step!("`tflock -C {} setup` writes those of that root module", first))
        .hint(step!("`git init` in this directory makes those below it share one settings file and one trust file")))
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
        let platforms: BTreeSet<Platform> = known.iter().chain(named).cloned().collect();
        let line = platforms_line(platforms);
        let mut text = format!("{line} # every lock file must cover these\n");
        if !witnesses.is_empty() {
            let list = witnesses.iter().map(|place| format!("\"{place}\"")).collect::<Vec<_>>().join(", ");
            let line = format!(
                "witnesses = [{list}] # tflock queries these about new releases, so they learn the names of providers\n"
            );
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
        let old = files::read_file(&self.top.join(tracked::ATTRIBUTES_FILE))?;
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
        Ok(SetupFile { path: PathBuf::from(tracked::ATTRIBUTES_FILE), state, text })
    }

    /// The command that completes the lock files; `None` where nothing can have one.
    fn next(&self) -> Result<Option<CommandLine>, Error> {
        let scope = &self.services.scope;
        let roots = Targets::of(scope, true, Unlocked::Opened)?.directories();
        let has_all = !roots.is_empty() && roots.iter().all(|root| root.join(lockfile::FILE_NAME).is_file());
        if !has_all && Targets::of(scope, true, Unlocked::Created).is_err() {
            return Ok(None);
        }
        let options = if has_all { &["-r"][..] } else { &["-r", "--create"] };
        Ok(Some(CommandLine::of("lock", options, &scope.named)))
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

/// The line of the settings; with this machine's platform if there is no other.
pub(super) fn platforms_line(mut platforms: BTreeSet<Platform>) -> String {
    if platforms.is_empty() {
        platforms.insert(Platform::host());
    }
    let list = platforms.iter().map(|platform| format!("\"{platform}\"")).collect::<Vec<_>>().join(", ");
    format!("platforms = [{list}]")
}

/// The platforms that lock files are known to cover.
pub(super) fn platforms(roots: &GateRoots, known: &Releases) -> BTreeSet<Platform> {
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

//! `status`: what a repository with lock files has, and what it lacks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::shared::options::Within;
use super::shared::targets::{Targets, Unlocked};
use super::verify::opening::open;
use super::verify::own_tree::of_own_tree;
use super::verify::{GateRoot, GateRoots, RunLimits, TreeVerdict, VerifyOptions, judged, recalled_by_source};
use super::{Services, setup};
use crate::config::RootKind;
use crate::disk::files;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::git::{ChangedFiles, Git, tracked};
use crate::lockfile::LockName;
use crate::outcome::{Body, NextStep, Notes, Outcome, RootOutcome, Status};
use crate::path::{shown, worktree};
use crate::release::{Lookup, Releases};
use crate::step::CommandLine;
use crate::workspace::discover::{Search, UnlockedUnits};
use crate::workspace::{Scope, settings_at};
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
    let git = scope.directories().first().and_then(|start| SinceCommit::of(start));
    let changes = git.as_ref().map(|changes| &changes.files);
    let targets =
        Targets::within(scope, true, Unlocked::Opened, Search { changes, instances: true, ..Search::default() })?
            .or_none()?;
    let cache = services.open_cache(&targets.directories());
    let opened = open(&targets, None, scope)?;
    let (of_tree, unsettled) = of_own_tree(&targets, &opened, scope);
    let changed_files = git.as_ref().map(|changes| changes.of_ours(&opened.roots));
    let groups = recalled_by_source(opened.roots, &cache);
    let (mut outcomes, mut limits) = (Vec::new(), RunLimits::default());
    for (roots, known) in &groups {
        let (judged, _) = judged(roots, known, &cache, VerifyOptions::default(), &TreeVerdict::default(), &mut limits);
        outcomes.extend(judged.into_iter().map(|judged| judged.outcome));
    }
    let judged = targets.in_order(outcomes);
    let error = Error::all(settings_errors(judged.iter().chain(&unsettled)));
    let UnlockedUnits { paths, of_modules, .. } = &targets.beside.unlocked_units;
    let mut status = Status {
        root_modules: judged.len(),
        not_counted: targets.not_counted(),
        units_without_lock_file: paths.len() + of_modules.values().map(Vec::len).sum::<usize>(),
        changed_files,
        has_no_commit: git.as_ref().is_some_and(|changes| changes.has_no_commit),
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
    for root in &judged {
        add_judgment(&mut status, root);
    }
    add_findings_of_tree(&mut status, &of_tree);
    let start = worktree::absolute(&scope.directories().into_iter().next().unwrap_or_default());
    if targets.paths.is_empty() {
        status.platforms = settings_at(&start).platforms.map(BTreeSet::from_iter);
    }
    let setup = SetupUse::of(&groups, &start);
    status.set_platforms = setup.set_platforms(&groups, scope);
    let is_here = |place: &PathBuf| {
        scope.directories().iter().any(|start| worktree::absolute(start) == worktree::absolute(place))
    };
    let is_one = judged.len() == 1 && targets.directories().iter().any(is_here);
    let is_written = |path: &PathBuf| {
        if is_one { !targets.beside.ignored.contains_key(path) } else { targets.is_created(path) }
    };
    let lacking = judged.iter().filter(|root| has(root, Rule::LockFileMissing)).map(|root| root.path.clone());
    let creates = lacking.chain(missing(&of_tree)).any(|path| is_written(&path));
    let (name, of_many, effect) = next(&status, &judged, creates, setup);
    // `setup` works in one repository.
    let within = if name == "setup" { scope.named.get(..1).unwrap_or_default() } else { &scope.named };
    let options: Vec<&str> =
        of_many.iter().copied().filter(|option| !is_one || !["-r", "--create"].contains(option)).collect();
    status.next = NextStep { command: CommandLine::of(name, &options, within), effect };
    let mut notes: Notes = targets.notes_on_units().collect();
    notes.extend(targets.note_on_ignored_roots());
    Ok(Outcome {
        dialect: targets.dialect(),
        error,
        notes,
        ..Outcome::of_body("status", Body::Status(Box::new(status)))
    })
}

/// What `setup` would do here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SetupUse {
    /// True if root modules read what it writes.
    is_read: bool,
    has_settings: bool,
    has_trust_file: bool,
}

impl SetupUse {
    fn of(groups: &[(GateRoots, Releases)], start: &Path) -> Self {
        let top = worktree::boundary(start);
        let roots = groups.iter().flat_map(|(roots, _)| roots).filter_map(|(_, root)| root.as_ref().ok());
        let has = |name: &str| files::is_there(&top.join(name));
        Self {
            is_read: setup::is_read(&top, roots.map(GateRoot::settings)),
            has_settings: has(settings::FILE_NAME),
            has_trust_file: has(trust::pins::FILE_NAME),
        }
    }

    /// What it writes.
    fn effect(self) -> &'static str {
        match (self.has_settings, self.has_trust_file) {
            (false, false) => {
                "writes what this repository lacks: settings with platforms, a trust file, git attributes"
            }
            (false, true) => "writes what this repository lacks: settings with platforms, git attributes",
            (true, _) => "writes what this repository lacks: a trust file, git attributes",
        }
    }

    /// How to set platforms.
    fn set_platforms(self, groups: &[(GateRoots, Releases)], scope: &Scope) -> String {
        if !self.is_read {
            return format!("outside Git each root module has its own {}", settings::FILE_NAME);
        }
        if !self.has_settings {
            return format!("`{}`", CommandLine::of("setup", &[], scope.named.get(..1).unwrap_or_default()));
        }
        let known = groups.iter().flat_map(|(roots, known)| setup::platforms(roots, known)).collect();
        format!("add `{}` to {}", setup::platforms_line(known), settings::FILE_NAME)
    }
}

/// The errors in settings, each once: one of them may be the reason why no root module can be read.
fn settings_errors<'a>(roots: impl Iterator<Item = &'a RootOutcome>) -> Vec<Error> {
    let mut errors: Vec<Error> = Vec::new();
    for error in roots.filter_map(|root| root.body.as_ref().err()).flat_map(Error::each) {
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
        let mut open = verified.inconclusive.iter();
        if open.any(|it| it.error.kind == ErrorKind::LockFile) {
            status.unreadable.push(name(&root.path));
        } else if !verified.inconclusive.is_empty() {
            // Without the network it is modules that leave a question open, or Git.
            status.not_checked.push(name(&root.path));
        }
        status.unknown_hashes += verified.unknown;
    }
    if has(root, Rule::RequirementsUnread) {
        status.requirements_unread.push(name(&root.path));
    }
    if has(root, Rule::LockFileMissing) {
        status.without_lock_file.push(name(&root.path));
    }
    for (level, counts) in [(Level::Deny, &mut status.denied), (Level::Warn, &mut status.warned)] {
        let found = root.findings.iter().filter(|finding| finding.level() == level);
        for rule in found.map(|finding| finding.rule).collect::<BTreeSet<Rule>>() {
            *counts.entry(rule.id()).or_default() += 1;
        }
    }
}

fn has(root: &RootOutcome, rule: Rule) -> bool {
    root.findings.iter().any(|finding| finding.rule == rule)
}

/// Adds what was found in the working tree as a whole, each rule once for each directory.
fn add_findings_of_tree(status: &mut Status, findings: &[Finding]) {
    status.without_lock_file.extend(missing(findings).map(|path| name(&path)));
    for (level, counts) in [(Level::Deny, &mut status.denied), (Level::Warn, &mut status.warned)] {
        let found = findings.iter().filter(|finding| finding.level() == level);
        let found = found.map(|finding| (finding.rule, finding.file.as_deref().and_then(Path::parent)));
        for (rule, _) in found.collect::<BTreeSet<(Rule, Option<&Path>)>>() {
            *counts.entry(rule.id()).or_default() += 1;
        }
    }
}

/// The directories that lack a lock file by these findings.
fn missing(findings: &[Finding]) -> impl Iterator<Item = PathBuf> {
    let missing = findings.iter().filter(|finding| finding.rule == Rule::LockFileMissing);
    missing.filter_map(|finding| Some(finding.file.as_deref()?.parent()?.to_owned()))
}

fn is_of_instance(root: &RootOutcome) -> bool {
    LockName::directory(&root.path) != root.path
}

/// The findings that `lock` mends.
fn mended(root: &RootOutcome) -> impl Iterator<Item = &Finding> {
    // Atmos adds the entries of its instances.
    let is_left = |finding: &Finding| finding.rule == Rule::EntryMissing && is_of_instance(root);
    root.findings.iter().filter(move |finding| MENDED.contains(&finding.rule) && !is_left(finding))
}

/// A command, its options for many root modules, and its effect: the first of these for which there is a reason, since what
/// blocks the others comes first. `creates` says whether `lock` writes any of the missing lock files.
fn next(
    status: &Status,
    judged: &[RootOutcome],
    creates: bool,
    setup_use: SetupUse,
) -> (&'static str, &'static [&'static str], &'static str) {
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
    let setup = ("setup", &[][..], setup_use.effect());
    if status.platforms.is_none()
        && !status.trust_file
        && setup_use.is_read
        && !(setup_use.has_settings && setup_use.has_trust_file)
    {
        return setup;
    }
    if !status.without_lock_file.is_empty() && !creates {
        return ("verify", &["-r"], "says what to do about the missing lock files");
    }
    if creates {
        return ("lock", &["-r", "--create"], "writes the missing lock files");
    }
    if has(&Rule::VersionNotAllowed) {
        return ("upgrade", &["-r"], "selects versions that the configuration allows");
    }
    let mended = || judged.iter().flat_map(mended);
    let open: Vec<&Finding> = mended().filter(|finding| finding.level() > Level::Note).collect();
    if !open.is_empty() {
        if open.iter().all(|finding| finding.help().commands().any(|command| command.has("--from-lock"))) {
            return ("lock", &["-r", "--from-lock"], "adds what entries lack that the configuration does not require");
        }
        if mended().all(Finding::is_repairable) && status.not_remembered.is_empty() {
            return ("verify", &["-r", "--fix"], "repairs the lock files and checks them again");
        }
        return ("lock", &["-r"], "adds what the lock files lack");
    }
    if status.platforms.is_none() && setup_use.is_read && !setup_use.has_settings {
        return setup;
    }
    if !status.not_remembered.is_empty() {
        return ("trust init", &["-r"], "remembers the signers of what is locked");
    }
    if !status.not_checked.is_empty() {
        return ("verify", &["-r"], "checks everything, and says what is open");
    }
    if status.changed_files.as_ref().is_some_and(|files| !files.is_empty()) {
        return ("diff", &["-r"], "explains what changed, before you commit it");
    }
    let is_all_of_atmos = !judged.is_empty() && judged.iter().all(is_of_instance);
    if has(&Rule::EntryMissing) || is_all_of_atmos {
        return ("verify", &["-r"], "checks everything, and explains what is left to Atmos");
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

/// What differs from the last commit; all files if there is none.
struct SinceCommit {
    top: PathBuf,
    files: ChangedFiles,
    has_no_commit: bool,
}

impl SinceCommit {
    /// `None` without git.
    fn of(start: &Path) -> Option<Self> {
        let git = Git::open(start).ok()?;
        let tree = git.head_tree().ok()?;
        let has_no_commit = tree.paths().next().is_none() && git.has_no_commit().ok()?;
        Some(Self { top: git.top().to_owned(), files: git.changes_since(&tree).ok()?, has_no_commit })
    }

    /// The changed files of ours, from the top, and those that links with the name of a lock file lead to.
    fn of_ours(&self, roots: &GateRoots) -> Vec<String> {
        let ours = [
            lockfile::FILE_NAME,
            modulelock::FILE_NAME,
            settings::FILE_NAME,
            trust::pins::FILE_NAME,
            tracked::ATTRIBUTES_FILE,
        ];
        let is_ours = |path: &&str| ours.contains(&path.rsplit('/').next().unwrap_or(path));
        let lock_files = roots.iter().filter_map(|(_, root)| Some(root.as_ref().ok()?.settings().lock_file()));
        let linked = lock_files.filter_map(|file| Some(shown(worktree::absolute(&file).strip_prefix(&self.top).ok()?)));
        let named = self.files.paths().filter(is_ours).map(str::to_owned);
        named.chain(linked.filter(|path| self.files.has(path))).collect::<BTreeSet<String>>().into_iter().collect()
    }
}

fn name(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { shown(path) }
}

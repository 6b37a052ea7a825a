//! `status`: how lock files, trust file and working tree are, and what comes next.
//!
//! It is what `verify --offline` finds out, counted by kind; no rule is judged here a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Services;
use super::options::Within;
use super::targets::{Targets, Unlocked};
use super::verify::opening::{Opening, open};
use super::verify::{Root, Roots, VerifyOptions, judged, recalled};
use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::finding::{Level, Rule, shell_word};
use crate::git::{Git, Tree};
use crate::outcome::{Body, NextStep, Outcome, RootOutcome, Status, StatusProvider};
use crate::path::shown;
use crate::platform::Platform;
use crate::release::{Lookup, Releases};
use crate::version::Version;
use crate::{lockfile, modulelock, settings, trust, verify};

/// Summarize the lock files here and below, and name the command that comes next.
///
/// Shows in at most 15 lines how many root modules there are, which versions of providers they lock, which platforms are
/// missing and where, whose signers are not remembered, what `tflock verify` would deny, and what changed since the last
/// commit. Uses no network and changes nothing. `tflock` alone does the same where root modules are.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  tflock status\n  tflock status --format json")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn status(services: &Services<'_>) -> Result<Outcome, Error> {
    let scope = &services.scope;
    let targets = Targets::of(scope, true, Unlocked::Opened)?.or_none()?;
    let cache = services.open_cache(&targets.directories());
    let Opening { roots, .. } = open(&targets, None, scope)?;
    let known = recalled(&roots, &cache);
    let locked = Locked::of(&roots, &known);
    let (judged, _) = judged(roots, &known, &cache, VerifyOptions::default());
    let judged = targets.in_order(judged);
    let changed_files = scope.directories().first().and_then(|start| changed_files(start));
    let found = Found { locked, changed_files, ..Found::of(&judged) };
    let (command, effect) = found.next();
    let is_one = judged.len() == 1 && !services.is_above_root_modules();
    let command = if is_one { command.replace(" -r --create", "").replace(" -r", "") } else { command.to_owned() };
    let within = scope.named.iter().map(|directory| format!(" -C {}", shell_word(&shown(directory))));
    let next = NextStep { command: format!("tflock{} {command}", within.collect::<String>()), effect };
    let status = found.status(judged.len(), next);
    Ok(Outcome { dialect: targets.dialect(), ..Outcome::of_body("status", Body::Status(Box::new(status))) })
}

/// What the lock files say, and what is known of it.
#[derive(Debug, Default)]
struct Locked {
    providers: BTreeMap<ProviderAddr, BTreeMap<Version, usize>>,
    platforms: Option<BTreeSet<Platform>>,
    missing_platforms: BTreeMap<Platform, Vec<String>>,
    trust_file: bool,
    not_remembered: BTreeSet<ProviderAddr>,
}

impl Locked {
    fn of(roots: &Roots, known: &Releases) -> Self {
        let mut all = Self::default();
        for (path, root) in roots.iter().filter_map(|(path, root)| Some((path, root.as_ref().ok()?))) {
            all.add(path, root, known);
        }
        all
    }

    fn add(&mut self, path: &Path, root: &Root, known: &Releases) {
        let settings = &root.settings().settings;
        if let Some(platforms) = &settings.platforms {
            self.platforms.get_or_insert_default().extend(platforms.iter().cloned());
        }
        self.trust_file |= root.pins().is_some();
        let mut missing = BTreeSet::new();
        for (addr, entry) in root.lock().iter() {
            let versions = self.providers.entry(addr.clone()).or_default();
            *versions.entry(entry.version.clone()).or_default() += 1;
            if root.pins().is_none_or(|pins| pins.pin(addr).is_none()) {
                self.not_remembered.insert(addr.clone());
            }
            let release = known.get(&(addr.clone(), entry.version.clone())).unwrap_or(&Lookup::NotRequested);
            missing.extend(verify::uncovered(addr, entry, release, settings));
        }
        for platform in missing {
            self.missing_platforms.entry(platform.clone()).or_default().push(name(path));
        }
    }
}

/// What is found, with the number of root modules by rule.
#[derive(Debug, Default)]
struct Found {
    locked: Locked,
    without_lock_file: Vec<String>,
    unreadable: Vec<String>,
    denied: BTreeMap<Rule, usize>,
    warned: BTreeMap<Rule, usize>,
    changed_files: Option<Vec<String>>,
}

impl Found {
    fn of(judged: &[RootOutcome]) -> Self {
        let mut all = Self::default();
        for root in judged {
            if root.body.is_err() {
                all.unreadable.push(name(&root.path));
            }
            if root.findings.iter().any(|finding| finding.rule == Rule::LockFileMissing) {
                all.without_lock_file.push(name(&root.path));
            }
            for (level, counts) in [(Level::Deny, &mut all.denied), (Level::Warn, &mut all.warned)] {
                let found = root.findings.iter().filter(|finding| finding.level == level);
                for rule in found.map(|finding| finding.rule).collect::<BTreeSet<Rule>>() {
                    *counts.entry(rule).or_default() += 1;
                }
            }
        }
        all
    }

    fn status(self, root_modules: usize, next: NextStep) -> Status {
        let by_id =
            |counts: BTreeMap<Rule, usize>| counts.into_iter().map(|(rule, count)| (rule.id(), count)).collect();
        let Locked { providers, platforms, missing_platforms, trust_file, not_remembered } = self.locked;
        Status {
            root_modules,
            without_lock_file: self.without_lock_file,
            unreadable: self.unreadable,
            providers: providers.into_iter().map(|(address, versions)| StatusProvider { address, versions }).collect(),
            platforms: platforms.map(|platforms| platforms.into_iter().collect()),
            missing_platforms,
            trust_file,
            not_remembered: not_remembered.into_iter().collect(),
            denied: by_id(self.denied),
            warned: by_id(self.warned),
            changed_files: self.changed_files,
            next,
        }
    }

    /// The first of these for which there is a reason: what blocks the others comes first.
    fn next(&self) -> (&'static str, &'static str) {
        let has = |rule: &Rule| self.denied.contains_key(rule) || self.warned.contains_key(rule);
        let is_simple =
            |rule: &Rule| MENDED.contains(rule) || [Rule::VersionNotAllowed, Rule::SignerNotPinned].contains(rule);
        if self.denied.contains_key(&Rule::LockSyntax) {
            return (
                "verify -r",
                "shows what is wrong in lock files; `tflock merge --resolve` ends an unfinished merge",
            );
        }
        if !self.unreadable.is_empty() {
            return ("verify -r", "shows what cannot be read");
        }
        if !self.denied.keys().all(is_simple) {
            return ("verify -r", "explains what is denied");
        }
        if !self.without_lock_file.is_empty() {
            return ("lock -r --create", "writes the missing lock files");
        }
        if has(&Rule::VersionNotAllowed) {
            return ("upgrade -r", "selects versions that the configuration allows");
        }
        if MENDED.iter().any(has) {
            return ("lock -r", "adds what the lock files lack");
        }
        if self.locked.platforms.is_none() {
            return (
                "setup",
                "writes what this repository lacks: settings with platforms, a trust file, git attributes",
            );
        }
        if !self.locked.not_remembered.is_empty() {
            return ("trust init -r", "remembers the signers of what is locked");
        }
        if self.changed_files.as_ref().is_some_and(|files| !files.is_empty()) {
            return ("diff -r", "explains what changed, before you commit it");
        }
        ("outdated -r", "shows newer versions; nothing has to be done")
    }
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

/// The files of ours that differ from the last commit; all of them if there is none. `None` without git.
fn changed_files(start: &Path) -> Option<Vec<String>> {
    let git = Git::open(start).ok()?;
    let tree = match git.commit("HEAD").ok()? {
        Some(head) => git.tree(&head).ok()?,
        None => Tree::default(),
    };
    let changes = git.changes_since(&tree).ok()?;
    let ours = [lockfile::FILE_NAME, modulelock::FILE_NAME, settings::FILE_NAME, trust::pins::FILE_NAME];
    let is_ours = |path: &&str| ours.contains(&path.rsplit('/').next().unwrap_or(path));
    Some(changes.paths().filter(is_ours).map(str::to_owned).collect())
}

fn name(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { shown(path) }
}

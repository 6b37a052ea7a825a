//! What speaks against module locks: calls without a block, blocks without a call, and what their sources serve now.
//!
//! What differs between two module locks.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use url::Url;

use super::{Ambiguity, LockedModule, ModuleKey, ModuleLock, ModuleLockFile};
use crate::config::ModuleSource;
use crate::finding::{Finding, Level, Position, Rule};
use crate::hash::PackageHash;
use crate::step::Value;
use crate::version::{ModuleConstraints, ModuleVersion, VersionList};
use crate::words::first_of;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its path of call names joined by dots.
    pub name: String,
    pub source: ModuleSource,
    pub constraints: Option<ModuleConstraints>,
    /// Its file, relative to the root module.
    pub file: std::path::PathBuf,
    pub position: Position,
    /// True if its module, or a file of that, is reached in its package over a name that begins with a dot: the hash does not
    /// cover what lies there.
    pub hidden: bool,
    pub ambiguity: Option<Ambiguity>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    Locked {
        /// True if it is meant to go on: a branch, or no `ref` at all.
        is_moving: bool,
    },
    /// Something else.
    Other {
        commit: Option<String>,
        hash: PackageHash,
        /// True if it is meant to go on: a branch, or no `ref` at all.
        is_moving: bool,
    },
    /// It is unknown which commit the tools would take.
    Ambiguous(Ambiguity),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offered {
    /// These versions, as the registry lists them.
    Versions(Vec<String>),
    /// What the `ref` of a git source means now.
    Commit {
        commit: String,
        /// The `ref`, if it is a version.
        tagged: Option<String>,
        /// The newest tag of the same kind, if it is newer.
        newer: Option<String>,
    },
    /// One thing only, as the address of an archive does.
    Fixed,
}

impl Served {
    /// True if the source is expected to move, so its lock may be renewed.
    pub fn is_moving(&self) -> bool {
        matches!(self, Self::Locked { is_moving: true } | Self::Other { is_moving: true, .. })
    }
}

/// The findings on calls that nothing is locked for and, where all calls are known, on blocks that no call needs.
pub fn of_calls(file: &ModuleLockFile, calls: &[Call], complete: bool) -> Vec<Finding> {
    let mut findings: Vec<Finding> = calls.iter().filter_map(|call| unlocked(&file.lock, call)).collect();
    findings.extend(calls.iter().filter_map(Call::ambiguous));
    if complete {
        findings.extend(file.lock.iter().filter_map(|(key, block)| {
            let finding = Finding::new(Rule::ModuleStale, stale(key, block, calls)?).about_module(&key.source);
            Some(finding.at(file.spans.get(key).copied()))
        }));
    }
    findings
}

impl Call {
    /// The finding on a package that cannot be locked.
    fn ambiguous(&self) -> Option<Finding> {
        let finding = ambiguous(&self.source.package()?, self.ambiguity.as_ref()?);
        Some(finding.in_file(&self.file).at(self.position))
    }
}

pub fn ambiguous(package: &str, ambiguity: &Ambiguity) -> Finding {
    let Ambiguity { reason, help } = ambiguity;
    let message = format!("the module package {package} cannot be locked: {reason}");
    Finding::new(Rule::ModuleAmbiguous, message).about_module(package).remedied_by(help.clone())
}

fn unlocked(lock: &ModuleLock, call: &Call) -> Option<Finding> {
    let package = call.source.package()?;
    let block = lock.block(&call.source, &call.name, call.constraints.as_ref());
    let has_own = block.is_some_and(|(_, block)| block.calls.contains(&call.name));
    let message = match block {
        Some(_) if call.hidden => format!(
            "module {} is read from a place in its package whose name begins with a dot, which no hash covers",
            call.name
        ),
        Some(_) if has_own => return None,
        _ => {
            let required = call.constraints.as_ref();
            let required = required.map(|constraints| format!(" {:?}", constraints.as_str())).unwrap_or_default();
            format!("nothing is locked for module {} from {package}{required}", call.name)
        }
    };
    let finding = Finding::new(Rule::ModuleUnlocked, message).about_module(&package);
    let finding = finding.in_file(&call.file).at(call.position);
    // No lock can cover it.
    let elsewhere = "Call a module that lies in another directory, or keep a copy of it in the repository.";
    Some(if block.is_some() && call.hidden { finding.remedied_by(elsewhere) } else { finding })
}

fn stale(key: &ModuleKey, block: &LockedModule, calls: &[Call]) -> Option<String> {
    let is_of = |call: &&Call| call.source.package().as_deref() == Some(key.source.as_str());
    let own: BTreeSet<&str> =
        calls.iter().filter(is_of).map(|call| call.name.as_str()).filter(|name| block.calls.contains(*name)).collect();
    if own.is_empty() {
        return Some(format!("{key} is locked, but no module call uses it"));
    }
    let lost: Vec<&str> = block.calls.iter().map(String::as_str).filter(|name| !own.contains(name)).collect();
    if !lost.is_empty() {
        return Some(format!("{key} is locked for module {}, which no longer uses it", lost.join(", ")));
    }
    let required = calls.iter().filter(is_of).filter(|call| own.contains(call.name.as_str()));
    let terms: BTreeSet<String> =
        required.filter_map(|call| call.constraints.as_ref()).flat_map(ModuleConstraints::terms).collect();
    let terms = terms.into_iter().collect::<Vec<_>>().join(", ");
    let recorded = block.constraints.clone().unwrap_or_default();
    (terms != recorded).then(|| format!("{key} is locked with constraints {recorded:?}, the calls have {terms:?}"))
}

pub fn of_served(key: &ModuleKey, block: &LockedModule, served: &Served) -> Option<Finding> {
    let (commit, hash, is_moving) = match served {
        Served::Locked { .. } => return None,
        Served::Ambiguous(ambiguity) => return Some(ambiguous(&key.source, ambiguity)),
        Served::Other { commit, hash, is_moving } => (commit, hash, is_moving),
    };
    let to = commit.as_ref().map_or_else(|| hash.as_str().to_owned(), |commit| format!("commit {commit}"));
    let from = block.content.commit.as_ref();
    let from = from.map_or_else(|| block.content.hash.as_str().to_owned(), |commit| format!("commit {commit}"));
    let (rule, message) = if *is_moving {
        (Rule::ModuleMoved, format!("{key} has new commits: locked {from}, source now serves {to}"))
    } else {
        (Rule::ModuleChanged, format!("{key} no longer matches the lock: locked {from}, source now serves {to}"))
    };
    Some(Finding::new(rule, message).about_module(&key.source))
}

/// The findings on what a change did to the locks of packages that were there before and still are, also by another spelling of the
/// source. A package whose `ref` is known to go on, or that has none, may be locked again.
pub fn after(before: &ModuleLock, now: &ModuleLockFile, is_moving: &dyn Fn(&ModuleKey) -> bool) -> Vec<Finding> {
    let place = |key: &ModuleKey| (place_of(&key.source), key.version.as_ref().map(ModuleVersion::canonical));
    let respelled = OnceCell::new();
    let by_place = |key: &ModuleKey| {
        let known: &Vec<_> = respelled.get_or_init(|| before.iter().map(|(key, old)| (place(key), old)).collect());
        let wanted = place(key);
        known.iter().find(|(place, _)| *place == wanted).map(|(_, old)| *old)
    };
    let changed = now.lock.iter().filter_map(|(key, block)| {
        let old = before.get(key).or_else(|| by_place(key)).filter(|old| old.content.hash != block.content.hash)?;
        if is_moving(key) {
            return None;
        }
        let of = |block: &LockedModule| match &block.content.commit {
            Some(commit) => format!("commit {commit}"),
            None => block.content.hash.as_str().to_owned(),
        };
        let message = format!("the locked content of {key} was replaced: {} at the base, {} now", of(old), of(block));
        let finding = Finding::new(Rule::ModuleChanged, message).about_module(&key.source);
        Some(finding.at(now.spans.get(key).copied()))
    });
    changed.collect()
}

/// One spelling of where a package of git is: the path without escapes and steps that lead nowhere, and the name of a tag or branch alone.
/// Everything else stays as it is.
fn place_of(source: &str) -> String {
    let url = source.strip_prefix("git::").and_then(|address| Url::parse(address).ok());
    let Some(url) = url.filter(Url::has_host) else { return source.to_owned() };
    let path = percent_decode_str(url.path()).decode_utf8_lossy().into_owned();
    let named: Option<String> = url.query_pairs().find(|(name, _)| name == "ref").map(|(_, text)| text.into_owned());
    let named = named.as_deref().unwrap_or_default();
    let named = ["refs/tags/", "refs/heads/"].iter().find_map(|start| named.strip_prefix(start)).unwrap_or(named);
    format!("{}://{}{path}?ref={named}", url.scheme(), url.authority())
}

/// How many equal versions a finding names.
const MOST_NAMED: usize = 5;

/// Why a version cannot be locked for a call: `init` could install another listed one in its place.
pub fn ambiguous_version(
    version: &ModuleVersion,
    list: &VersionList,
    constraints: Option<&ModuleConstraints>,
) -> Option<Ambiguity> {
    let (equal, version) = (list.selectable(constraints).equal_to(version), version.canonical());
    if equal.iter().all(|name| *name == version) {
        return None;
    }
    let names = first_of(&equal, MOST_NAMED);
    let reason = if equal.contains(&version) {
        format!("the registry lists {names}, which compare as equal, and `init` installs whichever is listed first")
    } else {
        format!("the registry no longer lists {version}, but {names}, which `init` does not distinguish from it")
    };
    let selectable = list.selectable(None);
    let other = selectable.newest_unequalled();
    let other = other.map(|other| format!(", such as {}", other.canonical())).unwrap_or_default();
    let help = format!(
        "Ask its publisher to remove all but one of them. Until then, require another version{other}, or give the address \
         of the package as the source, in place of the registry's."
    );
    Some(Ambiguity { reason, help })
}

/// What the list of a registry says of a locked version: `init` knows the list, and not the lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ModuleVerdict {
    Selected,
    Ambiguous(Ambiguity),
    /// `init` will install something else; nothing if no listed version will do.
    Moved(Option<String>),
}

/// The findings on locked versions by the lists of their registries, which are known by package. One finding is for all
/// calls of a version with the same result.
pub fn of_listed(file: &ModuleLockFile, calls: &[Call], lists: &BTreeMap<String, VersionList>) -> Vec<Finding> {
    let mut verdicts: BTreeMap<(&ModuleKey, &str), ModuleVerdict> = BTreeMap::new();
    let mut results: BTreeMap<(&ModuleKey, ModuleVerdict), Vec<&str>> = BTreeMap::new();
    for call in calls {
        let constraints = call.constraints.as_ref();
        let Some((key, _)) = file.lock.block(&call.source, &call.name, constraints) else { continue };
        let Some((version, list)) = key.version.as_ref().zip(lists.get(&key.source)) else { continue };
        let text = constraints.map(ModuleConstraints::as_str).unwrap_or_default();
        let verdict = verdicts.entry((key, text)).or_insert_with(|| ModuleVerdict::of(version, list, constraints));
        results.entry((key, verdict.clone())).or_default().push(&call.name);
    }
    let finding = |((key, verdict), calls): (&(&ModuleKey, ModuleVerdict), &Vec<&str>)| {
        let finding = match verdict {
            ModuleVerdict::Selected => return None,
            ModuleVerdict::Ambiguous(ambiguity) => ambiguous(&key.source, ambiguity),
            ModuleVerdict::Moved(selected) => moved(key, lists.get(&key.source)?, selected.as_deref(), calls)?,
        };
        Some(finding.at(file.spans.get(key).copied()))
    };
    results.iter().filter_map(finding).collect()
}

impl ModuleVerdict {
    fn of(version: &ModuleVersion, list: &VersionList, constraints: Option<&ModuleConstraints>) -> Self {
        if let Some(ambiguity) = ambiguous_version(version, list, constraints) {
            return Self::Ambiguous(ambiguity);
        }
        let selected = list.selectable(constraints).newest().map(ModuleVersion::canonical);
        if selected.as_ref() == Some(&version.canonical()) { Self::Selected } else { Self::Moved(selected) }
    }
}

/// A warning, since a new version is ordinary.
fn moved(key: &ModuleKey, list: &VersionList, selected: Option<&str>, calls: &[&str]) -> Option<Finding> {
    let (package, version) = (&key.source, key.version.as_ref()?.canonical());
    let is_listed = list.contains(key.version.as_ref()?);
    let program = list.dialect().program();
    let init = format!("`{program} init`");
    let what = match selected {
        Some(selected) => format!("{init} will install version {selected} of {package}"),
        None => format!("{init} will find no version of {package}"),
    };
    let calls: Vec<String> = calls.iter().map(|call| format!("module {call}")).collect();
    let locked = if is_listed { "locked is" } else { "the registry no longer lists the locked" };
    let message = format!("{what} for {}: {locked} {version}", first_of(&calls, MOST_NAMED));
    let get = if is_listed {
        step!(
            "`tflock get` before `{} init` installs the locked version, and so does an exact constraint, `version = \
             \"{}\"`.",
            program,
            version
        )
    } else {
        step!("`tflock get` before `{} init` installs the locked content, if its source still has it.", program)
    };
    let finding = Finding::new(Rule::ModuleMoved, message).at_level(Level::Warn);
    Some(finding.remedied_by(match selected {
        Some(selected) => step!(
            "{} `tflock upgrade --modules {}` locks {}, once you have reviewed it.",
            Value::Step(get),
            package,
            selected
        ),
        None => get,
    }))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleChange {
    pub key: ModuleKey,
    pub kind: ModuleChangeKind,
    /// The block before, with what it was known by.
    pub old: Option<(ModuleKey, LockedModule)>,
    pub new: Option<LockedModule>,
}

/// The kinds of change, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleChangeKind {
    /// Other content under the same tag, version or address.
    ContentReplaced,
    Downgraded,
    /// Another version or another `ref` of the same repository.
    Upgraded,
    /// It was not locked before.
    Added,
    /// It is no longer locked.
    Removed,
    /// The same content is at another place, or in another commit.
    Moved,
    /// Only who calls it, and with which constraint.
    CallsChanged,
}

pub fn changes(old: &ModuleLock, new: &ModuleLock) -> Vec<ModuleChange> {
    let mut changes: Vec<ModuleChange> = Vec::new();
    let mut lost: Vec<(&ModuleKey, &LockedModule)> = old.iter().filter(|(key, _)| new.get(key).is_none()).collect();
    for (key, block) in new.iter() {
        if let Some(before) = old.get(key) {
            let kind = kind(before, block);
            changes.extend(kind.map(|kind| change(key, kind, Some((key, before)), Some(block))));
            continue;
        }
        // Earlier content of some of its calls, if that was removed.
        let shares = |other: &LockedModule| !other.calls.is_disjoint(&block.calls);
        let predecessor = lost.iter().position(|(other, old)| other.repository() == key.repository() && shares(old));
        let predecessor = predecessor.map(|at| lost.remove(at));
        let kind = match predecessor {
            Some((other, _)) if is_older(key, other) => ModuleChangeKind::Downgraded,
            Some(_) => ModuleChangeKind::Upgraded,
            None => ModuleChangeKind::Added,
        };
        changes.push(change(key, kind, predecessor, Some(block)));
    }
    changes.extend(lost.into_iter().map(|block| change(block.0, ModuleChangeKind::Removed, Some(block), None)));
    changes.sort_by(|one, other| (one.kind, &one.key).cmp(&(other.kind, &other.key)));
    changes
}

fn change(
    key: &ModuleKey,
    kind: ModuleChangeKind,
    old: Option<(&ModuleKey, &LockedModule)>,
    new: Option<&LockedModule>,
) -> ModuleChange {
    let old = old.map(|(key, block)| (key.clone(), block.clone()));
    ModuleChange { key: key.clone(), kind, old, new: new.cloned() }
}

fn kind(old: &LockedModule, new: &LockedModule) -> Option<ModuleChangeKind> {
    if old == new {
        return None;
    }
    Some(match (&old.content, &new.content) {
        (old, new) if old.hash != new.hash => ModuleChangeKind::ContentReplaced,
        (old, new) if old != new => ModuleChangeKind::Moved,
        _ => ModuleChangeKind::CallsChanged,
    })
}

fn is_older(key: &ModuleKey, than: &ModuleKey) -> bool {
    matches!((&key.version, &than.version), (Some(new), Some(old)) if new.precedence(old).is_lt())
}

impl ModuleChange {
    pub fn calls(&self) -> [BTreeSet<&String>; 2] {
        let [old, new] = [self.old.as_ref().map(|(_, block)| block), self.new.as_ref()].map(calls_of);
        [new.difference(&old).copied().collect(), old.difference(&new).copied().collect()]
    }

    /// What it says in one sentence, behind the package.
    pub fn sentence(&self) -> String {
        let [old, new] = [self.old.as_ref().map(|(_, block)| block), self.new.as_ref()];
        let commit = |block: Option<&LockedModule>| block.and_then(|block| block.content.commit.clone());
        let short = |commit: &str| commit.chars().take(12).collect::<String>();
        match self.kind {
            ModuleChangeKind::ContentReplaced => match (commit(old), commit(new)) {
                (Some(old), Some(new)) if old != new => format!(
                    "other content under the same address: moved from commit {} to {}",
                    short(&old),
                    short(&new)
                ),
                _ => "other content under the same address".to_owned(),
            },
            ModuleChangeKind::Upgraded | ModuleChangeKind::Downgraded => match (&self.old, &self.key.version) {
                (Some((old, _)), Some(new)) => {
                    let old = old.version.as_ref().map(crate::version::ModuleVersion::canonical).unwrap_or_default();
                    format!("{old} -> {}", new.canonical())
                }
                (Some((old, _)), None) => format!("was {}", old.source),
                (None, _) => String::new(),
            },
            ModuleChangeKind::Added => format!("new, for {}", listed(&self.calls()[0])),
            ModuleChangeKind::Removed => "no longer locked".to_owned(),
            ModuleChangeKind::Moved => match (commit(old), commit(new)) {
                (Some(old), Some(new)) if old != new => {
                    format!("the same content in another commit: {} -> {}", short(&old), short(&new))
                }
                _ => "the same content at another location".to_owned(),
            },
            ModuleChangeKind::CallsChanged => {
                let [added, removed] = self.calls();
                let parts = [("used by", added), ("no longer used by", removed)]
                    .map(|(words, calls)| (!calls.is_empty()).then(|| format!("{words} {}", listed(&calls))));
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                if parts.is_empty() { "its constraints changed".to_owned() } else { parts.join(", ") }
            }
        }
    }
}

fn calls_of(block: Option<&LockedModule>) -> BTreeSet<&String> {
    block.map(|block| block.calls.iter().collect()).unwrap_or_default()
}

fn listed(calls: &BTreeSet<&String>) -> String {
    let calls: Vec<String> = calls.iter().map(|call| format!("module {call}")).collect();
    calls.join(", ")
}

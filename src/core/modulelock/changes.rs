//! What differs between two module locks.

use std::collections::BTreeSet;

use super::{LockedModule, ModuleKey, ModuleLock};

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
                    let old = old.version.as_ref().map(crate::config::ModuleVersion::canonical).unwrap_or_default();
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

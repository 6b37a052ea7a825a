//! What a registry's list of versions makes of module locks: `init` knows the list, and not the lock.

use std::collections::BTreeMap;

use super::judge::ambiguous;
use super::{Ambiguity, Call, ModuleKey, ModuleLockFile};
use crate::config::{ModuleConstraints, ModuleVersion, VersionList};
use crate::count::first_of;
use crate::finding::{Finding, Level, Rule, shell_word};

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

/// What the list of a registry says of a locked version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Selected,
    Ambiguous(Ambiguity),
    /// `init` will install something else; nothing if no listed version will do.
    Moved(Option<String>),
}

/// The findings on locked versions by the lists of their registries, which are known by package. One finding is for all
/// calls of a version with the same result.
pub fn of_listed(file: &ModuleLockFile, calls: &[Call], lists: &BTreeMap<String, VersionList>) -> Vec<Finding> {
    let mut verdicts: BTreeMap<(&ModuleKey, &str), Verdict> = BTreeMap::new();
    let mut results: BTreeMap<(&ModuleKey, Verdict), Vec<&str>> = BTreeMap::new();
    for call in calls {
        let constraints = call.constraints.as_ref();
        let Some((key, _)) = file.lock.block(&call.source, &call.name, constraints) else { continue };
        let Some((version, list)) = key.version.as_ref().zip(lists.get(&key.source)) else { continue };
        let text = constraints.map(ModuleConstraints::as_str).unwrap_or_default();
        let verdict = verdicts.entry((key, text)).or_insert_with(|| Verdict::of(version, list, constraints));
        results.entry((key, verdict.clone())).or_default().push(&call.name);
    }
    let finding = |((key, verdict), calls): (&(&ModuleKey, Verdict), &Vec<&str>)| {
        let finding = match verdict {
            Verdict::Selected => return None,
            Verdict::Ambiguous(ambiguity) => ambiguous(&key.source, ambiguity),
            Verdict::Moved(selected) => moved(key, lists.get(&key.source)?, selected.as_deref(), calls)?,
        };
        Some(finding.at(file.spans.get(key).copied()))
    };
    results.iter().filter_map(finding).collect()
}

impl Verdict {
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
    let init = format!("`{} init`", list.dialect().program());
    let what = match selected {
        Some(selected) => format!("{init} will install version {selected} of {package}"),
        None => format!("{init} will find no version of {package}"),
    };
    let calls: Vec<String> = calls.iter().map(|call| format!("module {call}")).collect();
    let locked = if is_listed { "locked is" } else { "the registry no longer lists the locked" };
    let message = format!("{what} for {}: {locked} {version}", first_of(&calls, MOST_NAMED));
    let get = if is_listed {
        format!(
            "`tflock get` before {init} installs the locked version, and so does an exact constraint, `version = \
             \"{version}\"`."
        )
    } else {
        format!("`tflock get` before {init} installs the locked content, if its source still has it.")
    };
    let upgrade = selected.map(|selected| {
        format!(" `tflock upgrade --modules {}` locks {selected}, once you have reviewed it.", shell_word(package))
    });
    let finding = Finding { level: Level::Warn, ..Finding::new(Rule::ModuleMoved, message) };
    Some(finding.remedied_by(&(get + &upgrade.unwrap_or_default())))
}

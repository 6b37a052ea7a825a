//! Suggestions for `upgrade` after a refusal.

use std::collections::{BTreeMap, BTreeSet};

use super::Root;
use super::decision::Decision;
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Level};
use crate::query::answer::Answer;
use crate::version::Version;

/// The next step that is about several providers: naming those that can be upgraded.
pub(super) fn recovery_hints(root: &Root, decision: &Decision) -> Vec<String> {
    if !selects_newest(root) || !decision.is_refused() {
        return Vec::new();
    }
    let denied = decision.findings.iter().filter(|finding| finding.level == Level::Deny);
    let denied: BTreeSet<&ProviderAddr> = denied.filter_map(|finding| finding.address.as_ref()).collect();
    let recorded = |addr: &ProviderAddr| root.lock.get(addr).map(|entry| &entry.version);
    let mut others = decision.entries.iter().filter(|(addr, decided)| {
        !denied.contains(addr) && recorded(addr).is_some_and(|version| *version != decided.entry.version)
    });
    let refused: Vec<String> = denied.iter().map(|addr| addr.short(root.rules.dialect())).collect();
    let together = others.next().is_some() && !refused.is_empty();
    let together = together.then(|| format!("`tflock upgrade --exclude {}` upgrades the others", refused.join(" ")));
    together.into_iter().collect()
}

/// Adds the release before the refused one to the next step of each denial.
pub(super) fn name_release_before(root: &Root, answers: &BTreeMap<ProviderAddr, Answer>, findings: &mut [Finding]) {
    if !selects_newest(root) {
        return;
    }
    for finding in findings.iter_mut().filter(|finding| finding.level == Level::Deny) {
        let Some(addr) = &finding.address else { continue };
        let Some(Ok(facts)) = answers.get(addr) else { continue };
        let is_newer = |older: &&Version| root.lock.get(addr).is_some_and(|entry| **older > entry.version);
        let Some(older) = facts.older.as_ref().filter(is_newer) else { continue };
        let (name, version) = (addr.short(root.rules.dialect()), facts.version());
        let step = format!("`tflock upgrade --precise {older} {name}` takes the release before {version}.");
        finding.remedy = Some(format!("{} {step}", finding.general_help()).into());
    }
}

fn selects_newest(root: &Root) -> bool {
    root.intent.upgrade.as_ref().is_some_and(|upgrade| upgrade.precise.is_none())
}

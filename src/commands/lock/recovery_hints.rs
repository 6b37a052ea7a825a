//! Suggestions for `upgrade` after a refusal.

use std::collections::{BTreeMap, BTreeSet};

use super::Root;
use super::decision::Decision;
use crate::addr::ProviderAddr;
use crate::finding::Level;
use crate::query::answer::Answer;

/// Next steps: naming the other providers, or the release before the refused one.
pub(super) fn recovery_hints(
    root: &Root,
    answers: &BTreeMap<ProviderAddr, Answer>,
    decision: &Decision,
) -> Vec<String> {
    let chosen = root.intent.upgrade.as_ref().is_some_and(|upgrade| upgrade.precise.is_some());
    if root.intent.upgrade.is_none() || chosen || !decision.is_refused() {
        return Vec::new();
    }
    let denied = decision.findings.iter().filter(|finding| finding.level == Level::Deny);
    let denied: BTreeSet<&ProviderAddr> = denied.filter_map(|finding| finding.address.as_ref()).collect();
    let recorded = |addr: &ProviderAddr| root.lock.get(addr).map(|entry| &entry.version);
    let name = |addr: &ProviderAddr| addr.short(root.rules.dialect());
    let mut others = decision.entries.iter().filter(|(addr, decided)| {
        !denied.contains(addr) && recorded(addr).is_some_and(|version| *version != decided.entry.version)
    });
    let before = denied.iter().filter_map(|addr| {
        let facts = answers.get(addr)?.as_ref().ok()?;
        let older = facts.older.as_ref().filter(|older| recorded(addr).is_some_and(|recorded| *older > recorded))?;
        let (version, name) = (facts.version(), name(addr));
        Some(format!("`tflock upgrade --precise {older} {name}` takes the release before {version}"))
    });
    let refused: Vec<String> = denied.iter().map(|addr| name(addr)).collect();
    let together = others.next().is_some() && !refused.is_empty();
    let together = together.then(|| format!("`tflock upgrade --exclude {}` upgrades the others", refused.join(" ")));
    together.into_iter().chain(before).collect()
}

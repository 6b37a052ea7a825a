//! What takes a hash out of an entry that no package has: the last commit without it, if there is one; else, for an `h1:`, `lock`
//! itself, which hashes all archives.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::GateRoot;
use crate::addr::ProviderAddr;
use crate::commands::shared::witnesses::{is_before, revision_without};
use crate::finding::{Finding, Level, Rule};
use crate::step::{Hole, Step};

/// In the history of how many entries a run looks; each is a call of git.
pub(super) const MOST_SEARCHES: usize = 100;

/// The hash that a finding is about, if no package of its release has it.
pub(super) fn refuted(finding: &Finding) -> Option<(&ProviderAddr, &str)> {
    let is_refuted = [Rule::UnattestedHash, Rule::ContradictedHash].contains(&finding.rule);
    let hash = finding.filling(Hole::Hash).filter(|_| is_refuted)?;
    Some((finding.address.as_ref()?, hash))
}

/// Gives the findings about such hashes the command that was looked up for their entry. `searches` counts down.
pub(super) fn remedied(findings: Vec<Finding>, root: &GateRoot, searches: &Cell<usize>) -> Vec<Finding> {
    let mut hashes: BTreeMap<&ProviderAddr, Vec<&str>> = BTreeMap::new();
    for (addr, hash) in findings.iter().filter(|finding| finding.level > Level::Note).filter_map(refuted) {
        hashes.entry(addr).or_default().push(hash);
    }
    let commits =
        hashes.iter().filter_map(|(addr, refuted)| Some(((*addr).clone(), commit(root, addr, refuted, searches)?)));
    let commits: BTreeMap<ProviderAddr, String> = commits.collect();
    let remedied = findings.into_iter().map(|finding| match refuted(&finding).map(|it| remedy(it, &commits)) {
        Some(remedy) => finding.remedied_by(remedy),
        None => finding,
    });
    remedied.collect()
}

/// The base or the last commit of the history in which the entry has none of these hashes.
fn commit(root: &GateRoot, addr: &ProviderAddr, refuted: &[&str], searches: &Cell<usize>) -> Option<String> {
    let entry = root.lock().get(addr)?;
    let at_base = root.base().filter(|(_, before)| before.get(addr).is_some_and(|it| is_before(it, entry, refuted)));
    if let Some((base, _)) = at_base {
        return Some(base.short().to_owned());
    }
    searches.set(searches.get().checked_sub(1)?);
    let settings = root.settings();
    revision_without((&settings.root, settings.dialect), (addr, entry), refuted)
}

fn remedy((addr, hash): (&ProviderAddr, &str), commits: &BTreeMap<ProviderAddr, String>) -> Step {
    match commits.get(addr) {
        Some(commit) => step!(
            "Find out who added it (`git log -S {}`). The entry as the last commit without it has it: \
             `tflock lock {} --restore-from {}`.",
            hash,
            addr,
            commit
        ),
        None if hash.starts_with("h1:") => step!(
            "Find out who added it (`git log -S {}`). `tflock lock {} --drop-unattested` removes each h1 that no archive of \
             the release has.",
            hash,
            addr
        ),
        None => step!("Find out who added it (`git log -S {}`); then remove the line and run `tflock lock`.", hash),
    }
}

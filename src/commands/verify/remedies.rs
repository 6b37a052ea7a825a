//! Next steps that only this very root module has.
//!
//! What takes a hash out of an entry that no package has: the last commit without it, if there is one; else, for an `h1:`, `lock`
//! itself, which hashes all archives. The approval of a trust file that accepts already what the gate refuses. And what works
//! on an entry that the configuration does not require.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;

use super::root::GateRoot;
use crate::addr::ProviderAddr;
use crate::commands::shared::earlier::{is_before, revision_without};
use crate::commands::shared::trust_store::TrustStore;
use crate::finding::{Finding, Level, Rule};
use crate::lock::settle::unattested_remedy;
use crate::release::{Lookup, Releases};
use crate::step::{Hole, Step};
use crate::trust::signer::judge as judge_signer;

/// In the history of how many entries a run looks; each is a call of git.
pub(super) const MOST_SEARCHES: usize = 100;

/// The hash that a finding is about, if no package of its release has it.
pub(super) fn refuted(finding: &Finding) -> Option<(&ProviderAddr, &str)> {
    let is_refuted = [Rule::UnattestedHash, Rule::ContradictedHash].contains(&finding.rule);
    let hash = finding.filling(Hole::Hash).filter(|_| is_refuted)?;
    Some((finding.address.as_ref()?, hash))
}

/// The findings, each with the next step that was looked up for it. `searches` counts down.
pub(super) fn remedied(
    findings: Vec<Finding>,
    root: &GateRoot,
    known: &Releases,
    searches: &Cell<usize>,
) -> Vec<Finding> {
    let mut hashes: BTreeMap<&ProviderAddr, Vec<&str>> = BTreeMap::new();
    for (addr, hash) in findings.iter().filter(|finding| finding.level() > Level::Note).filter_map(refuted) {
        hashes.entry(addr).or_default().push(hash);
    }
    let commits =
        hashes.iter().filter_map(|(addr, refuted)| Some(((*addr).clone(), commit(root, addr, refuted, searches)?)));
    let commits: BTreeMap<ProviderAddr, String> = commits.collect();
    let approval = Approval { root, known, store: OnceCell::new() };
    let mut remedied = Vec::with_capacity(findings.len());
    for finding in findings {
        let of_hash = refuted(&finding).map(|it| without_hash(it, &commits));
        let finding = match of_hash.or_else(|| approval.remedy(&finding)) {
            Some(remedy) => finding.remedied_by(remedy),
            None => finding,
        };
        let is_unrequired = finding.address.as_ref().is_some_and(|addr| root.subject().is_unrequired(addr));
        remedied.push(match finding.general_help().for_unrequired().filter(|_| is_unrequired) {
            Some(remedy) => finding.remedied_by(remedy),
            None => finding,
        });
    }
    remedied
}

/// The base or the last commit of the history in which the entry has not one of these hashes.
fn commit(root: &GateRoot, addr: &ProviderAddr, refuted: &[&str], searches: &Cell<usize>) -> Option<String> {
    let entry = root.lock().get(addr)?;
    let at_base = root.base().filter(|(_, before)| before.get(addr).is_some_and(|it| is_before(it, entry, refuted)));
    if let Some((base, _)) = at_base {
        return Some(base.short().to_owned());
    }
    searches.set(searches.get().checked_sub(1)?);
    revision_without(root.settings(), (addr, entry), refuted)
}

fn without_hash((addr, hash): (&ProviderAddr, &str), commits: &BTreeMap<ProviderAddr, String>) -> Step {
    match commits.get(addr) {
        Some(commit) => step!(
            "Find out who added it (`git log -S {}`). The entry as the last commit without it has it: \
             `tflock lock {} --restore-from {}`.",
            hash,
            addr,
            commit
        ),
        None => unattested_remedy(addr, hash),
    }
}

/// How to add a missing lock file whose tool is known.
pub(super) fn creation() -> Step {
    step!("Run `tflock lock -r --create` and commit the file.")
}

/// Looks up what the trust file of a change accepts.
struct Approval<'a> {
    root: &'a GateRoot,
    known: &'a Releases,
    /// `None` if it cannot be read: the comparison of trust files has reported that.
    store: OnceCell<Option<TrustStore>>,
}

impl Approval<'_> {
    /// The next step of a finding that the working tree's trust file would accept.
    fn remedy(&self, finding: &Finding) -> Option<Step> {
        let of_pins = [Rule::SignerChanged, Rule::UnsignedAfterSigned, Rule::HashReplaced, Rule::HashesDropped];
        if self.root.compared().is_none() || finding.level() != Level::Deny || !of_pins.contains(&finding.rule) {
            return None;
        }
        let store = self.store.get_or_init(|| TrustStore::load(&self.root.settings().trust).ok()).as_ref()?;
        if !self.accepts(store, finding)? {
            return None;
        }
        Some(step!(
            "{} of this change accepts it already. Make sure that its publisher means it; have the owner of that file approve \
             the change, and run `tflock verify` with --allow-trust-change.",
            store.place().shown.to_string_lossy().as_ref()
        ))
    }

    /// True if its pins accept what a finding refuses.
    fn accepts(&self, store: &TrustStore, finding: &Finding) -> Option<bool> {
        let (pins, addr) = (store.pins(), finding.address.as_ref()?);
        let version = &self.root.lock().get(addr)?.version;
        if [Rule::SignerChanged, Rule::UnsignedAfterSigned].contains(&finding.rule) {
            let release = self.known.get(&(addr.clone(), version.clone())).and_then(Lookup::release)?;
            return Some(judge_signer(pins, addr, version, release.signer.as_ref()?).accepts());
        }
        let mut records = pins.republished.keys().filter(|record| !self.root.is_settled(record));
        Some(records.any(|record| record.address == *addr && record.version == *version))
    }
}

//! Changes the next steps of refusals that the change's own trust file would accept: it only needs approval, not another edit.

use super::{Root, signer};
use crate::commands::trust_store::TrustStore;
use crate::finding::{Finding, Level, Rule};
use crate::release::Releases;
use crate::trust::judge::judge;
use crate::trust::pins::Pins;

/// Replaces the next steps of findings that the working tree's trust file would accept.
pub(super) fn approvable(findings: Vec<Finding>, root: &Root, known: &Releases) -> Vec<Finding> {
    let is_open = |finding: &Finding| {
        let of_pins = [Rule::SignerChanged, Rule::UnsignedAfterSigned, Rule::HashReplaced, Rule::HashesDropped];
        finding.level == Level::Deny && of_pins.contains(&finding.rule)
    };
    if root.compared().is_none() || !findings.iter().any(is_open) {
        return findings;
    }
    // The comparison of trust files has reported its problems.
    let Ok(store) = TrustStore::load(&root.settings().trust) else { return findings };
    let mapped = findings.into_iter().map(|finding| {
        let open = is_open(&finding) && accepts(store.pins(), &finding, root, known);
        if open { finding.remedied_by(&remedy(store.place().shown.to_string_lossy().as_ref())) } else { finding }
    });
    mapped.collect()
}

fn remedy(file: &str) -> String {
    format!(
        "{file} of this change accepts it already. Make sure that its publisher means it; have the owner of that file approve \
         the change, and run `tflock verify` with --allow-trust-change."
    )
}

/// True if pins accept what a finding refuses.
fn accepts(pins: &Pins, finding: &Finding, root: &Root, known: &Releases) -> bool {
    let Some(addr) = &finding.address else { return false };
    let Some(entry) = root.lock().get(addr) else { return false };
    match finding.rule {
        Rule::SignerChanged | Rule::UnsignedAfterSigned => {
            signer(finding, root, known).is_some_and(|signer| judge(pins, addr, &entry.version, signer).accepts())
        }
        _ => {
            let mut records = pins.republished.keys().filter(|record| !root.is_settled(record));
            records.any(|record| record.address == *addr && record.version == entry.version)
        }
    }
}

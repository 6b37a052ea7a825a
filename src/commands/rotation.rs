//! A change of signers that a remembered key certifies: told from key blocks that registries listed, now or in earlier
//! runs. Nothing is decided by it.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::finding::{Finding, Rule};
use crate::trust::Fingerprint;
use crate::trust::openpgp::certifiers;
use crate::trust::pins::{Pins, Signer};

/// The remembered keys of a provider that certify another key, as far as the keys are known here.
pub fn certified_by(
    cache: &Cache,
    addr: &ProviderAddr,
    new: &Fingerprint,
    remembered: &BTreeSet<Signer>,
) -> BTreeSet<Fingerprint> {
    let keys = cache.keys_of(addr);
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let certifiers = certifiers(new, &keys).into_iter();
    certifiers.filter(|key| remembered.contains(&Signer::Key(key.clone()))).collect()
}

/// Adds to a finding about a changed signer which remembered keys certify the new one.
pub fn explained(finding: Finding, signer: Option<&Signer>, pins: &Pins, cache: &Cache) -> Finding {
    let (Rule::SignerChanged, Some(addr), Some(new)) =
        (finding.rule, finding.address.clone(), signer.and_then(Signer::key))
    else {
        return finding;
    };
    let remembered = pins.pin(&addr).map(|(_, pin)| pin.signers.clone()).unwrap_or_default();
    match words(&certified_by(cache, &addr, new, &remembered)) {
        Some(words) => Finding { message: format!("{}; {words}", finding.message), ..finding },
        None => finding,
    }
}

/// What certifications mean, in words; none if there are none.
pub fn words(certifiers: &BTreeSet<Fingerprint>) -> Option<String> {
    let keys: Vec<&str> = certifiers.iter().map(Fingerprint::as_str).collect();
    match keys[..] {
        [] => None,
        [key] => Some(format!("the remembered key {key} certifies the new one, as in a planned rotation")),
        _ => Some(format!("the remembered keys {} certify the new one, as in a planned rotation", keys.join(", "))),
    }
}

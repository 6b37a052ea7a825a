//! A change of signers that a remembered key certifies: told from key blocks that registries listed, now or in earlier
//! runs. Nothing is decided by it.

use std::collections::BTreeSet;

use crate::addr::AddrPattern;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::trust::Fingerprint;
use crate::trust::openpgp::{KnownAs, certifiers, known_as};
use crate::trust::pins::{Pins, Signer};

/// The remembered keys of some providers that certify another key, as far as the keys are known here.
fn certified_by(keys: &[&str], new: &Fingerprint, remembered: &BTreeSet<Signer>) -> BTreeSet<Fingerprint> {
    let certifiers = certifiers(new, keys).into_iter();
    certifiers.filter(|key| remembered.contains(&Signer::Key(key.clone()))).collect()
}

/// What people should know of a key that they want to be remembered for some providers beside others, or in their place;
/// nothing if it is remembered already.
///
/// # Errors
///
/// If it is known to be a subkey: pins name primary keys, so that it would accept nothing.
pub fn introduced(
    cache: &Cache,
    providers: &AddrPattern,
    new: &Fingerprint,
    remembered: &BTreeSet<Signer>,
) -> Result<Option<String>, Error> {
    if remembered.contains(&Signer::Key(new.clone())) {
        return Ok(None);
    }
    let keys = cache.keys_of(providers);
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    match known_as(new, &keys) {
        Some(KnownAs::SubkeyOf(primary)) => {
            let message = format!("{new} is a subkey of {primary}, and primary keys are what is remembered");
            Err(Error::new(ErrorKind::Usage, message).hint(format!("name {primary} if that is the key you mean")))
        }
        Some(KnownAs::Primary) if remembered.is_empty() => Ok(None),
        Some(KnownAs::Primary) => Ok(Some(words(&certified_by(&keys, new, remembered)).unwrap_or_else(|| {
            "no remembered key is known here to certify the new one: compare it with what the publisher announces"
                .to_owned()
        }))),
        None => Ok(Some(format!(
            "{new} is none of the keys that registries are known here to list for {providers}: compare each digit with what \
             the publisher announces"
        ))),
    }
}

/// Adds to a finding about a changed signer which remembered keys certify the new one.
pub fn explained(finding: Finding, signer: Option<&Signer>, pins: &Pins, cache: &Cache) -> Finding {
    let (Rule::SignerChanged, Some(addr), Some(new)) =
        (finding.rule, finding.address.clone(), signer.and_then(Signer::key))
    else {
        return finding;
    };
    let remembered = pins.pin(&addr).map(|(_, pin)| pin.signers.clone()).unwrap_or_default();
    let keys = cache.keys_of(&addr.into());
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    match words(&certified_by(&keys, new, &remembered)) {
        Some(words) => Finding { message: format!("{}; {words}", finding.message), ..finding },
        None => finding,
    }
}

/// What certifications mean, in words; none if there are none.
fn words(certifiers: &BTreeSet<Fingerprint>) -> Option<String> {
    let keys: Vec<&str> = certifiers.iter().map(Fingerprint::as_str).collect();
    match keys[..] {
        [] => None,
        [key] => Some(format!("the remembered key {key} certifies the new one, as in a planned rotation")),
        _ => Some(format!("the remembered keys {} certify the new one, as in a planned rotation", keys.join(", "))),
    }
}

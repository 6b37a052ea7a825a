//! Who among known keys certifies another key: how a publisher tells that a new key is theirs.
//!
//! It explains a change of signers and decides nothing: whoever got hold of the old key can certify as well.

use std::collections::BTreeSet;

use sequoia_openpgp::cert::Cert;
use sequoia_openpgp::packet::Signature;
use sequoia_openpgp::types::HashAlgorithm;

use super::KnownAs;
use super::keyring::Keyring;
use crate::trust::Fingerprint;

/// The primary keys among armored ones that certify a key: one of its names, or the key itself.
///
/// The certified key must be among them too, for it carries its certifications. Those by revoked keys, those that were
/// taken back and those over weak digests do not count; what does not decode is passed over.
pub fn certifiers(key: &Fingerprint, keys: &[&str]) -> BTreeSet<Fingerprint> {
    let keyring = Keyring::decode(keys);
    let certs: Vec<&Cert> = keyring.in_order().flatten().flatten().collect();
    let (own, others): (Vec<&Cert>, Vec<&Cert>) =
        certs.into_iter().partition(|cert| cert.fingerprint().to_hex() == key.as_str());
    let sound = others.into_iter().filter(|cert| cert.primary_key().bundle().self_revocations().next().is_none());
    let certifying = sound.filter(|by| own.iter().any(|cert| certifies(by, cert)));
    certifying.filter_map(|cert| cert.fingerprint().to_hex().parse().ok()).collect()
}

/// What a fingerprint is among armored keys; none if it stands in none of them.
pub fn known_as(key: &Fingerprint, keys: &[&str]) -> Option<KnownAs> {
    let keyring = Keyring::decode(keys);
    let certs: Vec<&Cert> = keyring.in_order().flatten().flatten().collect();
    if certs.iter().any(|cert| cert.fingerprint().to_hex() == key.as_str()) {
        return Some(KnownAs::Primary);
    }
    let has = |cert: &&&Cert| cert.keys().subkeys().any(|subkey| subkey.key().fingerprint().to_hex() == key.as_str());
    certs.iter().find(has)?.fingerprint().to_hex().parse().ok().map(KnownAs::SubkeyOf)
}

fn certifies(by: &Cert, cert: &Cert) -> bool {
    let primary = cert.primary_key();
    let signer = by.primary_key().key().clone();
    let bound =
        |signature: &Signature| is_strong(signature) && signature.verify_direct_key(&signer, primary.key()).is_ok();
    cert.primary_key().bundle().certifications().any(bound)
        || cert.userids().any(|name| {
            let binds =
                |signature: &Signature| signature.verify_userid_binding(&signer, primary.key(), name.userid()).is_ok();
            let takes_back = |signature: &Signature| {
                signature.verify_userid_revocation(&signer, primary.key(), name.userid()).is_ok()
            };
            name.bundle().certifications().any(|signature| is_strong(signature) && binds(signature))
                && !name.bundle().other_revocations().any(takes_back)
        })
}

fn is_strong(signature: &Signature) -> bool {
    !matches!(signature.hash_algo(), HashAlgorithm::MD5 | HashAlgorithm::SHA1 | HashAlgorithm::RipeMD)
}

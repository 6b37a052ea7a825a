//! The listed keys: decoded, and copies of one key taken together.

use std::collections::BTreeMap;

use sequoia_openpgp::cert::{Cert, CertParser};
use sequoia_openpgp::packet::Key;
use sequoia_openpgp::packet::key::{KeyRole, PublicParts};
use sequoia_openpgp::parse::Parse;
use sequoia_openpgp::types::PublicKeyAlgorithm;

use super::armor;
use super::canonical::with_canonical_numbers;
use super::error::{SignatureError, one_line};

/// The most keys of one document, all its texts together: many times what registries list.
const MOST: usize = 100;

pub(super) struct Keyring(Vec<Result<Vec<Cert>, SignatureError>>);

impl Keyring {
    /// Decodes all keys; one that does not decode is kept as its error, for its turn.
    pub(super) fn decode(keys: &[&str]) -> Self {
        let mut room = MOST;
        let decode = |(at, key): (usize, &&str)| {
            decode_key(key, &mut room).map_err(|reason| SignatureError::Key { number: at + 1, reason })
        };
        let mut listed: Vec<_> = keys.iter().take(MOST + 1).enumerate().map(decode).collect();
        let merged = merged(listed.iter().flatten().flatten());
        for cert in listed.iter_mut().flatten().flatten() {
            if let Some(whole) = merged.get(&cert.fingerprint().to_hex()) {
                whole.clone_into(cert);
            }
        }
        Self(listed)
    }

    /// The keys as listed, each with all that its other copies say.
    pub(super) fn in_order(&self) -> impl Iterator<Item = Result<&[Cert], SignatureError>> {
        self.0.iter().map(|key| key.as_deref().map_err(Clone::clone))
    }
}

fn merged<'a>(copies: impl Iterator<Item = &'a Cert>) -> BTreeMap<String, Cert> {
    let mut merged: BTreeMap<String, Cert> = BTreeMap::new();
    for copy in copies {
        let key = copy.fingerprint().to_hex();
        let whole = match merged.remove(&key) {
            // Fails for another fingerprint only.
            Some(before) => before.clone().merge_public(copy.clone()).unwrap_or(before),
            None => copy.clone(),
        };
        merged.insert(key, whole);
    }
    merged
}

/// Why terraform cannot read a key, if it cannot.
///
/// Source: go-crypto v1.0.0, before RFC 9580.
pub(super) fn unreadable<R: KeyRole>(key: &Key<PublicParts, R>) -> Option<String> {
    use PublicKeyAlgorithm::{Ed448, Ed25519, X448, X25519};
    match (key.version(), key.pk_algo()) {
        (4, algorithm @ (Ed25519 | Ed448 | X25519 | X448)) => {
            Some(format!("its key is of the kind {algorithm}, which terraform cannot read"))
        }
        (4, _) => None,
        (version, _) => Some(format!("its key is of version {version}, and terraform reads only version 4")),
    }
}

/// The keys of one armored text, as many as there is room for.
fn decode_key(text: &str, room: &mut usize) -> Result<Vec<Cert>, String> {
    let bytes = armor::decode_key(text)?;
    let bytes = with_canonical_numbers(&bytes);
    let parser = CertParser::from_bytes(&bytes).map_err(|error| one_line(&error))?;
    let (mut certs, mut error) = (Vec::new(), None);
    for cert in parser {
        *room = room.checked_sub(1).ok_or_else(|| format!("more than {MOST} keys are listed"))?;
        match cert {
            Ok(cert) => match unreadable(cert.primary_key().key()) {
                None => certs.push(cert),
                reason => error = reason,
            },
            Err(reason) => error = Some(one_line(&reason)),
        }
    }
    match error {
        Some(reason) if certs.is_empty() => Err(reason),
        _ if certs.is_empty() => Err("it contains no key".to_owned()),
        _ => Ok(certs),
    }
}

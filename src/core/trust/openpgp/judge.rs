//! One listed key and a signature: did it make it, and does that count?
//!
//! The listed keys are decoded first, and copies of one key taken together.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use sequoia_openpgp::cert::amalgamation::ValidAmalgamation;
use sequoia_openpgp::cert::amalgamation::key::{PrimaryKey, ValidErasedKeyAmalgamation};
use sequoia_openpgp::cert::{Cert, CertParser};
use sequoia_openpgp::crypto::hash::Context;
use sequoia_openpgp::crypto::mpi;
use sequoia_openpgp::packet::key::{KeyRole, PublicParts};
use sequoia_openpgp::packet::{Key, Signature};
use sequoia_openpgp::parse::Parse;
use sequoia_openpgp::policy::{AsymmetricAlgorithm, HashAlgoSecurity, StandardPolicy};
use sequoia_openpgp::types::{HashAlgorithm, PublicKeyAlgorithm, SignatureType};
use sequoia_openpgp::{Error as OpenPgpError, Result as OpenPgpResult};

use super::document::{self, Signatures, with_canonical_numbers};
use super::{Lapse, SignatureError, VerifiedSignature, one_line};
use crate::trust::Fingerprint;

/// How far the signer's clock may be ahead of ours. A release may be signed while we request it.
const CLOCK_SKEW: Duration = Duration::from_secs(10 * 60);

/// The backend takes no longer keys.
const MAX_RSA_BITS: usize = 4096;

type SigningKey<'a> = ValidErasedKeyAmalgamation<'a, PublicParts>;

/// Judges the first of the signatures that one of these certificates made; `None` if they made none.
pub(super) fn by_key(
    document: &[u8],
    signatures: &Signatures,
    certs: &[Cert],
    now: SystemTime,
) -> Result<Option<VerifiedSignature>, SignatureError> {
    let policy = binding_policy(now);
    for signature in signatures.iter() {
        let mut refusal = None;
        for cert in certs {
            refuse_unsupported(cert, signature)?;
            let time = evaluation_time(signature, now);
            for key in signing_keys(cert, signature, &policy, time) {
                match judge(document, signature, &key, now) {
                    Ok(verified) => return Ok(Some(verified)),
                    Err(error) => refusal = refusal.or(Some(error)),
                }
            }
        }
        if let Some(error) = refusal {
            return Err(error);
        }
    }
    Ok(None)
}

/// Refuses a certificate that made the signature but whose algorithms are not known here: neither the signature nor
/// what binds the key could be checked, and it would look like someone else's.
fn refuse_unsupported(cert: &Cert, signature: &Signature) -> Result<(), SignatureError> {
    let issuers = signature.get_issuers();
    let reason = cert.keys().key_handles(issuers.iter()).find_map(|key| unsupported(key.key()));
    let named = cert.keys().key_handles(issuers.iter()).next().is_some();
    match reason.or_else(|| unsupported(cert.primary_key().key()).filter(|_| named)) {
        Some(reason) => Err(SignatureError::Unsupported { key: fingerprint(&cert.fingerprint().to_hex())?, reason }),
        None => Ok(()),
    }
}

fn unsupported<R: KeyRole>(key: &Key<PublicParts, R>) -> Option<String> {
    match key.mpis() {
        mpi::PublicKey::RSA { .. } => {
            let bits = key.mpis().bits().filter(|bits| *bits > MAX_RSA_BITS)?;
            Some(format!("its key is RSA with {bits} bits"))
        }
        mpi::PublicKey::ECDSA { curve, .. } | mpi::PublicKey::EdDSA { curve, .. } if !curve.is_supported() => {
            Some(format!("its key is on the curve {curve}"))
        }
        _ if !key.pk_algo().is_supported() => Some(format!("its key is of the kind {}", key.pk_algo())),
        _ => unreadable(key),
    }
}

/// What binds user ids and subkeys to a primary key. Weak algorithms pass here; they are named when a key signed.
///
/// SHA-1 is enough for self-signatures: to forge one takes a second preimage, and many keys in use have no other.
pub(super) fn binding_policy(now: SystemTime) -> StandardPolicy<'static> {
    let mut policy = StandardPolicy::at(now);
    policy.accept_hash_property(HashAlgorithm::SHA1, HashAlgoSecurity::SecondPreImageResistance);
    for algorithm in [
        AsymmetricAlgorithm::RSA1024,
        AsymmetricAlgorithm::DSA1024,
        AsymmetricAlgorithm::DSA2048,
        AsymmetricAlgorithm::DSA3072,
        AsymmetricAlgorithm::DSA4096,
    ] {
        policy.accept_asymmetric_algo(algorithm);
    }
    policy
}

/// The time at which self-signatures are looked at: now, unless the clock is behind the signature.
fn evaluation_time(signature: &Signature, now: SystemTime) -> SystemTime {
    signature.signature_creation_time().map_or(now, |made| made.max(now))
}

/// The keys of a certificate that may sign and that the signature names.
fn signing_keys<'a>(
    cert: &'a Cert,
    signature: &Signature,
    policy: &'a StandardPolicy<'static>,
    time: SystemTime,
) -> Vec<SigningKey<'a>> {
    let issuers = signature.get_issuers();
    let at = |time| cert.keys().with_policy(policy, time).for_signing().key_handles(issuers.iter()).collect();
    let keys: Vec<SigningKey<'a>> = at(time);
    // A self-signature may have an expiry of its own and be expired by now.
    if keys.is_empty() { signature.signature_creation_time().map(at).unwrap_or_default() } else { keys }
}

fn judge(
    document: &[u8],
    signature: &Signature,
    key: &SigningKey<'_>,
    now: SystemTime,
) -> Result<VerifiedSignature, SignatureError> {
    let primary = fingerprint(&key.cert().fingerprint().to_hex())?;
    let made = signature.signature_creation_time().unwrap_or(now);
    // No one can have signed then, and the backend refuses to check it.
    if made < key.key().creation_time() {
        return Err(SignatureError::Predates(primary));
    }
    check(document, signature, key.key()).map_err(|error| refusal(&error, &primary))?;
    if is_revoked(key) {
        return Err(SignatureError::Revoked(primary));
    }
    if key.bundle().self_revocations().next().is_some() {
        let subkey = fingerprint(&key.key().fingerprint().to_hex())?;
        return Err(SignatureError::RevokedSubkey { key: primary, subkey });
    }
    if let Some(weakness) = weakness(signature, key) {
        return Err(SignatureError::Weak { key: primary, weakness });
    }
    let subkey = (!key.primary()).then(|| fingerprint(&key.key().fingerprint().to_hex()));
    let signing_subkey = subkey.transpose()?;
    let over = signature.signature_expiration_time().is_some_and(|end| end <= now);
    let ahead = made > now + CLOCK_SKEW;
    let lapse = if over { Some(Lapse::Expired) } else { ahead.then_some(Lapse::Future) };
    Ok(VerifiedSignature {
        key_id: primary.short().to_owned(),
        fingerprint: primary,
        made,
        lapse,
        expired: had_expired(key, made),
        expired_now: had_expired(key, now),
        signing_subkey,
    })
}

fn fingerprint(hex: &str) -> Result<Fingerprint, SignatureError> {
    hex.parse().map_err(|_| SignatureError::Malformed("it was made by a key of an unknown version".to_owned()))
}

/// Checks the mathematics only.
fn check<R: KeyRole>(document: &[u8], signature: &Signature, key: &Key<PublicParts, R>) -> OpenPgpResult<()> {
    let mut hash = signature.hash_algo().context()?.for_signature(signature.version());
    match signature.typ() {
        SignatureType::Text => update_text(&mut hash, document),
        _ => hash.update(document),
    }
    signature.verify_hash(key, hash)
}

/// Hashes a text with all its line ends as CR LF.
///
/// Source: `NewCanonicalTextHash` of go-crypto: a line feed after anything but a carriage return gets one.
fn update_text(hash: &mut Context, document: &[u8]) {
    let mut last = 0;
    for (at, _) in document.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        let line = &document[last..at];
        hash.update(line.strip_suffix(b"\r").unwrap_or(line));
        hash.update(b"\r\n");
        last = at + 1;
    }
    hash.update(&document[last..]);
}

fn refusal(error: &sequoia_openpgp::anyhow::Error, key: &Fingerprint) -> SignatureError {
    match error.downcast_ref::<OpenPgpError>() {
        Some(
            OpenPgpError::UnsupportedHashAlgorithm(_)
            | OpenPgpError::UnsupportedPublicKeyAlgorithm(_)
            | OpenPgpError::UnsupportedEllipticCurve(_),
        ) => SignatureError::Unsupported { key: key.clone(), reason: one_line(error) },
        _ => SignatureError::Bad(key.clone()),
    }
}

/// True if the primary key or all user ids have been revoked by their owner.
///
/// Neither reason nor time counts: the holder of a retired key can date a signature back.
///
/// Source: `checkSignatureDetails` of go-crypto.
fn is_revoked(key: &SigningKey<'_>) -> bool {
    let cert = key.cert();
    let mut names = cert.userids().peekable();
    let nameless = names.peek().is_some() && names.all(|name| name.bundle().self_revocations().next().is_some());
    nameless || cert.primary_key().bundle().self_revocations().next().is_some()
}

fn weakness(signature: &Signature, key: &SigningKey<'_>) -> Option<String> {
    let hash = signature.hash_algo();
    if matches!(hash, HashAlgorithm::MD5 | HashAlgorithm::SHA1 | HashAlgorithm::RipeMD) {
        return Some(format!("it is over a {hash} digest"));
    }
    let primary = key.cert().primary_key();
    weak_key(key.key()).or_else(|| weak_key(primary.key()))
}

fn weak_key<R: KeyRole>(key: &Key<PublicParts, R>) -> Option<String> {
    #[expect(deprecated, reason = "old keys have old algorithms")]
    let name = match key.pk_algo() {
        PublicKeyAlgorithm::RSAEncryptSign | PublicKeyAlgorithm::RSASign => "RSA",
        PublicKeyAlgorithm::DSA => "DSA",
        _ => return None,
    };
    key.mpis().bits().filter(|bits| *bits < 2048).map(|bits| format!("its key is {name} with {bits} bits"))
}

/// True if the key or its primary key had expired at a time, by their newest self-signatures.
fn had_expired(key: &SigningKey<'_>, time: SystemTime) -> bool {
    let passed = |end: Option<SystemTime>| end.is_some_and(|end| end <= time);
    passed(key.key_expiration_time()) || passed(key.valid_cert().primary_key().key_expiration_time())
}

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
fn unreadable<R: KeyRole>(key: &Key<PublicParts, R>) -> Option<String> {
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
    let bytes = document::decode_key(text)?;
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

//! `OpenPGP` keys of the fixture: made again in each test process, named, and quick to make.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use sequoia_openpgp::cert::{CertBuilder, CertRevocationBuilder, CipherSuite, SubkeyRevocationBuilder};
use sequoia_openpgp::crypto::KeyPair;
use sequoia_openpgp::packet::Key as PacketKey;
use sequoia_openpgp::packet::key::{SecretParts, UnspecifiedRole};
use sequoia_openpgp::packet::signature::SignatureBuilder;
use sequoia_openpgp::policy::StandardPolicy;
use sequoia_openpgp::serialize::{Marshal, MarshalInto};
use sequoia_openpgp::types::{HashAlgorithm, KeyFlags, ReasonForRevocation, SignatureType};
use sequoia_openpgp::{Cert, Packet, armor};

/// One of the named keys below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(usize);

/// Signs with its primary key; never expires.
pub const GOOD: Key = Key(0);
/// Another publisher's key, as sound as [`GOOD`].
pub const OTHER: Key = Key(1);
/// Signs with a subkey, as users of `GnuPG` do who keep the primary key offline.
pub const SUBKEY: Key = Key(2);
/// Valid for the year 2024 only; [`SIGNED_AT`] lies within, [`AFTER_EXPIRY`] after it.
pub const EXPIRED: Key = Key(3);
/// Revoked in September 2024 as compromised.
pub const REVOKED: Key = Key(4);

/// A copy of [`EXPIRED`] with a later end.
pub const RENEWED: Key = Key(5);
/// A copy of [`REVOKED`] without its revocation.
pub const PARDONED: Key = Key(6);
/// A copy of [`SUBKEY`] whose subkey is revoked.
pub const SUBKEY_REVOKED: Key = Key(7);

/// All keys; copies come after their originals.
pub const ALL: [Key; 8] = [GOOD, OTHER, SUBKEY, EXPIRED, REVOKED, RENEWED, PARDONED, SUBKEY_REVOKED];

const NAMES: [&str; 8] = ["GOOD", "OTHER", "SUBKEY", "EXPIRED", "REVOKED", "RENEWED", "PARDONED", "SUBKEY_REVOKED"];

/// When releases are signed unless they say otherwise: 1 June 2024.
pub const SIGNED_AT: Day = Day(19_875);
/// 1 June 2025, after the end of [`EXPIRED`].
pub const AFTER_EXPIRY: Day = Day(20_240);

const CREATED: Day = Day(19_723);
const REVOKED_ON: Day = Day(19_967);

/// A point in time: midnight UTC, so many days after 1 January 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Day(pub u64);

impl Day {
    fn time(self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.0 * 86_400)
    }
}

/// How a signature document is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// As registries serve it.
    Binary,
    /// ASCII armor, which the tools refuse.
    Armored,
}

/// Who signs what, when, and how.
type Question = (Key, Vec<u8>, Day, Form);

struct Made {
    cert: Cert,
    armored: String,
}

fn made(key: Key) -> &'static Made {
    static MADE: OnceLock<Vec<Made>> = OnceLock::new();
    &MADE.get_or_init(|| certs().into_iter().map(armored).collect())[key.0]
}

/// All certificates, in the order of [`ALL`].
fn certs() -> [Cert; 8] {
    let [good, other, subkey, expired, unrevoked] = [GOOD, OTHER, SUBKEY, EXPIRED, REVOKED].map(generate);
    let (renewed, subkey_revoked) = (renewed(&expired), without_subkey(&subkey));
    [good, other, subkey, expired, revoked(&unrevoked), renewed, unrevoked, subkey_revoked]
}

fn armored(cert: Cert) -> Made {
    let mut armored = Vec::new();
    cert.armored().serialize(&mut armored).unwrap();
    Made { cert, armored: String::from_utf8(armored).unwrap() }
}

fn generate(key: Key) -> Cert {
    let user = format!("{} <{}@example.com>", NAMES[key.0], NAMES[key.0].to_lowercase());
    let mut builder =
        CertBuilder::new().set_cipher_suite(CipherSuite::Cv25519).set_creation_time(CREATED.time()).add_userid(user);
    builder = if key == SUBKEY {
        builder.add_signing_subkey()
    } else {
        builder.set_primary_key_flags(KeyFlags::empty().set_certification().set_signing())
    };
    if key == EXPIRED {
        builder = builder.set_validity_period(Some(Duration::from_secs(366 * 86_400)));
    }
    builder.generate().unwrap().0
}

fn primary(cert: &Cert) -> KeyPair {
    signer(cert.primary_key().key().clone().parts_into_secret().unwrap().role_into_unspecified())
}

fn revoked(cert: &Cert) -> Cert {
    let revocation = CertRevocationBuilder::new()
        .set_signature_creation_time(REVOKED_ON.time())
        .and_then(|builder| builder.set_reason_for_revocation(ReasonForRevocation::KeyCompromised, b"stolen"))
        .and_then(|builder| builder.build(&mut primary(cert), cert, None))
        .unwrap();
    cert.clone().insert_packets([revocation]).unwrap().0
}

fn without_subkey(cert: &Cert) -> Cert {
    let subkey = cert.keys().subkeys().next().unwrap().key().clone();
    let revocation = SubkeyRevocationBuilder::new()
        .set_signature_creation_time(REVOKED_ON.time())
        .and_then(|builder| builder.set_reason_for_revocation(ReasonForRevocation::KeyCompromised, b"stolen"))
        .and_then(|builder| builder.build(&mut primary(cert), cert, &subkey, None))
        .unwrap();
    cert.clone().insert_packets([revocation]).unwrap().0
}

fn renewed(cert: &Cert) -> Cert {
    let end = Day(40_000).time();
    let packets = cert.set_expiration_time(&StandardPolicy::new(), None, &mut primary(cert), Some(end)).unwrap();
    cert.clone().insert_packets(packets).unwrap().0
}

fn signer(key: PacketKey<SecretParts, UnspecifiedRole>) -> KeyPair {
    key.into_keypair().unwrap()
}

impl Key {
    /// The name, such as `GOOD`; snapshots show it in place of fingerprints.
    pub fn name(self) -> &'static str {
        NAMES[self.0]
    }

    /// The public key block, as a registry lists it.
    pub fn armored(self) -> &'static str {
        &made(self).armored
    }

    /// The fingerprint of the primary key: 40 hex digits, upper case.
    pub fn fingerprint(self) -> String {
        made(self).cert.fingerprint().to_hex()
    }

    /// The short id of the primary key: the last 16 digits of the fingerprint.
    pub fn id(self) -> String {
        made(self).cert.keyid().to_hex()
    }

    /// A detached signature over a document, made on a given day whatever the key's state then.
    ///
    /// The same bytes each time: signatures are salted, and a registry signs a document once.
    pub fn sign(self, document: &[u8], on: Day, form: Form) -> Vec<u8> {
        static MADE: OnceLock<Mutex<HashMap<Question, Vec<u8>>>> = OnceLock::new();
        let mut made = MADE.get_or_init(Mutex::default).lock().unwrap();
        made.entry((self, document.to_vec(), on, form)).or_insert_with(|| self.sign_anew(document, on, form)).clone()
    }

    fn sign_anew(self, document: &[u8], on: Day, form: Form) -> Vec<u8> {
        let cert = &made(self).cert;
        let key = match cert.keys().subkeys().next() {
            Some(subkey) => subkey.key().clone().parts_into_secret().unwrap().role_into_unspecified(),
            None => cert.primary_key().key().clone().parts_into_secret().unwrap().role_into_unspecified(),
        };
        let signature = SignatureBuilder::new(SignatureType::Binary)
            .set_hash_algo(HashAlgorithm::SHA512)
            .set_signature_creation_time(on.time())
            .and_then(|builder| builder.sign_message(&mut signer(key), document))
            .unwrap();
        let bytes = Packet::from(signature).to_vec().unwrap();
        match form {
            Form::Binary => bytes,
            Form::Armored => armor_signature(&bytes),
        }
    }
}

fn armor_signature(bytes: &[u8]) -> Vec<u8> {
    let mut writer = armor::Writer::new(Vec::new(), armor::Kind::Signature).unwrap();
    std::io::Write::write_all(&mut writer, bytes).unwrap();
    writer.finalize().unwrap()
}

//! Signatures by keys that are made here, and the real ones of `../shared`.

use std::time::{Duration, SystemTime};

use sequoia_openpgp::armor::{Kind, Writer};
use sequoia_openpgp::cert::{Cert, CertBuilder, CipherSuite, SubkeyRevocationBuilder};
use sequoia_openpgp::crypto::KeyPair;
use sequoia_openpgp::packet::key::{Key4, PrimaryRole, SecretParts};
use sequoia_openpgp::packet::signature::SignatureBuilder;
use sequoia_openpgp::packet::{Key, UserID};
use sequoia_openpgp::policy::StandardPolicy;
use sequoia_openpgp::serialize::{Serialize, SerializeInto};
use sequoia_openpgp::types::{HashAlgorithm, KeyFlags, ReasonForRevocation, SignatureType};
use sequoia_openpgp::{Packet, Profile};

use super::*;

mod keys;
mod signatures;

pub(super) const DOCUMENT: &[u8] =
    b"00  terraform-provider-x_1.0.0_linux_amd64.zip\n11  terraform-provider-x_1.0.0_darwin_arm64.zip\n";

/// Days after 2020-09-13.
pub(super) fn day(days: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000 + days * 86_400)
}

pub(super) fn builder(created: SystemTime) -> CertBuilder<'static> {
    CertBuilder::new()
        .set_cipher_suite(CipherSuite::Cv25519)
        .set_creation_time(created)
        .add_userid("author@example.com")
        .set_primary_key_flags(KeyFlags::empty().set_certification().set_signing())
}

pub(super) fn cert() -> Cert {
    builder(day(0)).generate().unwrap().0
}

pub(super) fn expiring(days: u64) -> Cert {
    builder(day(0)).set_validity_period(Duration::from_secs(days * 86_400)).generate().unwrap().0
}

pub(super) fn armor(certs: &[&Cert]) -> String {
    let mut writer = Writer::new(Vec::new(), Kind::PublicKey).unwrap();
    for cert in certs {
        (*cert).clone().strip_secret_key_material().serialize(&mut writer).unwrap();
    }
    String::from_utf8(writer.finalize().unwrap()).unwrap()
}

pub(super) fn primary_pair(cert: &Cert) -> KeyPair {
    cert.primary_key().key().clone().parts_into_secret().unwrap().into_keypair().unwrap()
}

pub(super) fn subkey_pair(cert: &Cert) -> KeyPair {
    let subkey = cert.keys().subkeys().next().unwrap();
    subkey.key().clone().parts_into_secret().unwrap().role_into_unspecified().into_keypair().unwrap()
}

pub(super) fn sign_with(mut pair: KeyPair, made: SystemTime, builder: SignatureBuilder, document: &[u8]) -> Vec<u8> {
    let builder = builder.set_signature_creation_time(made).unwrap();
    Packet::from(builder.sign_message(&mut pair, document).unwrap()).to_vec().unwrap()
}

pub(super) fn binary() -> SignatureBuilder {
    SignatureBuilder::new(SignatureType::Binary).set_hash_algo(HashAlgorithm::SHA256)
}

pub(super) fn sign(cert: &Cert, made: SystemTime) -> Vec<u8> {
    sign_with(primary_pair(cert), made, binary(), DOCUMENT)
}

pub(super) fn fingerprint(cert: &Cert) -> Fingerprint {
    cert.fingerprint().to_hex().parse().unwrap()
}

/// A key with one user id, bound by hand over a digest of choice.
pub(super) fn bound_by_hand(key: &Key<SecretParts, PrimaryRole>, hash: HashAlgorithm) -> Cert {
    let mut pair = key.clone().into_keypair().unwrap();
    let cert = Cert::try_from(vec![Packet::from(key.clone())]).unwrap();
    let name = UserID::from("old@example.com");
    let builder = SignatureBuilder::new(SignatureType::PositiveCertification)
        .set_hash_algo(hash)
        .set_key_flags(KeyFlags::empty().set_certification().set_signing())
        .unwrap()
        .set_signature_creation_time(key.creation_time())
        .unwrap();
    let binding = name.bind(&mut pair, &cert, builder).unwrap();
    cert.insert_packets(vec![Packet::from(name), binding.into()]).unwrap().0
}

pub(super) fn revoked(cert: &Cert, reason: ReasonForRevocation) -> Cert {
    let revocation = cert.revoke(&mut primary_pair(cert), reason, b"").unwrap();
    cert.clone().insert_packets(vec![revocation]).unwrap().0
}

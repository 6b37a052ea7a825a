//! Signatures by keys that are made here, and the real ones of `../shared`.

use std::time::{Duration, SystemTime};

use sequoia_openpgp::Packet;
use sequoia_openpgp::armor::{Kind, Writer};
use sequoia_openpgp::cert::{Cert, CertBuilder, CipherSuite, SubkeyRevocationBuilder};
use sequoia_openpgp::crypto::KeyPair;
use sequoia_openpgp::packet::key::{Key4, PrimaryRole, SecretParts};
use sequoia_openpgp::packet::signature::SignatureBuilder;
use sequoia_openpgp::packet::{Key, UserID};
use sequoia_openpgp::policy::StandardPolicy;
use sequoia_openpgp::serialize::{Serialize, SerializeInto};
use sequoia_openpgp::types::{HashAlgorithm, KeyFlags, ReasonForRevocation, SignatureType};

use super::*;

const DOCUMENT: &[u8] =
    b"00  terraform-provider-x_1.0.0_linux_amd64.zip\n11  terraform-provider-x_1.0.0_darwin_arm64.zip\n";

/// Days after 2020-09-13.
fn day(days: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000 + days * 86_400)
}

fn builder(created: SystemTime) -> CertBuilder<'static> {
    CertBuilder::new()
        .set_cipher_suite(CipherSuite::Cv25519)
        .set_creation_time(created)
        .add_userid("author@example.com")
        .set_primary_key_flags(KeyFlags::empty().set_certification().set_signing())
}

fn cert() -> Cert {
    builder(day(0)).generate().unwrap().0
}

fn expiring(days: u64) -> Cert {
    builder(day(0)).set_validity_period(Duration::from_secs(days * 86_400)).generate().unwrap().0
}

fn armor(certs: &[&Cert]) -> String {
    let mut writer = Writer::new(Vec::new(), Kind::PublicKey).unwrap();
    for cert in certs {
        (*cert).clone().strip_secret_key_material().serialize(&mut writer).unwrap();
    }
    String::from_utf8(writer.finalize().unwrap()).unwrap()
}

fn primary_pair(cert: &Cert) -> KeyPair {
    cert.primary_key().key().clone().parts_into_secret().unwrap().into_keypair().unwrap()
}

fn subkey_pair(cert: &Cert) -> KeyPair {
    let subkey = cert.keys().subkeys().next().unwrap();
    subkey.key().clone().parts_into_secret().unwrap().role_into_unspecified().into_keypair().unwrap()
}

fn sign_with(mut pair: KeyPair, made: SystemTime, builder: SignatureBuilder, document: &[u8]) -> Vec<u8> {
    let builder = builder.set_signature_creation_time(made).unwrap();
    Packet::from(builder.sign_message(&mut pair, document).unwrap()).to_vec().unwrap()
}

fn binary() -> SignatureBuilder {
    SignatureBuilder::new(SignatureType::Binary).set_hash_algo(HashAlgorithm::SHA256)
}

fn sign(cert: &Cert, made: SystemTime) -> Vec<u8> {
    sign_with(primary_pair(cert), made, binary(), DOCUMENT)
}

fn fingerprint(cert: &Cert) -> Fingerprint {
    cert.fingerprint().to_hex().parse().unwrap()
}

/// A key with one user id, bound by hand over a digest of choice.
fn bound_by_hand(key: &Key<SecretParts, PrimaryRole>, hash: HashAlgorithm) -> Cert {
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

fn revoked(cert: &Cert, reason: ReasonForRevocation) -> Cert {
    let revocation = cert.revoke(&mut primary_pair(cert), reason, b"").unwrap();
    cert.clone().insert_packets(vec![revocation]).unwrap().0
}

#[test]
fn good_signatures_name_the_primary_key() {
    let author = cert();
    let armored = armor(&[&author]);
    let verified = verify(DOCUMENT, &sign(&author, day(9)), &[&armored], day(10)).unwrap();
    assert_eq!(verified.fingerprint, fingerprint(&author));
    assert_eq!(verified.key_id, author.keyid().to_hex());
    assert_eq!((verified.made, verified.expired, verified.signing_subkey), (day(9), false, None));

    let crlf = format!("Some text in front\r\n{}", armored.replace('\n', "\r\n"));
    assert!(verify(DOCUMENT, &sign(&author, day(9)), &[&crlf], day(10)).is_ok());
    let headers = armored.replacen("\n\n", "\nVersion: GnuPG v2\nComment: x: y\n\n", 1);
    let lines: Vec<&str> = armored.lines().filter(|line| !line.starts_with('=')).collect();
    let without_checksum = lines.join(
        "
",
    );
    for text in [armored.trim_end(), &headers, &without_checksum] {
        assert!(verify(DOCUMENT, &sign(&author, day(9)), &[text], day(10)).is_ok(), "{text}");
    }
}

#[test]
fn subkeys_sign_for_their_primary_key() {
    let author = builder(day(0)).add_signing_subkey().generate().unwrap().0;
    let signature = sign_with(subkey_pair(&author), day(1), binary(), DOCUMENT);
    let verified = verify(DOCUMENT, &signature, &[&armor(&[&author])], day(10)).unwrap();
    assert_eq!(verified.fingerprint, fingerprint(&author));
    let subkey = author.keys().subkeys().next().unwrap().key().fingerprint().to_hex();
    assert_eq!(verified.signing_subkey.unwrap().as_str(), subkey);

    let key = author.keys().subkeys().next().unwrap().key().clone();
    let revocation = SubkeyRevocationBuilder::new()
        .set_reason_for_revocation(ReasonForRevocation::KeyRetired, b"")
        .unwrap()
        .build(&mut primary_pair(&author), &author, &key, None)
        .unwrap();
    let without = author.clone().insert_packets(vec![revocation]).unwrap().0;
    let error = verify(DOCUMENT, &signature, &[&armor(&[&without])], day(10)).unwrap_err();
    let revoked = SignatureError::RevokedSubkey { key: fingerprint(&author), subkey: subkey.parse().unwrap() };
    assert_eq!(error, revoked);
    let by_primary = sign(&author, day(1));
    assert!(verify(DOCUMENT, &by_primary, &[&armor(&[&without])], day(10)).is_ok());
}

#[test]
fn encryption_subkeys_do_not_sign() {
    let author = builder(day(0)).add_transport_encryption_subkey().generate().unwrap().0;
    let mut packets = author.clone().into_packets().collect::<Vec<_>>();
    packets.truncate(3);
    let bare = Cert::try_from(packets).unwrap();
    assert_eq!(bare.keys().count(), 1);
    // A key that may only certify.
    let certifier = CertBuilder::new()
        .set_creation_time(day(0))
        .add_userid("x")
        .set_primary_key_flags(KeyFlags::empty().set_certification())
        .generate()
        .unwrap()
        .0;
    let error = verify(DOCUMENT, &sign(&certifier, day(1)), &[&armor(&[&certifier])], day(10)).unwrap_err();
    assert!(matches!(error, SignatureError::UnknownIssuer { .. }), "{error}");
}

#[test]
fn rsa_2048_passes_and_rsa_1024_is_weak() {
    let key = |bits| Key::from(Key4::<SecretParts, PrimaryRole>::generate_rsa(bits).unwrap());
    let now = day(5000);
    let good = bound_by_hand(&key(2048), HashAlgorithm::SHA256);
    assert!(!verify(DOCUMENT, &sign(&good, now), &[&armor(&[&good])], now).unwrap().expired);
    let small = bound_by_hand(&key(1024), HashAlgorithm::SHA256);
    let error = verify(DOCUMENT, &sign(&small, now), &[&armor(&[&small])], now).unwrap_err();
    assert!(matches!(&error, SignatureError::Weak { weakness, .. } if weakness.contains("1024")), "{error}");
}

#[test]
fn sha1_binds_a_key_but_signs_no_document() {
    let key = Key::from(
        Key4::<SecretParts, PrimaryRole>::generate_ecc(true, sequoia_openpgp::types::Curve::Ed25519).unwrap(),
    );
    let now = day(5000);
    let author = bound_by_hand(&key, HashAlgorithm::SHA1);
    let armored = armor(&[&author]);
    assert!(verify(DOCUMENT, &sign(&author, now), &[&armored], now).is_ok());
    let weak = sign_with(primary_pair(&author), now, binary().set_hash_algo(HashAlgorithm::SHA1), DOCUMENT);
    let error = verify(DOCUMENT, &weak, &[&armored], now).unwrap_err();
    assert!(matches!(&error, SignatureError::Weak { weakness, .. } if weakness.contains("SHA1")), "{error}");
    assert!(matches!(verify(b"other", &weak, &[&armored], now), Err(SignatureError::Bad(_))));
}

#[test]
fn expiry_is_judged_at_signing_time() {
    let author = expiring(100);
    let armored = armor(&[&author]);
    let expired = |made, now| verify(DOCUMENT, &sign(&author, made), &[&armored], now).unwrap().expired;
    assert!(!expired(day(99), day(99)));
    assert!(!expired(day(99), day(5000)));
    assert!(expired(day(100), day(100)));
    assert!(expired(day(200), day(5000)));
    assert!(expired(day(50), day(49)), "dated after now");

    let expired_now = |made, now| verify(DOCUMENT, &sign(&author, made), &[&armored], now).unwrap().expired_now;
    assert!(!expired_now(day(1), day(99)));
    assert!(expired_now(day(1), day(100)));
    assert!(expired_now(day(101), day(102)));
}

#[test]
fn expired_subkeys_and_signatures() {
    let subkey_expires = builder(day(0))
        .add_subkey(KeyFlags::empty().set_signing(), Duration::from_secs(50 * 86_400), None)
        .generate()
        .unwrap()
        .0;
    let armored = armor(&[&subkey_expires]);
    let expired = |made, now| {
        let signature = sign_with(subkey_pair(&subkey_expires), made, binary(), DOCUMENT);
        verify(DOCUMENT, &signature, &[&armored], now).unwrap().expired
    };
    assert!(!expired(day(49), day(1000)));
    assert!(expired(day(51), day(1000)));

    let author = cert();
    let short = binary().set_signature_validity_period(Duration::from_secs(86_400)).unwrap();
    let signature = sign_with(primary_pair(&author), day(1), short, DOCUMENT);
    let expired = |now| verify(DOCUMENT, &signature, &[&armor(&[&author])], now).unwrap().expired;
    assert!(!expired(day(1)));
    assert!(expired(day(3)));
}

#[test]
fn a_renewed_copy_counts_wherever_it_is_listed() {
    let old = expiring(100);
    let policy = StandardPolicy::new();
    let packets = old.set_expiration_time(&policy, None, &mut primary_pair(&old), Some(day(6000)));
    let renewed = old.clone().insert_packets(packets.unwrap()).unwrap().0;
    let (old_text, renewed_text) = (armor(&[&old]), armor(&[&renewed]));
    let now = day(5000);
    let signature = sign(&old, day(200));
    let expired = |keys: &[&str]| verify(DOCUMENT, &signature, keys, now).unwrap().expired;
    assert!(expired(&[&old_text]));
    assert!(!expired(&[&renewed_text]));
    assert!(!expired(&[&old_text, &renewed_text]));
    assert!(!expired(&[&renewed_text, &old_text]));
}

#[test]
fn revoked_is_refused_for_any_reason_and_any_copy() {
    let author = cert();
    let signature = sign(&author, day(1));
    let refused = SignatureError::Revoked(fingerprint(&author));
    for reason in
        [ReasonForRevocation::KeyCompromised, ReasonForRevocation::KeySuperseded, ReasonForRevocation::KeyRetired]
    {
        let revoked = armor(&[&revoked(&author, reason)]);
        assert_eq!(verify(DOCUMENT, &signature, &[&revoked], day(2)), Err(refused.clone()));
        assert_eq!(verify(DOCUMENT, &signature, &[&armor(&[&author]), &revoked], day(2)), Err(refused.clone()));
        assert!(matches!(verify(b"other", &signature, &[&revoked], day(2)), Err(SignatureError::Bad(_))));
    }
    // A revocation by somebody else is no revocation.
    let other = cert();
    let foreign = revoked(&other, ReasonForRevocation::KeyRetired);
    let revocation = foreign.primary_key().bundle().self_revocations().next().unwrap().clone();
    let (mixed, _) = author.clone().insert_packets(vec![Packet::from(revocation)]).unwrap();
    assert!(verify(DOCUMENT, &signature, &[&armor(&[&mixed])], day(2)).is_ok());
}

#[test]
fn the_order_of_keys() {
    let (author, other) = (cert(), cert());
    let (key, wrong) = (armor(&[&author]), armor(&[&other]));
    let signature = sign(&author, day(1));
    let judge = |keys: &[&str]| verify(DOCUMENT, &signature, keys, day(2));
    assert!(judge(&[&wrong, &key]).is_ok());
    assert!(judge(&[&armor(&[&other, &author])]).is_ok());
    assert!(judge(&[&format!("{wrong}\n{key}")]).is_ok());
    assert!(judge(&[&key, "garbage"]).is_ok());
    assert!(matches!(judge(&["garbage", &key]), Err(SignatureError::Key { number: 1, .. })));
    assert!(matches!(judge(&[&wrong, "", &key]), Err(SignatureError::Key { number: 2, .. })));
    let message = key.replace("PUBLIC KEY BLOCK", "MESSAGE");
    assert!(matches!(judge(&[&message]), Err(SignatureError::Key { number: 1, .. })));
    let cut = &key[..key.len() / 2];
    assert!(matches!(judge(&[cut, &key]), Err(SignatureError::Key { number: 1, .. })), "{:?}", judge(&[cut, &key]));
    assert!(
        matches!(judge(&[&wrong]), Err(SignatureError::UnknownIssuer { issuer }) if issuer == fingerprint(&author).as_str())
    );
    assert_eq!(judge(&[]), Err(SignatureError::NoKeys));
}

#[test]
fn keys_that_cannot_be_checked_are_not_strangers() {
    let author = cert();
    for bits in [4096_usize, 8192] {
        let modulus: Vec<u8> = (0..bits / 8).map(|at| u8::try_from(at % 255).unwrap() | 0x81).collect();
        let key = Key4::<_, PrimaryRole>::import_public_rsa(&[1, 0, 1], &modulus, Some(day(0))).unwrap();
        let long = Cert::try_from(vec![Packet::from(Key::from(key))]).unwrap();
        let builder = binary().set_issuer_fingerprint(long.fingerprint()).unwrap();
        let signature = sign_with(primary_pair(&author), day(1), builder, DOCUMENT);
        let error = verify(DOCUMENT, &signature, &[&armor(&[&long])], day(2)).unwrap_err();
        match bits {
            4096 => assert!(matches!(error, SignatureError::UnknownIssuer { .. }), "{error}"),
            _ => assert!(matches!(&error, SignatureError::Unsupported { reason, .. } if reason.contains("8192"))),
        }
    }
}

#[test]
fn several_signatures_in_one_document() {
    let (author, other) = (cert(), cert());
    let key = armor(&[&author]);
    let both = [sign(&other, day(1)), sign(&author, day(1))].concat();
    assert!(verify(DOCUMENT, &both, &[&key], day(2)).is_ok());
    let wrong_first = [sign_with(primary_pair(&author), day(1), binary(), b"x"), sign(&author, day(1))].concat();
    assert!(matches!(verify(DOCUMENT, &wrong_first, &[&key], day(2)), Err(SignatureError::Bad(_))));
}

#[test]
fn text_mode_does_not_mind_line_ends() {
    let author = cert();
    let builder = || SignatureBuilder::new(SignatureType::Text).set_hash_algo(HashAlgorithm::SHA512);
    let signature = sign_with(primary_pair(&author), day(1), builder(), b"a\r\n\r\nb\rc\r\nd");
    let judge = |document: &[u8]| verify(document, &signature, &[&armor(&[&author])], day(2)).is_ok();
    assert!(judge(b"a\r\n\r\nb\rc\r\nd"));
    assert!(judge(b"a\n\nb\rc\nd"));
    assert!(!judge(b"a\n\nb\nc\nd"));
    assert!(!judge(b"a\n\nb\rc\nd\n"));
}

#[test]
fn malformed_documents() {
    let author = cert();
    let key = armor(&[&author]);
    let signature = sign(&author, day(1));
    let judge = |signature: &[u8]| verify(DOCUMENT, signature, &[&key], day(2)).unwrap_err();
    let mut writer = Writer::new(Vec::new(), Kind::Signature).unwrap();
    std::io::Write::write_all(&mut writer, &signature).unwrap();
    assert_eq!(judge(&writer.finalize().unwrap()), SignatureError::Armored);
    assert!(matches!(judge(b""), SignatureError::Malformed(_)));
    assert!(matches!(judge(b"hello"), SignatureError::Malformed(_)));
    for cut in 1..signature.len() {
        assert!(matches!(judge(&signature[..cut]), SignatureError::Malformed(_)), "{cut}");
    }
    assert!(matches!(judge(&[&signature[..], b"rest"].concat()), SignatureError::Malformed(_)));
    let key_packet = author.primary_key().key().clone().take_secret().0;
    let not_a_signature = Packet::from(key_packet.role_into_primary()).to_vec().unwrap();
    assert!(matches!(judge(&not_a_signature), SignatureError::Malformed(_)));
}

#[test]
fn no_flipped_bit_is_believed() {
    let author = cert();
    let key = armor(&[&author]);
    let signature = sign(&author, day(1));
    for at in 0..signature.len() {
        let mut changed = signature.clone();
        changed[at] ^= 1;
        // The unhashed area and the length forms are not covered by a signature.
        if let Ok(verified) = verify(DOCUMENT, &changed, &[&key], day(2)) {
            assert_eq!((verified.made, verified.fingerprint), (day(1), fingerprint(&author)));
        }
    }
    let mut document = DOCUMENT.to_vec();
    document[0] ^= 1;
    assert_eq!(verify(&document, &signature, &[&key], day(2)), Err(SignatureError::Bad(fingerprint(&author))));
}

#[test]
fn real_signatures_of_shared() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/realworld/signatures");
    #[expect(clippy::disallowed_methods, reason = "a test reads its cases")]
    let read = |path: String| std::fs::read(path).ok();
    let Some(index) = read(format!("{folder}/INDEX.tsv")) else {
        return skip();
    };
    let index = String::from_utf8(index).unwrap();
    let mut judged = 0;
    for row in index.lines().skip(1) {
        let mut fields = row.split('\t');
        let (name, verdict) = (fields.next().unwrap(), fields.next().unwrap());
        let file = |file: &str| read(format!("{folder}/{name}/{file}")).unwrap();
        let (document, signature) = (file("SHA256SUMS"), file("SHA256SUMS.sig"));
        let key = String::from_utf8(file("key.asc")).unwrap();
        let judged_now = verify(&document, &signature, &[&key], day(2260));
        judged += 1;
        // These are over SHA-1 digests.
        let stricter = name.starts_with("01-") || name.starts_with("06-");
        let as_expected = match (verdict, &judged_now) {
            ("good" | "good-but-key-expired", Err(SignatureError::Weak { weakness, .. })) => {
                stricter && weakness.contains("SHA1")
            }
            (_, Err(SignatureError::Armored)) => name.starts_with("14-") || name.starts_with("21-"),
            ("good" | "good-but-key-expired", Ok(verified)) => !stricter && !verified.expired,
            ("bad", Err(SignatureError::Bad(_)))
            | ("no-public-key", Err(SignatureError::UnknownIssuer { .. }))
            | ("error", Err(SignatureError::Malformed(_))) => true,
            _ => false,
        };
        assert!(as_expected, "{name}: {verdict}, but {judged_now:?}");
    }
    assert_eq!(judged, 41);
}

#[expect(clippy::print_stderr, reason = "a test that does not run must say so")]
fn skip() {
    eprintln!("skipped: ../shared is not here");
}

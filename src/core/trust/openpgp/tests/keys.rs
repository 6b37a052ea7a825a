//! What a key may be: subkeys, weak algorithms, expiry, revocation, several copies.

use super::*;

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
    let lapse = |now| verify(DOCUMENT, &sign(&author, day(50)), &[&armored], now).unwrap().lapse;
    assert_eq!(lapse(day(49)), Some(Lapse::Future));
    assert_eq!(lapse(day(50) - Duration::from_secs(599)), None);
    assert!(!expired(day(50), day(49)), "the key has no part in it");

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
    let judged = |now| verify(DOCUMENT, &signature, &[&armor(&[&author])], now).unwrap();
    assert_eq!(judged(day(1)).lapse, None);
    assert_eq!(judged(day(3)).lapse, Some(Lapse::Expired));
    assert!(!judged(day(3)).expired && !judged(day(3)).expired_now, "the key has no expiry");
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
    // A revocation by someone else is no revocation.
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
    assert!(judge(&[&format!("{key}\n{wrong}")]).is_ok());
    let second = judge(&[&format!("{wrong}\n{key}")]);
    assert!(matches!(second, Err(SignatureError::UnknownIssuer { .. })), "the tools read one block of a text");
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
fn the_same_key_many_times() {
    let author = cert();
    let (key, signature) = (armor(&[&author]), sign(&author, day(1)));
    let copies = vec![key.as_str(); 100];
    assert!(verify(DOCUMENT, &signature, &copies, day(2)).is_ok());
    let other = armor(&[&cert()]);
    let strangers: Vec<&str> = std::iter::repeat_n(other.as_str(), 100).chain([key.as_str()]).collect();
    let error = verify(DOCUMENT, &signature, &strangers, day(2)).unwrap_err();
    assert!(matches!(&error, SignatureError::Key { number: 101, reason } if reason.contains("100 keys")), "{error}");
    // Within one text as well.
    let many = armor(&vec![&author; 101]);
    assert!(matches!(verify(DOCUMENT, &signature, &[&many], day(2)), Err(SignatureError::Key { number: 1, .. })));
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

/// As with terraform 1.11: "first packet was not a public/private key". Another key in the same text is read.
#[test]
fn keys_that_terraform_cannot_read_are_refused() {
    let mut made = Key4::<SecretParts, PrimaryRole>::generate_ed25519().unwrap();
    made.set_creation_time(day(0)).unwrap();
    let version_6 = builder(day(0)).set_profile(Profile::RFC9580).unwrap().generate().unwrap().0;
    let old = cert();
    for (new, why) in [(version_6, "version 6"), (bound_by_hand(&made.into(), HashAlgorithm::SHA512), "Ed25519")] {
        let signature = sign(&new, day(1));
        let error = verify(DOCUMENT, &signature, &[&armor(&[&new])], day(2)).unwrap_err();
        assert!(matches!(&error, SignatureError::Key { reason, .. } if reason.contains(why)), "{error}");
        let both = armor(&[&new, &old]);
        assert!(verify(DOCUMENT, &signature, &[&both], day(2)).is_err());
        assert!(verify(DOCUMENT, &sign(&old, day(1)), &[&both], day(2)).is_ok());
    }
}

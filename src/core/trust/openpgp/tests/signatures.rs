//! What a signature document may be, and the real ones.

use sequoia_openpgp::packet::signature::subpacket::{Subpacket, SubpacketTag, SubpacketValue};

use super::*;

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
    // The tools read no further than the signature that counts.
    for rest in [&b"rest"[..], &signature[..10], &[0xFF, 0xFF]] {
        let longer = [&signature[..], rest].concat();
        assert!(verify(DOCUMENT, &longer, &[&key], day(2)).is_ok(), "{rest:?}");
        assert!(matches!(judge(&[rest, &signature[..]].concat()), SignatureError::Malformed(_)), "{rest:?}");
    }
    let key_packet = author.primary_key().key().clone().take_secret().0;
    let not_a_signature = Packet::from(key_packet.role_into_primary()).to_vec().unwrap();
    assert!(matches!(judge(&not_a_signature), SignatureError::Malformed(_)));
}

/// terraform 1.11.4 and go-crypto refuse what is critical and not known.
#[test]
fn critical_things_are_not_passed_over() {
    let author = cert();
    let judge = |builder: SignatureBuilder| {
        let signature = sign_with(primary_pair(&author), day(1), builder, DOCUMENT);
        verify(DOCUMENT, &signature, &[&armor(&[&author])], day(2))
    };
    let notation = |critical| binary().set_notation("a@example.com", b"x", None, critical).unwrap();
    assert!(judge(notation(false)).is_ok());
    let refused = judge(notation(true)).unwrap_err();
    assert_eq!(refused, SignatureError::Critical("the notation \"a@example.com\"".to_owned()));
    let subpacket = |tag, critical| {
        let value = SubpacketValue::Unknown { tag: SubpacketTag::from(tag), body: vec![1] };
        let subpacket = Subpacket::new(value, critical).unwrap();
        binary().modify_hashed_area(|mut area| area.add(subpacket).map(|()| area)).unwrap()
    };
    assert!(judge(subpacket(101, false)).is_ok());
    assert!(matches!(judge(subpacket(101, true)), Err(SignatureError::Critical(_))));
    assert!(judge(binary().set_policy_uri("https://example.com").unwrap()).is_ok());
}

#[test]
fn a_signature_older_than_its_key() {
    let author = builder(day(10)).generate().unwrap().0;
    let error = verify(DOCUMENT, &sign(&author, day(9)), &[&armor(&[&author])], day(20)).unwrap_err();
    assert_eq!(error, SignatureError::Predates(fingerprint(&author)));
}

#[test]
fn no_flipped_bit_is_accepted() {
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
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/realworld/signatures");
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
        // This is over a SHA-1 digest.
        let stricter = name.starts_with("01-");
        // The key is in the second block, which the tools do not read.
        let second = name.ends_with("both-keys-in-one-block");
        let as_expected = match (verdict, &judged_now) {
            ("good" | "good-but-key-expired", Err(SignatureError::Weak { weakness, .. })) => {
                stricter && weakness.contains("SHA1")
            }
            (_, Err(SignatureError::Armored)) => name.starts_with("14-") || name.starts_with("21-"),
            ("good", Err(SignatureError::UnknownIssuer { .. })) => second,
            ("good" | "good-but-key-expired", Ok(verified)) => !stricter && !verified.expired,
            ("bad", Err(SignatureError::Bad(_)))
            | ("no-public-key", Err(SignatureError::UnknownIssuer { .. }))
            | ("error", Err(SignatureError::Malformed(_))) => true,
            _ => false,
        };
        assert!(as_expected, "{name}: {verdict}, but {judged_now:?}");
        // One release under three copies of one key: before, while and after its expiry was extended.
        if ["07-", "08-", "09-"].iter().any(|number| name.starts_with(number)) {
            let fingerprint = judged_now.unwrap().fingerprint;
            assert_eq!(fingerprint.as_str(), "C874011F0AB405110D02105534365D9472D7468F", "{name}");
        }
    }
    assert_eq!(judged, 41);
}

#[expect(clippy::print_stderr, reason = "a test that does not run must say so")]
fn skip() {
    eprintln!("skipped: ../shared is not here");
}

//! What a signature document may be, and the real ones.

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

use super::*;

const ONE: &str = "12bfcbc3c7bd6df3b26418b663129b014fce90a9572ee09c16ed73802764b26e";
const TWO: &str = "26ce1a1580f693873b6268fef54c5f0d0607f2896cad02ce2894c0c899a11575";

fn digest(hex: &str) -> Sha256Digest {
    Sha256Digest::from_hex(hex).unwrap()
}

/// The result column of `sums.tsv`.
fn result(sums: &Sums, name: &str, shasum: Sha256Digest) -> &'static str {
    match sums.digest_of(name) {
        Ok(digest) if digest == shasum => "ok",
        Ok(_) => "err: other-digest",
        Err(SumsError::NotListed(_)) => "err: not-listed",
        Err(SumsError::BadDigest { .. }) => "err: bad-digest",
    }
}

#[test]
fn agrees_with_the_tools() {
    let rows = crate::vectors::rows("sums.tsv");
    let mut wrong = Vec::new();
    for row in rows {
        let [document, name, shasum, terraform, terraform_zh, tofu, tofu_zh, note] = row.as_slice() else {
            panic!("{row:?}")
        };
        assert_eq!((terraform, terraform_zh), (tofu, tofu_zh), "{note}");
        if terraform == "crash" {
            continue;
        }
        let sums = Sums::decode(document.as_bytes());
        let got = result(&sums, name, digest(shasum));
        let mut zh: Vec<String> = sums.lock_file_digests().iter().map(|digest| digest.to_hex()).collect();
        if zh.is_empty() {
            zh.push(shasum.clone());
        }
        zh.sort_unstable();
        zh.dedup();
        let zh = if got == "ok" { zh.join(" ") } else { "-".to_owned() };
        if (got, &zh) != (terraform.as_str(), terraform_zh) {
            wrong.push(format!("{note}: {got} {zh}, wanted {terraform} {terraform_zh}"));
        }
    }
    crate::vectors::agree("sums.tsv", &wrong);
}

#[test]
fn blank_lines_are_passed_over() {
    let sums = Sums::decode(format!("\n{ONE}  a\n \t\u{2003}\n{TWO}  b\n\n").as_bytes());
    assert_eq!(sums.lock_file_digests(), [digest(ONE), digest(TWO)]);
    assert_eq!(sums.digest_of("b"), Ok(digest(TWO)));
}

#[test]
fn one_bad_line_empties_the_digests_but_not_the_lookup() {
    for bad in ["deadbeef  c", "alone", "zz  c", &format!("{ONE}00  c"), &format!("\u{feff}{ONE}  c")] {
        let sums = Sums::decode(format!("{ONE}  a\n{bad}\n{TWO}  b\n").as_bytes());
        assert_eq!(sums.lock_file_digests(), [], "{bad}");
        assert_eq!(sums.digest_of("b"), Ok(digest(TWO)), "{bad}");
    }
}

#[test]
fn a_long_line_ends_the_digests_quietly() {
    let long = |length: usize| {
        let line = format!("{ONE}  {}", "x".repeat(length - ONE.len() - 2));
        Sums::decode(format!("{TWO}  b\n{line}\n{TWO}  b\n").as_bytes())
    };
    assert_eq!(long(65_535).lock_file_digests().len(), 3);
    assert_eq!(long(65_536).lock_file_digests(), [digest(TWO)]);
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let sums = Sums::decode(&[ONE.as_bytes(), b"  \xff\xe2\x80\x83", ONE.as_bytes(), b"\n"].concat());
    assert_eq!(sums.lock_file_digests(), [digest(ONE)]);
    assert_eq!(sums.lines().count(), 1);
}

#[test]
fn digests_that_are_none() {
    let sums = Sums::decode(format!("12  short\n123  odd\n{ONE}00  long\nzz  no\n").as_bytes());
    assert_eq!(sums.digest_of("short"), Ok(digest(&format!("12{}", "0".repeat(62)))));
    for name in ["odd", "long", "no"] {
        assert!(matches!(sums.digest_of(name), Err(SumsError::BadDigest { .. })), "{name}");
    }
    assert_eq!(sums.lines().count(), 0);
}

#[test]
fn archives_of_one_release() {
    let version = "1.0.0".parse().unwrap();
    let document = format!(
        "{ONE}  terraform-provider-foo_1.0.0_linux_amd64.zip\n{TWO}  terraform-provider-foo_1.0.0_linux_amd64.zip\n\
         {TWO}  terraform-provider-foo_1.0.0_darwin_arm64.zip\n{TWO}  terraform-provider-foo_1.0.0_manifest.json\n\
         {TWO}  terraform-provider-foo_1.0.1_linux_arm64.zip\n{TWO}  terraform-provider-fo_1.0.0_linux_arm64.zip\n\
         bad  terraform-provider-foo_1.0.0_linux_arm64.zip\n{TWO}  terraform-provider-foo_1.0.0_linux_arm64.zip\n"
    );
    let sums = Sums::decode(document.as_bytes());
    let archives: Vec<_> = sums.archives("foo", &version).map(|(platform, zh)| (platform.to_string(), zh)).collect();
    assert_eq!(archives, [("linux_amd64".to_owned(), digest(ONE)), ("darwin_arm64".to_owned(), digest(TWO))]);
}

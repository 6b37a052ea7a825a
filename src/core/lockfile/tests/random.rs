//! Properties over random lock files and random texts.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::addr::ProviderAddr;
use crate::finding::Rule;
use crate::lockfile::decode_any;

fn dialects() -> impl Strategy<Value = Dialect> {
    select(vec![Dialect::Terraform, Dialect::OpenTofu])
}

fn addresses() -> impl Strategy<Value = ProviderAddr> {
    let host =
        select(vec!["registry.terraform.io", "registry.opentofu.org", "example.com:8443", "localhost", "é.example"]);
    let part = "[a-z][a-z0-9]{0,3}(-[a-z0-9]{1,3})?|é";
    (host, part, part).prop_filter_map("not an address of both", |(host, namespace, kind)| {
        ProviderAddr::parse(&format!("{host}/{namespace}/{kind}"), Dialect::OpenTofu).ok()
    })
}

fn entries(hash: &'static str) -> impl Strategy<Value = LockEntry> {
    let version = (0..30_u64, 0..30_u64, 0..30_u64, select(vec!["", "-rc.1", "+b.7", "-a..b+01"]));
    let constraints = vec(("(|>= |< |~> |!= )", "[0-9]{1,2}(\\.[0-9]{1,2}){0,2}"), 0..4);
    (version, constraints, vec(hash, 0..6)).prop_map(|((major, minor, patch, extra), terms, hashes)| {
        let terms: Vec<String> = terms.into_iter().map(|(operator, version)| format!("{operator}{version}")).collect();
        LockEntry {
            version: format!("{major}.{minor}.{patch}{extra}").parse().unwrap(),
            constraints: terms.join(", ").parse().unwrap(),
            hashes: hashes.iter().map(|hash| crate::hcl::normal(hash).parse().unwrap()).collect(),
        }
    })
}

fn locks(hash: &'static str) -> impl Strategy<Value = LockFile> {
    btree_map(addresses(), entries(hash).prop_map(Box::new), 0..6)
        .prop_map(|entries| LockFile { entries, stacks: None })
}

/// Texts near to lock files: one of them with a few pieces of the language thrown in.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec![
        "\"",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        "=",
        "\n",
        "\r",
        "${",
        "%{",
        "~}",
        "<<A\n",
        "<<-A\n",
        "A\n",
        "#",
        "/*",
        "*/",
        "\\",
        "\\u00e9",
        "'",
        ";",
        "&&",
        "...",
        "=>",
        "::",
        "?",
        ":",
        ".",
        "*",
        "-",
        "!",
        "1.5",
        "null",
        "f(",
        "for x in",
        "if",
        "%{ for x in [1] }",
        "%{ endfor }",
        "%{ else }",
        "\u{feff}",
        "é",
        "\0",
        "<<<<<<< x\n",
        " ",
    ];
    let edit = (
        any::<prop::sample::Index>(),
        0..4_usize,
        prop_oneof![select(pieces).prop_map(|piece| piece.as_bytes().to_vec()), vec(any::<u8>(), 0..3),],
    );
    (locks("h1:[a-z]{0,3}"), dialects(), vec(edit, 1..6)).prop_map(|(lock, dialect, edits)| {
        let mut text = lock.encode(dialect).into_bytes();
        for (at, cut, piece) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + cut).min(text.len());
            text.splice(at..end, piece);
        }
        text
    })
}

/// What must hold for any text.
fn sound(text: &[u8], dialect: Dialect) -> Result<(), TestCaseError> {
    let sorted = |findings: &[Finding]| findings.is_sorted_by_key(|finding| finding.position);
    match decode(text, dialect) {
        Ok(decoded) => {
            prop_assert!(sorted(&decoded.warnings));
            let same = decoded.header.is_some_and(|header| decoded.lock.encode(header).as_bytes() == text);
            prop_assert_eq!(decoded.canonical, same);
            let written = decoded.lock.encode(dialect).as_bytes() == text;
            // The scanner may give up on a text that is as it should be, never the reverse.
            prop_assert!(written || !super::syntax::holds(text, dialect));
            prop_assert_eq!(
                decoded
                    .warnings
                    .iter()
                    .all(|found| found.rule.id() != "not-canonical" && found.rule.id() != "duplicate-hash"),
                same
            );
            let again = decode(decoded.lock.encode(dialect).as_bytes(), dialect);
            prop_assert_eq!(again.map(|again| (again.lock, again.canonical)), Ok((decoded.lock, true)));
        }
        Err(findings) => {
            prop_assert!(sorted(&findings));
            prop_assert!(findings.iter().any(|found| found.level() == crate::finding::Level::Deny));
            prop_assert!(findings.iter().all(|found| found.position.is_some() && !found.message().contains('\n')));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    #[ignore = "long"]
    fn what_is_written_is_read_again(lock in locks("(h1|zh|x):[ !#-\\[\\]-z|~\u{e9}\u{301}\u{1f600}]{0,8}"), dialect in dialects()) {
        let text = lock.encode(dialect);
        let decoded = decode(text.as_bytes(), Dialect::OpenTofu).map_err(|findings| TestCaseError::fail(format!("{findings:?}")))?;
        prop_assert_eq!(&decoded.lock, &lock);
        prop_assert!(decoded.canonical && decoded.warnings.is_empty());
        prop_assert_eq!(decoded.header, Some(dialect));
    }

    #[test]
    #[ignore = "long"]
    fn what_cannot_be_written_plainly_is_not_read(lock in locks("h1:[a-c]{0,2}[\"\\\\\n\u{a0}\u{200b}][a-c]{0,2}"), dialect in dialects()) {
        let text = lock.encode(dialect);
        let has_hashes = lock.iter().any(|(_, entry)| !entry.hashes.is_empty());
        let refused = decode(text.as_bytes(), Dialect::OpenTofu).is_err_and(|findings| findings.iter().all(|found| found.rule == Rule::LockNotLiteral));
        prop_assert_eq!(refused, has_hashes);
    }

    #[test]
    #[ignore = "long"]
    fn both_ways_of_decoding_agree(lock in locks("(h1|zh):[a-zA-Z0-9+/=]{0,8}"), dialect in dialects()) {
        let text = lock.encode(dialect);
        let short = super::syntax::scan_canonical(text.as_bytes(), Dialect::OpenTofu);
        let long = decode_any(text.as_bytes(), Dialect::OpenTofu).unwrap();
        if let Some(short) = short {
            prop_assert_eq!(short.lock, long.lock);
            prop_assert_eq!(short.spans, long.spans);
            prop_assert_eq!(Some(short.header), long.header);
        } else {
            prop_assert!(!text.is_ascii());
        }
    }

    #[test]
    fn any_bytes_are_judged(text in vec(any::<u8>(), 0..200), dialect in dialects()) {
        sound(&text, dialect)?;
    }

    #[test]
    fn any_tokens_are_judged(text in "(provider|\"a.b/c/d\"|[{}\\[\\]()=,\"$%~<\\-A\n .:?*!0-9a-z#/\\\\])*", dialect in dialects()) {
        sound(text.as_bytes(), dialect)?;
    }

    #[test]
    fn damaged_lock_files_are_judged(text in damaged(), dialect in dialects()) {
        sound(&text, dialect)?;
    }
}

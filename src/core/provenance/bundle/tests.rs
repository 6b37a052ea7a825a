use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::*;
use crate::provenance::Repository;

/// The provenance of a release of GitHub's own command line.
const REAL: &str = include_str!("../../../../testdata/provenance/tarball-user-slsa-provenance.json");

/// An immutable release: GitHub says that these are the files of a tag, and nothing of who built them.
const IMMUTABLE: &str = include_str!("../../../../testdata/provenance/tarball-github-release-tsa.json");

/// One of its files: `gh_2.96.0_linux_386.deb`.
fn artifact() -> Sha256Digest {
    Sha256Digest::from_hex("f146e594bdba65fdc499c43c86d6d07c0e0733257152067c4f9fe2acee4f4629").unwrap()
}

fn check(text: &str) -> Result<Option<Attestation>, InvalidBundle> {
    verify(TrustedRoot::public(), text.as_bytes(), &artifact())
}

#[test]
fn a_real_release_is_proven() {
    let attestation = check(REAL).unwrap().unwrap();
    assert_eq!(attestation.subjects.len(), 21);
    assert_eq!(
        attestation.subjects[0],
        AttestedFile { name: "gh_2.96.0_linux_386.deb".to_owned(), digest: artifact() }
    );
    let build = attestation.build.unwrap();
    assert!(build.repository.is(&"github.com/CLI/cli".parse::<Repository>().unwrap()));
    assert_eq!(
        build.place(),
        "github.com/cli/cli (number 212613049), .github/workflows/deployment.yml, refs/heads/trunk, workflow_dispatch"
    );
    assert_eq!(build.commit, "b300f2ec7ec9dc9addc39b2ad88c54097ded7ca0");
    assert_eq!(
        (build.owner_id.as_str(), build.signer, build.trigger),
        ("59704711", None, "workflow_dispatch".to_owned())
    );
    assert!(build.run.unwrap().starts_with("https://github.com/cli/cli/actions/runs/"));
    assert_eq!(TrustedRoot::public().date(), "2025-09-23");
}

#[test]
fn what_is_no_statement_about_a_build_is_none() {
    assert_eq!(check(IMMUTABLE), Ok(None));
    for (text, step) in [("", "its form"), ("{}", "its form"), ("[1", "its form"), ("\u{fffd}", "its form")] {
        assert_eq!(check(text).unwrap_err().step, step, "{text}");
    }
    let large = format!("{REAL}{}", " ".repeat(LONGEST_BUNDLE));
    assert!(check(&large).unwrap_err().why.contains("larger than"));
}

#[test]
fn another_artifact_is_not_proven() {
    let other = Sha256Digest::of(b"other");
    let refused = verify(TrustedRoot::public(), REAL.as_bytes(), &other).unwrap_err();
    assert_eq!(refused.step, "the listed files");
}

/// All values of a document that are no list or object, each with where it is.
fn leaves(at: String, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| leaves(format!("{at}/{name}"), value, found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(number, value)| leaves(format!("{at}/{number}"), value, found));
        }
        _ => found.push(at),
    }
}

/// The same value, changed at some places: bytes where it is base64, letters and digits else.
fn changes(value: &str) -> Vec<String> {
    match BASE64_STANDARD.decode(value) {
        Ok(bytes) if bytes.len() > 16 => {
            let places = (0..8).map(|part| part * (bytes.len() - 1) / 7);
            let flipped = places.map(|at| {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1;
                BASE64_STANDARD.encode(bytes)
            });
            flipped.collect()
        }
        _ => {
            let last = value.chars().last().unwrap_or('x');
            let other = if last == '1' { '2' } else { '1' };
            vec![format!("{}{other}", &value[..value.len() - last.len_utf8()])]
        }
    }
}

/// What nothing authenticates by design, and nothing reads: the checkpoint of the log has a size of its own, which is signed.
const NOT_AUTHENTICATED: [&str; 1] = ["/verificationMaterial/tlogEntries/0/inclusionProof/treeSize"];

#[test]
#[ignore = "long"]
fn each_change_of_an_authenticated_field_is_refused() {
    let document: Value = serde_json::from_str(REAL).unwrap();
    let mut places = Vec::new();
    leaves(String::new(), &document, &mut places);
    let (mut refused, mut passed) = (0, Vec::new());
    for place in &places {
        let text = match document.pointer(place).unwrap() {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        for changed in changes(&text) {
            let mut document = document.clone();
            *document.pointer_mut(place).unwrap() = Value::String(changed);
            match check(&document.to_string()) {
                Err(InvalidBundle { step, .. }) => {
                    assert!(!step.is_empty());
                    refused += 1;
                }
                Ok(_) => passed.push(place.as_str()),
            }
        }
    }
    passed.dedup();
    assert_eq!(passed, NOT_AUTHENTICATED);
    assert!(refused >= 30, "{refused}");
}

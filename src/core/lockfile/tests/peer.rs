//! Damaged lock files, judged by the real program where it is at hand.

use std::process::Command;

use super::*;
use crate::finding::Rule;

const WHOLE: &str = "# c\nprovider \"example.com/a/b\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:a\", # d\n    \"zh:b\",\n  ]\n}\n";

/// What is thrown in.
const PIECES: [&[u8]; 24] = [
    b"\r",
    b"\r\n",
    b"\x0b",
    b"\xc2\xa0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\0",
    b"\"",
    b"}",
    b"]",
    b",",
    b"=",
    b"\n",
    b"/*",
    b"*/",
    b"#",
    b"\\",
    b"\xc3\xa9",
    b"e\xcc\x81",
    b"'",
    b";",
    b"x = \"1\"\n",
    b"version = \"1.0.0\"\n",
    b"\xe2\x80\x9c",
];

/// Whether `terraform` takes a lock file; none where there is no such program.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the real program reads files; a skipped test says so"
)]
fn accepted_by_terraform(text: &[u8]) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE_NAME), text).unwrap();
    let output = Command::new("terraform")
        .args(["providers", "lock", "-no-color", "-fs-mirror=."])
        .current_dir(folder.path())
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .output();
    if output.is_err() {
        eprintln!("skipped: terraform is not here");
    }
    output.ok().map(|output| output.status.success())
}

#[test]
#[ignore = "long"]
fn damaged_lock_files_are_judged_as_by_terraform() {
    let mut accepted = 0;
    for (at, piece) in PIECES.iter().enumerate() {
        // A few places for each, other ones for the next.
        for place in (at % 5 * 7..WHOLE.len()).step_by(53) {
            let text = [&WHOLE.as_bytes()[..place], piece, &WHOLE.as_bytes()[place..]].concat();
            let Some(wanted) = accepted_by_terraform(&text) else { return };
            let judged = decode(&text, Dialect::Terraform);
            let refused = judged.as_ref().err();
            let not_literal = refused.is_some_and(|found| found.iter().any(|found| found.rule == Rule::LockNotLiteral));
            assert!(wanted == judged.is_ok() || not_literal, "{:?}: {judged:?}", String::from_utf8_lossy(&text));
            accepted += usize::from(judged.is_ok());
        }
    }
    assert!(accepted > 5, "{accepted}");
}

//! The corpora of the fuzzer, and the test data it begins with, replayed without it.

#[path = "../fuzz/targets.rs"]
#[expect(unreachable_pub, reason = "the programs of the fuzzer are other crates")]
mod targets;

use std::path::{Path, PathBuf};

use crate::support::keys::{self, Day, Form};
use crate::support::packages::archive;

const GO: &str = "testdata/vectors/h1";

/// The files that a target begins with besides its corpus, and the prefix of each.
const SEEDS: [(&str, &str, &[&str], &[u8]); 10] = [
    ("bundle", "testdata/provenance", &["json"], b""),
    // Archives with the verdict of Go; `hash::archive` holds us to that.
    ("archive", GO, &["zip"], b""),
    ("package", GO, &["zip"], b"\x01"),
    ("config", "testdata/configurations", &["tf", "tofu"], b"\0"),
    ("config", "testdata/configurations", &["json"], b"\x01"),
    ("config", "testdata/edits", &["tf"], b"\x02"),
    ("lock", "testdata/lockfiles", &["hcl", "txt"], b""),
    ("lock", "testdata/merges", &["hcl"], b""),
    ("settings", "testdata/merges", &["hcl"], b""),
    ("merge", "testdata/merges", &["hcl"], b""),
];

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder, in the order of their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// What a target is called with: its corpus, and what it begins with.
fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let corpus = files(&top().join("tests/fuzz/corpus").join(target)).into_iter();
    let mut inputs: Vec<_> = corpus.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    for (_, folder, endings, head) in SEEDS.iter().filter(|(of, ..)| *of == target) {
        let has_ending = |path: &PathBuf| path.extension().is_some_and(|ending| endings.iter().any(|it| ending == *it));
        for path in files(&top().join(folder)).into_iter().filter(has_ending) {
            let bytes = std::fs::read(&path).unwrap();
            inputs.push((path, [head, &bytes[..]].concat()));
        }
    }
    inputs
}

#[test]
fn each_corpus_is_read_as_its_target_wants_it() {
    if !top().join(GO).is_dir() {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: ../shared is not here\n");
    }
    for (name, target) in targets::TARGETS {
        let inputs = inputs(name);
        assert!(!inputs.is_empty(), "nothing to begin with for {name}");
        for (path, bytes) in inputs {
            let run = std::panic::catch_unwind(|| target(&bytes));
            assert!(run.is_ok(), "{name} fails on {}", path.display());
            // Cut off in the middle.
            let run = std::panic::catch_unwind(|| target(&bytes[..bytes.len() / 2]));
            assert!(run.is_ok(), "{name} fails on the first half of {}", path.display());
        }
    }
}

/// Each target has a program for the fuzzer, and the other way around.
#[test]
fn each_target_has_a_program() {
    let programs = files(&top().join("tests/fuzz/fuzz_targets"));
    let names: Vec<_> = programs.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, targets::TARGETS.map(|(name, _)| name));
    let manifest = std::fs::read_to_string(top().join("tests/fuzz/Cargo.toml")).unwrap();
    assert!(names.iter().all(|name| manifest.contains(&format!("name = \"{name}\""))));
}

/// `UPDATE=1` writes what no other test data has: archives and signatures, made with the keys of the tests.
#[test]
fn what_the_fuzzer_begins_with_can_be_made() {
    let signed = |key: keys::Key, day| {
        let signature = key.sign(b"checksums\n", day, Form::Binary);
        let length = u16::try_from(signature.len()).unwrap().to_be_bytes();
        [&length[..], &signature, key.armored().as_bytes()].concat()
    };
    let mut made = vec![("archive/plain".to_owned(), archive(&[("a", "b".to_owned()), ("c/d", "e".repeat(300))]))];
    for (key, day) in [(keys::GOOD, keys::SIGNED_AT), (keys::SUBKEY, keys::SIGNED_AT), (keys::EXPIRED, Day(20_240))] {
        made.push((format!("signature/{}", key.name().to_lowercase()), signed(key, day)));
    }
    for (name, bytes) in made {
        let target = targets::TARGETS.iter().find(|(target, _)| name.starts_with(target)).unwrap();
        target.1(&bytes);
        if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
            std::fs::write(top().join("tests/fuzz/corpus").join(name), bytes).unwrap();
        }
    }
}

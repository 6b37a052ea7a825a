//! One binary for all tests of commands, so that the program is linked to its tests once.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and looks at files itself")]

mod example;
mod fixture;
mod support;

/// A file that is not named above is never compiled, and its tests never run.
#[test]
fn no_file_is_forgotten() {
    let list = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name == "main" || name == "snapshots" {
            continue;
        }
        assert!(list.lines().any(|line| line == format!("mod {name};")), "tests/it/main.rs does not name {name}");
    }
}

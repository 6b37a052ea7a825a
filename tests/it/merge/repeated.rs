//! Several entries of one provider in one lock file, as bots and merges line by line leave them.

use super::{FILE, commit, lock, workspace};
use crate::support::workspace::Workspace;

/// A lock file with these entries of `registry.example.com/acme/dns`, and one of another provider.
fn several(entries: &[(&str, &[&str])]) -> String {
    let ftp = ("ftp", "1.0.0", "~> 1.0", &["zh:f"][..]);
    let of = |(version, hashes): &(&str, &[&str])| lock(&[("dns", *version, ">= 1.0.0", *hashes)]);
    let header = lock(&[]);
    let blocks = entries.iter().map(|entry| of(entry)[header.len()..].to_owned());
    lock(&[ftp]) + &blocks.collect::<String>()
}

/// A working tree whose configuration allows these versions.
fn requiring(constraint: &str, text: &str) -> Workspace {
    let main = format!(
        "terraform {{\n  required_providers {{\n    dns = {{\n      source  = \"registry.example.com/acme/dns\"\n      version = \"{constraint}\"\n    }}\n    \
         ftp = {{\n      source = \"registry.example.com/acme/ftp\"\n    }}\n  }}\n}}\n"
    );
    let workspace = workspace(&[]);
    workspace.write("main.tf", &main);
    workspace.write(FILE, text);
    commit(&workspace, "several");
    workspace
}

/// The entries that are left, with all that git may say of the file.
fn repaired(workspace: &Workspace, named: bool) -> String {
    let file: &[&str] = if named { &[FILE] } else { &[] };
    workspace.tflock(None, [&["merge", "--resolve"], file].concat()).ended_with(0);
    workspace.tflock(None, ["fmt", "--check"]).ended_with(0);
    workspace.lock_file()
}

#[test]
fn the_entry_that_the_configuration_decides_is_kept() {
    let many: Vec<String> = (1..=180).map(|minor| format!("1.{minor}.0")).collect();
    let hashes: Vec<String> = many.iter().map(|version| format!("zh:{version}")).collect();
    let hashes: Vec<[&str; 1]> = hashes.iter().map(|hash| [hash.as_str()]).collect();
    let entries: Vec<(&str, &[&str])> =
        many.iter().map(String::as_str).zip(hashes.iter().map(|hash| &hash[..])).collect();
    for named in [true, false] {
        let workspace = requiring("< 1.100.0", &several(&entries));
        let left = lock(&[("dns", "1.99.0", ">= 1.0.0", &["zh:1.99.0"]), ("ftp", "1.0.0", "~> 1.0", &["zh:f"])]);
        assert_eq!(repaired(&workspace, named), left);
    }
    // Of one version all hashes are kept, whatever the configuration says.
    let halves: [(&str, &[&str]); 3] =
        [("1.0.0", &["h1:a", "zh:a"]), ("1.0.0", &["h1:b", "zh:a"]), ("1.0.0", &["h1:a", "zh:a"])];
    let whole = lock(&[("dns", "1.0.0", ">= 1.0.0", &["h1:a", "h1:b", "zh:a"]), ("ftp", "1.0.0", "~> 1.0", &["zh:f"])]);
    assert_eq!(repaired(&requiring("~> 2.0", &several(&halves)), true), whole);
}

#[test]
fn what_nothing_decides_stays() {
    type Blocks<'a> = &'a [(&'a str, &'a [&'a str])];
    let rows: [(&str, Blocks<'_>, &str); 4] = [
        (
            "~> 2.0",
            &[("1.0.0", &["zh:a"]), ("1.1.0", &["zh:b"])],
            "does not decide between the entries of 1.1.0, 1.0.0",
        ),
        // Two releases by one name.
        ("~> 1.0", &[("1.0.0", &["zh:a"]), ("1.0.0", &["zh:b"])], "as of two releases"),
        ("~> 1.0", &[("1.0.0", &["zh:a"]), ("v1", &["zh:b"])], "is not a version"),
        ("~> 1.0", &[("1.0.0", &["zh:a"]), ("1.0.${0}", &["zh:b"])], "quoted string"),
    ];
    for (constraint, entries, message) in rows {
        let workspace = requiring(constraint, &several(entries));
        let before = workspace.lock_file();
        let run = workspace.tflock(None, ["merge", "--resolve", FILE]);
        assert!(run.code.is_some_and(|code| code != 0) && run.stderr.contains(message), "{message}: {run}");
        assert_eq!(workspace.lock_file(), before, "{run}");
    }
}

/// What the tools refuse is never called a change of the text alone.
#[test]
fn a_change_of_such_a_file_is_not_called_formatting() {
    let old: [(&str, &[&str]); 3] = [("1.0.0", &["zh:a"]), ("1.1.0", &["zh:b"]), ("1.2.0", &["zh:c"])];
    let new: [(&str, &[&str]); 4] =
        [("1.0.0", &["zh:a"]), ("1.3.0", &["zh:d", "zh:e"]), ("1.2.0", &["zh:c"]), ("1.2.0", &["zh:c"])];
    let one: [(&str, &[&str]); 1] = [("1.2.0", &["zh:c"])];
    for (old, new, message) in [
        (&old[..], &new[..], "3 entries of 1.2.0, 1.1.0, 1.0.0 before, 4 entries of 1.3.0, 1.2.0, 1.0.0 now"),
        (&old, &one, "3 entries of 1.2.0, 1.1.0, 1.0.0 before, 1 entry of 1.2.0 now"),
        (&one, &new, "1 entry of 1.2.0 before, 4 entries of 1.3.0, 1.2.0, 1.0.0 now"),
    ] {
        let workspace = requiring("~> 1.0", &several(old));
        workspace.write(FILE, &several(new));
        for format in ["human", "markdown", "github", "commit", "json"] {
            let run = workspace.tflock(None, ["diff", "-v", "--format", format]);
            let text = format!("{}{}", run.stdout, run.stderr);
            for wrong in ["formatting only", "are not touched", "only the text", "\"formatting\": true"] {
                assert!(!text.contains(wrong), "{wrong}: {run}");
            }
            assert!(format == "commit" || text.contains(message), "{message}: {run}");
            assert!(text.matches("has 4 entries").count() <= 1, "{run}");
        }
    }
}

//! What the README says is what the program does: its tables, and what it shows of `tflock diff`.

use crate::support::generated::shows;
use crate::support::workspace::{TESTDATA, Workspace};

const LOCK: &str = ".terraform.lock.hcl";
const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// The page with what `tflock diff` shows.
const PAIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reading-a-change.md");

/// The pairs of `testdata/diffs` that this page shows; a picture has the one that the README shows.
const SHOWN: [&str; 1] = ["h1-exchanged"];

/// What we say of one pair.
fn section(case: &str) -> String {
    let text = |side: &str| std::fs::read_to_string(format!("{TESTDATA}/diffs/{case}/{side}.hcl")).unwrap();
    let workspace = Workspace::with_files(&[(LOCK, &text("old"))]);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "old"]);
    workspace.write(LOCK, &text("new"));
    format!("```console\n$ tflock diff\n{}```\n", workspace.tflock(None, ["diff"]).ended_with(0).stdout)
}

#[test]
fn pairs_are_shown_as_they_are_printed() {
    for case in SHOWN {
        shows(PAIRS, case, &section(case));
    }
    shows(README, "hashes-replaced", &section("hashes-replaced"));
}

/// What newcomers may run first, from the top of a clone.
#[test]
fn the_example_is_completed() {
    let page = std::fs::read_to_string(README).unwrap();
    let (_, rest) = page.split_once(" -- -C testdata/example lock ").unwrap();
    let (arguments, _) = rest.split_once('\n').unwrap();
    let (workspace, example) = (Workspace::with_files(&[("testdata/README.md", "")]), Workspace::from("example"));
    std::fs::rename(example.path(""), workspace.path("testdata/example")).unwrap();
    workspace.git(["init", "--quiet"]);
    let args = ["-C", "testdata/example", "lock"].into_iter().chain(arguments.split(' '));
    workspace.tflock(None, args).ended_with(0);
    assert_eq!(
        workspace.read("testdata/example/.terraform.lock.hcl"),
        workspace.read("testdata/example/expected.lock.hcl")
    );
}

#[test]
fn the_readme_is_short_and_its_links_lead_somewhere() {
    let readme = std::fs::read_to_string(README).unwrap();
    assert!(readme.lines().count() <= 150, "{}", readme.lines().count());
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let outside = link.contains("://") || link.starts_with('#');
        assert!(outside || folder.join(link).exists(), "{link}");
    }
}

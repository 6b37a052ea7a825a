//! What the README shows of `tflock diff` is what the program prints.

use std::fmt::Write;

use crate::support::workspace::{TESTDATA, Workspace};

const LOCK: &str = ".terraform.lock.hcl";
const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// The pairs of `testdata/diffs` that are shown, in this order.
const SHOWN: [&str; 3] = ["hashes-replaced", "h1-exchanged", "moved-host"];

/// Hashes are long, and which ones they are is not the point.
fn shortened(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines().filter(|line| !line.starts_with("index ")) {
        let line = match line.split_once("h1:").or(line.split_once("zh:")) {
            Some((before, hash)) if hash.len() > 40 => {
                format!("{before}{}{}…\",", &line[before.len()..before.len() + 3], &hash[..8])
            }
            _ => line.to_owned(),
        };
        writeln!(shown, "{line}").unwrap();
    }
    shown
}

/// One pair: what we say of it, and folded away what git says.
fn section(case: &str) -> String {
    let text = |side: &str| std::fs::read_to_string(format!("{TESTDATA}/diffs/{case}/{side}.hcl")).unwrap();
    let workspace = Workspace::with_files(&[(LOCK, &text("old"))]);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "old"]);
    workspace.write(LOCK, &text("new"));
    let ours = workspace.tflock(None, ["diff"]).ended_with(0).stdout;
    let theirs = shortened(&workspace.git(["diff"]).stdout);
    let count = theirs.lines().filter(|line| line.starts_with(['+', '-'])).count() - 2;
    format!(
        "```console\n$ tflock diff\n{ours}```\n\n<details>\n<summary>The {count} changed lines that <code>git diff</code> \
         shows (hashes shortened)</summary>\n\n```diff\n{theirs}```\n\n</details>\n"
    )
}

#[test]
fn pairs_in_the_readme_are_what_is_printed() {
    let mut readme = std::fs::read_to_string(README).unwrap();
    for case in SHOWN {
        let (before, after) = (format!("<!-- begin {case} -->\n"), format!("<!-- end {case} -->"));
        let start = readme.find(&before).unwrap_or_else(|| panic!("no place for {case}")) + before.len();
        let end = start + readme[start..].find(&after).unwrap_or_else(|| panic!("no end of {case}"));
        let wanted = section(case);
        if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
            readme.replace_range(start..end, &wanted);
            std::fs::write(README, &readme).unwrap();
            continue;
        }
        assert_eq!(readme[start..end], wanted, "UPDATE=1 writes the README anew");
    }
}

//! Each public rule is raised by the program, and by a test.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use tflock_core::finding::Rule;

use crate::support::generated::compare;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, LOCK_BOTH, widget};

/// What a lock file must not hold, by the rule that says so.
const BROKEN: [(&str, &str, &str); 5] = [
    ("lock-schema", "registry.terraform.io/acme/widget", "version = \"1.0.0\"\n  colour = \"red\""),
    ("lock-address", "acme/widget", "version = \"1.0.0\""),
    ("lock-version", "registry.terraform.io/acme/widget", "version = \"v1.0\""),
    ("lock-constraints", "registry.terraform.io/acme/widget", "version = \"1.0.0\"\n  constraints = \"~>1.0\""),
    ("lock-hashes", "registry.terraform.io/acme/widget", "version = \"1.0.0\"\n  hashes = [\"nonsense\"]"),
];

#[test]
fn what_a_lock_file_must_not_hold_has_a_rule() {
    for (rule, address, body) in BROKEN {
        let workspace = Workspace::with_files(&[("main.tf", "terraform {}\n")]);
        workspace.write(".terraform.lock.hcl", &format!("provider \"{address}\" {{\n  {body}\n}}\n"));
        let run = workspace.tflock(None, ["verify", "--offline", "--format", "json"]);
        assert!(run.stdout.contains(&format!("\"{rule}\"")), "{rule}: {run}");
    }
}

#[test]
fn versions_that_differ_in_build_metadata_only_are_ambiguous() {
    let registry = widget();
    let registry = registry.release("acme/widget", "1.5.0+a", &["linux_amd64"]);
    let registry = registry.release("acme/widget", "1.5.0+b", &["linux_amd64"]);
    let run = Workspace::from("modules/one-root").tflock(&registry, LOCK);
    assert!(run.stdout.contains("[ambiguous-version]"), "{run}");
}

#[test]
fn a_platform_that_was_not_looked_at_is_unknown() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--no-cache"])).ended_with(0);
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--no-cache", "--format=json"])).ended_with(0);
    assert!(run.stdout.contains("\"unknown-platform-hash\""), "{run}");
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The texts of all files below a folder whose names end so: those of the product, and those of its tests.
fn texts(folder: &Path, endings: &[&str]) -> (String, String) {
    let (mut product, mut tests) = (String::new(), String::new());
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let name = path.strip_prefix(top()).unwrap().to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                folders.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) && !name.ends_with("finding/rule.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let of_tests = ["tests", "snapshots", "realworld"].iter().any(|word| name.contains(word));
                let (code, inner) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
                write!(tests, "{}", if of_tests { &text } else { inner }).unwrap();
                write!(product, "{}", if of_tests { "" } else { code }).unwrap();
            }
        }
    }
    (product, tests)
}

#[test]
#[ignore = "long"]
fn each_rule_is_raised_by_the_program_and_by_a_test() {
    let (product, of_product) = texts(&top().join("src"), &[".rs", ".snap"]);
    let (_, of_commands) = texts(&top().join("tests"), &[".rs", ".snap"]);
    for rule in Rule::ALL {
        let (variant, id) = (format!("Rule::{rule:?}"), rule.id());
        assert!(product.contains(&variant), "nothing raises {id}");
        let raised = [&of_product, &of_commands].iter().any(|text| text.contains(&variant) || text.contains(id));
        assert!(raised, "no test raises {id}");
    }
}

/// The head of each section of `docs/rules.md` is what the program says. What follows a head is written by hand.
#[test]
fn the_page_of_rules_agrees_with_the_program() {
    let path = top().join("docs/rules.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let all = Workspace::with_files(&[]).tflock(None, ["explain", "--format", "json"]).ended_with(0).json();
    let rules = all["rules"].as_array().unwrap();
    let mut wanted = format!("{}\n", page.split("\n\n## ").next().unwrap());
    for rule in rules {
        let [id, level, class, summary, help] =
            ["id", "level", "class", "summary", "help"].map(|name| rule[name].as_str().unwrap());
        let start = format!("{id}\n\n");
        let section = page.split("\n## ").find_map(|section| section.strip_prefix(&start));
        let body = section.and_then(|section| section.splitn(4, "\n\n").nth(3)).unwrap_or_default().trim_end();
        let level = format!("{}{}", level[..1].to_uppercase(), &level[1..]);
        write!(wanted, "\n## {id}\n\n{summary}\n\n{level}, {class}.\n\n**Next:** {help}\n").unwrap();
        if !body.is_empty() {
            writeln!(wanted, "\n{body}").unwrap();
        }
        assert!(class == "other" || body.contains("**Harmless:**"), "docs/rules.md: {id} lacks harmless causes");
    }
    compare(&path, &wanted);
}

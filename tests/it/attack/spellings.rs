//! Names that are files of their own here, and another name in a checkout on macOS or Windows. The whole table of spellings
//! is in `src/path/folding_tests.rs`; these go through the program, with a base and without.

use crate::support::locked::rules;
use crate::support::workspace::Workspace;

/// Files that git tracks, and the rule that denies them; `None` if they are allowed.
const ROWS: [(&[&str], Option<&str>); 20] = [
    (&["app/Terraform.d/plugins/x"], Some("tracked-packages")),
    (&["app/.TERRAFORM/providers/x"], Some("tracked-packages")),
    (&["App/terraform.d/plugins/x"], Some("tracked-packages")),
    (&["app/terraform.d./plugins /x"], Some("tracked-packages")),
    (&["app/TERRAF~1.D/plugins/x"], Some("tracked-packages")),
    (&["app\\terraform.d\\plugins\\x"], Some("tracked-packages")),
    (&["app/terra\u{200c}form.d/plugins/x"], Some("tracked-packages")),
    (&["app/.Terraform.lock.hcl"], Some("ambiguous-name")),
    (&["app/TERRAF~1.HCL"], Some("ambiguous-name")),
    (&[".tflock.hcl::$DATA"], Some("ambiguous-name")),
    (&[".t\u{fb02}ock.trust.hcl"], Some("ambiguous-name")),
    (&["other/.GitAttributes"], Some("ambiguous-name")),
    (&[".g\u{200d}it/hooks/post-checkout"], Some("ambiguous-name")),
    (&["app/Main.tf"], Some("ambiguous-name")),
    (&["APP/more.tf"], Some("ambiguous-name")),
    (&["App"], Some("ambiguous-name")),
    (&["app/more.tf."], Some("ambiguous-name")),
    (&["caf\u{e9}/a.tf", "cafe\u{301}/b.tf"], Some("ambiguous-name")),
    (&["Makefile", "makefile", "Docs/a.md", "docs/a.md", "app/README.md", "app/readme.md"], None),
    (&["Modules/a/main.tf", "modules/b/main.tf", "app/terraform.d/README.md", "a~1.txt", "caf\u{e9}/a.tf"], None),
];

#[test]
#[ignore = "long"]
fn names_that_fold_to_one_that_is_read_are_denied() {
    let workspace = Workspace::with_files(&[
        ("app/main.tf", ""),
        (
            "app/.terraform.lock.hcl",
            "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n",
        ),
    ]);
    workspace.git(["init", "--quiet"]);
    // What git itself refuses here by the rules of another system may come from a git that does not.
    workspace.git(["config", "core.protectNTFS", "false"]);
    workspace.git(["add", "."]);
    workspace.git(["commit", "--quiet", "--message=one"]);
    for (files, rule) in ROWS {
        for file in files {
            workspace.write(file, "");
        }
        workspace.git(["add", "--force", "."]);
        for args in [
            &["verify", "-r", "--offline", "--format=json"][..],
            &["verify", "-r", "--offline", "--format=json", "--base=HEAD"],
        ] {
            let run = workspace.tflock(None, args).ended_with(if rule.is_some() { 3 } else { 0 });
            let denied: Vec<String> = run.json()["roots"].as_array().unwrap().iter().flat_map(denied).collect();
            assert!(denied.iter().map(String::as_str).eq(rule), "{files:?} {args:?}: {run}");
        }
        workspace.git(["rm", "-r", "--quiet", "--force", "--cached", "."]);
        workspace.git(["reset", "--quiet", "--hard"]);
        workspace.git(["clean", "-fdxq"]);
    }
}

#[test]
fn one_root_module_is_checked_too() {
    let workspace = Workspace::with_files(&[("main.tf", ""), ("Main.tf", "")]);
    workspace.git(["init", "--quiet"]);
    let verify = ["verify", "--offline", "--format=json"];
    // What git does not track is in no checkout, and there is nothing to check.
    let run = workspace.tflock(None, verify).ended_with(2);
    assert!(rules(&run, "deny").is_empty(), "{run}");
    workspace.git(["add", "."]);
    let run = workspace.tflock(None, verify).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["ambiguous-name".to_owned()].into(), "{run}");
    // By way of a link, too: `init` installs from where it leads.
    let workspace = Workspace::with_files(&[("app/main.tf", ""), ("vendored/plugins/x", "")]);
    workspace.git(["init", "--quiet"]);
    std::os::unix::fs::symlink("../vendored", workspace.path("app/terraform.d")).unwrap();
    workspace.git(["add", "."]);
    let run = workspace.tflock(None, ["-C", "app", "verify", "--offline", "--format=json"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["tracked-packages".to_owned()].into(), "{run}");
}

fn denied(root: &serde_json::Value) -> Vec<String> {
    let findings = root["findings"].as_array().cloned().unwrap_or_default();
    let denied = findings.iter().filter(|finding| finding["level"] == "deny");
    denied.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

//! What is not read is not passed: requirements that tflock does not evaluate, and lock files without configuration.

use crate::support::locked::{LOCK, MAIN, honest, locked, rules, verify};
use crate::support::proposal::{GATE, commit, repository};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const UNREAD: &str = "requirements-unread";

/// A unit whose module only the environment knows, in both syntaxes.
const UNKNOWN: &str = "terraform {\n  source = get_env(\"X\")\n}\n";
const UNKNOWN_JSON: &str = "{\"terraform\": {\"source\": \"${get_env(\\\"X\\\")}\"}}\n";

fn lock(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let platforms = ["lock", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
    workspace.tflock(registry, platforms.iter().chain(more))
}

/// For each reason two trees that differ in one token: one raises it, the other does not.
#[test]
fn each_reason_is_raised_by_one_token() {
    let registry = honest();
    for (name, other, text) in
        [("terragrunt.hcl", "terragrunt.hcl.bak", UNKNOWN), ("terragrunt.hcl.json", "terragrunt.json", UNKNOWN_JSON)]
    {
        let workspace = locked(&registry);
        workspace.write(other, text);
        assert!(!rules(&verify(&workspace, &registry, &[]), "warn").contains(UNREAD));
        workspace.git(["init", "--quiet"]);
        std::fs::rename(workspace.path(other), workspace.path(name)).unwrap();
        let run = verify(&workspace, &registry, &[]).ended_with(0);
        assert!(rules(&run, "warn").contains(UNREAD) && run.stdout.contains("if it is always the same"), "{run}");
        assert_eq!(run.json()["kind"], "unit");
    }
    let workspace = locked(&registry);
    std::fs::rename(workspace.path("main.tf"), workspace.path("main.tf~")).unwrap();
    let run = verify(&workspace, &registry, &[]).ended_with(0);
    assert!(rules(&run, "warn").contains(UNREAD) && run.stdout.contains("there is no configuration in this"), "{run}");
    // Under OpenTofu the files of a stack are none.
    std::fs::rename(workspace.path("main.tf~"), workspace.path("main.tfcomponent.hcl")).unwrap();
    let run = verify(&workspace, &registry, &["--tool", "tofu"]);
    assert!(rules(&run, "warn").contains(UNREAD), "{run}");
}

#[test]
fn nothing_is_passed_pruned_or_edited_next_to_what_is_not_read() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write("terragrunt.hcl", UNKNOWN);
    // The configuration next to it is a part of what Terragrunt assembles.
    workspace.write("main.tf", &MAIN.replace("acme/gadget", "acme/widget").replace("gadget =", "other ="));
    let run = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(run.stdout.contains("passed, requirements not read"), "{run}");
    let before = workspace.lock_file();
    let run = lock(&workspace, &registry, &["--prune"]).ended_with(0);
    assert!(run.stdout.contains("hashes complete; requirements not read"), "{run}");
    assert_eq!(workspace.lock_file(), before);
    lock(&workspace, &registry, &["--check"]).ended_with(0);
    for args in
        [&["add", "acme/extra"][..], &["remove", "acme/gadget"], &["migrate", "--to", "tofu"], &["install"], &["get"]]
    {
        let run = workspace.tflock(&registry, args).ended_with(2);
        assert!(run.stderr.contains("a Terragrunt unit"), "{run}");
        assert_eq!(workspace.lock_file(), before, "{args:?}");
    }
    std::fs::remove_file(workspace.path(LOCK)).unwrap();
    let run = lock(&workspace, &registry, &[]).ended_with(2);
    assert!(
        run.stderr.contains("requirements are not read, and there is no lock file") && !workspace.has(LOCK),
        "{run}"
    );
    for command in ["outdated", "list"] {
        let run = workspace.tflock(&registry, [command]).ended_with(2);
        assert!(run.stderr.contains("requirements are not read") && !run.stderr.contains("tflock lock"), "{run}");
    }
    // With a part that is read, and without one.
    for main in [MAIN, ""] {
        workspace.write("main.tf", &main.replace("{{registry}}", &registry.host()));
        let run = workspace.tflock(&registry, ["verify"]);
        let promises = ["requires no provider", "`tflock lock`"].iter().any(|words| run.stdout.contains(words));
        assert!(run.stdout.contains("[requirements-unread]") && !promises, "{run}");
    }
}

#[test]
fn a_run_over_all_root_modules_counts_those_that_were_read() {
    let registry = honest();
    let workspace = locked(&registry);
    for folder in ["app", "live"] {
        workspace.write(&format!("{folder}/{LOCK}"), &workspace.lock_file());
        workspace.write(&format!("{folder}/main.tf"), MAIN);
    }
    workspace.write("live/terragrunt.hcl", UNKNOWN);
    workspace.write("modules/net/main.tf", &format!("{MAIN}\nterraform {{\n  backend \"s3\" {{}}\n}}\n"));
    let run = workspace.tflock(&registry, ["verify", "-r", "--report", "html=page", "--report", "markdown=comment"]);
    let run = run.ended_with(0);
    for report in ["page", "comment"] {
        let text = std::fs::read_to_string(workspace.path(report)).unwrap();
        assert!(text.contains("requirements checked in 3 of 4 root modules"), "{text}");
    }
    assert!(run.stdout.contains("passed, requirements not read in 1 of 4 root modules"), "{run}");
    assert!(run.stdout.ends_with("requirements checked in 3 of 4 root modules\n"), "{run}");
    // The unit may install any directory as its module.
    assert!(run.stdout.contains("perhaps it needs none: live may install it"), "{run}");
    let run = workspace.tflock(&registry, ["status"]).ended_with(0);
    assert!(run.stdout.ends_with("requirements  checked in 3 of 4 root modules, not in live\n"), "{run}");
    assert!(run.stdout.contains("4, 1 unit among them"), "{run}");
    let run = lock(&workspace, &registry, &["-r", "--create"]).ended_with(0);
    assert!(!workspace.has(&format!("modules/net/{LOCK}")), "{run}");
    assert!(
        run.stderr.contains("no lock file is created in 1 directory with configuration, such as modules/net"),
        "{run}"
    );
    let run = workspace.tflock(&registry, ["install", "-r"]);
    assert!(
        run.stderr.contains("skipped 1 root module in which `tflock install` does not work, such as live"),
        "{run}"
    );
    // What it names works for units.
    assert!(run.stderr.contains("`tflock mirror -r DIR`"), "{run}");
    let run = workspace.tflock(&registry, ["mirror", "-r", "mirror"]).ended_with(0);
    assert!(run.touched().iter().any(|file| file.ends_with("_linux_amd64.zip")), "{run}");
}

fn gated(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]).chain(more))
}

/// The rules of a run that are denied, in all root modules.
pub fn denied(run: &Run) -> Vec<String> {
    let roots = run.json()["roots"].as_array().cloned().unwrap_or_default();
    let findings = roots.iter().flat_map(|root| root["findings"].as_array().cloned().unwrap_or_default());
    let denied = findings.filter(|finding| finding["level"] == "deny");
    denied.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_change_of_what_is_not_read_is_denied() {
    let registry = honest();
    let workspace = repository(&registry);
    let base = || drop(workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]));
    // The kind changes.
    workspace.write("app/terragrunt.hcl", UNKNOWN);
    commit(&workspace, "unit");
    let run = gated(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(denied(&run), ["root-kind-changed"], "{run}");
    assert!(run.stdout.contains("it was a module at the base, and is a Terragrunt unit now"), "{run}");
    gated(&workspace, &registry, &["--allow-trust-change"]).ended_with(0);
    base();
    // Unread before, and nothing changed.
    workspace.write("other/README.md", "x\n");
    commit(&workspace, "note");
    assert_eq!(denied(&gated(&workspace, &registry, &[]).ended_with(0)), [""; 0]);
    // A comment decides nothing.
    workspace.write("app/terragrunt.hcl", &format!("# of the team\n{UNKNOWN}"));
    commit(&workspace, "comment");
    assert_eq!(denied(&gated(&workspace, &registry, &[]).ended_with(0)), [""; 0]);
    // A change of the file counts as one of the root module.
    workspace.write("app/terragrunt.hcl", &format!("{UNKNOWN}inputs = {{}}\n"));
    commit(&workspace, "inputs");
    assert_eq!(denied(&gated(&workspace, &registry, &[]).ended_with(3)), [UNREAD]);
    base();
    workspace.write("app/terragrunt.hcl.json", UNKNOWN_JSON);
    commit(&workspace, "json");
    let run = gated(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(denied(&run), ["root-kind-changed"], "{run}");
    assert!(
        run.stdout.contains("terragrunt.hcl.json is new, and Terragrunt reads it in place of terragrunt.hcl"),
        "{run}"
    );
    base();
    workspace.git(["rm", "--quiet", "app/terragrunt.hcl", "app/terragrunt.hcl.json", "app/main.tf"]);
    commit(&workspace, "bare");
    let run = gated(&workspace, &registry, &[]).ended_with(3);
    assert!(run.stdout.contains("it was a Terragrunt unit at the base, and has no configuration now"), "{run}");
    base();
    // A level of the base's settings decides; a new root module is denied like a changed one.
    workspace.write(&format!("new/{LOCK}"), &workspace.read(&format!("app/{LOCK}")));
    commit(&workspace, "new");
    assert_eq!(denied(&gated(&workspace, &registry, &[]).ended_with(3)), [UNREAD]);
}

/// What cannot be opened was not read either, and what is unchanged was not judged.
#[test]
fn only_what_was_read_is_counted_as_checked() {
    let registry = honest();
    let workspace = locked(&registry);
    for (folder, text) in [("broken", "terraform {"), ("live", MAIN)] {
        workspace.write(&format!("{folder}/{LOCK}"), &workspace.lock_file());
        workspace.write(&format!("{folder}/main.tf"), text);
    }
    workspace.write("live/terragrunt.hcl", UNKNOWN);
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(2);
    assert!(run.stdout.ends_with("requirements checked in 1 of 3 root modules\n"), "{run}");
    let run = workspace.tflock(&registry, ["status"]).ended_with(0);
    assert!(run.stdout.contains("checked in 1 of 3 root modules, not in broken, live\n"), "{run}");
    let run = lock(&workspace, &registry, &["-r", "--check"]).ended_with(2);
    assert!(run.stdout.contains("1 up to date, 1 complete, requirements not read, 1 failed"), "{run}");
}

/// What is assumed is said once, by `verify` and by `lock`.
#[test]
fn unknown_values_that_decide_nothing_are_one_note() {
    let registry = honest();
    let base = locked(&registry);
    let root = "terraform {\n  source = \"${get_repo_root()}/modules/net\"\n}\ngenerate \"p\" {\n  path = \"p.tf\"\n  \
                if_exists = \"overwrite\"\n  contents = \"provider \\\"widget\\\" {\\n  a = \\\"${get_env(\"R\")}\\\"\\n}\"\n}\n";
    let workspace = Workspace::with_files(&[("modules/net/main.tf", MAIN), ("root.hcl", root)]);
    for name in ["a", "b"] {
        workspace.write(&format!("live/{name}/terragrunt.hcl"), "include {\n  path = \"../../root.hcl\"\n}\n");
        workspace.write(&format!("live/{name}/{LOCK}"), &base.lock_file());
    }
    workspace.git(["init", "--quiet"]);
    let parts = ["root.hcl:7: ", "get_env(\"R\")", "`terragrunt { env = { R =", "(in 2 root modules)"];
    let is_note = |line: &&str| parts.iter().all(|part| line.contains(part));
    for run in [workspace.tflock(&registry, ["verify", "-r"]), lock(&workspace, &registry, &["-r", "--check"])] {
        assert_eq!(run.stderr.lines().filter(is_note).count(), 1, "{run}");
        assert_eq!(run.code, Some(0), "{run}");
    }
    // It decides no requirement, so a new lock file has all that is required.
    std::fs::remove_file(workspace.path(&format!("live/b/{LOCK}"))).unwrap();
    let run = lock(&workspace, &registry, &["-r", "--create", "--tool", "terraform"]).ended_with(0);
    assert!(workspace.has(&format!("live/b/{LOCK}")), "{run}");
}

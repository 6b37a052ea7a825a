//! Root modules with sources of their own in one run.

use super::packed;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const REQUIRED: &str = "terraform {\n  required_providers {\n    widget = {\n      source  = \"{{registry}}/acme/widget\"\n      \
                        version = \"1.3.0\"\n    }\n  }\n}\n";

/// `a`, whose settings name a mirror that has 1.3.0, and `b`, which uses the registry with 1.3.0 and 1.4.0.
fn world() -> (Registry, Workspace) {
    let registry = widget().release("acme/widget", "1.3.0", &["linux_amd64", "darwin_arm64"]);
    let files = [("a/main.tf", REQUIRED), ("a/.tflock.hcl", "source = \"fs:../mirror\"\n"), ("b/main.tf", REQUIRED)];
    let workspace = Workspace::with_files(&files);
    packed(&workspace, &registry, ("mirror", "1.3.0"), &["linux_amd64", "darwin_arm64"]);
    workspace.git(["init", "--quiet"]);
    (registry, workspace)
}

const BOTH: [&str; 4] = ["lock", "-r", "--create", "--platform=linux_amd64"];

#[test]
#[ignore = "long"]
fn each_root_module_uses_its_own_source() {
    let (registry, workspace) = world();
    workspace.tflock(&registry, BOTH).ended_with(0);
    let run = workspace.tflock(&registry, ["outdated", "-r", "--format=json"]).ended_with(0);
    let newest = |at: usize| run.json()["roots"][at]["outdated"][0]["newest"].clone();
    assert_eq!((newest(0), newest(1)), ("1.3.0".into(), "1.4.0".into()), "{run}");

    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "locked"]);
    workspace.tflock(&registry, ["lock", "-r", "--platform=linux_amd64", "--platform=darwin_arm64"]).ended_with(0);
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["diff", "-r", "--online", "--no-cache", "--format=json"]).ended_with(0);
    let signer = |at: usize| run.json()["roots"][at]["changes"][0]["signer"].clone();
    assert!(signer(0).is_null() && signer(1).is_string() && !registry.requests().is_empty(), "{run}");

    std::fs::remove_file(workspace.path(".tflock.trust.hcl")).unwrap();
    workspace.tflock(&registry, ["trust", "init", "-r"]).ended_with(0);
    assert!(workspace.read(".tflock.trust.hcl").contains("acme/widget"));

    workspace.tflock(&registry, ["upgrade", "-r", "--bump", "--platform=linux_amd64"]).ended_with(0);
    let locked = |root: &str| workspace.read(&format!("{root}/.terraform.lock.hcl"));
    assert!(locked("a").contains("\"1.3.0\"") && locked("b").contains("\"1.4.0\""), "{}{}", locked("a"), locked("b"));
    assert!(workspace.read("a/main.tf").contains("\"1.3.0\"") && workspace.read("b/main.tf").contains("\"1.4.0\""));
}

#[test]
fn one_failed_source_does_not_stop_the_others() {
    let (registry, workspace) = world();
    workspace.tflock(&registry, BOTH).ended_with(0);
    workspace.write("a/.tflock.hcl", "source = \"net:http://not.https/\"\n");
    let commands: [&[&str]; 4] =
        [&["outdated", "-r"], &["verify", "-r"], &["trust", "init", "-r"], &["lock", "-r", "--platform=darwin_arm64"]];
    for command in commands {
        registry.forget_requests();
        let run = workspace.tflock(&registry, command.iter().chain(&["--no-cache"])).ended_with(2);
        assert!(run.stderr.contains("not.https") && !registry.requests().is_empty(), "{run}");
    }
    assert!(workspace.read("b/.terraform.lock.hcl").contains("h1:"));
}

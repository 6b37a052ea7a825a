//! What is newer than the modules that are locked, and what holds it back.

use super::git::{Repository, needs_widget, workspace};
use super::{CALL, NEEDS_WIDGET, world};
use crate::support::registry::Endpoint;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];

/// The one line below the headings.
fn row(stdout: &str) -> Vec<&str> {
    let mut lines = stdout.lines().skip(1);
    let row = lines.next().unwrap_or_default().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(lines.next(), None, "{stdout}");
    row
}

#[test]
fn versions_of_a_registry() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let up_to_date = workspace.tflock(&registry, ["outdated", "--modules", "--exit-code"]).ended_with(0);
    assert_eq!(up_to_date.stdout, "all modules are up to date\n");
    let files = [("main.tf", NEEDS_WIDGET)];
    let registry = registry.module("acme/net/lab", "2.0.0", &files).module("acme/net/lab", "3.0.0-rc1", &files);
    registry.forget_requests();
    let package = format!("{}/acme/net/lab", registry.other_host());
    let held = workspace.tflock(&registry, ["outdated", "--modules", "--exit-code"]).ended_with(0);
    let place = "module.net ~> 1.0 (main.tf:1:1)";
    assert_eq!(row(&held.stdout), [&*package, "1.1.0", "1.1.0", "2.0.0", "net", place], "{held}");
    let registry = registry.module("acme/net/lab", "1.2.0", &files);
    let newer = workspace.tflock(&registry, ["outdated", "--modules", "--exit-code"]).ended_with(1);
    assert_eq!(row(&newer.stdout), [&*package, "1.1.0", "1.2.0", "2.0.0", "net", place], "{newer}");
    // Only lists of versions were requested.
    assert_eq!(registry.count(Endpoint::ModuleDownload) + registry.count(Endpoint::ModuleArchive), 0);
    let json = workspace.tflock(&registry, ["outdated", "--modules", "--format", "json"]).ended_with(0).json();
    let shown = &json["modules"][0];
    assert_eq!((shown["allowed"].as_str(), json["complete"].as_bool()), (Some("1.2.0"), Some(true)), "{json}");
    assert_eq!(shown["held_back_by"][0]["constraint"].as_str(), Some("~> 1.0"), "{json}");
    let markdown = workspace.tflock(&registry, ["outdated", "--modules", "--format", "markdown"]).ended_with(0);
    assert!(markdown.stdout.contains("| 1.1.0 | 1.2.0 | 2.0.0 |"), "{markdown}");
    let offline = workspace.tflock(&registry, ["outdated", "--modules", "--offline"]).ended_with(4);
    assert!(offline.stderr.contains("--offline forbids"), "{offline}");
    workspace.tflock(&registry, ["upgrade", "--modules"]).ended_with(0);
    workspace.tflock(&registry, ["outdated", "--modules", "--exit-code"]).ended_with(0);
    let both = workspace.tflock(&registry, ["outdated", "--modules", "acme/widget"]).ended_with(2);
    assert!(both.stderr.contains("cannot be used with"), "{both}");
}

#[test]
fn many_root_modules_are_reported_once() {
    let registry = world();
    let files: Vec<(String, &str)> = (0..5).map(|at| (format!("r{at}/main.tf"), CALL)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let workspace = Workspace::with_files(&files);
    let lock = ["lock", "-r", "--create", "--platform", "linux_amd64", "--lock-modules"];
    workspace.tflock(&registry, lock).ended_with(0);
    let registry = registry.module("acme/net/lab", "1.2.0", &[("main.tf", NEEDS_WIDGET)]);
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["outdated", "-r", "--modules"]).ended_with(0);
    assert!(run.stdout.contains("all 5 root modules") && run.stdout.contains("5 can be upgraded"), "{run}");
    assert_eq!(run.stdout.matches("acme/net/lab").count(), 1, "{run}");
    assert_eq!(registry.count(Endpoint::ModuleVersions), 1);
    // Nor does the gate send its query more than once.
    registry.forget_requests();
    workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert_eq!(registry.count(Endpoint::ModuleDownload), 1);
}

#[test]
#[ignore = "long"]
fn tags_and_branches() {
    let (mut registry, repository) = (widget(), Repository::new());
    repository.commit("main.tf", &needs_widget(&registry));
    repository.0.git(["branch", "-m", "main"]);
    repository.0.git(["tag", "v1.0.0"]);
    registry = repository.served_by(registry);
    let [tagged, branch] = ["?ref=v1.0.0", ""].map(|source| workspace(&registry, source));
    for workspace in [&tagged, &branch] {
        workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
        let none = workspace.tflock(&registry, ["outdated", "--modules", "--exit-code"]).ended_with(0);
        assert_eq!(none.stdout, "all modules are up to date\n");
    }
    let old = repository.0.git(["rev-parse", "HEAD"]).stdout;
    let new = repository.commit("more.tf", "# more\n");
    for tag in ["v1.1.0", "v2.0.0-rc1", "other/v9.0.0"] {
        repository.0.git(["tag", tag]);
    }
    registry = repository.served_by(registry);
    // The repository has newer tags than the one of the `ref`.
    let run = tagged.tflock(&registry, ["outdated", "--modules", "--exit-code"]).ended_with(0);
    let package = format!("git::https://{}/net.git", registry.host());
    let source = format!("{package}?ref=v1.0.0");
    let held = "module.net v1.0.0 (main.tf:1:1)";
    assert_eq!(row(&run.stdout), [&*source, "v1.0.0", "v1.0.0", "v1.1.0", "net", held], "{run}");
    // A branch has new commits.
    let run = branch.tflock(&registry, ["outdated", "--modules", "--exit-code"]).ended_with(1);
    assert_eq!(row(&run.stdout), [&*package, &old[..12], &new[..12], &new[..12], "net"], "{run}");
    // A tag that moved is not called newer.
    repository.0.git(["tag", "--force", "v1.0.0"]);
    registry = repository.served_by(registry);
    let run = tagged.tflock(&registry, ["outdated", "--modules"]).ended_with(0);
    assert_eq!(row(&run.stdout)[1..4], [&old[..12], "v1.0.0", "v1.1.0"], "{run}");
}

#[test]
fn failed_queries_are_reported_with_the_rest() {
    let registry = widget().module("acme/net/lab", "1.0.0", &[("main.tf", NEEDS_WIDGET)]);
    let other = "module \"gone\" {\n  source = \"git::https://{{registry}}/gone.git\"\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", &format!("{CALL}{other}"))]);
    let workspace = workspace.env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap());
    let registry = registry.module("acme/net/lab", "2.0.0", &[("main.tf", NEEDS_WIDGET)]);
    let run = workspace.tflock(&registry, ["outdated", "--modules"]).ended_with(4);
    assert!(run.stdout.contains("2.0.0") && run.stderr.contains("gone.git"), "{run}");
}

/// Wherever a tree is read, variables can be set on which its sources depend.
#[test]
fn variables_can_be_set() {
    let registry = world();
    let text = format!("variable \"wanted\" {{}}\n{}", CALL.replace("\"~> 1.0\"", "var.wanted"));
    let workspace = Workspace::with_files(&[("main.tofu", &text), ("set.tfvars", "wanted = \"1.0.0\"\n")]);
    workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules", "-var", "wanted=1.0.0"])).ended_with(0);
    for command in [&["upgrade"][..], &["outdated"], &["outdated", "--modules"], &["verify"], &["why"], &["get"]] {
        for set in [&["-var", "wanted=1.0.0"][..], &["-var-file=set.tfvars"]] {
            let run = workspace.tflock(&registry, command.iter().chain(set)).ended_with(0);
            assert!(!run.stderr.contains("var.wanted"), "{run}");
        }
    }
    let run = workspace.tflock(&registry, ["list", "--modules", "-var", "wanted=1.0.0"]).ended_with(0);
    assert!(run.stdout.contains("1.0.0"), "{run}");
}

//! `upgrade -r --same-versions`: one version of each provider for all root modules, as far as that goes.

use crate::support::keys::Day;
use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const LINUX: [&str; 1] = ["linux_amd64"];

fn registry() -> Registry {
    let versions = ["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0"];
    versions.iter().fold(Registry::start(), |registry, version| registry.release("acme/widget", version, &LINUX))
}

/// Root modules with these constraints, locked at 1.0.0 or at the lowest of them.
fn roots(registry: &Registry, constraints: &[(&str, &str)]) -> Workspace {
    let main = |constraint: &str| {
        let version = if constraint.is_empty() { String::new() } else { format!("      version = \"{constraint}\"\n") };
        format!(
            "terraform {{\n  required_providers {{\n    widget = {{\n      source = \"{{{{registry}}}}/acme/widget\"\n\
             {version}    }}\n  }}\n}}\n"
        )
    };
    let workspace = Workspace::with_files(&[]);
    for (root, constraint) in constraints {
        let lowest = if constraint.contains("2.") { "2.0.0" } else { "1.0.0" };
        workspace.write(&format!("{root}/main.tf"), &main(lowest));
    }
    let args = ["lock", "-r", "--create", "--platform", "linux_amd64"];
    workspace.tflock(registry, args).ended_with(0);
    for (root, constraint) in constraints {
        workspace.write(&format!("{root}/main.tf"), &main(constraint));
    }
    registry.forget_requests();
    workspace
}

fn upgrade(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let args = ["upgrade", "-r", "--same-versions", "--platform", "linux_amd64", "--no-cache"];
    workspace.tflock(registry, args.iter().chain(more))
}

fn versions(workspace: &Workspace) -> Vec<String> {
    let version = |root: &str| {
        let text = workspace.read(&format!("{root}/.terraform.lock.hcl"));
        let line = text.lines().find_map(|line| line.trim().strip_prefix("version")).unwrap();
        line.trim_matches([' ', '=', '"']).to_owned()
    };
    ["a", "b", "c"].iter().map(|root| version(root)).collect()
}

#[test]
fn the_newest_that_suits_all() {
    let registry = registry();
    let workspace = roots(&registry, &[("a", ">= 1.0"), ("b", "~> 1.0"), ("c", "")]);
    let run = upgrade(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.2.0"; 3]);
    assert!(run.stdout.contains("\"~> 1.0\" (b/main.tf:3:5) of another root module does not allow it"), "{run}");
    let counts = [Endpoint::Versions, Endpoint::Download, Endpoint::Sums, Endpoint::Signature, Endpoint::Zip];
    assert_eq!(counts.map(|endpoint| registry.count(endpoint)), [1; 5]);
    upgrade(&workspace, &registry, &["--check"]).ended_with(0);
    // Without the option each has its own.
    workspace.tflock(&registry, ["upgrade", "-r", "--platform", "linux_amd64"]).ended_with(0);
    assert_eq!(versions(&workspace), ["2.1.0", "1.2.0", "2.1.0"]);
    let named = ["upgrade", "-C", "a", "-C", "c", "--same-versions", "--platform", "linux_amd64", "--within", "patch"];
    workspace.tflock(&registry, named).ended_with(0);
    let alone = workspace.tflock(&registry, ["upgrade", "-C", "a", "--same-versions"]).ended_with(2);
    assert!(alone.stderr.contains("--same-versions is about several root modules"), "{alone}");
}

#[test]
fn conflicting_root_modules_are_named() {
    let registry = registry();
    let workspace = roots(&registry, &[("a", "~> 1.0"), ("b", "~> 2.0"), ("c", "")]);
    let run = upgrade(&workspace, &registry, &["--format", "json"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.2.0", "2.1.0", "2.1.0"]);
    let json = run.json();
    let finding = |at: usize| {
        let findings = json["roots"][at]["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["rule"] == "versions-differ").unwrap().clone()
    };
    let why = "\"~> 1.0\" (a/main.tf:3:5), \"~> 2.0\" (b/main.tf:3:5)";
    let widget = format!("{}/acme/widget", registry.host());
    let shown = format!("{widget} is 1.2.0 here and 2.1.0 in other root modules: {why}");
    assert_eq!(
        (&finding(0)["message"], &finding(0)["file"], &finding(0)["line"]),
        (&shown.into(), &"a/main.tf".into(), &3.into())
    );
    assert!(finding(2)["message"].as_str().unwrap().contains("is 2.1.0 here and 1.2.0 in other"));
    let again = upgrade(&workspace, &registry, &[]).ended_with(0);
    assert!(again.stdout.contains(&format!("`tflock why -r {widget}`")), "{again}");
}

#[test]
fn with_other_options() {
    let registry = registry().release("acme/widget", "2.2.0", &["darwin_arm64"]);
    let registry = registry.of("acme/widget", "2.1.0").signed_on(Day(20_000));
    let workspace = roots(&registry, &[("a", ">= 1.0"), ("b", ">= 1.0"), ("c", ">= 2.0")]);
    let with = |more: &[&str]| {
        upgrade(&workspace, &registry, more).ended_with(0);
        versions(&workspace)
    };
    // No release is within a minor step of both 1.0.0 and 2.0.0.
    let run = upgrade(&workspace, &registry, &["--within", "minor", "--newest-with-platforms"]).ended_with(0);
    assert!(run.stdout.contains("the constraints would allow one for all, but not the step"), "{run}");
    assert_eq!(versions(&workspace), ["1.2.0", "1.2.0", "2.1.0"]);
    let older = ["--newest-with-platforms", "--exclude-newer", "2024-10-03"];
    assert_eq!(with(&older), ["2.0.0", "2.0.0", "2.1.0"]);
    assert_eq!(with(&[&older[..], &["--allow-downgrade"]].concat()), ["2.0.0"; 3]);
    assert_eq!(with(&["--newest-with-platforms"]), ["2.1.0"; 3]);
    let widget = format!("{}/acme/widget", registry.host());
    assert_eq!(with(&["--precise", "2.0.0", &widget]), ["2.0.0"; 3]);
    let others = upgrade(&workspace, &registry, &["--precise", "1.2.0", &widget]).ended_with(2);
    assert!(others.stderr.contains("version 1.2.0") && others.stderr.contains("--bump --precise 1.2.0"), "{others}");
}

#[test]
fn no_version_is_lowered_without_request() {
    let registry = registry();
    let workspace = roots(&registry, &[("a", ">= 1.0"), ("b", "~> 1.1.0"), ("c", "2.0.0")]);
    workspace.write("c/main.tf", &workspace.read("c/main.tf").replace("\"2.0.0\"", "\">= 1.0\""));
    let run = upgrade(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(versions(&workspace), ["2.1.0", "1.1.0", "2.1.0"]);
    assert!(run.stdout.contains("the constraints of all allow 1.1.0, but 1 root module already has 2.0.0"), "{run}");
    let run = upgrade(&workspace, &registry, &["--allow-downgrade"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.1.0"; 3]);
    assert!(run.stdout.contains("2.1.0 -> 1.1.0  downgraded"), "{run}");
    assert!(run.stdout.contains("\"~> 1.1.0\" (b/main.tf:3:5) of another root module does not allow it"), "{run}");
    // A version that its own constraints forbid is left in any case.
    workspace.write("a/main.tf", &workspace.read("a/main.tf").replace(">= 1.0", "~> 1.0.0"));
    workspace.write("b/main.tf", &workspace.read("b/main.tf").replace("~> 1.1.0", ">= 1.0, < 1.1.0"));
    workspace.write("c/main.tf", &workspace.read("c/main.tf").replace(">= 1.0", "< 1.1.0"));
    upgrade(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0"; 3]);
}

#[test]
fn with_rewritten_constraints() {
    let registry = registry();
    let workspace = roots(&registry, &[("a", "~> 1.0"), ("b", "~> 2.0"), ("c", "")]);
    upgrade(&workspace, &registry, &["--bump"]).ended_with(0);
    assert_eq!(versions(&workspace), ["2.1.0"; 3]);
}

#[test]
fn from_a_mirror() {
    let registry = registry();
    let workspace = roots(&registry, &[("a", ">= 1.0"), ("b", "~> 1.0"), ("c", "")]);
    let folder = format!("mirror/{}/acme/widget", registry.host());
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        let path = format!("{folder}/terraform-provider-widget_{version}_linux_amd64.zip");
        workspace.write_bytes(&path, &registry.package("acme/widget", version, "linux_amd64").zip);
    }
    upgrade(&workspace, &registry, &["--fs-mirror", "mirror"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.1.0"; 3]);
    assert!(registry.requests().is_empty());
}

//! A provider whose name is a letter off another one's, by a signer that is as new: what a reviewer must see first.

use crate::support::keys;
use crate::support::locked::rules;
use crate::support::proposal::{TRUST, commit, edit, pin};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const LOCK: [&str; 5] = ["lock", "--platform", "linux_amd64", "--platform", "darwin_arm64"];

fn registry() -> Registry {
    let names = ["hashicorp/aws", "hashicrop/aws", "hashicorp-inc/aws", "acme/widget"];
    names.iter().fold(Registry::start(), |it, name| it.release(name, "5.31.0", PLATFORMS))
}

fn main(registry: &Registry, providers: &[&str]) -> String {
    let require =
        |(at, name): (usize, &&str)| format!("    p{at} = {{\n      source = \"{}/{name}\"\n    }}\n", registry.host());
    let required: Vec<String> = providers.iter().enumerate().map(require).collect();
    format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", required.concat())
}

/// Two root modules that use `hashicorp/aws`, as `origin/main` has them.
fn repository(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[]);
    for root in ["app", "other"] {
        workspace.write(&format!("{root}/main.tf"), &main(registry, &["hashicorp/aws"]));
    }
    workspace.git(["init", "--quiet"]);
    for root in ["app", "other"] {
        workspace.tflock(registry, ["-C", root].iter().chain(&LOCK)).ended_with(0);
    }
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

fn propose(workspace: &Workspace, registry: &Registry, providers: &[&str]) -> crate::support::run::Run {
    workspace.write("app/main.tf", &main(registry, providers));
    let args = ["-C", "app"].iter().chain(&LOCK).chain(&["--prune"]);
    let run = workspace.tflock(registry, args);
    commit(workspace, "change");
    run
}

#[test]
#[ignore = "long"]
fn a_typosquat_is_the_loudest_of_all() {
    let registry = registry();
    let workspace = repository(&registry);
    let run = propose(&workspace, &registry, &["hashicrop/aws", "acme/widget"]).ended_with(0);
    assert_eq!(run.stdout.matches("warning[similar-name]").count(), 1, "{run}");
    let diff = |more: &[&str]| {
        let run = workspace.tflock(&registry, ["diff", "-r", "origin/main"].iter().chain(more));
        run.ended_with(0).stdout
    };
    let text = diff(&["--online"]);
    let first = text.lines().find(|line| line.starts_with("! ")).unwrap_or_else(|| panic!("{text}"));
    assert!(first.contains("hashicrop/aws") && first.contains("SIMILAR NAME"), "{text}");
    assert!(text.contains("Do not merge until this is explained") && text.contains("1 dangerous"), "{text}");
    // A new provider and a new signer, but nothing else: notable, and no alarm.
    let widget = text.lines().find(|line| line.contains("acme/widget")).unwrap();
    assert!(widget.starts_with("+ ") && !widget.contains("SIMILAR NAME"), "{text}");
    let markdown = diff(&["--format", "markdown"]);
    assert!(
        markdown.lines().any(|line| line.starts_with("| **dangerous** |") && line.contains("hashicrop/aws")),
        "{markdown}"
    );
    // Who signed it, how old it is and who requires it, in the same row.
    let online = diff(&["--online", "--format", "markdown"]);
    let row = online.lines().find(|line| line.starts_with("| notable |")).unwrap();
    for shown in ["signed by ", " old (signed on ", "app/main.tf:6", "pinned by this change"] {
        assert!(row.contains(shown), "{shown}: {online}");
    }
    let gate = |more: &[&str]| {
        let args = ["verify", "-r", "--base", "origin/main", "--format", "json"].iter().chain(more);
        workspace.tflock(&registry, args)
    };
    let refused = gate(&[]).ended_with(3);
    assert!(refused.stdout.contains("\"similar-name\""), "{refused}");
    let allowed = gate(&["--allow-trust-change"]).ended_with(0);
    assert!(allowed.stdout.contains("allowed by --allow-trust-change"), "{allowed}");
}

#[test]
fn what_the_base_pins_is_meant() {
    let registry = registry();
    let workspace = repository(&registry);
    let signer = keys::GOOD.fingerprint();
    edit(&workspace, TRUST, |text| text.to_owned() + "\n" + &pin(&registry, "hashicrop/aws", &signer));
    commit(&workspace, "pin it");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    propose(&workspace, &registry, &["hashicrop/aws"]).ended_with(0);
    let args = ["-C", "app", "verify", "--base", "origin/main", "--format", "json"];
    let run = workspace.tflock(&registry, args).ended_with(0);
    assert!(!rules(&run, "deny").contains("similar-name"), "{run}");
}

#[test]
fn a_well_known_type_of_another_namespace_is_notable() {
    let registry = registry();
    let workspace = repository(&registry);
    propose(&workspace, &registry, &["hashicorp/aws", "hashicorp-inc/aws"]).ended_with(0);
    let run = workspace.tflock(&registry, ["diff", "-r", "origin/main"]).ended_with(0);
    let line = run.stdout.lines().find(|line| line.starts_with("+ ")).unwrap();
    assert!(line.contains("not the well-known hashicorp/aws") && run.stdout.contains("1 notable"), "{run}");
}

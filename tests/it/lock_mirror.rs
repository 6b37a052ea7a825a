//! `tflock lock` from a network mirror, and what a mirror means for trust.

use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{hashes, widget};

fn lock(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let url = registry.mirror_url();
    let args = ["lock", "-net-mirror", &url].iter().chain(more).map(ToString::to_string).collect::<Vec<_>>();
    workspace.tflock(registry, args.iter().map(String::as_str))
}

#[test]
fn a_network_mirror_is_used_and_no_registry() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    let run = lock(&workspace, &registry, &["--platform=linux_amd64", "--platform=darwin_arm64"]).ended_with(0);
    let h1 = |platform: &str| registry.package("acme/widget", "1.4.0", platform).h1;
    let (written, wanted) = (workspace.lock_file(), ["linux_amd64", "darwin_arm64"].map(h1));
    assert_eq!(hashes(&written).len(), 2, "{written}");
    assert!(wanted.iter().all(|hash| written.contains(hash)), "{written}");
    assert_eq!([Endpoint::Discovery, Endpoint::Versions].map(|endpoint| registry.count(endpoint)), [0, 0]);
    assert!(run.stdout.contains("mirror-only") && run.stdout.contains("review and commit"), "{run}");
}

#[test]
fn a_platform_is_added_from_a_mirror_that_has_the_locked_one() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    lock(&workspace, &registry, &["--platform=linux_amd64"]).ended_with(0);
    let before = workspace.lock_file();
    let run = lock(&workspace, &registry, &["--platform=darwin_arm64"]).ended_with(0);
    let after = workspace.lock_file();
    assert!(hashes(&before).iter().all(|hash| after.contains(hash)) && hashes(&after).len() == 2, "{after}");
    assert!(run.stdout.contains("mirror-only"), "{run}");
}

/// Nix and other builders rebuild packages: same version, other bytes. The user, who names the mirror, accepts that once.
#[test]
fn a_mirror_with_rebuilt_packages_is_accepted_on_purpose() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    let both = ["--platform=linux_amd64", "--platform=darwin_arm64"];
    workspace.tflock(&registry, ["lock"].iter().chain(&both)).ended_with(0);
    workspace.git(["init", "--quiet"]);
    let (url, release) = (registry.mirror_url(), format!("{}/acme/widget@1.4.0", registry.host()));
    registry.republish("acme/widget", "1.4.0");
    let recorded = workspace.lock_file();
    let run = lock(&workspace, &registry, &both).ended_with(3);
    assert!(run.stdout.contains("mirror-differs") && run.stdout.contains("--accept-republished"), "{run}");
    let accept = ["--accept-republished", &release, "--reason", "rebuilt by us"];
    let run = lock(&workspace, &registry, &[&both[..], &accept[..]].concat()).ended_with(0);
    let text = workspace.lock_file();
    assert!(hashes(&recorded).iter().all(|hash| !text.contains(hash)), "{run}");
    let trust = workspace.read(".tflock.trust.hcl");
    assert!(trust.contains("rebuilt by us (packages of net:"), "{trust}");
    let run = workspace.tflock(&registry, ["verify", "--net-mirror", &url]).ended_with(0);
    assert!(!run.stdout.contains("mirror-differs"), "{run}");
    // With an empty cache it is the same.
    let fresh = Workspace::with_files(&[]);
    for file in ["main.tf", ".terraform.lock.hcl", ".tflock.trust.hcl"] {
        fresh.write(file, &workspace.read(file));
    }
    fresh.tflock(&registry, ["verify", "--net-mirror", &url]).ended_with(0);
}

#[test]
fn first_uses_from_a_mirror_can_be_forbidden() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    let run = lock(&workspace, &registry, &["--platform=linux_amd64", "--no-first-use"]).ended_with(3);
    assert!(run.stdout.contains("first-use-forbidden"), "{run}");
}

#[test]
fn a_url_of_no_mirror_is_a_usage_error() {
    let workspace = Workspace::from("modules/one-root");
    let registry = widget();
    let run = workspace.tflock(&registry, ["lock", "--net-mirror", "http://mirror.example/"]).ended_with(2);
    assert!(run.stderr.contains("must be served over https"), "{run}");
}

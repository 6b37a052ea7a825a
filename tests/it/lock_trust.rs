//! `tflock lock` and what is recorded already: nothing is added to a release that is not shown to be the recorded one.

use crate::support::keys;
use crate::support::locked::{honest, locked as locked_by_tool};
use crate::support::proposal::{TRUST, pin};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, LOCK_BOTH, PLATFORMS, hashes, widget};

/// A root module locked for `linux_amd64` in a given world.
fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(registry, LOCK).ended_with(0);
    workspace
}

/// Adding `darwin_arm64` is refused, and nothing written.
#[track_caller]
fn refused(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    let before = workspace.lock_file();
    let run = workspace.tflock(registry, LOCK_BOTH.iter().chain(args)).ended_with(3);
    assert!(run.touched().is_empty(), "{run}");
    assert_eq!(workspace.lock_file(), before);
    run
}

#[test]
fn a_republished_release_is_refused() {
    let registry = widget();
    let workspace = locked(&registry);
    registry.republish("acme/widget", "1.4.0");
    registry.forget_requests();
    insta::assert_snapshot!("republished", refused(&workspace, &registry, &[]));
    assert_eq!(registry.downloads("acme/widget"), 0);
    insta::assert_snapshot!("republished_json", refused(&workspace, &registry, &["--format=json"]));
    refused(&workspace, &registry, &["--check"]);
    refused(&workspace, &registry, &["--dry-run"]);
}

#[test]
fn accepting_a_republished_release_replaces_its_hashes() {
    let registry = widget();
    let workspace = locked(&registry);
    let before = workspace.lock_file();
    registry.republish("acme/widget", "1.4.0");
    let release = format!("{}/acme/widget@1.4.0", registry.host());
    let other = format!("{}/acme/widget@1.4.1", registry.host());
    refused(&workspace, &registry, &["--accept-republished", &other, "--reason", "the publisher said so"]);
    let accept = ["--accept-republished", &release, "--reason", "the publisher said so"];
    let run = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&accept)).ended_with(0);
    insta::assert_snapshot!("republished_accepted", run);
    let after = workspace.lock_file();
    assert!(hashes(&before).iter().all(|hash| !hashes(&after).contains(hash)), "{after}");
    for platform in PLATFORMS {
        let package = registry.package("acme/widget", "1.4.0", platform);
        assert!(after.contains(&package.h1) && after.contains(&package.zh()));
    }
    let without_reason = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--accept-republished", &release]));
    insta::assert_snapshot!("accept_without_reason", without_reason.ended_with(2));
}

#[test]
fn a_republished_release_by_another_signer_is_refused_too() {
    let registry = widget();
    let workspace = locked(&registry);
    registry.republish("acme/widget", "1.4.0");
    let registry = registry.of("acme/widget", "1.4.0").signed_by(keys::OTHER);
    let run = refused(&workspace, &registry, &[]);
    assert!(run.filtered(&run.stdout).contains("<key OTHER>"), "{run}");
}

#[test]
fn a_release_that_grew_is_a_warning() {
    let registry = widget();
    let workspace = locked(&registry);
    let before = workspace.lock_file();
    registry.add_platform("acme/widget", "1.4.0", "windows_amd64");
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    insta::assert_snapshot!("release_grew", run);
    assert!(hashes(&before).iter().all(|hash| workspace.lock_file().contains(hash)));
    assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.4.0", "windows_amd64").zh()));
}

#[test]
fn a_release_that_shrank_keeps_what_is_recorded() {
    let registry = Registry::start().release("acme/widget", "1.4.0", &["linux_amd64", "darwin_arm64", "windows_amd64"]);
    let workspace = locked(&registry);
    let gone = registry.package("acme/widget", "1.4.0", "windows_amd64").zh();
    let registry = registry.release("acme/widget", "1.4.0", PLATFORMS);
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let text = run.filtered(&run.stdout);
    insta::assert_snapshot!("release_shrank", text);
    assert!(workspace.lock_file().contains(&gone));
}

#[test]
fn a_withdrawn_version_is_an_error() {
    let registry = widget().release("acme/widget", "1.3.0", PLATFORMS);
    let workspace = Workspace::from("modules/locked");
    registry.withdraw("acme/widget", "1.4.0");
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(2);
    insta::assert_snapshot!("withdrawn_version", run);
    registry.withdraw("acme/widget", "1.3.0");
    insta::assert_snapshot!("withdrawn_provider", workspace.tflock(&registry, LOCK_BOTH).ended_with(2));
}

#[test]
fn a_planted_hash_is_kept_and_named() {
    let registry = widget();
    let workspace = locked(&registry);
    let planted = format!("    \"zh:{}\",\n  ]", "0".repeat(64));
    workspace.write(".terraform.lock.hcl", &workspace.lock_file().replace("  ]", &planted));
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    insta::assert_snapshot!("planted_hash", run.filtered(&run.stdout));
}

/// A line that can match no package never belonged to one, so nothing is missing.
#[test]
fn a_malformed_hash_is_no_republication() {
    let registry = widget();
    let workspace = locked(&registry);
    let sound = workspace.lock_file();
    let zh = registry.package("acme/widget", "1.4.0", "linux_amd64").zh();
    let upper = format!("zh:{}", zh[3..].to_uppercase());
    workspace.write(".terraform.lock.hcl", &sound.replace(&zh, &upper));
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert!(run.stdout.contains("malformed-hash") && !run.stdout.contains("republished"), "{run}");
    assert!(workspace.lock_file().contains(&zh) && workspace.lock_file().contains(&upper));
    // With nothing else recorded, nothing shows that it is the recorded release.
    let (head, _) = sound.split_once("  hashes").unwrap();
    workspace.write(".terraform.lock.hcl", &format!("{head}  hashes = [\n    \"{upper}\",\n  ]\n}}\n"));
    let run = refused(&workspace, &registry, &[]);
    assert!(run.stdout.contains("malformed-hash"), "{run}");
}

#[test]
fn only_h1_recorded_wants_one_reproduced() {
    let registry = widget();
    let workspace = locked(&registry);
    let text = workspace.lock_file();
    let without_zh: Vec<&str> = text.lines().filter(|line| !line.contains("\"zh:")).collect();
    let without_zh = without_zh.join("\n") + "\n";
    workspace.write(".terraform.lock.hcl", &without_zh);
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let other_h1 = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    let h1 = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    workspace.write(".terraform.lock.hcl", &without_zh.replace(&h1, other_h1));
    insta::assert_snapshot!("h1_not_reproduced", refused(&workspace, &registry, &[]));
}

#[test]
fn an_entry_that_records_nothing_is_a_first_use() {
    let registry = widget();
    let workspace = locked(&registry);
    let text = workspace.lock_file();
    let (head, _) = text.split_once("  hashes").unwrap();
    workspace.write(".terraform.lock.hcl", &format!("{head}}}\n"));
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    insta::assert_snapshot!("records_nothing", run.filtered(&run.stdout));
    assert_eq!(workspace.lock_file(), text);
}

#[test]
fn a_registry_that_signs_nothing_is_let_in_as_the_help_says() {
    let registry = widget().unsigned();
    let workspace = Workspace::from("modules/one-root");
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--format", "json"])).ended_with(3);
    let finding = run.json()["findings"][0].clone();
    assert_eq!(finding["rule"], "no-signing-key", "{run}");
    let help = finding["help"].as_str().unwrap();
    let quoted: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    let [block, settings, command] = quoted[..] else { panic!("{help}") };
    workspace.write(settings, &format!("{}\n", block.replace("{ ", "{\n  ").replace(" }", "\n}")));
    workspace.tflock(None, command.split(' ').skip(1)).ended_with(0);
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
}

/// `verify` wants a pin for each entry, so `lock` leaves none without.
#[test]
fn entries_that_nothing_requires_or_queries_are_pinned_too() {
    let registry = honest();
    let workspace = locked_by_tool(&registry);
    let only_widget = "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";
    let only_widget = only_widget.replace("{{registry}}", &registry.host());
    let both = workspace.read("main.tf");
    workspace.write("main.tf", &only_widget);
    let gadget = format!("{}/acme/gadget", registry.host());
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert!(workspace.read(TRUST).contains(&gadget));
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    // Everything is in the cache now; one entry without a pin, required or not.
    let pinned = workspace.read(TRUST);
    for configuration in [&only_widget, &both] {
        workspace.write("main.tf", configuration);
        workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
        workspace.write(TRUST, &pin(&registry, "acme/widget", &keys::GOOD.fingerprint()));
        registry.forget_requests();
        workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--offline"])).ended_with(0);
        assert_eq!(workspace.read(TRUST).matches("signers = ").count(), pinned.matches("signers = ").count());
        workspace.tflock(&registry, ["verify"]).ended_with(0);
    }
    // What offline cannot find out is named.
    workspace.write("main.tf", &only_widget);
    workspace.write(TRUST, &pin(&registry, "acme/widget", &keys::GOOD.fingerprint()));
    let offline = LOCK_BOTH.iter().chain(&["--check", "--offline", "--no-cache", "--no-download"]);
    let unpinned = workspace.tflock(&registry, offline).ended_with(1);
    assert!(unpinned.stdout.contains(&format!("the signer of {gadget} is not pinned: --offline")), "{unpinned}");
}

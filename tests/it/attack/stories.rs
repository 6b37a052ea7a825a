//! Attacks of more than one act: what one run has seen counts for the next.

use crate::support::keys;
use crate::support::locked::{honest, locked, rules, verify};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const TRUST: &str = ".tflock.trust.hcl";

fn lock(workspace: &Workspace, registry: &Registry) -> Run {
    workspace.tflock(registry, ["lock", "--platform", "linux_amd64", "--format", "json"])
}

#[track_caller]
fn denied(run: &Run, rule: &str) {
    assert_eq!(rules(run, "deny"), [rule.to_owned()].into(), "{run}");
}

/// A key once seen revoked stays revoked, whichever copy of it is served later.
#[test]
#[ignore = "long"]
fn a_revocation_is_not_taken_back() {
    for (revoked, copy) in [(keys::REVOKED, keys::PARDONED), (keys::SUBKEY_REVOKED, keys::SUBKEY)] {
        let registry = widget().signed_by(copy);
        let workspace = Workspace::from("modules/one-root");
        lock(&workspace, &registry).ended_with(0);
        verify(&workspace, &registry, &[]).ended_with(0);
        let registry = registry.release("acme/widget", "1.4.1", &["linux_amd64"]).signed_by(revoked);
        std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
        let run = lock(&workspace, &registry).ended_with(3);
        denied(&run, "revoked-key");
        assert_eq!(run.touched(), [TRUST], "{run}");
        let text = workspace.read(TRUST);
        assert!(text.contains("denied_signer \"") && text.contains("reason = \"revoked: "), "{text}");

        let registry = registry.of("acme/widget", "1.4.1").signed_by(copy);
        let run = lock(&workspace, &registry).ended_with(3);
        denied(&run, "signer-denied");
        assert!(run.touched().is_empty(), "{run}");
        // A hash that was locked elsewhere does not pass the gate, with or without a registry.
        let elsewhere = Workspace::from("modules/one-root");
        lock(&elsewhere, &registry).ended_with(0);
        workspace.write(".terraform.lock.hcl", &elsewhere.lock_file());
        denied(&verify(&workspace, &registry, &[]).ended_with(3), "signer-denied");
        denied(&verify(&workspace, &registry, &["--offline"]).ended_with(3), "signer-denied");
    }
}

#[test]
fn an_extended_expiry_is_no_alarm() {
    let registry = widget().signed_by(keys::EXPIRED);
    let workspace = Workspace::from("modules/one-root");
    lock(&workspace, &registry).ended_with(0);
    // The same release, and a later one, under a copy of the key that lives on.
    let registry = registry.signed_by(keys::RENEWED);
    let run = verify(&workspace, &registry, &["--no-cache"]).ended_with(0);
    assert!(run.json()["findings"].as_array().unwrap().is_empty(), "{run}");
    let registry = registry.release("acme/widget", "1.4.1", &["linux_amd64"]);
    let registry = registry.signed_by(keys::RENEWED).signed_on(keys::AFTER_EXPIRY);
    std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    let run = lock(&workspace, &registry).ended_with(0);
    assert_eq!(run.touched(), [".terraform.lock.hcl"], "{run}");
    assert!(run.json()["findings"].as_array().unwrap().is_empty(), "{run}");
}

#[test]
fn a_mirror_that_differs_from_the_origin() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root");
    lock(&workspace, &registry).ended_with(0);
    let before = workspace.lock_file();
    let place = format!("mirror/{}/acme/widget", registry.host());
    let mirror = workspace.path("mirror").display().to_string();
    let args = ["lock", "--platform", "linux_amd64", "--fs-mirror", &mirror, "--no-cache", "--format", "json"];
    let name = "terraform-provider-widget_1.4.0_linux_amd64.zip";
    workspace.write_bytes(&format!("{place}/{name}"), &registry.package("acme/widget", "1.4.0", "linux_amd64").zip);
    workspace.tflock(&registry, args).ended_with(0);
    registry.republish("acme/widget", "1.4.0");
    workspace.write_bytes(&format!("{place}/{name}"), &registry.package("acme/widget", "1.4.0", "linux_amd64").zip);
    let run = workspace.tflock(&registry, args).ended_with(3);
    denied(&run, "mirror-differs");
    assert_eq!(workspace.lock_file(), before);
}

/// The cache is no authority: whatever was changed in it counts as absent, and accuses no one.
#[test]
fn a_damaged_or_forged_cache_proves_nothing() {
    let registry = honest();
    let workspace = locked(&registry);
    verify(&workspace, &registry, &[]).ended_with(0);
    let proven = |workspace: &Workspace| {
        let run = verify(workspace, &registry, &["--offline"]).ended_with(0);
        (run.json()["proven"].as_u64().unwrap(), run.json()["unknown"].as_u64().unwrap())
    };
    assert_eq!(proven(&workspace), (8, 0));
    let cache = workspace.path("../cache/v1");
    let files = |kind: &str| -> Vec<std::path::PathBuf> {
        let below = |path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        below(cache.join(kind)).flat_map(below).collect()
    };
    let texts = |kind: &str| files(kind).into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap()));
    // One changed byte in any document or record costs the hashes of its release and no more.
    for kind in ["documents", "releases"] {
        for (path, was) in texts(kind) {
            let mut changed = was.clone();
            let middle = changed.len() / 2;
            changed[middle] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            let (known, unknown) = proven(&workspace);
            assert!(known <= 4 && known + unknown == 8, "{}: {known}", path.display());
            std::fs::write(&path, &was[..middle]).unwrap();
            assert!(proven(&workspace).0 <= 4, "{}", path.display());
            std::fs::remove_file(&path).unwrap();
            assert!(proven(&workspace).0 <= 4, "{}", path.display());
            std::fs::write(&path, &was).unwrap();
        }
    }
    // Records that name documents of another release.
    let records: Vec<_> = texts("releases").collect();
    let [(one, first), (two, second)] = &records[..] else { panic!("{} records", records.len()) };
    std::fs::write(one, second).unwrap();
    std::fs::write(two, first).unwrap();
    assert_eq!(proven(&workspace), (0, 8));
    std::fs::remove_dir_all(&cache).unwrap();
    assert_eq!(proven(&workspace), (0, 8));
}

/// An earlier run kept the signed list, not the archives: `zh:` is proven by it, `h1:` is not.
#[test]
fn kept_signatures_prove_zh_without_a_registry() {
    let registry = honest();
    let workspace = locked(&registry);
    verify(&workspace, &registry, &["--no-download"]).ended_with(0);
    registry.forget_requests();
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(0);
    assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&4.into(), &4.into()), "{run}");
    assert!(run.stderr.contains("note: 4 hashes "), "{run}");
    assert!(registry.requests().is_empty());
}

//! What earlier runs left in the cache is judged by the rules of this run.

use crate::support::keys;
use crate::support::locked::{honest, rules, verify};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const MAIN: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";

/// A root module for `OpenTofu` that is locked, with all answers in the cache; the key of its provider has expired.
fn locked() -> (Registry, Workspace) {
    let registry = honest().of("acme/widget", "1.4.0").signed_by(keys::EXPIRED);
    let workspace = Workspace::with_files(&[("main.tf", MAIN), (".tflock.hcl", "tool = \"tofu\"\n")]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    registry.forget_requests();
    (registry, workspace)
}

fn lock(registry: &Registry, workspace: &Workspace, args: &[&str]) -> Run {
    let run = workspace.tflock(registry, ["lock", "--platform", "linux_amd64"].iter().chain(args));
    assert!(run.touched().is_empty(), "{run}");
    run
}

#[test]
fn the_expiry_of_a_key_is_reported_for_cached_answers_too() {
    let (registry, workspace) = locked();
    let shown = "has expired since it signed";
    let run = lock(&registry, &workspace, &["--offline"]).ended_with(0);
    assert!(run.stdout.contains(shown), "{run}");
    lock(&registry, &workspace, &["--check"]).ended_with(0);
    assert!(registry.requests().is_empty());
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(rules(&run, "warn").contains("expired-key"), "{run}");
    // Terraform says nothing of it.
    workspace.write(".tflock.hcl", "tool = \"terraform\"\n");
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(!run.stdout.contains(shown), "{run}");
}

#[test]
fn enforced_expiry_applies_to_cached_answers_too() {
    let (registry, workspace) = locked();
    let workspace = workspace.env("OPENTOFU_ENFORCE_GPG_EXPIRATION", "true");
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(3);
    assert!(rules(&run, "deny").contains("expired-key"), "{run}");
    // The registry may list a renewed copy of the key, so it is queried.
    lock(&registry, &workspace, &["--offline"]).ended_with(4);
    let run = lock(&registry, &workspace, &[]).ended_with(3);
    assert!(run.stdout.contains("denied[expired-key]"), "{run}");
    let renewed = registry.listing(&[keys::RENEWED]);
    lock(&renewed, &workspace, &[]).ended_with(0);
    lock(&renewed, &workspace, &["--offline"]).ended_with(0);
}

/// `list`, `sbom` and `explain` know of an unsigned release what `verify` knows: nothing, if OpenTofu would refuse it.
#[test]
fn enforced_signatures_apply_to_what_is_shown_too() {
    let registry = honest().standing_for("registry.opentofu.org").of("acme/widget", "1.4.0").unsigned();
    let main = MAIN.replace("{{registry}}", "registry.opentofu.org");
    let workspace = Workspace::with_files(&[("main.tf", &main), (".tflock.hcl", "tool = \"tofu\"\n")]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let platforms = |workspace: &Workspace| {
        let run = workspace.tflock(&registry, ["list", "--format", "json"]).ended_with(0);
        run.json()["entries"][0]["platforms"].clone()
    };
    assert_eq!(platforms(&workspace), serde_json::json!(["linux_amd64"]));
    let enforcing = workspace.env("OPENTOFU_ENFORCE_GPG_VALIDATION", "true");
    assert_eq!(platforms(&enforcing), serde_json::json!([]));
    let run = enforcing.tflock(&registry, ["sbom"]).ended_with(0);
    assert!(run.stdout.contains("platform unknown"), "{run}");
}

/// All files below a directory.
#[cfg(unix)]
fn files(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let inside = |path: std::path::PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(|entry| inside(entry.path())).collect()
}

/// What is no regular file in the cache counts as missing, and is not opened: a pipe would wait, and a device never ends.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn special_files_in_the_cache_count_as_missing() {
    type Change = fn(&std::path::Path);
    let changes: [(&str, Change); 4] = [
        ("a pipe", |path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success())),
        ("a device", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
        ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
        ("a large file", |path| std::fs::File::create(path).unwrap().set_len(1 << 30).unwrap()),
    ];
    for (what, change) in changes {
        let (registry, workspace) = locked();
        workspace.tflock(&registry, ["install", "--platform", "linux_amd64"]).ended_with(0);
        let cache = workspace.path("../cache");
        let of_cache = |name: &str| files(&cache.join(name));
        let kept: Vec<_> = of_cache("v1").into_iter().chain(of_cache("v2")).collect();
        assert!(kept.len() > 4, "{kept:?}");
        for path in &kept {
            std::fs::remove_file(path).unwrap();
            // The path of a socket may be too long.
            let short = cache.join("special");
            change(&short);
            std::fs::rename(&short, path).unwrap();
        }
        let commands: [&[&str]; 6] = [
            &["verify"],
            &["verify", "--offline"],
            &["lock", "--platform", "linux_amd64", "--platform", "darwin_arm64"],
            &["list"],
            &["cache", "stats"],
            &["cache", "export", "-"],
        ];
        for args in commands {
            let run = workspace.tflock(&registry, args);
            assert!(matches!(run.code, Some(0 | 1 | 4)), "{what}: {run}");
        }
        workspace.tflock(&registry, ["cache", "prune"]).ended_with(0);
        workspace.tflock(&registry, ["verify"]).ended_with(0);
    }
}

//! Shared indexes: `index "NAME" { url = … }` in the settings, and `cache export --publish`.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS, widget};

/// A directory with what a first machine published, and the lock file of that machine.
fn published(registry: &Registry) -> (tempfile::TempDir, String) {
    let index = crate::support::tempdir();
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(registry, LOCK_BOTH).ended_with(0);
    let url = format!("file://{}", index.path().display());
    let run = workspace.tflock(None, ["cache", "export", "--publish", "--index", &url]).ended_with(0);
    assert!(run.stdout.starts_with("published 2 records") && run.stdout.ends_with("; 0 were there\n"), "{run}");
    let run = workspace.env("TFLOCK_INDEX", &url).tflock(None, ["cache", "export", "--publish"]).ended_with(0);
    assert!(run.stdout.starts_with("published 0 records") && run.stdout.ends_with("; 2 were there\n"), "{run}");
    registry.forget_requests();
    (index, workspace_lock(registry))
}

/// A registry that serves such an index too, below `/index`, and the lock file.
fn published_on_the_web() -> (Registry, String) {
    let registry = widget();
    let (index, lock) = published(&registry);
    let serving = PLATFORMS.iter().fold(registry, |registry, platform| {
        let file = entry(&index, &registry, platform);
        let path = format!("/index/{}", file.strip_prefix(index.path()).unwrap().display());
        registry.document(&path, "text/plain", std::fs::read(&file).unwrap())
    });
    (serving, lock)
}

fn workspace_lock(registry: &Registry) -> String {
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(registry, LOCK_BOTH).ended_with(0);
    registry.forget_requests();
    workspace.lock_file()
}

fn entry(index: &tempfile::TempDir, registry: &Registry, platform: &str) -> PathBuf {
    let zh = registry.package("acme/widget", "1.4.0", platform).zh().replace("zh:", "");
    index.path().join(format!("v1/{}/{zh}", &zh[..2]))
}

/// Another machine, whose settings name an index.
pub(crate) fn machine(url: &str, more: &str) -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".tflock.hcl", &format!("index \"team\" {{\n  url = \"{url}\"\n{more}}}\n"));
    workspace
}

fn evidence(run: &Run, h1: &str) -> serde_json::Value {
    let added = run.json()["changes"][0]["hashes_added"].as_array().unwrap().clone();
    added.iter().find(|added| added["hash"] == h1).unwrap()["evidence"].clone()
}

#[test]
fn a_directory_spares_downloads_and_proves_nothing() {
    let registry = widget();
    let (index, lock) = published(&registry);
    let workspace = machine(&format!("file://{}", index.path().display()), "");
    let run = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--format=json"])).ended_with(0);
    assert_eq!((registry.downloads("acme/widget"), workspace.lock_file()), (0, lock), "{run}");
    for platform in PLATFORMS {
        let h1 = registry.package("acme/widget", "1.4.0", platform).h1;
        assert_eq!(evidence(&run, &h1), serde_json::json!(["reported-by-index"]), "{run}");
    }
    let run = workspace.tflock(&registry, ["verify", "--no-download", "--format=json"]).ended_with(0);
    assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&2.into(), &2.into()), "{run}");
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 2);
    // Verified hashes are computed, and `--no-cache` uses no index.
    for flag in ["--h1=verified", "--no-cache"] {
        registry.forget_requests();
        let other = machine(&format!("file://{}", index.path().display()), "");
        other.tflock(&registry, LOCK_BOTH.iter().chain(&[flag])).ended_with(0);
        assert_eq!(registry.downloads("acme/widget"), 2, "{flag}");
    }
}

#[test]
fn one_that_is_trusted_counts_as_if_it_were_computed_here() {
    let registry = widget();
    let (index, lock) = published(&registry);
    let workspace = machine(&format!("file://{}", index.path().display()), "  trust = \"verified\"\n");
    let run = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--format=json", "--h1=verified"])).ended_with(0);
    assert_eq!((registry.downloads("acme/widget"), workspace.lock_file()), (0, lock), "{run}");
    let h1 = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    assert_eq!(evidence(&run, &h1), serde_json::json!(["computed"]), "{run}");
    let run = workspace.tflock(&registry, ["verify", "--format=json"]).ended_with(0);
    assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&4.into(), &0.into()), "{run}");
    assert_eq!(registry.downloads("acme/widget"), 0, "{run}");
    let run = workspace.tflock(&registry, ["verify", "--deep"]).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 2, "{run}");
}

#[test]
fn a_web_server_spares_downloads_too() {
    let (registry, lock) = published_on_the_web();
    let workspace = machine("https://{{registry}}/index", "");
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!((registry.downloads("acme/widget"), workspace.lock_file()), (0, lock), "{run}");
}

#[test]
fn a_dead_index_costs_a_note() {
    let registry = widget();
    let lock = workspace_lock(&registry);
    // The fixture answers 404 for what it does not know: nothing is there, and nothing is wrong.
    let workspace = machine("https://{{registry}}/nothing/", "");
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert!(!run.stderr.contains("skipping the index") && workspace.lock_file() == lock, "{run}");
    for url in ["https://127.0.0.1:1/", "file:///nowhere/at/all"] {
        registry.forget_requests();
        let workspace = machine(url, "");
        let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
        assert_eq!(run.stderr.matches("skipping the index \"team\" for the rest of this run").count(), 1, "{run}");
        assert_eq!((registry.downloads("acme/widget"), workspace.lock_file()), (2, lock.clone()), "{run}");
    }
}

#[test]
#[ignore = "long"]
fn an_index_that_hangs_is_not_waited_for() {
    let (registry, lock) = published_on_the_web();
    // What it would say is right, but comes too late.
    let registry = registry.answers(Endpoint::Other, Answer::slow(Duration::from_secs(5)));
    let workspace = machine("https://{{registry}}/index", "");
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!(run.stderr.matches("skipping the index \"team\" for the rest of this run").count(), 1, "{run}");
    assert_eq!((registry.downloads("acme/widget"), workspace.lock_file()), (2, lock), "{run}");
}

#[test]
fn invalid_index_entries_are_ignored() {
    let registry = widget();
    let (index, lock) = published(&registry);
    let [linux, darwin] = ["linux_amd64", "darwin_arm64"].map(|platform| entry(&index, &registry, platform));
    let endless = vec![b'a'; 1 << 20];
    for text in [&b""[..], b"<html>", &std::fs::read(&darwin).unwrap(), &endless] {
        std::fs::write(&linux, text).unwrap();
        let workspace = machine(&format!("file://{}", index.path().display()), "");
        let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
        assert!(run.stderr.contains("is not an entry about it") && workspace.lock_file() == lock, "{run}");
    }
}

#[test]
fn a_lie_is_found_when_the_archive_is_looked_at() {
    let registry = widget();
    let (index, lock) = published(&registry);
    let linux = entry(&index, &registry, "linux_amd64");
    let text = std::fs::read_to_string(&linux).unwrap();
    let [zh, _, size] = text.trim().split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
    let lie = tflock_core::hash::Sha256Digest::of(b"a lie").to_base64();
    std::fs::write(&linux, format!("{zh} {lie} {size}")).unwrap();
    let workspace = machine(&format!("file://{}", index.path().display()), "  trust = \"verified\"\n");
    workspace.write(".terraform.lock.hcl", &lock);
    let run = workspace.tflock(&registry, ["verify", "--format=json"]).ended_with(3);
    assert!(run.stdout.contains("unattested-hash") || run.stdout.contains("index-differs"), "{run}");
}

#[test]
fn publishing_reads_the_cli_configuration_of_the_tool() {
    let registry = widget();
    let index = crate::support::tempdir();
    let directory = format!("file://{}", index.path().display());
    // Terraform has no such method.
    let workspace = Workspace::from("modules/one-root").cli_config("provider_installation {\n  oci_mirror {\n    \
         repository_template = \"h.example/${namespace}/${type}\"\n    include = [\"h.example/*/*\"]\n  }\n  direct {}\n}\n");
    workspace.tflock(&registry, ["--tool=tofu"].into_iter().chain(LOCK_BOTH)).ended_with(0);
    workspace.tflock(None, ["cache", "export", "--publish", "--index", &directory]).ended_with(0);
    let web = format!("https://{}/index/", registry.host());
    let run = workspace.tflock(&registry, ["--tool=tofu", "cache", "export", "--publish", "--index", &web]);
    assert!(run.stderr.contains("cannot publish to") && !run.stderr.contains("oci_mirror"), "{run}");
}

#[test]
fn where_an_index_may_be() {
    let registry = widget();
    for (url, phrase) in [
        #[cfg(not(feature = "cloud"))]
        ("s3://bucket/x", "the feature \"cloud\""),
        #[cfg(not(feature = "cloud"))]
        ("gs://bucket/x", "the feature \"cloud\""),
        ("az:///x", if cfg!(feature = "cloud") { "az://NAME" } else { "the feature \"cloud\"" }),
        ("http://h.example/", "not at http:"),
        ("https://h.example/?token=secret", "neither user nor query"),
        ("index", "is not a URL"),
    ] {
        let run = machine(url, "").tflock(&registry, LOCK_BOTH).ended_with(2);
        assert!(run.stderr.contains(phrase) && !run.stderr.contains("secret"), "{run}");
    }
    let workspace = Workspace::from("modules/one-root");
    let inside = workspace.path("some/where");
    workspace.write(".tflock.hcl", &format!("index \"team\" {{\n  url = \"file://{}\"\n}}\n", inside.display()));
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(2);
    assert!(run.stderr.contains("is inside the working tree"), "{run}");
    let workspace = machine("https://h.example/", "  trust = \"verified\"\n  colour = \"red\"\n");
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(2);
    assert!(run.stderr.contains("colour"), "{run}");
}

#[test]
fn a_pull_request_cannot_bring_a_trusted_index() {
    let registry = widget();
    let (index, lock) = published(&registry);
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".terraform.lock.hcl", &lock);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "base"]);
    let url = format!("file://{}", index.path().display());
    let settings = format!("index \"team\" {{\n  url   = \"{url}\"\n  trust = \"verified\"\n}}\n");
    workspace.write(".tflock.hcl", &settings);
    let run = workspace.tflock(&registry, ["verify", "--base", "HEAD", "--no-download", "--format=json"]).ended_with(3);
    assert!(run.stdout.contains("\"policy-weakened\""), "{run}");
    assert_eq!(&run.json()["unknown"], &2, "{run}");
}

#[test]
fn publishing_makes_the_directory_and_says_how_to_name_it() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let folder = crate::support::tempdir();
    let index = folder.path().join("new/dir");
    let publish = |index: &str| workspace.tflock(None, ["cache", "export", "--publish", "--index", index]);
    let run = publish(index.to_str().unwrap()).ended_with(2);
    let step = run.stderr.split('`').find(|text| text.starts_with("--index ")).unwrap().to_owned();
    let run = publish(step.strip_prefix("--index ").unwrap()).ended_with(0);
    assert!(run.stdout.starts_with("published 2 records") && index.is_dir(), "{run}");
    assert!(publish("new/dir").ended_with(2).stderr.contains("a directory is written file:///PATH"));
}

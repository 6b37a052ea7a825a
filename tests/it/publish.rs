//! Writing into a shared index: who may, over https, and what is reported if that fails.

use crate::index::machine;
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, widget};

const TOKEN: &str = "s3cr3t-w0rd-of-the-index";

/// A registry, and a web server that takes files below `/team/` with a token.
fn team() -> (Registry, String) {
    let registry = widget().taking_files("/team/").guarding("/team/", &format!("Bearer {TOKEN}"), "Bearer");
    let url = format!("https://{}/team", registry.host());
    (registry, url)
}

fn publish(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let run = workspace.tflock(registry, [&LOCK_BOTH[..], &["--publish", "-v"], more].concat());
    assert!(!format!("{}{}", run.stdout, run.stderr).contains(TOKEN), "{run}");
    run
}

#[test]
fn one_machine_publishes_and_another_downloads_nothing() {
    let (registry, url) = team();
    let first = Workspace::from("modules/one-root").env("TF_TOKEN_{{registry}}", TOKEN);
    let run = publish(&first, &registry, &["--index", &url]).ended_with(0);
    assert!(run.stderr.contains(&format!("2 of 2 records are new in {url}")), "{run}");
    registry.forget_requests();
    let second = machine(&url, "").env("TF_TOKEN_{{registry}}", TOKEN);
    let run = second.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!((registry.downloads("acme/widget"), second.lock_file()), (0, first.lock_file()), "{run}");
    // What others reported is not published again, and what is there is not written again.
    let run = publish(&second, &registry, &["--index", &url]).ended_with(0);
    assert!(run.stderr.contains("0 of 0 records are new"), "{run}");
    let run = publish(&first, &registry, &["--index", &url]).ended_with(0);
    assert!(run.stderr.contains("0 of 2 records are new"), "{run}");
    let run = first.tflock(&registry, ["cache", "export", "--publish", "--index", &url]).ended_with(0);
    assert!(run.stdout.starts_with("published 0 records") && run.stdout.ends_with("; 2 were there\n"), "{run}");
    let puts = registry.requests().iter().filter(|it| it.method == "PUT").count();
    assert_eq!(puts, 0);
}

#[test]
fn failed_publishing_is_reported_with_the_lock() {
    let (registry, url) = team();
    let elsewhere = format!("https://{}/elsewhere", registry.host());
    for (url, words) in [
        (url.as_str(), "TF_TOKEN_"),
        (&elsewhere, "must accept PUT"),
        ("https://127.0.0.1:1/", "cannot publish to https://127.0.0.1:1/"),
    ] {
        let workspace = Workspace::from("modules/one-root");
        let run = publish(&workspace, &registry, &["--index", url]).ended_with(4);
        assert!(run.stderr.contains(words) && workspace.lock_file().contains("h1:"), "{run}");
    }
}

#[test]
fn publishing_needs_an_option_and_ignores_the_working_tree() {
    let (registry, url) = team();
    let workspace = machine(&url, "");
    workspace.git(["init", "--quiet"]);
    let inside = format!("file://{}", workspace.path("some/where").display());
    let rows: [(&[&str], &str, i32); 6] = [
        (&[], "none is named", 2),
        (&["--index", &inside], "is inside the working tree", 2),
        (&["--index", &url, "--no-cache"], "which --no-cache leaves out", 2),
        (&["--index", &url, "--offline"], "which --offline forbids", 4),
        (&["--index", &url, "--check"], "cannot be used with", 2),
        (&["--index", "https://me:word@h.example/"], "neither user nor query", 2),
    ];
    for (more, words, code) in rows {
        let run = publish(&workspace, &registry, more).ended_with(code);
        assert!(run.stderr.contains(words) && !workspace.has(".terraform.lock.hcl"), "{run}");
    }
    assert!(registry.requests().iter().all(|it| it.method == "GET"));
    // Nor is one in the work tree of -C.
    let elsewhere = Workspace::with_files(&[]);
    let there = workspace.path("").display().to_string();
    let args = [&["-C", &there][..], &LOCK_BOTH, &["--publish", "--index", &inside]].concat();
    let run = elsewhere.tflock(&registry, args).ended_with(2);
    assert!(run.stderr.contains("is inside the working tree"), "{run}");
    workspace.tflock(&registry, [&LOCK_BOTH[..], &["--index", &url]].concat()).ended_with(2);
    let index = crate::support::tempdir();
    let workspace = workspace.env("TFLOCK_INDEX", &format!("file://{}", index.path().display()));
    let run = publish(&workspace, &registry, &[]).ended_with(0);
    assert!(run.stderr.contains("2 of 2 records are new") && index.path().join("v1").is_dir(), "{run}");
}

#[test]
fn what_is_there_and_wrong_is_a_finding() {
    let registry = widget();
    let index = crate::support::tempdir();
    let url = format!("file://{}", index.path().display());
    let workspace = Workspace::from("modules/one-root");
    publish(&workspace, &registry, &["--index", &url]).ended_with(0);
    let zh = registry.package("acme/widget", "1.4.0", "linux_amd64").sha256;
    let entry = index.path().join(format!("v1/{}/{zh}", &zh[..2]));
    let text = std::fs::read_to_string(&entry).unwrap();
    let [_, _, size] = text.trim().split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
    let lie = format!("{zh} {} {size}", tflock_core::hash::Sha256Digest::of(b"a lie").to_base64());
    std::fs::write(&entry, &lie).unwrap();
    let run = publish(&workspace, &registry, &["--index", &url]).ended_with(0);
    assert!(run.stdout.contains("warning[index-differs]") && run.stdout.contains("left unchanged"), "{run}");
    let run = workspace.tflock(None, ["cache", "export", "--publish", "--index", &url]).ended_with(3);
    assert!(run.stderr.contains("denied[index-differs]"), "{run}");
    assert_eq!(std::fs::read_to_string(&entry).unwrap(), lie);
}

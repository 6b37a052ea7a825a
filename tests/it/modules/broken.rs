//! Registries and archives that fail: a clear error, and nothing half fetched is used or kept.

use std::time::Duration;

use super::{CALL, world};
use crate::support::registry::{Answer, Endpoint};
use crate::support::side_by_side;
use crate::support::workspace::Workspace;
use crate::support::worlds::LOCK;

/// What an endpoint answers in place of the truth, and how the run ends.
#[test]
#[ignore = "long"]
fn one_failure_each() {
    let all = [Endpoint::ModuleVersions, Endpoint::ModuleDownload, Endpoint::ModuleArchive];
    let answers = [
        ("404", Answer::status(404), 2),
        ("401", Answer::status(401), 4),
        ("a page", Answer::html(), 4),
        ("half", Answer::truncated(), 4),
        ("a reset", Answer::reset(), 4),
    ];
    side_by_side(&answers, |(what, answer, code)| {
        // An answer that is nothing but a header cannot be cut in half.
        for endpoint in all.into_iter().filter(|at| (*what, *at) != ("half", Endpoint::ModuleDownload)) {
            let registry = world().answers(endpoint, answer.clone());
            let workspace = Workspace::with_files(&[("main.tf", CALL)]);
            let run = workspace.tflock(&registry, LOCK);
            assert_eq!(run.code, Some(*code), "{what} at {endpoint:?}: {run}");
            assert!(run.stderr.contains("module") && run.stderr.contains("main.tf:1:1"), "{what} {endpoint:?}: {run}");
            assert!(run.touched().is_empty(), "{what} at {endpoint:?}: {run}");
            let registry = registry.recovered();
            workspace.tflock(&registry, LOCK).ended_with(0);
        }
    });
}

/// The gate does not know what the module requires: that is neither good nor bad.
#[test]
fn verify_is_inconclusive() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK).ended_with(0);
    let registry = registry.answers(Endpoint::ModuleVersions, Answer::status(503));
    std::fs::remove_dir_all(workspace.path("").with_file_name("cache").join("v2/modules")).unwrap();
    let run = workspace.tflock(&registry, ["verify"]).ended_with(4);
    assert!(run.stderr.contains("503") && run.stderr.contains("its requirements are unknown"), "{run}");
}

#[test]
#[ignore = "long"]
fn an_archive_without_end_ends() {
    let registry = world().answers(Endpoint::ModuleArchive, Answer::endless_of(600 << 20));
    let workspace = Workspace::with_files(&[("main.tf", CALL)]);
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("MiB"), "{run}");
}

/// A run that is killed while an archive comes leaves nothing that a second one would take for the module.
#[test]
#[cfg(unix)]
fn a_killed_run_leaves_nothing_half_fetched() {
    let registry = world().answers(Endpoint::ModuleArchive, Answer::slow(Duration::from_secs(5)).times(1));
    let workspace = Workspace::with_files(&[("main.tf", CALL)]);
    let mut process = workspace.tflock_command(&registry, LOCK).spawn().unwrap();
    for _ in 0..600 {
        if registry.count(Endpoint::ModuleArchive) > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(registry.count(Endpoint::ModuleArchive), 1);
    process.kill().unwrap();
    process.wait().unwrap();
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget\""));
    assert_eq!(registry.count(Endpoint::ModuleArchive), 2);
}

/// A failed fetch is reported once for a package, and once for a skipped host, however many calls there are.
#[test]
fn a_package_that_many_call_fails_once() {
    let calls = |count: usize, source: &dyn Fn(usize) -> String| -> String {
        let call = |at| format!("module \"m{at}\" {{\n  source = \"{}\"\n}}\n", source(at));
        (0..count).map(call).collect()
    };
    let registry = world();
    let host = registry.host();
    let gone = calls(40, &|_| format!("https://{host}/gone.tar.gz"));
    let workspace = Workspace::with_files(&[("main.tf", &gone)]);
    for command in [&LOCK[..], &["why"], &["verify"]] {
        let run = workspace.tflock(&registry, command);
        assert_eq!(run.stderr.matches("gone.tar.gz: ").count(), 1, "{run}");
        assert!(run.stderr.contains("  in 40 places: main.tf:1:1, main.tf:4:1, main.tf:7:1, "), "{run}");
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dead = calls(60, &|at| format!("https://127.0.0.1:{port}/{at}.zip"));
    for root in ["a", "b"] {
        workspace.write(&format!("{root}/main.tf"), &dead);
        workspace.write(&format!("{root}/.terraform.lock.hcl"), "");
    }
    std::fs::remove_file(workspace.path("main.tf")).unwrap();
    let run = workspace.tflock(&registry, ["lock", "-r"]).ended_with(4);
    assert_eq!(run.stderr.matches("it is skipped for the rest of this run").count(), 1, "{run}");
    assert!(run.stderr.matches("error: ").count() < 10, "{run}");
}

/// A registry that does not answer is reported once, however many root modules and providers need it.
#[test]
fn a_dead_registry_is_reported_once() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let entry = |at| format!("    p{at} = {{ source = \"127.0.0.1:{port}/acme/p{at}\" }}\n");
    let providers: String = (0..5).map(entry).collect();
    let workspace = Workspace::with_files(&[]);
    for root in 0..8 {
        let text = format!("terraform {{\n  required_providers {{\n{providers}  }}\n}}\n");
        workspace.write(&format!("r{root}/main.tf"), &text);
        workspace.write(&format!("r{root}/.terraform.lock.hcl"), "");
    }
    let run = workspace.tflock(None, ["lock", "-r"]).ended_with(4);
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{run}");
    assert!(run.stderr.contains("in all 8 root modules"), "{run}");
}

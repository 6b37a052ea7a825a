//! Runs at the same time, and modules that several root modules call.

use std::time::Duration;

use super::{CALL, world};
use crate::support::registry::{Answer, Endpoint};
use crate::support::workspace::Workspace;
use crate::support::worlds::LOCK;

#[test]
fn two_runs_fetch_a_package_once() {
    let registry = world().answers(Endpoint::ModuleArchive, Answer::slow(Duration::from_millis(100)));
    let workspace = Workspace::with_files(&[("a/main.tf", CALL), ("b/main.tf", CALL)]);
    std::thread::scope(|scope| {
        for root in ["a", "b"] {
            let args = ["-C", root].into_iter().chain(LOCK);
            let (workspace, registry) = (&workspace, &registry);
            scope.spawn(move || workspace.tflock_command(registry, args).output().unwrap());
        }
    });
    assert!(workspace.has("a/.terraform.lock.hcl") && workspace.has("b/.terraform.lock.hcl"));
    assert_eq!(registry.count(Endpoint::ModuleArchive), 1);
}

/// As many runs as a busy machine has, all with one cache.
#[test]
fn forty_runs_share_the_cache() {
    let registry = world();
    let workspace = Workspace::with_files(&[("main.tf", CALL)]);
    // The placeholders are filled once, before the runs begin.
    workspace.tflock(&registry, ["--version"]).ended_with(0);
    let answers: Vec<String> = std::thread::scope(|scope| {
        let start = |_| {
            let (workspace, registry) = (&workspace, &registry);
            scope.spawn(move || {
                let output = workspace.tflock_command(registry, ["why", "--format", "json"]).output().unwrap();
                assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stdout).unwrap()
            })
        };
        let threads: Vec<_> = (0..40).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers[0].contains("acme/widget") && answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(registry.count(Endpoint::ModuleArchive), 1);
}

/// Forty calls are fetched side by side: the server delays each archive until sixteen are requested.
#[test]
#[ignore = "long"]
fn forty_modules_are_fetched_side_by_side() {
    let mut registry = world();
    let other = registry.other_host();
    let call = |at| format!("module \"m{at}\" {{\n  source = \"{other}/acme/m{at}/lab\"\n}}\n");
    let calls: String = (0..40).map(call).collect();
    for at in 0..40 {
        registry = registry.module(&format!("acme/m{at}/lab"), "1.0.0", &[("main.tf", "# nothing\n")]);
    }
    let workspace = Workspace::with_files(&[("main.tf", &calls)]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", "--lock-modules"]).ended_with(0);
    std::fs::remove_dir_all(workspace.path("").with_file_name("cache").join("v2/modules")).unwrap();
    registry.forget_requests();
    let registry = registry.answers(Endpoint::ModuleArchive, Answer::together(16));
    let run = workspace.tflock(&registry, ["get"]).ended_with(0);
    assert!(run.stdout.contains("40 modules") && run.stdout.contains("installed 40 of"), "{run}");
    assert_eq!(registry.count(Endpoint::ModuleArchive), 40);
    // Locked, their versions are not requested.
    assert_eq!(registry.count(Endpoint::ModuleVersions), 0);
}

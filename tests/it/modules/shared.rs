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

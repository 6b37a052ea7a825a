//! What a run may spend on servers, with small limits: beyond each the result is inconclusive, and the message says how to go on.

use std::net::TcpListener;

use crate::modules::archives::{Entry::File, tar_gz};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, widget};

const LOCK: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];

/// Calls of one source each.
fn calling(sources: impl Iterator<Item = String>) -> Workspace {
    let call = |(at, source)| format!("module \"m{at}\" {{\n  source = {source:?}\n}}\n");
    Workspace::with_files(&[("main.tf", &sources.enumerate().map(call).collect::<String>())])
}

/// Archives of a little more than half a MiB each.
fn archives(registry: Registry) -> (Registry, Workspace) {
    let sources = (0..3).map(|at| format!("https://{}/{at}.tar.gz", registry.host())).collect::<Vec<_>>();
    let registry = (0..3).fold(registry, |registry, at| {
        let text = format!("# {at}\n").repeat(120_000);
        let archive = tar_gz(&[("main.tf", File("# a\n")), ("x.txt", File(&text))]);
        registry.document(&format!("/{at}.tar.gz"), "application/gzip", archive)
    });
    (registry, calling(sources.into_iter()))
}

#[test]
fn each_limit_of_a_run_is_reached() {
    for (variable, limit) in
        [("TFLOCK_MAX_MODULE_PACKAGES", "2"), ("TFLOCK_MAX_REQUESTS", "1"), ("TFLOCK_MAX_MODULE_MIB", "1")]
    {
        let (registry, workspace) = archives(widget());
        let workspace = workspace.env(variable, limit);
        let run = workspace.tflock(&registry, LOCK).ended_with(4);
        assert!(run.stderr.contains(&format!("set {variable} to more than {limit}")), "{run}");
        assert!(!workspace.has(".tflock.modules.hcl") && !workspace.has(".terraform.lock.hcl"), "{run}");
        let staged = workspace.path("").with_file_name("cache").join("v2/modules/staging");
        assert_eq!(std::fs::read_dir(staged).map_or(0, Iterator::count), 0, "{run}");
        // As far as the limit allows.
        workspace.env(variable, "100").tflock(&registry, LOCK).ended_with(0);
    }
}

#[test]
#[ignore = "long"]
fn the_network_time_of_a_run_is_bounded() {
    // The system accepts connections for it; they are never read.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    for scheme in ["git::https", "https"] {
        let workspace = calling((0..17).map(|at| format!("{scheme}://{host}/{at}.zip")));
        let workspace = workspace.env("TFLOCK_MAX_NETWORK_SECONDS", "1");
        let run = workspace.tflock(None, LOCK).ended_with(4);
        assert!(run.stderr.contains("set TFLOCK_MAX_NETWORK_SECONDS to more than 1"), "{run}");
    }
}

#[test]
fn a_host_without_git_is_skipped() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let workspace = calling((0..40).map(|at| format!("git::https://127.0.0.1:{port}/{at}.git")));
    let run = workspace.tflock(None, LOCK).ended_with(4);
    assert!(run.stderr.contains("is skipped for the rest of this run"), "{run}");
}

#[cfg(unix)]
#[test]
fn the_references_of_a_repository_are_bounded() {
    let world = super::ambiguous::World::new();
    let net = world.repository("net");
    net.git(&["tag", "v1"]);
    world.call("main", "net", "?ref=v1");
    let workspace = world.0.env("TFLOCK_MAX_GIT_REFERENCES", "1");
    let run = workspace.tflock(None, LOCK).ended_with(4);
    assert!(run.stderr.contains("the repository lists more than 1 references"), "{run}");
    assert!(run.stderr.contains("set TFLOCK_MAX_GIT_REFERENCES to more than 1"), "{run}");
}

#[test]
fn shared_indexes_spend_from_the_budget_of_the_run() {
    let registry = widget();
    let machine = || crate::index::machine("https://{{registry}}/nothing/", "");
    machine().tflock(&registry, LOCK_BOTH).ended_with(0);
    let of_index = |request: &&crate::support::registry::Request| request.path.starts_with("/nothing/");
    let spent = registry.requests();
    assert_eq!(spent.iter().filter(of_index).count(), 2);
    let limited = |limit: usize| machine().env("TFLOCK_MAX_REQUESTS", &limit.to_string());
    let run = limited(spent.len() - 1).tflock(&registry, LOCK_BOTH).ended_with(4);
    assert!(run.stderr.contains("set TFLOCK_MAX_REQUESTS to more than"), "{run}");
    limited(spent.len()).tflock(&registry, LOCK_BOTH).ended_with(0);
}

//! Queries that start before the whole tree is known.

use super::{NEEDS_WIDGET, world};
use crate::support::registry::{Answer, Endpoint, Registry, Request};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, PLATFORMS, widget};

/// A call of a module of the registry, and with it a requirement.
fn calling(name: &str) -> String {
    format!("module \"{name}\" {{\n  source = \"{{{{other-host}}}}/acme/{name}/lab\"\n}}\n")
}

fn at(requests: &[Request], endpoint: Endpoint) -> usize {
    requests.iter().position(|request| request.endpoint == endpoint).unwrap()
}

/// The server delays the module until the checksums of the provider are requested.
#[test]
fn providers_are_queried_while_modules_are_fetched() {
    let workspace = Workspace::with_files(&[("main.tf", &format!("{NEEDS_WIDGET}{}", calling("net")))]);
    let held =
        world().answers(Endpoint::ModuleArchive, Answer::together(2)).answers(Endpoint::Sums, Answer::together(2));
    workspace.tflock(&held, LOCK).ended_with(0);
    let requests = held.requests();
    // Archives wait until all constraints are known.
    assert!(at(&requests, Endpoint::Zip) > at(&requests, Endpoint::ModuleArchive));
    for (endpoint, count) in [(Endpoint::Versions, 1), (Endpoint::Download, 1), (Endpoint::Sums, 1), (Endpoint::Zip, 1)]
    {
        assert_eq!(held.count(endpoint), count, "{endpoint:?}");
    }
    // Both services of a host are looked up at once.
    assert_eq!(held.count(Endpoint::Discovery), 2);
    let written = workspace.lock_file();
    let workspace = Workspace::with_files(&[("main.tf", &workspace.read("main.tf"))]);
    workspace.tflock(&world(), ["lock", "--platform", "linux_amd64", "--check"]).ended_with(1);
    workspace.write(".terraform.lock.hcl", &written);
    workspace.tflock(&world(), ["lock", "--platform", "linux_amd64", "--check"]).ended_with(0);
}

#[test]
fn a_version_that_a_module_excludes_is_not_downloaded() {
    let narrow = NEEDS_WIDGET.replace("\"\n    }", "\"\n      version = \"1.3.0\"\n    }");
    let registry = widget().release("acme/widget", "1.3.0", PLATFORMS);
    let registry = registry.module("acme/net/lab", "1.0.0", &[("main.tf", &narrow)]);
    let workspace = Workspace::with_files(&[("main.tf", &format!("{NEEDS_WIDGET}{}", calling("net")))]);
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.lock_file().contains("\"1.3.0\""));
    let downloaded: Vec<String> =
        registry.requests().iter().filter(|it| it.endpoint == Endpoint::Zip).map(|it| it.path.clone()).collect();
    assert!(downloaded.len() == 1 && downloaded[0].contains("1.3.0"), "{downloaded:?}");
}

#[test]
fn no_forbidden_host_is_contacted() {
    let settings = "policy {\n  hosts = [\"registry.example.com\"]\n}\n";
    let files = [("main.tf", &*format!("{NEEDS_WIDGET}{}", calling("net"))), (".tflock.hcl", settings)];
    let (registry, workspace) = (world(), Workspace::with_files(&files));
    workspace.tflock(&registry, LOCK).ended_with(3);
    assert_eq!(registry.count(Endpoint::Versions), 0);
    assert_eq!(registry.count(Endpoint::ModuleArchive), 1);
}

/// The server delays one module until the module that the other one calls is requested.
#[test]
fn what_a_module_calls_does_not_wait_for_its_slow_neighbours() {
    let held = |registry: Registry, name: &str| {
        registry.answers(Endpoint::ModuleArchive, Answer::together(2).only_for(&format!("acme/{name}/lab")))
    };
    let registry = widget();
    let quick = calling("deep").replace("{{other-host}}", &registry.other_host());
    let registry = registry.module("acme/quick/lab", "1.0.0", &[("main.tf", &quick)]);
    let registry = registry.module("acme/slow/lab", "1.0.0", &[("main.tf", NEEDS_WIDGET)]);
    let registry = registry.module("acme/deep/lab", "1.0.0", &[("main.tf", NEEDS_WIDGET)]);
    let registry = held(held(registry, "slow"), "deep");
    let workspace = Workspace::with_files(&[("main.tf", &format!("{}{}", calling("slow"), calling("quick")))]);
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(registry.count(Endpoint::ModuleArchive), 3);
}

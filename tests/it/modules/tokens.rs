//! No token and no password reaches another host, and servers that never answer end the run.

use std::time::Duration;

use super::archives::{Entry, tar_gz};
use super::git::needs_widget;
use super::{CALL, world};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

/// A registry at the other host, whose module is an archive at the first one.
fn elsewhere() -> Registry {
    let registry = widget();
    let archive = tar_gz(&[("main.tf", Entry::File(&needs_widget(&registry)))]);
    let location = format!("{{\"location\":\"https://{}/far.tar.gz\"}}", registry.host());
    registry
        .document("/far.tar.gz", "application/gzip", archive)
        .document(
            "/v1/modules/acme/far/lab/versions",
            "application/json",
            "{\"modules\":[{\"versions\":[{\"version\":\"1.0.0\"}]}]}",
        )
        .document("/v1/modules/acme/far/lab/1.0.0/download", "application/json", location)
}

#[test]
fn a_token_goes_to_its_registry_only() {
    let registry = elsewhere();
    let call = CALL.replace("acme/net", "acme/far");
    let workspace = Workspace::with_files(&[("main.tf", &call)]);
    let workspace = workspace.env("TF_TOKEN_{{other-host}}", "s3cret-token");
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
    assert_eq!(registry.hosts_that_saw_a_token().into_iter().collect::<Vec<_>>(), [registry.other_host()]);
    let archive = registry.requests().into_iter().find(|request| request.path == "/far.tar.gz").unwrap();
    assert_eq!(archive.authorization, None);
    assert!(!format!("{}{}{}", run.stdout, run.stderr, workspace.read(".tflock.modules.hcl")).contains("s3cret"));
}

/// `.netrc` holds the password for archives, as in the tools; a redirect does not take it along.
#[test]
fn a_password_goes_to_its_machine_only() {
    let registry = elsewhere().answers(Endpoint::Other, Answer::redirect_to_other_host());
    let call = format!("module \"net\" {{\n  source = \"https://{}/far.tar.gz\"\n}}\n", registry.host());
    let workspace = Workspace::with_files(&[("main.tf", &call)]);
    let netrc = format!("machine {}\n  login me\n  password s3cret-word\n", registry.host());
    std::fs::write(workspace.path("").with_file_name("home").join(".netrc"), netrc).unwrap();
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    let seen: Vec<(String, bool)> = registry
        .requests()
        .into_iter()
        .filter(|request| request.path == "/far.tar.gz")
        .map(|request| (request.host, request.authorization.is_some()))
        .collect();
    assert_eq!(seen, [(registry.host(), true), (registry.other_host(), false)], "{run}");
    assert!(!format!("{}{}", run.stdout, run.stderr).contains("s3cret"));
}

/// The time for each document is the user's; unit tests cover that of archives and git.
#[test]
#[ignore = "long"]
fn a_registry_that_never_answers() {
    let never = || Answer::slow(Duration::from_secs(3600));
    std::thread::scope(|scope| {
        for endpoint in [Endpoint::Discovery, Endpoint::ModuleVersions] {
            scope.spawn(move || {
                let registry = world().answers(endpoint, never());
                let workspace = Workspace::with_files(&[("main.tf", CALL)]).env("TF_REGISTRY_CLIENT_TIMEOUT", "1");
                let run = workspace.tflock(&registry, LOCK).ended_with(4);
                let says = run.stderr.contains("1s") || run.stderr.contains("1 s");
                assert!(says && run.stderr.contains(&registry.other_host()), "{endpoint:?}: {run}");
                assert!(run.touched().is_empty(), "{run}");
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_sends_no_more_requests() {
    let registry = world().answers(Endpoint::ModuleArchive, Answer::slow(Duration::from_secs(3600)));
    let workspace = Workspace::with_files(&[("main.tf", CALL)]);
    let process = workspace.tflock_command(&registry, LOCK).spawn().unwrap();
    crate::lock_network::wait_until(|| registry.count(Endpoint::ModuleArchive) > 0);
    let id = process.id().to_string();
    let kill = std::process::Command::new("/bin/sh").args(["-c", "kill -INT \"$1\"", "sh", &id]).status();
    assert!(kill.unwrap().success());
    let output = process.wait_with_output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), registry.count(Endpoint::Versions)), (Some(130), 0), "{shown}");
    assert!(!workspace.has(".terraform.lock.hcl"));
}

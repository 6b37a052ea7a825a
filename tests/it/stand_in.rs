//! `localterraform.com` in a source address: the host of the `cloud` block or of the `remote` backend, and never asked itself.

use crate::support::keys;
use crate::support::locked::{LOCK, hashes};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, edit};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{PLATFORMS, widget};

const REQUIRED: &str =
    "  required_providers {\n    widget = {\n      source = \"localterraform.com/acme/widget\"\n    }\n  }\n}\n";
const CALL: &str = "module \"net\" {\n  source = \"localterraform.com/acme/net/lab\"\n}\n";
const LOCKS: [&str; 3] = ["lock", "--platform", "linux_amd64"];

/// What is in the `terraform` block, in front of its requirements.
fn workspace(backend: &str) -> Workspace {
    Workspace::with_files(&[("main.tf", &format!("terraform {{\n  {backend}\n{REQUIRED}{CALL}"))])
}

fn cloud(host: &str) -> String {
    format!("cloud {{\n    hostname = \"{host}\"\n    workspaces {{\n      name = \"x\"\n    }}\n  }}")
}

fn remote(host: &str) -> String {
    format!("backend \"remote\" {{\n    hostname = \"{host}\"\n    workspaces {{\n      name = \"x\"\n    }}\n  }}")
}

fn policy(hosts: &[&str]) -> String {
    format!("policy {{\n  module_hosts = {hosts:?}\n}}\n")
}

/// A registry with the widget, and a module that requires nothing.
fn registry() -> Registry {
    widget().module("acme/net/lab", "1.0.0", &[("main.tf", "locals {}\n")])
}

#[test]
fn stands_for_a_host_that_is_written() {
    let environment = |it: Workspace| it.env("TF_CLOUD_HOSTNAME", "{{registry}}");
    let written = |backend: String| (backend, Box::new(|it| it) as Box<dyn Fn(Workspace) -> Workspace>);
    let rows = [
        ("terraform", written(cloud("{{registry}}"))),
        ("tofu", written(cloud("{{registry}}"))),
        ("terraform", written(remote("{{registry}}"))),
        ("terraform", ("cloud {\n  }".to_owned(), Box::new(environment) as _)),
    ];
    for (tool, (backend, with)) in rows {
        let registry = registry();
        let workspace = with(workspace(&backend).env("TF_TOKEN_{{registry}}", "s3cret"));
        workspace.tflock(&registry, LOCKS.iter().chain(&["--lock-modules", "--tool", tool])).ended_with(0);
        let lock = workspace.read(LOCK);
        assert!(lock.contains("\nprovider \"localterraform.com/acme/widget\" {"), "{backend}: {lock}");
        let expected = hashes(&registry, "acme/widget", "1.4.0");
        assert!(expected.iter().filter(|hash| lock.contains(*hash)).count() > 1, "{lock}");
        assert!(workspace.read(".tflock.modules.hcl").contains("\"localterraform.com/acme/net/lab\""));
        assert_eq!(registry.hosts_that_saw_a_token().into_iter().collect::<Vec<_>>(), [registry.host()]);
        let checked = workspace.tflock(&registry, ["verify", "--tool", tool, "--format", "json"]).ended_with(0);
        assert_eq!(checked.json()["unknown"], 0, "{checked}");
    }
}

#[test]
fn is_not_asked_where_its_host_is_not_known() {
    let rows = [
        ("terraform", "backend \"s3\" {\n  }".to_owned()),
        ("terraform", cloud("${var.host}")),
        ("terraform", "backend \"remote\" {\n  }".to_owned()),
        ("tofu", "cloud {\n  }".to_owned()),
        // There it is another name.
        ("tofu", remote("{{registry}}")),
    ];
    for (tool, backend) in rows {
        let registry = registry();
        let run = workspace(&backend).tflock(&registry, LOCKS.iter().chain(&["--tool", tool])).ended_with(2);
        assert!(
            run.stderr.contains("localterraform.com is no registry") && run.touched().is_empty(),
            "{backend}: {run}"
        );
        assert!(registry.requests().is_empty(), "{backend}: {run}");
    }
}

/// A release that one host has says nothing of that of another host, which has the same address.
#[test]
fn means_another_release_elsewhere() {
    let (registry, other) = (registry(), registry().release("acme/widget", "1.5.0", &["linux_amd64"]));
    let workspace = workspace(&cloud("{{registry}}"));
    workspace.tflock(&registry, LOCKS).ended_with(0);
    let offline = workspace.tflock(&registry, ["verify", "--offline", "--format", "json"]);
    assert_eq!(offline.json()["proven"], 0, "{offline}");
    edit(&workspace, "main.tf", |before| before.replace(&registry.host(), &other.host()));
    workspace.tflock(&other, ["upgrade"]).ended_with(0);
    assert!(workspace.read(LOCK).contains("1.5.0"));
}

/// Whatever a command reads first.
#[test]
fn is_known_to_every_command() {
    let registry = registry().release("acme/widget", "1.5.0", PLATFORMS);
    let workspace = workspace(&cloud("{{registry}}"));
    workspace.write(SETTINGS, &policy(&[&registry.host()]));
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "no lock file");
    let commands = [
        "lock --platform linux_amd64 --lock-modules",
        "install",
        "verify --installed",
        "outdated",
        "diff --online HEAD",
        "mirror ../mirror",
        "trust init",
        "upgrade --modules",
        "explain localterraform.com/acme/widget",
        "verify --base HEAD --allow-trust-change",
    ];
    for command in commands {
        if command == "trust init" {
            std::fs::remove_file(workspace.path(TRUST)).unwrap();
        }
        let run = workspace.tflock(&registry, command.split(' ')).ended_with(0);
        assert!(!run.stderr.contains("is no registry"), "{command}: {run}");
    }
    assert!(workspace.read(TRUST).contains(&keys::GOOD.fingerprint()));
    edit(&workspace, "main.tf", |text| {
        text.replace("    widget = {\n      source = \"localterraform.com/acme/widget\"\n    }\n", "")
    });
    workspace.tflock(&registry, ["add", "localterraform.com/acme/widget"]).ended_with(0);
}

/// Modules come from the host that the name means, so the policy is about that one.
#[test]
fn is_judged_by_the_host_that_it_means() {
    let registry = registry();
    let workspace = workspace(&cloud("{{registry}}"));
    for (allowed, code) in [(registry.host(), 0), ("localterraform.com".to_owned(), 3)] {
        workspace.write(SETTINGS, &policy(&[&allowed]));
        let run = workspace.tflock(&registry, LOCKS.iter().chain(&["--lock-modules"])).ended_with(code);
        assert_eq!(run.stderr.contains(&format!("must not come from {}", registry.host())), code == 3, "{run}");
        let verify = workspace.tflock(&registry, ["verify", "--format", "json"]).ended_with(code);
        assert!(!verify.stdout.contains("module-changed"), "{verify}");
        assert_eq!(verify.stdout.contains("must not come from"), code == 3, "{verify}");
    }
}

/// A change could choose the host: the gate asks one that the settings of the base name.
#[test]
fn is_known_to_the_gate_by_the_settings_of_the_base() {
    let (registry, other) = (registry(), registry());
    let workspace = workspace(&cloud("{{registry}}"));
    workspace.tflock(&registry, LOCKS).ended_with(0);
    let (lock, main) = (workspace.read(LOCK), workspace.read("main.tf"));
    let good = keys::GOOD.fingerprint();
    workspace.write(TRUST, &format!("provider \"localterraform.com/acme/widget\" {{\n  signers = [\"{good}\"]\n}}\n"));
    workspace.git(["init", "--quiet"]);
    let rows = [
        (String::new(), registry.host(), 2),
        (policy(&[&registry.host()]), registry.host(), 0),
        // The change names another host, with the same releases.
        (policy(&[&registry.host()]), other.host(), 3),
        (policy(&["localterraform.com"]), other.host(), 3),
    ];
    for (settings, host, code) in rows {
        workspace.write("main.tf", &main);
        workspace.write(SETTINGS, &settings);
        workspace.write(LOCK, &lock.replace("1.4.0", "1.3.0"));
        workspace.write("round.txt", &format!("{settings}{host}"));
        commit(&workspace, "base");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        workspace.write(LOCK, &lock);
        workspace.write("main.tf", &main.replace(&registry.host(), &host));
        // Its own settings do not count.
        if settings.is_empty() {
            workspace.write(SETTINGS, &policy(&[&host]));
        }
        registry.forget_requests();
        let run = workspace.tflock(&other, GATE.iter().chain(&["--format", "json"])).ended_with(code);
        let is_unknown = run.stdout.contains("localterraform.com is no registry");
        assert_eq!(is_unknown, code != 0, "{host}: {run}");
        let is_forbidden = run.stdout.contains(&format!("must not come from {host}"));
        assert_eq!(is_forbidden, code == 3, "{host}: {run}");
        assert_eq!(registry.requests().is_empty() && other.requests().is_empty(), code != 0, "{host}: {run}");
    }
}

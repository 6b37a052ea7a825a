//! `localterraform.com` in a source address: the host of the `cloud` block or of the `remote` backend, and never asked itself.

use crate::support::keys;
use crate::support::locked::{LOCK, hashes};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, edit};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

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

/// A change could choose the host: the gate asks one that the settings of the base name.
#[test]
fn is_known_to_the_gate_by_the_settings_of_the_base() {
    let registry = registry();
    let workspace = workspace(&cloud("{{registry}}"));
    workspace.tflock(&registry, LOCKS).ended_with(0);
    let lock = workspace.read(LOCK);
    let good = keys::GOOD.fingerprint();
    workspace.write(TRUST, &format!("provider \"localterraform.com/acme/widget\" {{\n  signers = [\"{good}\"]\n}}\n"));
    workspace.write(LOCK, &lock.replace("1.4.0", "1.3.0"));
    workspace.git(["init", "--quiet"]);
    for (settings, code) in [("", 2), ("policy {\n  module_hosts = [\"{{registry}}\", \"localterraform.com\"]\n}\n", 0)]
    {
        workspace.write(SETTINGS, &settings.replace("{{registry}}", &registry.host()));
        workspace.write(LOCK, &lock.replace("1.4.0", "1.3.0"));
        commit(&workspace, "base");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        workspace.write(LOCK, &lock);
        workspace.tflock(&registry, GATE).ended_with(code);
    }
}

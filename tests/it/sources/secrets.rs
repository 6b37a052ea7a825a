//! Secrets never appear: not over any source, not over any failure, not at the highest verbosity.

use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

/// All secrets of the tests hold this.
const SECRET: &str = "s3cr3t-w0rd";

fn shows_none(run: &Run) {
    let shown = format!("{}{}", run.stdout, run.stderr);
    assert!(!shown.contains(SECRET), "{run}");
}

/// A workspace whose user has secrets everywhere.
fn secretive(registry: &Registry) -> Workspace {
    let host = registry.host();
    Workspace::from("modules/one-root")
        .cli_config(&format!("credentials \"{host}\" {{\n token = \"{SECRET}-block\"\n}}\n"))
        .env("TF_TOKEN_registry_example_com", &format!("{SECRET}-variable"))
}

#[test]
fn no_source_and_no_failure_shows_a_secret() {
    let faults = [None, Some(401), Some(403), Some(404), Some(500)];
    for fault in faults {
        let mut registry = widget().requiring_token(&format!("{SECRET}-block"));
        if let Some(status) = fault {
            for endpoint in [Endpoint::Versions, Endpoint::MirrorIndex] {
                registry = registry.answers(endpoint, Answer::status(status));
            }
        }
        let workspace = secretive(&registry);
        let net = format!("net:https://me:{SECRET}@{}/mirror/?key={SECRET}", registry.host());
        for source in ["origin", "configured", &net, &format!("fs:/{}", "nowhere")] {
            for command in [&["lock", "--platform=linux_amd64"][..], &["verify"], &["outdated"]] {
                let more = ["--source", source, "-v"];
                shows_none(&workspace.tflock(&registry, command.iter().chain(&more)));
                shows_none(&workspace.tflock(&registry, command.iter().chain(&more).chain(&["--format=json"])));
            }
        }
    }
}

#[test]
fn a_source_that_is_misspelt_shows_no_secret() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    let wrong = format!("https://me:{SECRET}@mirror.example/?key={SECRET}");
    shows_none(&workspace.tflock(&registry, ["lock", "--source", &wrong]).ended_with(2));
    shows_none(&workspace.tflock(&registry, ["lock", "--format=json", "--source", &wrong]).ended_with(2));
    workspace.write(".tflock.hcl", &format!("source = \"{wrong}\"\n"));
    shows_none(&workspace.tflock(&registry, ["lock"]).ended_with(2));
    shows_none(&workspace.tflock(&registry, ["lock", "--net-mirror", &wrong, "-v"]));
}

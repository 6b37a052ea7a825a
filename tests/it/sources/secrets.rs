//! Secrets never appear: not over any source, not over any failure, not at the highest verbosity.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::oci::{layout, served};
use crate::index::machine;
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::side_by_side;
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
#[ignore = "long"]
fn no_source_and_no_failure_shows_a_secret() {
    let sources = ["origin", "configured", "net", "fs:/nowhere"];
    let rows: Vec<_> = FAULTS.iter().flat_map(|fault| sources.map(|source| (fault, source))).collect();
    side_by_side(&rows, |(fault, source)| {
        let mut registry = widget().requiring_token(&format!("{SECRET}-block"));
        if let Some(status) = **fault {
            for endpoint in [Endpoint::Versions, Endpoint::MirrorIndex] {
                registry = registry.answers(endpoint, Answer::status(status));
            }
        }
        let workspace = secretive(&registry);
        let net = format!("net:https://me:{SECRET}@{}/mirror/?key={SECRET}", registry.host());
        let more = ["--source", if *source == "net" { &net } else { source }, "-v"];
        for command in [&["lock", "--platform=linux_amd64"][..], &["verify"], &["outdated"]] {
            shows_none(&workspace.tflock(&registry, command.iter().chain(&more)));
            shows_none(&workspace.tflock(&registry, command.iter().chain(&more).chain(&["--format=json"])));
        }
    });
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

/// What fails, or nothing.
const FAULTS: [Option<u16>; 5] = [None, Some(401), Some(403), Some(404), Some(500)];

#[test]
#[ignore = "long"]
fn no_index_shows_a_secret() {
    let token = format!("{SECRET}-of-index");
    side_by_side(&FAULTS, |fault| {
        let registry = widget().taking_files("/team/").guarding("/team/", &format!("Bearer {token}"), "Bearer");
        let failing = |registry: Registry, status| registry.answers(Endpoint::Other, Answer::status(status));
        let registry = (*fault).into_iter().fold(registry, failing);
        let url = format!("https://{}/team", registry.host());
        let workspace = machine(&url, "  trust = \"verified\"\n").env("TF_TOKEN_{{registry}}", &token);
        let lock = ["lock", "--platform=linux_amd64"];
        let publish = [&lock[..], &["--publish", "--index", &url]].concat();
        for command in [&publish[..], &lock, &["verify"], &["cache", "export", "--publish", "--index", &url]] {
            shows_none(&workspace.tflock(&registry, command.iter().chain(&["-v"])));
            shows_none(&workspace.tflock(&registry, command.iter().chain(&["--format=json"])));
        }
    });
    let registry = widget();
    for wrong in
        ["https://me:{}@h.example/", "https://h.example/?sig={}", "https://me:{}@h.example:port/", "s3://me:{}@x"]
    {
        let wrong = wrong.replace("{}", SECRET);
        shows_none(&machine(&wrong, "").tflock(&registry, ["lock", "-v"]).ended_with(2));
        let workspace = Workspace::from("modules/one-root");
        shows_none(&workspace.tflock(&registry, ["lock", "-v", "--publish", "--index", &wrong]).ended_with(2));
        let workspace = workspace.env("TFLOCK_INDEX", &wrong);
        shows_none(&workspace.tflock(&registry, ["cache", "export", "--publish", "--format=json"]).ended_with(2));
    }
}

/// Secrets in the sources of calls, in locations of a registry, in tokens and in `.netrc`.
#[test]
#[ignore = "long"]
fn no_module_shows_a_secret() {
    side_by_side(&FAULTS, |fault| {
        let mut registry = widget().requiring_token(&format!("{SECRET}-variable"));
        let far = format!("https://me:{SECRET}@{}/far.tar.gz?sig={SECRET}", registry.other_host());
        if let Some(status) = *fault {
            for endpoint in [Endpoint::ModuleVersions, Endpoint::Other] {
                registry = registry.answers(endpoint, Answer::status(status));
            }
        }
        let versions = "{\"modules\":[{\"versions\":[{\"version\":\"1.0.0\"}]}]}";
        let location = format!("{{\"location\":\"{far}\"}}");
        let registry = registry.document("/v1/modules/acme/far/lab/versions", "application/json", versions).document(
            "/v1/modules/acme/far/lab/1.0.0/download",
            "application/json",
            location,
        );
        let host = registry.host();
        let sources = [
            format!("git::https://me:{SECRET}@{host}/net.git?ref=v1&sshkey={SECRET}"),
            format!("git::ssh://me:{SECRET}@127.0.0.1:1/net.git?sshkey={SECRET}"),
            format!("https://me:{SECRET}@{host}/far.zip?token={SECRET}&checksum=file:https://me:{SECRET}@{host}/sums"),
            format!("https://me:{SECRET}@{host}/page?sig={SECRET}"),
            format!("s3::https://me:{SECRET}@{host}/far.zip?aws_access_key_secret={SECRET}"),
            format!("{host}/acme/far/lab"),
        ];
        let call = |(at, source)| format!("module \"m{at}\" {{\n  source = \"{source}\"\n}}\n");
        let calls: String = sources.iter().enumerate().map(call).collect();
        let workspace = Workspace::with_files(&[("main.tf", &calls)])
            .env("TF_TOKEN_{{registry}}", &format!("{SECRET}-variable"))
            .env("GIT_TERMINAL_PROMPT", "0");
        let netrc = format!("machine {host}\n  login me\n  password {SECRET}-netrc\n");
        std::fs::write(workspace.path("../home/.netrc"), netrc).unwrap();
        let lock = ["lock", "--platform=linux_amd64", "--lock-modules"];
        let commands = [&lock[..], &["list", "--modules"], &["outdated", "--modules"], &["why"], &["get"]];
        // After this status requests are retried, which takes a while.
        let count = if *fault == Some(500) { 1 } else { commands.len() };
        for command in &commands[..count] {
            shows_none(&workspace.tflock(&registry, command.iter().chain(&["-v"])));
            shows_none(&workspace.tflock(&registry, command.iter().chain(&["--format=json"])));
        }
        // Each error names the place of its module, three lines a call.
        let run = workspace.tflock(&registry, lock);
        assert_eq!(
            (0..sources.len()).filter(|at| !run.stderr.contains(&format!("main.tf:{}:1", 3 * at + 1))).count(),
            0,
            "{run}"
        );
    });
}

/// A user and a password in the address of a service, as Nexus has them.
#[test]
#[ignore = "long"]
fn no_path_of_a_service_shows_a_secret() {
    let token = STANDARD.encode(format!("user:{SECRET}"));
    let names = [token.clone(), token.replace('=', "%3D")];
    let rows: Vec<_> = names.iter().flat_map(|name| [None, Some(401), Some(404)].map(|fault| (name, fault))).collect();
    side_by_side(&rows, |(name, fault)| {
        let mut registry = widget().module("acme/net/lab", "1.0.0", &[("main.tf", "locals {}\n")]);
        if let Some(status) = *fault {
            for endpoint in [Endpoint::Versions, Endpoint::ModuleVersions, Endpoint::Other] {
                registry = registry.answers(endpoint, Answer::refusal(status, format!("no entry for {name}")));
            }
        }
        let base = format!("https://{}/repository/tf/v1", registry.host());
        let service = |kind| format!("\"{kind}.v1\" = \"{base}/{kind}/{name}/\"");
        let block = format!(
            "host \"nexus.example\" {{\n services = {{\n {}\n {}\n }}\n}}\n",
            service("providers"),
            service("modules")
        );
        let main = "terraform {\n  required_providers {\n    widget = {\n      source = \"nexus.example/acme/widget\"\n    }\n  }\n}\n\n\
                    module \"net\" {\n  source  = \"nexus.example/acme/net/lab\"\n  version = \"1.0.0\"\n}\n";
        let workspace = Workspace::with_files(&[("main.tf", main)]).cli_config(&block);
        let net = format!("--source=net:{base}/{name}/");
        let lock = ["lock", "--lock-modules", "--platform=linux_amd64"];
        let locked = workspace.tflock(&registry, lock);
        assert_eq!(locked.code == Some(0), fault.is_none(), "{locked}");
        assert!(registry.requests().iter().any(|request| request.path.contains(&**name)), "{locked}");
        for command in [&lock[..], &["verify"], &["verify", &net], &["outdated"], &["explain", "acme/widget"], &["get"]]
        {
            for more in ["-v", "--format=json", "--report=markdown=report.md"] {
                let run = workspace.tflock(&registry, command.iter().chain(&[more]));
                shows_none(&run);
                let written = if workspace.has("report.md") { workspace.read("report.md") } else { String::new() };
                let shown = format!("{}{}{written}", run.stdout, run.stderr);
                assert!(!shown.contains(token.trim_end_matches('=')), "{run}");
            }
        }
    });
}

/// A program below `home`, which says this and ends with this exit code.
#[cfg(unix)]
fn helper(workspace: &Workspace, path: &str, says: &str, code: i32) {
    use std::os::unix::fs::PermissionsExt as _;

    let path = workspace.path("../home").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\ncat <<'END'\n{says}\nEND\nexit {code}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn no_credentials_helper_shows_a_secret() {
    let token = format!("{SECRET}-of-helper");
    let answer = format!("{{\"token\": \"{token}\"}}");
    let program = ".terraform.d/plugins/terraform-credentials-lab";
    for (says, exit, code) in [(answer.as_str(), 0, 0), (&answer, 1, 4), (&token, 0, 4), ("{}", 0, 4)] {
        let registry = widget().requiring_token(&token);
        let workspace = Workspace::from("modules/one-root").cli_config("credentials_helper \"lab\" {\n args = []\n}\n");
        helper(&workspace, program, says, exit);
        for more in ["-v", "--format=json"] {
            let run = workspace.tflock(&registry, ["lock", "--platform=linux_amd64", more]);
            shows_none(&run);
            run.ended_with(code);
        }
    }
}

/// A registry of packages that gives out tokens to who has the password, and the source that it is.
fn guarded() -> (Registry, String) {
    let registry = widget();
    let repository = layout(&registry, |_| {});
    let registry = served(registry, &repository, &["1.4.0"]);
    let host = registry.host();
    let password = format!("Basic {}", STANDARD.encode(format!("user:{SECRET}-password")));
    let granted = format!("{{\"token\": \"{SECRET}-granted\"}}");
    let challenge = format!("Bearer realm=\"https://{host}/token\",service=\"fixture\"");
    let registry = registry
        .document("/token", "application/json", granted)
        .guarding("/token", &password, "Basic realm=\"fixture\"")
        .guarding("/v2/", &format!("Bearer {SECRET}-granted"), &challenge);
    let source = format!("--source=oci:{host}/mirror/${{hostname}}/${{namespace}}/${{type}}");
    (registry, source)
}

/// Locks, verifies and mirrors at the highest verbosity and as JSON; the exit code of the first is to be this one.
fn tries(workspace: &Workspace, registry: &Registry, source: &str, code: i32) {
    let lock = ["lock", "--platform=linux_amd64"];
    for (number, command) in [&lock[..], &lock, &["verify"], &["mirror", "copies"]].into_iter().enumerate() {
        let more = if number == 1 { "--format=json" } else { "-v" };
        let run = workspace.tflock(registry, command.iter().chain(&["--tool=tofu", source, more]));
        shows_none(&run);
        assert!(number > 1 || run.code == Some(code), "{run}");
    }
}

fn requiring_widget() -> Workspace {
    let text = "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n";
    Workspace::with_files(&[("main.tf", text)])
}

#[test]
#[ignore = "long"]
fn no_oci_registry_shows_a_secret() {
    let (registry, source) = guarded();
    let host = registry.host();
    let of_user = |password: &str| format!(" username = \"user\"\n password = \"{SECRET}-{password}\"");
    for (arguments, code) in [
        (of_user("password"), 0),
        (of_user("wrong"), 4),
        (format!(" access_token = \"{SECRET}-granted\"\n refresh_token = \"{SECRET}-refresh\""), 0),
        (format!(" access_token = \"{SECRET}-stale\"\n refresh_token = \"{SECRET}-refresh\""), 4),
    ] {
        let block = format!("oci_credentials \"{host}\" {{\n{arguments}\n}}\n");
        tries(&requiring_widget().cli_config(&block), &registry, &source, code);
    }
    // Where tokens are given out, something else is wrong.
    for (status, body) in [(500, ""), (200, "\"s3cr3t-w0rd-granted\""), (200, "{\"token\": [\"s3cr3t-w0rd\"]}")] {
        let (registry, source) = guarded();
        let registry = match body {
            "" => registry.answers(Endpoint::Other, Answer::status(status)),
            body => registry.document("/token", "application/json", body),
        };
        let block = format!("oci_credentials \"{}\" {{\n{}\n}}\n", registry.host(), of_user("password"));
        tries(&requiring_widget().cli_config(&block), &registry, &source, 4);
    }
}

#[cfg(unix)]
#[test]
#[ignore = "long"]
fn no_file_and_no_helper_of_docker_shows_a_secret() {
    let (registry, source) = guarded();
    let host = registry.host();
    let auth = STANDARD.encode(format!("user:{SECRET}-password"));
    let of_helper = format!("{{\"credHelpers\": {{\"{host}\": \"lab\"}}}}");
    let of_file = format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"{auth}\"}}}}}}");
    let answer = format!("{{\"Username\": \"user\", \"Secret\": \"{SECRET}-password\"}}");
    for (config, says, exit, code) in [
        (&of_file, "", 0, 0),
        (&of_helper, answer.as_str(), 0, 0),
        (&of_helper, &answer, 1, 4),
        (&of_helper, &format!("{SECRET}-password"), 0, 4),
        (&format!("{{\"auths\": \"{SECRET}\"}}"), "", 0, 4),
    ] {
        let workspace = requiring_widget();
        let docker = workspace.path("../home/.docker/config.json");
        std::fs::create_dir_all(docker.parent().unwrap()).unwrap();
        std::fs::write(docker, config).unwrap();
        helper(&workspace, "bin/docker-credential-lab", says, exit);
        let path = format!("{}:/usr/bin:/bin", workspace.path("../home/bin").display());
        let workspace = workspace.env("PATH", &path);
        tries(&workspace, &registry, &source, code);
        let shown = workspace.tflock(&registry, ["lock", "--tool=tofu", &source, "-v"]);
        assert!(!format!("{}{}", shown.stdout, shown.stderr).contains(&auth), "{shown}");
    }
}

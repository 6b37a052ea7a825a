//! Compared with terraform: in a clean checkout `lock` writes what `get` and `providers lock` write together.

use super::git::{Repository, needs_widget};
use super::{CALL, world};
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;

const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// A configuration with modules of every kind, those within others too.
fn tree(tests: bool) -> (Registry, Workspace) {
    let registry = world();
    let (other, repository) = (registry.other_host(), Repository::new());
    repository.commit("sub/main.tf", &needs_widget(&registry));
    repository.commit("top.tf", &CALL.replace("{{other-host}}", &other).replace("\"net\"", "\"inner\""));
    repository.0.git(["tag", "v1.0.0"]);
    let registry = repository.served_by(registry).release("acme/gadget", "2.1.0", &PLATFORMS);
    let gadget = needs_widget(&registry)
        .replace("widget", "gadget")
        .replace("gadget\"\n", "gadget\"\n      version = \">= 2.0\"\n");
    let registry = registry.module("acme/deep/lab", "0.3.0", &[("main.tf", &gadget)]);
    let deep = CALL.replace("{{other-host}}", &other).replace("acme/net", "acme/deep").replace("~> 1.0", "< 1.0");
    let registry = registry.module("acme/outer/lab", "1.0.0", &[("main.tf", &deep), ("sub/main.tf", "")]);
    let host = registry.host();
    let git = |name: &str, rest: &str| {
        format!("module \"{name}\" {{\n  source = \"git::https://{host}/net.git{rest}\"\n}}\n")
    };
    let outer = CALL.replace("acme/net", "acme/outer").replace("\"net\"", "\"outer\"");
    let main = [CALL, &outer, &git("git", "//sub?ref=v1.0.0"), &git("top", "?ref=v1.0.0")].concat();
    let workspace = Workspace::with_files(&[("main.tf", &main), ("here/main.tf", &git("twin", "//sub?ref=v1.0.0"))]);
    workspace.write("local.tf", "module \"here\" {\n  source = \"./here\"\n}\n");
    if tests {
        let run = CALL.replace("module \"net\" {", "run \"it\" {\n  module {").replace("acme/net", "acme/deep");
        let run = run.replace("~> 1.0", ">= 0.1").replace("\n}\n", "\n  }\n}\n");
        workspace.write("tests/it.tftest.hcl", &run);
        // The key of a module in a test of JSON has the ending of the file.
        let json = r#"{"run": {"it": {"module": {"source": "{{other-host}}/acme/net/lab", "version": "1.0.0"}}}}"#;
        workspace.write("tests/it.tftest.json", json);
        workspace.write("top.tftest.json", json);
    }
    let workspace = workspace.env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap());
    (registry, workspace)
}

#[test]
#[ignore = "long"]
fn lock_writes_what_terraform_writes() {
    for tests in [false, true] {
        let (registry, workspace) = tree(tests);
        let platforms = PLATFORMS.map(|platform| format!("-platform={platform}"));
        let first = if tests { vec!["init", "-backend=false", "-input=false"] } else { vec!["get"] };
        let Some(get) = workspace.terraform(&registry, first) else { return };
        get.ended_with(0);
        let lock = ["providers", "lock"].into_iter().chain(platforms.iter().map(String::as_str));
        workspace.terraform(&registry, lock).unwrap().ended_with(0);
        let wanted = workspace.lock_file();
        assert!(wanted.contains("/acme/widget\"") && wanted.contains("/acme/gadget\""), "{wanted}");
        // The same checkout, clean.
        for left in [".terraform", ".terraform.lock.hcl"] {
            let place = workspace.path(left);
            if place.is_dir() { std::fs::remove_dir_all(place).unwrap() } else { std::fs::remove_file(place).unwrap() }
        }
        let lock = ["lock", "--lock-modules"].into_iter().chain(platforms.iter().map(String::as_str));
        workspace.tflock(&registry, lock).ended_with(0);
        assert_eq!(workspace.lock_file(), wanted);
        // And after `get`, `init` has nothing to do for modules.
        workspace.tflock(&registry, ["get"]).ended_with(0);
        let list = workspace.read(".terraform/modules/modules.json");
        registry.forget_requests();
        let init = ["init", "-backend=false", "-input=false", "-lockfile=readonly"];
        workspace.terraform(&registry, init).unwrap().ended_with(0);
        assert_eq!((workspace.read(".terraform/modules/modules.json"), workspace.lock_file()), (list, wanted));
        let of_modules = [Endpoint::ModuleVersions, Endpoint::ModuleDownload, Endpoint::ModuleArchive, Endpoint::Other];
        assert_eq!(of_modules.map(|endpoint| registry.count(endpoint)), [0; 4]);
    }
}

//! Modules with providers.

use super::{INSTALL, locked};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const LIST: &str = ".terraform/modules/modules.json";

#[test]
fn local_modules_are_listed_without_a_module_lock() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.write("here/main.tf", "locals {}\n");
    let main = format!("{}module \"here\" {{\n  source = \"./here\"\n}}\n", workspace.read("main.tf"));
    workspace.write("main.tf", &main);
    workspace.tflock(&registry, [&INSTALL[..], &["--no-modules"]].concat()).ended_with(0);
    assert!(!workspace.has(LIST));
    workspace.tflock(&registry, INSTALL).ended_with(0);
    let list = workspace.read(LIST);
    std::fs::remove_file(workspace.path(LIST)).unwrap();
    let Some(init) = workspace.terraform(&registry, ["init", "-backend=false", "-input=false"]) else { return };
    init.ended_with(0);
    assert_eq!(workspace.read(LIST), list);
}

#[test]
fn remote_modules_need_a_lock() {
    let registry = widget().module("acme/net/lab", "1.0.0", &[("main.tf", "locals {}\n")]);
    let workspace = locked(&registry);
    let call = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"1.0.0\"\n}\n";
    workspace.write("main.tf", &format!("{}{call}", workspace.read("main.tf")));
    workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(!workspace.has(LIST));
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", "--lock-modules"]).ended_with(0);
    let run = workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(run.stdout.contains("installed 1 module\n"), "{run}");
    assert!(workspace.has(".terraform/modules/net/main.tf"));
}

const INNER: &str = "module \"inner\" {\n  source  = \"{{other-host}}/acme/inner/lab\"\n  version = \"1.0.0\"\n}\n";
const CALL: &str = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"~> 1.0\"\n}\n\nmodule \"here\" {\n  source = \"./here\"\n}\n";

/// A root module with a locked module that calls another one, and a local module; everything is installed.
fn with_modules(registry: Registry, tool: &str) -> (Registry, Workspace) {
    let inner = INNER.replace("{{other-host}}", &registry.other_host());
    let registry = registry.module("acme/inner/lab", "1.0.0", &[("main.tf", "locals {}\n")]);
    let registry = registry.module("acme/net/lab", "1.0.0", &[("main.tf", &inner), ("more.tf", "locals {}\n")]);
    let workspace = Workspace::from("modules/one-root");
    workspace.write("modules.tf", CALL);
    workspace.write("here/main.tf", "locals {}\n");
    let lock = ["--tool", tool, "lock", "--platform", "linux_amd64", "--lock-modules"];
    workspace.tflock(&registry, lock).ended_with(0);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    (registry, workspace)
}

/// Nothing is requested for it, and what it reports `install` repairs.
#[test]
#[ignore = "long"]
fn check_compares_modules() {
    for (tool, most) in [("terraform", 11), ("tofu", 3)] {
        let (registry, workspace) = with_modules(widget(), tool);
        let check = |code: i32| {
            registry.forget_requests();
            let run = workspace.tflock(&registry, [&INSTALL[..], &["--check"]].concat()).ended_with(code);
            assert!(registry.requests().is_empty(), "{run}");
            run
        };
        check(0);
        let modules = ".terraform/modules";
        let list = workspace.read(LIST);
        for (file, text, call, state) in [
            (format!("{modules}/net/main.tf"), Some("# other\n".to_owned()), "net", "differs"),
            (format!("{modules}/net/more.tf"), None, "net", "differs"),
            (format!("{modules}/net/new.tf"), Some("locals {}\n".to_owned()), "net", "differs"),
            (format!("{modules}/net.inner/main.tf"), Some("locals {\n".to_owned()), "net.inner", "differs"),
            (format!("{modules}/net.inner"), None, "net.inner", "missing"),
            (format!("{modules}/net"), None, "net", "missing"),
            (modules.to_owned(), None, "net", "missing"),
            (LIST.to_owned(), None, "net", "missing"),
            (
                LIST.to_owned(),
                Some(list.replacen("\"Version\":\"1.0.0\"", "\"Version\":\"1.1.0\"", 1)),
                "net",
                "differs",
            ),
            (LIST.to_owned(), Some(list.replace("/acme/inner/", "/acme/other/")), "net.inner", "differs"),
            (LIST.to_owned(), Some(list.replace("\"Dir\":\"here\"", "\"Dir\":\"there\"")), "here", "differs"),
        ]
        .into_iter()
        .take(most)
        {
            let path = workspace.path(&file);
            match text {
                Some(text) => workspace.write(&file, &text),
                None if path.is_dir() => std::fs::remove_dir_all(path).unwrap(),
                None => std::fs::remove_file(path).unwrap(),
            }
            let run = check(1);
            assert!(run.stdout.contains(&format!("module {call}")), "{file}: {run}");
            assert!(run.stdout.contains("not as locked: ") && run.stdout.contains(state), "{file}: {run}");
            workspace.tflock(&registry, INSTALL).ended_with(0);
            check(0);
        }
        let json = workspace.tflock(&registry, [&INSTALL[..], &["--check", "--format", "json"]].concat()).json();
        let states = json["install"]["modules"]["modules"].as_array().unwrap().iter().map(|it| it["state"].clone());
        assert!(states.clone().count() >= 2 && states.into_iter().all(|state| state == "present"), "{json}");
        // What terraform installs is what is locked.
        if tool == "terraform" {
            std::fs::remove_dir_all(workspace.path(modules)).unwrap();
            let Some(get) = workspace.terraform(&registry, ["get"]) else { continue };
            get.ended_with(0);
            check(0);
        }
    }
}

#[test]
fn check_counts_modules_of_many_root_modules() {
    let (registry, one) = with_modules(widget(), "terraform");
    let workspace = Workspace::with_files(&[]);
    for root in ["a", "b"] {
        for file in ["main.tf", "modules.tf", "here/main.tf", ".terraform.lock.hcl", ".tflock.modules.hcl"] {
            workspace.write(&format!("{root}/{file}"), &one.read(file));
        }
    }
    let install = [&INSTALL[..], &["-r"]].concat();
    workspace.tflock(&registry, &install).ended_with(0);
    let check = [&install[..], &["--check"]].concat();
    workspace.tflock(&registry, &check).ended_with(0);
    workspace.write("b/.terraform/modules/net/main.tf", "# other\n");
    workspace.tflock(&registry, [&check[..], &["--no-modules"]].concat()).ended_with(0);
    let run = workspace.tflock(&registry, &check).ended_with(1);
    assert!(run.stdout.contains("not as locked: 1 module in 1 root module\n"), "{run}");
    std::fs::remove_dir_all(workspace.path("a/.terraform")).unwrap();
    let run = workspace.tflock(&registry, &check).ended_with(1);
    assert!(run.stdout.contains("not as locked: 1 provider and 4 modules in 2 root modules\n"), "{run}");
}

/// `install` writes the list of local modules, so their absence is something to install; what it leaves to `init` is not.
#[test]
fn check_knows_what_install_would_write() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.write("here/main.tf", "locals {}\n");
    workspace.write("here.tf", "module \"here\" {\n  source = \"./here\"\n}\n");
    workspace.tflock(&registry, [&INSTALL[..], &["--no-modules"]].concat()).ended_with(0);
    let check = [&INSTALL[..], &["--check"]].concat();
    let run = workspace.tflock(None, &check).ended_with(1);
    assert!(run.stdout.contains("module here  ./here: missing"), "{run}");
    workspace.tflock(&registry, INSTALL).ended_with(0);
    workspace.tflock(None, &check).ended_with(0);
    workspace.write("modules.tf", CALL.split("\n\n").next().unwrap());
    workspace.tflock(&registry, &check).ended_with(0);
}

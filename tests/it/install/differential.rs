//! The real `terraform` finds what was installed, and downloads nothing.

use std::fs;

use super::{LOCK, cache, locked, place, program};
use crate::support::packages::Shape;
use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::tools::found;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, widget};

const INIT: [&str; 5] = ["init", "-backend=false", "-input=false", "-no-color", "-lockfile=readonly"];

/// `init` finds the package that was installed; none without `terraform`.
#[track_caller]
fn finds_it(workspace: &Workspace, registry: &Registry) -> Option<Run> {
    registry.forget_requests();
    let run = workspace.terraform(registry, INIT)?.ended_with(0);
    assert!(run.stdout.contains("Using previously-installed"), "{run}");
    assert_eq!((registry.downloads("acme/widget"), registry.count(Endpoint::ModuleArchive)), (0, 0), "{run}");
    Some(run)
}

/// The user of the tests, and a normal one if that is root.
#[derive(Clone, Copy)]
enum User {
    Own,
    Normal,
}

impl User {
    fn with(self, workspace: Workspace) -> Option<Workspace> {
        match self {
            Self::Own => Some(workspace),
            #[cfg(unix)]
            Self::Normal => workspace.by_normal_user(),
            #[cfg(not(unix))]
            Self::Normal => None,
        }
    }
}

fn kept(text: &str, keep: impl Fn(&str) -> bool) -> String {
    text.split_inclusive('\n').filter(|line| keep(line)).collect()
}

#[test]
#[ignore = "long"]
fn init_uses_what_was_installed_however_it_was_linked() {
    for (link, user) in [
        ("auto", User::Own),
        ("auto", User::Normal),
        ("hard", User::Own),
        ("copy", User::Own),
        ("symlink", User::Own),
        ("symlink", User::Normal),
    ] {
        let registry = widget();
        let Some(workspace) = user.with(locked(&registry)) else { continue };
        workspace.tflock(&registry, ["install", "--link", link]).ended_with(0);
        if finds_it(&workspace, &registry).is_none() {
            return;
        }
        let run = workspace.tflock(None, ["verify", "--offline", "--installed"]);
        assert!(!run.stdout.contains("installed-differs"), "{run}");
    }
}

#[test]
fn init_uses_it_in_another_data_directory() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root").env("TF_DATA_DIR", "data/here");
    workspace.tflock(&registry, ["lock", "--platform=linux_amd64"]).ended_with(0);
    workspace.tflock(&registry, ["install"]).ended_with(0);
    assert!(workspace.has("data/here/providers") && !workspace.has(".terraform"));
    finds_it(&workspace, &registry);
}

#[test]
fn init_uses_it_whatever_else_the_lock_file_records() {
    let registry = widget();
    for (command, only_h1) in [(&LOCK_BOTH[..], false), (&LOCK[..], true)] {
        let workspace = Workspace::from("modules/one-root");
        workspace.tflock(&registry, command).ended_with(0);
        if only_h1 {
            let text = kept(&workspace.lock_file(), |line| !line.contains("zh:"));
            workspace.write(".terraform.lock.hcl", &text);
        }
        workspace.tflock(&registry, ["install"]).ended_with(0);
        finds_it(&workspace, &registry);
    }
}

#[test]
#[ignore = "long"]
fn what_init_would_download_again_is_not_installed() {
    let registry = widget();
    let foreign = || {
        let workspace = Workspace::from("modules/one-root");
        workspace.tflock(&registry, ["lock", "--platform=darwin_arm64"]).ended_with(0);
        workspace
    };
    let without = |scheme: &str| {
        let workspace = foreign();
        workspace.write(".terraform.lock.hcl", &kept(&workspace.lock_file(), |line| !line.contains(scheme)));
        workspace
    };
    for (workspace, user) in [
        (without("h1:"), User::Own),
        (without("h1:"), User::Normal),
        (foreign(), User::Normal),
        (without("zh:"), User::Own),
    ] {
        let Some(workspace) = user.with(workspace) else { continue };
        let run = workspace.tflock(&registry, ["install", "--platform=linux_amd64"]).ended_with(1);
        assert!(run.stderr.contains("platform-uncovered"), "{run}");
        assert!(!place(&workspace, &registry, "").exists() && run.touched().is_empty(), "{run}");
        let printed = run.stderr.split('`').find_map(|part| part.strip_prefix("tflock lock "));
        let printed = printed.unwrap_or_else(|| panic!("{run}"));
        assert_eq!(printed, format!("--from-lock --platform linux_amd64 {}/acme/widget", registry.host()));
        workspace.tflock(&registry, [&["lock"][..], &printed.split(' ').collect::<Vec<_>>()].concat()).ended_with(0);
        workspace.tflock(&registry, ["install", "--platform=linux_amd64"]).ended_with(0);
        finds_it(&workspace, &registry);
    }
}

/// One command for all providers of a root module, with the source that was named.
#[test]
fn one_command_records_all_that_is_missing() {
    let registry = crate::support::worlds::widget_and_gadget();
    let provider = |name: &str| format!("    {name} = {{\n      source = \"{{{{registry}}}}/acme/{name}\"\n    }}\n");
    let main =
        format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", ["gadget", "widget"].map(provider).concat());
    let workspace = Workspace::with_files(&[("main.tf", &main)]);
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    workspace.tflock(&registry, ["mirror", "mirror", "--platform=linux_amd64"]).ended_with(0);
    fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    workspace.tflock(&registry, ["lock", "--platform=darwin_arm64"]).ended_with(0);
    let run = workspace.tflock(&registry, ["install", "--platform=linux_amd64", "--fs-mirror=mirror"]).ended_with(1);
    let host = registry.host();
    let printed =
        format!("lock --source fs:mirror --from-lock --platform linux_amd64 {host}/acme/gadget {host}/acme/widget");
    assert_eq!(run.stderr.matches(&format!("`tflock {printed}`")).count(), 1, "{run}");
    workspace.tflock(None, printed.split(' ')).ended_with(0);
    workspace.tflock(None, ["install", "--platform=linux_amd64", "--fs-mirror=mirror"]).ended_with(0);
}

#[test]
fn an_earlier_init_is_left_alone_or_repaired() {
    let registry = widget();
    let workspace = locked(&registry);
    let Some(run) = workspace.terraform(&registry, INIT) else { return };
    run.ended_with(0);
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["install"]).ended_with(0);
    assert!(run.stdout.starts_with("1 provider is ") && run.stdout.lines().count() == 1, "{run}");
    assert_eq!(registry.requests().len(), 0, "{run}");
    fs::write(program(&place(&workspace, &registry, "")), "altered").unwrap();
    let run = workspace.tflock(&registry, ["install"]).ended_with(0);
    assert!(run.stderr.contains("installed-differs"), "{run}");
    finds_it(&workspace, &registry);
}

#[test]
fn init_uses_providers_and_modules_of_one_run() {
    let registry = widget().module("acme/net/lab", "1.0.0", &[("main.tf", "locals {}\n")]);
    let workspace = locked(&registry);
    let calls = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"1.0.0\"\n}\nmodule \"here\" {\n  \
                 source = \"./here\"\n}\n";
    workspace.write("main.tf", &format!("{}{calls}", workspace.read("main.tf")));
    workspace.write("here/main.tf", "locals {}\n");
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", "--lock-modules"]).ended_with(0);
    workspace.tflock(&registry, ["install"]).ended_with(0);
    finds_it(&workspace, &registry);
}

/// What `terraform` put into its plugin cache, or wrote as a mirror, is a source for root modules that have nothing.
#[test]
#[ignore = "long"]
fn what_terraform_cached_or_mirrored_is_a_source() {
    let registry = widget();
    let folder = crate::support::tempdir();
    let [plugins, mirror] = ["plugins", "mirror"].map(|name| folder.path().join(name));
    fs::create_dir(&plugins).unwrap();
    let cached = || locked(&registry).env("TF_PLUGIN_CACHE_DIR", plugins.to_str().unwrap());
    let Some(run) = cached().terraform(&registry, INIT) else { return };
    run.ended_with(0);
    let mirrored = locked(&registry);
    let run = mirrored.terraform(&registry, ["providers", "mirror", "-platform=linux_amd64", mirror.to_str().unwrap()]);
    run.unwrap().ended_with(0);
    let config = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
    for workspace in [cached(), locked(&registry).cli_config(&config)] {
        // What `lock` downloaded is not kept.
        assert!(!cache(&workspace).join("packages").exists());
        registry.forget_requests();
        let run = workspace.tflock(&registry, ["install"]).ended_with(0);
        assert_eq!(registry.requests().len(), 0, "{run}");
        finds_it(&workspace, &registry);
    }
}

/// A root module with a provider that `terraform` can start, a backend and a module on disk; `None` if it cannot.
fn running(registry: &Registry, backend: &str) -> Option<Workspace> {
    found("python3")?;
    found("terraform")?;
    let workspace = locked(registry).env("TF_DISABLE_PLUGIN_TLS", "1");
    let calls = format!(
        "terraform {{\n  {backend}\n}}\nprovider \"widget\" {{}}\nmodule \"here\" {{\n  source = \"./here\"\n}}\n"
    );
    workspace.write("main.tf", &(workspace.read("main.tf") + &calls));
    workspace.write("here/main.tf", "locals {}\n");
    Some(workspace)
}

fn startable() -> Registry {
    widget().shaped(Shape::Runs).speaking(&["6.0"])
}

#[test]
fn validate_works_before_init_with_any_backend() {
    let registry = startable();
    for (backend, user) in [("backend \"s3\" {}", User::Own), ("cloud {}", User::Normal)] {
        let Some(workspace) = running(&registry, backend).and_then(|workspace| user.with(workspace)) else { continue };
        workspace.tflock(&registry, ["install"]).ended_with(0);
        let run = workspace.terraform(&registry, ["validate", "-no-color"]).unwrap().ended_with(0);
        assert!(run.stdout.contains("The configuration is valid"), "{run}");
    }
}

/// A plan whose provider runs from the package that is replaced ends as if nothing had been.
#[test]
fn a_running_plan_keeps_its_package() {
    let registry = startable();
    let Some(workspace) = running(&registry, "") else { return };
    let gate = workspace.path("gate");
    let workspace = workspace.env("WIDGET_GATE", gate.to_str().unwrap());
    workspace.tflock(&registry, ["install"]).ended_with(0);
    let terraform = found("terraform").unwrap();
    let mut plan = workspace.command(&terraform, &registry, ["plan", "-no-color", "-input=false"]).spawn().unwrap();
    while !gate.exists() {
        assert_eq!(plan.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    fs::write(place(&workspace, &registry, "").join("LICENSE.txt.new"), "altered").unwrap();
    let run = workspace.tflock(&registry, ["install"]).ended_with(0);
    assert!(run.stderr.contains("installed-differs"), "{run}");
    assert!(plan.try_wait().unwrap().is_none());
    fs::write(&gate, "open").unwrap();
    let output = plan.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    workspace.tflock(None, ["install", "--check"]).ended_with(0);
}

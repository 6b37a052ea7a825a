//! `tflock install`: what the lock file records, in its place and once on the disk.

mod differential;
mod faults;
#[cfg(unix)]
mod links;
mod modules;
#[cfg(unix)]
mod owners;
mod places;

use std::path::{Path, PathBuf};

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

/// `tflock` takes this machine for `linux_amd64` wherever these tests run.
pub(crate) const INSTALL: [&str; 2] = ["install", "--platform=linux_amd64"];

const LOCK: [&str; 3] = ["lock", "--platform", "linux_amd64"];

/// A root module that is locked for one platform.
fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(registry, LOCK).ended_with(0);
    registry.forget_requests();
    workspace
}

/// Root modules with the same lock file.
fn several(registry: &Registry, names: &[&str]) -> Workspace {
    let one = locked(registry);
    let workspace = Workspace::with_files(&[]);
    for name in names {
        workspace.write(&format!("{name}/main.tf"), &one.read("main.tf"));
        workspace.write(&format!("{name}/.terraform.lock.hcl"), &one.lock_file());
    }
    workspace
}

/// The place of `acme/widget` 1.4.0 in a root module.
fn place(workspace: &Workspace, registry: &Registry, root: &str) -> PathBuf {
    let way = format!(".terraform/providers/{}/acme/widget/1.4.0/linux_amd64", registry.host());
    workspace.path(root).join(way)
}

/// The files of a package.
fn files(place: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn program(place: &Path) -> PathBuf {
    let is_program = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("terraform-provider-");
    files(place).into_iter().find(is_program).unwrap()
}

/// What no run may leave: directories on their way.
fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().unwrap().starts_with(".tflock-") {
            found.push(entry.path());
        } else if entry.file_type().unwrap().is_dir() {
            found.extend(leftovers(&entry.path()));
        }
    }
    found
}

fn cache(workspace: &Workspace) -> PathBuf {
    workspace.path("").with_file_name("cache")
}

/// The entry of the package store.
fn stored(workspace: &Workspace, registry: &Registry) -> PathBuf {
    let shelf = format!("packages/v1/{}/acme/widget/1.4.0/linux_amd64", registry.host());
    files(&cache(workspace).join(shelf)).remove(0)
}

/// The room that packages take is that of every copy.
#[test]
fn copies_are_counted_as_copies() {
    let registry = widget();
    let mut copied = Vec::new();
    for names in [&["a"][..], &["a", "b"]] {
        let workspace = several(&registry, names);
        let run = workspace.tflock(&registry, ["install", "-r", "--platform=linux_amd64", "--link=copy"]).ended_with(0);
        assert!(!run.stdout.contains("one copy on disk"), "{run}");
        let bytes: u64 = run.stdout.split(", ").find_map(|it| it.strip_suffix(" B copied\n")).unwrap().parse().unwrap();
        copied.push(bytes);
    }
    assert_eq!(copied[1], 2 * copied[0]);
}

/// The finding about a package that this run replaced names no command that would replace it.
#[test]
fn what_was_replaced_needs_no_further_step() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, ["install", "--platform=linux_amd64", "--link=copy"]).ended_with(0);
    let program = files(&place(&workspace, &registry, "")).remove(0);
    std::fs::write(program, "altered").unwrap();
    let check = workspace.tflock(&registry, ["install", "--platform=linux_amd64", "--check", "-v"]).ended_with(1);
    assert!(check.stdout.contains("differs"), "{check}");
    let run = workspace.tflock(&registry, ["install", "--platform=linux_amd64"]).ended_with(0);
    assert!(run.stderr.contains("replaced") && !run.stderr.contains("`tflock install`"), "{run}");
}

#[test]
fn each_package_is_downloaded_once_for_all_root_modules() {
    let registry = widget();
    let workspace = several(&registry, &["a", "b", "c"]);
    let run = workspace.tflock(&registry, ["install", "-r", "--platform=linux_amd64"]).ended_with(0);
    assert!(run.stdout.starts_with("installed 1 provider in 3 root modules: "), "{run}");
    assert!(run.stdout.contains(" downloaded, ") && run.stdout.contains(" one copy on disk ("), "{run}");
    assert_eq!(registry.downloads("acme/widget"), 1, "{run}");
    let hash = workspace.tflock(None, ["hash", place(&workspace, &registry, "b").to_str().unwrap()]).ended_with(0);
    assert!(hash.stdout.starts_with(&registry.package("acme/widget", "1.4.0", "linux_amd64").h1), "{hash}");
    assert_eq!(leftovers(workspace.path("").parent().unwrap()), Vec::<PathBuf>::new());
    // What is installed needs neither a registry nor the cache.
    registry.forget_requests();
    std::fs::remove_dir_all(cache(&workspace).join("packages")).unwrap();
    let again = workspace.tflock(&registry, ["install", "-r", "--platform=linux_amd64"]).ended_with(0);
    assert_eq!(again.stdout, "1 provider in 3 root modules is installed as locked; nothing to do\n");
    assert_eq!(registry.requests().len(), 0, "{again}");
}

#[test]
fn the_store_needs_no_request() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    registry.forget_requests();
    let run = workspace.tflock(&registry, [&INSTALL[..], &["--offline", "--format=json"]].concat()).ended_with(0);
    assert_eq!(registry.requests().len(), 0, "{run}");
    let package = &run.json()["install"]["packages"][0];
    assert_eq!((package["state"].as_str(), package["downloaded"].as_u64()), (Some("installed"), Some(0)));
    assert_eq!(package["h1"], registry.package("acme/widget", "1.4.0", "linux_amd64").h1);
}

#[test]
fn what_is_missing_is_named_offline_and_by_check() {
    let registry = widget();
    let workspace = locked(&registry);
    let run = workspace.tflock(None, [&INSTALL[..], &["--offline"]].concat()).ended_with(4);
    assert!(run.stderr.contains("acme/widget 1.4.0 for linux_amd64 is not on this machine"), "{run}");
    let run = workspace.tflock(None, [&INSTALL[..], &["--check"]].concat()).ended_with(1);
    assert!(run.stdout.contains("acme/widget 1.4.0  linux_amd64: missing\nnot as locked: 1 provider\n"), "{run}");
    assert!(!workspace.has(".terraform"));
    workspace.tflock(&registry, INSTALL).ended_with(0);
    workspace.tflock(None, [&INSTALL[..], &["--check"]].concat()).ended_with(0);
}

#[test]
fn without_a_lock_file_there_is_nothing_to_install() {
    let workspace = Workspace::from("modules/one-root");
    let run = workspace.tflock(None, INSTALL).ended_with(2);
    assert!(run.stderr.contains("no such dependency lock file") && run.stderr.contains("tflock lock"), "{run}");
    assert!(!workspace.has(".terraform"));
}

#[test]
fn only_the_providers_that_are_named() {
    let registry = crate::support::worlds::widget_and_gadget();
    let workspace = locked(&registry);
    let run = workspace.tflock(&registry, [&INSTALL[..], &["gadgets"]].concat()).ended_with(2);
    assert!(run.stderr.contains("there is no entry for a provider gadgets"), "{run}");
    workspace.tflock(&registry, [&INSTALL[..], &["widget"]].concat()).ended_with(0);
    assert!(place(&workspace, &registry, "").is_dir());
}

#[test]
fn versions_that_are_no_longer_locked_are_pruned() {
    let registry = widget();
    let workspace = locked(&registry);
    let old = place(&workspace, &registry, "").parent().unwrap().with_file_name("1.3.0");
    std::fs::create_dir_all(old.join("linux_amd64")).unwrap();
    workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(old.is_dir());
    let run = workspace.tflock(&registry, [&INSTALL[..], &["--prune"]].concat()).ended_with(0);
    assert!(run.stdout.contains("acme/widget 1.3.0  removed"), "{run}");
    assert!(!old.exists() && place(&workspace, &registry, "").is_dir());
}

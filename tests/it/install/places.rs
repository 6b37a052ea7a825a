//! Where packages come from and go to besides root modules, and how they are linked.

use std::fs;

use super::{INSTALL, cache, files, locked, place, program, several, stored};
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

#[cfg(unix)]
#[test]
fn each_way_to_link_gives_the_files_that_it_says() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    for (link, links, mode) in [("hard", 2, 0o555), ("copy", 1, 0o755), ("symlink", 1, 0o555)] {
        let registry = widget();
        let workspace = locked(&registry);
        workspace.write(".tflock.hcl", &format!("link = \"{link}\"\n"));
        workspace.tflock(&registry, INSTALL).ended_with(0);
        let place = place(&workspace, &registry, "");
        let found = fs::metadata(program(&place)).unwrap();
        assert_eq!((found.nlink(), found.permissions().mode() & 0o777), (links, mode), "{link}");
        assert_eq!(place.is_symlink(), link == "symlink");
        let directory = fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(directory & 0o700, 0o700, "{link}: {directory:o}");
        let licence = files(&place).into_iter().find(|path| *path != program(&place));
        if let (Some(licence), "hard") = (licence, link) {
            assert_eq!(fs::metadata(licence).unwrap().permissions().mode() & 0o777, 0o444);
        }
    }
}

#[test]
fn a_clone_is_refused_where_the_file_system_has_none() {
    let registry = widget();
    let workspace = locked(&registry);
    let run = workspace.tflock(&registry, [&INSTALL[..], &["--link=clone"]].concat());
    match run.code {
        Some(0) => assert!(place(&workspace, &registry, "").is_dir()),
        _ => assert!(run.ended_with(2).stderr.contains("cannot link")),
    }
}

#[test]
fn a_plugin_cache_gets_each_package_and_is_a_source() {
    let registry = widget();
    let folder = crate::support::tempdir();
    let plugins = folder.path().to_str().unwrap().to_owned();
    let workspace = several(&registry, &["a", "b"]).env("TF_PLUGIN_CACHE_DIR", &plugins);
    workspace.tflock(&registry, ["install", "-r", "--platform=linux_amd64"]).ended_with(0);
    let cached = folder.path().join(registry.host()).join("acme/widget/1.4.0/linux_amd64");
    assert!(program(&cached).is_file());
    // Everything else is lost.
    fs::remove_dir_all(cache(&workspace).join("packages")).unwrap();
    fs::remove_dir_all(workspace.path("a/.terraform")).unwrap();
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["-C", "a", "install", "--platform=linux_amd64"]).ended_with(0);
    assert_eq!(registry.requests().len(), 0, "{run}");
    assert!(run.stdout.contains("0 B downloaded"), "{run}");
    // A root module that has it already fills a cache that lacks it.
    fs::remove_dir_all(&cached).unwrap();
    workspace.tflock(&registry, ["-C", "a", "install", "--platform=linux_amd64"]).ended_with(0);
    assert!(program(&cached).is_file());
}

#[test]
fn a_filesystem_mirror_is_a_source_whether_packed_or_not() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, ["mirror", "packed", "--platform=linux_amd64"]).ended_with(0);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    fs::rename(workspace.path(".terraform/providers"), workspace.path("unpacked")).unwrap();
    let (main, lock) = (workspace.read("main.tf"), workspace.lock_file());
    for mirror in ["packed", "unpacked"] {
        let path = workspace.path(mirror);
        let config = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {path:?}\n  }}\n}}\n");
        let other = Workspace::with_files(&[("main.tf", &main), (".terraform.lock.hcl", &lock)]).cli_config(&config);
        registry.forget_requests();
        let run = other.tflock(&registry, INSTALL).ended_with(0);
        assert_eq!(registry.requests().len(), 0, "{mirror}: {run}");
        // Read-only, wherever it is from.
        let program = program(&stored(&other, &registry));
        assert!(fs::metadata(program).unwrap().permissions().readonly());
    }
}

#[test]
fn the_cache_counts_and_prunes_the_store() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    let stats = workspace.tflock(None, ["cache", "stats"]).ended_with(0);
    assert!(stats.stdout.contains("packages   1\n"), "{stats}");
    let run = workspace.tflock(None, ["cache", "prune", "--older-than", "1d"]).ended_with(0);
    assert!(program(&stored(&workspace, &registry)).is_file(), "{run}");
    workspace.tflock(None, ["cache", "prune"]).ended_with(0);
    let stats = workspace.tflock(None, ["cache", "stats", "--format=json"]).ended_with(0);
    assert_eq!(stats.json()["cache"]["packages"], 0, "{stats}");
    // What is installed stays.
    workspace.tflock(None, [&INSTALL[..], &["--check"]].concat()).ended_with(0);
}

#[test]
fn a_source_on_the_command_line() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, ["mirror", "mirror", "--platform=linux_amd64"]).ended_with(0);
    registry.forget_requests();
    workspace.tflock(&registry, [&INSTALL[..], &["--source=fs:mirror"]].concat()).ended_with(0);
    assert_eq!(registry.requests().len(), 0);
    assert!(place(&workspace, &registry, "").is_dir());
}

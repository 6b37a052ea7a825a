//! Links that a pull request commits on the way to what `tflock` writes: nothing is made, swept or read behind them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{INSTALL, LOCK, locked, place, program};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

/// A root module at the top of a git working tree, with a directory next to it that belongs to someone else.
fn repository(registry: &Registry) -> Workspace {
    let workspace = locked(registry);
    workspace.write(".gitignore", ".cache\n.data\n.plugins\n.terraform\n");
    workspace.git(["init", "--quiet"]);
    let outside = outside(&workspace);
    fs::create_dir_all(outside.join(".tflock-mine/x")).unwrap();
    fs::create_dir_all(outside.join("v1/releases")).unwrap();
    fs::write(outside.join("kept"), "kept").unwrap();
    workspace
}

fn outside(workspace: &Workspace) -> PathBuf {
    workspace.path("").with_file_name("outside")
}

/// All paths below a directory; of a file with its text.
fn listing(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_dir = entry.file_type().unwrap().is_dir();
        let text = if is_dir { String::new() } else { fs::read_to_string(&path).unwrap_or_default() };
        found.push(format!("{} {text}", path.display()));
        if is_dir {
            found.extend(listing(&path));
        }
    }
    found.sort();
    found
}

/// Where links lead: out of the working tree, nowhere, to git's own files, and elsewhere in the tree.
fn targets(workspace: &Workspace) -> [String; 5] {
    let (outside, inside) = (outside(workspace), workspace.path("live"));
    fs::create_dir_all(&inside).unwrap();
    [
        outside.display().to_string(),
        "../outside".to_owned(),
        outside.join("nowhere").display().to_string(),
        workspace.path(".git/info").display().to_string(),
        inside.display().to_string(),
    ]
}

/// Puts a link in each place on a way, in turn and with each target at the first one, and runs a command.
fn each_link(workspace: &Workspace, way: &str, run: impl Fn() -> Run, judge: impl Fn(&Run)) {
    let parts: Vec<&str> = way.split('/').collect();
    let targets = targets(workspace);
    let watched =
        || [listing(&outside(workspace)), listing(&workspace.path(".git/info")), listing(&workspace.path("live"))];
    let before = watched();
    let first = targets.iter().map(|target| (0, target));
    let others = (1..parts.len()).map(|at| (at, &targets[if at % 2 == 1 { 0 } else { 2 }]));
    for (at, target) in first.chain(others) {
        let top = workspace.path(parts[0]);
        let _ = fs::remove_file(&top);
        let _ = fs::remove_dir_all(&top);
        let link = workspace.path(&parts[..=at].join("/"));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        // As if it were in the working tree, at every depth.
        let up = "../".repeat(at);
        let target = if target.starts_with('/') { target.clone() } else { format!("{up}{target}") };
        symlink(&target, &link).unwrap();
        let run = run();
        let shown = format!("{} -> {target}", link.display());
        assert_eq!(watched(), before, "{shown}: {run}");
        assert!(link.is_symlink(), "{shown}: {run}");
        judge(&run);
    }
}

#[test]
fn the_package_store_is_never_behind_a_link() {
    let registry = widget();
    let workspace = repository(&registry).env("TFLOCK_CACHE_DIR", ".cache");
    let way = format!(".cache/packages/v1/{}/acme/widget/1.4.0/linux_amd64", registry.host());
    let install = || workspace.tflock(&registry, INSTALL);
    each_link(&workspace, &way, install, |run| {
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("is a symbolic link") && run.stderr.contains("remove "), "{run}");
        assert!(!place(&workspace, &registry, "").exists(), "{run}");
    });
    fs::remove_dir_all(workspace.path(".cache")).unwrap();
    install().ended_with(0);
}

/// Where the cache lies is judged as it is written.
#[test]
#[ignore = "long"]
fn no_spelling_of_the_cache_hides_a_link() {
    let registry = widget();
    let workspace = repository(&registry);
    let (top, outside) = (workspace.path("").display().to_string(), outside(&workspace));
    fs::create_dir(workspace.path("live")).unwrap();
    symlink(&outside, workspace.path(".cache")).unwrap();
    // A way to the working tree by a link that is outside of it.
    let alias = workspace.path("").with_file_name("alias");
    symlink(&top, &alias).unwrap();
    let before = listing(&outside);
    let spellings = [
        format!("{top}/.cache"),
        ".cache".to_owned(),
        ".//.cache//".to_owned(),
        "live/../.cache".to_owned(),
        "../work/.cache".to_owned(),
        format!("{top}/live/..//.cache/."),
        "nowhere/../.cache".to_owned(),
        ".cache/sub".to_owned(),
        alias.join(".cache").display().to_string(),
        alias.join("live/../.cache/deep/er").display().to_string(),
    ];
    let mut workspace = workspace;
    for spelling in spellings {
        workspace = workspace.env("TFLOCK_CACHE_DIR", &spelling);
        let run = workspace.tflock(&registry, INSTALL).ended_with(2);
        assert!(run.stderr.contains("is a symbolic link"), "{spelling}: {run}");
        for command in [&["stats"][..], &["prune", "--all"], &["import", "-"], &["export", "-"], &["dir"]] {
            let run = workspace.tflock(None, [&["cache"], command].concat()).ended_with(2);
            assert!(run.stderr.contains("is a symbolic link"), "{spelling}: {run}");
        }
        // Other commands do without a cache, and say so.
        let run = workspace.tflock(&registry, LOCK.iter().chain(&["--platform", "darwin_arm64"])).ended_with(0);
        assert!(run.stderr.contains("no cache is used"), "{spelling}: {run}");
        let run = workspace.tflock(&registry, ["mirror", "../mirror"]).ended_with(0);
        assert!(run.stderr.contains("no cache is used"), "{spelling}: {run}");
        assert_eq!(listing(&outside), before, "{spelling}");
    }
}

/// Links that no change of the working tree can make: above it, and in a home directory.
#[test]
fn links_outside_of_the_working_tree_are_followed() {
    let registry = widget();
    let workspace = repository(&registry);
    let top = workspace.path("");
    let beside = |name: &str| top.with_file_name(name);
    symlink(workspace.path(""), beside("alias")).unwrap();
    fs::create_dir(beside("large")).unwrap();
    symlink(beside("large"), beside("home").join(".cache")).unwrap();
    symlink("alias/..", beside("twice")).unwrap();
    let mut workspace = workspace;
    for (variable, expected) in [
        (beside("alias").join(".cache"), workspace.path(".cache")),
        (beside("twice").join("work/.cache/x"), workspace.path(".cache/x")),
        (beside("home").join(".cache/tflock"), beside("large").join("tflock")),
    ] {
        let _ = fs::remove_dir_all(workspace.path(".terraform"));
        workspace = workspace.env("TFLOCK_CACHE_DIR", variable.to_str().unwrap());
        let run = workspace.tflock(&registry, INSTALL).ended_with(0);
        assert!(expected.join("packages/v1").is_dir(), "{run}");
        assert!(!workspace.has(".cache/v1"), "{run}");
    }
    assert!(beside("large").join("tflock/v1/index").is_dir());
    workspace.tflock(None, ["cache", "prune", "--all"]).ended_with(0);
    // A root module that is reached by a link above the working tree.
    fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    workspace.tflock(&registry, [&["-C", "../alias"], &INSTALL[..]].concat()).ended_with(0);
    assert!(place(&workspace, &registry, "").is_dir());
}

#[test]
fn a_cache_that_git_tracks_is_refused() {
    let registry = widget();
    let workspace = repository(&registry).env("TFLOCK_CACHE_DIR", ".cache");
    for path in [".cache/packages/v1/x", ".Cache/x"] {
        workspace.write(path, "");
        workspace.git(["add", "--force", path]);
        let run = workspace.tflock(&registry, INSTALL).ended_with(2);
        assert!(run.stderr.contains("tracks nothing"), "{run}");
        assert!(!workspace.path(".cache/packages/v1").join(registry.host()).exists());
        workspace.git(["rm", "-r", "--force", "--quiet", path]);
    }
    workspace.tflock(&registry, INSTALL).ended_with(0);
}

/// A shared index and the cache of another working tree are no better.
#[test]
fn another_working_tree_is_no_place_for_an_index() {
    let registry = widget();
    let workspace = repository(&registry);
    let other = workspace.path("").with_file_name("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    symlink(outside(&workspace), other.join("cache")).unwrap();
    let before = listing(&outside(&workspace));
    let mut workspace = workspace;
    for (cache, message) in [("../other/cache", "is a symbolic link"), ("../other/plain", "is inside the working tree")]
    {
        workspace = workspace.env("TFLOCK_CACHE_DIR", cache);
        let run = workspace.tflock(None, ["cache", "prune", "--all"]).ended_with(2);
        assert!(run.stderr.contains(message), "{run}");
        let run = workspace.tflock(&registry, LOCK.iter().chain(&["--platform", "darwin_arm64"])).ended_with(0);
        assert!(run.stderr.contains(message), "{run}");
    }
    assert_eq!(listing(&outside(&workspace)), before);
    assert!(!other.join("plain").exists());
}

#[test]
#[ignore = "long"]
fn a_data_directory_is_never_behind_a_link() {
    let registry = widget();
    let host = registry.host();
    let below = format!("providers/{host}/acme/widget/1.4.0");
    for (variable, way) in [(".data/a/b", format!(".data/a/b/{below}")), (".terraform", format!(".terraform/{below}"))]
    {
        let workspace = repository(&registry).env("TF_DATA_DIR", variable);
        let install = || workspace.tflock(&registry, INSTALL);
        each_link(&workspace, &way, install, |run| {
            assert_eq!(run.code, Some(2), "{run}");
            assert!(run.stderr.contains("is a symbolic link") && run.stderr.contains("remove the link"), "{run}");
        });
    }
    // The list of modules, which `install` writes where all modules are local.
    let workspace = repository(&registry).env("TF_DATA_DIR", ".data/a");
    workspace.write("main.tf", &(workspace.read("main.tf") + "module \"m\" {\n  source = \"./m\"\n}\n"));
    workspace.write("m/main.tf", "locals {}\n");
    each_link(&workspace, ".data/a/modules", || workspace.tflock(&registry, INSTALL), |_| {});
    each_link(
        &workspace,
        ".data/a/modules",
        || workspace.tflock(&registry, ["get"]),
        |run| {
            assert!(run.code == Some(2) && run.stderr.contains("is a symbolic link"), "{run}");
        },
    );
    fs::remove_dir_all(workspace.path(".data")).unwrap();
    workspace.tflock(&registry, ["get"]).ended_with(0);
    assert!(workspace.has(".data/a/modules/modules.json"));
}

/// What killed runs left is removed where `tflock` made it, and nowhere else.
#[test]
fn nothing_is_swept_behind_a_link() {
    let registry = widget();
    let workspace = repository(&registry);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    let versions = place(&workspace, &registry, "").parent().unwrap().to_owned();
    let elsewhere = outside(&workspace).join("1.4.0");
    fs::rename(&versions, &elsewhere).unwrap();
    fs::create_dir_all(elsewhere.join(".tflock-mine/x")).unwrap();
    symlink(&elsewhere, &versions).unwrap();
    let before = listing(&outside(&workspace));
    // The package is there, by the link.
    workspace.tflock(&registry, INSTALL);
    workspace.tflock(&registry, [&INSTALL[..], &["--prune"]].concat());
    assert_eq!(listing(&outside(&workspace)), before);
}

#[test]
fn a_data_directory_that_git_tracks_is_refused_by_whatever_name() {
    let registry = widget();
    for (variable, file) in [(".data", ".data/providers/x"), (".data", ".Data/x"), ("../work/.data/y", ".data/y/z")] {
        let workspace = repository(&registry).env("TF_DATA_DIR", variable);
        workspace.write(file, "");
        workspace.git(["add", "--force", file]);
        let run = workspace.tflock(&registry, INSTALL).ended_with(3);
        assert!(run.stderr.contains("denied[tracked-packages]") && run.stderr.contains(file), "{run}");
        workspace.write("m/main.tf", "locals {}\n");
        workspace.write("main.tf", &(workspace.read("main.tf") + "module \"m\" {\n  source = \"./m\"\n}\n"));
        let run = workspace.tflock(&registry, ["get"]).ended_with(3);
        assert!(run.stderr.contains("git tracks") && !workspace.path(".data").join("modules").exists(), "{run}");
    }
}

#[test]
fn a_plugin_cache_is_never_behind_a_link() {
    let registry = widget();
    let workspace = repository(&registry).env("TF_PLUGIN_CACHE_DIR", ".plugins");
    let way = format!(".plugins/{}/acme/widget/1.4.0", registry.host());
    let install = || {
        let _ = fs::remove_dir_all(workspace.path(".terraform"));
        workspace.tflock(&registry, INSTALL)
    };
    // It saves requests only: the root module has its package all the same.
    each_link(&workspace, &way, install, |run| {
        assert_eq!(run.code, Some(0), "{run}");
        assert!(program(&place(&workspace, &registry, "")).is_file(), "{run}");
        let is_there = workspace.path(".plugins").exists();
        assert!(!is_there || run.stderr.contains("the plugin cache lacks a package"), "{run}");
    });
}

#[test]
fn a_mirror_has_no_directory_behind_a_link() {
    let registry = widget();
    let workspace = repository(&registry);
    let mirror = || workspace.tflock(&registry, ["mirror", "vendor/mirror", "--platform=linux_amd64"]);
    let way = format!("vendor/mirror/{}/acme/widget", registry.host());
    let parts: Vec<&str> = way.split('/').collect();
    let before = listing(&outside(&workspace));
    for at in 0..parts.len() {
        let _ = fs::remove_file(workspace.path("vendor"));
        let _ = fs::remove_dir_all(workspace.path("vendor"));
        let link = workspace.path(&parts[..=at].join("/"));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(outside(&workspace), &link).unwrap();
        let run = mirror().ended_with(2);
        assert!(run.stderr.contains("symbolic link"), "{run}");
        assert_eq!(listing(&outside(&workspace)), before, "{run}");
    }
    fs::remove_dir_all(workspace.path("vendor")).unwrap();
    mirror().ended_with(0);
}

//! Another user of the machine, who can write where many may write, decides nothing: neither which directory is the top of a
//! working tree, nor what is in it.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::registry::Registry;
use crate::support::tools::has_second_user;
use crate::support::workspace::{NOBODY, TFLOCK, Workspace};
use crate::support::worlds::{LOCK, widget};

const MAIN: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";
const NOTE: &str = "safe.directory";

fn give(path: &Path, user: u32) {
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
    lchown(path, Some(user), Some(user)).unwrap();
}

/// A directory where all may write, and in it a root module without git.
fn shared() -> Workspace {
    let workspace = Workspace::with_files(&[("project/main.tf", MAIN)]);
    fs::set_permissions(workspace.path(""), Permissions::from_mode(0o1777)).unwrap();
    workspace
}

/// Files that the other user puts there.
fn planted(workspace: &Workspace, files: &[(&str, &str)]) {
    for (path, text) in files {
        workspace.write(path, text);
        give(&workspace.path(path), NOBODY);
    }
}

fn lock(workspace: &Workspace, registry: &Registry) -> crate::support::run::Run {
    workspace.tflock(registry, ["-C", "project"].iter().chain(&LOCK))
}

type Plant = fn(&Workspace);

#[test]
#[ignore = "long"]
fn the_repository_of_another_user_decides_nothing() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let plants: [(&str, Plant); 4] = [
        ("an empty directory", |workspace| fs::create_dir(workspace.path(".git")).unwrap()),
        ("a file", |workspace| workspace.write(".git", "gitdir: elsewhere\n")),
        ("a link to a directory", |workspace| std::os::unix::fs::symlink("project", workspace.path(".git")).unwrap()),
        ("a repository", |workspace| drop(workspace.git(["init", "--quiet"]))),
    ];
    let texts = [
        (".tflock.hcl", "source = \"fs:/evil\"\n"),
        (".tflock.hcl", "not a setting"),
        (".tflock.trust.hcl", "not a trust file"),
        ("project/.tflock.trust.hcl", ""),
    ];
    for (what, plant) in plants {
        for text in texts {
            let workspace = shared();
            plant(&workspace);
            give(&workspace.path(".git"), NOBODY);
            planted(&workspace, &[text]);
            let run = lock(&workspace, &registry).ended_with(0);
            assert!(run.stderr.contains(NOTE) && run.stderr.contains("65534"), "{what} {text:?}: {run}");
            assert_eq!(run.stderr.matches(NOTE).count(), 1, "{what}: {run}");
            assert!(!run.stderr.contains("mirror"), "{what}: {run}");
            assert!(workspace.has("project/.tflock.trust.hcl"), "{what}: {run}");
            for command in [&["install", "--platform=linux_amd64"][..], &["verify"], &["list"], &["status"]] {
                let run = workspace.tflock(&registry, [&["-C", "project"], command].concat()).ended_with(0);
                assert!(run.stderr.contains(NOTE), "{what} {command:?}: {run}");
            }
            // Git would refuse as well.
            let base = workspace.tflock(&registry, ["-C", "project", "verify", "--base", "HEAD"]).ended_with(2);
            assert!(base.stderr.contains(NOTE), "{what}: {base}");
        }
    }
}

/// What is ours above it decides, as ever: the search does not go on beyond the other user's.
#[test]
fn nor_does_it_open_the_way_to_one_above() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let workspace = shared();
    workspace.git(["init", "--quiet"]);
    workspace.write(".tflock.hcl", "platforms = [\"darwin_arm64\"]\n");
    let run = workspace.tflock(&registry, ["-C", "project", "lock"]).ended_with(0);
    assert!(!run.stderr.contains(NOTE), "{run}");
    assert!(workspace.has(".tflock.trust.hcl"));
    fs::create_dir(workspace.path("project/.git")).unwrap();
    give(&workspace.path("project/.git"), NOBODY);
    let run = lock(&workspace, &registry).ended_with(0);
    assert!(run.stderr.contains(NOTE) && workspace.has("project/.tflock.trust.hcl"), "{run}");
}

/// A checkout of another user, as containers have it: with `safe.directory` all is as in one's own, without it the root module is
/// on its own.
#[test]
#[ignore = "long"]
fn a_checkout_of_another_user_is_used_where_git_uses_it() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let checkout = |owner: u32| {
        let workspace = Workspace::with_files(&[
            ("live/a/main.tf", MAIN),
            (".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n"),
        ]);
        workspace.git(["init", "--quiet"]);
        workspace.tflock(&registry, ["-C", "live/a", "lock", "--platform", "linux_amd64"]).ended_with(0);
        workspace.git(["add", "--all"]);
        workspace.git(["commit", "--quiet", "--message", "all"]);
        give(&workspace.path(""), owner);
        if owner == NOBODY { workspace } else { workspace.by_another_user() }
    };
    for owner in [0, NOBODY] {
        let top = |workspace: &Workspace| fs::canonicalize(workspace.path("")).unwrap().display().to_string();
        let verify = |workspace: &Workspace, more: &[&str]| {
            workspace.tflock(&registry, [&["-C", "live/a", "verify"], more].concat())
        };
        let workspace = checkout(owner);
        // Without the settings at the top no other platform is wanted.
        let run = verify(&workspace, &[]).ended_with(0);
        assert_eq!(run.stderr.matches(NOTE).count(), 1, "{owner}: {run}");
        let run = verify(&workspace, &["--base", "HEAD"]).ended_with(2);
        assert!(run.stderr.contains("safe.directory") && run.stderr.contains(&top(&workspace)), "{owner}: {run}");
        let safe = top(&workspace);
        let home = format!("[safe]\n\tdirectory = {safe}\n");
        for text in [&*home, "[safe]\n\tdirectory = *\n"] {
            let workspace_home = workspace.path("").with_file_name("home");
            fs::write(workspace_home.join(".gitconfig"), text).unwrap();
            let run = verify(&workspace, &[]).ended_with(1);
            assert!(run.stdout.contains("darwin_arm64") && !run.stderr.contains(NOTE), "{owner}: {run}");
            verify(&workspace, &["--base", "HEAD"]).ended_with(0);
            fs::remove_file(workspace_home.join(".gitconfig")).unwrap();
        }
        // As actions and images pass it on.
        let workspace = workspace
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", &safe);
        let run = verify(&workspace, &[]).ended_with(1);
        assert!(!run.stderr.contains(NOTE), "{owner}: {run}");
        // No configuration of the tree itself.
        let workspace = checkout(owner);
        let text = workspace.read(".git/config");
        workspace.write(".git/config", &format!("{text}{home}"));
        let run = verify(&workspace, &[]).ended_with(0);
        assert!(run.stderr.contains(NOTE), "{owner}: {run}");
    }
    // `sudo` keeps the working tree of the user who called it.
    let workspace = checkout(NOBODY).env("SUDO_UID", "65534");
    let run = workspace.tflock(&registry, ["-C", "live/a", "verify"]).ended_with(1);
    assert!(run.stdout.contains("darwin_arm64") && !run.stderr.contains(NOTE), "{run}");
}

/// A link or a cache in a tree of another user is no better than one in our own.
#[test]
fn what_is_refused_in_a_working_tree_is_refused_in_that_of_another_user() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]).env("TFLOCK_CACHE_DIR", ".cache");
    workspace.git(["init", "--quiet"]);
    fs::create_dir(workspace.path("real")).unwrap();
    fs::write(workspace.path("").with_file_name("outside.tf"), "locals {}\n").unwrap();
    std::os::unix::fs::symlink("../outside.tf", workspace.path("more.tf")).unwrap();
    give(&workspace.path(""), NOBODY);
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("leads out of the git working tree"), "{run}");
    fs::remove_file(workspace.path("more.tf")).unwrap();
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(run.stderr.contains("no cache is used") && !workspace.has(".cache"), "{run}");
}

/// All that is below a directory, and itself.
fn below(top: &Path) -> Vec<PathBuf> {
    let is_folder = top.symlink_metadata().is_ok_and(|found| found.is_dir());
    let entries = is_folder.then(|| fs::read_dir(top).unwrap().map(|entry| entry.unwrap().path()));
    std::iter::once(top.to_owned()).chain(entries.into_iter().flatten().flat_map(|entry| below(&entry))).collect()
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn beside(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.path("").with_file_name(name)
}

/// A root module that uses all of the cache: hashes, documents, packages of providers and of modules.
fn everything() -> (Registry, Workspace) {
    let registry =
        widget().module("acme/net/lab", "1.0.0", &[("main.tf", "locals {}\n"), ("inner/x.tf", "locals {}\n")]);
    let call = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"1.0.0\"\n}\n";
    (registry, Workspace::with_files(&[("main.tf", &format!("{MAIN}{call}"))]))
}

const STEPS: [&[&str]; 5] = [
    &["lock", "--lock-modules", "--platform", "linux_amd64"],
    &["install", "--platform", "linux_amd64"],
    &["verify"],
    &["mirror", "../mirror", "--platform", "linux_amd64"],
    &["cache", "export", "../exported"],
];

/// Whatever the umask, nobody else may write to what a run makes, and what the cache keeps is for the user alone.
#[test]
#[ignore = "long"]
fn no_umask_opens_what_is_written() {
    for umask in ["000", "002", "022", "077"] {
        let (registry, workspace) = everything();
        // The cache does not exist yet.
        fs::remove_dir(beside(&workspace, "cache")).unwrap();
        for step in STEPS {
            let command = format!("umask {umask}; exec \"$0\" {}", step.join(" "));
            workspace.program(Path::new("/bin/sh"), &registry, ["-c", &command, TFLOCK]).ended_with(0);
        }
        let cache = beside(&workspace, "cache");
        for path in below(&cache) {
            let (mode, is_stored) = (mode(&path), path.starts_with(cache.join("packages")) || path == cache);
            let is_closed = if is_stored {
                mode & 0o022 == 0
            } else {
                mode.trailing_zeros() >= 6 || path.starts_with(cache.join("v2"))
            };
            assert!(is_closed && mode & 0o022 == 0, "{umask}: {} {mode:o}", path.display());
        }
        for made in [workspace.path(".terraform"), beside(&workspace, "exported"), beside(&workspace, "mirror")] {
            for path in below(&made).into_iter().filter(|path| !path.is_symlink()) {
                assert_eq!(mode(&path) & 0o022, 0, "{umask}: {} {:o}", path.display(), mode(&path));
            }
        }
        for (name, expected) in [(".terraform.lock.hcl", 0o644), (".tflock.trust.hcl", 0o644)] {
            assert_eq!(mode(&workspace.path(name)), expected, "{umask}: {name}");
        }
        let exported = if umask == "077" { 0o600 } else { 0o644 };
        assert_eq!(mode(&beside(&workspace, "exported")), exported, "{umask}");
        // All of it is used again.
        fs::remove_dir_all(workspace.path(".terraform")).unwrap();
        registry.forget_requests();
        workspace.tflock(None, ["install", "--platform", "linux_amd64", "--offline"]).ended_with(0);
        workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
    }
}

/// What was open to others is not used, whichever part it is, and stays as it is.
#[test]
#[ignore = "long"]
fn what_others_could_write_to_is_no_cache() {
    let (registry, workspace) = everything();
    for step in STEPS {
        workspace.tflock(&registry, step).ended_with(0);
    }
    let lock = workspace.lock_file();
    let cache = beside(&workspace, "cache");
    let parts: Vec<PathBuf> =
        below(&cache).into_iter().filter(|path| !path.starts_with(cache.join("packages"))).collect();
    assert!(parts.len() > 20, "{parts:?}");
    let first = parts.iter().filter(|path| path.is_dir()).chain(parts.iter().filter(|path| path.is_file()));
    for part in first {
        // By a group, by all, and of another user.
        for change in [0o020, 0o002, 0] {
            let own = mode(part);
            if change == 0 && !has_second_user() {
                continue;
            }
            if change == 0 {
                lchown(part, Some(NOBODY), None).unwrap();
            } else {
                chmod(part, own | change);
            }
            let shown = part.strip_prefix(&cache).unwrap().display().to_string();
            let is_top = *part == cache;
            workspace.tflock(&registry, ["cache", "stats"]).ended_with(if is_top { 2 } else { 0 });
            let run = workspace.tflock(&registry, STEPS[0]).ended_with(0);
            assert_eq!(workspace.lock_file(), lock, "{shown}: {run}");
            if is_top {
                let said = if change == 0 { "belongs to user 65534" } else { "chmod -R go-w" };
                assert!(run.stderr.contains(said) && run.stderr.contains("TFLOCK_CACHE_DIR"), "{shown}: {run}");
                assert_eq!(run.stderr.matches("is used: ").count(), 1, "{shown}: {run}");
            }
            // What was not used is as it was, or was written anew.
            assert!([own | change, own, 0o600].contains(&mode(part)), "{shown} {:o}", mode(part));
            lchown(part, Some(0), None).unwrap();
            chmod(part, own);
        }
    }
}

/// One pair that another user appends to the index is not believed.
#[test]
fn a_forged_pair_is_not_written() {
    let registry = widget();
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    workspace.tflock(&registry, LOCK).ended_with(0);
    let honest = workspace.lock_file();
    let cache = beside(&workspace, "cache");
    let log = below(&cache.join("v1/index")).into_iter().find(|path| path.is_file()).unwrap();
    let h1 = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    let forged = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    for part in ["", "v1", "v1/index", log.strip_prefix(&cache).unwrap().to_str().unwrap()] {
        let text = fs::read_to_string(&log).unwrap();
        let facts = text.trim().rsplit_once(' ').unwrap().0.replace(h1.strip_prefix("h1:").unwrap(), forged);
        fs::write(&log, format!("{facts} {:08x}\n", crc32fast::hash(facts.as_bytes()))).unwrap();
        let own = mode(&cache.join(part));
        chmod(&cache.join(part), own | 0o022);
        fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
        workspace.tflock(&registry, LOCK).ended_with(0);
        assert_eq!(workspace.lock_file(), honest, "{part}");
        chmod(&cache.join(part), own);
        fs::write(&log, &text).unwrap();
    }
}

/// A link in the cache leads nowhere: nothing behind it is read, removed or emptied.
#[test]
#[ignore = "long"]
fn links_in_the_cache_are_not_followed() {
    let (registry, workspace) = everything();
    for step in &STEPS[..3] {
        workspace.tflock(&registry, *step).ended_with(0);
    }
    let cache = beside(&workspace, "cache");
    let outside = beside(&workspace, "outside");
    let precious = [outside.join("precious/file"), outside.join("file")];
    fs::create_dir_all(outside.join("precious")).unwrap();
    for path in &precious {
        fs::write(path, "precious").unwrap();
    }
    let whole = beside(&workspace, "whole");
    copied(&cache, &whole);
    let parts: Vec<PathBuf> = below(&cache).into_iter().filter(|path| *path != cache).collect();
    for part in parts {
        let shown = part.strip_prefix(&cache).unwrap().display().to_string();
        let is_file = part.is_file();
        if is_file {
            fs::remove_file(&part).unwrap();
        } else {
            fs::remove_dir_all(&part).unwrap();
        }
        std::os::unix::fs::symlink(if is_file { &precious[1] } else { &outside }, &part).unwrap();
        for step in [STEPS[0], STEPS[2], &["cache", "prune", "--all"], &["cache", "stats"], &["audit", "--offline"]] {
            let run = workspace.tflock(&registry, step);
            assert!(run.code != Some(101), "{shown} {step:?}: {run}");
            assert_eq!(run.touched(), [""; 0], "{shown} {step:?}: {run}");
        }
        for path in &precious {
            assert_eq!(fs::read_to_string(path).unwrap(), "precious", "{shown}");
        }
        assert_eq!(below(&outside).len(), 4, "{shown}");
        fs::remove_dir_all(&cache).unwrap();
        copied(&whole, &cache);
    }
}

/// Root is no exception: whoever made the cache may still write to it.
#[test]
fn root_uses_no_cache_of_another_user() {
    if !has_second_user() {
        return;
    }
    let (registry, workspace) = everything();
    give(&beside(&workspace, "cache"), NOBODY);
    let run = workspace.tflock(&registry, STEPS[0]).ended_with(0);
    assert!(run.stderr.contains("belongs to user 65534") && run.stderr.contains("TFLOCK_CACHE_DIR"), "{run}");
    let run = workspace.tflock(&registry, STEPS[1]).ended_with(2);
    assert!(run.stderr.contains("belongs to user 65534"), "{run}");
    assert_eq!(below(&beside(&workspace, "cache")).len(), 1);
}

/// A wait for another program is reported after a second, and a run goes on once it has the lock.
#[test]
#[ignore = "long"]
fn a_wait_for_a_lock_is_reported() {
    let registry = widget();
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.tflock(&registry, ["install", "--platform", "linux_amd64"]).ended_with(0);
    fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    let shelf =
        beside(&workspace, "cache").join(format!("packages/v1/{}/acme/widget/1.4.0/linux_amd64", registry.host()));
    let held = fs::File::open(&shelf).unwrap();
    held.lock().unwrap();
    let mut run = workspace.tflock_command(&registry, ["install", "--platform", "linux_amd64"]).spawn().unwrap();
    let began = Instant::now();
    let mut text = String::new();
    let mut stderr = BufReader::new(run.stderr.take().unwrap());
    while !text.contains("waiting for another program") {
        text.clear();
        assert!(stderr.read_line(&mut text).unwrap() > 0 && began.elapsed() < Duration::from_secs(30));
    }
    assert!(text.contains(&format!("{}", shelf.display())) && text.contains("600 s"), "{text}");
    assert!(began.elapsed() >= Duration::from_secs(1));
    drop(held);
    assert!(run.wait().unwrap().success());
}

/// Nothing waits for the other end of a pipe that another user put there.
#[test]
fn pipes_are_not_waited_for() {
    let registry = widget();
    let index = crate::support::tempdir();
    let workspace = Workspace::with_files(&[
        ("main.tf", MAIN),
        (".tflock.hcl", &format!("index \"team\" {{\n  url = \"file://{}\"\n}}\n", index.path().display())),
    ]);
    let zh = registry.package("acme/widget", "1.4.0", "linux_amd64").zh().replace("zh:", "");
    let entry = index.path().join(format!("v1/{}/{zh}", &zh[..2]));
    fs::create_dir_all(entry.parent().unwrap()).unwrap();
    pipe(&entry);
    let began = Instant::now();
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(run.stderr.contains("is not a regular file"), "{run}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // The user's own pipe is waited for, as long as no signal comes.
    pipe(&beside(&workspace, "pipe"));
    let mut run = workspace.tflock_command(None, ["cache", "export", "../pipe"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(run.try_wait().unwrap().is_none());
    let pid = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let began = Instant::now();
    while run.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn copied(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

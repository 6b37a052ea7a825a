//! Everything that can be in the way.

use std::fs;
#[cfg(target_os = "linux")]
use std::io::Write as _;
use std::path::PathBuf;

use super::{INSTALL, LOCK, cache, files, leftovers, locked, place, program, several, stored};
use crate::support::registry::{Answer, Endpoint};
#[cfg(target_os = "linux")]
use crate::support::small_disk::SmallDisk;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

/// Writes over a file, whatever it permits.
fn alter(path: &std::path::Path) {
    let bytes = fs::read(path).unwrap();
    let mut other = bytes.clone();
    other.extend_from_slice(b"altered");
    // A new file: other links to the old one stay.
    fs::remove_file(path).unwrap();
    fs::write(path, other).unwrap();
}

#[test]
fn content_that_is_not_recorded_is_refused() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    let before = fs::read(program(&place(&workspace, &registry, ""))).unwrap();
    fs::remove_dir_all(cache(&workspace).join("packages")).unwrap();
    alter(&program(&place(&workspace, &registry, "")));
    registry.republish("acme/widget", "1.4.0");
    let run = workspace.tflock(&registry, INSTALL).ended_with(3);
    assert!(run.stderr.contains("which the lock file does not record"), "{run}");
    // What was there stays.
    let altered = fs::read(program(&place(&workspace, &registry, ""))).unwrap();
    assert_eq!(altered, [&before[..], b"altered"].concat());
    assert_eq!(leftovers(workspace.path("").parent().unwrap()), Vec::<PathBuf>::new());
}

#[test]
fn an_altered_entry_of_the_store_is_discarded_and_downloaded_again() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    alter(&program(&stored(&workspace, &registry)));
    fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    registry.forget_requests();
    let run = workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(
        run.stderr
            .contains("in the package store was altered on disk, or other users may write to it: it is discarded"),
        "{run}"
    );
    assert_eq!(registry.downloads("acme/widget"), 1);
    let offline = [&INSTALL[..], &["--offline"]].concat();
    fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    workspace.tflock(None, offline).ended_with(0);
}

/// Whoever can write to the store decides nothing: its content is hashed, and links in it are not followed.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn a_hostile_store_is_never_installed_from() {
    use std::os::unix::fs::symlink;

    type Change = fn(&std::path::Path);
    let changes: [(&str, Change); 8] = [
        ("a program that is a link to an equal one", |entry| {
            let (program, other) = (program(entry), entry.with_file_name("other"));
            fs::rename(&program, &other).unwrap();
            symlink(other, program).unwrap();
        }),
        ("one more file", |entry| fs::write(entry.join("terraform-provider-evil"), "evil").unwrap()),
        ("one more link", |entry| symlink("/etc/passwd", entry.join("more")).unwrap()),
        ("a link to itself", |entry| symlink(".", entry.join("again")).unwrap()),
        ("a pipe", |entry| {
            let pipe = entry.join("pipe");
            assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }),
        ("a link to another directory", |entry| {
            let other = entry.with_file_name("other");
            fs::rename(entry, &other).unwrap();
            alter(&program(&other));
            symlink(other, entry).unwrap();
        }),
        ("a file", |entry| {
            fs::remove_dir_all(entry).unwrap();
            fs::write(entry, "evil").unwrap();
        }),
        ("nothing in it", |entry| {
            fs::remove_dir_all(entry).unwrap();
            fs::create_dir(entry).unwrap();
        }),
    ];
    let registry = widget();
    let recorded = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    for (what, change) in changes {
        for link in ["--link=symlink", "--link=hard", "--link=copy"] {
            let workspace = locked(&registry);
            workspace.tflock(&registry, INSTALL).ended_with(0);
            let entry = stored(&workspace, &registry);
            make_writable(&entry);
            change(&entry);
            fs::remove_dir_all(workspace.path(".terraform")).unwrap();
            let run = workspace.tflock(&registry, INSTALL.iter().chain(&[link])).ended_with(0);
            let place = place(&workspace, &registry, "");
            let hash = workspace.tflock(None, ["hash", place.to_str().unwrap()]).ended_with(0);
            assert!(hash.stdout.starts_with(&recorded), "{what} {link}: {run} {hash}");
            assert!(files(&place).iter().all(|file| !file.is_symlink()), "{what} {link}: {run}");
        }
    }
}

#[cfg(unix)]
fn make_writable(entry: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(entry, fs::Permissions::from_mode(0o755)).unwrap();
}

/// As root, `terraform init` overwrites shared files in place.
#[cfg(unix)]
#[test]
fn files_that_were_written_through_links_are_repaired_everywhere() {
    use std::os::unix::fs::PermissionsExt as _;

    let registry = widget();
    let workspace = several(&registry, &["a", "b"]);
    let install = ["install", "-r", "--platform=linux_amd64", "--link=hard"];
    workspace.tflock(&registry, install).ended_with(0);
    let shared = program(&place(&workspace, &registry, "a"));
    assert_eq!(fs::metadata(&shared).unwrap().permissions().mode() & 0o777, 0o555);
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(&shared, "overwritten").unwrap();
    let run = workspace.tflock(&registry, install).ended_with(0);
    assert!(run.stderr.contains("installed-differs") && run.stderr.contains("was altered on disk"), "{run}");
    let recorded = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    for place in [place(&workspace, &registry, "a"), place(&workspace, &registry, "b"), stored(&workspace, &registry)] {
        let hash = workspace.tflock(None, ["hash", place.to_str().unwrap()]).ended_with(0);
        assert!(hash.stdout.starts_with(&recorded), "{hash}");
    }
}

#[cfg(unix)]
#[test]
fn links_in_the_way_are_refused_or_replaced_and_never_followed() {
    use std::os::unix::fs::symlink;

    let registry = widget();
    let workspace = locked(&registry);
    let outside = workspace.path("").with_file_name("outside");
    fs::create_dir_all(outside.join("x")).unwrap();
    fs::write(outside.join("x/kept"), "kept").unwrap();
    symlink(&outside, workspace.path(".terraform")).unwrap();
    let run = workspace.tflock(&registry, INSTALL).ended_with(2);
    assert!(run.stderr.contains("is a symbolic link"), "{run}");
    fs::remove_file(workspace.path(".terraform")).unwrap();
    // On the way to the package.
    fs::create_dir_all(workspace.path(".terraform/providers")).unwrap();
    symlink(&outside, workspace.path(".terraform/providers").join(registry.host())).unwrap();
    let run = workspace.tflock(&registry, INSTALL).ended_with(2);
    assert!(run.stderr.contains("is a symbolic link, and tflock does not write through it"), "{run}");
    assert_eq!(files(&outside), [outside.join("x")]);
    fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    // In its place, with other content.
    let place = place(&workspace, &registry, "");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(outside.join("x"), &place).unwrap();
    let run = workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(run.stderr.contains("installed-differs"), "{run}");
    assert!(!place.is_symlink() && place.is_dir());
    assert_eq!(fs::read_to_string(outside.join("x/kept")).unwrap(), "kept");
    // In its place, intact: as from a plugin cache.
    let elsewhere = outside.join("intact");
    fs::rename(&place, &elsewhere).unwrap();
    symlink(&elsewhere, &place).unwrap();
    workspace.tflock(None, INSTALL).ended_with(0);
    assert!(place.is_symlink());
}

#[test]
fn a_data_directory_that_is_a_file_or_tracked_by_git_is_refused() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.write(".terraform", "a file");
    let run = workspace.tflock(&registry, INSTALL).ended_with(2);
    assert!(run.stderr.contains(".terraform"), "{run}");
    fs::remove_file(workspace.path(".terraform")).unwrap();
    workspace.write(".terraform/providers/x", "");
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--force", ".terraform"]);
    let run = workspace.tflock(&registry, INSTALL).ended_with(3);
    assert!(run.stderr.contains("tracked-packages"), "{run}");
    assert!(!place(&workspace, &registry, "").exists());
    // Where git fails it is unknown what it tracks; where there is none, nothing comes back with the next checkout.
    let index = fs::read(workspace.path(".git/index")).unwrap();
    fs::write(workspace.path(".git/index"), "broken").unwrap();
    for command in [&INSTALL[..], &["get"]] {
        let run = workspace.tflock(&registry, command).ended_with(2);
        assert!(run.stderr.contains("it is unknown whether git tracks packages"), "{run}");
    }
    assert!(!place(&workspace, &registry, "").exists());
    fs::write(workspace.path(".git/index"), index).unwrap();
    fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    let workspace = workspace.env("PATH", "/nowhere");
    workspace.tflock(&registry, INSTALL).ended_with(0);
}

#[test]
fn one_data_directory_is_not_that_of_many_root_modules() {
    let registry = widget();
    let shared = crate::support::tempdir();
    let workspace = several(&registry, &["a", "b"]).env("TF_DATA_DIR", shared.path().to_str().unwrap());
    let run = workspace.tflock(&registry, ["install", "-r"]).ended_with(2);
    assert!(run.stderr.contains("the data directory of 2 root modules, which cannot share one"), "{run}");
    workspace.tflock_in("a", &registry, INSTALL).ended_with(0);
    assert!(shared.path().join("providers").is_dir());
    // A relative path may name one directory, too: here that of `b`, which is inside of a root module.
    let workspace = several(&registry, &["a", "b"]).env("TF_DATA_DIR", "../b/data");
    let run = workspace.tflock(&registry, ["install", "-r", "--prune"]).ended_with(2);
    assert!(run.stderr.contains("the data directory of 2 root modules, which cannot share one"), "{run}");
    assert!(!workspace.has("b/data"));
    workspace.tflock_in("a", &registry, INSTALL).ended_with(0);
    assert!(workspace.has("b/data/providers") && !workspace.has("a/data"));
    workspace.tflock_in("b", &registry, ["install", "--platform=linux_amd64", "--check"]).ended_with(0);
}

/// A root module that is removed while its package is downloaded is not made again, and others are installed.
#[test]
fn a_root_module_that_disappears_is_an_error() {
    let registry = widget();
    let workspace = several(&registry, &["a", "b"]);
    let other = Workspace::from("modules/one-root");
    // The download ends once another run downloads, too.
    let registry = registry.answers(Endpoint::Zip, Answer::together(2));
    let run = workspace.tflock_command(&registry, ["install", "-r", "--platform=linux_amd64"]).spawn().unwrap();
    while registry.count(Endpoint::Zip) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    fs::remove_dir_all(workspace.path("b")).unwrap();
    other.tflock(&registry, LOCK).ended_with(0);
    let output = run.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("the root module b was removed during the run"), "{stderr}");
    assert!(place(&workspace, &registry, "a").is_dir() && !workspace.has("b"), "{stderr}");
}

/// However many root modules: no request more than for one. 5,000 pass too, but take a minute in a program that is not optimized.
#[test]
fn hundreds_of_root_modules_share_one_download() {
    let registry = widget();
    let names: Vec<String> = (0..400).map(|at| format!("r{at:03}")).collect();
    let workspace = several(&registry, &names.iter().map(String::as_str).collect::<Vec<_>>());
    let install = ["install", "-r", "--platform=linux_amd64"];
    let run = workspace.tflock(&registry, install).ended_with(0);
    assert!(run.stdout.starts_with("installed 1 provider in 400 root modules: "), "{run}");
    assert_eq!(registry.count(Endpoint::Zip), 1);
    assert!(registry.requests().len() < 10, "{run}");
    assert!(place(&workspace, &registry, "r399").is_dir());
}

/// A directory on another file system than the package store; none, and a line on stderr, where there is none.
#[cfg(target_os = "linux")]
fn elsewhere() -> Option<tempfile::TempDir> {
    use std::os::unix::fs::MetadataExt as _;

    let device = |path: &std::path::Path| fs::metadata(path).map(|found| found.dev()).ok();
    let sandbox = crate::support::tempdir();
    let places = [std::env::temp_dir(), "/dev/shm".into()];
    let mut found = places.iter().filter_map(|place| tempfile::tempdir_in(place).ok());
    let found = found.find(|found| device(found.path()) != device(sandbox.path()));
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: there is no other file system to write to");
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
fn packages_are_copied_to_another_file_system() {
    let Some(elsewhere) = elsewhere() else { return };
    let registry = widget();
    let workspace = locked(&registry).env("TF_DATA_DIR", elsewhere.path().to_str().unwrap());
    let hard = [&INSTALL[..], &["--link=hard"]].concat();
    let run = workspace.tflock(&registry, hard).ended_with(2);
    assert!(run.stderr.contains("cannot link"), "{run}");
    assert_eq!(leftovers(elsewhere.path()), Vec::<PathBuf>::new());
    let run = workspace.tflock(&registry, INSTALL).ended_with(0);
    assert_eq!(run.stderr.matches("packages were copied").count(), 1, "{run}");
    assert!(run.stderr.contains("set TFLOCK_CACHE_DIR to a directory on the same file system"), "{run}");
    workspace.tflock(None, [&INSTALL[..], &["--check"]].concat()).ended_with(0);
}

/// A root module that cannot be worked on does not keep others from being installed.
#[test]
fn root_modules_are_independent() {
    let registry = widget();
    let workspace = several(&registry, &["a", "b", "c"]);
    workspace.write("b/.terraform.lock.hcl", "not a lock file {");
    fs::write(workspace.path("c/.terraform"), "in the way").unwrap();
    let run = workspace.tflock(&registry, ["install", "-r", "--platform=linux_amd64"]).ended_with(2);
    assert!(place(&workspace, &registry, "a").is_dir(), "{run}");
    assert!(run.stdout.contains("installed 1 provider in 1 root module"), "{run}");
    assert!(run.stdout.contains("failed in 2 root modules"), "{run}");
    assert!(run.stderr.contains("b/.terraform.lock.hcl") && run.stderr.contains("c/.terraform"), "{run}");
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;

    let registry = widget();
    let Some(workspace) = locked(&registry).by_normal_user() else { return };
    fs::create_dir(workspace.path(".terraform")).unwrap();
    fs::set_permissions(workspace.path(".terraform"), fs::Permissions::from_mode(0o555)).unwrap();
    let run = workspace.tflock(&registry, INSTALL).ended_with(2);
    assert!(run.stderr.contains("cannot create"), "{run}");
}

#[test]
fn a_download_that_breaks_leaves_nothing() {
    let registry = widget();
    let workspace = locked(&registry);
    let registry = registry.answers(Endpoint::Zip, Answer::truncated());
    let run = workspace.tflock(&registry, INSTALL).ended_with(4);
    assert!(!place(&workspace, &registry, "").exists(), "{run}");
    assert_eq!(leftovers(workspace.path("").parent().unwrap()), Vec::<PathBuf>::new());
    let registry = registry.recovered();
    workspace.tflock(&registry, INSTALL).ended_with(0);
}

#[test]
fn what_a_killed_run_left_is_removed() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.tflock(&registry, INSTALL).ended_with(0);
    let shelf = stored(&workspace, &registry).parent().unwrap().to_owned();
    let place = place(&workspace, &registry, "");
    for folder in [&shelf, place.parent().unwrap()] {
        fs::create_dir_all(folder.join(".tflock-killed/x")).unwrap();
    }
    fs::remove_dir_all(&place).unwrap();
    fs::remove_dir_all(stored_entry(&shelf)).unwrap();
    workspace.tflock(&registry, INSTALL).ended_with(0);
    assert_eq!(leftovers(workspace.path("").parent().unwrap()), Vec::<PathBuf>::new());
}

fn stored_entry(shelf: &std::path::Path) -> PathBuf {
    let is_entry = |path: &PathBuf| !path.file_name().unwrap().to_str().unwrap().starts_with('.');
    files(shelf).into_iter().find(is_entry).unwrap()
}

#[test]
fn a_store_in_the_working_tree_must_be_ignored_by_git() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root").env("TFLOCK_CACHE_DIR", ".cache");
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, LOCK).ended_with(0);
    let run = workspace.tflock(&registry, INSTALL).ended_with(2);
    assert!(run.stderr.contains("is inside the working tree") && run.stderr.contains("git ignores"), "{run}");
    assert!(!workspace.has(".cache"));
    workspace.write(".gitignore", ".cache/\n");
    workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(workspace.has(".cache/packages/v1"));
    // The index stays out of the tree.
    assert!(!workspace.has(".cache/v1"));
}

#[test]
fn a_host_that_the_policy_forbids_is_not_contacted() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.write(".tflock.hcl", "policy {\n  hosts = [\"registry.opentofu.org\"]\n}\n");
    let run = workspace.tflock(&registry, INSTALL).ended_with(3);
    assert!(run.stderr.contains("host-not-allowed"), "{run}");
    assert_eq!(registry.requests().len(), 0);
}

#[test]
fn an_h1_that_belongs_to_no_package_of_the_release_is_refused() {
    let registry = widget();
    let workspace = locked(&registry);
    let h1 = format!("h1:{}=", "A".repeat(43));
    let text = workspace.lock_file();
    let kept = text
        .lines()
        .filter(|line| !line.contains("zh:"))
        .map(|line| if line.contains("h1:") { format!("    \"{h1}\",") } else { line.to_owned() });
    workspace.write(".terraform.lock.hcl", &(kept.collect::<Vec<_>>().join("\n") + "\n"));
    let run = workspace.tflock(&registry, INSTALL).ended_with(3);
    assert!(run.stderr.contains("wrong-checksum"), "{run}");
    assert!(!place(&workspace, &registry, "").exists());
}

/// Runs that are killed at any moment leave nothing that a further run does not repair, and nothing half.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn a_run_that_is_killed_leaves_complete_packages_or_none() {
    let registry = widget();
    let workspace = several(&registry, &["a", "b", "c", "d"]);
    let recorded = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    for delay in 0..12u64 {
        let mut run = workspace.tflock_command(&registry, ["install", "-r", "--platform=linux_amd64"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay * 15));
        run.kill().unwrap();
        run.wait().unwrap();
        for root in ["a", "b", "c", "d"] {
            let place = place(&workspace, &registry, root);
            if place.exists() {
                let hash = workspace.tflock(None, ["hash", place.to_str().unwrap()]).ended_with(0);
                assert!(hash.stdout.starts_with(&recorded), "{hash}");
            }
        }
        workspace.tflock(&registry, ["install", "-r", "--platform=linux_amd64"]).ended_with(0);
        assert_eq!(leftovers(workspace.path("").parent().unwrap()), Vec::<PathBuf>::new());
        for root in ["a", "b", "c", "d"] {
            fs::remove_dir_all(workspace.path(root).join(".terraform")).unwrap();
        }
        if delay % 2 == 0 {
            fs::remove_dir_all(cache(&workspace).join("packages")).unwrap();
        }
    }
}

/// At each step in which a thread makes, renames or removes something, where nothing is and where all was altered.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "long"]
fn a_run_that_is_killed_at_a_step_leaves_nothing_that_the_next_does_not_remove() {
    let Some(strace) = crate::support::tools::found("strace") else { return };
    let registry = widget();
    let workspace = locked(&registry);
    for (call, replaces) in ["mkdir", "rename", "rmdir", "unlinkat"].map(|call| [(call, false), (call, true)]).concat()
    {
        for when in 1..100 {
            if replaces {
                alter(&program(&place(&workspace, &registry, "")));
                alter(&program(&stored(&workspace, &registry)));
            } else {
                let _ = fs::remove_dir_all(workspace.path(".terraform"));
                let _ = fs::remove_dir_all(cache(&workspace).join("packages"));
            }
            let kill = format!("inject={call}:signal=KILL:when={when}");
            let args = ["-f", "-e", &format!("trace={call}"), "-e", &kill, env!("CARGO_BIN_EXE_tflock")];
            let run = workspace.command(&strace, &registry, args.iter().chain(&INSTALL)).output().unwrap();
            workspace.tflock(&registry, INSTALL).ended_with(0);
            let left = leftovers(workspace.path("").parent().unwrap());
            assert_eq!(left, Vec::<PathBuf>::new(), "{call} {when} {replaces}");
            if run.status.success() {
                break;
            }
        }
    }
}

/// Runs at the same time download each package once.
#[test]
fn runs_at_the_same_time_share_one_download() {
    let registry = widget();
    let workspace = several(&registry, &["a", "b", "c", "d", "e", "f"]);
    let start =
        |root: &str| workspace.tflock_command(&registry, ["-C", root, "install", "--platform=linux_amd64"]).spawn();
    let running: Vec<_> = ["a", "b", "c", "d", "e", "f"].into_iter().map(|root| start(root).unwrap()).collect();
    for run in running {
        assert!(run.wait_with_output().unwrap().status.success());
    }
    assert_eq!(registry.downloads("acme/widget"), 1);
}

/// In the package store, and in a root module.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    for variable in ["TFLOCK_CACHE_DIR", "TF_DATA_DIR"] {
        let Some(small) = SmallDisk::mounted() else { return };
        let registry = widget();
        let workspace = Workspace::from("modules/one-root").env(variable, small.shown());
        workspace.tflock(&registry, LOCK).ended_with(0);
        let run = workspace.tflock(&registry, INSTALL).ended_with(2);
        assert!(run.stderr.contains("No space left"), "{run}");
        assert_eq!((leftovers(small.path()), program_files(small.path())), (Vec::new(), 0), "{run}");
        assert!(!place(&workspace, &registry, "").exists());
    }
}

/// How many programs of providers there are, whole or not.
#[cfg(target_os = "linux")]
fn program_files(folder: &std::path::Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let count = |entry: fs::DirEntry| {
        let is_program = entry.file_name().to_string_lossy().starts_with("terraform-provider-");
        usize::from(is_program) + if entry.path().is_dir() { program_files(&entry.path()) } else { 0 }
    };
    entries.map(count).sum()
}

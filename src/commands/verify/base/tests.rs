//! What a change did, told from a tree and a list of changes.

use std::cell::Cell;
use std::path::Path;

use super::hidden::LockDirectories;
use super::removed::{RecordedEntries, Removed};
use super::{changes_settings, touches};
use crate::commands::verify::read_paths::ReadPaths;
use crate::dialect::Dialect;
use crate::finding::{Level, Rule};
use crate::git::{ChangedFiles, FileKind, GitTree};
use crate::lockfile::{self, LockFile};
use crate::path::RepoPath;

/// A working tree in which some files are there.
#[expect(clippy::disallowed_methods, reason = "a test makes files")]
fn work_tree(files: &[&str]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for file in files {
        let path = top.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    (folder, top)
}

const LOCK: &str = ".terraform.lock.hcl";

fn lock(directory: &str) -> String {
    format!("{directory}/{LOCK}")
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_lock_file_may_move_with_its_configuration() {
    let (app, other) = (lock("app"), lock("other"));
    let before = GitTree::of(&["app/main.tf", &app, "other/net.tf", &other], &[]);
    let (_folder, top) = work_tree(&["other/net.tf", &other, "new/main.tf"]);
    let removed = Removed::of(&before, &ChangedFiles::of(&top, &["app/main.tf", &app, "new/main.tf"], &[]));
    let denied = |directory: &str, files: &[&str]| {
        let finding = removed.finding(directory, &names(files));
        (finding.rule, finding.level())
    };
    assert_eq!(denied("new", &["main.tf"]), (Rule::LockFileMoved, Level::Deny));
    assert_eq!(denied("new", &["other.tf"]), (Rule::LockFileMissing, Level::Deny));
}

#[test]
fn a_lock_file_that_is_deleted_in_place_moved_nowhere() {
    let app = lock("app");
    let before = GitTree::of(&["app/main.tf", &app], &[]);
    let (_folder, top) = work_tree(&["app/main.tf", "app/more.tf"]);
    let removed = Removed::of(&before, &ChangedFiles::of(&top, &[&app, "app/more.tf"], &[]));
    assert_eq!(removed.directories, ["app".to_owned()].into());
    assert_eq!(removed.finding("new", &names(&["main.tf", "more.tf"])).rule, Rule::LockFileMissing);
}

#[test]
fn a_new_directory_is_only_reported_if_no_root_module_left() {
    let before = GitTree::of(&["app/main.tf", &lock("app")], &[]);
    let (_folder, top) = work_tree(&["app/main.tf", &lock("app"), "new/main.tf"]);
    let removed = Removed::of(&before, &ChangedFiles::of(&top, &["new/main.tf"], &[]));
    let finding = removed.finding("new", &names(&["main.tf"]));
    assert_eq!((finding.rule, finding.level()), (Rule::LockFileMissing, Level::Note));
    // A lock file that is left alone counts as one that left.
    let before = GitTree::of(&["app/main.tf", &lock("app")], &[]);
    let (_folder, top) = work_tree(&[&lock("app"), "new/main.tf"]);
    let removed = Removed::of(&before, &ChangedFiles::of(&top, &["app/main.tf", "new/main.tf"], &[]));
    assert_eq!(removed.finding("new", &names(&["main.tf"])).rule, Rule::LockFileMoved);
}

#[test]
fn the_candidate_with_the_same_name_is_named() {
    let locks = [lock("a/net"), lock("b/app")];
    let before = GitTree::of(&["a/net/main.tf", &locks[0], "b/app/main.tf", &locks[1]], &[]);
    let (_folder, top) = work_tree(&["c/app/main.tf"]);
    let lost = ["a/net/main.tf", &locks[0], "b/app/main.tf", &locks[1], "c/app/main.tf"];
    let removed = Removed::of(&before, &ChangedFiles::of(&top, &lost, &[]));
    let said = |directory: &str| removed.finding(directory, &names(&["main.tf"])).message().to_owned();
    assert!(said("c/app").contains("as b/app,"), "{}", said("c/app"));
    assert!(said("c/x").contains("as a/net,") || said("c/x").contains("as b/app,"), "{}", said("c/x"));
}

fn locked(entries: &[(&str, &str, &[&str])]) -> LockFile {
    let block = |(name, version, hashes): &(&str, &str, &[&str])| {
        let hashes: Vec<String> = hashes.iter().map(|hash| format!("{hash:?}")).collect();
        format!(
            "provider \"registry.terraform.io/acme/{name}\" {{\n  version = \"{version}\"\n  hashes = [{}]\n}}\n",
            hashes.join(", ")
        )
    };
    let text: String = entries.iter().map(block).collect();
    lockfile::salvage(text.as_bytes(), Dialect::Terraform).lock
}

#[test]
fn a_new_lock_file_is_compared_with_removed_ones() {
    let [a, b, c] = ["h1:a", "h1:b", "h1:c"];
    let left = [locked(&[("x", "1.0.0", &[a, b]), ("y", "1.0.0", &[a])]), locked(&[("x", "1.0.0", &[b, c])])];
    let recorded = RecordedEntries::of(left);
    let before = recorded.of_lock(&locked(&[("x", "1.0.0", &[a]), ("y", "2.0.0", &[a]), ("z", "1.0.0", &[a])]));
    assert_eq!(before, locked(&[("x", "1.0.0", &[b])]));
}

#[test]
fn links_and_submodules_at_and_above_a_root_module() {
    let app = lock("app");
    let before = GitTree::of(&["app/main.tf", &app], &[]);
    let (_folder, top) = work_tree(&["app/main.tf", &app]);
    let roots = LockDirectories::of(&before);
    let denied = |at: &str, kind: FileKind, is_hidden: bool| {
        let changes = ChangedFiles::of(&top, &[], &[(at, kind)]);
        let judged = [RepoPath::from_git("app"), RepoPath::from_git("deep/down")];
        roots
            .crossings(&changes, judged.iter(), std::iter::empty(), |_| is_hidden)
            .into_iter()
            .map(|it| it.rule)
            .collect::<Vec<_>>()
    };
    for at in
        ["app", &app, "app/.terraform", "app/terraform.d/plugins", "deep", "deep/.tflock.hcl", ".tflock.trust.hcl"]
    {
        let hidden = if at == "app" { Rule::RootModuleMovedOut } else { Rule::LinkChanged };
        assert_eq!(denied(at, FileKind::Link, false), [Rule::LinkChanged], "{at}");
        assert_eq!(denied(at, FileKind::Link, true), [hidden], "{at}");
        assert_eq!(denied(at, FileKind::Submodule, false), [hidden], "{at}");
    }
    // A link elsewhere leads to nothing that is judged; of a submodule it is not known what it holds.
    assert_eq!(denied("docs", FileKind::Link, true), []);
    assert_eq!(denied("docs", FileKind::Submodule, true), [Rule::LinkChanged]);
    assert_eq!(denied("app/docs", FileKind::Link, true), []);
}

/// Each link is looked at once, however many root modules there are and whatever leads over it.
#[test]
fn the_work_grows_as_the_change_does() {
    for size in [20, 200, 2000] {
        let paths: Vec<String> = (0..size).flat_map(|at| [format!("r{at}/main.tf"), lock(&format!("r{at}"))]).collect();
        let before = GitTree::of(&paths.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        let links: Vec<String> = (0..size).map(|at| format!("r{at}")).collect();
        let crossings: Vec<(&str, FileKind)> = links.iter().map(|path| (path.as_str(), FileKind::Link)).collect();
        let changes = ChangedFiles::of(Path::new("/nowhere"), &[], &crossings);
        let judged: Vec<RepoPath> = links.iter().map(|path| RepoPath::from_git(path.as_str())).collect();
        let looks = Cell::new(0);
        let found = LockDirectories::of(&before).crossings(&changes, judged.iter(), std::iter::empty(), |_| {
            looks.set(looks.get() + 1);
            true
        });
        assert_eq!((found.len(), looks.get()), (size, size));
    }
}

#[test]
fn files_that_a_root_module_reads_concern_it() {
    let (_folder, top) = work_tree(&["app/main.tf", "modules/net/main.tf", "app/tests/x.tftest.hcl"]);
    let all = |paths: [&str; 2]| paths.map(|path| top.join(path)).to_vec();
    let read = ReadPaths {
        files: all(["app/main.tf", "root.hcl"]),
        directories: all(["app", "modules/net"]),
        listed: all(["policies", "empty"]),
        ..ReadPaths::default()
    };
    let concerns = |path: &str| {
        touches(&ChangedFiles::of(&top, &[path], &[]), ["app", "app/tests"].map(|place| top.join(place)), &read)
    };
    let yes = [
        "app/main.tf",
        "app/new.tf",
        "modules/net/gone.tf",
        "app/tests/x.tftest.hcl",
        "app/terraform.d/plugins/x",
        "app",
        "app/.terraform/x",
        "app/terragrunt.hcl",
        "app/x.tfcomponent.hcl",
        "modules",
        "root.hcl",
        "policies/new.txt",
        // The name of the directory is new in the list.
        "policies/deep/x.txt",
    ];
    for path in yes {
        assert!(concerns(path), "{path}");
    }
    let no = ["app/README.md", "app/deep/main.tf", "modules/main.tf", "modules/other/main.tf", "main.tf", "ap"];
    for path in no.into_iter().chain(["app/.terraform.lock.hcl"]) {
        assert!(!concerns(path), "{path}");
    }
}

#[test]
fn changed_settings_concern_every_root_module() {
    let tree = GitTree::of(&["app/main.tf", "shared.hcl"], &[("app/.tflock.hcl", "../shared.hcl")]);
    let changes = |path: &str| changes_settings(&tree, &ChangedFiles::of(Path::new("/top"), &[path], &[]));
    for path in [".tflock.hcl", ".tflock.trust.hcl", "deep/down/.tflock.hcl", "shared.hcl"] {
        assert!(changes(path), "{path}");
    }
    for path in ["app/main.tf", ".tflock.modules.hcl", "other.hcl", "app/tflock.hcl"] {
        assert!(!changes(path), "{path}");
    }
}

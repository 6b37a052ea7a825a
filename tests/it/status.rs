//! `status` in the states that a repository can be in, and `setup`, which leads from nothing to a gate.

use crate::support::proposal::{SETTINGS, TRUST, commit};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const MAIN: &str = r#"terraform {
  backend "local" {}
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.0"
    }
  }
}
"#;
const LOCK: &str = "live/a/.terraform.lock.hcl";
const PLATFORMS: [&str; 4] = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];

fn registry() -> Registry {
    Registry::start().release("acme/widget", "1.0.0", &["linux_amd64", "darwin_arm64"]).release(
        "acme/widget",
        "2.0.0",
        &["linux_amd64", "darwin_arm64"],
    )
}

fn repository() -> Workspace {
    let workspace = Workspace::with_files(&[("live/a/main.tf", MAIN), ("live/b/main.tf", MAIN)]);
    workspace.git(["init", "--quiet"]);
    workspace
}

/// The lines of `status`, which sends no request and changes nothing.
fn status(workspace: &Workspace, registry: &Registry) -> Run {
    registry.forget_requests();
    let run = workspace.tflock(registry, ["status"]).ended_with(0);
    assert!(registry.requests().is_empty() && run.touched().is_empty(), "{run}");
    assert!(run.stdout.lines().count() <= 15, "{run}");
    run
}

/// Checks that lines contain these words, and that the command of the last one runs.
fn says(workspace: &Workspace, registry: &Registry, words: &[&str]) -> String {
    let run = status(workspace, registry);
    for word in words {
        assert!(run.stdout.contains(word), "{word}: {run}");
    }
    let next = run.stdout.lines().find(|line| line.starts_with("next")).unwrap_or_default();
    next.split('`').nth(1).unwrap_or_default().to_owned()
}

fn follow(workspace: &Workspace, registry: &Registry, command: &str) -> Run {
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    workspace.tflock(registry, words)
}

#[test]
#[ignore = "long"]
fn the_next_command_leads_from_state_to_state() {
    let (workspace, registry) = (repository(), registry());
    let next = says(
        &workspace,
        &registry,
        &["2 without a lock file: live/a, live/b", "none locked", "not set (`tflock setup`)"],
    );
    assert_eq!(next, "tflock setup");
    // Before the first commit, too, git knows what changed.
    let run = follow(&workspace, &registry, &next).ended_with(0);
    let signers = ["none to remember", "no commit yet; 3 files to commit"];
    assert!(run.stdout.contains("`tflock lock -r --create` completes"), "{run}");
    assert!(run.stderr.contains("is for this machine alone: add to .tflock.hcl the other platforms"), "{run}");
    assert_eq!(says(&workspace, &registry, &signers), "tflock lock -r --create");
    std::fs::remove_file(workspace.path(SETTINGS)).unwrap();
    workspace.tflock(&registry, ["lock", "-r", "--create", "--platform", "linux_amd64"]).ended_with(0);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();

    let next = says(&workspace, &registry, &["root modules  2\n", "there is no trust file"]);
    assert_eq!(next, "tflock setup");
    let run = workspace.tflock(&registry, ["setup"].iter().chain(&PLATFORMS)).ended_with(0);
    assert!(
        run.stdout.contains(".gitattributes: unchanged\n") && run.stdout.contains("`tflock lock -r` completes"),
        "{run}"
    );

    // Their signers are to be remembered, too.
    let next = says(
        &workspace,
        &registry,
        &["darwin_arm64 is missing in all root modules", "platform-uncovered in 2 root modules"],
    );
    assert_eq!(next, "tflock lock -r");
    follow(&workspace, &registry, &next).ended_with(0);

    let next =
        says(&workspace, &registry, &["all remembered", "offline checks pass", "no commit yet; 5 files to commit"]);
    assert_eq!(next, "tflock diff -r");
    follow(&workspace, &registry, &next).ended_with(0);
    commit(&workspace, "lock");

    let next = says(&workspace, &registry, &["none since the last commit"]);
    assert_eq!(next, "tflock outdated -r");
    let run = follow(&workspace, &registry, &next).ended_with(0);
    assert!(run.stdout.contains("2 root modules: 2 at the newest allowed versions\n"), "{run}");

    let trust = workspace.read(TRUST);
    workspace.write(TRUST, "");
    let next = says(&workspace, &registry, &["1 not remembered: "]);
    assert_eq!(next, "tflock trust init -r");
    follow(&workspace, &registry, &next).ended_with(0);
    workspace.write(TRUST, &trust);

    let lock = workspace.read(LOCK);
    let no_h1: Vec<&str> = lock.lines().filter(|line| !line.contains("h1:")).collect();
    workspace.write(LOCK, &format!("{}\n", no_h1.join("\n")));
    let next = says(
        &workspace,
        &registry,
        &["denied: platform-uncovered in 1 root module; warnings: h1-missing in 1 root module"],
    );
    assert_eq!(next, "tflock verify -r --fix");
    follow(&workspace, &registry, &next).ended_with(0);
    assert_eq!(workspace.read(LOCK), lock);

    let ours = "<<<<<<< HEAD\n";
    workspace.write(LOCK, &format!("{ours}{lock}=======\n{lock}>>>>>>> theirs\n"));
    assert_eq!(says(&workspace, &registry, &["lock-syntax in 1", "merge --resolve"]), "tflock verify -r");
    workspace.write(LOCK, &lock);

    workspace.write("live/b/main.tf", &MAIN.replace("~> 1.0", "~> 2.0"));
    let next = says(&workspace, &registry, &["version-not-allowed in 1"]);
    assert_eq!(next, "tflock upgrade -r");
    follow(&workspace, &registry, &next).ended_with(0);
    says(&workspace, &registry, &["providers     1, ", "2.0.0 in 1, 1.0.0 in 1"]);

    workspace.write("live/b/main.tf", "terraform {");
    let words = ["1 unreadable: live/b", "1 root module not checked: unreadable"];
    assert_eq!(says(&workspace, &registry, &words), "tflock verify -r");
}

#[test]
fn the_program_alone_shows_it_where_root_modules_are() {
    let (workspace, registry) = (repository(), registry());
    // Without a lock file it names what writes them.
    let alone = workspace.tflock(&registry, [""; 0]).ended_with(0);
    assert_eq!(alone.stdout, status(&workspace, &registry).stdout);
    let new = Workspace::with_files(&[("main.tf", &*MAIN.replace("backend \"local\" {}", ""))]);
    let run = new.tflock(&registry, [""; 0]).ended_with(2);
    assert!(run.stderr.contains("`tflock lock") && !run.stderr.contains("Everyday"), "{run}");
    workspace.tflock(&registry, ["lock", "-r", "--create", "--platform", "linux_amd64"]).ended_with(0);
    let alone = workspace.tflock(&registry, [""; 0]).ended_with(0);
    assert_eq!(alone.stdout, status(&workspace, &registry).stdout);
    // In a root module, commands need no -r.
    let run = workspace.tflock_in("live/a", &registry, [""; 0]).ended_with(0);
    assert!(run.stdout.contains("root modules  1\n") && run.stdout.contains("`tflock setup`"), "{run}");
    let json = workspace.tflock(&registry, ["status", "--format", "json"]).ended_with(0).json();
    assert_eq!(json["status"]["root_modules"], 2);
    assert_eq!(json["status"]["next"]["command"], "tflock setup");
    assert_eq!(json["status"]["changed_files"].as_array().unwrap().len(), 3);
}

#[test]
fn an_ignored_lock_file_is_named() {
    let main = MAIN.replace("backend \"local\" {}", "");
    let files = [("main.tf", &*main), (".gitignore", ".terraform*\n")];
    let (workspace, registry) = (Workspace::with_files(&files), registry());
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["lock"]).ended_with(0);
    let run = workspace.tflock(&registry, ["status"]).ended_with(2);
    assert!(run.stderr.contains("Git ignores .terraform.lock.hcl (.gitignore:1)"), "{run}");
    assert!(!run.stderr.contains("--create"), "{run}");
}

#[test]
fn nothing_becomes_a_gate() {
    let (workspace, registry) = (repository(), registry());
    let would =
        workspace.tflock(&registry, ["setup", "--dry-run", "--ci", "gitlab"].iter().chain(&PLATFORMS)).ended_with(0);
    assert!(would.touched().is_empty(), "{would}");
    let run = workspace.tflock(&registry, ["setup", "--ci", "gitlab"].iter().chain(&PLATFORMS)).ended_with(0);
    let files = [".gitattributes", ".gitlab-ci.yml", ".gitlab/tflock.yml", SETTINGS, TRUST];
    assert_eq!(run.touched(), files, "{run}");
    for file in files {
        assert!(would.stdout.contains(&format!("{file}: would be created\n")), "{would}");
        assert!(run.stdout.contains(&format!("{file}: created\n")), "{run}");
    }
    assert!(workspace.read(SETTINGS).starts_with("platforms = [\"darwin_arm64\", \"linux_amd64\"]"));
    workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(0);
    commit(&workspace, "set up");
    workspace.tflock(&registry, ["verify", "-r", "--base", "HEAD"]).ended_with(0);
    let again = workspace.tflock(&registry, ["setup", "--ci", "gitlab"]).ended_with(0);
    assert!(again.touched().is_empty() && !again.stdout.contains("created"), "{again}");
}

#[test]
fn what_is_there_stays() {
    let (workspace, registry) = (repository(), registry());
    workspace.tflock(&registry, ["lock", "-r", "--create"].iter().chain(&PLATFORMS)).ended_with(0);
    let trust = workspace.read(TRUST);
    let settings = "policy {\n  minimum_age = \"7d\"\n}\n";
    workspace.write(SETTINGS, settings);
    workspace.write(".gitattributes", "* text=auto\n");
    workspace.write(".gitlab-ci.yml", "stages: [test]\n");
    let run = workspace.tflock_in("live/a", &registry, ["setup", "--ci", "gitlab"]).ended_with(0);
    assert_eq!(run.touched(), [".gitattributes", ".gitlab/tflock.yml"], "{run}");
    assert_eq!((workspace.read(SETTINGS), workspace.read(TRUST)), (settings.to_owned(), trust));
    assert!(workspace.read(".gitattributes").starts_with("* text=auto\n.terraform.lock.hcl merge=tflock"));
    assert!(run.stderr.contains("add `platforms = [\"darwin_arm64\", \"linux_amd64\"]`"), "{run}");
    assert!(run.stderr.contains("add `- local: .gitlab/tflock.yml` to its `include`"), "{run}");
    // `setup` would say so again.
    let next = says(
        &workspace,
        &registry,
        &["not set (add `platforms = [\"darwin_arm64\", \"linux_amd64\"]` to .tflock.hcl)"],
    );
    assert!(!next.contains("setup"), "{next}");
    // The platforms are those that the lock files are known to cover.
    std::fs::remove_file(workspace.path(SETTINGS)).unwrap();
    workspace.tflock(&registry, ["setup"]).ended_with(0);
    assert!(workspace.read(SETTINGS).starts_with("platforms = [\"darwin_arm64\", \"linux_amd64\"]"));
    let run = workspace.tflock(&registry, ["setup", "--ci", "github"]).ended_with(2);
    assert!(run.touched().is_empty() && run.stderr.contains("no published home"), "{run}");
}

/// The one root module is not where the user is.
#[test]
fn a_missing_lock_file_below_is_named_with_what_writes_it() {
    let registry = registry();
    let files = [("a/main.tf", MAIN), (SETTINGS, "platforms = [\"linux_amd64\"]\n"), (TRUST, "")];
    let workspace = Workspace::with_files(&files);
    workspace.git(["init", "--quiet"]);
    let next = says(&workspace, &registry, &["1 without a lock file: a"]);
    assert_eq!(next, "tflock lock -r --create");
    follow(&workspace, &registry, &next).ended_with(0);
    assert!(workspace.has("a/.terraform.lock.hcl"));
    // A clone does not have one that Git ignores, and no command writes another.
    workspace.write(".gitignore", ".terraform.lock.hcl\n");
    for is_there in [true, false] {
        assert_eq!(says(&workspace, &registry, &["1 without a lock file: a"]), "tflock verify -r");
        for args in [&["status"][..], &["-C", "a", "status"], &["list", "-r"]] {
            let run = workspace.tflock(&registry, args).ended_with(0);
            assert!(run.stderr.contains("a/.terraform.lock.hcl (.gitignore:1)"), "{is_there}: {run}");
            assert!(!run.stderr.contains("--create") && !run.stdout.contains("--create"), "{is_there}: {run}");
        }
        let _absent = std::fs::remove_file(workspace.path("a/.terraform.lock.hcl"));
    }
}

/// Outside of Git no root module reads what is above it.
#[test]
fn setup_writes_nothing_that_no_root_module_reads() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("a/main.tf", MAIN), ("b c/main.tf", MAIN)]);
    workspace.tflock(&registry, ["lock", "-r", "--create", "--platform", "linux_amd64"]).ended_with(0);
    let next = says(&workspace, &registry, &["not set (outside Git"]);
    assert!(!next.contains("setup"), "{next}");
    let run = workspace.tflock(&registry, ["setup"]).ended_with(2);
    assert!(run.touched().is_empty() && run.stderr.contains("`tflock -C a setup`"), "{run}");
    let run = workspace.tflock(&registry, ["-C", "a", "setup"]).ended_with(0);
    assert!(run.touched().contains(&"a/.tflock.hcl"), "{run}");
}

/// What `setup` writes depends on what exists.
#[test]
fn setup_adds_no_platforms_to_existing_settings() {
    let (workspace, registry) = (repository(), registry());
    let effect = || {
        let next = &workspace.tflock(&registry, ["status", "--format", "json"]).ended_with(0).json()["status"]["next"];
        assert_eq!(next["command"], "tflock setup");
        next["effect"].as_str().unwrap().contains("platforms")
    };
    assert!(effect());
    workspace.write(SETTINGS, "tool = \"terraform\"\n");
    assert!(!effect());
}

/// `lock` leaves the entry of a provider that no module requires.
#[test]
fn an_entry_that_nothing_requires_is_completed() {
    let registry = registry();
    for (place, wanted) in [("", "tflock lock --from-lock"), ("live/a/", "tflock lock -r --from-lock")] {
        let main = format!("{place}main.tf");
        let workspace = Workspace::with_files(&[(&*main, MAIN), (SETTINGS, "platforms = [\"linux_amd64\"]\n")]);
        workspace.git(["init", "--quiet"]);
        workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(0);
        workspace.write(&main, "terraform {\n  backend \"local\" {}\n}\n");
        workspace.write(SETTINGS, "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
        let next = says(&workspace, &registry, &["platform-uncovered"]);
        assert_eq!(next, wanted);
        follow(&workspace, &registry, &next).ended_with(0);
        let next = says(&workspace, &registry, &["offline checks pass"]);
        assert!(!next.starts_with("tflock lock"), "{next}");
    }
}

/// Where git fails, no module is the reason.
#[test]
fn a_failure_of_git_is_left_to_verify() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("main.tf", MAIN), (SETTINGS, "platforms = [\"linux_amd64\"]\n")]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["lock"]).ended_with(0);
    commit(&workspace, "lock");
    workspace.write(".git/index", "broken");
    says(&workspace, &registry, &["1 root module not checked: `verify` says why"]);
    workspace.tflock(&registry, ["verify", "--offline"]).ended_with(4);
}

#[test]
fn before_the_first_commit_there_is_nothing_to_compare_with() {
    let (workspace, registry) = (repository(), registry());
    workspace.tflock(&registry, ["setup"].iter().chain(&PLATFORMS)).ended_with(0);
    says(&workspace, &registry, &["changes       no commit yet; 3 files to commit: "]);
    for base in ["HEAD", "HEAD~1"] {
        let run = workspace.tflock(&registry, ["verify", "-r", "--base", base]).ended_with(2);
        assert!(run.stderr.contains("HEAD has no commit yet") && !run.stderr.contains("fetch-depth"), "{run}");
    }
}

/// Two root modules are in one repository.
#[test]
fn what_is_set_in_a_clone_is_listed_once() {
    let (workspace, registry) = (repository(), registry());
    let run = workspace.tflock(&registry, ["-C", "live/a", "-C", "live/b", "git", "status"]).ended_with(1);
    assert_eq!(run.stdout.matches("merge.tflock.driver").count(), 1, "{run}");
    assert_eq!(run.stderr.matches("git install").count(), 1, "{run}");
}

/// The working tree may be that of a pull request.
#[cfg(unix)]
#[test]
fn setup_writes_through_no_link_that_leads_out() {
    let registry = registry();
    let names = [SETTINGS, TRUST, ".gitattributes", ".gitlab-ci.yml", ".gitlab/tflock.yml", ".gitlab"];
    for (name, is_there) in names.into_iter().flat_map(|name| [(name, true), (name, false)]) {
        let workspace = repository();
        let outside = workspace.path("").with_file_name("tmp");
        let target = if name == ".gitlab" { outside.clone() } else { outside.join("target") };
        if is_there && name != ".gitlab" {
            std::fs::write(&target, "kept").unwrap();
        }
        let link = workspace.path(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &link).unwrap();
        let run = workspace.tflock(&registry, ["setup", "--ci", "gitlab"]).ended_with(2);
        assert!(run.stderr.contains(name.split('/').next().unwrap()), "{run}");
        let left: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty() || std::fs::read_to_string(outside.join("target")).unwrap() == "kept", "{run}");
    }
}

/// A link with the name of a lock file leads to the file that changed.
#[cfg(unix)]
#[test]
fn changes_behind_a_link_are_counted() {
    let (workspace, registry) = (repository(), registry());
    workspace.tflock(&registry, ["lock", "-r", "--create"].iter().chain(&PLATFORMS)).ended_with(0);
    std::fs::create_dir(workspace.path("shared")).unwrap();
    std::fs::rename(workspace.path(LOCK), workspace.path("shared/lock.hcl")).unwrap();
    std::os::unix::fs::symlink("../../shared/lock.hcl", workspace.path(LOCK)).unwrap();
    commit(&workspace, "linked");
    says(&workspace, &registry, &["changes       none since"]);
    workspace.write("shared/lock.hcl", &(workspace.read("shared/lock.hcl") + "\n"));
    says(&workspace, &registry, &["changes       1 file since the last commit: shared/lock.hcl"]);
}

#[test]
fn an_error_in_the_settings_is_printed_once() {
    let (workspace, registry) = (repository(), registry());
    workspace.tflock(&registry, ["lock", "-r", "--create"].iter().chain(&PLATFORMS)).ended_with(0);
    workspace.write(SETTINGS, "platfroms = [\"linux_amd64\"]\n");
    let run = status(&workspace, &registry);
    assert_eq!(run.stderr.matches("platfroms").count(), 1, "{run}");
    assert!(
        run.stderr.contains("did you mean \"platforms\"?") && run.stdout.contains("2 unreadable: live/a, live/b"),
        "{run}"
    );
    assert!(!run.stdout.contains("network"), "{run}");
}

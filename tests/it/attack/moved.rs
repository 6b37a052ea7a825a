//! Root modules that come, go and move: a rule decides, however much of their configuration is written anew; and how much
//! work it is.

use crate::support::locked::{LOCK, MAIN, honest, rules};
use crate::support::proposal::{GATE, TRUST, commit, edit, gate, repository};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

fn all(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--offline"]).chain(more))
}

/// Configuration that has no line of that of the root modules.
fn rewritten(registry: &Registry) -> String {
    MAIN.replace("{{registry}}", &registry.host()).replace("widget = {", "gizmo = {").replace('\n', " # other\n")
}

type Row = (&'static str, fn(&Workspace, &Registry), i32, &'static str);

const ROWS: &[Row] = &[
    (
        "moved and written anew, under other names",
        |it, registry| {
            it.git(["rm", "-r", "--quiet", "other"]);
            it.write("elsewhere/versions.tf", &rewritten(registry));
        },
        1,
        "denied[lock-file-missing]",
    ),
    (
        "moved and written anew, under the same names",
        |it, registry| {
            it.git(["rm", "-r", "--quiet", "other"]);
            it.write("elsewhere/main.tf", &rewritten(registry));
        },
        3,
        "denied[lock-file-moved]",
    ),
    (
        "something that needs no provider left behind",
        |it, registry| {
            it.git(["rm", "--quiet", &format!("other/{LOCK}")]);
            it.write("other/main.tf", "locals {}\n");
            it.write("elsewhere/main.tf", &rewritten(registry));
        },
        1,
        "denied[lock-file-missing]",
    ),
    (
        "only the lock file left behind",
        |it, _| {
            it.git(["mv", "other/main.tf", "main.tf"]);
        },
        3,
        "denied[lock-file-moved]",
    ),
    (
        "a new module that nothing calls yet",
        |it, registry| it.write("modules/net/main.tf", &rewritten(registry)),
        0,
        "note[lock-file-missing]",
    ),
    (
        "a new module that a root module calls",
        |it, registry| {
            it.write("modules/net/main.tf", &MAIN.replace("{{registry}}", &registry.host()));
            edit(it, "app/main.tf", |text| format!("{text}module \"net\" {{\n  source = \"../modules/net\"\n}}\n"));
        },
        0,
        "2 root modules",
    ),
];

#[test]
fn configuration_that_moved_is_found_whatever_became_of_it() {
    let registry = honest();
    let mut wrong = Vec::new();
    for (name, change, code, said) in ROWS {
        let workspace = repository(&registry);
        change(&workspace, &registry);
        commit(&workspace, "change");
        let run = all(&workspace, &registry, &[]);
        if run.code != Some(*code) || !run.to_string().contains(said) {
            wrong.push(format!("{name}: {run}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Neither a move, nor a root module by the name of the repository.
#[test]
fn a_lock_file_that_is_deleted_in_place_is_reported_once() {
    let registry = honest();
    let workspace = repository(&registry);
    std::fs::remove_file(workspace.path(&format!("other/{LOCK}"))).unwrap();
    workspace.write("other/more.tf", "# more\n");
    commit(&workspace, "change");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(run.stdout.contains("denied[lock-file-removed]") && !run.stdout.contains("lock-file-moved"), "{run}");
    assert!(run.stdout.contains("2 root modules: 1 unchanged, 1 refused"), "{run}");
}

#[test]
fn the_repository_is_not_counted_as_a_root_module() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write(TRUST, "");
    commit(&workspace, "change");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(run.stdout.contains("2 root modules: 2 passed"), "{run}");
    assert!(run.stdout.contains("refused: the repository (pin-removed)"), "{run}");
}

#[test]
fn what_follows_from_another_tool_is_left_out() {
    let registry = honest();
    let workspace = repository(&registry);
    let lock = |host: &str, program: &str| {
        let head = format!(
            "# This file is maintained automatically by \"{program} init\".\n# Manual edits may be lost in future updates.\n"
        );
        format!(
            "{head}\nprovider \"{host}/hashicorp/null\" {{\n  version = \"3.2.4\"\n  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}}\n"
        )
    };
    workspace.write(
        "app/main.tf",
        "terraform {\n  required_providers {\n    null = {\n      source = \"hashicorp/null\"\n    }\n  }\n}\n",
    );
    workspace.write(&format!("app/{LOCK}"), &lock("registry.terraform.io", "terraform"));
    commit(&workspace, "before");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write(&format!("app/{LOCK}"), &lock("registry.opentofu.org", "tofu"));
    commit(&workspace, "migrated");
    let run = gate(&workspace, &registry, &["--offline"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["dialect-changed".to_owned()].into(), "{run}");
    assert!(rules(&run, "warn").is_empty() && !run.stdout.contains("possibly-from-state"), "{run}");
    gate(&workspace, &registry, &["--offline", "--allow-trust-change"]).ended_with(0);
}

/// Also without a base: `init` follows the link.
#[cfg(unix)]
#[test]
fn packages_by_way_of_a_link_are_found_without_a_base() {
    use std::os::unix::fs::symlink;
    let registry = honest();
    let rows: [(&str, &str, &str); 3] = [
        ("vendored/plugins/registry.example.com/x", "../vendored", "app/terraform.d"),
        ("vendored/registry.example.com/x", "../../vendored", "app/terraform.d/plugins"),
        ("vendored/providers/x", "../vendored", "app/.terraform"),
    ];
    for (file, target, link) in rows {
        let workspace = repository(&registry);
        workspace.write(file, "");
        if link.ends_with("plugins") {
            workspace.write("app/terraform.d/x", "");
        }
        symlink(target, workspace.path(link)).unwrap();
        commit(&workspace, "link");
        workspace.git(["add", "--force", "--all"]);
        let args = ["-C", "app", "verify", "--offline", "--format", "json"];
        let run = workspace.tflock(&registry, args).ended_with(3);
        assert!(rules(&run, "deny").contains("tracked-packages"), "{link}: {run}");
        // The gate reports it once.
        let run = gate(&workspace, &registry, &["--offline"]);
        assert_eq!(run.stdout.matches("\"tracked-packages\"").count(), 1, "{link}: {run}");
    }
}

/// The arguments of each process of git that a run starts.
#[cfg(unix)]
fn git_starts(workspace: &Workspace, run: impl FnOnce(&Workspace) -> Run) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = crate::support::tempdir();
    let git = workspace.git(["--exec-path"]).stdout.trim().to_owned() + "/git";
    let [program, log] = ["git", "log"].map(|name| folder.path().join(name));
    std::fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> {}\nexec {git} \"$@\"\n", log.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    run(&workspace.copied().env("PATH", &path)).ended_with(0);
    std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

/// How often git is started does not depend on how many root modules come, go and move.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn git_runs_as_often_for_many_root_modules_as_for_few() {
    let registry = honest();
    let counts: Vec<usize> = [3, 30, 300]
        .into_iter()
        .map(|size| {
            let workspace = repository(&registry);
            let (main, lock) = (workspace.read("app/main.tf"), workspace.read(&format!("app/{LOCK}")));
            for at in 0..size {
                workspace.write(&format!("live/r{at}/main.tf"), &main);
                workspace.write(&format!("live/r{at}/{LOCK}"), &lock);
                workspace.write(&format!("live/r{at}/.tflock.modules.hcl"), "");
            }
            commit(&workspace, "before");
            workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
            workspace.git(["mv", "live", "moved"]);
            for at in 0..size {
                workspace.write(&format!("new/n{at}/main.tf"), &format!("{main}# {at}\n"));
                workspace.write(&format!("new/n{at}/{LOCK}"), &lock);
                workspace.write(&format!("modules/m{at}/main.tf"), "locals {}\n");
            }
            commit(&workspace, "change");
            git_starts(&workspace, |workspace| all(workspace, &registry, &["--format", "json"])).len()
        })
        .collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}

/// What a change is, what it was, what git tracks: `diff` asks each once. The gate reads the base's own settings and trust file
/// before it knows what changed. Both ask which file has the patterns of the user.
#[cfg(unix)]
#[test]
fn a_small_change_starts_few_processes_of_git() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, "app/main.tf", |text| format!("{text}# reviewed\n"));
    commit(&workspace, "change");
    let gate = git_starts(&workspace, |workspace| all(workspace, &registry, &[]));
    assert!(gate.len() <= 8, "{gate:#?}");
    let diff = git_starts(&workspace, |workspace| workspace.tflock(&registry, ["diff", "-r", "origin/main"]));
    assert!(diff.len() <= 7, "{diff:#?}");
}

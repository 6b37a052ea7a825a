//! Symbolic links by which what is checked would not be what is installed, or by which a run would never end.

use std::os::unix::fs::symlink;

use crate::support::locked::{LOCK, honest};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, edit, repository, without_last_line_with};
use crate::support::registry::Registry;
use crate::support::run::formats;
use crate::support::workspace::Workspace;

/// Puts a link in the place of a file of `app`, or next to the existing files.
fn link(workspace: &Workspace, name: &str, target: &str) {
    let place = workspace.path(name);
    let _absent = std::fs::remove_file(&place);
    symlink(target, place).unwrap();
}

/// The gate of `app` and of all cannot do its work, and says why.
#[track_caller]
fn refused(workspace: &Workspace, registry: &Registry, part: &str) {
    for args in [&["-C", "app", "verify"][..], &["verify", "-r"]] {
        for base in [&[][..], &["--base", "origin/main"]] {
            let run = workspace.tflock(registry, args.iter().chain(base).chain(&["--offline"]));
            // Against a base the link itself may be a finding as well.
            let codes: &[i32] = if base.is_empty() { &[2] } else { &[2, 3] };
            assert!(run.code.is_some_and(|code| codes.contains(&code)) && run.stderr.contains(part), "{part}: {run}");
        }
    }
}

#[test]
#[ignore = "long"]
fn links_that_leave_the_work_tree_are_refused() {
    let registry = honest();
    let good = repository(&registry).read(&format!("app/{LOCK}"));
    let rows: [(&str, &str, &str); 12] = [
        (LOCK, "/proc/self/cwd/good.hcl", "out of the git working tree"),
        (LOCK, "../../good.hcl", "out of the git working tree"),
        (LOCK, "../../work/good.hcl", "out of the git working tree"),
        (LOCK, "/dev/zero", "out of the git working tree"),
        (LOCK, "../.git/config", ".git"),
        (LOCK, "../good.hcl/x", "nowhere"),
        ("main.tf", "/proc/self/cwd/conf.txt", "out of the git working tree"),
        ("more.tf", "/dev/zero", "out of the git working tree"),
        ("more.tf.json", "../../conf.txt", "out of the git working tree"),
        ("override.tf", "../.git/description", ".git"),
        (SETTINGS, "../../x", "out of the git working tree"),
        (SETTINGS, "/dev/zero", "out of the git working tree"),
    ];
    for (name, target, part) in rows {
        let workspace = repository(&registry);
        workspace.write("good.hcl", &good);
        workspace.write("conf.txt", "locals {}\n");
        std::fs::copy(workspace.path("good.hcl"), workspace.path("../good.hcl")).unwrap();
        std::fs::copy(workspace.path("conf.txt"), workspace.path("../conf.txt")).unwrap();
        link(&workspace, &format!("app/{name}"), target);
        refused(&workspace, &registry, part);
    }
    let workspace = repository(&registry);
    link(&workspace, TRUST, "/proc/self/cwd/app/pins.hcl");
    refused(&workspace, &registry, "out of the git working tree");
    // A module of the work tree that is none.
    let workspace = repository(&registry);
    std::fs::create_dir(workspace.path("../outside")).unwrap();
    std::fs::write(workspace.path("../outside/main.tf"), "locals {}\n").unwrap();
    link(&workspace, "app/net", "../../outside");
    edit(&workspace, "app/main.tf", |text| text.to_owned() + "module \"net\" {\n  source = \"./net\"\n}\n");
    refused(&workspace, &registry, "out of the git working tree");
}

#[test]
fn a_root_module_outside_of_the_work_tree_is_refused() {
    let registry = honest();
    let workspace = repository(&registry);
    std::fs::rename(workspace.path("app"), workspace.path("../app")).unwrap();
    for target in ["../app", workspace.path("../app").to_str().unwrap(), "/proc/self/cwd/../app"] {
        link(&workspace, "app", target);
        for base in [&[][..], &["--base", "origin/main"]] {
            let args = ["-C", "app", "verify", "--offline"];
            let run = workspace.tflock(&registry, args.iter().chain(base)).ended_with(2);
            assert!(run.stderr.contains("out of the git working tree"), "{run}");
        }
    }
}

#[test]
fn pipes_and_files_without_end_are_refused() {
    let registry = honest();
    let rows: [(&str, &str); 5] = [
        ("app/more.tf", "more.tf"),
        ("app/more.tf.json", "more.tf.json"),
        (SETTINGS, SETTINGS),
        (TRUST, TRUST),
        ("app/x_override.tf", "x_override.tf"),
    ];
    for (path, part) in rows {
        let workspace = repository(&registry);
        let _absent = std::fs::remove_file(workspace.path(path));
        let made = std::process::Command::new("mkfifo").arg(workspace.path(path)).status().unwrap();
        assert!(made.success());
        let run = workspace.tflock(&registry, ["-C", "app", "verify", "--offline"]).ended_with(2);
        assert!(run.stderr.contains(part) && run.stderr.contains("not a regular file"), "{run}");
    }
    let workspace = repository(&registry);
    workspace.write("app/huge.tf.json", "");
    std::fs::File::options().write(true).open(workspace.path("app/huge.tf.json")).unwrap().set_len(17 << 20).unwrap();
    let run = workspace.tflock(&registry, ["-C", "app", "verify", "--offline"]).ended_with(2);
    assert!(run.stderr.contains("larger than 16 MiB"), "{run}");
}

#[test]
fn links_within_the_work_tree_are_followed() {
    let registry = honest();
    let workspace = repository(&registry);
    // One configuration and one lock file for two root modules, a module by way of a link, and what the tools make.
    workspace.write("modules/net/main.tf", "locals {}\n");
    edit(&workspace, "app/main.tf", |text| text.to_owned() + "module \"net\" {\n  source = \"./linked/net\"\n}\n");
    link(&workspace, "app/linked", "../modules");
    for name in ["main.tf", LOCK, "linked"] {
        link(&workspace, &format!("other/{name}"), &format!("../app/{name}"));
    }
    workspace.write(".gitignore", ".terraform\n");
    commit(&workspace, "shared");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    std::fs::create_dir_all(workspace.path("app/.terraform")).unwrap();
    link(&workspace, "app/.terraform/providers", "/var/empty");
    let gate = |more: &[&str]| workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"]).chain(more));
    gate(&[]).ended_with(0);
    workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(0);
    // What a link leads to is judged where it is read.
    edit(&workspace, &format!("app/{LOCK}"), |text| without_last_line_with(text, "h1:"));
    let run = gate(&["--format", "json"]).ended_with(3);
    assert_eq!(run.stdout.matches("\"rule\": \"hashes-dropped\"").count(), 2, "{run}");
}

#[test]
#[ignore = "long"]
fn reports_replace_links() {
    let registry = honest();
    let workspace = repository(&registry);
    let outside = workspace.path("../home/.bashrc");
    std::fs::write(&outside, "mine\n").unwrap();
    std::fs::create_dir(workspace.path("../home/bin")).unwrap();
    for target in [outside.to_str().unwrap(), "../home/.bashrc", ".git/hooks/post-checkout", "app/main.tf"] {
        link(&workspace, "report", target);
        for format in formats("verify") {
            let report = format!("{format}=report");
            let main = workspace.read("app/main.tf");
            let run = workspace.tflock(&registry, ["-C", "app", "verify", "--offline", "--report", &report]);
            assert_eq!((run.code, workspace.read("app/main.tf")), (Some(0), main), "{run}");
            assert!(workspace.path("report").symlink_metadata().unwrap().is_file(), "{run}");
        }
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine\n");
    assert!(!workspace.path(".git/hooks/post-checkout").exists());
    // A directory that leads out.
    link(&workspace, "reports", "../home/bin");
    let args = ["-C", "app", "verify", "--offline", "--report", "json=reports/x"];
    let run = workspace.tflock(&registry, args).ended_with(2);
    assert!(run.stderr.contains("out of the git working tree") && !workspace.path("../home/bin/x").exists(), "{run}");
}

#[test]
fn nothing_is_written_into_the_repository() {
    let registry = honest();
    let workspace = repository(&registry);
    for target in ["../.git/hooks/post-checkout", "../.git/info/attributes", "../.GIT/x"] {
        link(&workspace, &format!("app/{LOCK}"), target);
        let run = workspace.tflock(&registry, ["-C", "app", "lock"]).ended_with(2);
        assert!(!workspace.path(".git/hooks/post-checkout").exists(), "{run}");
    }
}

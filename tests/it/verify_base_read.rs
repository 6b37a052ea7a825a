//! `verify --base`: what of the working tree is read besides lock files and configuration.

use crate::support::keys;
use crate::support::locked::{honest, locked, pinned, rules};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, edit, gate, pin, repository};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::{tempdir, tools};

/// Makes what is there the base.
fn accept(workspace: &Workspace) {
    commit(workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
}

/// The folder of `acme/widget` in the mirror.
fn shelf(registry: &Registry) -> String {
    format!("mirror/{}/acme/widget", registry.host())
}

/// A repository that takes packages from a mirror in it, and a change that puts a new release there and locks it.
fn filled(registry: &Registry) -> Workspace {
    let workspace = repository(registry);
    let platforms = ["--platform=linux_amd64", "--platform=darwin_arm64"];
    let mirror = ["-C", "app", "mirror", "mirror"].into_iter().chain(platforms);
    workspace.tflock(registry, mirror).ended_with(0);
    workspace.write(SETTINGS, "source = \"fs:mirror\"\n");
    accept(&workspace);
    let zip = registry.package("acme/widget", "1.4.1", "linux_amd64").zip;
    let name = "terraform-provider-widget_1.4.1_linux_amd64.zip";
    workspace.write_bytes(&format!("{}/{name}", shelf(registry)), &zip);
    let upgrade = ["-C", "app", "upgrade", "--platform=linux_amd64", "widget"];
    let run = workspace.tflock(registry, upgrade).ended_with(0);
    assert!(run.stdout.contains("1.4.0 -> 1.4.1"), "{run}");
    registry.forget_requests();
    workspace
}

fn denied(run: &Run) -> Vec<String> {
    rules(run, "deny").into_iter().collect()
}

/// A mirror must not verify the change that fills it.
#[test]
fn a_mirror_in_the_working_tree_proves_nothing() {
    let registry = honest().release("acme/widget", "1.4.1", &["linux_amd64"]);
    let workspace = filled(&registry);
    for more in [&[][..], &["--deep", "--all-platforms"], &["--fs-mirror", "mirror"]] {
        let run = gate(&workspace, &registry, more).ended_with(3);
        assert_eq!(denied(&run), ["mirror-only"], "{run}");
        assert!(run.stdout.contains("which is inside the working tree"), "{run}");
    }
    let all = GATE.into_iter().chain(["-r", "--format", "json"]);
    assert!(workspace.tflock(&registry, all).ended_with(3).stdout.contains("mirror-only"));
    assert!(registry.requests().is_empty());
    // The registry says that it is right.
    gate(&workspace, &registry, &["--source", "origin"]).ended_with(0);
    // Who accepts what is unsigned does not accept what the change brings along.
    let pins = ["acme/gadget", "acme/widget"].map(|provider| pin(&registry, provider, &keys::GOOD.fingerprint()));
    let unsigned = format!("provider \"{}/acme/widget\" {{\n  unsigned = true\n}}\n", registry.host());
    let with_base = |trust: Option<&str>| {
        workspace.git(["stash", "--quiet", "--include-untracked"]);
        match trust {
            Some(trust) => workspace.write(TRUST, trust),
            None => std::fs::remove_file(workspace.path(TRUST)).unwrap(),
        }
        accept(&workspace);
        workspace.git(["stash", "pop", "--quiet"]);
    };
    with_base(Some(&format!("{}\n{unsigned}", pins[0])));
    assert_eq!(denied(&gate(&workspace, &registry, &[]).ended_with(3)), ["mirror-only"]);
    let outside = workspace.path("../tmp/mirror");
    std::fs::rename(workspace.path("mirror"), &outside).unwrap();
    let elsewhere = format!("fs:{}", outside.display());
    let run = gate(&workspace, &registry, &["--source", &elsewhere]).ended_with(0);
    assert_eq!(rules(&run, "warn"), ["mirror-only".to_owned()].into(), "{run}");
    std::fs::rename(&outside, workspace.path("mirror")).unwrap();
    with_base(None);
    assert_eq!(denied(&gate(&workspace, &registry, &[]).ended_with(3)), ["mirror-only"]);
}

/// What a remembered key signed is as good from a mirror as from the registry.
#[test]
fn what_is_signed_may_come_from_anywhere() {
    let registry = honest().release("acme/widget", "1.4.1", &["linux_amd64"]);
    let workspace = filled(&registry);
    let outside = workspace.path("../tmp/mirror");
    std::fs::rename(workspace.path("mirror"), &outside).unwrap();
    let elsewhere = format!("fs:{}", outside.display());
    let run = gate(&workspace, &registry, &["--source", &elsewhere]).ended_with(3);
    assert!(run.stdout.contains("is pinned to") && denied(&run) == ["mirror-only"], "{run}");
    std::fs::rename(&outside, workspace.path("mirror")).unwrap();
    let [sums, signature, keys] = registry.signed_documents("acme/widget", "1.4.1");
    let name = format!("{}/terraform-provider-widget_1.4.1_SHA256SUMS", shelf(&registry));
    for (suffix, bytes) in [("", sums), (".sig", signature), (".asc", keys)] {
        workspace.write_bytes(&format!("{name}{suffix}"), &bytes);
    }
    let run = gate(&workspace, &registry, &[]).ended_with(0);
    assert!(rules(&run, "warn").is_empty(), "{run}");
    // A change that adds nothing needs no proof.
    workspace.git(["checkout", "--quiet", "--", "app"]);
    workspace.write("app/more.tf", "# new\n");
    gate(&workspace, &registry, &[]).ended_with(0);
}

/// Test files require providers too; one of OpenTofu's hides one of Terraform's, which then is not read any more.
#[test]
fn a_test_file_that_goes_is_a_change() {
    let registry = honest();
    let workspace = repository(&registry);
    let files = ["app/tests/a.tofutest.hcl", "app/tests/a.tftest.json", "app/b.tftest.hcl", "app/c.tofutest.json"];
    for file in files {
        workspace.write(file, if file.ends_with("json") { "{}\n" } else { "# nothing\n" });
    }
    accept(&workspace);
    let unchanged = || gate(&workspace, &registry, &["--offline"]).json()["unchanged"] == true;
    assert!(unchanged());
    for file in files {
        std::fs::remove_file(workspace.path(file)).unwrap();
        assert!(!unchanged(), "{file}");
        workspace.git(["checkout", "--quiet", "--", file]);
    }
    // The last ones with their directory.
    std::fs::remove_dir_all(workspace.path("app/tests")).unwrap();
    assert!(!unchanged());
}

/// A named trust file that does not exist leaves the gate without signers, whatever the base.
#[test]
fn a_named_trust_file_must_exist() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("ci/trust.hcl", &workspace.read(TRUST));
    accept(&workspace);
    workspace.write("ci/new.hcl", &workspace.read(TRUST));
    let outside = workspace.path("../tmp/trust.hcl").display().to_string();
    let named =
        |file: &str, more: &[&str]| gate(&workspace, &registry, &[&["--offline", "--trust-file", file], more].concat());
    named("ci/trust.hcl", &[]).ended_with(0);
    for file in ["ci/trsut.hcl", "ci/new.hcl", &outside] {
        let run = named(file, &[]).ended_with(2);
        assert!(run.stdout.contains("there is no trust file"), "{run}");
    }
    std::fs::write(&outside, workspace.read(TRUST)).unwrap();
    named(&outside, &[]).ended_with(0);
    named("ci/new.hcl", &["--allow-trust-change"]).ended_with(0);
    named("ci/trsut.hcl", &["--allow-trust-change"]).ended_with(2);
}

/// Settings that select hosts and tokens must not come from the change.
#[test]
fn a_cli_configuration_in_the_work_tree_is_refused() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("app/ci.tfrc", "host \"example.com\" {\n  services = {}\n}\n");
    let place = workspace.path("app/ci.tfrc").display().to_string();
    let workspace = workspace.env("TF_CLI_CONFIG_FILE", &place);
    let verify = |more: &[&str]| {
        let args = ["-C", "app"].into_iter().chain(GATE).chain(more.iter().copied());
        workspace.tflock(None, args)
    };
    let run = verify(&[]).ended_with(2);
    assert!(run.stderr.contains("ci.tfrc is inside the working tree"), "{run}");
    verify(&["--offline"]).ended_with(0);
}

/// Git is started anew for each question, which takes time in a large repository.
#[cfg(unix)]
#[test]
fn few_git_processes_are_started() {
    use std::os::unix::fs::PermissionsExt as _;

    let registry = honest();
    let folder = tempdir();
    let (wrapper, log) = (folder.path().join("git"), folder.path().join("log"));
    let real = tools::found("git").unwrap();
    let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n", log.display(), real.display());
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let workspace = Workspace::with_files(&[]).env("PATH", &path);
    let lock = locked(&registry).lock_file();
    for root in ["app", "other"] {
        workspace.write(&format!("{root}/.terraform.lock.hcl"), &lock);
    }
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\"]\n");
    workspace.write(".tflock.trust.hcl", &pinned(&registry));
    workspace.git(["init", "--quiet"]);
    accept(&workspace);
    edit(&workspace, "app/.terraform.lock.hcl", |text| format!("# changed\n{text}"));
    commit(&workspace, "change");
    let base = workspace.git(["rev-parse", "origin/main"]).stdout.trim().to_owned();
    for (args, most) in [
        // One of these asks which file has the patterns of the user, wherever files are looked for that git does not track.
        (&["verify", "-r", "--offline", "--base", &base][..], 6),
        // Another one makes sure that the name means one branch.
        (&["verify", "-r", "--offline", "--base", "origin/main"], 7),
        // One of these searches for lock files.
        (&["-C", "app", "diff", "HEAD"], 6),
        (&["-C", "app", "diff", "origin/main"], 6),
        (&["diff", "-r", "HEAD"], 7),
        (&["list", "-r"], 2),
        (&["status"], 4),
    ] {
        std::fs::write(&log, "").unwrap();
        workspace.tflock(&registry, args.iter().copied());
        let started = std::fs::read_to_string(&log).unwrap();
        assert!((1..=most).contains(&started.lines().count()), "{args:?}\n{started}");
    }
}

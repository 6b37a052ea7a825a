//! Modules in git repositories, served as files over https: as little as a server can do.

use super::NEEDS_WIDGET;
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

/// Commits files to a repository next to the working tree, and serves it as `/net.git`.
pub(crate) struct Repository(pub(crate) Workspace);

impl Repository {
    pub(crate) fn new() -> Self {
        let work = Workspace::with_files(&[("main.tf", ""), ("sub/main.tf", "")]);
        work.git(["init", "--quiet"]);
        Self(work)
    }

    pub(crate) fn commit(&self, file: &str, text: &str) -> String {
        self.0.write(file, text);
        self.0.git(["add", "-A"]);
        self.0.git(["commit", "--quiet", "-m", "change"]);
        self.0.git(["rev-parse", "HEAD"]).stdout.trim().to_owned()
    }

    pub(crate) fn served_by(&self, registry: Registry) -> Registry {
        self.served_as(registry, "net.git")
    }

    /// Under another name, for submodules.
    pub(super) fn served_as(&self, registry: Registry, name: &str) -> Registry {
        self.0.git(["repack", "-a", "-d", "-q"]);
        self.0.git(["update-server-info"]);
        let top = self.0.path(".git");
        let mut folders = vec![top.clone()];
        let mut registry = registry;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let place = format!("/{name}/{}", path.strip_prefix(&top).unwrap().display());
                    registry = registry.document(&place, "application/octet-stream", std::fs::read(&path).unwrap());
                }
            }
        }
        registry
    }
}

pub(super) fn workspace(registry: &Registry, source: &str) -> Workspace {
    let call = format!("module \"net\" {{\n  source = \"git::https://{}/net.git{source}\"\n}}\n", registry.host());
    Workspace::with_files(&[("main.tf", &call)]).env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap())
}

pub(super) fn needs_widget(registry: &Registry) -> String {
    NEEDS_WIDGET.replace("{{registry}}", &registry.host())
}

#[test]
#[ignore = "long"]
fn branches_tags_and_commits() {
    let registry = widget();
    let repository = Repository::new();
    let first = repository.commit("main.tf", &needs_widget(&registry));
    repository.0.git(["tag", "-a", "-m", "one", "v1"]);
    repository.0.git(["branch", "old"]);
    repository.commit("main.tf", "");
    let registry = repository.served_by(registry);
    for source in ["?ref=v1", "?ref=old", "//.?ref=v1", &format!("?ref={first}"), &format!("?ref={}", &first[..9])] {
        let workspace = workspace(&registry, source);
        workspace.tflock(&registry, LOCK).ended_with(0);
        assert!(workspace.lock_file().contains("/acme/widget\""), "{source}");
    }
    // The default branch requires nothing any more.
    let head = workspace(&registry, "");
    head.tflock(&registry, LOCK).ended_with(0);
    assert!(!head.has(".terraform.lock.hcl") || !head.lock_file().contains("provider"));
    let none = workspace(&registry, "?ref=v9").tflock(&registry, LOCK).ended_with(2);
    assert!(none.stderr.contains("has no branch, tag or commit \"v9\""), "{none}");
    let missing = workspace(&registry, "//none?ref=v1").tflock(&registry, LOCK).ended_with(2);
    assert!(missing.stderr.contains("has no directory \"none\""), "{missing}");
}

#[test]
fn a_commit_is_fetched_once() {
    let registry = widget();
    let repository = Repository::new();
    let commit = repository.commit("sub/main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, &format!("//sub?ref={commit}"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    registry.forget_requests();
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(registry.count(Endpoint::Other), 0);
}

/// The user's own configuration of git counts, and a password in it is not shown.
#[test]
#[ignore = "long"]
fn settings_of_git_apply() {
    let (registry, repository) = (widget(), Repository::new());
    repository.commit("main.tf", &needs_widget(&registry));
    let both = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, "me:s3cret-word");
    let registry = repository.served_by(registry);
    let registry = registry.guarding("/net.git", &format!("Basic {both}"), "Basic realm=\"git\"");
    let calling = |path: &str| {
        let call = format!("module \"net\" {{\n  source = \"git::https://git.example.invalid/{path}\"\n}}\n");
        let workspace = Workspace::with_files(&[("main.tf", &call)]);
        let shown = format!(
            "[url \"https://me:s3cret-word@{}/\"]\n\tinsteadOf = https://git.example.invalid/\n",
            registry.host()
        );
        std::fs::write(workspace.path("").with_file_name("home").join(".gitconfig"), shown).unwrap();
        workspace.env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap())
    };
    let workspace = calling("net.git");
    workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
    let locks = workspace.read(".tflock.modules.hcl");
    assert!(locks.contains("\"git::https://git.example.invalid/net.git\"") && !locks.contains("s3cret"), "{locks}");
    // The same by a helper for credentials; there is no prompt where there is none.
    let asked = self::workspace(&registry, "");
    let refused = asked.tflock(&registry, LOCK).ended_with(4);
    assert!(refused.stderr.contains("must work without a prompt"), "{refused}");
    let home = asked.path("").with_file_name("home");
    std::fs::write(home.join(".gitconfig"), "[credential]\n\thelper = store\n").unwrap();
    std::fs::write(home.join(".git-credentials"), format!("https://me:s3cret-word@{}\n", registry.host())).unwrap();
    asked.tflock(&registry, LOCK).ended_with(0);
    let failed = calling("gone.git").tflock(&registry, LOCK).ended_with(4);
    assert!(failed.stderr.contains("gone.git") && !failed.stderr.contains("s3cret"), "{failed}");
}

/// Over ssh, by whatever program the user has for it; the server leaves out what is not needed.
#[cfg(unix)]
#[test]
fn over_ssh_only_what_is_needed() {
    use std::os::unix::fs::PermissionsExt as _;

    let (registry, repository) = (widget(), Repository::new());
    repository.0.write("large.txt", "large\n");
    repository.commit("main.tf", &needs_widget(&registry));
    repository.0.git(["config", "uploadpack.allowFilter", "true"]);
    let source = "module \"net\" {\n  source = \"git::ssh://git@git.example.invalid/net.git\"\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", source)]);
    let program = workspace.path("").with_file_name("home").join("ssh");
    let script = format!("#!/bin/sh\nexec git upload-pack '{}'\n", repository.0.path(".git").display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = workspace.env("GIT_SSH_COMMAND", program.to_str().unwrap());
    let packages = workspace.path("").with_file_name("cache").join("v2/modules/packages");
    let fetched = |name: &str| {
        let packages = std::fs::read_dir(&packages).unwrap().map(|entry| entry.unwrap().path());
        packages.filter(|package| package.join("tree").join(name).exists()).count()
    };
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget\""));
    assert_eq!((fetched("main.tf"), fetched("large.txt")), (1, 0));
    // What is locked is hashed whole.
    workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
    assert_eq!(fetched("large.txt"), 1);
    assert!(workspace.read(".tflock.modules.hcl").contains("\"git::ssh://git.example.invalid/net.git\""));
    workspace.tflock(&registry, ["verify"]).ended_with(0);
}

#[test]
fn a_server_that_is_not_there() {
    let registry = widget();
    let run = workspace(&registry, "").tflock(&registry, LOCK).ended_with(4);
    assert!(run.stderr.contains("cannot fetch the module from https://") && run.touched().is_empty(), "{run}");
}

/// A call with the name of another one's directory: what one call installs is there for the calls behind it, as the tools
/// take them by their names.
#[test]
#[ignore = "long"]
fn modules_within_an_installed_package() {
    let (registry, repository) = (widget(), Repository::new());
    let inner = "module \"deep\" {\n  source = \"../deep\"\n}\n";
    repository.commit("x/main.tf", inner);
    repository.commit("deep/main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "");
    let call = workspace.read("main.tf").replace("\"net\"", "\"__v3__\"");
    let within =
        |name: &str, path: &str| format!("module \"{name}\" {{\n  source = \"./.terraform/modules/{path}\"\n}}\n");
    workspace.write("main.tf", &format!("{call}{}", within("x", "__v3__/x")));
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget"));
    let why = workspace.tflock(&registry, ["why"]).ended_with(0);
    assert!(why.stdout.contains("x.deep"), "{why}");
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let list = workspace.read(".terraform/modules/modules.json");
    // What is installed there is not what is locked.
    workspace.write(".terraform/modules/__v3__/x/main.tf", "# doctored\n");
    workspace.tflock(&registry, ["verify", "--installed"]).ended_with(3);
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    let lock = workspace.lock_file();
    if let Some(init) = workspace.terraform(&registry, ["init", "-input=false"]) {
        init.ended_with(0);
        assert_eq!((workspace.read(".terraform/modules/modules.json"), workspace.lock_file()), (list, lock));
    }
    // A path that leaves the package, a call that comes too late, and one that is not there.
    for (name, path) in [("x", "__v3__/../../../x"), ("A", "__v3__/x"), ("x", "other/x"), ("x", "__v3__/none")] {
        let _absent = std::fs::remove_dir_all(workspace.path(".terraform"));
        workspace.write("main.tf", &format!("{call}{}", within(name, path)));
        workspace.tflock(&registry, LOCK).ended_with(2);
        if let Some(init) = workspace.terraform(&registry, ["init", "-input=false"]) {
            init.ended_with(1);
        }
    }
}

#[test]
fn submodules_that_are_not_checked_out_are_named() {
    let call = |path: &str| format!("module \"net\" {{\n  source = \"../../vendor/net{path}\"\n}}\n");
    let workspace = Workspace::with_files(&[
        (".gitmodules", "[submodule \"net\"]\n\tpath = vendor/net\n\turl = https://git.example.com/net.git\n"),
        ("live/app/main.tf", &call("/sub")),
        ("live/empty/main.tf", &call("")),
        ("live/made/main.tf", &call("works/x").replace("vendor", "made")),
    ]);
    workspace.git(["init", "--quiet"]);
    std::fs::create_dir_all(workspace.path("vendor/net")).unwrap();
    let run = workspace.tflock(None, ["-C", "live/app", "lock"]).ended_with(2);
    assert!(run.stderr.contains("check out the git submodule vendor/net: `git submodule update --init`"), "{run}");
    let run = workspace.tflock(None, ["-C", "live/empty", "why"]).ended_with(0);
    assert!(run.stderr.contains("check out the git submodule vendor/net with `git submodule update --init`"), "{run}");
    let run = workspace.tflock(None, ["-C", "live/made", "lock"]).ended_with(2);
    assert!(run.stderr.contains("first run what creates the directory"), "{run}");
}

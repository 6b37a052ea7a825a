//! Module locks: written, kept, checked against what is served, explained.

use super::git::{Repository, needs_widget, workspace};
use super::{CALL, NEEDS_WIDGET, world};
use crate::support::registry::{Endpoint, Registry};
use crate::support::run::formats;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

const LOCKS: &str = ".tflock.modules.hcl";
const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];

/// A repository with the tag v1, served, and a root module that calls it and is locked.
fn tagged() -> (Repository, Registry, Workspace) {
    let (registry, repository) = (widget(), Repository::new());
    repository.commit("main.tf", &needs_widget(&registry));
    repository.0.git(["tag", "v1"]);
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "?ref=v1");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    (repository, registry, workspace)
}

/// Commits the whole work tree on main.
fn committed(workspace: &Workspace) {
    if !workspace.has(".git") {
        workspace.git(["init", "--quiet", "-b", "main"]);
    }
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "--quiet", "-m", "change"]);
}

/// The tag is moved to other content.
fn moved(repository: &Repository, registry: Registry) -> Registry {
    repository.commit("evil.tf", "# other\n");
    repository.0.git(["tag", "--force", "v1"]);
    repository.served_by(registry)
}

#[test]
fn a_registry_module_is_locked_and_kept() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    let first = workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    assert!(first.stdout.contains("+ module") && first.stdout.contains(LOCKS), "{first}");
    let locks = workspace.read(LOCKS);
    let host = registry.other_host();
    for line in [
        format!("module \"{host}/acme/net/lab\" {{"),
        "  version     = \"1.1.0\"".to_owned(),
        "  constraints = \"~> 1.0\"".to_owned(),
        "  calls       = [\"net\"]".to_owned(),
        format!("  location    = \"https://{host}/modules/acme/net/lab/1.1.0.zip\""),
    ] {
        assert!(locks.contains(&line), "{line}\n{locks}");
    }
    // A newer release does not matter now, and known content needs no request.
    let registry = registry.module("acme/net/lab", "1.2.0", &[("main.tf", NEEDS_WIDGET)]);
    registry.forget_requests();
    let second = workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(second.stdout.contains("nothing to do"), "{second}");
    assert_eq!(registry.count(Endpoint::ModuleVersions), 0);
    assert_eq!(workspace.read(LOCKS), locks);
    workspace.tflock(&registry, ["lock", "--check", "--platform", "linux_amd64"]).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    // Unless it is requested, or the locked version is not allowed any more.
    let check = workspace.tflock(&registry, ["upgrade", "--modules", "--check"]).ended_with(1);
    assert!(check.stdout.contains("1.1.0 -> 1.2.0"), "{check}");
    assert_eq!(workspace.read(LOCKS), locks);
    let source = format!("{host}/acme/net/lab");
    let upgraded = workspace.tflock(&registry, ["upgrade", "--modules", &source]).ended_with(0);
    assert!(upgraded.stdout.ends_with("review and commit .tflock.modules.hcl\n"), "{upgraded}");
    assert!(workspace.read(LOCKS).contains("\"1.2.0\""));
    workspace.write("main.tf", &CALL.replace("~> 1.0", "< 1.2"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.read(LOCKS).contains("\"1.1.0\""));
    // A recent answer of a registry does not replace a new query.
    let registry = registry.module("acme/net/lab", "2.0.0", &[("main.tf", NEEDS_WIDGET)]);
    workspace.write("main.tf", &CALL.replace("~> 1.0", "~> 2.0"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.read(LOCKS).contains("\"2.0.0\""));
    let unknown = workspace.tflock(&registry, ["upgrade", "--modules", "acme/nett/lab"]).ended_with(2);
    assert!(unknown.stderr.contains("no module from \"acme/nett/lab\" is locked"), "{unknown}");
}

/// A version that is published again with other content, by a registry whose versions never change.
#[test]
fn a_registry_version_is_checked_against_its_content() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let verify = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(verify.stderr.contains("run `tflock get` first"), "{verify}");
    let installed = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(0);
    assert!(!installed.stderr.contains("run `tflock get` first"), "{installed}");
    let registry = registry.module("acme/net/lab", "1.1.0", &[("main.tf", NEEDS_WIDGET), ("more.tf", "# more\n")]);
    let changed = workspace.tflock(&registry, ["verify"]).ended_with(3);
    assert!(changed.stdout.contains("[module-changed]") && changed.stdout.contains("1.1.0"), "{changed}");
    // One fact, whether or not the locked content was kept.
    let fresh = workspace.tflock(&registry, ["verify", "--no-cache"]).ended_with(3);
    assert_eq!(fresh.stdout.matches("[module-changed]").count(), 1, "{fresh}");
    // A machine without the locked content does not get the other content instead.
    std::fs::remove_dir_all(workspace.path("").with_file_name("cache").join("v2/modules")).unwrap();
    for command in [&["get"][..], &LOCK] {
        let refused = workspace.tflock(&registry, command).ended_with(3);
        assert!(refused.stderr.contains("is not the one that is locked"), "{refused}");
    }
    assert!(!workspace.has(".terraform"));
    workspace.tflock(&registry, ["upgrade", "--modules"]).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
}

#[test]
fn nothing_is_locked_without_request() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(!workspace.has(LOCKS));
    // Nor where no module is called.
    workspace.write("main.tf", NEEDS_WIDGET);
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    assert!(!workspace.has(LOCKS));
}

#[test]
fn each_call_keeps_the_version_of_its_own_block() {
    let exact = |name: &str, version: &str| CALL.replace("\"net\"", &format!("{name:?}")).replace("~> 1.0", version);
    let calls = [exact("a", "1.0.0"), exact("b", ">= 1.0")].concat();
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", &calls)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let locks = workspace.read(LOCKS);
    assert_eq!(locks.matches("module \"").count(), 2, "{locks}");
    // The other version is allowed as well, but belongs to another call.
    workspace.write("main.tf", &calls.replace("\"1.0.0\"", "\">= 1.0\""));
    workspace.tflock(&registry, LOCK).ended_with(0);
    let now = workspace.read(LOCKS);
    assert_eq!(now, locks.replace("constraints = \"1.0.0\"", "constraints = \">= 1.0\""));
}

#[test]
fn comments_stay_and_fmt_knows_the_file() {
    let (_, registry, workspace) = tagged();
    let locks = workspace.read(LOCKS);
    let commented = locks.replace("module \"", "# the network\nmodule \"");
    workspace.write(LOCKS, &commented.replace("  calls  =", "calls="));
    workspace.tflock(&registry, ["fmt", "--check"]).ended_with(1);
    let verify = workspace.tflock(&registry, ["verify", "--offline"]);
    assert!(verify.stdout.contains("[not-canonical]"), "{verify}");
    workspace.tflock(&registry, ["fmt"]).ended_with(0);
    assert_eq!(workspace.read(LOCKS), commented);
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(workspace.read(LOCKS), commented);
    // What is no literal value is refused, and nothing is lost.
    let broken = commented.replace("= \"h1:", "= \"${1}h1:");
    workspace.write(LOCKS, &broken);
    for command in [&["fmt"][..], &LOCK, &["verify", "--offline"], &["get"]] {
        let refused = workspace.tflock(&registry, command).ended_with(2);
        assert!(refused.stderr.contains("hash must be a literal string"), "{refused}");
        assert_eq!(workspace.read(LOCKS), broken);
    }
}

/// A tag is moved to other content: `verify` refuses, `diff` explains, and there is a way back.
#[test]
#[ignore = "long"]
fn a_tag_is_moved() {
    let (repository, registry, workspace) = tagged();
    committed(&workspace);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    let registry = moved(&repository, registry);
    let refused = workspace.tflock(&registry, ["verify"]).ended_with(3);
    assert!(refused.stdout.contains("[module-changed]") && refused.stdout.contains(LOCKS), "{refused}");
    // It is never taken over unread.
    let locks = workspace.read(LOCKS);
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(workspace.read(LOCKS), locks);
    // Who does is shown what it is, and the gate refuses it.
    workspace.tflock(&registry, ["upgrade", "--modules"]).ended_with(0);
    workspace.tflock(&registry, ["diff"]).ended_with(0);
    workspace.tflock(&registry, ["diff", "--exit-code"]).ended_with(3);
    for format in formats("diff") {
        let diff = workspace.tflock(&registry, ["diff", "--format", format]);
        assert!(diff.stdout.contains("moved from commit"), "{format}: {diff}");
    }
    let gate = workspace.tflock(&registry, ["verify", "--base", "HEAD"]).ended_with(3);
    assert!(gate.stdout.contains("the locked content of"), "{gate}");
    let gate = workspace.tflock(&registry, ["verify", "--base", "HEAD", "--offline"]).ended_with(3);
    assert!(gate.stdout.contains("[module-changed]"), "{gate}");
    // The way back: what was locked can still be fetched by its commit.
    workspace.git(["checkout", "--quiet", "HEAD", "--", LOCKS]);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    assert!(workspace.has(".terraform/modules/net/main.tf") && !workspace.has(".terraform/modules/net/evil.tf"));
}

/// Installed content that matches the lock does not depend on a moved tag; what a change locks does.
#[test]
#[ignore = "long"]
fn installed_modules_do_not_depend_on_a_moved_tag() {
    const INSTALLED: [&str; 2] = ["verify", "--installed"];
    let (repository, registry, workspace) = tagged();
    committed(&workspace);
    let registry = moved(&repository, registry);
    // Nothing is installed yet.
    workspace.tflock(&registry, INSTALLED).ended_with(3);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(3);
    workspace.tflock(&registry, INSTALLED).ended_with(0);
    workspace.tflock(&registry, ["verify", "--installed", "--base", "HEAD"]).ended_with(0);
    workspace.write(".terraform/modules/net/main.tf", "# doctored\n");
    let run = workspace.tflock(&registry, INSTALLED).ended_with(3);
    assert!(run.stdout.contains("[installed-differs]") && run.stdout.contains("[module-changed]"), "{run}");
    workspace.tflock(&registry, ["get"]).ended_with(0);
    // The same lock as a change of a pull request: it may lock what the tag never had.
    let locks = workspace.read(LOCKS);
    workspace.git(["rm", "--quiet", LOCKS]);
    committed(&workspace);
    workspace.write(LOCKS, &locks);
    let run = workspace.tflock(&registry, ["verify", "--installed", "--base", "HEAD"]).ended_with(3);
    assert!(run.stdout.contains("[module-changed]"), "{run}");
}

#[test]
#[ignore = "long"]
fn a_branch_with_new_commits_is_not_changed() {
    let (mut registry, repository) = (widget(), Repository::new());
    repository.commit("main.tf", &needs_widget(&registry));
    repository.0.git(["branch", "-m", "main"]);
    registry = repository.served_by(registry);
    for source in ["", "?ref=main"] {
        let workspace = workspace(&registry, source);
        workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
        committed(&workspace);
        repository.commit("more.tf", &format!("# {source}\n"));
        registry = repository.served_by(registry);
        let moved = workspace.tflock(&registry, ["verify"]).ended_with(1);
        assert!(moved.stdout.contains("[module-moved]") && moved.stdout.contains("has new commits"), "{moved}");
        workspace.tflock(&registry, ["upgrade", "--modules"]).ended_with(0);
        workspace.tflock(&registry, ["verify", "--base", "HEAD"]).ended_with(0);
        // A commit that leaves the content as it was says nothing.
        repository.0.git(["commit", "--quiet", "--allow-empty", "-m", "nothing"]);
        registry = repository.served_by(registry);
        workspace.tflock(&registry, ["verify"]).ended_with(0);
    }
}

#[test]
fn calls_without_a_block_and_blocks_without_a_call() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.write("main.tf", &format!("{CALL}{}", CALL.replace("\"net\"", "\"other\"")));
    for args in [&["verify"][..], &["verify", "--offline"]] {
        let refused = workspace.tflock(&registry, args).ended_with(1);
        assert!(refused.stdout.contains(" module other "), "{refused}");
        assert!(refused.stdout.contains("[module-unlocked]") && refused.stdout.contains("main.tf:5"), "{refused}");
    }
    workspace.write("main.tf", &CALL.replace("~> 1.0", "~> 1.0, != 1.0.9"));
    let stale = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(stale.stdout.contains("[module-stale]"), "{stale}");
    workspace.write("main.tf", NEEDS_WIDGET);
    let stale = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(stale.stdout.contains("no module call uses it"), "{stale}");
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(!workspace.read(LOCKS).contains("module \""));
}

#[test]
fn the_removal_of_the_file_is_reported() {
    let (_, registry, workspace) = tagged();
    committed(&workspace);
    std::fs::remove_file(workspace.path(LOCKS)).unwrap();
    let refused = workspace.tflock(&registry, ["verify", "--base", "HEAD", "--offline"]).ended_with(3);
    assert!(refused.stdout.contains("[lock-file-removed]") && refused.stdout.contains(LOCKS), "{refused}");
    let diff = workspace.tflock(&registry, ["diff"]).ended_with(0);
    assert!(diff.stdout.contains("the module lock file was removed"), "{diff}");
}

#[test]
fn bots_lock_no_package_for_the_first_time() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", NEEDS_WIDGET)]));
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.write("main.tf", CALL);
    let refused = workspace.tflock(&registry, LOCK_MODULES.iter().chain(&["--no-first-use"])).ended_with(3);
    assert!(refused.stdout.contains("[first-use-forbidden]"), "{refused}");
    assert!(!workspace.has(LOCKS));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    // Another version of what is known is none.
    let registry = registry.module("acme/net/lab", "1.2.0", &[("main.tf", NEEDS_WIDGET)]);
    workspace.tflock(&registry, ["upgrade", "--modules", "--no-first-use"]).ended_with(0);
    assert!(workspace.read(LOCKS).contains("\"1.2.0\""));
}

#[test]
fn two_branches_that_lock_modules_are_merged() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.git(["init", "--quiet", "-b", "main"]);
    workspace.tflock(&registry, ["git", "install"]).ended_with(0);
    committed(&workspace);
    let further = |name: &str| CALL.replace("\"net\"", &format!("{name:?}"));
    for branch in ["one", "two"] {
        workspace.git(["checkout", "--quiet", "-b", branch, "main"]);
        workspace.write(&format!("{branch}.tf"), &further(branch));
        workspace.tflock(&registry, LOCK).ended_with(0);
        committed(&workspace);
    }
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_tflock")).parent().unwrap().to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let workspace = workspace.env("PATH", &path);
    workspace.git(["merge", "--quiet", "-m", "both", "one"]);
    assert!(workspace.read(LOCKS).contains("calls       = [\"net\", \"one\", \"two\"]"), "{}", workspace.read(LOCKS));
    workspace.tflock(&registry, ["lock", "--check", "--platform", "linux_amd64"]).ended_with(0);
}

#[test]
fn what_is_locked_is_listed() {
    let (_, registry, workspace) = tagged();
    let list = workspace.tflock(&registry, ["list", "--modules"]).ended_with(0);
    let commit = workspace.read(LOCKS).split("commit = \"").nth(1).unwrap()[..12].to_owned();
    assert!(list.stdout.contains(&commit) && list.stdout.contains("main.tf:1:1"), "{list}");
    let json = workspace.tflock(&registry, ["list", "--modules", "--format", "json"]).ended_with(0);
    assert!(json.stdout.contains("\"locked\": true"), "{json}");
}

/// Another default registry with the same module: its version and content stay, wherever it is there.
#[test]
fn a_move_to_the_other_tool_keeps_modules() {
    let registry = world().standing_for("registry.terraform.io").standing_for("registry.opentofu.org");
    let call = CALL.replace("{{other-host}}/", "");
    let workspace = Workspace::with_files(&[("main.tf", &call)]);
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let locks = workspace.read(LOCKS);
    assert!(locks.contains("module \"registry.terraform.io/acme/net/lab\"") && locks.contains("\"1.1.0\""), "{locks}");
    let registry = registry.module("acme/net/lab", "1.2.0", &[("main.tf", NEEDS_WIDGET)]);
    // Other content than is locked is refused, and nothing is written.
    let hash = locks.split("h1:").nth(1).unwrap()[..8].to_owned();
    workspace.write(LOCKS, &locks.replace(&hash, "AAAAAAAA"));
    let refused = workspace.tflock(&registry, ["migrate", "--to", "tofu", "--platform", "linux_amd64"]).ended_with(3);
    assert!(refused.stderr.contains("is not the one that is locked"), "{refused}");
    workspace.write(LOCKS, &locks);
    workspace.tflock(&registry, ["migrate", "--to", "tofu", "--platform", "linux_amd64"]).ended_with(0);
    assert_eq!(workspace.read(LOCKS), locks.replace("registry.terraform.io", "registry.opentofu.org"));
    workspace.tflock(&registry, ["--tool", "tofu", "verify"]).ended_with(0);
}

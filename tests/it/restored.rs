//! `tflock lock ADDR --restore-from REV`: an entry comes back as a commit has it, and nothing else changes. It would be a way to make
//! an entry acceptable that is not, so each condition has a test that tries to.

use crate::support::keys;
use crate::support::locked::{LOCK, MAIN, block, hashes, honest, locked, pinned, planted, rules};
use crate::support::proposal::{SETTINGS, TRUST, commit, edit, pin, repository};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const FAKE: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

/// A root module that is locked, pinned and committed.
fn committed(registry: &Registry) -> Workspace {
    let workspace = locked(registry);
    workspace.write("main.tf", &MAIN.replace("{{registry}}", &registry.host()));
    workspace.write(TRUST, &pinned(registry));
    workspace.git(["init", "--quiet", "--initial-branch=main"]);
    commit(&workspace, "locked");
    workspace
}

fn widget(registry: &Registry) -> String {
    format!("{}/acme/widget", registry.host())
}

/// The text with another `h1:` in the place of that for linux.
fn swapped(registry: &Registry, text: &str) -> String {
    text.replace(&registry.package("acme/widget", "1.4.0", "linux_amd64").h1, FAKE)
}

fn restore(workspace: &Workspace, registry: &Registry, revision: &str, more: &[&str]) -> Run {
    let addr = widget(registry);
    let args = ["lock", &addr, "--restore-from", revision];
    workspace.tflock(registry, args.into_iter().chain(more.iter().copied()))
}

/// Restoring is refused, and no file changes.
#[track_caller]
fn refused(workspace: &Workspace, registry: &Registry, revision: &str, code: i32) -> Run {
    let run = restore(workspace, registry, revision, &[]).ended_with(code);
    assert!(run.touched().is_empty(), "{run}");
    run
}

/// The commit that HEAD is, shortened as it is printed.
fn head(workspace: &Workspace) -> String {
    workspace.git(["rev-parse", "HEAD"]).stdout[..10].to_owned()
}

#[test]
fn the_entry_comes_back_and_nothing_else_changes() {
    let registry = honest().release("acme/widget", "1.4.1", PLATFORMS);
    let workspace = committed(&registry);
    let (sound, first) = (workspace.lock_file(), head(&workspace));
    // Another version, other constraints and hashes; and a change of another entry, which stays.
    workspace.tflock(&registry, ["upgrade", &widget(&registry)]).ended_with(0);
    commit(&workspace, "raised");
    let gadget = registry.package("acme/gadget", "2.0.0", "darwin_arm64").h1;
    edit(&workspace, LOCK, |text| swapped(&registry, &text.replace(&format!("    \"{gadget}\",\n"), "")));
    registry.forget_requests();
    for mode in ["--check", "--dry-run"] {
        let run = restore(&workspace, &registry, "HEAD~1", &[mode]);
        assert!(run.touched().is_empty() && run.code == Some(i32::from(mode == "--check")), "{run}");
    }
    let run = restore(&workspace, &registry, "HEAD~1", &[]).ended_with(0);
    assert_eq!(run.touched(), [LOCK], "{run}");
    assert_eq!(workspace.lock_file(), sound.replace(&format!("    \"{gadget}\",\n"), ""));
    assert!(run.stderr.contains(&format!("restored from commit {first} (HEAD~1): ")), "{run}");
    assert_eq!(registry.downloads("acme/widget") + registry.downloads("acme/gadget"), 0);
    // Again, and there is nothing to do.
    let run = restore(&workspace, &registry, &first, &[]).ended_with(0);
    assert!(run.touched().is_empty() && run.stderr.contains(&first), "{run}");
    let (now, run) = (head(&workspace), restore(&workspace, &registry, "main", &[]).ended_with(0));
    insta::assert_snapshot!("restored", run.to_string().replace(&now, "<commit>"));
}

#[test]
fn an_entry_that_was_lost_comes_back() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let (without, _) = sound.split_once(&format!("\nprovider \"{}\"", widget(&registry))).unwrap();
    workspace.write(LOCK, without);
    let json = restore(&workspace, &registry, "HEAD", &["--format", "json"]).ended_with(0).json();
    assert_eq!(workspace.lock_file(), sound);
    let added = json["changes"][0]["hashes_added"].as_array().unwrap();
    assert!(added.len() == 4 && json["changes"].as_array().unwrap().len() == 1, "{json}");
}

#[test]
fn only_a_commit_of_this_branch_or_of_its_upstream_counts() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    // Somebody else's commit lies in the clone: as a branch, as a fetched request, and under no name at all.
    workspace.git(["checkout", "--quiet", "-b", "other"]);
    workspace.write(LOCK, &swapped(&registry, &sound));
    commit(&workspace, "theirs");
    let theirs = workspace.git(["rev-parse", "HEAD"]).stdout.trim().to_owned();
    workspace.git(["update-ref", "refs/pull/1/head", &theirs]);
    workspace.git(["tag", "v1", &theirs]);
    workspace.git(["checkout", "--quiet", "main"]);
    for name in ["other", "refs/pull/1/head", "v1", &theirs, &theirs[..12], "other~0"] {
        let run = refused(&workspace, &registry, name, 2);
        assert!(run.stderr.contains("is no ancestor of HEAD or of its upstream"), "{run}");
        assert_eq!(workspace.lock_file(), sound);
    }
    workspace.git(["branch", "--quiet", "-D", "other"]);
    refused(&workspace, &registry, &theirs, 2);
    for name in ["", "none", "--all", "HEAD~7", "HEAD:main.tf", "HEAD^{tree}"] {
        refused(&workspace, &registry, name, 2);
    }
    // What is upstream counts, although it is not in HEAD yet.
    workspace.git(["update-ref", "refs/remotes/origin/main", &theirs]);
    workspace.git(["remote", "add", "origin", "https://git.example.com/x.git"]);
    refused(&workspace, &registry, "origin/main", 2);
    workspace.git(["branch", "--quiet", "--set-upstream-to", "origin/main"]);
    restore(&workspace, &registry, "origin/main", &[]).ended_with(0);
    assert_eq!(workspace.lock_file(), swapped(&registry, &sound));
}

/// What git would show in place of a commit does not count.
#[test]
fn a_replaced_commit_is_not_followed() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let first = workspace.git(["rev-parse", "HEAD"]).stdout.trim().to_owned();
    workspace.git(["checkout", "--quiet", "--orphan", "other"]);
    workspace.write(LOCK, &swapped(&registry, &sound));
    commit(&workspace, "theirs");
    let theirs = workspace.git(["rev-parse", "HEAD"]).stdout.trim().to_owned();
    workspace.git(["checkout", "--quiet", "main"]);
    workspace.git(["replace", &first, &theirs]);
    workspace.write(LOCK, &sound.replace("~> 1.4", ">= 1.4.0"));
    restore(&workspace, &registry, "main", &[]).ended_with(0);
    assert_eq!(workspace.lock_file(), sound);
}

#[test]
fn the_entry_must_be_literal_and_pin_something() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let (head, _) = sound.split_once(&format!("\nprovider \"{}\"", widget(&registry))).unwrap();
    let entry = |head: &str, hashes: &[String]| block(&registry, "acme/widget", head, hashes);
    let version = "  version     = \"1.4.0\"\n  constraints = \"~> 1.4\"\n";
    for (text, code, why) in [
        (sound.replace("= \"1.4.0\"", "= \"1.4.${0}\""), 3, "nothing is restored"),
        (sound.replace("\"zh:", "\"${\"zh\"}:"), 3, "nothing is restored"),
        (head.to_owned() + &entry(version, &["h9:x".to_owned()]), 3, "records no hash that a package can have"),
        (head.to_owned() + &entry(version, &["h1:x".to_owned()]), 3, "records no hash that a package can have"),
        (head.to_owned() + &entry(version, &[]).replace("  hashes = [\n    \"\",\n  ]\n", ""), 3, "records no hash"),
        (sound.replace("provider \"", "provider \"x\" \""), 2, "nothing is restored"),
        (sound.clone() + &entry(version, &hashes(&registry, "acme/widget", "1.4.0")), 2, "nothing is restored"),
        ("<<<<<<< ours\n".to_owned(), 2, "nothing is restored"),
    ] {
        workspace.write(LOCK, &text);
        commit(&workspace, "theirs");
        workspace.write(LOCK, &sound);
        let run = refused(&workspace, &registry, "HEAD", code);
        assert!(run.stderr.contains(why), "{run}");
        commit(&workspace, "back");
    }
}

#[test]
#[ignore = "long"]
fn pins_denied_signers_and_bans_count() {
    let registry = honest().release("acme/widget", "1.3.0", PLATFORMS);
    let (good, other) = (keys::GOOD.fingerprint(), keys::OTHER.fingerprint());
    let gadget = pin(&registry, "acme/gadget", &good);
    let denied = format!("\ndenied_signer \"{good}\" {{\n  reason = \"leaked\"\n}}\n");
    let ban = |versions: &str| {
        format!("ban \"{}\" {{\n  versions = \"{versions}\"\n  reason = \"bad\"\n}}\n", widget(&registry))
    };
    for (trust, settings, rule) in [
        (gadget.clone() + "\n" + &pin(&registry, "acme/widget", &other), String::new(), "signer-changed"),
        (pinned(&registry) + &denied, String::new(), "signer-denied"),
        (pinned(&registry), ban("1.4.0"), "banned"),
        (pinned(&registry), "policy {\n  hosts = [\"registry.opentofu.org\"]\n}\n".to_owned(), "host-not-allowed"),
    ] {
        let workspace = committed(&registry);
        workspace.write(TRUST, &trust);
        workspace.write(SETTINGS, &settings);
        edit(&workspace, LOCK, |text| swapped(&registry, text));
        for more in [&[][..], &["--check"], &["-r"]] {
            let args = [&["--format", "json"][..], more].concat();
            let run = restore(&workspace, &registry, "HEAD", &args).ended_with(3);
            assert!(run.touched().is_empty() && run.stdout.contains(&format!("\"{rule}\"")), "{run}");
            assert!(!run.stderr.contains("restored from"), "{run}");
        }
    }
    // For a bot, a version that is not recorded now is new, and no signer is remembered for it.
    let workspace = committed(&registry);
    workspace.write(TRUST, &gadget);
    edit(&workspace, LOCK, |text| text.replace("\"1.4.0\"", "\"1.3.0\""));
    let run = restore(&workspace, &registry, "HEAD", &["--no-first-use"]).ended_with(3);
    assert!(run.touched().is_empty() && run.stdout.contains("first-use-forbidden"), "{run}");
    // Otherwise nothing is learned.
    let run = restore(&workspace, &registry, "HEAD", &[]).ended_with(0);
    assert_eq!(run.touched(), [LOCK], "{run}");
}

/// The signer is checked where the release has no package for this machine or the locked platforms, too.
#[test]
fn a_release_for_other_platforms_has_its_signer_checked() {
    let registry = Registry::start()
        .release("acme/widget", "1.4.0", &["windows_amd64"])
        .signed_by(keys::OTHER)
        .release("acme/gadget", "2.0.0", PLATFORMS);
    let package = registry.package("acme/widget", "1.4.0", "windows_amd64");
    let entry = block(&registry, "acme/widget", "  version = \"1.4.0\"\n", &[package.h1.clone(), package.zh()]);
    let main = MAIN.replace("{{registry}}", &registry.host());
    let workspace = Workspace::with_files(&[("main.tf", &main), (LOCK, entry.trim_start())]);
    workspace.write(TRUST, &pinned(&registry));
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "locked");
    edit(&workspace, LOCK, |text| text.replace(&package.h1, FAKE));
    refused(&workspace, &registry, "HEAD", 3);
}

#[test]
fn what_cannot_be_restored_is_an_error() {
    let registry = honest().release("acme/widget", "1.4.1", PLATFORMS);
    let workspace = committed(&registry);
    let addr = format!("{}/acme/extra", registry.host());
    let run = workspace.tflock(&registry, ["lock", &addr, "--restore-from", "HEAD"]).ended_with(2);
    assert!(run.touched().is_empty() && run.stderr.contains("no entry for"), "{run}");
    // The constraints exclude the version.
    edit(&workspace, "main.tf", |text| text.replace("~> 1.4", "1.4.1"));
    workspace.tflock(&registry, ["upgrade", &widget(&registry)]).ended_with(0);
    let run = refused(&workspace, &registry, "HEAD", 2);
    assert!(run.stderr.contains(", 1.4.0, ") && run.stderr.contains("\"1.4.1\""), "{run}");
    // Its signer is not known without the registry.
    refused(&workspace, &registry, "HEAD", 2);
    edit(&workspace, "main.tf", |text| text.replace("\"1.4.1\"", "\">= 1.4\""));
    let run = workspace.tflock(None, ["lock", &widget(&registry), "--restore-from", "HEAD", "--offline"]).ended_with(4);
    assert!(run.touched().is_empty(), "{run}");
    registry.withdraw("acme/widget", "1.4.0");
    refused(&workspace, &registry, "HEAD", 2);
    // It needs a name, and no second purpose.
    for args in [
        &["lock", "--restore-from", "HEAD"][..],
        &["lock", "acme/widget", "--restore-from", "HEAD", "--prune"],
        &["lock", "acme/widget", "--restore-from", "HEAD", "--drop-unattested"],
        &["lock", "acme/widget", "--restore-from", "HEAD", "--check", "--no-download"],
    ] {
        workspace.tflock(&registry, args).ended_with(2);
    }
    Workspace::with_files(&[("main.tf", "")])
        .tflock(&registry, ["lock", "acme/widget", "--restore-from", "HEAD"])
        .ended_with(2);
}

#[test]
fn root_modules_without_the_entry_are_counted() {
    let registry = honest();
    let workspace = repository(&registry);
    let sound = workspace.read(&format!("app/{LOCK}"));
    workspace.write("new/main.tf", &workspace.read("app/main.tf"));
    workspace.write(&format!("new/{LOCK}"), &sound);
    commit(&workspace, "new");
    for root in ["app", "other", "new"] {
        edit(&workspace, &format!("{root}/{LOCK}"), |text| swapped(&registry, text));
    }
    let run = restore(&workspace, &registry, "HEAD~1", &["-r"]).ended_with(0);
    for root in ["app", "other"] {
        assert_eq!(workspace.read(&format!("{root}/{LOCK}")), sound, "{run}");
    }
    assert_eq!(workspace.read(&format!("new/{LOCK}")), swapped(&registry, &sound), "{run}");
    let commit = &workspace.git(["rev-parse", "HEAD~1"]).stdout[..10];
    insta::assert_snapshot!("restored_below", run.to_string().replace(commit, "<commit>"));
    let addr = format!("{}/acme/extra", registry.host());
    workspace.tflock(&registry, ["lock", "-r", &addr, "--restore-from", "HEAD"]).ended_with(2);
}

/// The way back from what was published again, which is not refused by what is served now.
#[test]
fn a_republished_release_can_be_gone_back_from() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    registry.republish("acme/widget", "1.4.0");
    let release = format!("{}@1.4.0", widget(&registry));
    workspace.tflock(&registry, ["lock", "--accept-republished", &release, "--reason", "x"]).ended_with(0);
    assert_ne!(workspace.lock_file(), sound);
    let run = restore(&workspace, &registry, "HEAD", &["--format", "json"]).ended_with(0);
    assert_eq!((workspace.lock_file(), run.touched()), (sound, vec![LOCK]), "{run}");
    assert_eq!(rules(&run, "warn"), ["republished".to_owned()].into(), "{run}");
}

/// A hash that the commit has and no package is restored too, and named.
#[test]
fn what_is_wrong_with_the_commit_is_named() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let zh = "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    workspace.write(LOCK, &planted(&sound, zh));
    workspace.tflock(&registry, ["fmt"]).ended_with(0);
    commit(&workspace, "planted");
    let theirs = workspace.lock_file();
    workspace.write(LOCK, &sound);
    let run = restore(&workspace, &registry, "HEAD", &["--format", "json"]).ended_with(0);
    assert_eq!(workspace.lock_file(), theirs);
    assert_eq!(rules(&run, "warn"), ["unattested-hash".to_owned()].into(), "{run}");
}

/// A mirror shows no signer, so it has to have a package that the entry records.
#[test]
fn a_mirror_must_have_the_release() {
    let registry = honest();
    let workspace = committed(&registry);
    workspace.tflock(&registry, ["mirror", "../mirror", "--platform", "linux_amd64"]).ended_with(0);
    let sound = workspace.lock_file();
    workspace.write(LOCK, &swapped(&registry, &sound));
    let mirrored = ["--fs-mirror", "../mirror", "--format", "json"];
    restore(&workspace, &registry, "HEAD", &mirrored).ended_with(0);
    assert_eq!(workspace.lock_file(), sound);
    // Other packages, without the copies of what was signed.
    let other = honest();
    other.republish("acme/widget", "1.4.0");
    let place = format!("../mirror/{}/acme/widget", registry.host());
    std::fs::remove_dir_all(workspace.path(&place)).unwrap();
    let package = other.package("acme/widget", "1.4.0", "linux_amd64");
    let name = format!("{place}/terraform-provider-widget_1.4.0_linux_amd64.zip");
    workspace.write_bytes(&name, &package.zip);
    workspace.write(LOCK, &swapped(&registry, &sound));
    let run = restore(&workspace, &registry, "HEAD", &mirrored).ended_with(3);
    assert!(run.touched().is_empty() && rules(&run, "deny").contains("mirror-differs"), "{run}");
}

//! A changed lock file is not a republished release: tflock compares it with other records of the release,
//! and the advised command takes the entry back.

use crate::support::locked::{LOCK, honest, locked, pinned, rules, verify};
use crate::support::proposal::{self, commit, edit, gate};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS, widget};

const FAKE: &str = "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A root module that is locked, pinned and committed.
fn committed(registry: &Registry) -> Workspace {
    let workspace = locked(registry);
    workspace.write(".tflock.trust.hcl", &pinned(registry));
    // Placeholders in the text are filled in first.
    workspace.tflock(registry, ["fmt", "--check"]).ended_with(0);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "locked");
    workspace
}

/// The text with another checksum in the place of one of `acme/widget`.
fn changed(registry: &Registry, text: &str) -> String {
    text.replace(&registry.package("acme/widget", "1.4.0", "linux_amd64").zh(), FAKE)
}

/// The help of the one finding that denies, which must be that the file was changed.
#[track_caller]
fn help(run: &Run) -> String {
    assert_eq!(rules(run, "deny"), ["lock-file-altered".to_owned()].into(), "{run}");
    let findings = run.json()["findings"].as_array().unwrap().clone();
    let denied: Vec<_> = findings.iter().filter(|finding| finding["level"] == "deny").collect();
    assert_eq!(denied.len(), 1, "{run}");
    denied[0]["help"].as_str().unwrap().to_owned()
}

/// The words of the last command in a help.
fn command(help: &str) -> Vec<&str> {
    help.split('`').nth_back(1).unwrap().split(' ').collect()
}

/// Runs the advised command, which restores the entry.
#[track_caller]
fn follow(workspace: &Workspace, registry: &Registry, help: &str) {
    let words = command(help);
    let ["tflock", args @ ..] = &words[..] else { panic!("{help}") };
    assert!(args.contains(&"--restore-from"), "{help}");
    workspace.tflock(registry, args).ended_with(0);
}

#[test]
fn head_has_the_unaltered_entry() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    workspace.write(LOCK, &changed(&registry, &sound));
    let advised = help(&verify(&workspace, &registry, &[]).ended_with(3));
    let release = format!("{}/acme/widget@1.4.0", registry.host());
    let accept = ["--accept-republished", &release, "--reason", "x"];
    for more in [&[][..], &accept] {
        let args = ["lock", "--format", "json", "--platform", "linux_amd64", "--platform", "darwin_arm64"];
        let run = workspace.tflock(&registry, args.iter().chain(more)).ended_with(3);
        assert!(run.touched().is_empty() && workspace.lock_file().contains(FAKE), "{run}");
        assert_eq!(help(&run), advised);
    }
    follow(&workspace, &registry, &advised);
    assert_eq!(workspace.lock_file(), sound);
    verify(&workspace, &registry, &[]).ended_with(0);
}

#[test]
fn diff_says_that_the_file_was_edited_and_how_to_restore_it() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    workspace.write(LOCK, &changed(&registry, &sound));
    let text = workspace.tflock(&registry, ["diff", "--online"]).ended_with(0).stdout;
    assert!(text.contains("The entry was edited") && !text.contains("the publisher re-uploaded"), "{text}");
    let advised = help(&workspace.tflock(&registry, ["diff", "--online", "--format", "json"]).ended_with(0));
    follow(&workspace, &registry, &advised);
    assert_eq!(workspace.lock_file(), sound);
}

#[test]
fn the_history_has_the_unaltered_entry() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    workspace.write(LOCK, &changed(&registry, &sound));
    commit(&workspace, "changed");
    let advised = help(&verify(&workspace, &registry, &[]).ended_with(3));
    follow(&workspace, &registry, &advised);
    assert_eq!(workspace.lock_file(), sound);
    verify(&workspace, &registry, &[]).ended_with(0);
}

/// The history of the entry counts, also where the rest of the file always had what was put into it.
#[test]
fn a_hash_of_another_entry_is_one_that_came() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let lost = registry.package("acme/gadget", "2.0.0", "darwin_arm64").h1;
    let foreign = registry.package("acme/widget", "1.4.0", "linux_amd64").zh();
    assert!(sound.contains(&lost) && sound.contains(&foreign), "{sound}");
    workspace.write(LOCK, &sound.replace(&lost, &foreign));
    commit(&workspace, "changed");
    for more in [&["--no-cache"][..], &[]] {
        // The package of the lost hash is not looked at.
        let args = ["lock", "--platform", "linux_amd64", "--format", "json"];
        let run = workspace.tflock(&registry, args.iter().chain(more)).ended_with(3);
        assert!(run.touched().is_empty(), "{run}");
        follow(&workspace, &registry, &help(&run));
        assert!(workspace.lock_file().contains(&lost));
        workspace.git(["checkout", "--quiet", "--", LOCK]);
    }
}

#[test]
fn only_the_lines_of_the_entry_are_taken_back_where_others_changed_too() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let h1 = registry.package("acme/gadget", "2.0.0", "darwin_arm64").h1;
    let less: String = sound.split_inclusive('\n').filter(|line| !line.contains(&h1)).collect();
    workspace.write(LOCK, &changed(&registry, &less));
    let advised = help(&verify(&workspace, &registry, &[]).ended_with(3));
    follow(&workspace, &registry, &advised);
    assert_eq!(workspace.lock_file(), less);
}

#[test]
fn the_index_knows_what_was_written_outside_of_git() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let sound = workspace.lock_file();
    workspace.write(LOCK, &changed(&registry, &sound));
    let advised = help(&verify(&workspace, &registry, &[]).ended_with(3));
    assert!(advised.starts_with("Delete the `hashes` of the entry"), "{advised}");
    // `lock` refuses the entry until they are deleted.
    assert_eq!(verify(&workspace, &registry, &[]).json()["next"], "tflock explain lock-file-altered");
    let (head, _) = sound.split_once("  hashes").unwrap();
    workspace.write(LOCK, &format!("{head}}}\n"));
    let [_, args @ ..] = &command(&advised)[..] else { panic!("{advised}") };
    let platforms = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];
    workspace.tflock(&registry, args.iter().chain(&platforms)).ended_with(0);
    assert_eq!(workspace.lock_file(), sound);
}

/// The version line alone was changed, by hand or by a bot that knows no hashes.
#[test]
#[ignore = "long"]
fn hashes_of_another_version_are_recognised() {
    let registry = honest().release("acme/widget", "1.4.1", PLATFORMS);
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    workspace.write(LOCK, &sound.replace("\"1.4.0\"", "\"1.4.1\""));
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    let advised = help(&run);
    assert!(run.stdout.contains("are recorded for 1.4.0 in HEAD, and do not belong to 1.4.1"), "{run}");
    let release = format!("{}/acme/widget@1.4.1", registry.host());
    let accept = ["lock", "--format", "json", "--accept-republished", &release, "--reason", "x"];
    let run = workspace.tflock(&registry, accept).ended_with(3);
    assert!(run.touched().is_empty() && help(&run) == advised, "{run}");
    // What is advised leads to that version.
    let restore = advised.split('`').nth(1).unwrap();
    follow(&workspace, &registry, &format!("`{restore}`"));
    assert_eq!(workspace.lock_file(), sound);
    let upgrade = command(&advised);
    assert_eq!(upgrade[..3], ["tflock", "upgrade", "--precise"], "{advised}");
    workspace.tflock(&registry, upgrade[1..].iter().copied()).ended_with(0);
    verify(&workspace, &registry, &[]).ended_with(0);

    // The base of a change knows it as well, and so does `diff`.
    let workspace = proposal::repository(&registry);
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("\"1.4.0\"", "\"1.4.1\""));
    commit(&workspace, "bump");
    help(&gate(&workspace, &registry, &[]).ended_with(3));
    let run =
        workspace.tflock(&registry, ["-C", "app", "diff", "origin/main", "--online", "--exit-code"]).ended_with(3);
    assert!(run.stdout.contains("lock-file-altered"), "{run}");
}

/// The index knows the version that the entry names now, from another branch or another repository.
#[test]
fn what_git_restores_goes_before_the_index() {
    let registry = honest().release("acme/widget", "1.4.1", PLATFORMS);
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let other = format!("{}/acme/widget@1.4.1", registry.host());
    let platforms = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];
    workspace.tflock(&registry, ["upgrade", &other].iter().chain(&platforms)).ended_with(0);
    workspace.write(LOCK, &sound.replace("\"1.4.0\"", "\"1.4.1\""));
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    let next = run.json()["next"].as_str().unwrap().to_owned();
    assert!(help(&run).contains(&next), "{run}");
    follow(&workspace, &registry, &format!("`{next}`"));
    assert_eq!(workspace.lock_file(), sound);
}

#[test]
fn the_index_knows_the_hashes_of_another_version() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let registry = registry.release("acme/widget", "1.4.1", PLATFORMS);
    edit(&workspace, LOCK, |text| text.replace("\"1.4.0\"", "\"1.4.1\""));
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert!(help(&run).starts_with("Delete the `hashes` of the entry"), "{run}");
    assert!(run.stdout.contains("are recorded for 1.4.0 in the index"), "{run}");
}

#[test]
fn a_release_that_was_published_again_stays_one() {
    for in_git in [true, false] {
        let registry = widget();
        let workspace = Workspace::from("modules/one-root");
        workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
        if in_git {
            workspace.git(["init", "--quiet"]);
            commit(&workspace, "locked");
        }
        registry.republish("acme/widget", "1.4.0");
        // What the first run saw does not speak against the file in the second.
        for _ in 0..2 {
            let run = verify(&workspace, &registry, &[]).ended_with(3);
            assert_eq!(rules(&run, "deny"), ["republished".to_owned()].into(), "{run}");
        }
    }
}

#[test]
fn the_base_has_the_unaltered_entry() {
    let registry = honest();
    let workspace = proposal::repository(&registry);
    edit(&workspace, &format!("app/{LOCK}"), |text| changed(&registry, text));
    commit(&workspace, "changed");
    let advised = help(&gate(&workspace, &registry, &[]).ended_with(3));
    follow(&workspace, &registry, &advised);
    gate(&workspace, &registry, &[]).ended_with(0);
}

#[test]
fn a_change_that_is_explained_says_so() {
    let registry = honest();
    let workspace = committed(&registry);
    workspace.write(LOCK, &changed(&registry, &workspace.lock_file()));
    let run = workspace.tflock(&registry, ["diff", "--online", "--exit-code", "--format", "json"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["lock-file-altered".to_owned()].into(), "{run}");
}

#[test]
fn the_signer_of_a_changed_entry_is_not_remembered() {
    let registry = honest();
    let workspace = committed(&registry);
    std::fs::remove_file(workspace.path(".tflock.trust.hcl")).unwrap();
    workspace.write(LOCK, &changed(&registry, &workspace.lock_file()));
    let run = workspace.tflock(&registry, ["trust", "init", "--format", "json"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["lock-file-altered".to_owned()].into(), "{run}");
    assert!(!workspace.read(".tflock.trust.hcl").contains("acme/widget"), "{run}");
}

/// A bot's branch: a new provider in the first root module, and a hash that was swapped in the second.
#[test]
#[ignore = "long"]
fn the_most_dangerous_finding_comes_first() {
    let registry = honest().release("acme/extra", "1.0.0", PLATFORMS);
    let workspace = proposal::repository(&registry);
    let extra = format!("    extra = {{\n      source = \"{}/acme/extra\"\n    }}\n", registry.host());
    edit(&workspace, "app/main.tf", |text| text.replacen("    gadget", &format!("{extra}    gadget"), 1));
    workspace.tflock(&registry, ["-C", "app"].iter().chain(&LOCK_BOTH)).ended_with(0);
    workspace.git(["checkout", "--quiet", "--", proposal::TRUST]);
    let h1 = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    edit(&workspace, &format!("other/{LOCK}"), |text| text.replace(&h1, &format!("h1:{}=", "A".repeat(43))));
    commit(&workspace, "bot");
    let all = |format: &str| {
        let more = ["-r", "--format", format];
        let args = proposal::GATE.iter().chain(&more);
        workspace.tflock(&registry, args).ended_with(3).stdout
    };
    for format in ["human", "markdown", "html"] {
        let text = all(format);
        // The page names the refused root modules before.
        let findings = text.find("<h2>Findings").unwrap_or_default();
        let [swapped, new] = ["hash-replaced", "signer-not-pinned"].map(|rule| text[findings..].find(rule).unwrap());
        assert!(swapped < new, "{format}: {text}");
    }
    assert!(
        all("human")
            .lines()
            .any(|line| line.starts_with("next: `tflock -C other lock") && line.contains("--restore-from"))
    );
}

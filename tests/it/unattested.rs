//! Hashes that no package has: one cause is one finding in each command, and each names the command that goes back. What takes such
//! hashes out without a commit to go back to takes out nothing else, and nothing where something is left to doubt.

use crate::support::locked::{LOCK, MAIN, block, hashes, honest, locked, pinned, planted, rules, verify};
use crate::support::proposal::{SETTINGS, TRUST, commit, edit, gate, repository};
use crate::support::registry::{Answer, Endpoint, Flaw, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS};

const FAKE: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const BOTH: &str = "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n";

fn swapped(registry: &Registry, text: &str) -> String {
    text.replace(&registry.package("acme/widget", "1.4.0", "linux_amd64").h1, FAKE)
}

/// A root module whose platforms are set, locked, pinned and committed.
fn committed(registry: &Registry) -> Workspace {
    let workspace = locked(registry);
    workspace.write("main.tf", &MAIN.replace("{{registry}}", &registry.host()));
    workspace.write(TRUST, &pinned(registry));
    workspace.write(SETTINGS, BOTH);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "locked");
    workspace
}

/// The command of `tflock` in the help of the one finding above a note.
#[track_caller]
fn command_of_one(run: &Run, rule: &str) -> Vec<String> {
    let json = run.json();
    let findings = json["findings"].as_array().unwrap_or_else(|| panic!("{run}"));
    let found: Vec<_> = findings.iter().filter(|finding| finding["level"] != "note").collect();
    assert_eq!(found.len(), 1, "{run}");
    assert_eq!(found[0]["rule"], rule, "{run}");
    let help = found[0]["help"].as_str().unwrap();
    let mut commands = help.split('`').skip(1).step_by(2).filter_map(|text| text.strip_prefix("tflock "));
    let command = commands.next().unwrap_or_else(|| panic!("{help}"));
    assert_eq!(commands.next(), None, "{help}");
    command.split(' ').map(str::to_owned).collect()
}

fn drop_from(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let args = ["lock", "--drop-unattested", "--format", "json"];
    workspace.tflock(registry, args.iter().chain(more))
}

/// Nothing is removed, and no file changes.
#[track_caller]
fn refused(workspace: &Workspace, registry: &Registry, more: &[&str], code: i32) -> Run {
    let run = drop_from(workspace, registry, more).ended_with(code);
    assert!(run.touched().is_empty() && workspace.lock_file().contains(FAKE), "{run}");
    run
}

#[test]
#[ignore = "long"]
fn a_swapped_hash_is_one_finding_with_the_command_that_goes_back() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let swap = |it: &Workspace| it.write(LOCK, &swapped(&registry, &sound));
    for is_committed in [false, true] {
        swap(&workspace);
        if is_committed {
            commit(&workspace, "swapped");
        }
        for (args, rule) in [
            (&["verify", "--format", "json"][..], "unattested-hash"),
            (&["lock", "--format", "json"], "lock-file-altered"),
            (&["upgrade", "--format", "json"], "lock-file-altered"),
        ] {
            swap(&workspace);
            let run = workspace.tflock(&registry, args).ended_with(3);
            assert!(run.touched().is_empty(), "{run}");
            let command = command_of_one(&run, rule);
            assert_eq!(command[2], "--restore-from", "{run}");
            workspace.tflock(&registry, &command).ended_with(0);
            assert_eq!(workspace.lock_file(), sound, "{run}");
            workspace.tflock(&registry, args).ended_with(0);
        }
    }
}

#[test]
#[ignore = "long"]
fn under_a_base_it_is_the_replacement() {
    let registry = honest();
    let workspace = repository(&registry);
    let path = format!("app/{LOCK}");
    let sound = workspace.read(&path);
    edit(&workspace, SETTINGS, |text| text.to_owned() + BOTH);
    commit(&workspace, "platforms");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    edit(&workspace, &path, |text| swapped(&registry, text));
    commit(&workspace, "swapped");
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    let command = command_of_one(&run, "hash-replaced");
    assert!(run.stdout.contains("and belongs to no package of the release"), "{run}");
    for format in ["human", "markdown", "github", "gitlab", "sarif", "html"] {
        let gate = ["-C", "app", "verify", "--base", "origin/main", "--format", format];
        let run = workspace.tflock(&registry, gate).ended_with(3);
        for consequence in ["platform-uncovered", "unattested-hash"] {
            // The page of SARIF lists the rules that it names.
            assert!(!run.stdout.contains(consequence), "{format}");
        }
    }
    workspace.tflock(&registry, &command).ended_with(0);
    assert_eq!(workspace.read(&path), sound);
    gate(&workspace, &registry, &[]).ended_with(0);
    // What refuses less than its consequence does not hide it.
    for settings in ["level \"hash-replaced\" {\n  is = \"note\"\n}\n", "exempt \"hash-replaced\" {\n}\n"] {
        let workspace = repository(&registry);
        edit(&workspace, SETTINGS, |text| text.to_owned() + BOTH + settings);
        commit(&workspace, "settings");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        edit(&workspace, &path, |text| swapped(&registry, text));
        let run = gate(&workspace, &registry, &[]).ended_with(3);
        assert!(rules(&run, "deny").contains("unattested-hash"), "{run}");
    }
}

/// Settings that lowered the old name for `lock` do not lower the gate.
#[test]
#[ignore = "long"]
fn the_old_name_in_settings_is_one_for_what_writes() {
    let registry = honest();
    let workspace = committed(&registry);
    for (settings, level, gate) in [
        ("level \"unexplained-hash\" {\n  is = \"deny\"\n}\n", "deny", "deny"),
        ("level \"unexplained-hash\" {\n  is = \"note\"\n}\n", "note", "deny"),
        ("exempt \"unexplained-hash\" {\n}\n", "note", "deny"),
        ("level \"unattested-hash\" {\n  is = \"note\"\n}\n", "note", "note"),
        ("", "warn", "deny"),
    ] {
        workspace.write(SETTINGS, settings);
        edit(&workspace, LOCK, |text| if text.contains(FAKE) { text.to_owned() + "\n" } else { planted(text, FAKE) });
        let args = LOCK_BOTH.iter().chain(&["--no-cache", "--dry-run", "--format", "json"]);
        let run = workspace.tflock(&registry, args);
        assert!(rules(&run, level).contains("unattested-hash"), "{settings}{run}");
        assert_eq!(run.code, Some(if level == "deny" { 3 } else { 0 }), "{run}");
        assert!(rules(&verify(&workspace, &registry, &[]), gate).contains("unattested-hash"), "{settings}");
    }
}

/// What `terraform init` leaves if several runs share a plugin cache: the hash of a half-written package, from the first commit on.
#[test]
#[ignore = "long"]
fn the_hash_of_a_half_written_package_goes() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    for also_lost in [true, false] {
        std::fs::remove_dir_all(workspace.path(".git")).unwrap();
        workspace.write(LOCK, &if also_lost { swapped(&registry, &sound) } else { planted(&sound, FAKE) });
        workspace.tflock(&registry, ["fmt"]).ended_with(0);
        workspace.git(["init", "--quiet"]);
        commit(&workspace, "locked in parallel");
        let run = verify(&workspace, &registry, &[]).ended_with(3);
        let command = command_of_one(&run, "unattested-hash");
        assert_eq!(command[2..], ["--drop-unattested"], "{run}");
        let before = workspace.lock_file();
        let done = workspace.tflock(&registry, &command).ended_with(0);
        assert!(done.touched() == [LOCK] && workspace.lock_file() != before, "{done}");
        assert_eq!(workspace.lock_file(), sound, "{done}");
        verify(&workspace, &registry, &[]).ended_with(0);
        // The gate takes the removal for what it is.
        let gate = workspace.tflock(&registry, ["verify", "--base", "HEAD", "--format", "json"]).ended_with(0);
        assert!(rules(&gate, "deny").is_empty() && rules(&gate, "warn").is_empty(), "{gate}");
    }
    let run = drop_from(&workspace, &registry, &[]).ended_with(0);
    assert!(run.touched().is_empty(), "{run}");
    workspace.write(LOCK, &planted(&sound, FAKE));
    insta::assert_snapshot!("dropped", workspace.tflock(&registry, ["lock", "--drop-unattested"]).ended_with(0));
}

/// The history has the entry without the hash, for this version: that is the way back.
#[test]
fn the_last_commit_without_the_hash_is_named() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let first = workspace.git(["rev-parse", "HEAD"]).stdout[..10].to_owned();
    workspace.write(LOCK, &planted(&sound, FAKE));
    workspace.tflock(&registry, ["fmt"]).ended_with(0);
    let command = command_of_one(&verify(&workspace, &registry, &[]).ended_with(3), "unattested-hash");
    assert_eq!(command[2..], ["--restore-from", "HEAD"]);
    commit(&workspace, "planted");
    workspace.write("README.md", "later");
    commit(&workspace, "later");
    let command = command_of_one(&verify(&workspace, &registry, &[]).ended_with(3), "unattested-hash");
    assert_eq!(command[2..], ["--restore-from", &first]);
    workspace.tflock(&registry, &command).ended_with(0);
    assert_eq!(workspace.lock_file(), sound);
}

#[test]
fn a_checksum_stays() {
    let registry = honest();
    let workspace = committed(&registry);
    let zh = "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    edit(&workspace, LOCK, |text| planted(&planted(text, zh), FAKE));
    let run = drop_from(&workspace, &registry, &[]).ended_with(0);
    assert!(workspace.lock_file().contains(zh) && !workspace.lock_file().contains(FAKE), "{run}");
    assert_eq!(rules(&run, "warn"), ["unattested-hash".to_owned()].into(), "{run}");
}

#[test]
fn nothing_goes_while_an_archive_was_not_hashed() {
    let other = ["linux_amd64", "darwin_arm64", "windows_amd64"];
    for flaw in [None, Some(Flaw::MissingPlatform("windows_amd64"))] {
        let registry =
            Registry::start().release("acme/gadget", "2.0.0", PLATFORMS).release("acme/widget", "1.4.0", &other);
        let registry = flaw.into_iter().fold(registry, Registry::flawed);
        let workspace = committed(&registry);
        let windows = registry.package("acme/widget", "1.4.0", "windows_amd64").zh();
        edit(&workspace, LOCK, |text| planted(&planted(text, FAKE), &windows));
        workspace.tflock(&registry, ["fmt"]).ended_with(0);
        if flaw.is_some() {
            let run = refused(&workspace, &registry, &[], 4);
            assert!(run.stdout.contains("1 of the 3 archives") && run.stdout.contains("windows_amd64"), "{run}");
        } else {
            // The platforms that are locked were hashed before; the archive of the third one is looked at too.
            workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
            registry.forget_requests();
            drop_from(&workspace, &registry, &[]).ended_with(0);
            assert_eq!(registry.downloads("acme/widget"), 1);
            assert!(!workspace.lock_file().contains(FAKE));
        }
    }
    let registry = honest();
    let workspace = committed(&registry);
    edit(&workspace, LOCK, |text| planted(text, FAKE));
    let registry = registry.answers(Endpoint::Zip, Answer::status(404));
    refused(&workspace, &registry, &[], 2);
    workspace.tflock(&registry, ["lock", "--drop-unattested", "--no-download"]).ended_with(2);
    workspace.tflock(&registry, ["lock", "--drop-unattested", "--offline"]).ended_with(4);
    assert!(workspace.lock_file().contains(FAKE));
}

/// What another machine computed, or a registry reports, takes nothing out.
#[test]
fn what_others_say_of_archives_does_not_count() {
    let registry = honest().with_packages();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    edit(&workspace, LOCK, |text| planted(text, FAKE));
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let export = workspace.tflock(None, ["cache", "export", "-"]).ended_with(0).stdout;
    let other = committed(&registry);
    other.tflock_reading(&export, ["cache", "import", "-"]).ended_with(0);
    edit(&other, LOCK, |text| planted(text, FAKE));
    for tool in ["terraform", "tofu"] {
        other.write(LOCK, &planted(&sound, FAKE));
        registry.forget_requests();
        drop_from(&other, &registry, &["--no-cache", "--tool", tool]).ended_with(0);
        assert_eq!(registry.downloads("acme/widget"), 2, "{tool}");
        assert!(!other.lock_file().contains(FAKE));
    }
    other.write(LOCK, &planted(&sound, FAKE));
    registry.forget_requests();
    drop_from(&other, &registry, &[]).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 2);
}

#[test]
fn nothing_goes_from_another_release() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    registry.republish("acme/widget", "1.4.0");
    workspace.write(LOCK, &planted(&sound, FAKE));
    let run = refused(&workspace, &registry, &[], 3);
    assert!(rules(&run, "deny").contains("republished"), "{run}");
    // Nor from an entry of which only contents are recorded, and none is of the release; else that one stays.
    let registry = honest();
    let [linux, darwin] = PLATFORMS else { unreachable!() };
    let [linux, darwin] = [linux, darwin].map(|it| registry.package("acme/widget", "1.4.0", it).h1);
    let head = "  version     = \"1.4.0\"\n  constraints = \"~> 1.4\"\n";
    let (others, _) =
        locked(&registry).lock_file().split_once("acme/widget").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let others = others.rsplit_once("\nprovider").unwrap().0.to_owned();
    let workspace = committed(&registry);
    workspace.write(LOCK, &(others.clone() + &block(&registry, "acme/widget", head, &[FAKE.to_owned()])));
    refused(&workspace, &registry, &[], 3);
    workspace.write(LOCK, &(others + &block(&registry, "acme/widget", head, &[FAKE.to_owned(), linux.clone()])));
    drop_from(&workspace, &registry, &[]).ended_with(0);
    let text = workspace.lock_file();
    assert!(text.contains(&linux) && text.contains(&darwin) && !text.contains(FAKE), "{text}");
}

#[test]
fn a_mirror_does_not_show_all_archives() {
    let registry = honest();
    let workspace = committed(&registry);
    workspace.tflock(&registry, ["mirror", "../mirror"]).ended_with(0);
    let place = format!("../mirror/{}/acme/widget", registry.host());
    for name in ["SHA256SUMS", "SHA256SUMS.sig"] {
        for entry in std::fs::read_dir(workspace.path(&place)).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().ends_with(name) {
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    edit(&workspace, LOCK, |text| planted(text, FAKE));
    let run = refused(&workspace, &registry, &["--fs-mirror", "../mirror"], 2);
    assert!(run.stdout.contains("does not show which archives"), "{run}");
}

/// Archives with names of their own may be more than the checksums show.
#[test]
fn archives_without_usual_names_are_not_known_to_be_all() {
    let line = format!("{}  custom_linux.zip", "b".repeat(64));
    let registry = Registry::start()
        .release("acme/gadget", "2.0.0", PLATFORMS)
        .release("acme/widget", "1.4.0", PLATFORMS)
        .sums_line(&line);
    let workspace = committed(&registry);
    let zh = format!("zh:{}", "b".repeat(64));
    edit(&workspace, LOCK, |text| planted(&planted(text, &zh), FAKE));
    let run = refused(&workspace, &registry, &[], 4);
    assert!(run.stdout.contains("custom_linux.zip"), "{run}");
}

#[test]
fn what_was_not_published_again_is_not_accepted() {
    let registry = honest();
    let workspace = committed(&registry);
    let sound = workspace.lock_file();
    let addr = format!("{}/acme/widget", registry.host());
    let accept = |version: &str| {
        let release = format!("{addr}@{version}");
        let args = ["lock", "--accept-republished", &release, "--reason", "x", "--format", "json"];
        workspace.tflock(&registry, args)
    };
    // An altered file is none.
    workspace.write(LOCK, &swapped(&registry, &sound));
    let run = accept("1.4.0").ended_with(3);
    assert!(run.stdout.contains("was not published again, so there is nothing to accept"), "{run}");
    command_of_one(&run, "lock-file-altered");
    // Nor is one that is as it was, or has a hash too many; nor another version.
    for text in [sound.clone(), planted(&sound, FAKE)] {
        workspace.write(LOCK, &text);
        let run = accept("1.4.0").ended_with(2);
        assert!(run.touched().is_empty() && run.stdout.contains("was not published again"), "{run}");
    }
    workspace.write(LOCK, &sound);
    let run = accept("1.3.0").ended_with(2);
    assert!(run.touched().is_empty() && run.stdout.contains("is not locked at 1.3.0"), "{run}");
    // Once it was accepted, the same command has nothing to do.
    registry.republish("acme/widget", "1.4.0");
    accept("1.4.0").ended_with(0);
    let run = accept("1.4.0").ended_with(0);
    assert!(run.touched().is_empty(), "{run}");
    assert_eq!(hashes(&registry, "acme/widget", "1.4.0").len(), 4);
}

//! `merge --resolve` where git has merged a part of an entry by itself: both sides of the markers name the new version.

use super::{FILE, TRUST, commit, lock, merge, workspace};
use crate::support::workspace::Workspace;

const STYLES: [&str; 3] = ["merge", "diff3", "zdiff3"];

/// One branch upgrades, the other adds a platform; the result, in each direction.
fn upgrade_and_platform() -> [String; 3] {
    let manifest = "zh:0manifest";
    let state = |version: &str, constraints: &str, hashes: &[&str]| {
        let other = ("ftp", "1.0.0", "~> 1.0", &["h1:f", "zh:f"][..]);
        lock(&[("dns", version, constraints, hashes), other])
    };
    let base = state("1.0.0", "~> 1.0", &["h1:old-linux", manifest, "zh:old-darwin", "zh:old-linux"]);
    let upgraded = state("2.0.0", "~> 2.0", &["h1:new-linux", manifest, "zh:new-darwin", "zh:new-linux"]);
    let platform =
        state("1.0.0", "~> 1.0", &["h1:old-darwin", "h1:old-linux", manifest, "zh:old-darwin", "zh:old-linux"]);
    [base, upgraded, platform]
}

/// A work tree in which git left the conflict of two branches.
fn conflict(style: &str, ours: &str, theirs: &str) -> Workspace {
    let workspace = workspace(&[]);
    workspace.git(["config", "merge.conflictStyle", style]);
    let [base, ..] = upgrade_and_platform();
    merge(&workspace, &[(FILE, [&base, ours, theirs])]).ended_with(1);
    assert!(workspace.lock_file().contains("\n<<<<<<< "), "{style}");
    workspace
}

#[test]
fn an_upgrade_and_a_platform_are_merged_from_the_stages_of_the_index() {
    let [_, upgraded, platform] = upgrade_and_platform();
    for style in STYLES {
        for (ours, theirs) in [(&upgraded, &platform), (&platform, &upgraded)] {
            let workspace = conflict(style, ours, theirs);
            let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(0);
            assert_eq!(workspace.lock_file(), upgraded, "{style}");
            assert!(!run.stderr.contains("which the constraints of"), "{run}");
        }
    }
}

#[test]
fn without_stages_no_hash_goes_to_another_version() {
    let [_, upgraded, platform] = upgrade_and_platform();
    for style in STYLES {
        for (ours, theirs) in [(&upgraded, &platform), (&platform, &upgraded)] {
            let workspace = conflict(style, ours, theirs);
            commit(&workspace, "with markers");
            let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(1);
            assert!(run.stderr.contains("its markers do not show which hash belongs to which version"), "{run}");
            let step = "then keep the side that it allows between the markers";
            assert!(run.stderr.contains(step) && !run.stderr.contains("git checkout"), "{run}");
            let text = workspace.lock_file();
            assert_eq!((text.matches("<<<<<<<").count(), text.matches("acme/ftp").count()), (1, 1), "{style}\n{text}");
            let again = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(1);
            assert!(again.touched().is_empty(), "{again}");
        }
    }
}

#[test]
fn a_rebase_has_stages_too() {
    let [base, upgraded, platform] = upgrade_and_platform();
    let workspace = workspace(&[(FILE, &base)]);
    commit(&workspace, "base");
    workspace.git(["checkout", "--quiet", "-b", "topic"]);
    workspace.write(FILE, &platform);
    commit(&workspace, "platform");
    workspace.git(["checkout", "--quiet", "main"]);
    workspace.write(FILE, &upgraded);
    commit(&workspace, "upgrade");
    workspace.git(["checkout", "--quiet", "topic"]);
    workspace.git_may_fail(["rebase", "main"]).ended_with(1);
    workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(0);
    assert_eq!(workspace.lock_file(), upgraded);
}

#[test]
fn what_was_decided_by_hand_stays_decided() {
    let pin = |name: &str, signer: &str| {
        format!("provider \"registry.example.com/acme/{name}\" {{\n  signers = [\"{signer}\"]\n}}\n")
    };
    let pins = |signer: &str| pin("dns", signer) + "\n" + &pin("ftp", signer);
    let state = |version: &str| {
        let (dns, ftp) = (format!("zh:dns-{version}"), format!("zh:ftp-{version}"));
        lock(&[("dns", version, version, &[&dns]), ("ftp", version, version, &[&ftp])])
    };
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let states = ["1.0.0", "1.1.0", "1.2.0"].map(state);
    let files = [(FILE, states.each_ref().map(String::as_str)), (TRUST, [&pins("A")[..], &pins("B"), &pins("C")])];
    merge(&workspace, &files).ended_with(1);
    for (file, ours) in [(FILE, &states[1]), (TRUST, &pins("B"))] {
        // The first conflict is decided for ours, the second one is left.
        let text = workspace.read(file);
        let (first, rest) = text.split_once(">>>>>>> THEIRS\n").unwrap();
        let (head, sides) = first.split_once("<<<<<<< OURS\n").unwrap();
        let (decided, _) = sides.split_once("=======\n").unwrap();
        workspace.write(file, &format!("{head}{decided}{rest}"));
        workspace.tflock(None, ["merge", "--resolve", file]).ended_with(1);
        let text = workspace.read(file);
        assert_eq!((text.matches("<<<<<<<").count(), text.find(decided)), (1, ours.find(decided)), "{text}");
    }
}

#[test]
fn a_conflict_names_the_side_that_the_configuration_allows() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let state = |version: &str| lock(&[("dns", version, version, &[&format!("zh:{version}")])]);
    let [base, ours, theirs] = ["1.0.0", "1.1.0", "1.2.0"].map(state);
    let run = merge(&workspace, &[(FILE, [&base, &ours, &theirs])]).ended_with(1);
    let open = "resolve the configuration first, then take the side that it allows: `git checkout --ours -- \
                .terraform.lock.hcl`";
    assert!(run.stderr.contains(open), "{run}");
    for (version, side) in [("1.1.0", "ours"), ("1.2.0", "theirs")] {
        let source = "registry.example.com/acme/dns";
        let dns = format!("dns = {{\n      source = \"{source}\"\n      version = \"{version}\"\n    }}");
        workspace.write("main.tf", &format!("terraform {{\n  required_providers {{\n    {dns}\n  }}\n}}\n"));
        let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(1);
        let step =
            format!("allows the version of {side}: `git checkout --{side} -- .terraform.lock.hcl`, then `tflock lock`");
        assert!(run.stderr.contains(&step), "{run}");
    }
    workspace.git(["add", FILE]);
    let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(1);
    let step = "the configuration allows the version of theirs: keep what stands for theirs between the markers, and \
                delete ours and the markers, then run `tflock lock`";
    assert!(run.stderr.contains(step), "{run}");
    workspace.git(["reset", "--quiet", "--hard"]);
    workspace.git_may_fail(["merge", "--no-edit", "topic"]).ended_with(1);
    workspace.git(["checkout", "--theirs", "--", FILE]);
    assert_eq!(workspace.lock_file(), theirs);
}

#[test]
fn hashes_of_two_releases_are_decided_by_what_is_served() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let state = |hashes: &[&str]| lock(&[("dns", "1.0.0", "", hashes)]);
    let base = state(&["zh:a", "zh:b", "zh:manifest"]);
    let (ours, theirs) = (state(&["zh:a", "zh:b", "zh:c", "zh:manifest"]), state(&["zh:manifest", "zh:x", "zh:y"]));
    let run = merge(&workspace, &[(FILE, [&base, &ours, &theirs])]).ended_with(1);
    assert!(run.stderr.contains("each with zh: hashes of its own, as of two releases"), "{run}");
    let step = "take one side: `git checkout --ours -- .terraform.lock.hcl` or `git checkout --theirs -- \
                .terraform.lock.hcl`, and run `tflock verify`";
    assert!(run.stderr.contains(step), "{run}");
}

#[test]
fn what_cannot_be_read_decides_nothing() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let block = |reason: &str| format!("denied_signer \"AA\" {{\n  reason = \"{reason}\"\n}}\n");
    let pin = "provider \"registry.example.com/acme/dns\" {\n  signers = [\"A\"]\n}\n\n";
    let [base, theirs] = ["old", "new"].map(|reason| format!("{pin}{}", block(reason)));
    merge(&workspace, &[(TRUST, [&base, pin, &theirs])]).ended_with(1);
    workspace.write(TRUST, &workspace.read(TRUST).replace("\"new\"", "\"new"));
    let run = workspace.tflock(None, ["merge", "--resolve", TRUST]).ended_with(1);
    assert!(run.stderr.contains("what stood between the markers cannot be read"), "{run}");
    assert!(workspace.read(TRUST).contains("<<<<<<< OURS") && workspace.read(TRUST).contains("\"new\""));
}

#[test]
fn commands_can_be_pasted_whatever_the_file_is_called() {
    let not_literal = "provider \"registry.example.com/acme/dns\" {\n  version = \"1.0.${0}\"\n}\n";
    let state = |version: &str| lock(&[("dns", version, "", &["zh:a"])]);
    let workspace = workspace(&[]);
    let file = format!("a b/{FILE}");
    merge(&workspace, &[(&file, [&state("1.0.0"), &state("1.1.0"), not_literal])]).ended_with(1);
    let run = workspace.tflock(None, ["merge", "--resolve", &file]).ended_with(3);
    assert!(run.stderr.contains("`git checkout --ours -- 'a b/.terraform.lock.hcl'`"), "{run}");
    workspace.git(["add", "--all"]);
    let run = workspace.tflock(None, ["merge", "--resolve", &file]).ended_with(3);
    assert!(run.stderr.contains("to take the other side, keep what stands for ours"), "{run}");
    let run = workspace.tflock(None, ["merge", "--resolve", "a b"]).ended_with(2);
    assert!(run.stderr.contains("name the file in it"), "{run}");
}

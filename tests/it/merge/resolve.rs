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
            assert!(run.stderr.contains("the markers do not show which hashes belong to 2.0.0"), "{run}");
            let step = "keep the lines of one side, delete those of the other and the markers, then run `tflock lock`";
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

/// Configuration that requires providers, by their constraints.
fn configuration(required: &[(&str, &str)]) -> String {
    let block = |(kind, version): &(&str, &str)| {
        let source = format!("registry.example.com/acme/{kind}");
        format!("    {kind} = {{\n      source  = \"{source}\"\n      version = \"{version}\"\n    }}\n")
    };
    let blocks: String = required.iter().map(block).collect();
    format!("terraform {{\n  required_providers {{\n{blocks}  }}\n}}\n")
}

/// Theirs moves aws to another major version; ours has moved aws within its major version, and two others. The driver or
/// git left the conflict; the configuration is in conflict, too.
fn two_directions(directory: &str, with_driver: bool) -> (Workspace, [String; 3]) {
    let workspace = workspace(&[]);
    if with_driver {
        workspace.tflock(None, ["git", "install"]).ended_with(0);
    }
    let state = |aws: &str, constraints: &str, others: [&str; 2]| {
        let hashes = [aws, others[0], others[1]].map(|version| [format!("h1:{version}"), format!("zh:{version}")]);
        let hashes = hashes.each_ref().map(|pair| [&pair[0][..], &pair[1][..]]);
        lock(&[
            ("aws", aws, constraints, &hashes[0]),
            ("kubernetes", others[0], ">= 2.0.0", &hashes[1]),
            ("random", others[1], ">= 3.0.0", &hashes[2]),
        ])
    };
    let locks = [
        state("5.31.0", "~> 5.30", ["2.24.0", "3.5.1"]),
        state("5.99.1", "~> 5.99.0", ["3.0.0", "3.7.2"]),
        state("6.2.0", "~> 6.0", ["2.24.0", "3.5.1"]),
    ];
    let others = [("kubernetes", ">= 2.0.0"), ("random", ">= 3.0.0")];
    let versions = ["~> 5.30", "~> 5.99.0", "~> 6.0"].map(|aws| configuration(&[("aws", aws), others[0], others[1]]));
    let [lock_file, versions_file] = [FILE, "versions.tf"].map(|name| format!("{directory}{name}"));
    let files = [
        (&lock_file[..], locks.each_ref().map(String::as_str)),
        (&versions_file[..], versions.each_ref().map(String::as_str)),
    ];
    let run = merge(&workspace, &files).ended_with(1);
    if with_driver {
        let step = "note: resolve the configuration first, then run `tflock merge --resolve`";
        assert!(run.stderr.contains(step) && !run.stderr.contains("git checkout"), "{run}");
        assert_eq!(workspace.read(&lock_file).matches("<<<<<<<").count(), 1);
    }
    (workspace, versions)
}

#[test]
fn the_merged_configuration_decides_and_no_other_provider_changes() {
    for with_driver in [true, false] {
        for (side, version, other) in [(1, "5.99.1", "6.2.0 from theirs"), (2, "6.2.0", "5.99.1 from ours")] {
            let (workspace, versions) = two_directions("", with_driver);
            let before = workspace.lock_file();
            let unresolved = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(2);
            assert!(unresolved.stderr.contains("versions.tf") && workspace.lock_file() == before, "{unresolved}");
            assert!(unresolved.stderr.contains("run `tflock merge --resolve` again"), "{unresolved}");
            workspace.write("versions.tf", &versions[side]);
            let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(0);
            let from = if side == 1 { "ours" } else { "theirs" };
            let taken = format!("acme/aws: took {version} from {from}: the configuration does not allow {other}");
            assert!(run.stderr.contains(&taken), "{run}");
            let text = workspace.lock_file();
            let constraints = if side == 1 { "~> 5.99.0" } else { "~> 6.0" };
            let hashes = [version, "3.0.0", "3.7.2"].map(|version| [format!("h1:{version}"), format!("zh:{version}")]);
            let hashes = hashes.each_ref().map(|pair| [&pair[0][..], &pair[1][..]]);
            let wanted = lock(&[
                ("aws", version, constraints, &hashes[0]),
                ("kubernetes", "3.0.0", ">= 2.0.0", &hashes[1]),
                ("random", "3.7.2", ">= 3.0.0", &hashes[2]),
            ]);
            assert_eq!(text, wanted);
        }
    }
}

#[test]
fn without_a_file_all_of_the_repository_is_resolved() {
    let (workspace, versions) = two_directions("live/a/", false);
    workspace.write("live/a/versions.tf", &versions[2]);
    let other = lock(&[("dns", "1.0.0", "", &["zh:a"])]);
    let [_, body] = other.split("\n\n").collect::<Vec<_>>()[..] else { unreachable!() };
    workspace.write("live/b/.terraform.lock.hcl", &format!("<<<<<<< a\n{body}=======\n{body}>>>>>>> b\n"));
    let run = workspace.tflock_in("live/a", None, ["merge", "--resolve"]).ended_with(0);
    for file in [".terraform.lock.hcl", "../b/.terraform.lock.hcl"] {
        assert!(run.stderr.contains(&format!("note: {file} is resolved: `git add {file}`")), "{run}");
    }
    assert!(!workspace.read("live/a/.terraform.lock.hcl").contains("<<<<<<<"));
    let run = workspace.tflock_in("live", None, ["merge", "--resolve"]).ended_with(0);
    assert!(run.touched().is_empty() && run.stderr.contains("no lock file of this repository has conflict markers"));
    let outside = Workspace::with_files(&[]);
    let run = outside.tflock(None, ["merge", "--resolve"]).ended_with(2);
    assert!(run.stderr.contains("name the FILE to resolve"), "{run}");
}

#[test]
fn diff_of_a_file_with_markers_names_what_resolves_it() {
    let (workspace, _) = two_directions("live/a/", false);
    let run = workspace.tflock_in("live/a", None, ["diff"]).ended_with(2);
    assert!(run.stderr.contains("tflock merge --resolve .terraform.lock.hcl`"), "{run}");
}

#[test]
fn the_configuration_is_resolved_before_the_lock_file() {
    let main = |version: &str| {
        let entry =
            format!("{{\n      source  = \"registry.example.com/acme/dns\"\n      version = \"{version}\"\n    }}");
        format!("terraform {{\n  required_providers {{\n    dns = {entry}\n  }}\n}}\n")
    };
    let versions = ["1.0.0", "1.1.0", "1.2.0"];
    let [base, ours, theirs] = versions.map(|version| (lock(&[("dns", version, version, &["zh:a"])]), main(version)));
    let workspace = workspace(&[]);
    let files = [(FILE, [&*base.0, &ours.0, &theirs.0]), ("main.tf", [&base.1, &ours.1, &theirs.1])];
    merge(&workspace, &files).ended_with(1);
    for command in ["verify", "lock", "list"] {
        let run = workspace.tflock(None, [command]).ended_with(2);
        let printed = run.stdout.clone() + &run.stderr;
        assert!(printed.contains("Correct the configuration first") && !printed.contains("tflock merge"), "{run}");
    }
    workspace.write("main.tf", &ours.1);
    let run = workspace.tflock(None, ["lock"]).ended_with(2);
    assert!(run.stderr.contains("`tflock merge --resolve .terraform.lock.hcl`"), "{run}");
}

#[test]
fn platforms_that_the_other_side_had_are_named() {
    let workspace = workspace(&[]);
    let state = |version: &str, hashes: &[&str]| lock(&[("dns", version, ">= 1.0.0", hashes)]);
    let base = state("1.0.0", &["h1:linux", "zh:a"]);
    let ours = state("1.0.0", &["h1:linux", "h1:windows", "zh:a"]);
    let theirs = state("1.1.0", &["h1:new", "zh:b"]);
    merge(&workspace, &[("live/.terraform.lock.hcl", [&base, &ours, &theirs])]).ended_with(1);
    let run = workspace.tflock(None, ["merge", "--resolve"]).ended_with(0);
    let lost = "1.1.0 lacks platforms, which ours has for 1.0.0: `tflock -C live lock` adds the h1 hashes";
    assert!(run.stderr.contains(lost) && run.stderr.contains("took 1.1.0 from theirs"), "{run}");
}

#[test]
fn what_git_must_not_merge_is_merged_from_the_index() {
    let workspace = workspace(&[(".gitattributes", "*.lock.hcl binary\n")]);
    let state = |dns: &str, ftp: &str| {
        let zh = [dns, ftp].map(|version| format!("zh:{version}"));
        lock(&[("dns", dns, "~> 1.0", &[&zh[0]]), ("ftp", ftp, "~> 1.0", &[&zh[1]])])
    };
    merge(&workspace, &[(FILE, [&state("1.0.0", "1.0.0"), &state("1.1.0", "1.0.0"), &state("1.0.0", "1.2.0")])])
        .ended_with(1);
    workspace.tflock(None, ["merge", "--resolve"]).ended_with(0);
    assert_eq!(workspace.lock_file(), state("1.1.0", "1.2.0"));
}

#[test]
fn without_stages_a_conflict_names_the_side_that_the_configuration_allows() {
    let workspace = workspace(&[]);
    let state = |version: &str| lock(&[("dns", version, version, &[&format!("zh:{version}")])]);
    let [base, ours, theirs] = ["1.0.0", "1.1.0", "1.2.0"].map(state);
    merge(&workspace, &[(FILE, [&base, &ours, &theirs])]).ended_with(1);
    workspace.write("main.tf", &configuration(&[("dns", "1.2.0")]));
    workspace.git(["add", FILE]);
    let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(1);
    let step = "the configuration allows the version of theirs: keep the lines of theirs, delete those of ours and the \
                markers, then run `tflock lock`";
    assert!(run.stderr.contains(step), "{run}");
    // What cannot be read decides nothing.
    workspace.git(["reset", "--quiet", "--hard"]);
    workspace.git_may_fail(["merge", "--no-edit", "topic"]).ended_with(1);
    workspace.write("main.tf", "terraform {");
    let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(1);
    assert!(run.stderr.contains("the configuration cannot be read"), "{run}");
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
    let step =
        "keep the lines of one side, delete those of the other and the markers, then check it with `tflock verify`";
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
    assert!(run.stderr.contains("the text between the markers cannot be read"), "{run}");
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
    assert!(run.stderr.contains("`git checkout --ours -- \"a b/.terraform.lock.hcl\"`"), "{run}");
    workspace.git(["add", "--all"]);
    let run = workspace.tflock(None, ["merge", "--resolve", &file]).ended_with(3);
    assert!(run.stderr.contains("to take the other side, keep the lines of ours"), "{run}");
    let run = workspace.tflock(None, ["merge", "--resolve", "a b"]).ended_with(2);
    assert!(run.stderr.contains("name the file in it"), "{run}");
}

/// Without a conflict, the number of lock files does not decide how often git is started.
#[cfg(unix)]
#[test]
fn lock_files_without_a_conflict_cost_no_process_each() {
    use std::os::unix::fs::PermissionsExt as _;

    let [base, ..] = upgrade_and_platform();
    let counted = |roots: usize| {
        let workspace = workspace(&[]);
        for at in 0..roots {
            workspace.write(&format!("root{at}/{FILE}"), &base);
        }
        commit(&workspace, "roots");
        let git =
            std::env::split_paths(&std::env::var_os("PATH").unwrap()).map(|it| it.join("git")).find(|it| it.is_file());
        let (wrapper, count) = (workspace.path("../bin/git"), workspace.path("../count"));
        std::fs::create_dir_all(wrapper.parent().unwrap()).unwrap();
        let script = format!("#!/bin/sh\necho \"$@\" >> {}\nexec {} \"$@\"\n", count.display(), git.unwrap().display());
        std::fs::write(&wrapper, script).unwrap();
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", wrapper.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let workspace = workspace.env("PATH", &path);
        workspace.tflock(None, ["merge", "--resolve"]).ended_with(0);
        let files: Vec<String> = (0..roots).map(|at| format!("root{at}/{FILE}")).collect();
        workspace
            .tflock(None, ["merge", "--resolve"].into_iter().chain(files.iter().map(String::as_str)))
            .ended_with(0);
        std::fs::read_to_string(count).unwrap().lines().count()
    };
    assert_eq!(counted(2), counted(30));
}

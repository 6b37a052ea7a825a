//! `merge`, `textconv` and `git`, run by a real git.

mod realworld;
mod repeated;
mod resolve;
mod worlds;

use std::fmt::Write;
use std::path::Path;

use crate::support::run::Run;
use crate::support::workspace::Workspace;

const FILE: &str = ".terraform.lock.hcl";
const TRUST: &str = ".tflock.trust.hcl";
const ATTRIBUTES: &str = ".gitattributes";

/// A lock file with these providers: type, version, constraints, hashes.
fn lock(entries: &[(&str, &str, &str, &[&str])]) -> String {
    let mut text =
        "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n"
            .to_owned();
    for (kind, version, constraints, hashes) in entries {
        let fields = format!("  version     = \"{version}\"\n  constraints = \"{constraints}\"");
        let hashes = hashes.iter().map(|hash| format!("    \"{hash}\",")).collect::<Vec<_>>().join("\n");
        let addr = format!("registry.example.com/acme/{kind}");
        write!(text, "\nprovider \"{addr}\" {{\n{fields}\n  hashes = [\n{hashes}\n  ]\n}}\n").unwrap();
    }
    text
}

/// A workspace in which git finds the program.
fn workspace(files: &[(&str, &str)]) -> Workspace {
    let program = Path::new(env!("CARGO_BIN_EXE_tflock")).parent().unwrap().display();
    let workspace = Workspace::with_files(files).env("PATH", &format!("{program}:/usr/bin:/bin"));
    workspace.git(["init", "--quiet"]);
    workspace
}

fn commit(workspace: &Workspace, message: &str) {
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", message]);
}

/// Merges two branches that change these files; the result of `git merge`.
fn merge(workspace: &Workspace, files: &[(&str, [&str; 3])]) -> Run {
    let state = |at: usize| files.iter().for_each(|(path, texts)| workspace.write(path, texts[at]));
    state(0);
    commit(workspace, "base");
    workspace.git(["checkout", "--quiet", "-b", "topic"]);
    state(2);
    commit(workspace, "theirs");
    workspace.git(["checkout", "--quiet", "main"]);
    state(1);
    commit(workspace, "ours");
    workspace.git_may_fail(["merge", "--no-edit", "topic"])
}

#[test]
fn git_merges_through_the_driver() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let base = lock(&[("dns", "1.0.0", "~> 1.0", &["zh:a"]), ("ftp", "1.0.0", "~> 1.0", &["zh:a"])]);
    let ours = lock(&[("dns", "1.1.0", "~> 1.0", &["zh:b"])]);
    let theirs = lock(&[("dns", "1.2.0", "~> 1.0", &["zh:c"]), ("ftp", "1.1.0", "~> 1.0", &["zh:d"])]);
    let trust = |label: &str, signer: &str| {
        format!("provider \"registry.example.com/acme/{label}\" {{\n  signers = [\"{signer}\"]\n}}\n")
    };
    let pins = trust("dns", "A") + "\n" + &trust("xml", "A");
    let run = merge(
        &workspace,
        &[
            (FILE, [&base, &ours, &theirs]),
            (&format!("a b/{FILE}"), [&base, &ours, &theirs]),
            (TRUST, [&trust("dns", "A"), &pins, &(trust("dns", "A") + "\n" + &trust("ftp", "B"))]),
        ],
    );
    let run = run.ended_with(0);
    assert!(
        run.stderr
            .contains("a b/.terraform.lock.hcl: registry.example.com/acme/ftp: removed by ours, changed by theirs"),
        "{run}"
    );
    let expected = lock(&[("dns", "1.2.0", "~> 1.0", &["zh:c"]), ("ftp", "1.1.0", "~> 1.0", &["zh:d"])]);
    assert_eq!(workspace.lock_file(), expected);
    assert_eq!(workspace.read("a b/.terraform.lock.hcl"), expected);
    assert_eq!(workspace.read(TRUST), trust("dns", "A") + "\n" + &trust("ftp", "B") + "\n" + &trust("xml", "A"));
}

#[test]
fn conflicts_stand_around_single_blocks() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let pin = |signer: &str| format!("provider \"registry.example.com/acme/dns\" {{\n  signers = [\"{signer}\"]\n}}\n");
    let base = lock(&[("dns", "1.0.0", "1.0.0", &["zh:a"]), ("ftp", "1.0.0", "~> 1.0", &["zh:a"])]);
    let ours = lock(&[("dns", "1.1.0", "1.1.0", &["zh:b"]), ("ftp", "1.0.0", "~> 1.0", &["h1:a", "zh:a"])]);
    let theirs = lock(&[("dns", "1.2.0", "1.2.0", &["zh:c"]), ("ftp", "1.0.0", "~> 1.0", &["h1:b", "zh:a"])]);
    let run =
        merge(&workspace, &[(FILE, [&base, &ours, &theirs]), (TRUST, [&pin("A"), &pin("B"), &pin("C")])]).ended_with(1);
    assert!(run.stdout.contains("CONFLICT (content): Merge conflict in .terraform.lock.hcl"), "{run}");
    insta::assert_snapshot!(format!("{}\n{}", workspace.lock_file(), workspace.read(TRUST)));
    let again = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(1);
    assert!(again.touched().is_empty() && again.stderr.contains("ours locks 1.1.0, theirs 1.2.0"), "{again}");
}

#[test]
fn criss_cross_merges_have_a_merged_ancestor() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let state = |dns: &str, ftp: &str| {
        workspace.write(FILE, &lock(&[("dns", dns, dns, &["zh:a"]), ("ftp", ftp, "~> 1.0", &["zh:a"])]));
    };
    let git = |line: &str| workspace.git(line.split(' '));
    state("1.0.0", "1.0.0");
    commit(&workspace, "base");
    git("branch topic");
    state("1.1.0", "1.0.0");
    commit(&workspace, "ours");
    git("checkout --quiet topic");
    state("1.2.0", "1.0.0");
    commit(&workspace, "theirs");
    git("branch topic-before");
    // Each takes the other, and decides in its own way.
    workspace.git_may_fail(["merge", "main"]).ended_with(1);
    state("1.3.0", "1.0.0");
    commit(&workspace, "topic with main");
    git("checkout --quiet main");
    workspace.git_may_fail(["merge", "topic-before"]).ended_with(1);
    state("1.3.0", "1.1.0");
    commit(&workspace, "main with topic");
    git("merge --no-edit topic");
    assert_eq!(
        workspace.lock_file(),
        lock(&[("dns", "1.3.0", "1.3.0", &["zh:a"]), ("ftp", "1.1.0", "~> 1.0", &["zh:a"])])
    );
}

#[test]
fn conflicts_that_git_left_are_resolved() {
    let base = lock(&[("dns", "1.0.0", "~> 1.0", &["zh:a", "zh:gone"]), ("ftp", "1.0.0", "~> 1.0", &["zh:a"])]);
    let ours = lock(&[("dns", "1.1.0", "~> 1.0", &["zh:b"]), ("ftp", "1.0.0", "~> 1.0", &["h1:a", "zh:a"])]);
    let theirs = lock(&[
        ("dns", "1.2.0", "~> 1.0", &["zh:c"]),
        ("ftp", "1.0.0", "~> 1.0", &["h1:b", "zh:a"]),
        ("web", "1.0.0", "~> 1.0", &["zh:w"]),
    ]);
    let expected = lock(&[
        ("dns", "1.2.0", "~> 1.0", &["zh:c"]),
        ("ftp", "1.0.0", "~> 1.0", &["h1:a", "h1:b", "zh:a"]),
        ("web", "1.0.0", "~> 1.0", &["zh:w"]),
    ]);
    for style in ["merge", "diff3", "zdiff3"] {
        let workspace = workspace(&[]);
        workspace.git(["config", "merge.conflictStyle", style]);
        merge(&workspace, &[(FILE, [&base, &ours, &theirs])]).ended_with(1);
        assert!(workspace.lock_file().contains("\n<<<<<<< "), "{style}");
        let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(0);
        assert_eq!(
            (workspace.lock_file(), run.stdout.as_str(), run.stderr.as_str()),
            (
                expected.clone(),
                "",
                "note: .terraform.lock.hcl: registry.example.com/acme/dns: took 1.2.0 from theirs: newer than 1.1.0 from \
                 ours\nnote: .terraform.lock.hcl is resolved: `git add .terraform.lock.hcl`\n"
            ),
            "{style}"
        );
        let run = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(0);
        assert!(run.touched().is_empty() && run.stderr.contains("no conflict markers"), "{run}");
    }
}

#[test]
fn a_side_with_a_provider_twice_comes_from_git() {
    let twice = lock(&[("dns", "1.0.0", "~> 1.0", &["zh:a"]), ("dns", "1.0.0", "~> 1.0", &["zh:a"])]);
    let markers = format!("{twice}<<<<<<< HEAD\n=======\n# theirs\n>>>>>>> topic\n");
    let workspace = workspace(&[(FILE, &markers)]);
    let refused = workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(2);
    assert!(refused.touched().is_empty() && refused.stderr.contains("has an entry already"), "{refused}");
    let state = |version| lock(&[("dns", version, "~> 1.0", &["zh:a"])]);
    std::fs::remove_file(workspace.path(FILE)).unwrap();
    merge(&workspace, &[(FILE, [&state("1.0.0"), &state("1.1.0"), &state("1.2.0")])]).ended_with(1);
    workspace.write(FILE, &markers);
    workspace.tflock(None, ["merge", "--resolve", FILE]).ended_with(0);
    assert_eq!(workspace.lock_file(), state("1.2.0"));
}

#[test]
fn markers_that_make_no_sense_change_nothing() {
    let workspace = workspace(&[(FILE, "x\n<<<<<<< a\n>>>>>>> b\n"), ("other", "<<<<<<< a\n=======\n")]);
    let run = workspace.tflock(None, ["merge", "--resolve", FILE, "other", "missing"]).ended_with(2);
    assert!(run.touched().is_empty(), "{run}");
    insta::assert_snapshot!(run.filtered(&run.stderr));
}

#[test]
fn what_cannot_be_read_is_one_conflict() {
    let workspace = workspace(&[("base", ""), ("ours", "ours {{{"), ("theirs", &lock(&[]))]);
    let run = workspace.tflock(None, ["merge", "base", "ours", "theirs", "8", FILE]).ended_with(1);
    assert_eq!(run.touched(), ["ours"]);
    let expected = format!("<<<<<<<< OURS\nours {{{{{{\n========\n{}>>>>>>>> THEIRS\n", lock(&[]));
    assert_eq!(workspace.read("ours"), expected);
    workspace.tflock(None, ["merge", "base", "missing", "theirs"]).ended_with(2);
    workspace.tflock(None, ["merge", "base", "ours"]).ended_with(2);
    workspace.tflock(None, ["merge", "--resolve", "ours", "--", "base"]).ended_with(2);
}

#[test]
fn git_diff_is_short_and_hides_nothing() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    workspace
        .write(FILE, &lock(&[("dns", "1.0.0", "~> 1.0", &["h1:a", "zh:a"]), ("ftp", "1.0.0", "~> 1.0", &["zh:a"])]));
    commit(&workspace, "old");
    workspace
        .write(FILE, &lock(&[("dns", "1.1.0", "~> 1.0", &["h1:b", "zh:b"]), ("ftp", "1.0.0", "~> 1.0", &["zh:b"])]));
    insta::assert_snapshot!(workspace.git(["diff"]).stdout);
    workspace.write(FILE, "not a lock file {{{\n");
    let shown = workspace.tflock(None, ["textconv", FILE]).ended_with(0).stdout;
    assert!(shown.ends_with(" 17f3e4327e105ae32f8b1545\nnot a lock file {{{\n"), "{shown}");
    assert_eq!(shown.lines().count(), 2, "{shown}");
    workspace.tflock(None, ["textconv", "missing"]).ended_with(2);
}

#[test]
fn install_and_uninstall() {
    for text in [None, Some("* text=auto\r\n*.tf eol=lf\r\n"), Some("# no end")] {
        let workspace = workspace(&[]);
        if let Some(text) = text {
            workspace.write(ATTRIBUTES, text);
        }
        workspace.write("deep/er/x", "");
        let config = workspace.read(".git/config");
        workspace.tflock(None, ["git", "status"]).ended_with(1);
        workspace.tflock(None, ["-C", "deep/er", "git", "install"]).ended_with(0);
        let installed = (workspace.read(ATTRIBUTES), workspace.read(".git/config"));
        assert!(installed.0.starts_with(text.unwrap_or_default()));
        let again = workspace.tflock(None, ["git", "install"]).ended_with(0);
        assert!(again.touched().is_empty() && again.stderr.is_empty(), "{again}");
        assert_eq!((workspace.read(ATTRIBUTES), workspace.read(".git/config")), installed);
        workspace.tflock(None, ["git", "status"]).ended_with(0);
        workspace.tflock(None, ["git", "uninstall"]).ended_with(0);
        assert_eq!(workspace.has(ATTRIBUTES).then(|| workspace.read(ATTRIBUTES)).as_deref(), text);
        assert_eq!(workspace.read(".git/config"), config);
        assert!(workspace.tflock(None, ["git", "uninstall"]).ended_with(0).touched().is_empty());
    }
}

/// The attributes file is for every clone, the configuration of Git for one.
#[test]
fn what_is_committed_for_every_clone_is_not_uninstalled() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "attributes"]);
    let run = workspace.tflock(None, ["git", "uninstall"]).ended_with(0);
    assert!(run.stdout.contains("are committed and stay"), "{run}");
    assert_eq!(workspace.git(["status", "--porcelain"]).stdout, "");
    assert!(!workspace.read(".git/config").contains("tflock"));
}

/// An IDE may have another PATH than the shell in which `git install` ran.
#[cfg(unix)]
#[test]
fn without_tflock_on_path_git_compares_and_merges_plain_text() {
    let workspace = Workspace::with_files(&[(FILE, "a\nb\nc\n")]).env("PATH", "/usr/bin:/bin");
    workspace.git(["init", "--quiet"]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "all"]);
    workspace.git(["switch", "--quiet", "-c", "other"]);
    workspace.write(FILE, "a\nother\nc\n");
    let shown = workspace.git(["diff"]).stdout;
    assert!(shown.contains("-b\n") && shown.contains("+other\n"), "{shown}");
    workspace.git(["commit", "--quiet", "--all", "--message", "other"]);
    workspace.git(["switch", "--quiet", "-"]);
    workspace.write(FILE, "a\nours\nc\n");
    workspace.git(["commit", "--quiet", "--all", "--message", "ours"]);
    workspace.git_may_fail(["merge", "other"]);
    let merged = workspace.read(FILE);
    assert!(merged.contains("<<<<<<<") && merged.contains("ours\n") && merged.contains("other\n"), "{merged}");
}

#[test]
fn status_tells_what_is_missing() {
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let attributes = workspace.read(ATTRIBUTES);
    workspace.git(["config", "merge.tflock.driver", "other %A"]);
    workspace.git(["config", "--unset", "diff.tflock.textconv"]);
    // The line of the module lock file, as an earlier version left it out.
    let without: Vec<&str> = attributes.lines().filter(|line| !line.contains("modules")).collect();
    workspace.write(ATTRIBUTES, &format!("{}\n*.hcl merge=union -diff\n", without.join("\n")));
    insta::assert_snapshot!(workspace.tflock(None, ["git", "status"]));
    let run = workspace.tflock(None, ["git", "install"]).ended_with(0);
    assert!(run.stderr.contains("another line decides: differs  merge of .terraform.lock.hcl = union"), "{run}");
}

#[test]
fn without_a_work_tree_or_git() {
    let outside = Workspace::with_files(&[]);
    let run = outside.tflock(None, ["git", "install"]).ended_with(2);
    assert!(run.touched().is_empty() && run.stderr.contains("is not in a git working tree"), "{run}");
    let without = Workspace::with_files(&[(".git/HEAD", "")]).env("PATH", "/nowhere");
    let run = without.tflock(None, ["git", "status"]).ended_with(2);
    assert!(run.stderr.contains("cannot start git"), "{run}");
}

/// Control characters in all places of the files of a branch, by way of the driver, the text that git compares, and `--resolve`.
/// The names of files are what git itself prints.
#[test]
#[ignore = "long"]
fn a_hostile_branch_writes_nothing_raw_to_the_terminal() {
    const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}2J";
    let entry = lock(&[("dns", "1.0.0", "~> 1.0", &["zh:a"])]);
    let trust = "provider \"registry.example.com/acme/dns\" {\n  signers = [\"A\"]\n}\n".to_owned();
    let modules = "module \"git::https://git.example.com/net.git\" {\n  calls  = [\"net\"]\n  hash   = \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"\n}\n";
    for (file, text) in [(FILE, entry), (TRUST, trust), (".tflock.modules.hcl", modules.to_owned())] {
        let ours = text.replace("1.0.0", "1.1.0").replace("\"A\"", "\"B\"").replace("net\"]", "web\"]");
        let strings = text.match_indices('"').map(|(at, _)| at + 1).step_by(2);
        for at in strings.chain([0]) {
            let mut theirs = text.clone();
            theirs.insert_str(at, EVIL);
            let workspace = workspace(&[]);
            workspace.tflock(None, ["git", "install"]).ended_with(0);
            let mut runs = vec![merge(&workspace, &[(file, [&text, &ours, &theirs])])];
            runs.push(workspace.tflock(None, ["merge", "--resolve"]));
            // Other files git shows as they are.
            runs.extend((file == FILE).then(|| workspace.git(["diff", "main", "topic"])));
            runs.push(workspace.tflock(None, ["diff", "main", "topic"]));
            workspace.write(file, &theirs);
            runs.push(workspace.tflock(None, ["fmt", "--check"]));
            for run in runs {
                let raw = |c: char| c.is_control() && c != '\n';
                assert!(![&run.stdout, &run.stderr].iter().any(|text| text.contains(raw)), "{at} of {file}: {run}");
            }
        }
    }
}

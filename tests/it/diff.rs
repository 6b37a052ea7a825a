//! `tflock diff`: files, revisions, the work tree, and reports.

use crate::support::run::Run;
use crate::support::workspace::{TESTDATA, Workspace};

fn text(case: &str, side: &str) -> String {
    std::fs::read_to_string(format!("{TESTDATA}/diffs/{case}/{side}.hcl")).unwrap()
}

const LOCK: &str = ".terraform.lock.hcl";

/// A repository: `main` has the old file; the branch `work` has the new one committed.
fn repository(case: &str) -> Workspace {
    let workspace = Workspace::with_files(&[(LOCK, &text(case, "old"))]);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "old");
    workspace.git(["switch", "--quiet", "--create", "work"]);
    workspace.write(LOCK, &text(case, "new"));
    commit(&workspace, "new");
    workspace
}

fn commit(workspace: &Workspace, message: &str) {
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--allow-empty", "--message", message]);
}

/// What a run of `diff` with JSON says changed: kind and address.
fn kinds(run: &Run) -> Vec<String> {
    let json = run.json();
    let changes = json["changes"].as_array().unwrap_or_else(|| panic!("no changes\n{run}"));
    let shown = |change: &serde_json::Value| {
        let address = change["address"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        format!("{} {address}", change["kind"].as_str().unwrap())
    };
    changes.iter().map(shown).collect()
}

#[test]
fn two_files_are_compared_without_git() {
    let workspace = Workspace::from("diffs/hashes-replaced");
    let run = workspace.tflock(None, ["diff", "old.hcl", "new.hcl"]).ended_with(0);
    insta::assert_snapshot!(run);
    assert!(run.touched().is_empty());
}

#[test]
fn archives_that_come_with_an_exchanged_checksum_are_mentioned() {
    let old = text("h1-exchanged", "old");
    let old: String = old.split_inclusive('\n').filter(|line| !line.contains("zh:")).collect();
    let workspace = Workspace::with_files(&[("old.hcl", &old), ("new.hcl", &text("h1-exchanged", "new"))]);
    let run = workspace.tflock(None, ["diff", "old.hcl", "new.hcl"]).ended_with(0);
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("archives (zh) were added, of which none was recorded before"), "{run}");
}

#[test]
fn a_lock_file_that_was_deleted_is_not_called_misformatted() {
    let workspace = repository("upgraded");
    std::fs::remove_file(workspace.path(LOCK)).unwrap();
    let run = workspace.tflock(None, ["diff", "--format", "json"]).ended_with(0);
    assert!(kinds(&run).iter().all(|kind| kind.starts_with("removed ")), "{run}");
    assert!(!run.to_string().contains("not-canonical"), "{run}");
}

#[test]
fn what_is_not_committed_yet_is_the_default() {
    let workspace = repository("upgraded");
    let run = workspace.tflock(None, ["diff", "--format", "json"]).ended_with(0);
    assert_eq!(kinds(&run), [""; 0]);
    workspace.write(LOCK, &text("upgraded", "old"));
    let run = workspace.tflock(None, ["diff", "--format", "json"]).ended_with(0);
    assert_eq!(kinds(&run), ["downgraded widget"]);
    assert_eq!(run.json()["compared"]["new"], "the working tree");
    assert_eq!(run.json()["path"], LOCK);
}

#[test]
fn a_revision_is_compared_from_where_the_branches_parted() {
    let workspace = repository("upgraded");
    workspace.git(["switch", "--quiet", "main"]);
    workspace.write(LOCK, &text("removed", "new"));
    commit(&workspace, "main goes on");
    workspace.git(["switch", "--quiet", "work"]);
    let shown = |args: &[&str]| kinds(&workspace.tflock(None, args.iter().copied()).ended_with(0));
    assert_eq!(shown(&["diff", "main", "--format", "json"]), ["upgraded widget"]);
    assert_eq!(shown(&["diff", "--tip", "main", "--format", "json"]), ["added widget"]);
    assert_eq!(shown(&["diff", "main..work", "--format", "json"]), ["added widget"]);
    assert_eq!(shown(&["diff", "main", "work", "--format", "json"]), ["added widget"]);
    assert_eq!(shown(&["diff", "main...work", "--format", "json"]), ["upgraded widget"]);
    assert_eq!(shown(&["diff", "..main", "--format", "json"]), ["removed widget"]);
}

#[test]
fn a_name_that_is_file_and_revision_must_be_settled() {
    let workspace = repository("upgraded");
    workspace.write("main", &text("upgraded", "old"));
    let run = workspace.tflock(None, ["diff", "main"]).ended_with(2);
    insta::assert_snapshot!(run.stderr);
    let run = workspace.tflock(None, ["diff", "--format", "json", "main", "--"]).ended_with(0);
    assert_eq!(kinds(&run), ["upgraded widget"]);
    let run = workspace.tflock(None, ["diff", "--format", "json", "--", "main", LOCK]).ended_with(0);
    assert_eq!(kinds(&run), ["upgraded widget"]);
    let run = workspace.tflock(None, ["diff", "nonsense"]).ended_with(2);
    assert!(run.stderr.contains("neither a revision nor a file"), "{run}");
    workspace.tflock(None, ["diff", "--output=evil", "main"]).ended_with(2);
    workspace.tflock(None, ["diff", "--", "main", LOCK, "x"]).ended_with(2);
}

#[test]
fn a_shallow_clone_gets_the_command_to_deepen_it() {
    let workspace = repository("upgraded");
    let url = format!("file://{}", workspace.path("").display());
    workspace.git(["clone", "--quiet", "--depth=1", "--no-single-branch", &url, "clone"]);
    let run = workspace.tflock(None, ["-C", "clone", "diff", "origin/main"]).ended_with(2);
    assert!(run.stderr.contains("too shallow") && run.stderr.contains("fetch-depth: 0"), "{run}");
    workspace.git(["clone", "--quiet", "--depth=1", &url, "other"]);
    let run = workspace.tflock(None, ["-C", "other", "diff", "main"]).ended_with(2);
    assert!(run.stderr.contains("fetch-depth: 0"), "{run}");
    // What needs no history works, whatever the depth.
    let run = workspace.tflock(None, ["-C", "clone", "diff", "--tip", "origin/main", "--format", "json"]);
    assert_eq!(kinds(&run.ended_with(0)), ["upgraded widget"]);
}

#[test]
fn a_clone_without_the_branch_names_the_remote_one() {
    let workspace = repository("upgraded");
    let url = format!("file://{}", workspace.path("").display());
    workspace.git(["clone", "--quiet", &url, "clone"]);
    let run = workspace.tflock(None, ["-C", "clone", "diff", "main"]).ended_with(2);
    assert!(run.stderr.contains("origin/main"), "{run}");
}

#[test]
fn one_path_or_every_lock_file_below() {
    let nested = ["envs/a/.terraform.lock.hcl", "envs/b c/.terraform.lock.hcl", "envs/same/.terraform.lock.hcl"];
    let workspace = repository("upgraded");
    for (path, side) in nested.iter().zip(["old", "old", "new"]) {
        workspace.write(path, &text("upgraded", side));
    }
    workspace.write(".gitignore", "ignored/\n");
    commit(&workspace, "more");
    workspace.write(nested[0], &text("upgraded", "new"));
    std::fs::remove_file(workspace.path(nested[1])).unwrap();
    workspace.write("envs/fresh/.terraform.lock.hcl", &text("upgraded", "old"));
    workspace.write("envs/ignored/.terraform.lock.hcl", &text("upgraded", "old"));
    let run = workspace.tflock(None, ["diff", "envs/a", "--format", "json"]).ended_with(0);
    assert_eq!((kinds(&run), run.json()["path"].as_str()), (vec!["upgraded widget".to_owned()], Some(nested[0])));
    let run = workspace.tflock(None, ["-C", "envs", "diff", "--format=json", "HEAD", "--", "b c"]).ended_with(0);
    assert_eq!(kinds(&run), ["removed gadget", "removed widget"]);
    let run = workspace.tflock(None, ["diff", "--recursive", "--format", "json"]).ended_with(0);
    let json = run.json();
    let paths: Vec<&str> =
        json["roots"].as_array().unwrap().iter().map(|root| root["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["envs/a", "envs/b c", "envs/fresh"]);
    insta::assert_snapshot!(workspace.tflock(None, ["diff", "-r"]).ended_with(0).stdout);
    let run = workspace.tflock(None, ["-C", "envs/same", "diff", "-r", "--format", "json"]).ended_with(0);
    assert_eq!(run.json()["roots"], serde_json::json!([]));
}

#[test]
fn a_provider_that_two_root_modules_add_is_new_in_each() {
    let workspace = repository("added");
    workspace.git(["switch", "--quiet", "--create", "change", "main"]);
    for root in ["a", "b"] {
        workspace.write(&format!("{root}/{LOCK}"), &text("added", "new"));
    }
    let risks = |args: &[&str]| {
        let run = workspace.tflock(None, ["--format", "json"].iter().chain(args)).ended_with(0);
        let json = run.json();
        let risk = |change: &serde_json::Value| format!("{} {}", change["address"], change["risk"]).replace('"', "");
        let risks: Vec<String> = json["changes"].as_array().unwrap().iter().map(risk).collect();
        risks
    };
    let wanted = ["registry.terraform.io/acme/widget notable", "registry.terraform.io/acme/gadget routine"];
    assert_eq!(risks(&["-C", "a", "diff"]), wanted);
    assert_eq!(risks(&["diff", "main", "--", "b"]), wanted);
    commit(&workspace, "add it twice");
    assert_eq!(risks(&["-C", "a", "diff", "HEAD~1..HEAD"]), wanted);
    // What the old commit locks elsewhere is not new, even if the change removes it there.
    std::fs::remove_file(workspace.path(&format!("a/{LOCK}"))).unwrap();
    commit(&workspace, "move it");
    workspace.git(["mv", "b", "c"]);
    let moved = risks(&["-C", "c", "diff", "HEAD"]);
    assert!(moved.iter().all(|risk| risk.ends_with(" routine")), "{moved:?}");
}

#[test]
fn requirements_are_compared_if_both_configurations_are_available() {
    let main = |constraint: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    widget = {{\n      source  = \"acme/widget\"\n      version = \"{constraint}\"\n    }}\n  }}\n}}\n"
        )
    };
    let lock = format!("app/{LOCK}");
    let workspace = Workspace::with_files(&[(&*lock, &*text("constraints", "old")), ("app/main.tf", &main("~> 1.4"))]);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "old");
    workspace.write(&lock, &text("constraints", "new"));
    workspace.write("app/main.tf", &main(">= 1.2, ~> 1.4"));
    let run = workspace.tflock(None, ["-C", "app", "diff", "--format", "json"]).ended_with(0);
    let ask = &run.json()["changes"][0]["requirement_changes"][0];
    assert_eq!((ask["was"].as_str(), ask["origin"]["file"].as_str()), (Some("~> 1.4"), Some("app/main.tf")), "{run}");
    assert_eq!(ask["origin"]["line"], 3);
    let run = workspace.tflock(None, ["-C", "app", "diff", "-v"]).ended_with(0);
    let words: Vec<&str> = run.stdout.split_whitespace().collect();
    assert!(
        words.join(" ").contains("than before: the root module (app/main.tf:3) requires `>= 1.2, ~> 1.4`"),
        "{run}"
    );
}

#[test]
fn exit_code_1_is_opt_in() {
    let workspace = repository("upgraded");
    workspace.tflock(None, ["diff", "main"]).ended_with(0);
    workspace.tflock(None, ["diff", "main", "--exit-code"]).ended_with(1);
    workspace.tflock(None, ["diff", "--exit-code"]).ended_with(0);
    // What no package can have is an alarm; a scheme that no tool compares is none.
    for (hash, code) in [("zh:nobody", 3), ("h9:nobody", 1)] {
        let unknown = text("upgraded", "new").replacen("    \"zh:", &format!("    \"{hash}\",\n    \"zh:"), 1);
        workspace.write("other.hcl", &unknown);
        workspace.tflock(None, ["diff", LOCK, "other.hcl", "--exit-code"]).ended_with(code);
    }
    workspace.tflock(None, ["diff", LOCK, "other.hcl"]).ended_with(0);
}

#[test]
fn texts_that_are_refused_are_exit_code_two() {
    let workspace = Workspace::from("diffs/duplicate");
    let run = workspace.tflock(None, ["diff", "old.hcl", "new.hcl"]).ended_with(2);
    assert!(run.stdout.contains("duplicate-provider") && run.stdout.contains("acme/gadget"), "{run}");
    workspace.tflock(None, ["diff", "new.hcl", "old.hcl"]).ended_with(0);
    workspace.write("nonsense", "<html>");
    workspace.tflock(None, ["diff", "old.hcl", "nonsense"]).ended_with(2);
    workspace.tflock(None, ["diff", "old.hcl", "missing.hcl"]).ended_with(2);
    workspace.tflock(None, ["diff"]).ended_with(2);
    let run = workspace.tflock(None, ["diff", "old.hcl", "/dev/null", "--format", "json"]).ended_with(0);
    assert_eq!(kinds(&run), ["removed widget"]);
    for words in [&["diff", "-"][..], &["diff", "old.hcl", "-"]] {
        let run = workspace.tflock(None, words).ended_with(2);
        assert!(run.stderr.contains("diff does not read standard input"), "{run}");
    }
}

#[test]
fn reports_go_to_files_and_the_step_summary() {
    let workspace = Workspace::from("diffs/hashes-replaced").env("GITHUB_STEP_SUMMARY", "summary.md");
    workspace.write("summary.md", "before\n");
    let args = ["diff", "old.hcl", "new.hcl", "--report", "markdown=a.md", "--report=sarif=b.sarif"];
    let run = workspace.tflock(None, args).ended_with(0);
    assert!(run.stdout.contains("CHECKSUMS REPLACED"), "{run}");
    assert_eq!(run.touched(), ["a.md", "b.sarif"]);
    assert!(workspace.read("b.sarif").contains("\"2.1.0\""));
    let run = workspace.tflock(None, ["diff", "old.hcl", "new.hcl", "--format", "github"]).ended_with(0);
    assert!(run.stdout.starts_with("::error file=new.hcl,line="), "{run}");
    assert_eq!(workspace.read("summary.md"), format!("before\n{}", workspace.read("a.md")));
    let args = ["diff", "old.hcl", "new.hcl", "--report", "json=no/such/folder"];
    let run = workspace.tflock(None, args).ended_with(2);
    assert!(run.stdout.contains("CHECKSUMS REPLACED") && run.stderr.contains("cannot write the report"), "{run}");
    let run =
        workspace.tflock(None, args.into_iter().chain(["--report", "html=no/page", "--format", "json"])).ended_with(2);
    let json = run.json();
    assert_eq!((&json["exit_code"], &json["changed"]), (&2.into(), &true.into()), "{run}");
    assert!(json["error"]["message"].as_str().unwrap().contains("no/such/folder"), "{run}");
    assert_eq!(json["error"]["others"].as_array().map(Vec::len), Some(1), "{run}");
    // The same where there is no result.
    let args = ["diff", "old.hcl", "absent.hcl", "--report", "json=no/such/folder", "--format", "json"];
    let run = workspace.tflock(None, args).ended_with(2);
    assert_eq!(run.json()["error"]["others"].as_array().map(Vec::len), Some(1), "{run}");
    workspace.tflock(None, ["diff", "old.hcl", "new.hcl", "--report", "nonsense=x"]).ended_with(2);
    workspace.tflock(None, ["list", "--format", "commit"]).ended_with(2);
}

/// What cannot be read may require the provider: that is unknown, and not "nothing".
#[test]
fn what_requires_a_provider_is_unknown_where_modules_were_not_read() {
    let required =
        "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n";
    let call = |source: &str| format!("module \"net\" {{\n  source = \"{source}\"\n}}\n");
    let table = |workspace: &Workspace| {
        workspace.tflock(None, ["diff", "HEAD~1..HEAD", "--format", "markdown"]).ended_with(0).stdout
    };
    for (main, says) in [
        (call("./net"), "unknown: "),
        (call("git::https://127.0.0.1:9/net.git"), "unknown: module.net was not read"),
        (call("a/b/c").replace("source", "nothing"), "unknown: "),
        ("module {".to_owned(), "unknown: "),
    ] {
        let workspace = repository("upgraded");
        workspace.write("main.tf", &main);
        workspace.write("net/.gitkeep", "");
        workspace.git(["add", "--all"]);
        workspace.git(["commit", "--quiet", "--amend", "--message", "new"]);
        let run = workspace.tflock(None, ["diff", "HEAD~1..HEAD", "--format", "json"]).ended_with(0);
        assert!(run.json()["changes"][0]["required_by"].is_null(), "{main}: {run}");
        let shown = table(&workspace);
        assert!(shown.contains(says), "{main}: {shown}");
        let verbose = workspace.tflock(None, ["diff", "HEAD~1..HEAD", "-v"]).ended_with(0);
        assert!(verbose.stdout.contains(&format!("for:  {says}")), "{main}: {verbose}");
        // What was read is named, and nothing is unknown where all was read.
        workspace.write("more.tf", required);
        commit(&workspace, "more");
        let run = workspace.tflock(None, ["diff", "HEAD~2..HEAD", "--format", "json"]).ended_with(0);
        let read = !main.contains("module {") && !main.contains("nothing") && !main.contains("./net");
        assert_eq!(run.json()["changes"][0]["required_by"].is_array(), read, "{main}: {run}");
    }
    let workspace = repository("upgraded");
    workspace.write("main.tf", required);
    commit(&workspace, "configuration");
    let run = workspace.tflock(None, ["diff", "HEAD~2..HEAD", "--format", "json"]).ended_with(0);
    assert_eq!(run.json()["changes"][0]["required_by"][0]["file"], "main.tf", "{run}");
    // Of two files nothing is asked for.
    let files = Workspace::from("diffs/upgraded");
    let run = files.tflock(None, ["diff", "old.hcl", "new.hcl", "--format", "json"]).ended_with(0);
    assert!(run.json()["changes"][0]["required_by"].is_null(), "{run}");
    let run = files.tflock(None, ["diff", "old.hcl", "new.hcl", "--format", "markdown"]).ended_with(0);
    assert!(!run.stdout.contains("Required by"), "{run}");
}

/// The error names the file and the revision that it is of.
#[test]
fn what_is_no_lock_file_is_named_with_its_revision() {
    let workspace = repository("upgraded");
    workspace.write(LOCK, "provider \"x\" {");
    let new = workspace.tflock(None, ["diff", "HEAD"]).ended_with(2);
    assert!(new.stderr.contains(&format!("{LOCK} of the working tree is not a lock file")), "{new}");
    commit(&workspace, "broken");
    workspace.write(LOCK, &text("upgraded", "new"));
    let old = workspace.tflock(None, ["diff", "HEAD"]).ended_with(2);
    assert!(old.stderr.contains(&format!("{LOCK} of HEAD is not a lock file")), "{old}");
    assert!(!old.stderr.contains("Restore the file"), "{old}");
    workspace.write("other.hcl", "provider \"x\" {");
    let files = workspace.tflock(None, ["diff", LOCK, "other.hcl"]).ended_with(2);
    assert!(files.stderr.contains("error: other.hcl is not a lock file"), "{files}");
}

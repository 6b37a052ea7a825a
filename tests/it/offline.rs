//! Commands that need no server: `fmt`, `hash`, `list`, `why`.

use crate::support::packages::{Package, PackageName, Shape, unpacked};
use crate::support::workspace::Workspace;
use crate::support::worlds::EMPTY_LOCK;

const UNTIDY: &str =
    "provider \"registry.terraform.io/acme/widget\" {\n  hashes=[\"zh:b\",\"h1:a=\" ]\n  version=\"1.4.0\"\n}\n";

fn untidy() -> Workspace {
    Workspace::with_files(&[(".terraform.lock.hcl", UNTIDY)])
}

#[test]
fn fmt_writes_as_the_tools_do() {
    let workspace = untidy();
    insta::assert_snapshot!("fmt_check", workspace.tflock(None, ["fmt", "--check"]).ended_with(1));
    insta::assert_snapshot!("fmt", workspace.tflock(None, ["fmt"]).ended_with(0));
    insta::assert_snapshot!("fmt_again", workspace.tflock(None, ["fmt"]).ended_with(0));
    let check = workspace.tflock(None, ["fmt", "--check"]).ended_with(0);
    assert_eq!((check.stdout.as_str(), check.stderr.as_str()), ("", ""));
    let Some(run) = workspace.terraform(None, ["providers", "lock", "-fs-mirror=."]) else { return };
    assert!(!run.stderr.contains("lock file"), "{run}");
}

#[test]
fn fmt_of_every_lock_file_below() {
    let workspace = Workspace::with_files(&[("a/.terraform.lock.hcl", UNTIDY), ("b/c/.terraform.lock.hcl", UNTIDY)]);
    let check = workspace.tflock(None, ["fmt", "--check", "-r"]).ended_with(1);
    assert_eq!(check.stdout, "a/.terraform.lock.hcl\nb/c/.terraform.lock.hcl\n");
    let run = workspace.tflock(None, ["-C", "b", "fmt", "--recursive"]).ended_with(0);
    assert_eq!(run.touched(), ["b/c/.terraform.lock.hcl"]);
    workspace.tflock(None, ["fmt", "-r", "a/.terraform.lock.hcl"]).ended_with(2);
    // In git they are named from the top, wherever the run is started.
    workspace.git(["init", "--quiet"]);
    let a = workspace.path("a").display().to_string();
    let check = workspace.tflock(None, ["-C", &a, "fmt", "--check", "--format", "json"]).ended_with(1);
    assert_eq!(check.json()["files"][0]["path"], "a/.terraform.lock.hcl");
    assert_eq!(workspace.tflock(None, ["-C", &a, "fmt"]).ended_with(0).stdout, "a/.terraform.lock.hcl\n");
}

#[test]
fn fmt_of_standard_input() {
    let workspace = Workspace::with_files(&[]);
    let run = workspace.tflock_reading(UNTIDY, ["fmt", "-"]).ended_with(0);
    let canonical = untidy();
    canonical.tflock(None, ["fmt"]).ended_with(0);
    assert_eq!(run.stdout, canonical.lock_file());
    let check = workspace.tflock_reading(UNTIDY, ["fmt", "--check", "-"]).ended_with(1);
    assert_eq!(check.stdout, "");
    let refused = workspace.tflock_reading("provider {\n", ["fmt", "-"]).ended_with(2);
    insta::assert_snapshot!("fmt_stdin_refused", refused);
}

#[test]
fn fmt_of_several_files() {
    let workspace = Workspace::with_files(&[("a.hcl", UNTIDY), ("b.hcl", "provider \"x\" {\n"), ("c.hcl", UNTIDY)]);
    let run = workspace.tflock(None, ["fmt", "a.hcl", "b.hcl", "missing.hcl", "c.hcl"]).ended_with(2);
    insta::assert_snapshot!("fmt_several", run);
}

const REFUSED: &str = "provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.4\"\n  constraints = \">= 1\"\n}\n\nprovider \"acme/widget\" {\n  version = \"1.4.0\"\n  hash = []\n}\n";

#[test]
fn all_findings_of_a_lock_file_have_their_place() {
    let workspace = Workspace::with_files(&[("a/.terraform.lock.hcl", REFUSED), ("a/main.tf", "")]);
    let run = workspace.tflock(None, ["-C", "a", "fmt"]).ended_with(2);
    insta::assert_snapshot!("lock_file_refused", run);
    let run = workspace.tflock(None, ["-C", "a", "list", "--format", "json"]).ended_with(2);
    insta::assert_snapshot!("lock_file_refused_json", run);
    assert_eq!(workspace.tflock(None, ["-C", "a", "lock", "--offline"]).code, Some(2));
}

#[test]
fn conflict_markers_are_named() {
    let text = format!("<<<<<<< HEAD\n{UNTIDY}=======\n>>>>>>> other\n");
    let workspace = Workspace::with_files(&[(".terraform.lock.hcl", &text), ("main.tf", "")]);
    insta::assert_snapshot!("conflict_markers", workspace.tflock(None, ["list"]).ended_with(2));
}

#[test]
fn hash_of_archives_and_directories() {
    let name = PackageName { kind: "widget", version: "1.4.0", platform: "linux_amd64", edition: 1 };
    let package = Package::make(name, &[Shape::Deflated]);
    let workspace = Workspace::with_files(&[("text.zip", "no archive\n")]);
    workspace.write_bytes("widget.zip", &package.zip);
    for (name, contents) in unpacked(&package.zip) {
        workspace.write_bytes(&format!("unpacked/{name}"), &contents);
    }
    let run = workspace.tflock(None, ["hash", "widget.zip", "unpacked"]).ended_with(0);
    assert_eq!(run.stdout.matches(&package.h1).count(), 2);
    assert_eq!(run.stdout.matches(&package.zh()).count(), 1);
    insta::assert_snapshot!("hash", run);
    let run = workspace.tflock(None, ["hash", "missing.zip", "widget.zip", "text.zip"]).ended_with(2);
    insta::assert_snapshot!("hash_refused", run);
}

#[test]
fn list_prints_locked_providers() {
    let workspace = Workspace::from("example");
    insta::assert_snapshot!("list_without_file", workspace.tflock(None, ["list"]).ended_with(2));
    workspace.write(".terraform.lock.hcl", &workspace.read("expected.lock.hcl"));
    insta::assert_snapshot!("list", workspace.tflock(None, ["list"]).ended_with(0));
    let lock = ["lock", "--platform=linux_amd64", "--platform=darwin_arm64", "--fs-mirror=mirror"];
    workspace.tflock(None, lock).ended_with(0);
    insta::assert_snapshot!("list_after_lock", workspace.tflock(None, ["list"]).ended_with(0));
    insta::assert_snapshot!("list_json", workspace.tflock(None, ["list", "--format=json"]).ended_with(0));
    let both = workspace.tflock(None, ["-C", ".", "-C", "modules/site", "list"]).ended_with(2);
    insta::assert_snapshot!("list_of_two", both);
}

#[test]
fn all_root_modules_below_are_listed() {
    let entry =
        |kind: &str| format!("\nprovider \"registry.terraform.io/acme/{kind}\" {{\n  version = \"1.0.0\"\n}}\n");
    let configuration = |kind: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    {kind} = {{\n      source = \"acme/{kind}\"\n    }}\n  }}\n}}\n"
        )
    };
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    for (folder, kind) in [("env/a", "widget"), ("env/b", "gadget"), ("modules/m", "widget")] {
        workspace.write(&format!("{folder}/main.tf"), &configuration(kind));
        if folder.starts_with("env") {
            workspace.write(&format!("{folder}/.terraform.lock.hcl"), &format!("{EMPTY_LOCK}{}", entry(kind)));
        }
    }
    insta::assert_snapshot!("list_recursive", workspace.tflock(None, ["list", "-r"]).ended_with(0));
    insta::assert_snapshot!("why_recursive", workspace.tflock(None, ["why", "-r", "acme/widget"]).ended_with(0));
    let json = workspace.tflock(None, ["why", "-r", "acme/widget", "--format=json"]).ended_with(0).json();
    let paths: Vec<_> = json["roots"].as_array().unwrap().iter().map(|root| root["path"].clone()).collect();
    assert_eq!(paths, ["env/a"]);
    // From the top of the work tree, wherever the command runs.
    let json = workspace.tflock(None, ["-C", "env", "why", "-r", "--format=json"]).ended_with(0).json();
    assert_eq!(json["roots"][1]["requirements"][0]["origins"][0]["file"], "env/b/main.tf");
    let nobody = workspace.tflock(None, ["why", "-r", "acme/other"]).ended_with(2);
    assert!(nobody.stderr.contains("error: provider acme/other "), "{nobody}");
}

#[test]
fn why_names_the_requirements() {
    let workspace = Workspace::from("example");
    workspace.write(".terraform.lock.hcl", &workspace.read("expected.lock.hcl"));
    insta::assert_snapshot!("why", workspace.tflock(None, ["why"]).ended_with(0));
    let one = ["why", "registry.example.com/acme/dns", "--format=json"];
    insta::assert_snapshot!("why_json", workspace.tflock(None, one).ended_with(0));
    insta::assert_snapshot!("why_stranger", workspace.tflock(None, ["why", "acme/stranger"]).ended_with(2));
}

#[test]
fn errors_of_configuration_have_their_place() {
    let broken = "terraform {\n  required_providers {\n    widget = {\n      source  = \"acme/widget/x/y\"\n      version = \
                  \"~> one\"\n    }\n  }\n}\n\nmodule \"net\" {\n  source = \"acme/net/lab\"\n}\n\nmodule \"gone\" {\n  source = \"./gone\"\n}\n";
    let workspace = Workspace::with_files(&[("root/main.tf", broken), ("root/open.tf", "resource \"a\" \"b\" {\n")]);
    let run = workspace.tflock(None, ["-C", "root", "why"]).ended_with(2);
    insta::assert_snapshot!("configuration_refused", run);
    std::fs::remove_file(workspace.path("root/open.tf")).unwrap();
    let run = workspace.tflock(None, ["-C", "root", "why"]).ended_with(2);
    insta::assert_snapshot!("configuration_refused_deeper", run);
    let run = workspace.tflock(None, ["-C", "root", "lock", "--format=json"]).ended_with(2);
    insta::assert_snapshot!("configuration_refused_json", run);
}

#[test]
fn usage_is_exit_code_2() {
    let workspace = Workspace::with_files(&[]);
    let cases: [(&str, &[&str]); 7] = [
        ("usage_flag", &["lock", "--plattform=linux_amd64"]),
        ("usage_flag_json", &["lock", "--plattform=linux_amd64", "--format=json"]),
        ("usage_command", &["lokc"]),
        ("usage_platform", &["lock", "--platform", "linux"]),
        ("usage_format", &["list", "--format", "yaml"]),
        ("usage_republished", &["lock", "--accept-republished", "acme/widget", "--reason", "x"]),
        ("usage_directory", &["-C", "nowhere", "list"]),
    ];
    for (name, args) in cases {
        insta::assert_snapshot!(name, workspace.tflock(None, args).ended_with(2));
    }
}

#[test]
fn an_empty_directory_is_an_error() {
    let workspace = Workspace::with_files(&[]);
    insta::assert_snapshot!("empty_directory", workspace.tflock(None, ["lock"]).ended_with(2));
}

#[test]
fn colour_is_a_matter_of_choice() {
    let workspace = Workspace::from("example");
    let plain = workspace.tflock(None, ["why"]).ended_with(0);
    let coloured = workspace.tflock(None, ["--color=always", "why"]).ended_with(0);
    assert!(!plain.stdout.contains('\u{1b}') && coloured.stdout.contains('\u{1b}'), "{coloured}");
    let never = workspace.tflock(None, ["--color=never", "why"]).ended_with(0);
    assert_eq!(never.stdout, plain.stdout);
    let workspace = Workspace::from("example").env("NO_COLOR", "1");
    assert_eq!(workspace.tflock(None, ["why"]).ended_with(0).stdout, plain.stdout);
    assert_eq!(workspace.tflock(None, ["why", "-no-color"]).ended_with(0).stdout, plain.stdout);
}

/// Options without a command show the overview too.
#[test]
fn without_a_command_the_commands_are_shown() {
    let workspace = Workspace::with_files(&[]);
    let bare = workspace.tflock(None, [""; 0]).ended_with(2);
    assert!(bare.stderr.contains("Everyday:") && bare.stderr.lines().count() <= 24, "{bare}");
    let with_option = workspace.tflock(None, ["--color", "never"]).ended_with(2);
    assert_eq!(with_option.stderr, bare.stderr);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let workspace = Workspace::from("example");
    for args in [&["why"][..], &["lock", "--help"], &["completions", "bash"], &["man"], &["why", "--format=json"]] {
        let mut process = workspace.tflock_command(None, args).spawn().unwrap();
        drop(process.stdout.take());
        let output = process.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && stderr.is_empty(), "{args:?}: {:?} {stderr}", output.status);
    }
}

/// Where nothing can be locked, `tflock lock` is no advice.
#[test]
fn without_configuration_nothing_leads_to_lock() {
    let workspace = Workspace::with_files(&[("README.md", "")]);
    for command in ["list", "install", "fmt", "trust init", "migrate --to tofu", "audit", "sbom"] {
        let run = workspace.tflock(None, command.split(' ').chain(["--format", "json"])).ended_with(2);
        assert!(!run.stdout.contains("tflock lock") && !run.stderr.contains("tflock lock"), "{command}: {run}");
    }
    // Nor does a document say that nothing runs here.
    let sbom = workspace.tflock(None, ["sbom"]).ended_with(2);
    assert_eq!(sbom.stdout, "", "{sbom}");
    let setup = workspace.tflock(None, ["setup", "--platform", "linux_amd64", "--format", "json"]).ended_with(0);
    assert!(setup.json()["setup"]["next"].is_null(), "{setup}");
    workspace.write("main.tf", "terraform {\n  required_providers {\n    x = \"1.0\"\n  }\n}\n");
    let list = workspace.tflock(None, ["list"]).ended_with(2);
    assert!(list.stderr.contains("`tflock lock`"), "{list}");
    let setup = workspace.tflock(None, ["setup", "--format", "json"]).ended_with(0);
    assert_eq!(setup.json()["setup"]["next"], "tflock lock -r --create", "{setup}");
}

/// As in every other report.
#[test]
fn files_are_named_from_where_the_user_is() {
    let workspace =
        Workspace::with_files(&[("a/main.tf", "terraform {\n  required_providers {\n    x = \"1.0\"\n  }\n}\n")]);
    for _ in ["outside of git", "in git"] {
        let why = workspace.tflock(None, ["-C", "a", "why", "x"]).ended_with(0);
        assert!(why.stdout.contains("a/main.tf:3:5"), "{why}");
        workspace.git(["init", "--quiet"]);
    }
}

/// A root module that is not locked is in no document and no trust file, and each says so.
#[test]
fn without_lock_files_below_the_reason_is_printed() {
    let main = "terraform {\n  backend \"local\" {}\n  required_providers {\n    x = \"1.0\"\n  }\n}\n";
    let workspace = Workspace::with_files(&[("a/main.tf", main)]);
    for command in ["sbom -r", "trust init -r"] {
        let run = workspace.tflock(None, command.split(' ')).ended_with(2);
        assert!(run.stdout.is_empty() && run.stderr.contains("lock file"), "{run}");
        assert!(run.stderr.contains("`tflock lock -r --create`"), "{run}");
    }
}

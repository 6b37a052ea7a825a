//! What annoyed users, each as it is printed now.

use crate::support::keys;
use crate::support::locked::{honest, locked};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const LINUX: [&str; 1] = ["linux_amd64"];

fn main(constraints: [&str; 2]) -> String {
    let [gadget, widget] = constraints;
    format!(
        "terraform {{\n  required_providers {{\n    gadget = {{\n      source  = \"{{{{registry}}}}/acme/gadget\"\n      \
         version = \"{gadget}\"\n    }}\n    widget = {{\n      source  = \"{{{{registry}}}}/acme/widget\"\n      version = \
         \"{widget}\"\n    }}\n  }}\n}}\n"
    )
}

fn releases(versions: &[&str]) -> Registry {
    let each = versions.iter().flat_map(|version| ["acme/gadget", "acme/widget"].map(|name| (name, *version)));
    each.fold(Registry::start(), |registry, (name, version)| registry.release(name, version, &LINUX))
}

fn shown(run: &Run) -> String {
    run.filtered(&format!("[exit {}]\n{}{}", run.code.unwrap(), run.stdout, run.stderr))
}

/// One provider that is refused does not stop the others, if one knows how to go on.
#[test]
#[ignore = "long"]
fn what_upgrade_can_still_do_is_said() {
    let registry = releases(&["1.0.0", "1.1.0"]).release("acme/widget", "1.2.0", &LINUX).signed_by(keys::OTHER);
    let workspace = Workspace::with_files(&[("a/main.tf", &main(["1.0.0", "1.0.0"]))]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["-C", "a", "lock", "--platform", "linux_amd64"]).ended_with(0);
    workspace.write("a/main.tf", &main(["~> 1.0", "~> 1.0"]));
    let one = workspace.tflock(&registry, ["-C", "a", "upgrade"]).ended_with(3);
    let many = workspace.tflock(&registry, ["upgrade", "-r"]).ended_with(3);
    workspace.write("b/main.tf", &workspace.read("a/main.tf"));
    workspace.write("b/.terraform.lock.hcl", &workspace.read("a/.terraform.lock.hcl"));
    let both = workspace.tflock(&registry, ["upgrade", "-r"]).ended_with(3);
    for (run, command) in [(&one, "-C a upgrade"), (&many, "-C a upgrade"), (&both, "upgrade -r")] {
        // The release before belongs to the denial, and is said there alone.
        let step = format!("`tflock {command} --precise 1.1.0 ");
        let help = run.stdout.lines().find(|line| line.starts_with("  help: Ask its publisher")).unwrap();
        assert!(help.contains(&step) && run.stdout.matches("--precise").count() == 1, "{run}");
    }
    insta::assert_snapshot!("upgrade_refused", format!("{}\n{}", shown(&one), shown(&many)));
    // Both are right.
    let gadget = format!("{}/acme/gadget", registry.host());
    workspace.tflock(&registry, ["-C", "a", "upgrade", &gadget]).ended_with(0);
    let widget = format!("{}/acme/widget", registry.host());
    workspace.tflock(&registry, ["-C", "a", "upgrade", "--precise", "1.1.0", &widget]).ended_with(0);
    let done = workspace.tflock(&registry, ["-C", "a", "upgrade", &gadget]).ended_with(0);
    assert_eq!(done.stdout, "already at the newest allowed versions; a/.terraform.lock.hcl unchanged\n");
}

/// The same error of many root modules is printed once, with what helps all of them.
#[test]
fn equal_errors_are_reported_once() {
    let registry = releases(&["1.0.0", "2.0.0"]);
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    for number in 0..5 {
        workspace.write(&format!("live/{number}/main.tf"), &main(["1.0.0", "1.0.0"]));
    }
    workspace.tflock(&registry, ["lock", "-r", "--create", "--platform", "linux_amd64"]).ended_with(0);
    for number in 0..4 {
        workspace.write(&format!("live/{number}/main.tf"), &main(["1.0.0", "~> 2.0"]));
    }
    let human = workspace.tflock(&registry, ["lock", "-r"]).ended_with(2);
    let markdown = workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "markdown"]);
    let github = workspace.tflock(&registry, ["lock", "-r", "--format", "github"]).ended_with(2);
    insta::assert_snapshot!("equal_errors", [human, markdown, github].map(|run| shown(&run)).join("\n"));
    // What is advised for all of them works for all of them.
    let widget = format!("{}/acme/widget", registry.host());
    workspace.tflock(&registry, ["upgrade", "-r", &widget]).ended_with(0);
    // A host that gives no answer is reported once, too.
    let gone = releases(&[]);
    let host = gone.host();
    drop(gone);
    for number in 0..5 {
        let lock = format!("live/{number}/.terraform.lock.hcl");
        for file in [lock, format!("live/{number}/main.tf")] {
            workspace.write(&file, &workspace.read(&file).replace(&registry.host(), &host));
        }
    }
    let silent = workspace.tflock(&registry, ["verify", "-r"]);
    assert_eq!(silent.stderr.matches("error: ").count(), 1, "{silent}");
    assert!(silent.stderr.contains("in all 5 root modules"), "{silent}");
}

/// What is between tflock and a registry is named, not the registry.
#[test]
fn the_proxy_and_the_certificates_are_named() {
    let registry = honest();
    let workspace = locked(&registry);
    let workspace = workspace.env("HTTPS_PROXY", "http://user:secret@127.0.0.1:1");
    let proxied = workspace.tflock(&registry, ["verify", "--no-cache"]).ended_with(4);
    assert!(proxied.stderr.contains("through the proxy http://") && !proxied.stderr.contains("secret"), "{proxied}");
    assert!(proxied.stderr.contains("help: check the proxy that HTTPS_PROXY names"), "{proxied}");
    let workspace = workspace.env("HTTPS_PROXY", "");
    workspace.write("junk.pem", "junk\n");
    for (file, wrong) in [("nowhere.pem", "which is not there"), ("junk.pem", "which contains no PEM certificate")] {
        let workspace = locked(&registry).env("SSL_CERT_FILE", file);
        workspace.write("junk.pem", "junk\n");
        let run = workspace.tflock(&registry, ["verify", "--no-cache"]).ended_with(4);
        assert!(run.stderr.contains(&format!("note: SSL_CERT_FILE names {file}, {wrong}")), "{run}");
    }
}

#[test]
fn a_list_may_be_of_one_provider() {
    let registry = honest();
    let workspace = locked(&registry);
    let one = workspace.tflock(&registry, ["list", "widget"]).ended_with(0).stdout;
    assert!(one.contains("acme/widget") && !one.contains("acme/gadget"), "{one}");
    let everywhere = workspace.tflock(&registry, ["list", "-r", "widget", "--format", "json"]).ended_with(0).json();
    let providers = everywhere["by_provider"].as_array().unwrap();
    assert_eq!((providers.len(), providers[0]["versions"].as_array().unwrap().len()), (1, 1), "{everywhere}");
}

#[test]
fn a_repository_without_commits_has_nothing_to_compare_with() {
    let workspace = Workspace::with_files(&[("main.tf", "")]);
    workspace.git(["init", "--quiet"]);
    let run = workspace.tflock(None, ["diff"]).ended_with(2);
    assert!(run.stderr.contains("in the working tree, and no commit to compare with"), "{run}");
}

#[test]
fn git_says_what_to_do_next() {
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    let steps = [
        &["git", "status"][..],
        &["git", "install"],
        &["git", "install"],
        &["git", "uninstall"],
        &["git", "uninstall"],
    ];
    let all: Vec<String> = steps
        .iter()
        .map(|args| format!("$ tflock {}\n{}", args.join(" "), shown(&workspace.tflock(None, *args))))
        .collect();
    insta::assert_snapshot!("git_next_steps", all.join("\n"));
}

/// Equal errors of several files are printed once, with the names of the files.
#[test]
fn fmt_names_each_file_that_it_cannot_read() {
    let broken = "provider \"registry.terraform.io/acme/widget\" {\n";
    let names: Vec<String> = (0..12).map(|number| format!("r{number:02}/.terraform.lock.hcl")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, broken)).collect();
    let run = Workspace::with_files(&files[..3]).tflock(None, ["fmt", "--check", "-r"]).ended_with(2);
    assert!(names[..3].iter().all(|name| run.stderr.contains(&**name)), "{run}");
    assert!(run.stderr.contains("in 3 places: "), "{run}");
    let run = Workspace::with_files(&files).tflock(None, ["fmt", "--check", "-r"]).ended_with(2);
    assert!(run.stderr.contains("in 12 places: ") && run.stderr.contains(" and 2 more\n"), "{run}");
}

/// The only root module may be the top of the repository, whose path is empty.
#[test]
fn a_backend_without_a_lock_file_is_named() {
    let main = "terraform {\n  backend \"local\" {\n  }\n}\nresource \"null_resource\" \"x\" {\n}\n";
    for (files, named) in [
        (&[("main.tf", main)][..], "the root module . has"),
        (&[("app/main.tf", main)], "the root module app has"),
        (&[("main.tf", main), ("app/main.tf", main)], "2 root modules with a backend have no lock file, such as .:"),
    ] {
        let run = Workspace::with_files(files).tflock(None, ["list", "-r"]);
        assert!(run.stderr.contains(named), "{run}");
    }
}

/// A provider that other root modules require is no suggestion for itself.
#[test]
fn a_name_is_not_suggested_for_itself() {
    let main = |name: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    {name} = {{\n      source = \"hashicorp/{name}\"\n    }}\n  }}\n}}\n"
        )
    };
    let workspace = Workspace::with_files(&[
        ("a/main.tf", &main("random")),
        ("a/.terraform.lock.hcl", ""),
        ("b/main.tf", &main("tls")),
        ("b/.terraform.lock.hcl", "provider \"registry.terraform.io/hashicorp/tls\" {\n  version = \"4.0.0\"\n}\n"),
    ]);
    workspace.git(["init", "--quiet"]);
    for name in ["tls", "hashicorp/tls", "registry.terraform.io/hashicorp/tls"] {
        for command in ["remove", "upgrade", "lock"] {
            let run = workspace.tflock(None, ["-C", "a", command, name, "--offline"]).ended_with(2);
            assert!(run.stderr.contains("hashicorp/tls") && !run.stderr.contains("did you mean"), "{run}");
        }
    }
    let run = workspace.tflock(None, ["-C", "a", "lock", "hashicorp/tsl", "--offline"]).ended_with(2);
    assert!(run.stderr.contains("did you mean hashicorp/tls?"), "{run}");
}

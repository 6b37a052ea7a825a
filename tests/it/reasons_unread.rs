//! What of a module or a stack is not read, and that nothing else is called so: for each reason two trees that differ in one token,
//! of which one raises `requirements-unread` and the other does not. Those of units are in `kinds/unread.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::kinds::unread_denied;
use crate::support::locked::{LOCK, MAIN, honest, locked, rules, verify};
use crate::support::proposal::{GATE, commit, edit, repository};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const UNREAD: &str = "requirements-unread";

struct Pair {
    /// The variant of `UnreadReason`.
    reason: &'static str,
    /// A file with the token in braces that is not read, and the one in its place that is.
    file: &'static str,
    text: &'static str,
    tokens: [&'static str; 2],
    /// What the finding says.
    says: &'static str,
    /// Where it is: line and column.
    at: [u64; 2],
}

const PROVIDERS: &str = r#"terraform {
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.4"
    }
    gadget = {
      source  = "{{registry}}/acme/{SOURCE}"
      version = "{VERSION}"
    }
  }
}
locals {
  name    = "gadget"
  version = "2.0.0"
}
"#;

const PAIRS: [Pair; 8] = [
    Pair {
        reason: "ModuleCall",
        file: "call.tf",
        text: "module \"m\" {\n  source = \"./${<>(\"m\")}\"\n}\n",
        tokens: ["file", "trimspace"],
        says: "the source of module.m cannot be determined statically, because it depends on file()",
        at: [2, 12],
    },
    Pair {
        reason: "ModuleCall",
        file: "call.tf",
        text: "module \"m\" {\n  source = \"./${<>(\"6D\")}\"\n}\n",
        tokens: ["uuid() == \"\" ? \"m\" : lower", "false ? \"m\" : lower"],
        says: "because it depends on uuid()",
        at: [2, 12],
    },
    Pair {
        reason: "ModuleCall",
        file: "call.tf",
        text: "module \"m\" {\n  source = \"./${<>(\"M\")}\"\n}\n",
        tokens: ["provider::acme::lower", "lower"],
        says: "because it depends on provider::acme::lower()",
        at: [2, 12],
    },
    Pair {
        reason: "ModuleCall",
        file: "call.tf",
        text: "module \"m\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = <>(\"1.0.0\")\n}\n",
        tokens: ["file", "trimspace"],
        says: "the version of module.m cannot be determined statically, because it depends on file()",
        at: [3, 13],
    },
    // One level below, by what a call passes on.
    Pair {
        reason: "ModuleCall",
        file: "call.tf",
        text: "module \"outer\" {\n  source = \"./outer\"\n  inner  = <>(\"m\")\n}\n",
        tokens: ["file", "trimspace"],
        says: "the source of module.inner cannot be determined statically, because it depends on file() (call.tf:3:12)",
        at: [5, 12],
    },
    Pair {
        reason: "Provider",
        file: "main.tf",
        text: "SOURCE",
        tokens: ["${file(local.name)}", "${trimspace(local.name)}"],
        says: "the source of provider \"gadget\" cannot be determined statically, because it depends on file()",
        at: [8, 17],
    },
    Pair {
        reason: "Provider",
        file: "main.tf",
        text: "VERSION",
        tokens: ["${file(local.version)}", "${trimspace(local.version)}"],
        says: "the version of provider \"gadget\" cannot be determined statically, because it depends on file()",
        at: [9, 18],
    },
    Pair {
        reason: "ComponentRegistry",
        file: "all.tfcomponent.hcl",
        text: "component \"net\" {\n  source  = \"{{other-host}}/acme/<>\"\n  version = \"1.0.0\"\n}\n",
        tokens: ["net", "net/lab"],
        says: "component.net comes from a component registry",
        at: [2, 13],
    },
];

/// A locked root module with what the calls need, without the file of the pair.
fn tree(pair: &Pair, registry: &Registry) -> Workspace {
    let workspace = locked(registry);
    workspace.write("m/main.tf", "");
    let variable = "variable \"inner\" {\n  const = true\n}\nmodule \"inner\" {\n  source = \"../${var.inner}\"\n}\n";
    workspace.write("outer/main.tf", variable);
    if pair.file.ends_with(".tfcomponent.hcl") {
        fs::remove_file(workspace.path("main.tf")).unwrap();
        let entries = MAIN.strip_prefix("terraform {\n").and_then(|text| text.strip_suffix("}\n")).unwrap();
        workspace.write(
            "providers.tfcomponent.hcl",
            &filled(entries, registry).replace("gadget\"\n", "gadget\"\n      version = \"2.0.0\"\n"),
        );
        workspace.tflock(registry, ["lock", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]]).ended_with(0);
    }
    workspace
}

fn filled(text: &str, registry: &Registry) -> String {
    text.replace("{{registry}}", &registry.host()).replace("{{other-host}}", &registry.other_host())
}

fn text_with(pair: &Pair, token: &str) -> String {
    let of = |name: &str, plain: &str| {
        let token = if pair.text == name { token } else { plain };
        (format!("{{{name}}}"), token.to_owned())
    };
    let [source, version] = [of("SOURCE", "gadget"), of("VERSION", "2.0.0")];
    match pair.text {
        "SOURCE" | "VERSION" => PROVIDERS.replace(&source.0, &source.1).replace(&version.0, &version.1),
        text => text.replace("<>", token),
    }
}

#[test]
#[ignore = "long"]
fn each_reason_is_raised_by_one_token() {
    let registry = honest().module("acme/net/lab", "1.0.0", &[("main.tf", "")]);
    for pair in &PAIRS {
        let workspace = tree(pair, &registry);
        let [unread, read] = pair.tokens.map(|token| filled(&text_with(pair, token), &registry));
        workspace.write(pair.file, &unread);
        let run = verify(&workspace, &registry, &[]).ended_with(0);
        let findings = run.json()["findings"].as_array().unwrap().clone();
        let of_rule: Vec<_> = findings.iter().filter(|finding| finding["rule"] == UNREAD).collect();
        let [finding] = of_rule[..] else { panic!("{} {unread}: {run}", pair.reason) };
        assert!(finding["message"].as_str().unwrap().contains(pair.says), "{run}");
        assert_eq!([finding["line"].as_u64(), finding["column"].as_u64()], pair.at.map(Some), "{run}");
        // The hashes are complete, and nothing is taken out.
        let before = workspace.lock_file();
        let lock = ["lock", "--prune", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
        let run = workspace.tflock(&registry, lock).ended_with(0);
        assert!(run.stdout.contains("hashes complete; requirements not read"), "{run}");
        assert_eq!(workspace.lock_file(), before, "{unread}");
        workspace.write(pair.file, &read);
        let run = verify(&workspace, &registry, &[]);
        assert!(!run.stdout.contains(UNREAD), "{} {read}: {run}", pair.reason);
        // Without what is not read, nothing is created.
        fs::remove_file(workspace.path(LOCK)).unwrap();
        workspace.write(pair.file, &unread);
        let run = workspace.tflock(&registry, lock).ended_with(2);
        assert!(
            run.stderr.contains("requirements are not read, and there is no lock file") && !workspace.has(LOCK),
            "{run}"
        );
    }
}

#[test]
fn without_configuration_nothing_is_compared() {
    let registry = honest();
    let workspace = locked(&registry);
    for (from, to, is_unread) in [("main.tf", "main.tf~", true), ("main.tf~", "main.tf", false)] {
        fs::rename(workspace.path(from), workspace.path(to)).unwrap();
        let run = verify(&workspace, &registry, &[]).ended_with(0);
        assert_eq!(rules(&run, "warn").contains(UNREAD), is_unread, "{run}");
    }
}

/// The variants in the source, with the pairs here: a reason that is added needs one. Lock files of Atmos instances are in `atmos.rs`,
/// what takes thousands of modules is in `disk/roots/tests.rs`.
#[test]
fn each_reason_has_a_pair() {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/disk/roots/unread.rs")).unwrap();
    let body = source.split_once("pub enum UnreadReason {").unwrap().1.split_once("\n}").unwrap().0;
    let lines = body.lines().map(str::trim).filter(|line| line.starts_with(char::is_uppercase));
    let variants: BTreeSet<&str> = lines.map(|line| line.split([' ', ',', '(']).next().unwrap()).collect();
    let others = ["AtmosInstance", "NoConfiguration", "TooManyModules"];
    let pairs: BTreeSet<&str> = PAIRS.iter().map(|pair| pair.reason).chain(others).collect();
    assert_eq!(pairs, variants);
}

/// What was read at the base and is not any more is denied, whatever decides it.
#[test]
fn a_change_that_hides_requirements_is_denied() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("app/m/main.tf", "");
    workspace.write(
        "app/call.tf",
        "locals {\n  name = \"m\"\n}\nmodule \"m\" {\n  source = \"./${trimspace(local.name)}\"\n}\n",
    );
    commit(&workspace, "call");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let gate = GATE.iter().chain(&["-r", "--offline", "--format", "json"]).collect::<Vec<_>>();
    edit(&workspace, "app/call.tf", |text| text.replace("\"m\"\n}\nmodule", "file(\"m\")\n}\nmodule"));
    commit(&workspace, "hidden");
    assert_eq!(unread_denied(&workspace.tflock(&registry, &gate).ended_with(3)), [UNREAD]);
    // It is as it was: nothing new is hidden.
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write("README.md", "x\n");
    commit(&workspace, "note");
    assert_eq!(unread_denied(&workspace.tflock(&registry, &gate).ended_with(0)), [""; 0]);
}

/// Where all modules have to be known, one that is not read is an error.
#[test]
fn modules_are_neither_installed_nor_locked_in_part() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write("call.tf", "module \"m\" {\n  source = \"./${file(\"m\")}\"\n}\n");
    for args in [&["get"][..], &["install"], &["lock", "--lock-modules"]] {
        let run = workspace.tflock(&registry, args);
        assert!(!workspace.has(".terraform/modules") && !workspace.has(".tflock.modules.hcl"), "{args:?}: {run}");
        if args != ["install"] {
            assert!(run.code == Some(2) && run.stderr.contains("not all modules are known"), "{args:?}: {run}");
        }
    }
}

/// What is known is shown with what is not, and no entry is dropped that may be required.
#[test]
fn what_is_not_read_is_said_where_requirements_are_shown_or_dropped() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write("call.tf", "module \"m\" {\n  source = \"./${file(\"m\")}\"\n}\n");
    for args in [&["why"][..], &["list", "--modules"]] {
        let run = workspace.tflock(&registry, args).ended_with(0);
        assert!(run.stderr.contains("note: call.tf:2:12: not read: the source of module.m"), "{args:?}: {run}");
    }
    let gadget = format!("{}/acme/gadget", registry.host());
    let before = (workspace.read("main.tf"), workspace.lock_file());
    let run = workspace.tflock(&registry, ["remove", &gadget]).ended_with(2);
    assert!(run.stderr.contains("--> call.tf:2:12") && run.stderr.contains("pass --force"), "{run}");
    assert_eq!((workspace.read("main.tf"), workspace.lock_file()), before);
    workspace.tflock(&registry, ["remove", "--force", &gadget]).ended_with(0);
    assert!(!workspace.lock_file().contains("acme/gadget"));
}

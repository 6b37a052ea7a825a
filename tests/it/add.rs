//! Requirements come and go, in configuration and lock file together.

use crate::support::followed::{commands, words};
use crate::support::keys::Day;
use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::{TESTDATA, Workspace};

const MAIN: &str = r#"# first of all
terraform {
  required_providers {
    widget = {
      source = "{{registry}}/acme/widget"
    }
  }
}

resource "widget_thing" "a" {}
"#;
const LOCK: &str = ".terraform.lock.hcl";

fn registry() -> Registry {
    let registry = Registry::start().release("acme/widget", "1.0.0", &["linux_amd64"]);
    let registry = registry.release("acme/gadget", "2.3.1", &["linux_amd64"]);
    registry.release("acme/gadget", "2.0.0", &["linux_amd64"])
}

fn workspace(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    workspace.tflock(registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    workspace
}

fn run(workspace: &Workspace, registry: &Registry, command: &str, what: &str, more: &[&str]) -> Run {
    let address = format!("{}/acme/{what}", registry.host());
    let platform: &[&str] = if command == "add" { &["--platform", "linux_amd64"] } else { &[] };
    let args = [&[command, &address], platform, more].concat();
    workspace.tflock(registry, args)
}

#[test]
fn a_dry_run_names_files_from_the_top() {
    let (registry, workspace) = (registry(), Workspace::with_files(&[("prod/main.tf", MAIN)]));
    let add = format!("{}/acme/gadget", registry.host());
    let args = ["-C", "prod", "add", &add, "--platform", "linux_amd64", "--dry-run"];
    let dry = workspace.tflock(&registry, args).ended_with(0);
    for file in ["prod/main.tf", "prod/.terraform.lock.hcl"] {
        assert!(dry.stdout.contains(&format!("--- a/{file}\n+++ b/{file}\n")), "{dry}");
    }
}

#[test]
fn configuration_is_named_as_every_file() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("app/main.tf", MAIN)]);
    let gadget = format!("{}/acme/gadget", registry.host());
    for args in [&["add", &gadget, "--name", "widget"][..], &["remove", "widget"]] {
        let run = workspace.tflock(&registry, ["-C", "app", "--format", "json"].iter().chain(args)).ended_with(2);
        assert_eq!(run.json()["error"]["file"], "app/main.tf", "{run}");
    }
}

/// What was made for the only requirement goes with it.
#[test]
fn removing_what_was_added_leaves_every_file_as_before() {
    let registry = registry();
    for main in ["locals {}\n", "terraform {\n  required_version = \">= 1.0\"\n}\n\nlocals {}\n"] {
        let workspace = Workspace::with_files(&[("main.tf", main)]);
        run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
        assert!(workspace.lock_file().contains("acme/gadget"));
        run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
        assert_eq!((workspace.read("main.tf").as_str(), workspace.has("versions.tf")), (main, false));
    }
}

#[test]
fn a_requirement_and_its_entry() {
    let registry = registry();
    let workspace = workspace(&registry);
    let (main, lock) = (workspace.read("main.tf"), workspace.lock_file());
    let dry = run(&workspace, &registry, "add", "gadget", &["--dry-run"]).ended_with(0);
    assert!(dry.touched().is_empty() && dry.stdout.contains("+    gadget = {"), "{dry}");
    let added = run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
    let entry = format!(
        "    gadget = {{\n      source  = \"{}/acme/gadget\"\n      version = \"~> 2.3\"\n    }}\n",
        registry.host()
    );
    assert_eq!(workspace.read("main.tf"), main.replace("    widget = {", &format!("{entry}    widget = {{")));
    assert!(workspace.lock_file().contains("constraints = \"~> 2.3\""));
    assert!(added.stdout.contains("review and commit main.tf"), "{added}");
    let again = run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
    assert!(again.touched().is_empty(), "{again}");
    let other = run(&workspace, &registry, "add", "gadget@~> 2.0", &[]).ended_with(2);
    assert!(other.stderr.contains("is already required") && other.touched().is_empty(), "{other}");

    let removed = run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
    assert_eq!((workspace.read("main.tf"), workspace.lock_file()), (main, lock));
    assert!(removed.stderr.contains("other versions are a first use"), "{removed}");
}

#[test]
fn constraints_names_and_pins() {
    let registry = registry();
    let workspace = workspace(&registry);
    run(&workspace, &registry, "add", "gadget@< 2.3", &["--name", "gizmo"]).ended_with(0);
    assert!(workspace.read("main.tf").contains("gizmo = {") && workspace.lock_file().contains("\"2.0.0\""));
    // A requirement that the locked version does not meet selects another.
    run(&workspace, &registry, "add", "gadget@>= 2.3", &["--replace"]).ended_with(0);
    assert!(workspace.read("main.tf").contains("version = \">= 2.3\"") && workspace.lock_file().contains("\"2.3.1\""));
    run(&workspace, &registry, "add", "gadget@< 3", &["--replace"]).ended_with(0);
    assert!(workspace.lock_file().contains("\"2.3.1\""));
    run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
    run(&workspace, &registry, "add", "gadget", &["--pin"]).ended_with(0);
    assert!(workspace.read("main.tf").contains("version = \"2.3.1\""));
    assert!(workspace.lock_file().contains("constraints = \"2.3.1\""));
}

/// A provider that is locked already: another module requires it, or none does any more.
#[test]
fn a_constraint_against_the_locked_version() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("main.tf", "# none yet\n")]);
    run(&workspace, &registry, "add", "gadget", &["--lock-only"]).ended_with(0);
    let refused = run(&workspace, &registry, "add", "gadget@~> 2.0.0", &[]).ended_with(2);
    let address = format!("{}/acme/gadget", registry.host());
    let message =
        format!("the constraint \"~> 2.0.0\" does not allow the locked version 2.3.1 of provider {address}\n");
    let help = format!("  help: `tflock add \"{address}@~> 2.0.0\" --replace` selects a version that it allows\n");
    assert!(refused.stderr.ends_with(&format!("{message}{help}")) && refused.touched().is_empty(), "{refused}");
    run(&workspace, &registry, "add", "gadget@~> 2.0.0", &["--replace"]).ended_with(0);
    assert!(workspace.lock_file().contains("\"2.0.0\"") && workspace.read("versions.tf").contains("~> 2.0.0"));
}

#[test]
fn on_any_error_neither_file_changes() {
    let registry = registry();
    let workspace = workspace(&registry);
    for (what, code) in [("gadgat", 2), ("gadget@~> 9.0", 2), ("gadget@nonsense", 2)] {
        let run = run(&workspace, &registry, "add", what, &[]).ended_with(code);
        assert!(run.touched().is_empty(), "{run}");
    }
    let everywhere = run(&workspace, &registry, "add", "gadget", &["-r"]).ended_with(2);
    assert!(
        everywhere.stderr.contains("edits root modules that are named") && everywhere.touched().is_empty(),
        "{everywhere}"
    );
    let near = run(&workspace, &registry, "add", "widgets", &[]).ended_with(2);
    assert!(near.stderr.contains("did you mean") && near.stderr.contains("acme/widget?"), "{near}");
    registry.republish("acme/widget", "1.0.0");
    let used = run(&workspace, &registry, "remove", "widget", &[]).ended_with(2);
    assert!(used.stderr.contains("still used by resource \"widget_thing\" \"a\""), "{used}");
    assert!(used.touched().is_empty() && used.stderr.contains("main.tf:10:1"), "{used}");
}

#[test]
fn a_directory_without_configuration() {
    let (registry, workspace) = (registry(), Workspace::with_files(&[]));
    let added = run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
    assert!(workspace.has("versions.tf") && workspace.has(LOCK), "{added}");
    if let Some(run) = workspace.terraform(&registry, ["fmt", "-check"]) {
        run.ended_with(0);
    }
}

#[test]
fn the_lock_file_alone() {
    let registry = registry();
    let workspace = workspace(&registry);
    let before = workspace.read("main.tf");
    run(&workspace, &registry, "add", "gadget", &["--lock-only"]).ended_with(0);
    assert!(workspace.lock_file().contains("\"2.3.1\""));
    let other = run(&workspace, &registry, "add", "gadget@2.0.0", &["--lock-only"]).ended_with(2);
    assert!(other.stderr.contains("does not allow the locked version 2.3.1"), "{other}");
    let host = registry.host();
    assert!(other.stderr.contains(&format!("`tflock remove --lock-only {host}/acme/gadget` takes")), "{other}");
    run(&workspace, &registry, "remove", "gadget", &["--lock-only"]).ended_with(0);
    assert!(!workspace.lock_file().contains("gadget"));
    assert_eq!(workspace.read("main.tf"), before);
}

#[test]
fn what_another_module_requires_stays_locked() {
    let registry = registry();
    let net = MAIN.replace(
        "source = \"{{registry}}/acme/widget\"",
        "source  = \"{{registry}}/acme/widget\"\n      version = \"~> 1.0\"",
    );
    let main = MAIN.replace("resource \"widget_thing\" \"a\" {}", "module \"net\" {\n  source = \"./net\"\n}");
    let workspace = Workspace::with_files(&[("main.tf", &main), ("net/main.tf", &net)]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let removed = run(&workspace, &registry, "remove", "widget", &[]).ended_with(0);
    assert!(removed.stderr.contains("stays locked: module.net requires it (net/main.tf:4:5)"), "{removed}");
    assert!(!removed.stderr.contains("first use"), "{removed}");
    assert!(!workspace.read("main.tf").contains("widget") && workspace.lock_file().contains("acme/widget"));
}

/// The same place as `why` prints.
#[test]
fn a_remote_module_that_requires_it_is_named_as_elsewhere() {
    let net = MAIN.replace("# first of all\n", "");
    let registry = registry().module("acme/net/lab", "1.0.0", &[("main.tf", &net)]);
    let call = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"1.0.0\"\n}\n";
    let main = MAIN.replace("resource \"widget_thing\" \"a\" {}", call);
    let workspace = Workspace::with_files(&[("envs/b/main.tf", &main)]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["-C", "envs/b", "lock", "--platform", "linux_amd64"]).ended_with(0);
    let why = workspace.tflock(&registry, ["-C", "envs/b", "why"]).ended_with(0);
    let address = format!("{}/acme/widget", registry.host());
    let removed = workspace.tflock(&registry, ["-C", "envs/b", "remove", &address]).ended_with(0);
    let place = removed.stderr.split_once("module.net requires it (").unwrap().1.split_once(')').unwrap().0;
    assert!(!place.starts_with("envs") && why.stdout.contains(place), "{removed}{why}");
}

/// Without a constraint: one that goes with what can be selected, by other modules and by the policy.
#[test]
fn the_constraint_follows_the_selected_version() {
    let registry = registry().release("acme/gadget", "3.0.0", &["linux_amd64"]).signed_on(Day(20_000));
    let net = "terraform {\n  required_providers {\n    gadget = {\n      source  = \"{{registry}}/acme/gadget\"\n      \
               version = \"< 2.3\"\n    }\n  }\n}\n";
    let call = format!("{MAIN}\nmodule \"net\" {{\n  source = \"./net\"\n}}\n");
    let workspace = Workspace::with_files(&[("main.tf", &call), ("net/main.tf", net)]);
    run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
    assert!(workspace.read("main.tf").contains("version = \"~> 2.0\""));
    assert!(workspace.lock_file().contains("constraints = \"~> 2.0, < 2.3.0\""));

    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    let age = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 86_400 - 19_990;
    workspace.write(".tflock.hcl", &format!("policy {{\n  minimum_age = \"{age}d\"\n}}\n"));
    run(&workspace, &registry, "add", "gadget", &["--pin"]).ended_with(0);
    assert!(workspace.read("main.tf").contains("version = \"2.3.1\""));
    let young = run(&workspace, &registry, "add", "gadget@3.0.0", &["--replace"]).ended_with(2);
    assert!(young.stderr.contains("3.0.0 is excluded: its signature of 2024-10-04"), "{young}");
    assert!(young.touched().is_empty());
}

#[test]
fn what_gits_history_recorded() {
    let registry = registry();
    let workspace = workspace(&registry);
    workspace.git(["init", "--quiet"]);
    let commit = |message: &str| {
        workspace.git(["add", "--all"]);
        workspace.git(["commit", "--quiet", "-m", message]);
    };
    run(&workspace, &registry, "add", "gadget@2.0.0", &[]).ended_with(0);
    let before = (workspace.read("main.tf"), workspace.lock_file());
    commit("one");
    run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
    commit("two");
    let removed = workspace.read("main.tf");
    let added = run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
    let command = format!("`tflock add {}/acme/gadget@2.0.0 --replace`", registry.host());
    assert!(
        added.stdout.contains("note[locked-before]: ")
            && added.stdout.contains("was locked at 2.0.0 until 2024-06-01")
            && added.stdout.contains(&command),
        "{added}"
    );
    assert!(workspace.lock_file().contains("\"2.3.1\""));
    let restored = run(&workspace, &registry, "add", "gadget@2.0.0", &["--replace"]).ended_with(0);
    assert!(restored.stdout.is_empty() || !restored.stdout.contains("locked-before"), "{restored}");
    assert_eq!((workspace.read("main.tf"), workspace.lock_file()), before);

    // The very version, but not the release: refused.
    run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
    assert_eq!(workspace.read("main.tf"), removed);
    registry.republish("acme/gadget", "2.0.0");
    let refused = run(&workspace, &registry, "add", "gadget@2.0.0", &["--no-cache"]).ended_with(3);
    assert!(refused.stdout.contains("denied[republished]"), "{refused}");
    assert!(refused.stdout.contains("checked against the 2 hashes recorded there"), "{refused}");
    assert!(refused.touched().is_empty());
    // It takes three commands to accept it, each named by the one before.
    let mut said = refused.stdout;
    for (begin, code) in [("tflock lock ", 0), ("tflock lock --from-lock --accept-republished ", 0)] {
        let advised =
            commands(&said).into_iter().find(|words| words.starts_with(begin)).unwrap_or_else(|| panic!("{said}"));
        workspace.tflock(&registry, &words(&advised)[1..]).ended_with(code);
        said = workspace.tflock(&registry, ["verify", "--no-cache"]).stdout;
    }
    run(&workspace, &registry, "add", "gadget@2.0.0", &[]).ended_with(0);

    // Without git its history is unknown.
    run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
    let unknown = run(&workspace.env("PATH", "/nowhere"), &registry, "add", "gadget@2.0.0", &[]);
    assert!(unknown.stderr.contains("it is unknown whether"), "{unknown}");
}

#[test]
fn json_configuration_is_written_by_hand() {
    let registry = registry();
    let address = format!("{}/acme/gadget", registry.host());
    let main = format!("{{\"terraform\":{{\"required_providers\":{{\"gadget\":{{\"source\":\"{address}\"}}}}}}}}");
    let workspace = Workspace::with_files(&[("main.tf.json", &main)]);
    let add = run(&workspace, &registry, "add", "widget@~> 1.4", &[]).ended_with(2);
    let wanted =
        format!("write \"widget\": {{\"source\": \"{}/acme/widget\", \"version\": \"~> 1.4\"}}", registry.host());
    assert!(add.stderr.contains("main.tf.json") && add.stderr.contains(&wanted), "{add}");
    let replace = run(&workspace, &registry, "add", "gadget@2.0.0", &["--replace"]).ended_with(2);
    assert!(replace.stderr.contains("change \"version\" of \"gadget\" to \"2.0.0\" there"), "{replace}");
    let remove = run(&workspace, &registry, "remove", "gadget", &[]).ended_with(2);
    assert!(remove.stderr.contains("remove \"gadget\" from terraform.required_providers there"), "{remove}");
    for run in [add, replace, remove] {
        assert!(run.touched().is_empty() && run.stderr.contains("`tflock lock`"), "{run}");
    }
}

#[test]
fn what_is_no_text_is_not_edited() {
    let registry = registry();
    let workspace = workspace(&registry);
    let main = [workspace.read("main.tf").as_bytes(), b"# \xff\n"].concat();
    workspace.write_bytes("main.tf", &main);
    for (command, what) in [("add", "gadget"), ("add", "gadget@~> 2.0"), ("remove", "widget")] {
        let more: &[&str] = if command == "remove" { &["--force"] } else { &[] };
        let run = run(&workspace, &registry, command, what, more).ended_with(2);
        assert!(
            run.stderr.contains("not UTF-8") && run.stderr.contains("main.tf") && run.touched().is_empty(),
            "{run}"
        );
    }
}

#[test]
fn several_root_modules_that_are_named() {
    let registry = registry();
    let workspace =
        Workspace::with_files(&[("a/main.tf", MAIN), ("b/main.tofu", "# empty\n"), ("b/main.tf", "# none\n")]);
    let address = format!("{}/acme/gadget", registry.host());
    let add = ["-C", "a", "-C", "b", "add", &address, "--platform", "linux_amd64"];
    let added = workspace.tflock(&registry, add).ended_with(0);
    assert!(added.stdout.contains("2 root modules: 2 changed"), "{added}");
    assert!(workspace.read("a/main.tf").contains("acme/gadget") && workspace.has("b/versions.tofu"));
    // Each tool has a CLI configuration, and so credentials, of its own: the list is requested for both, the package once.
    assert_eq!((registry.count(Endpoint::Versions), registry.downloads("acme/gadget")), (2, 1));
    // One that is named twice is worked on once.
    let remove = ["-C", "a", "-C", "./a", "-C", "b", "remove", &address];
    workspace.tflock(&registry, remove).ended_with(0);
    assert_eq!(workspace.read("a/main.tf"), MAIN.replace("{{registry}}", &registry.host()));
}

#[test]
fn an_unfinished_merge_is_named() {
    let registry = registry();
    let workspace = workspace(&registry);
    let main = workspace.read("main.tf");
    workspace.write("main.tf", &format!("{main}<<<<<<< HEAD\n# a\n=======\n# b\n>>>>>>> other\n"));
    let run = run(&workspace, &registry, "add", "gadget", &[]).ended_with(2);
    assert!(run.stderr.contains("conflict marker") && run.stderr.contains("main.tf:11:1"), "{run}");
}

/// Layouts of `testdata/edits`, end to end; unit tests check that `terraform fmt` accepts them.
#[test]
#[ignore = "long"]
fn every_layout() {
    let registry = registry().standing_for("registry.terraform.io").release("acme/widget", "1.4.2", &["linux_amd64"]);
    let folder = std::path::Path::new(TESTDATA).join("edits");
    let mut cases: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            let request = std::fs::read_to_string(folder.join(name).join("request")).unwrap_or_default();
            let plain = request.trim() == "add acme/widget@~> 1.4";
            plain && folder.join(name).join("after").is_dir()
        })
        .collect();
    cases.sort();
    assert!(cases.len() >= 25, "{cases:?}");
    for name in cases {
        let before = format!("edits/{name}/before");
        // Git keeps no empty folder.
        let workspace = if folder.join(&name).join("before").is_dir() {
            Workspace::from(&before)
        } else {
            Workspace::with_files(&[])
        };
        let args = ["add", "acme/widget@~> 1.4", "--platform", "linux_amd64", "--tool", "terraform"];
        let run = workspace.tflock(&registry, args);
        // Some have requirements of their own that this registry does not have; they are not requested.
        let run = run.ended_with(0);
        for entry in std::fs::read_dir(folder.join(&name).join("after")).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let wanted = std::fs::read(folder.join(&name).join("after").join(&file)).unwrap();
            assert_eq!(std::fs::read(workspace.path(&file)).unwrap(), wanted, "{name}: {file}\n{run}");
        }
    }
}

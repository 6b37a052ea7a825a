//! Which lock file Terragrunt uses: the gate judges that one, and a unit does not lose it silently.

use std::collections::BTreeSet;

use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::proposal::{GATE, commit, edit};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const INCLUDE: &str = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n";
const SOURCE: &str = "terraform {\n  source = \"${get_repo_root()}/modules/net\"\n}\n";

/// A unit with a lock file, and two without: they are covered by that of their module. As `origin/main` has them.
fn repository(registry: &Registry) -> Workspace {
    let main = MAIN.replace("{{registry}}", &registry.host());
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", &main),
        ("modules/bare/main.tf", &main),
        ("names.hcl", "locals {\n  module = \"net\"\n}\n"),
        ("root.hcl", SOURCE),
        ("live/own/terragrunt.hcl", INCLUDE),
        ("live/of-module/terragrunt.hcl", INCLUDE),
        (
            "live/named/terragrunt.hcl",
            "locals {\n  names = read_terragrunt_config(\"${get_repo_root()}/names.hcl\").locals\n}\n\
             terraform {\n  source = \"../../modules//${local.names.module}\"\n}\n",
        ),
        (".tflock.hcl", "tool = \"terraform\"\n"),
    ]);
    let lock = locked(registry).lock_file();
    workspace.write(&format!("modules/net/{LOCK}"), &lock);
    workspace.write(&format!("live/own/{LOCK}"), &lock);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

/// Puts a line into the block `terraform` of the root.
fn in_terraform(workspace: &Workspace, line: &str) {
    edit(workspace, "root.hcl", |text| text.replace("terraform {\n", &format!("terraform {{\n  {line}\n")));
}

fn source(workspace: &Workspace, unit: &str, source: &str) {
    workspace.write(&format!("live/{unit}/terragrunt.hcl"), &format!("terraform {{\n  source = {source}\n}}\n"));
}

type Change = fn(&Workspace);

/// What a change does, and a rule that is denied; `None` where it is honest.
const CHANGES: &[(&str, Change, Option<&str>)] = &[
    ("the lock file by name", |it| in_terraform(it, "exclude_from_copy = [\".terraform.lock.hcl\"]"), Some(LOST)),
    ("all files", |it| in_terraform(it, "exclude_from_copy = [\"*\"]"), Some(LOST)),
    ("all files below", |it| in_terraform(it, "exclude_from_copy = [\"**\"]"), Some(LOST)),
    ("all hidden files", |it| in_terraform(it, "exclude_from_copy = [\".*\"]"), Some(LOST)),
    ("files of the tool", |it| in_terraform(it, "exclude_from_copy = [\".terraform*\"]"), Some(LOST)),
    ("files of HCL", |it| in_terraform(it, "exclude_from_copy = [\"**/*.hcl\"]"), Some(LOST)),
    ("at any depth", |it| in_terraform(it, "exclude_from_copy = [\"**/.terraform.lock.hcl\"]"), Some(LOST)),
    ("one of two", |it| in_terraform(it, "exclude_from_copy = [\"{x,.terraform.lock.hcl}\"]"), Some(LOST)),
    ("by a question mark", |it| in_terraform(it, "exclude_from_copy = [\".terraform?lock?hcl\"]"), Some(LOST)),
    ("by a class", |it| in_terraform(it, "exclude_from_copy = [\"[.]terraform.lock.hcl\"]"), Some(LOST)),
    (
        "by a function",
        |it| in_terraform(it, "exclude_from_copy = [join(\".\", [\"\", \"terraform\", \"lock\", \"hcl\"])]"),
        Some(LOST),
    ),
    (
        "by a name that only the environment knows",
        |it| in_terraform(it, "exclude_from_copy = [get_env(\"X\")]"),
        Some("requirements-unread"),
    ),
    (
        "in the unit",
        |it| {
            let block = "terraform {\n  exclude_from_copy = [\".terraform.lock.hcl\"]\n}\n";
            it.write("live/own/terragrunt.hcl", &format!("{INCLUDE}{block}"));
        },
        Some(LOST),
    ),
    (
        "in a deep include",
        |it| {
            in_terraform(it, "exclude_from_copy = [\".terraform.lock.hcl\"]");
            edit(it, "live/own/terragrunt.hcl", |text| text.replace("}\n", "  merge_strategy = \"deep\"\n}\n"));
        },
        Some(LOST),
    ),
    ("a package of git", |it| source(it, "of-module", "\"git::https://evil.example/net.git?ref=v1\""), Some(LOST)),
    ("a package of a registry", |it| source(it, "of-module", "\"tfr:///evil/net/aws?version=1.0.0\""), Some(LOST)),
    ("an archive", |it| source(it, "of-module", "\"https://evil.example/net.zip\""), Some(LOST)),
    ("a module without a lock file", |it| source(it, "of-module", "\"../../modules/bare\""), Some(LOST)),
    ("a module that does not exist", |it| source(it, "of-module", "\"../../modules/none\""), Some(LOST)),
    ("a source of the environment", |it| source(it, "of-module", "get_env(\"X\")"), Some(LOST)),
    (
        "files of the unit in place of the module",
        |it| {
            it.write("live/of-module/terragrunt.hcl", "inputs = {}\n");
            it.write("live/of-module/main.tf", &it.read("modules/net/main.tf"));
        },
        Some(LOST),
    ),
    ("a unit that cannot be read", |it| it.write("live/of-module/terragrunt.hcl", "terraform {\n"), Some(LOST)),
    ("a value that another file has", |it| edit(it, "names.hcl", |text| text.replace("net", "bare")), Some(LOST)),
    ("the root", |it| edit(it, "root.hcl", |text| text.replace("modules/net", "modules/bare")), Some(LOST)),
    (
        "the lock file of the module goes",
        |it| std::fs::remove_file(it.path(&format!("modules/net/{LOCK}"))).unwrap(),
        Some("lock-file-removed"),
    ),
    (
        "the lock file of the unit goes",
        |it| std::fs::remove_file(it.path(&format!("live/own/{LOCK}"))).unwrap(),
        Some("lock-file-removed"),
    ),
    ("a pattern for other files", |it| in_terraform(it, "exclude_from_copy = [\"*.md\"]"), None),
    ("an input", |it| it.write("live/of-module/terragrunt.hcl", &format!("{INCLUDE}inputs = {{\n  a = 1\n}}\n")), None),
    (
        "a lock file of its own",
        |it| it.write(&format!("live/of-module/{LOCK}"), &it.read(&format!("live/own/{LOCK}"))),
        None,
    ),
    (
        "a module of the same repository with a lock file",
        |it| {
            it.write(&format!("modules/bare/{LOCK}"), &it.read(&format!("live/own/{LOCK}")));
            source(it, "of-module", "\"../../modules/bare\"");
        },
        None,
    ),
    (
        "a directory of working directories",
        |it| {
            it.write("prepared/a/b/evil.tf", "provider \"extra\" {\n}\n");
            let line = "download_dir = \"${get_repo_root()}/prepared\"\n";
            it.write("live/own/terragrunt.hcl", &format!("{INCLUDE}{line}"));
        },
        Some("tracked-packages"),
    ),
    ("a working directory", |it| it.write("live/own/x/.terragrunt-source-version", "1\n"), Some("tracked-packages")),
    (
        "a directory for working directories",
        |it| {
            let line = "download_dir = \"${get_repo_root()}/.cache\"\n";
            it.write("live/own/terragrunt.hcl", &format!("{INCLUDE}{line}"));
        },
        None,
    ),
    ("a unit goes", |it| std::fs::remove_dir_all(it.path("live/of-module")).unwrap(), None),
];

const LOST: &str = "coverage-lost";

#[test]
#[ignore = "long"]
fn a_unit_does_not_lose_its_lock_file() {
    let registry = honest();
    let base = repository(&registry);
    for (name, change, wanted) in CHANGES {
        let workspace = base.copied();
        change(&workspace);
        commit(&workspace, name);
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]));
        let json = run.json();
        let mut found = BTreeSet::new();
        let mut open = vec![&json];
        while let Some(value) = open.pop() {
            if value["level"] == "deny" {
                found.extend(value["rule"].as_str());
            }
            match value {
                serde_json::Value::Array(values) => open.extend(values),
                serde_json::Value::Object(values) => open.extend(values.values()),
                _ => {}
            }
        }
        match wanted {
            Some(rule) => assert!(found.contains(rule), "{name}: {run}"),
            None => assert!(found.is_empty() && run.code == Some(0), "{name}: {run}"),
        }
    }
}

/// A program is new where no unit of the base starts it.
#[test]
fn a_new_program_is_a_warning() {
    let registry = honest();
    let hook = |name: &str| {
        format!(
            "terraform {{\n  before_hook \"{name}\" {{\n    commands = [\"init\"]\n    execute  = [\"./{name}.sh\"]\n  }}\n}}\n"
        )
    };
    let base = repository(&registry);
    base.write("live/own/terragrunt.hcl", &format!("{INCLUDE}{}", hook("old")));
    commit(&base, "hook");
    base.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (text, is_new) in [(hook("old"), false), (hook("new"), true), (hook("old").replace("init", "plan"), true)] {
        let workspace = base.copied();
        workspace.write("live/other/terragrunt.hcl", &format!("{INCLUDE}{text}"));
        workspace.write(&format!("live/other/{LOCK}"), &base.read(&format!("live/own/{LOCK}")));
        commit(&workspace, "other");
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"])).ended_with(0);
        assert_eq!(run.stdout.contains("warning[program-changed]"), is_new, "{text}: {run}");
    }
}

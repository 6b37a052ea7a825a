//! What a unit names decides what it does: scripts that hooks and `run_cmd` start, configuration of the tool. Whether it changed is judged
//! with the file that names it.

use super::unread::denied;
use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::proposal::{GATE, commit, edit};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const SOURCE: &str = "  source = \"${get_repo_root()}/modules/net\"\n";

fn repository(registry: &Registry, unit: &str) -> Workspace {
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", &MAIN.replace("{{registry}}", &registry.host())),
        ("modules/net/prepare.sh", "#!/bin/sh\ntrue\n"),
        ("scripts/prepare.sh", "#!/bin/sh\ntrue\n"),
        ("scripts/other.sh", "#!/bin/sh\ntrue\n"),
        ("live/a/prepare.sh", "#!/bin/sh\ntrue\n"),
        ("live/a/rc", "provider_installation {\n}\n"),
        ("plugins/widget/readme", "none\n"),
        (".tflock.hcl", "tool = \"terraform\"\n"),
        ("live/a/terragrunt.hcl", unit),
    ]);
    workspace.write(&format!("live/a/{LOCK}"), &locked(registry).lock_file());
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

fn changed(base: &Workspace, registry: &Registry, file: &str) -> Run {
    let workspace = base.copied();
    edit(&workspace, file, |text| format!("{text}curl evil.example\n"));
    commit(&workspace, file);
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]))
}

fn hook(execute: &str, more: &str) -> String {
    let commands = "    commands = [\"init\"]\n";
    format!("terraform {{\n{SOURCE}  before_hook \"x\" {{\n{commands}    execute  = {execute}\n{more}  }}\n}}\n")
}

fn init(argument: &str) -> String {
    format!("terraform {{\n{SOURCE}  extra_arguments \"x\" {{\n    commands = [\"init\"]\n    {argument}\n  }}\n}}\n")
}

#[test]
#[ignore = "long"]
fn a_program_is_new_if_a_file_changed_that_it_names() {
    let registry = honest();
    let local = |call: &str| format!("locals {{\n  x = {call}\n}}\nterraform {{\n{SOURCE}}}\n");
    for (unit, file, is_new) in [
        (hook("[\"./prepare.sh\"]", ""), "live/a/prepare.sh", true),
        (hook("[\"./prepare.sh\"]", ""), "modules/net/prepare.sh", true),
        (hook("[\"bash\", \"-c\", \"set -e; ./prepare.sh --all\"]", ""), "live/a/prepare.sh", true),
        (hook("[\"${get_repo_root()}/scripts/prepare.sh\", get_env(\"X\")]", ""), "scripts/prepare.sh", true),
        (hook("[\"./prepare.sh\"]", "    working_dir = \"${get_repo_root()}/scripts\"\n"), "scripts/prepare.sh", true),
        (hook("[\"${get_repo_root()}/scripts/prepare.sh\"]", ""), "scripts/other.sh", false),
        (local("run_cmd(\"${get_repo_root()}/scripts/prepare.sh\")"), "scripts/prepare.sh", true),
        (local("run_cmd(\"sh\", \"-c\", \"../../scripts/prepare.sh|cat\")"), "scripts/prepare.sh", true),
        (local("run_cmd(\"${get_repo_root()}/scripts/prepare.sh\")"), "scripts/other.sh", false),
        (
            format!("terraform_binary = \"${{get_repo_root()}}/scripts/prepare.sh\"\nterraform {{\n{SOURCE}}}\n"),
            "scripts/prepare.sh",
            true,
        ),
    ] {
        let run = changed(&repository(&registry, &unit), &registry, file).ended_with(0);
        let text = run.stdout.contains("program-changed");
        assert_eq!(text, is_new, "{unit} {file}: {run}");
    }
}

#[test]
fn what_decides_about_init_is_new_if_a_file_changed_that_it_names() {
    let registry = honest();
    for (argument, file, is_new) in [
        ("env_vars = { TF_CLI_CONFIG_FILE = \"${get_terragrunt_dir()}/rc\" }", "live/a/rc", true),
        ("env_vars = { TF_CLI_CONFIG_FILE = \"${get_terragrunt_dir()}/rc\" }", "scripts/other.sh", false),
        ("arguments = [\"-plugin-dir=${get_repo_root()}/plugins\"]", "plugins/widget/readme", true),
        ("arguments = [\"-plugin-dir\", \"../../plugins\"]", "plugins/widget/readme", true),
        ("env_vars = { TF_CLI_ARGS_init = \"-plugin-dir=../../plugins -no-color\" }", "plugins/widget/readme", true),
    ] {
        let run = changed(&repository(&registry, &init(argument)), &registry, file);
        assert_eq!(denied(&run).contains(&"init-overridden".to_owned()), is_new, "{argument} {file}: {run}");
    }
}

/// A unit whose module only the environment knows is denied where anything of it that is read changed, or what the rest comes from.
#[test]
#[ignore = "long"]
fn an_unread_unit_is_denied_where_what_is_read_of_it_changed() {
    let registry = honest();
    let unit = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n\
                terraform {\n  source = \"${get_repo_root()}/modules//${get_env(\"FLAVOR\")}\"\n}\n\
                inputs = {\n  size = 1\n}\n";
    let root = "locals {\n  data = yamldecode(file(\"data.yaml\"))\n}\n\
                generate \"p\" {\n  path = \"p.tf\"\n  if_exists = \"overwrite\"\n\
                contents = \"provider \\\"widget\\\" {\\n  region = \\\"${local.data.region}\\\"\\n}\\n\"\n}\n\
                remote_state {\n  backend = \"s3\"\n  generate = { path = \"b.tf\", if_exists = \"overwrite\" }\n  config = {\n    key = \"k\"\n  }\n}\n";
    let base = repository(&registry, unit);
    base.write("root.hcl", root);
    base.write("data.yaml", "region: eu\nother: 1\n");
    commit(&base, "root");
    base.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (file, old, new, is_denied) in [
        ("data.yaml", "other: 1", "other: 2", false),
        ("root.hcl", "key = \"k\"", "key = \"l\"", false),
        ("root.hcl", "locals {", "locals {\n  more = 1", false),
        ("root.hcl", "locals {", "# A comment.\nlocals {", false),
        (
            "live/a/terragrunt.hcl",
            "terraform {",
            "terraform {\n  extra_arguments \"x\" {\n    commands = [\"plan\"]\n  }",
            true,
        ),
        ("data.yaml", "region: eu", "region: us", true),
        ("root.hcl", "overwrite\"\ncontents", "skip\"\ncontents", true),
        ("root.hcl", "\"p.tf\"", "\"q.tf\"", true),
        ("live/a/terragrunt.hcl", "size = 1", "size = 2", true),
        ("live/a/terragrunt.hcl", "modules//$", "scripts//$", true),
        ("live/a/terragrunt.hcl", "get_env(\"FLAVOR\")", "get_env(\"TASTE\")", true),
        ("live/a/terragrunt.hcl", "get_env(\"FLAVOR\")", "lower(get_env(\"FLAVOR\"))", true),
        ("live/a/terragrunt.hcl", "get_env(\"FLAVOR\")", "get_env(\"FLAVOR\", \"net\")", true),
    ] {
        let workspace = base.copied();
        edit(&workspace, file, |text| text.replace(old, new));
        commit(&workspace, file);
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]));
        let found = denied(&run);
        assert_eq!(found.contains(&"requirements-unread".to_owned()), is_denied, "{file} {new}: {found:?} {run}");
    }
}

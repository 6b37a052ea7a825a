//! What a unit gives to `init` besides its lock file: what is not known to be harmless is reported, and denied where it is new.

use super::unread::denied;
use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::proposal::{GATE, commit};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const SOURCE: &str = "terraform {\n  source = \"${get_repo_root()}/modules/net\"\n";

fn unit(inner: &str) -> String {
    format!("{SOURCE}{inner}}}\n")
}

fn arguments(arguments: &str) -> String {
    unit(&format!("  extra_arguments \"x\" {{\n    commands  = [\"init\"]\n    arguments = {arguments}\n  }}\n"))
}

fn variable(name: &str, value: &str) -> String {
    unit(&format!(
        "  extra_arguments \"x\" {{\n    commands = [\"init\"]\n    env_vars = {{\n      {name} = {value}\n    }}\n  }}\n"
    ))
}

fn repository(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", &MAIN.replace("{{registry}}", &registry.host())),
        (".tflock.hcl", "tool = \"terraform\"\n"),
        ("rc", "provider_installation {\n}\n"),
        ("live/a/terragrunt.hcl", &unit("")),
    ]);
    workspace.write(&format!("live/a/{LOCK}"), &locked(registry).lock_file());
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

/// Units that decide what `init` installs.
fn overriding() -> Vec<String> {
    let mut units: Vec<String> = [
        "[\"-upgrade\"]",
        "[\"--upgrade\"]",
        "[\"-upgrade=true\"]",
        "[\"-lockfile=\"]",
        "[\"-lockfile=update\"]",
        "[\"-plugin-dir=${get_repo_root()}/p\"]",
        "[\"-plugin-dir\", \"p\"]",
        "[\"-get-plugins=false\"]",
        "[\"-verify-plugins=false\"]",
        "[\"-from-module=../evil\"]",
        "[\"-test-directory=evil\"]",
        "[\"-no-color\", \"-upgrade\"]",
        "[join(\"\", [\"-up\", \"grade\"])]",
        "[get_env(\"X\")]",
        "get_env(\"X\")",
        "[\"evil\"]",
    ]
    .map(arguments)
    .into();
    let variables = [
        "TF_CLI_CONFIG_FILE",
        "TERRAFORM_CONFIG",
        "TF_CLI_ARGS_init",
        "TF_CLI_ARGS",
        "TF_DATA_DIR",
        "TF_PLUGIN_CACHE_DIR",
        "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE",
        "TF_REATTACH_PROVIDERS",
        "TF_WORKSPACE",
        "TF_SOMETHING_NEW",
        "TOFU_ENFORCE_GPG_VALIDATION",
        "TG_SOURCE",
        "GIT_CONFIG_GLOBAL",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "HOME",
        "PATH",
        "XDG_CONFIG_HOME",
        "LD_PRELOAD",
    ];
    // `TERRAFORM_CONFIG` is an old name that the tools still read.
    units.extend(variables.iter().filter(|name| **name != "TERRAFORM_CONFIG").map(|name| variable(name, "\"x\"")));
    units.push(variable("TF_CLI_ARGS_init", "\"\""));
    units.push(variable("(\"TF_${\"CLI\"}_CONFIG_FILE\")", "\"${get_repo_root()}/rc\""));
    units.push(unit("  extra_arguments \"x\" {\n    commands = concat([\"plan\"], [\"init\"])\n    arguments = [\"-upgrade\"]\n  }\n"));
    units.push(unit("  extra_arguments \"x\" {\n    commands = get_terraform_commands_that_need_input()\n    arguments = [\"-upgrade\"]\n  }\n"));
    units.push(unit(
        "  extra_arguments \"x\" {\n    commands = [get_env(\"X\")]\n    arguments = [\"-upgrade\"]\n  }\n",
    ));
    units
}

/// Units that do not.
fn harmless() -> Vec<String> {
    let mut units: Vec<String> = [
        "[\"-var\", \"a=b\"]",
        "[\"-var=a=-upgrade\"]",
        "[\"-backend-config=x.hcl\", \"-backend=true\", \"-input=false\", \"-no-color\"]",
        "[\"-lock=false\", \"-lock-timeout=20m\", \"-reconfigure\", \"-migrate-state\", \"-force-copy\", \"-get=true\"]",
        "[\"-upgrade=false\", \"-lockfile=readonly\"]",
    ]
    .map(arguments)
    .into();
    for name in ["TF_VAR_a", "TF_LOG", "TF_LOG_PATH", "TF_INPUT", "TF_IN_AUTOMATION", "AWS_REGION"] {
        units.push(variable(name, "\"x\""));
    }
    units.push(unit("  extra_arguments \"x\" {\n    commands = [\"plan\"]\n    arguments = [\"-upgrade\"]\n  }\n"));
    units
}

fn what_decides_what_init_installs_is_reported(extent: Extent) {
    let registry = honest();
    let base = repository(&registry);
    let rows =
        overriding().into_iter().map(|text| (text, true)).chain(harmless().into_iter().map(|text| (text, false)));
    each_is_right(&extent.of(&rows.collect::<Vec<_>>(), 6), |(text, is_reported)| {
        let workspace = base.copied();
        workspace.write("live/a/terragrunt.hcl", text);
        commit(&workspace, "change");
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]));
        if denied(&run).contains(&"init-overridden".to_owned()) != *is_reported {
            return Err(format!("{is_reported}: {text}{run}"));
        }
        if !is_reported {
            return Ok(());
        }
        // What the base has is a warning, in another unit too.
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        workspace.write("live/b/terragrunt.hcl", text);
        workspace.write(&format!("live/b/{LOCK}"), &base.read(&format!("live/a/{LOCK}")));
        commit(&workspace, "copy");
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]));
        let is_warning =
            run.stdout.contains("init-overridden") && !denied(&run).contains(&"init-overridden".to_owned());
        if is_warning { Ok(()) } else { Err(format!("old: {text}{run}")) }
    });
}

#[test]
fn something_that_decides_what_init_installs_is_reported() {
    what_decides_what_init_installs_is_reported(Extent::Short);
}

#[test]
#[ignore = "long"]
fn all_that_decides_what_init_installs_is_reported() {
    what_decides_what_init_installs_is_reported(Extent::Long);
}

//! Changes and files that would have a reader of units do more than read: programs, secrets, other hosts, hidden requirements.

use super::unread::denied;
use crate::support::locked::{LOCK, MAIN, honest};
use crate::support::proposal::{GATE, commit, edit};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const INCLUDE: &str = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n";
const ROOT: &str = "terraform {\n  source = \"${get_repo_root()}/modules/net\"\n}\n";

/// A repository with two units below one root, locked, as `origin/main` has it.
fn repository(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", MAIN),
        ("root.hcl", ROOT),
        ("live/a/terragrunt.hcl", INCLUDE),
        ("live/b/terragrunt.hcl", INCLUDE),
        (".tflock.hcl", "tool = \"terraform\"\n"),
    ]);
    workspace.write("modules/net/main.tf", &MAIN.replace("{{registry}}", &registry.host()));
    workspace.git(["init", "--quiet"]);
    let lock = ["lock", "-r", "--create", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
    workspace.tflock(registry, lock).ended_with(0);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

fn gated(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--format", "json"]).chain(more))
}

type Change = fn(&Workspace);

/// What a change does, and the rules that are denied.
const CHANGES: &[(&str, Change, &[&str])] = &[
    ("a comment", |it| edit(it, "live/a/terragrunt.hcl", |text| format!("{text}# x\n")), &[]),
    (
        "an include of another root that requires more",
        |it| {
            let more = "generate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"extra\\\" {}\"\n}\n";
            it.write("other.hcl", &format!("{ROOT}{more}"));
            edit(it, "live/a/terragrunt.hcl", |text| text.replace("root.hcl", "other.hcl"));
        },
        &["entry-missing"],
    ),
    (
        "a source that only the environment knows",
        |it| edit(it, "root.hcl", |text| text.replace("modules/net", "${get_env(\"X\")}")),
        &["requirements-unread", "requirements-unread"],
    ),
    (
        "a new unit that is not read",
        |it| {
            it.write("live/c/terragrunt.hcl", "terraform {\n  source = run_cmd(\"x\")\n}\n");
            it.write(&format!("live/c/{LOCK}"), &it.read(&format!("live/a/{LOCK}")));
        },
        &["requirements-unread"],
    ),
    (
        "a new unit that is read",
        |it| {
            it.write("live/c/terragrunt.hcl", INCLUDE);
            it.write(&format!("live/c/{LOCK}"), &it.read(&format!("live/a/{LOCK}")));
        },
        &[],
    ),
    (
        "a file of JSON that goes before",
        |it| it.write("live/a/terragrunt.hcl.json", "{\"terraform\": {\"source\": \"../../modules/net\"}}\n"),
        &["root-kind-changed"],
    ),
    (
        "an include that includes",
        |it| edit(it, "root.hcl", |text| format!("include {{\n  path = \"x.hcl\"\n}}\n{text}")),
        &["requirements-unread", "requirements-unread"],
    ),
    (
        "a unit that reads itself",
        |it| {
            edit(it, "live/a/terragrunt.hcl", |text| {
                format!(
                    "{text}locals {{\n  x = read_terragrunt_config(\"terragrunt.hcl\").locals.x\n}}\nterraform {{\n  source = local.x\n}}\n"
                )
            });
        },
        &["requirements-unread"],
    ),
    (
        "two blocks that write one file",
        |it| {
            let block = |name: &str, text: &str| {
                format!(
                    "generate \"{name}\" {{\n  path = \"g.tf\"\n  if_exists = \"overwrite\"\n  contents = \"{text}\"\n}}\n"
                )
            };
            edit(it, "live/a/terragrunt.hcl", |text| format!("{text}{}{}", block("g", ""), block("h", "# other")));
        },
        &["requirements-unread"],
    ),
    (
        "a hole that closes its quote",
        |it| {
            edit(it, "live/a/terragrunt.hcl", |text| {
                format!(
                    "{text}generate \"g\" {{\n  path = \"g.tf\"\n  if_exists = \"overwrite\"\n  contents = \"provider \\\"widget\\\" {{\\n  x = \\\"a\\\"${{get_env(\"X\")}}\\\"\\\"\\n}}\"\n}}\n"
                )
            });
        },
        &["requirements-unread"],
    ),
    (
        "a file outside of the working directory",
        |it| {
            edit(it, "live/a/terragrunt.hcl", |text| {
                format!(
                    "{text}generate \"g\" {{\n  path = \"/tmp/tflock-g.tf\"\n  if_exists = \"overwrite\"\n  contents = \"\"\n}}\n"
                )
            });
        },
        &["requirements-unread"],
    ),
    (
        "settings that say what a variable is",
        |it| {
            edit(it, "live/a/terragrunt.hcl", |text| {
                format!(
                    "{text}generate \"g\" {{\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"${{get_env(\"P\")}}\\\" {{}}\"\n}}\n"
                )
            });
            edit(it, ".tflock.hcl", |text| format!("{text}terragrunt {{\n  env = {{ P = \"widget\" }}\n}}\n"));
        },
        &["requirements-unread"],
    ),
];

#[test]
fn each_change_of_a_unit_has_its_verdict() {
    let registry = honest();
    let base = repository(&registry);
    for (name, change, wanted) in CHANGES {
        let workspace = base.copied();
        change(&workspace);
        commit(&workspace, name);
        let run = gated(&workspace, &registry, &["--offline"]);
        let mut found: Vec<String> = denied(&run);
        found.sort();
        assert_eq!(found, *wanted, "{name}: {run}");
        assert!(!std::path::Path::new("/tmp/tflock-g.tf").exists());
    }
}

/// Units may read files of any name.
#[test]
fn a_change_of_any_file_that_a_unit_reads_concerns_it() {
    let registry = honest();
    let base = repository(&registry);
    let generate = "generate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"${yamldecode(file(\"p.yaml\")).p}\\\" {}\"\n}\n";
    base.write("live/a/terragrunt.hcl", &format!("{INCLUDE}{generate}"));
    base.write("live/a/p.yaml", "p: widget\n");
    base.write("live/a/other.yaml", "p: widget\n");
    commit(&base, "base");
    base.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (file, wanted) in [("other.yaml", &[][..]), ("p.yaml", &["entry-missing"][..])] {
        let workspace = base.copied();
        workspace.write(&format!("live/a/{file}"), "p: extra\n");
        commit(&workspace, file);
        let run = gated(&workspace, &registry, &["--offline"]);
        assert_eq!(denied(&run), wanted, "{file}: {run}");
    }
}

/// The value of the base and the value of the change are both looked at.
#[test]
fn a_change_of_the_environment_hides_no_requirement() {
    let registry = honest();
    let base = repository(&registry);
    let generate = "generate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"${get_env(\"P\")}\\\" {}\"\n}\n";
    let settings = |name: &str| format!("tool = \"terraform\"\nterragrunt {{\n  env = {{ P = \"{name}\" }}\n}}\n");
    base.write("live/a/terragrunt.hcl", &format!("{INCLUDE}{generate}"));
    base.write(".tflock.hcl", &settings("widget"));
    commit(&base, "base with a value");
    base.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (value, wanted) in [("gadget", &[][..]), ("extra", &["entry-missing"][..])] {
        let workspace = base.copied();
        workspace.write(".tflock.hcl", &settings(value));
        commit(&workspace, value);
        let run = gated(&workspace, &registry, &["--offline"]);
        assert_eq!(denied(&run), wanted, "{value}: {run}");
    }
}

#[test]
fn a_changed_source_is_shown() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, "root.hcl", |text| text.replace("modules/net", "modules/other"));
    workspace.write("modules/other/main.tf", &workspace.read("modules/net/main.tf"));
    edit(&workspace, "live/b/terragrunt.hcl", |text| {
        format!("{text}terraform {{\n  source = \"git::https://me:s3cret@h.example/r.git\"\n}}\n")
    });
    commit(&workspace, "sources");
    let run = gated(&workspace, &registry, &["--offline"]);
    let was = "and was \"${get_repo_root()}/modules/net\" at the base";
    assert!(
        run.stderr.contains("root.hcl: the source of the module is \"${get_repo_root()}/modules/other\","),
        "{run}"
    );
    assert!(
        run.stderr.contains(was) && run.stderr.contains("live/b/terragrunt.hcl: the source of the module is"),
        "{run}"
    );
    assert!(!run.to_string().contains("s3cret"), "{run}");
}

#[test]
fn broken_files_above_units_are_one_error() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("root.hcl", "locals {\n");
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline"]);
    assert_eq!(format!("{}{}", run.stdout, run.stderr).matches("root.hcl:").count(), 1, "{run}");
}

#[test]
fn programs_of_units_never_start() {
    let registry = honest();
    let workspace = repository(&registry);
    let hooks = "terraform {\n  before_hook \"h\" {\n    commands = [\"init\"]\n    execute  = [\"touch\", \"started\"]\n  }\n}\n\
                 locals {\n  s = sops_decrypt_file(\"secret.yaml\")\n  r = run_cmd(\"touch\", \"started\")\n}\n";
    edit(&workspace, "live/a/terragrunt.hcl", |text| format!("{text}{hooks}"));
    for command in [&["verify", "-r"][..], &["lock", "-r"], &["why", "-r"], &["list", "-r"], &["status"]] {
        let run = workspace.tflock(&registry, command);
        assert!(run.code.is_some_and(|code| code < 2), "{run}");
    }
    for place in ["started", "live/a/started"] {
        assert!(!workspace.has(place));
    }
}

#[cfg(unix)]
#[test]
fn a_unit_that_is_a_link_out_is_not_read() {
    let registry = honest();
    let workspace = repository(&registry);
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x.hcl"), INCLUDE).unwrap();
    std::fs::remove_file(workspace.path("live/a/terragrunt.hcl")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("x.hcl"), workspace.path("live/a/terragrunt.hcl")).unwrap();
    commit(&workspace, "link");
    let run = gated(&workspace, &registry, &["--offline"]);
    assert!(run.code != Some(0), "{run}");
}

/// What a host of a source is made of is a text of the repository; no request goes there unless the base knows the host.
#[test]
fn computed_hosts_are_requested_only_if_the_base_has_them() {
    let registry = honest();
    let workspace = repository(&registry);
    let host = registry.host();
    let literal = format!("terraform {{\n  source = \"git::https://{host}/net.git\"\n}}\n");
    workspace.write("live/b/terragrunt.hcl", &literal);
    let computed = "terraform {\n  source = \"git::https://${trimspace(file(\"host.txt\"))}/net.git\"\n}\n";
    workspace.write("live/a/terragrunt.hcl", computed);
    workspace.write("live/a/host.txt", "other.example\n");
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (text, is_known) in [("elsewhere.example", false), (&*host, true)] {
        workspace.write("live/a/host.txt", text);
        commit(&workspace, text);
        registry.forget_requests();
        let run = gated(&workspace, &registry, &[]);
        let is_refused = run.stdout.contains(&format!("the settings do not name {text} in module_hosts"));
        assert_eq!(is_refused, !is_known, "{text}: {run}");
        assert!(!run.to_string().contains("Could not resolve host"), "{run}");
    }
}

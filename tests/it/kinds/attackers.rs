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

/// A block that generates a file at a path.
fn generated(path: &str) -> String {
    format!("generate \"x\" {{\n  path = \"{path}\"\n  if_exists = \"overwrite\"\n  contents = \"\"\n}}\n")
}

/// A stack of one unit with these arguments.
fn stack(arguments: &str) -> String {
    format!("unit \"a\" {{\n  source = \"git::https://catalog.example/units.git//a\"\n  {arguments}\n}}\n")
}

/// Lets one unit be of a module of its own, which calls another one; that has an override that requires less.
fn with_module(workspace: &Workspace, source: &str, directory: &str, argument: &str) {
    workspace.write("modules/two/main.tf", &format!("module \"m\" {{\n  {source}\n}}\n"));
    let required = |source: &str| {
        format!("terraform {{\n  required_providers {{\n    x = {{\n      source = \"{source}\"\n    }}\n  }}\n}}\n")
    };
    workspace.write(&format!("modules/{directory}/v.tf"), &required("evil/widget"));
    let of_main = workspace.read("modules/net/main.tf");
    workspace.write(&format!("modules/{directory}/z_override.tf"), &of_main);
    let text = format!("{INCLUDE}terraform {{\n  source = \"../../modules//two\"\n  {argument}\n}}\n");
    workspace.write("live/a/terragrunt.hcl", &text);
}

/// A block that generates a provider block with a value in quotes.
fn provider_with(value: &str) -> String {
    format!(
        "generate \"g\" {{\n  path = \"g.tf\"\n  if_exists = \"overwrite\"\n  contents = \"provider \\\"widget\\\" {{\\n  x = \\\"${{{value}}}\\\"\\n}}\\n\"\n}}\n"
    )
}

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
        "an unknown value in quotes",
        |it| edit(it, "live/a/terragrunt.hcl", |text| text.to_owned() + &provider_with("get_env(\"X\")")),
        &["requirements-unread"],
    ),
    (
        "an unknown value that cannot contain a quote",
        |it| edit(it, "live/a/terragrunt.hcl", |text| text.to_owned() + &provider_with("base64encode(get_env(\"X\"))")),
        &[],
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
        "a generated lock file",
        |it| edit(it, "live/a/terragrunt.hcl", |text| text.to_owned() + &generated(".terraform.lock.hcl")),
        &["requirements-unread"],
    ),
    (
        "a generated list of installed modules",
        |it| edit(it, "root.hcl", |text| text.to_owned() + &generated(".terraform/modules/modules.json")),
        &["requirements-unread", "requirements-unread"],
    ),
    (
        "a lock file that a disabled block removes",
        |it| {
            edit(it, "live/a/terragrunt.hcl", |text| {
                let block =
                    generated(LOCK).replace("if_exists", "disable = true\n  if_disabled = \"remove\"\n  if_exists");
                text.to_owned() + &block
            });
        },
        &["requirements-unread"],
    ),
    (
        "a module outside of the working tree",
        |it| edit(it, "root.hcl", |text| text.replace("${get_repo_root()}/modules/net", "/usr")),
        &["requirements-unread", "requirements-unread"],
    ),
    (
        "a module in the repository of git",
        |it| {
            edit(it, "live/a/terragrunt.hcl", |text| {
                format!("{text}terraform {{\n  source = \"../../.git//hooks\"\n}}\n")
            });
        },
        &["requirements-unread"],
    ),
    (
        "a module without configuration",
        |it| {
            it.write("modules/none/README.md", "x");
            edit(it, "live/a/terragrunt.hcl", |text| {
                format!("{text}terraform {{\n  source = \"../../modules/none\"\n}}\n")
            });
        },
        &["requirements-unread"],
    ),
    (
        "a file that is not copied",
        |it| {
            edit(it, "root.hcl", |text| {
                text.replace("terraform {\n", "terraform {\n  exclude_from_copy = [\"ma*.tf\"]\n")
            });
        },
        &["requirements-unread", "requirements-unread"],
    ),
    (
        "an argument of the unit that does not count next to an include",
        |it| {
            edit(it, "live/a/terragrunt.hcl", |text| {
                format!("{text}terraform {{\n  exclude_from_copy = [\"main.tf\"]\n}}\n")
            });
        },
        &["requirements-unread"],
    ),
    (
        "a file of the unit that takes the place of the module's",
        |it| it.write("live/a/main.tf", "provider \"extra\" {\n}\n"),
        &["entry-missing"],
    ),
    (
        "what a stack adds",
        |it| {
            let text = "generate \"e\" {\n  path = \"e.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"extra\\\" {\\n}\"\n}\n";
            it.write("live/a/terragrunt.autoinclude.hcl", text);
        },
        &["entry-missing"],
    ),
    (
        "a stack that generates over a unit",
        |it| it.write("live/terragrunt.stack.hcl", &stack("path = \"a\"\n  no_dot_terragrunt_stack = true")),
        &["coverage-lost"],
    ),
    (
        "a stack that may generate over a unit",
        |it| it.write("live/terragrunt.stack.hcl", &stack("path = local.x\n  no_dot_terragrunt_stack = local.y")),
        &["coverage-lost"],
    ),
    (
        "a stack that generates over a unit by another spelling",
        |it| it.write("live/terragrunt.stack.hcl", &stack("path = \"A\"\n  no_dot_terragrunt_stack = true")),
        &["coverage-lost"],
    ),
    (
        "a stack by another spelling",
        |it| it.write("live/Terragrunt.Stack.hcl", &stack("path = \"c\"")),
        &["ambiguous-name"],
    ),
    (
        "a stack that generates elsewhere",
        |it| it.write("live/terragrunt.stack.hcl", &stack("path = \"c\"\n  no_dot_terragrunt_stack = true")),
        &[],
    ),
    (
        "a stack that generates in its own directory",
        |it| it.write("live/terragrunt.stack.hcl", &stack("path = \"a\"")),
        &[],
    ),
    (
        "a generated file that another block removes, in random order",
        |it| {
            let evil = "generate \"e\" {\n  path = \"e.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"extra\\\" {\\n}\"\n}\n";
            let removed = "generate \"f\" {\n  path = \"e.tf\"\n  if_exists = \"skip\"\n  contents = \"\"\n  disable = true\n  if_disabled = \"remove\"\n}\n";
            edit(it, "live/a/terragrunt.hcl", |text| format!("{text}{evil}{removed}"));
        },
        &["requirements-unread"],
    ),
    (
        "an override that is not copied, of a module next to that of the unit",
        |it| with_module(it, "source = \"../other\"", "other", "exclude_from_copy = [\"other/z_override.tf\"]"),
        &["entry-missing", "requirements-unread"],
    ),
    (
        "a hidden module of which one file is copied",
        |it| with_module(it, "source = \"./.o\"", "two/.o", "include_in_copy = [\"two/.o/v.tf\"]"),
        &["entry-missing", "requirements-unread", "requirements-unread"],
    ),
    (
        "a list of files that Terragrunt removes",
        |it| it.write("modules/net/.terragrunt-module-manifest", "x"),
        &["tracked-packages"],
    ),
    (
        "an alias bomb of YAML",
        |it| {
            let level = |at: u8| {
                let (name, below) = (char::from(b'a' + at), char::from(b'a' + at - 1));
                format!("{name}: &{name} [{}]\n", vec![format!("*{below}"); 9].join(", "))
            };
            let text = format!("a: &a [x, x, x, x, x, x, x, x, x]\n{}", (1..9).map(level).collect::<String>());
            it.write("x.yaml", &text);
            let source = "terraform {\n  source = yamldecode(file(\"../../x.yaml\")).i[0]\n}\n";
            edit(it, "live/a/terragrunt.hcl", |text| text.to_owned() + source);
        },
        &["requirements-unread"],
    ),
    (
        "a path with a line feed and an escape",
        |it| {
            let source = "terraform {\n  source = \"../../modules/net\\n\\u001b[31m\"\n}\n";
            edit(it, "live/a/terragrunt.hcl", |text| text.to_owned() + source);
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
        &["policy-weakened", "requirements-unread"],
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
    let weakened = "policy-weakened";
    for (value, wanted) in [("gadget", &[weakened][..]), ("extra", &["entry-missing", weakened][..])] {
        let workspace = base.copied();
        workspace.write(".tflock.hcl", &settings(value));
        commit(&workspace, value);
        let run = gated(&workspace, &registry, &["--offline"]);
        let mut found = denied(&run);
        found.sort();
        assert_eq!(found, wanted, "{value}: {run}");
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
    for note in [
        "live/a: the source of the module is modules/other, and was modules/net at the base",
        "live/b: the source of the module is git::https://h.example/r.git, and was modules/net at the base",
    ] {
        assert!(run.stderr.contains(note), "{note}: {run}");
    }
    assert!(!run.to_string().contains("s3cret"), "{run}");
}

/// What a unit requires no more is named, and what its module was.
#[test]
fn an_include_of_a_root_that_requires_less_is_shown() {
    let registry = honest();
    let base = repository(&registry);
    let extra =
        "generate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"gadget\\\" {}\"\n}\n";
    let main = base.read("modules/net/main.tf");
    let widget = main.replace(&main[main.find("    gadget").unwrap()..main.rfind("  }\n}").unwrap()], "");
    base.write("modules/small/main.tf", &widget);
    base.write("small.hcl", &ROOT.replace("net", "small"));
    base.write("generating.hcl", &format!("{}{extra}", ROOT.replace("net", "small")));
    // It is what a generated file requires, and not the module.
    base.write("live/c/terragrunt.hcl", &INCLUDE.replace("root.hcl", "generating.hcl"));
    let gadget = format!("{}/acme/gadget", registry.host());
    let lock = base.read(&format!("live/a/{LOCK}")).replace(&gadget, "registry.terraform.io/hashicorp/gadget");
    base.write(&format!("live/c/{LOCK}"), &lock);
    commit(&base, "other roots");
    base.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (unit, root, gone, note) in [
        (
            "a",
            "root.hcl",
            &*gadget,
            Some("live/a: the source of the module is modules/small, and was modules/net at the base"),
        ),
        ("c", "generating.hcl", "hashicorp/gadget", None),
    ] {
        let workspace = base.copied();
        edit(&workspace, &format!("live/{unit}/terragrunt.hcl"), |text| text.replace(root, "small.hcl"));
        commit(&workspace, "include");
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"])).ended_with(0);
        let entry = format!("{gone} 2.0.0 ");
        let is_said = |line: &str| line.contains("[possibly-from-state]") && line.contains(&entry);
        let is_shown = run.stdout.lines().any(is_said) && run.stdout.contains(&format!("live/{unit}/{LOCK}"));
        assert!(is_shown, "{entry}: {run}");
        let notes: Vec<&str> = run.stderr.lines().filter(|line| line.contains("the source of the module")).collect();
        assert_eq!(notes, note.map(|note| format!("note: {note}")).iter().collect::<Vec<_>>(), "{run}");
    }
}

/// A change of a file that units read changes their sources: one note for all of them.
#[test]
fn a_changed_value_that_reaches_sources_is_one_note() {
    let registry = honest();
    let workspace = repository(&registry);
    let read = "locals {\n  name = read_terragrunt_config(\"names.hcl\").locals.name\n}\n";
    workspace.write(
        "root.hcl",
        &format!("{read}{}", ROOT.replace("net", "${local.name}"))
            .replace("\"names.hcl\"", "\"${get_repo_root()}/names.hcl\""),
    );
    workspace.write("names.hcl", "locals {\n  name = \"net\"\n}\n");
    commit(&workspace, "names");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write("modules/copy/main.tf", &workspace.read("modules/net/main.tf"));
    workspace.write("names.hcl", "locals {\n  name = \"copy\"\n}\n");
    commit(&workspace, "copy");
    let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"])).ended_with(0);
    let note = "2 units, such as live/a: the source of the module is modules/copy, and was modules/net at the base";
    assert!(run.stderr.matches("the source of the module").count() == 1 && run.stderr.contains(note), "{run}");
}

#[test]
fn broken_files_above_units_are_one_error() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("root.hcl", "locals {\n");
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline"]);
    assert_eq!(format!("{}{}", run.stdout, run.stderr).matches("root.hcl:").count(), 1, "{run}");
}

/// What a change breaks was read at the base; what was broken there is not checked.
#[test]
fn a_change_that_makes_units_unreadable_is_an_error() {
    let registry = honest();
    let base = repository(&registry);
    let twice = "generate \"x\" {\n  path = \"a.tf\"\n  if_exists = \"overwrite\"\n  contents = file(\"modules/net/main.tf\")\n}\n";
    let changes: &[(&str, Change)] = &[
        ("what is generated", |it| {
            edit(it, "root.hcl", |text| text.to_owned() + &generated("b.tf").replace("\"\"", "\"provider {\""));
        }),
        ("a file above", |it| it.write("root.hcl", "locals {\n")),
        ("the module", |it| edit(it, "modules/net/main.tf", |text| format!("{text}terraform {{\n"))),
        ("a new file of the module", |it| it.write("modules/net/more.tf", "terraform {\n")),
    ];
    for (name, change) in changes {
        let workspace = base.copied();
        change(&workspace);
        commit(&workspace, name);
        let run = gated(&workspace, &registry, &["--offline"]).ended_with(2);
        assert!(!run.stderr.contains("there is no source"), "{name}: {run}");
        assert!(!run.stderr.contains("could not be read at the base"), "{name}: {run}");
    }
    // The error is in a file of the module that is as it was.
    let workspace = base.copied();
    edit(&workspace, "root.hcl", |text| text.to_owned() + twice);
    commit(&workspace, "twice");
    gated(&workspace, &registry, &["--offline"]).ended_with(2);
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write("README.md", "x\n");
    commit(&workspace, "note");
    let run = gated(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(run.stderr.contains("could not be read at the base either in modules/net/main.tf"), "{run}");
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

/// What a unit said at the base depends on its own settings, and not on who asks for it first.
#[test]
fn a_new_unit_changes_nothing_of_others() {
    let registry = honest();
    let workspace = repository(&registry);
    let hook = "terraform {\n  before_hook \"h\" {\n    commands = [\"plan\"]\n    execute  = [\"true\"]\n  }\n}\n";
    edit(&workspace, "live/a/terragrunt.hcl", |text| text.to_owned() + hook);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    edit(&workspace, "live/a/terragrunt.hcl", |text| format!("{text}inputs = {{}}\n"));
    workspace.write("live/c/terragrunt.hcl", INCLUDE);
    workspace.git(["add", "."]);
    let run = gated(&workspace, &registry, &[]);
    assert!(run.stdout.contains("lock-file-missing") && !run.stdout.contains("program-changed"), "{run}");
}

/// Terragrunt copies what a link leads to, so the directory has its own neighbours there.
#[cfg(unix)]
#[test]
fn a_module_that_a_link_leads_to_is_not_read() {
    let registry = honest();
    let workspace = repository(&registry);
    let call = "module \"m\" {\n  source = \"./ln\"\n}\n";
    edit(&workspace, "modules/net/main.tf", |text| format!("{text}{call}"));
    workspace.write("modules/net/sub/x.tf", "module \"deep\" {\n  source = \"./deep\"\n}\n");
    workspace.write("modules/net/sub/deep/x.tf", "");
    std::os::unix::fs::symlink("sub", workspace.path("modules/net/ln")).unwrap();
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for file in ["live/a/ln/evil.tf", "live/a/ln/deep/evil.tf"] {
        workspace.write(file, "provider \"extra\" {\n}\n");
        commit(&workspace, "change");
        assert_eq!(denied(&gated(&workspace, &registry, &[])), ["requirements-unread"], "{file}");
        workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
    }
}

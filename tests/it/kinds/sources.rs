//! Where modules of units come from: each kind of source, with each way to know the tool.

use crate::modules::git::Repository;
use crate::support::locked::{LOCK, MAIN, honest};
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

/// A module that requires one of the providers.
fn module(registry: &Registry, name: &str) -> String {
    let source = format!("{}/acme/{name}", registry.host());
    format!("terraform {{\n  required_providers {{\n    {name} = {{\n      source = \"{source}\"\n    }}\n  }}\n}}\n")
}

/// A registry that also serves a git repository and modules.
fn world() -> Registry {
    let repository = Repository::new();
    let registry = honest();
    repository.commit("main.tf", &module(&registry, "gadget"));
    repository.commit("sub/main.tf", &module(&registry, "widget"));
    repository.0.git(["tag", "-a", "-m", "one", "v1"]);
    repository.commit("sub/main.tf", &module(&registry, "gadget"));
    let (gadget, widget) = (module(&registry, "gadget"), module(&registry, "widget"));
    let files: &[(&str, &str)] = &[("main.tf", &gadget), ("sub/main.tf", &widget)];
    repository.served_by(registry).module("acme/net/aws", "1.2.0", files).module("acme/net/aws", "2.0.0", files)
}

const INCLUDE: &str = "include \"root\" {\n  path   = find_in_parent_folders(\"root.hcl\")\n  expose = true\n}\n";

/// The text of a unit, that of `root.hcl`, and the provider that its module requires.
fn trees(registry: &Registry) -> Vec<(String, String, &'static str)> {
    let git = format!("git::https://{}/net.git", registry.host());
    let host = registry.other_host();
    let source = |source: &str| format!("terraform {{\n  source = {source}\n}}\n");
    let plain = |address: &str, wanted| (source(&format!("\"{address}\"")), String::new(), wanted);
    vec![
        plain(&format!("{git}?ref=v1"), "gadget"),
        plain(&format!("{git}//sub?ref=v1"), "widget"),
        plain(&format!("{git}//sub"), "gadget"),
        plain(&format!("tfr://{host}/acme/net/aws?version=1.2.0"), "gadget"),
        plain(&format!("tfr://{host}/acme/net/aws//sub?version=2.0.0"), "widget"),
        plain("../../modules/net", "gadget"),
        plain("../../modules//net/sub", "widget"),
        plain("file://${get_repo_root()}/modules//net", "gadget"),
        (
            format!("{INCLUDE}{}", source("\"${include.root.locals.git}//sub?ref=v1\"")),
            format!("locals {{\n  git = \"{git}\"\n}}\n"),
            "widget",
        ),
        (
            INCLUDE.to_owned(),
            source(&format!("\"{git}//${{basename(get_terragrunt_dir()) == \"a\" ? \"sub\" : \"x\"}}?ref=v1\"")),
            "widget",
        ),
        (
            format!(
                "{INCLUDE}locals {{\n  r = yamldecode(\"ref: v1\")\n}}\n{}",
                source(&format!("\"{git}//sub?ref=${{local.r.ref}}\""))
            ),
            source("\"none\""),
            "widget",
        ),
        (format!("{{\"terraform\": {{\"source\": \"{git}//sub?ref=${{\\\"v1\\\"}}\"}}}}"), String::new(), "widget"),
        (
            "{\"include\": {\"path\": \"${find_in_parent_folders(\\\"root.hcl\\\")}\"}}".to_owned(),
            source(&format!("\"{git}?ref=v1\"")),
            "gadget",
        ),
    ]
}

fn tree(registry: &Registry, unit: &str, root: &str) -> Workspace {
    let (gadget, widget) = (module(registry, "gadget"), module(registry, "widget"));
    let name = if unit.starts_with('{') { "terragrunt.hcl.json" } else { "terragrunt.hcl" };
    let workspace = Workspace::with_files(&[
        ("root.hcl", root),
        (&format!("live/a/{name}"), unit),
        ("modules/net/main.tf", &gadget),
        ("modules/net/sub/main.tf", &widget),
    ])
    .env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap());
    workspace.git(["init", "--quiet"]);
    workspace
}

#[test]
#[ignore = "long"]
fn the_module_of_each_source_is_read() {
    let registry = world();
    for (at, (unit, root, wanted)) in trees(&registry).iter().enumerate() {
        for (tool, program) in [("tofu", "tofu init"), ("terraform", "terraform init")] {
            let workspace = tree(&registry, unit, root);
            // Half of them say it by a file.
            let mut args = vec!["lock", "--platform", PLATFORMS[0]];
            match (at % 2, tool) {
                (0, tool) => args.extend(["--tool", tool]),
                (_, "tofu") => workspace.write(".opentofu-version", "1.10.0\n"),
                (_, _) => workspace.write("live/.tool-versions", "terraform 1.11.4\n"),
            }
            workspace.tflock_in("live/a", &registry, args).ended_with(0);
            let text = workspace.read(&format!("live/a/{LOCK}"));
            let entries: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("provider \"")).collect();
            assert!(text.contains(program), "{tool}: {unit}{text}");
            assert_eq!(entries, [format!("{}/acme/{wanted}\" {{", registry.host())], "{tool}: {unit}");
        }
    }
}

#[test]
fn a_new_lock_file_needs_a_tool_and_one_fetch_serves_all_units() {
    let registry = world();
    let unit = format!("terraform {{\n  source = \"git::https://{}/net.git//sub?ref=v1\"\n}}\n", registry.host());
    let workspace = tree(&registry, &unit, "");
    let run = workspace.tflock_in("live/a", &registry, ["lock"]).ended_with(2);
    assert!(run.stderr.contains("nothing says whether Terragrunt runs Terraform or OpenTofu here"), "{run}");
    assert!(!workspace.has(&format!("live/a/{LOCK}")));
    for name in ["b", "c"] {
        workspace.write(&format!("live/{name}/terragrunt.hcl"), &unit);
    }
    registry.forget_requests();
    let create = ["lock", "-r", "--create", "--tool", "tofu", "--platform", PLATFORMS[0]];
    workspace.tflock(&registry, create).ended_with(0);
    let requests = registry.requests();
    let fetched = requests.iter().filter(|request| request.path.contains("info/refs")).count();
    assert!(fetched <= 2, "{requests:?}");
    assert_eq!(registry.downloads("acme/widget"), 1);
    for name in ["a", "b", "c"] {
        assert!(workspace.read(&format!("live/{name}/{LOCK}")).contains("acme/widget"));
    }
    registry.forget_requests();
    workspace.tflock(&registry, ["lock", "-r", "--check", "--platform", PLATFORMS[0]]).ended_with(0);
    assert_eq!(registry.count(Endpoint::Other), 0);
}

#[test]
fn a_new_lock_file_starts_from_that_of_the_module() {
    let registry = honest().release("acme/gadget", "2.1.0", PLATFORMS);
    let workspace = tree(&registry, "terraform {\n  source = \"../../modules/net\"\n}\n", "");
    let lock = ["lock", "--tool", "terraform", "--platform", PLATFORMS[0]];
    let main = workspace.read("modules/net/main.tf");
    workspace.write("modules/net/main.tf", &main.replace("      source", "      version = \"2.0.0\"\n      source"));
    workspace.tflock_in("modules/net", &registry, lock).ended_with(0);
    workspace.write("modules/net/main.tf", &main);
    workspace.tflock_in("live/a", &registry, lock).ended_with(0);
    let text = workspace.read(&format!("live/a/{LOCK}"));
    assert!(text.contains("version = \"2.0.0\"") && !text.contains("constraints"), "{text}");
}

#[test]
fn a_refused_edit_names_the_place_of_the_requirement() {
    let registry = honest();
    let generate =
        "generate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = \"provider \\\"gadget\\\" {}\"\n}\n";
    let workspace =
        tree(&registry, &format!("{INCLUDE}{generate}"), "terraform {\n  source = \"../../modules/net/sub\"\n}\n");
    workspace.tflock_in("live/a", &registry, ["lock", "--tool", "terraform", "--platform", PLATFORMS[0]]);
    for (provider, place) in [("widget", "modules/net/sub/main.tf:3"), ("hashicorp/gadget", "live/a/terragrunt.hcl:5")]
    {
        let run = workspace.tflock_in("live/a", &registry, ["remove", "--tool", "terraform", provider]).ended_with(2);
        assert!(run.stderr.contains(place), "{run}");
    }
}

#[test]
fn a_module_next_door_has_its_own_calls() {
    let registry = honest();
    let main = format!("{}module \"sub\" {{\n  source = \"./sub\"\n}}\n", module(&registry, "gadget"));
    let workspace = tree(&registry, "terraform {\n  source = \"../../modules//net\"\n}\n", "");
    workspace.write("modules/net/main.tf", &main);
    workspace.write("modules/net/sub/main.tf", &MAIN.replace("{{registry}}", &registry.host()));
    let why = workspace.tflock_in("live/a", &registry, ["why", "--tool", "tofu"]).ended_with(0);
    assert!(why.stdout.contains("acme/widget") && why.stdout.contains("modules/net/sub/main.tf"), "{why}");
    // Without `//` the directory alone is copied.
    workspace.write("modules/net/main.tf", &main.replace("./sub", "../other"));
    workspace.write("modules/other/main.tf", "");
    workspace.write("live/a/terragrunt.hcl", "terraform {\n  source = \"../../modules/net\"\n}\n");
    let why = workspace.tflock_in("live/a", &registry, ["why", "--tool", "tofu"]).ended_with(2);
    assert!(why.stderr.contains("leads out of the module's package"), "{why}");
}

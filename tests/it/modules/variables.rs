//! Sources of modules that OpenTofu evaluates before it installs any.

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget_and_gadget;

/// A module that requires a provider.
fn needs(name: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    x = {{\n      source = \"{{{{registry}}}}/acme/{name}\"\n    }}\n  }}\n}}\n"
    )
}

/// Directories `a` and `b` whose modules require the widget and the gadget, and more files.
fn workspace(files: &[(&str, &str)]) -> Workspace {
    let (widget, gadget) = (needs("widget"), needs("gadget"));
    let modules = [("m/a/main.tf", widget.as_str()), ("m/b/main.tf", gadget.as_str())];
    Workspace::with_files(&[&modules[..], files].concat())
}

const LOCK: [&str; 5] = ["--tool", "tofu", "lock", "--platform", "linux_amd64"];

fn lock<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LOCK[..], more].concat()
}

/// Which of the two providers a command locks.
fn locked(workspace: &Workspace, registry: &Registry, more: &[&str]) -> &'static str {
    workspace.tflock(registry, lock(more)).ended_with(0);
    let text = workspace.lock_file();
    std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    match (text.contains("/acme/widget\""), text.contains("/acme/gadget\"")) {
        (true, false) => "a",
        (false, true) => "b",
        _ => panic!("{text}"),
    }
}

const MAIN: &str = "variable \"f\" {\n  default = \"a\"\n}\nmodule \"x\" {\n  source = \"./m/${var.f}\"\n}\n";

#[test]
fn the_last_option_decides() {
    let registry = widget_and_gadget();
    let workspace = workspace(&[("main.tofu", MAIN), ("b.tfvars", "f = \"b\"\n"), ("a.tfvars.json", "{\"f\": \"a\"}")]);
    for (options, expected) in [
        (&[][..], "a"),
        (&["--var", "f=a", "--var-file", "b.tfvars"], "b"),
        (&["-var-file=b.tfvars", "-var", "f=a"], "a"),
        (&["--var-file", "b.tfvars", "--var-file", "a.tfvars.json"], "a"),
        (&["--var", "f=a", "--var-file", "b.tfvars", "--var", "f=a"], "a"),
        (&["--var", "f=b", "--var", "f=a", "--var-file=b.tfvars"], "b"),
    ] {
        assert_eq!(locked(&workspace, &registry, options), expected, "{options:?}");
    }
}

#[test]
fn an_installed_module_is_the_one_that_its_source_names() {
    let registry = widget_and_gadget();
    let manifest = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"x","Source":"./m/a","Dir":"m/a"}]}"#;
    let workspace = workspace(&[("main.tofu", MAIN), (".terraform/modules/modules.json", manifest)]);
    assert_eq!(locked(&workspace, &registry, &[]), "a");
    assert_eq!(locked(&workspace, &registry, &["--var", "f=b"]), "b");
    workspace.write("main.tofu", &MAIN.replace("var.f", "lower(var.f)"));
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    let said = "main.tofu:5:12: module \"x\" is used as installed, not checked against its source";
    assert!(run.stderr.contains(said) && run.stderr.contains("a function call"), "{run}");
    // No variable would change that.
    assert!(!run.stderr.contains("--var"), "{run}");
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("`tofu get`") && !run.stderr.contains("--var"), "{run}");
}

#[test]
fn a_file_of_variables_with_errors_is_no_file() {
    let registry = widget_and_gadget();
    let workspace = workspace(&[("main.tofu", MAIN)]);
    let conflict = "<<<<<<< HEAD\nf = \"a\"\n=======\nf = \"b\"\n>>>>>>> other\n";
    for (name, text, option) in [
        ("terraform.tfvars", conflict, None),
        ("x.auto.tfvars.json", "{\"f\": \"a\", \"f\": \"b\"}", None),
        ("named.tfvars", "variable \"f\" {\n}\n", Some("--var-file=named.tfvars")),
    ] {
        workspace.write("main.tofu", MAIN);
        workspace.write(name, text);
        let refused = workspace.tflock(&registry, lock(option.as_slice())).ended_with(2);
        assert!(refused.stderr.contains("cannot read the values of variables: "), "{refused}");
        assert!(
            refused.stderr.contains(&format!("--> {name}:1:")) && !workspace.has(".terraform.lock.hcl"),
            "{refused}"
        );
        // Also where no source needs them.
        for (file, tool) in [("main.tofu", "tofu"), ("main.tf", "terraform")] {
            workspace.write(file, &MAIN.replace("${var.f}", "a"));
            let run = workspace.tflock(&registry, [&lock(option.as_slice())[..], &["--tool", tool]].concat());
            assert!(run.ended_with(2).stderr.contains(&format!("--> {name}:1:")), "{tool}");
        }
        std::fs::remove_file(workspace.path(name)).unwrap();
    }
}

#[test]
fn values_of_the_root_module_reach_modules_two_levels_below() {
    let registry = widget_and_gadget();
    let top = "variable \"f\" {\n}\nmodule \"one\" {\n  source = \"../one\"\n  where = { name = var.f }\n}\n";
    let one = "variable \"where\" {\n  type = map(string)\n}\nmodule \"two\" {\n  source = \"../two\"\n  name = var.where[\"name\"]\n}\n";
    let two = "variable \"name\" {\n}\nmodule \"x\" {\n  source = \"../m/${var.name}\"\n}\n";
    let header =
        "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n";
    let mut files = vec![("one/main.tofu", one), ("two/main.tofu", two)];
    for (root, values) in [("prod", "f = \"a\"\n"), ("test", "f = \"b\"\n")] {
        files.extend(
            [(root, "main.tofu", top), (root, "terraform.tfvars", values), (root, ".terraform.lock.hcl", header)]
                .map(|(root, name, text)| (&*Box::leak(format!("{root}/{name}").into_boxed_str()), text)),
        );
    }
    let workspace = workspace(&files);
    workspace.tflock(&registry, ["lock", "-r", "--platform", "linux_amd64"]).ended_with(0);
    assert!(workspace.read("prod/.terraform.lock.hcl").contains("/acme/widget\""));
    assert!(workspace.read("test/.terraform.lock.hcl").contains("/acme/gadget\""));
    let set = workspace.tflock(&registry, ["verify", "-r", "--offline", "--var", "f=b"]);
    assert!(set.stdout.contains("entry-missing"), "{set}");
}

#[test]
fn the_workspace_is_the_one_that_is_selected() {
    let registry = widget_and_gadget();
    let main = "locals {\n  names = { default = \"a\", other = \"b\" }\n}\nmodule \"x\" {\n  source = \"${path.module}/m/${local.names[tofu.workspace]}\"\n}\n";
    let workspace = workspace(&[("main.tofu", main)]);
    assert_eq!(locked(&workspace, &registry, &[]), "a");
    workspace.write(".terraform/environment", "other");
    assert_eq!(locked(&workspace, &registry, &[]), "b");
    let workspace = workspace.env("TF_WORKSPACE", "default");
    assert_eq!(locked(&workspace, &registry, &[]), "a");
}

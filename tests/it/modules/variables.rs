//! Sources of modules and of providers that the tools evaluate before they install any.

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
    workspace.write("main.tofu", &MAIN.replace("var.f", "lower(file(var.f))"));
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    let said = "main.tofu:5:12: module \"x\" is used as installed, not checked against its source";
    assert!(run.stderr.contains(said) && run.stderr.contains("it depends on file() (main.tofu:5:25)"), "{run}");
    // No variable would change that.
    assert!(!run.stderr.contains("--var"), "{run}");
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(run.stdout.contains("hashes complete; requirements not read"), "{run}");
    assert!(run.stdout.contains("the module is read once it is installed") && !run.stderr.contains("--var"), "{run}");
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

/// Locks with Terraform.
const TERRAFORM: [&str; 3] = ["lock", "--platform", "linux_amd64"];

const CONSTANT: &str = "variable \"f\" {\n  const = true\n}\n";

#[test]
fn terraform_evaluates_requirements() {
    let registry = widget_and_gadget();
    let entry = |entry: &str| format!("terraform {{\n  required_providers {{\n    x = {entry}\n  }}\n}}\n");
    let dynamic = entry("{ source = \"{{registry}}/acme/${local.name}\", version = var.v }");
    let child = "variable \"f\" {\n  const = true\n}\nvariable \"v\" {\n  const = true\n  default = \"~> 1.0\"\n}\nlocals {\n  name = lower(var.f)\n}\n";
    let call = format!("{CONSTANT}module \"m\" {{\n  source = \"./m\"\n  f = upper(var.f)\n}}\n");
    let files = [("main.tf", &*call), ("m/main.tf", child), ("m/versions.tf", &dynamic)];
    let workspace = Workspace::with_files(&files);
    workspace.tflock(&registry, TERRAFORM.iter().chain(&["--var", "f=widget"])).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget\""), "{}", workspace.lock_file());
    assert!(workspace.lock_file().contains("constraints = \"~> 1.0\""), "{}", workspace.lock_file());
    let why = workspace.tflock(&registry, ["why", "--var", "f=widget"]).ended_with(0);
    assert!(why.stdout.contains("~> 1.0") && why.stdout.contains("m/versions.tf:3"), "{why}");
    // Not known, and the option that makes it known.
    let unset = workspace.tflock(&registry, TERRAFORM).ended_with(4);
    assert!(
        unset.stderr.contains("the source of provider \"x\" cannot be determined")
            && unset.stderr.contains("--var f=VALUE"),
        "{unset}"
    );
    for (text, reason) in [
        (
            child
                .replace("  const = true\n}\nlocals", "}\nlocals")
                .replace("  const = true\n  default = \"~>", "  default = \"~>"),
            "`const = true`",
        ),
        (child.replace("\"~> 1.0\"", "null"), "it is null"),
        (child.replace("\"~> 1.0\"", "\"newest\""), "\"newest\""),
    ] {
        workspace.write("m/main.tf", &text);
        let run = workspace.tflock(&registry, TERRAFORM.iter().chain(&["--var", "f=widget"])).ended_with(2);
        assert!(run.stderr.contains(reason) && run.stderr.contains("m/versions.tf:3:"), "{run}");
    }
    workspace.write("m/main.tf", &child.replace("lower(var.f)", "aws_x.y"));
    let run = workspace.tflock(&registry, TERRAFORM.iter().chain(&["--var", "f=widget"])).ended_with(0);
    assert!(run.stdout.contains("requirements not read") && run.stdout.contains("aws_x.y"), "{run}");
    // An override takes the place of the whole entry, whatever it was.
    workspace.write("m/main.tf", child);
    workspace.write("m/x_override.tf", &entry("{ source = \"{{registry}}/acme/gadget\" }"));
    assert_eq!(locked_by_terraform(&workspace, &registry), "b");
}

/// Which of the two providers Terraform's rules lock.
fn locked_by_terraform(workspace: &Workspace, registry: &Registry) -> &'static str {
    std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    workspace.tflock(registry, TERRAFORM.iter().chain(&["--var", "f=widget"])).ended_with(0);
    if workspace.lock_file().contains("/acme/widget\"") { "a" } else { "b" }
}

#[test]
fn no_command_rewrites_an_expression() {
    let registry = widget_and_gadget();
    let main = "variable \"v\" {\n  const = true\n  default = \"~> 1.0\"\n}\nterraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n      version = var.v\n    }\n  }\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", main)]);
    workspace.tflock(&registry, TERRAFORM).ended_with(0);
    let before = workspace.read("main.tf");
    let address = format!("{}/acme/widget", registry.host());
    let newer = format!("{address}@~> 1.1");
    for args in [vec!["add", "--replace", &newer], vec!["remove", &address]] {
        let run = workspace.tflock(&registry, args).ended_with(2);
        assert!(run.stderr.contains("main.tf:7:") && run.stderr.contains("has an expression"), "{run}");
    }
    assert_eq!(workspace.read("main.tf"), before);
}

#[test]
fn what_has_no_value_names_its_reason() {
    let registry = widget_and_gadget();
    let main = |declared: &str, source: &str| format!("{declared}module \"x\" {{\n  source = {source}\n}}\n");
    let workspace = workspace(&[("main.tf", "")]);
    for (declared, source, code, reasons) in [
        (CONSTANT, "\"./m/${var.f}\"", 4, ["var.f", "--var f=VALUE"]),
        ("variable \"f\" {\n}\n", "\"./m/${var.f}\"", 2, ["not declared with `const = true`", "terraform init"]),
        (
            "",
            "\"./m/${file(\"x\")}\"",
            2,
            ["requirements are not read, and there is no lock file", "it depends on file() (main.tf:2:19)"],
        ),
        ("", "\"./m/${aws_x.y.id}\"", 2, ["it depends on aws_x.y.id", "main.tf:2:19"]),
        (
            "",
            "split(\"/\")",
            2,
            [
                "requirements are not read, and there is no lock file",
                "it depends on split() of 1 arguments (main.tf:2:12)",
            ],
        ),
        ("", "\"./m/${[\"a\"][1]}\"", 2, ["(main.tf:2:", "terraform init"]),
        ("", "null ? \"a\" : \"b\"", 2, ["a condition is null", "main.tf:2:12"]),
        ("locals {\n  a = local.b\n  b = local.a\n}\n", "local.a", 2, ["refers to itself", "main.tf:3:7"]),
        (
            "",
            "join(\"\", [for x in range(1000000000) : x])",
            2,
            ["requirements are not read, and there is no lock file", "more than 1024 numbers (main.tf:2:31)"],
        ),
    ] {
        workspace.write("main.tf", &main(declared, source));
        let run = workspace.tflock(&registry, TERRAFORM).ended_with(code);
        assert!(reasons.iter().all(|reason| run.stderr.contains(reason)), "{source}: {run}");
    }
}

/// A change may name any variable, and secrets are among them.
#[test]
fn values_of_the_environment_are_not_shown() {
    let registry = widget_and_gadget();
    let secret = "hunter2-hunter2";
    let main = format!("{CONSTANT}module \"x\" {{\n  source = \"./m/${{var.f}}\"\n}}\n");
    let workspace = workspace(&[("main.tf", &main)]).env("TF_VAR_f", secret);
    let run = workspace.tflock(&registry, TERRAFORM).ended_with(2);
    assert!(run.stderr.contains("m/(value of TF_VAR_f)"), "{run}");
    assert!(!run.stderr.contains(secret) && !run.stdout.contains(secret), "{run}");
    let remote = main.replace("./m/", &format!("https://{}/m/", registry.host()));
    let entry = format!("{{\n      source = \"{}/${{var.f}}/x\"\n    }}", registry.host());
    let provider = format!("{CONSTANT}terraform {{\n  required_providers {{\n    x = {entry}\n  }}\n}}\n");
    for text in [remote, provider] {
        workspace.write("main.tf", &text);
        for command in ["verify", "lock"] {
            let run = workspace.tflock(&registry, [command]);
            let said = run.stdout.clone() + &run.stderr;
            assert!(said.contains("(value of TF_VAR_f), which is sent to no server"), "{run}");
            assert!(!said.contains(secret), "{run}");
            assert!(registry.requests().iter().all(|request| !request.path.contains(secret)), "{run}");
        }
    }
    workspace.write("main.tf", &main);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "."]);
    workspace.git(["commit", "--quiet", "-m", "base"]);
    workspace.write("main.tf", &format!("{main}locals {{\n  new = 1\n}}\n"));
    let run = workspace.tflock(&registry, ["verify", "--base", "HEAD"]).ended_with(4);
    assert!(run.stderr.contains("var.f") && run.stderr.contains("--var f=VALUE"), "{run}");
}

/// An expression stays the same, and what it refers to changes: that counts as a change of the requirements.
#[test]
fn the_gate_sees_what_an_expression_refers_to() {
    let registry = widget_and_gadget();
    let main = format!(
        "{CONSTANT}locals {{\n  where = \"./m\"\n}}\nmodule \"x\" {{\n  source = \"${{local.where}}/${{var.f}}\"\n}}\n"
    );
    let workspace =
        workspace(&[("main.tf", &main), ("terraform.tfvars", "f = \"a\"\n"), ("n/a/main.tf", &needs("gadget"))]);
    workspace.tflock(&registry, TERRAFORM).ended_with(0);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "."]);
    workspace.git(["commit", "--quiet", "-m", "base"]);
    let gate = ["verify", "--base", "HEAD", "--offline", "--format", "json"];
    assert!(!workspace.tflock(&registry, gate).stdout.contains("entry-missing"));
    for (name, text) in [
        ("terraform.tfvars", "f = \"b\"\n".to_owned()),
        ("x.auto.tfvars", "f = \"b\"\n".to_owned()),
        ("main.tf", main.replace("\"./m\"", "\"./n\"")),
    ] {
        workspace.write(name, &text);
        let run = workspace.tflock(&registry, gate);
        assert!(run.stdout.contains("entry-missing") && run.stdout.contains("acme/gadget"), "{name}: {run}");
        workspace.git(["stash", "--quiet", "--include-untracked"]);
    }
}

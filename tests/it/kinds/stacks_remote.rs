//! Stacks whose components and nested stacks are somewhere else, and the shapes that public stacks have.

use super::stacks::lock;
use crate::modules::git::Repository;
use crate::support::locked::{LOCK, honest, rules, verify};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const WIDGET: &str = "required_providers {\n  widget = {\n    source  = \"{{registry}}/acme/widget\"\n    version = \"~> 1.4\"\n  }\n}\n";
const GADGET: &str =
    "required_providers {\n  gadget = {\n    source  = \"{{registry}}/acme/gadget\"\n    version = \"2.0.0\"\n  }\n}\n";
const NEEDS_GADGET: &str =
    "terraform {\n  required_providers {\n    gadget = {\n      source = \"{{registry}}/acme/gadget\"\n    }\n  }\n}\n";

fn filled(text: &str, registry: &Registry) -> String {
    text.replace("{{registry}}", &registry.host()).replace("{{other-host}}", &registry.other_host())
}

/// A repository with a nested stack in `deep` and a module in `net`.
fn with_repository(registry: Registry) -> Registry {
    let repository = Repository::new();
    repository.commit("deep/all.tfcomponent.hcl", &filled(GADGET, &registry));
    repository.commit("net/main.tf", &filled(NEEDS_GADGET, &registry));
    repository.0.git(["tag", "v1"]);
    repository.served_by(registry)
}

fn stack(registry: &Registry, calls: &str) -> Workspace {
    let text = filled(&format!("{WIDGET}{calls}"), registry);
    Workspace::with_files(&[("all.tfcomponent.hcl", &text)]).env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap())
}

#[test]
#[ignore = "long"]
fn what_is_elsewhere_is_fetched_as_modules_are() {
    let registry = with_repository(honest()).module("acme/net/lab", "1.0.0", &[("main.tf", NEEDS_GADGET)]);
    let git = "git::https://{{registry}}/net.git";
    let workspace = stack(&registry, &format!("stack \"deep\" {{\n  source = \"{git}//deep?ref=v1\"\n}}\n"));
    let run = lock(&workspace, &registry, &[]).ended_with(0);
    assert!(workspace.lock_file().contains("acme/gadget\" {\n  version = \"2.0.0\"\n"), "{run}");
    verify(&workspace, &registry, &["--offline"]).ended_with(0);
    let why = workspace.tflock(&registry, ["why", "gadget", "--offline"]).ended_with(0);
    assert!(why.stdout.contains("stack.deep") && why.stdout.contains("deep/all.tfcomponent.hcl"), "{why}");
    // A provider of a component that is elsewhere must be declared too.
    for component in [
        format!("component \"net\" {{\n  source = \"{git}//net?ref=v1\"\n}}\n"),
        "component \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"1.0.0\"\n}\n".to_owned(),
    ] {
        let workspace = stack(&registry, &component);
        lock(&workspace, &registry, &[]);
        let run = verify(&workspace, &registry, &[]).ended_with(1);
        assert!(rules(&run, "deny").contains("provider-undeclared"), "{run}");
        let declared =
            WIDGET.replace("widget", "gadget").replace("~> 1.4", "2.0.0").replace("required_providers {\n", "");
        let text = workspace.read("all.tfcomponent.hcl");
        let entry = filled(declared.trim_end_matches("}\n"), &registry);
        workspace.write(
            "all.tfcomponent.hcl",
            &text.replace("required_providers {\n", &format!("required_providers {{\n{entry}  }}\n")),
        );
        lock(&workspace, &registry, &[]).ended_with(0);
        verify(&workspace, &registry, &[]).ended_with(0);
    }
}

#[test]
#[ignore = "long"]
fn what_cannot_be_fetched_is_inconclusive_and_prunes_nothing() {
    let registry = with_repository(honest());
    let workspace =
        stack(&registry, "stack \"deep\" {\n  source = \"git::https://{{registry}}/net.git//deep?ref=v1\"\n}\n");
    lock(&workspace, &registry, &[]).ended_with(0);
    let before = workspace.lock_file();
    workspace.write("all.tfcomponent.hcl", &workspace.read("all.tfcomponent.hcl").replace("/net.git", "/gone.git"));
    verify(&workspace, &registry, &[]).ended_with(4);
    lock(&workspace, &registry, &["--prune"]).ended_with(4);
    assert_eq!(workspace.lock_file(), before);
}

/// The protocol of component registries is not public: what comes from there is not read, and nothing says *passed*.
#[test]
fn component_registries_are_not_read() {
    let registry = honest();
    for call in ["component \"net\"", "stack \"net\""] {
        let workspace = stack(
            &registry,
            &format!("{call} {{\n  source  = \"app.example.com/acme/net\"\n  version = \"1.0.0\"\n}}\n"),
        );
        let run = lock(&workspace, &registry, &[]);
        assert!(run.code == Some(2) && run.stderr.contains("from a component registry"), "{run}");
        workspace.write(LOCK, "");
        lock(&workspace, &registry, &["--prune"]).ended_with(0);
        assert!(workspace.lock_file().contains("acme/widget"));
        let run = verify(&workspace, &registry, &[]).ended_with(0);
        assert!(rules(&run, "warn").contains("requirements-unread"), "{run}");
        assert!(run.stdout.contains("app.example.com/acme/net"), "{run}");
    }
}

/// One directory that is a component and a nested stack is read as both.
#[test]
fn a_directory_may_be_a_component_and_a_stack() {
    let registry = honest();
    let calls = "component \"a\" {\n  source = \"./both\"\n}\nstack \"b\" {\n  source = \"./both\"\n}\ncomponent \"own\" {\n  source = \"./\"\n}\n";
    let workspace = stack(&registry, calls);
    workspace.write("both/main.tf", "");
    workspace.write("both/all.tfcomponent.hcl", &filled(GADGET, &registry));
    workspace.write("main.tf", "");
    lock(&workspace, &registry, &[]).ended_with(0);
    assert!(workspace.lock_file().contains("acme/gadget"));
}

/// Shapes of public stacks: files by topic, deployments, JSON, the names of Terraform 1.13, and nested stacks next door.
const EXAMPLES: &[&[(&str, &str)]] = &[
    &[
        (
            "providers.tfcomponent.hcl",
            "required_providers {\n  widget = {\n    source  = \"{{registry}}/acme/widget\"\n    version = \"~> 1.4\"\n  }\n}\n\nprovider \"widget\" \"configurations\" {\n  for_each = var.regions\n  config {\n    region = each.value\n  }\n}\n",
        ),
        (
            "components.tfcomponent.hcl",
            "component \"net\" {\n  for_each = var.regions\n  source   = \"./net\"\n  inputs   = { region = each.value }\n  providers = {\n    widget = provider.widget.configurations[each.value]\n  }\n}\n",
        ),
        (
            "variables.tfcomponent.hcl",
            "variable \"regions\" {\n  type = set(string)\n}\n\noutput \"ids\" {\n  type  = list(string)\n  value = [for net in component.net : net.id]\n}\n",
        ),
        ("deployments.tfdeploy.hcl", "deployment \"test\" {\n  inputs = { regions = [\"a\"] }\n}\n"),
        (
            "net/main.tf",
            "resource \"widget_net\" \"this\" {}\n\nterraform {\n  required_providers {\n    widget = {\n      source  = \"{{registry}}/acme/widget\"\n      version = \">= 9.0.0\"\n    }\n  }\n}\n",
        ),
    ],
    &[
        (
            "main.tfstack.hcl",
            "required_providers {\n  widget = {\n    source  = \"{{registry}}/acme/widget\"\n    version = \"1.4.0\"\n  }\n}\n\nlocals {\n  name = \"x\"\n}\n\nremoved {\n  from   = component.old\n  source = \"./net\"\n}\n",
        ),
        ("main.tfdeploy.hcl", "deployment \"x\" {}\n"),
        ("net/main.tf", ""),
    ],
    &[
        (
            "all.tfcomponent.json",
            "{\"required_providers\": {\"gadget\": {\"source\": \"{{registry}}/acme/gadget\", \"version\": \">= 1.0.0\"}}, \"component\": {\"net\": {\"source\": \"./net\"}}}\n",
        ),
        (
            "net/main.tf.json",
            "{\"terraform\": {\"required_providers\": {\"gadget\": {\"source\": \"{{registry}}/acme/gadget\"}}}}\n",
        ),
    ],
    &[
        (
            "main.tfcomponent.hcl",
            "stack \"one\" {\n  source = \"../shared\"\n}\n\nstack \"two\" {\n  source = \"../shared\"\n  inputs = { a = 1 }\n}\n",
        ),
        (
            "../shared/all.tfcomponent.hcl",
            "required_providers {\n  gadget = {\n    source  = \"{{registry}}/acme/gadget\"\n    version = \"2.0.0\"\n  }\n}\n",
        ),
    ],
    &[
        (
            "main.tfcomponent.hcl",
            "required_providers {\n  widget = {\n    source  = \"{{registry}}/acme/widget\"\n    version = \"~> 1.0\"\n  }\n  terraform = {\n    source = \"terraform.io/builtin/terraform\"\n  }\n}\n",
        ),
        // People keep such a file for `terraform providers lock`; Stacks do not read it.
        (
            "providers.tf",
            "terraform {\n  required_providers {\n    gadget = {\n      source = \"{{registry}}/acme/gadget\"\n    }\n  }\n}\n",
        ),
        (".terraform-version", "1.14.0\n"),
    ],
];

#[test]
#[ignore = "long"]
fn the_lock_files_of_example_stacks_stay_as_they_are() {
    let registry = honest();
    for files in EXAMPLES {
        let workspace = Workspace::with_files(&[]);
        for (path, text) in *files {
            workspace.write(&format!("stack/{path}"), &filled(text, &registry));
        }
        let in_stack = |args: &[&str]| workspace.tflock_in("stack", &registry, args.iter());
        in_stack(&["lock"]).ended_with(0);
        let before = workspace.read(&format!("stack/{LOCK}"));
        assert!(before.contains("stacks providers-lock") && !before.contains("constraints"), "{before}");
        for args in [
            &["lock"][..],
            &["fmt"],
            &["lock", "--prune"],
            &["upgrade"],
            &["verify", "--fix"],
            &["stacks", "providers-lock"],
        ] {
            in_stack(args).ended_with(0);
            assert_eq!(workspace.read(&format!("stack/{LOCK}")), before, "{args:?} {files:?}");
        }
    }
}

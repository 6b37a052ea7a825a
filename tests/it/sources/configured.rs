//! `provider_installation`: which source is used, by the requests that arrived.

use super::{filesystem_mirror, packed};
use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, hashes, widget};

/// What a table of methods is used for, and the result.
struct Row {
    /// The text of `provider_installation`; `{fs}` is a block of a filesystem mirror that has 1.3.0 for linux, `{empty}`
    /// one of an empty directory, `{net}` the URL of a network mirror with 1.4.0.
    methods: &'static str,
    /// The locked version; `None` if the provider is not found.
    locked: Option<&'static str>,
    /// Whether the registry and the network mirror were queried.
    asked: [bool; 2],
}

const fn row(methods: &'static str, locked: Option<&'static str>, asked: [bool; 2]) -> Row {
    Row { methods, locked, asked }
}

const WIDGET: &str = "include = [\"{{registry}}/acme/widget\"]";

/// Method, include, exclude and absence.
fn table() -> Vec<Row> {
    vec![
        row("direct {}", Some("1.4.0"), [true, false]),
        row("direct { include = [\"{{registry}}/acme/widget\"] }", Some("1.4.0"), [true, false]),
        row("direct { include = [\"{{registry}}/acme/other\"] }", None, [false, false]),
        row("direct { exclude = [\"{{registry}}/acme/*\"] }", None, [false, false]),
        row("direct { include = [\"*/*/*\"] exclude = [\"{{registry}}/*/*\"] }", None, [false, false]),
        row("network_mirror { url = \"{net}\" }", Some("1.4.0"), [false, true]),
        row("network_mirror { url = \"{net}\" include = [\"acme/widget\"] }", None, [false, false]),
        row("network_mirror { url = \"{net}\" exclude = [\"acme/widget\"] }", Some("1.4.0"), [false, true]),
        row("network_mirror { url = \"{net}\" exclude = [\"{{registry}}/acme/widget\"] }", None, [false, false]),
        row("{fs}", Some("1.3.0"), [false, false]),
        row("{fs-other}", None, [false, false]),
        row("{empty}", None, [false, false]),
        row("", None, [false, false]),
        // One after the other: the versions of all count.
        row("{fs} direct {}", Some("1.4.0"), [true, false]),
        row("direct {} {fs}", Some("1.4.0"), [true, false]),
        row("{empty} direct {}", Some("1.4.0"), [true, false]),
        row("{fs} network_mirror { url = \"{net}\" }", Some("1.4.0"), [false, true]),
        row("network_mirror { url = \"{net}\" } direct {}", Some("1.4.0"), [true, true]),
        row("network_mirror { url = \"{net}none/\" } direct {}", Some("1.4.0"), [true, false]),
        row("network_mirror { url = \"{net}none/\" } {fs}", Some("1.3.0"), [false, false]),
        row("{fs} direct { exclude = [\"{{registry}}/acme/widget\"] }", Some("1.3.0"), [false, false]),
        row("{fs-other} direct { exclude = [\"{{registry}}/acme/widget\"] }", None, [false, false]),
        row(
            "{fs-other} network_mirror { url = \"{net}\" } direct { include = [\"a/b\"] }",
            Some("1.4.0"),
            [false, true],
        ),
    ]
}

/// The registry, a network mirror of it and a folder `mirror` with 1.3.0.
fn world() -> (Registry, Workspace) {
    let registry = widget().release("acme/widget", "1.3.0", &["linux_amd64"]);
    let workspace = Workspace::with_files(&[(
        "main.tf",
        "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n",
    )]);
    packed(&workspace, &registry, ("mirror", "1.3.0"), &["linux_amd64"]);
    workspace.write("empty/README", "");
    (registry, workspace)
}

fn configured(methods: &str) -> (Registry, Workspace, Run) {
    let (registry, workspace) = world();
    let methods = methods
        .replace("{fs}", &filesystem_mirror(&workspace.path("mirror"), WIDGET))
        .replace("{fs-other}", &filesystem_mirror(&workspace.path("mirror"), "include = [\"a/b\"]"))
        .replace("{empty}", &filesystem_mirror(&workspace.path("empty"), ""))
        .replace("{net}", &registry.mirror_url());
    // HCL 1 has one argument a line.
    let methods =
        methods.replace("{ ", "{\n").replace(" }", "\n}").replace("} ", "}\n").replace(" exclude", "\nexclude");
    let methods = methods.replace(" include", "\ninclude");
    let workspace = workspace.cli_config(&format!("provider_installation {{\n{methods}\n}}\n"));
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--source", "configured"]));
    (registry, workspace, run)
}

#[test]
#[ignore = "long"]
fn which_source_is_used() {
    for Row { methods, locked, asked } in table() {
        let (registry, workspace, run) = configured(methods);
        assert_eq!(run.code, Some(if locked.is_some() { 0 } else { 2 }), "{methods}\n{run}");
        match locked {
            Some(version) => assert!(workspace.lock_file().contains(version), "{methods}\n{run}"),
            None => {
                assert!(
                    !workspace.has(".terraform.lock.hcl") && run.stderr.contains("acme/widget"),
                    "{methods}\n{run}"
                );
            }
        }
        let was_asked = [Endpoint::Versions, Endpoint::MirrorIndex].map(|endpoint| registry.count(endpoint) > 0);
        assert_eq!(was_asked, asked, "{methods}\n{run}");
    }
}

#[test]
fn a_package_comes_from_the_first_method_that_has_it_for_its_platform() {
    let (registry, workspace) = world();
    let methods = filesystem_mirror(&workspace.path("mirror"), "") + "direct {\n}\n";
    let workspace = workspace.cli_config(&format!("provider_installation {{\n{methods}\n}}\n"));
    let registry = registry.release("acme/widget", "1.3.0", &["linux_amd64", "darwin_arm64"]);
    registry.withdraw("acme/widget", "1.4.0");
    let args = ["lock", "--platform=linux_amd64", "--platform=darwin_arm64", "--source=configured"];
    let run = workspace.tflock(&registry, args).ended_with(0);
    // The signed list and the package for darwin come from the registry, that for linux from the directory.
    assert_eq!((registry.downloads("acme/widget"), hashes(&workspace.lock_file()).len()), (1, 4), "{run}");
    assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.3.0", "linux_amd64").h1));
}

#[test]
fn a_mirror_next_to_the_registry_is_checked_against_the_signed_list() {
    let (registry, workspace) = world();
    let methods = filesystem_mirror(&workspace.path("mirror"), "") + "direct {\n}\n";
    let workspace = workspace.cli_config(&format!("provider_installation {{\n{methods}\n}}\n"));
    let registry = registry.release("acme/widget", "1.3.0", &["linux_amd64", "darwin_arm64"]);
    registry.withdraw("acme/widget", "1.4.0");
    registry.republish("acme/widget", "1.3.0");
    let args = ["lock", "--platform=linux_amd64", "--platform=darwin_arm64", "--source=configured"];
    let run = workspace.tflock(&registry, args).ended_with(3);
    assert!(run.stdout.contains("wrong-checksum") && run.stdout.contains("do not list"), "{run}");
    assert!(!workspace.has(".terraform.lock.hcl"));
}

#[test]
fn by_default_the_registry_is_used_and_the_configuration_is_named() {
    let (registry, workspace) = world();
    let methods = filesystem_mirror(&workspace.path("mirror"), "");
    let workspace = workspace.cli_config(&format!("provider_installation {{\n{methods}\n}}\n"));
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.lock_file().contains("1.4.0"));
    assert_eq!(run.stderr.matches("with --source configured").count(), 1, "{run}");
    let shown = workspace.tflock(&registry, LOCK.iter().chain(&["--source=origin"])).ended_with(0);
    assert!(!shown.stderr.contains("--source configured"), "{shown}");
}

#[test]
fn a_directory_of_plugins_hides_the_registry() {
    let (registry, workspace) = world();
    packed(&workspace, &registry, ("terraform.d/plugins", "1.3.0"), &["linux_amd64"]);
    workspace.tflock(&registry, LOCK.iter().chain(&["--source=configured"])).ended_with(0);
    assert!(workspace.lock_file().contains("1.3.0") && registry.requests().is_empty());
}

#[test]
fn the_settings_name_a_source_too() {
    let (registry, workspace) = world();
    let main = workspace.read("main.tf");
    let workspace = Workspace::with_files(&[("a/b/main.tf", &main), ("a/.tflock.hcl", "source = \"fs:../mirror\"\n")]);
    workspace.git(["init", "-q"]);
    packed(&workspace, &registry, ("mirror", "1.3.0"), &["linux_amd64"]);
    let run = workspace.tflock(&registry, ["-C", "a/b", "lock", "--platform=linux_amd64"]).ended_with(0);
    assert!(workspace.read("a/b/.terraform.lock.hcl").contains("1.3.0"), "{run}");
    assert!(registry.requests().is_empty(), "{run}");
    // The command line counts before them.
    workspace.tflock(&registry, ["-C", "a/b", "upgrade", "--platform=linux_amd64", "--source=origin"]).ended_with(0);
    assert!(workspace.read("a/b/.terraform.lock.hcl").contains("1.4.0"));
    let wrong = Workspace::with_files(&[("main.tf", &main), (".tflock.hcl", "source = \"orign\"\n")]);
    let run = wrong.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("expected origin, configured, fs:DIR, net:URL or oci:TEMPLATE"), "{run}");
}

#[test]
fn a_missing_cli_configuration_is_reported() {
    let (registry, workspace) = world();
    let workspace = workspace.env("TF_CLI_CONFIG_FILE", "/nonexistent/cli.tfrc");
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(run.stderr.contains("the CLI configuration file /nonexistent/cli.tfrc does not exist"), "{run}");
}

#[test]
fn overridden_providers_are_reported_and_locked() {
    let (_, workspace, run) =
        configured("dev_overrides { \"{{registry}}/acme/widget\" = \"/home/dev/bin\" } direct {}");
    run.ended_with(0);
    let (registry, workspace) = (widget(), workspace);
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--source", "configured"]));
    assert!(run.stderr.contains("run ") && run.stderr.contains("from /home/dev/bin, whatever is locked"), "{run}");
}

#[test]
fn a_method_that_fails_leaves_open_what_there_is() {
    let (registry, workspace) = world();
    let methods = filesystem_mirror(&workspace.path("nowhere"), "") + "direct {\n}\n";
    let workspace = workspace.cli_config(&format!("provider_installation {{\n{methods}\n}}\n"));
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--source=configured"])).ended_with(2);
    assert!(run.stderr.contains("does not exist") && !workspace.has(".terraform.lock.hcl"), "{run}");
}

#[test]
fn outdated_and_diff_use_the_same_source() {
    let (registry, workspace) = world();
    let mirror = ["--fs-mirror", "mirror"];
    workspace.tflock(&registry, LOCK.iter().chain(&mirror)).ended_with(0);
    let run = workspace.tflock(&registry, ["outdated"].iter().chain(&mirror)).ended_with(0);
    assert!(registry.requests().is_empty() && !run.stdout.contains("1.4.0"), "{run}");
    let run = workspace.tflock(&registry, ["outdated"]).ended_with(0);
    assert!(run.stdout.contains("1.4.0"), "{run}");
}

#[test]
fn the_plugin_cache_of_the_configuration_is_looked_at() {
    let (registry, workspace) = world();
    workspace.tflock(&registry, LOCK).ended_with(0);
    let package = format!("cache/{}/acme/widget/1.4.0/linux_amd64/terraform-provider-widget", registry.host());
    workspace.write(&package, "another program");
    let cache = workspace.path("cache").display().to_string();
    let text = workspace.read("main.tf");
    let again = || {
        let other = Workspace::with_files(&[("main.tf", &text), (".terraform.lock.hcl", &workspace.lock_file())]);
        other.write(".tflock.trust.hcl", &workspace.read(".tflock.trust.hcl"));
        other
    };
    let configured = again().cli_config(&format!("plugin_cache_dir = \"{cache}\"\n"));
    for workspace in [configured, again().env("TF_PLUGIN_CACHE_DIR", &cache)] {
        let run = workspace.tflock(&registry, ["verify", "--installed", "--offline"]).ended_with(3);
        assert!(run.stdout.contains("[installed-differs]"), "{run}");
        workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
    }
}

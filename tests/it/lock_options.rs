//! `tflock lock`: its options and settings.

use crate::support::packages::unpacked;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{EMPTY_LOCK, LOCK, LOCK_BOTH, PLATFORMS, hashes, widget, widget_and_gadget};

#[test]
fn check_writes_nothing_and_exits_1() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.write(".terraform.lock.hcl", EMPTY_LOCK);
    let check = LOCK.iter().chain(&["--check"]);
    insta::assert_snapshot!("check_differs", workspace.tflock(&registry, check.clone()).ended_with(1));
    workspace.tflock(&registry, LOCK).ended_with(0);
    insta::assert_snapshot!("check_complete", workspace.tflock(&registry, check).ended_with(0));
}

#[test]
fn check_of_a_file_that_is_not_there() {
    let workspace = Workspace::from("modules/one-root");
    let run = workspace.tflock(&widget(), LOCK.iter().chain(&["--check"])).ended_with(1);
    assert!(run.touched().is_empty());
}

#[test]
fn dry_run_prints_the_diff() {
    let (registry, workspace) = (widget(), Workspace::from("modules/locked"));
    let run = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--dry-run"])).ended_with(0);
    insta::assert_snapshot!("dry_run", run);
}

#[test]
fn the_alias_takes_the_options_of_terraform() {
    let registry = widget();
    let by_alias = Workspace::from("modules/one-root");
    let run = by_alias.tflock(&registry, ["providers", "lock", "-no-color", "-platform=linux_amd64"]).ended_with(0);
    assert_eq!(run.touched(), [".terraform.lock.hcl", ".tflock.trust.hcl"]);
    let by_name = Workspace::from("modules/one-root");
    by_name.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(by_alias.lock_file(), by_name.lock_file());
    let below = Workspace::from("modules/two-roots");
    below.tflock(&registry, ["-chdir=a", "providers", "lock", "-platform=linux_amd64"]).ended_with(0);
    assert_eq!(below.read("a/.terraform.lock.hcl"), by_name.lock_file());
    let json = by_name.tflock(&registry, ["providers", "lock", "-json", "-platform=linux_amd64"]).ended_with(0);
    assert_eq!(json.json()["changed"], false);
}

#[test]
fn from_lock_needs_no_configuration() {
    let (registry, workspace) = (widget(), Workspace::from("modules/locked"));
    std::fs::remove_file(workspace.path("main.tf")).unwrap();
    // As Terragrunt leaves it: the lock file alone is completed, with or without the option.
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    insta::assert_snapshot!("from_lock", run);
    let again = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--from-lock"])).ended_with(0);
    assert!(again.stdout.contains("complete"), "{again}");
    std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    insta::assert_snapshot!("without_configuration", workspace.tflock(&registry, LOCK_BOTH).ended_with(2));
    workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--from-lock"])).ended_with(2);
    assert!(!workspace.has(".terraform.lock.hcl"));
}

/// A state that knows one provider.
fn state(registry: &Registry, provider: &str) -> String {
    let resource = serde_json::json!({
        "mode": "managed",
        "type": "gadget_thing",
        "name": "x",
        "provider": format!("provider[\"{}/{provider}\"]", registry.host()),
        "instances": [],
    });
    serde_json::json!({ "version": 4, "serial": 1, "lineage": "x", "outputs": {}, "resources": [resource] }).to_string()
}

/// OpenTofu takes an address of Terraform's registry in a state for the same one of its own registry, unless the
/// configuration names it.
#[test]
fn opentofu_reads_the_state_of_terraform() {
    let tofu = Registry::start().release("acme/beta", "1.0.0", &["linux_amd64"]);
    let tofu = tofu.standing_for("registry.opentofu.org");
    let (own, old) = ("registry.opentofu.org/acme/beta", "registry.terraform.io/acme/beta");
    let main = "terraform {\n  required_providers {\n    beta = {\n      source = \"SOURCE\"\n    }\n  }\n}\n";
    let resource = format!(r#"{{"mode": "managed", "provider": "provider[\"{old}\"]"}}"#);
    let state = format!(r#"{{"version": 4, "resources": [{resource}]}}"#);
    let prune = ["lock", "--tool=tofu", "--platform=linux_amd64", "--prune", "--state", "state.json"];
    let locked = |workspace: Workspace| {
        workspace.write("main.tf", &main.replace("SOURCE", "acme/beta"));
        workspace.tflock(&tofu, ["lock", "--tool=tofu", "--platform=linux_amd64"]).ended_with(0);
        workspace.write("main.tf", "");
        workspace.write("state.json", &state);
        workspace
    };
    let workspace = locked(Workspace::with_files(&[]));
    let run = workspace.tflock(&tofu, prune).ended_with(0);
    assert!(run.touched().is_empty() && !run.stdout.contains("note["), "{run}");
    let before = workspace.lock_file();
    // Without the entry, `init` adds that of its own registry.
    workspace.write(
        ".terraform.lock.hcl",
        "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n",
    );
    let run = workspace.tflock(&tofu, prune).ended_with(0);
    assert!(run.stdout.contains("the state needs acme/beta"), "{run}");
    // No state can need an entry of the other registry.
    workspace.write(".terraform.lock.hcl", &before.replace(own, old));
    for args in
        [&["verify", "--offline", "--tool=tofu"][..], &["lock", "--offline", "--tool=tofu", "--platform=linux_amd64"]]
    {
        let run = workspace.tflock(&tofu, args).ended_with(0);
        assert!(run.stdout.contains("init-changes") && !run.stdout.contains("possibly"), "{run}");
        assert!(run.stdout.contains("tofu reads that address in a state as "), "{run}");
        let run = workspace.tflock(&tofu, args.iter().map(|arg| arg.replace("=tofu", "=terraform"))).ended_with(0);
        assert!(run.stdout.contains("possibly from state"), "{run}");
    }
    workspace.tflock(&tofu, prune).ended_with(0);
    assert!(!workspace.lock_file().contains("provider \""), "{}", workspace.lock_file());

    // Its switch: only 0 turns it off.
    for (value, stays) in [("0", false), ("false", true), ("", true)] {
        let workspace =
            locked(Workspace::with_files(&[]).env("OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION", value));
        let run = workspace.tflock(&tofu, prune).ended_with(0);
        assert_eq!(workspace.lock_file().contains(own), stays, "{value:?}: {run}");
    }
    // The configuration names the address in full: that very one is needed.
    let terraform = Registry::start().release("acme/beta", "1.0.0", &["linux_amd64"]);
    let terraform = terraform.standing_for("registry.terraform.io");
    let workspace = locked(Workspace::with_files(&[]));
    workspace.write("m/main.tf", &main.replace("SOURCE", old));
    workspace.write("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
    let run = workspace.tflock(&terraform, prune).ended_with(0);
    assert!(workspace.lock_file().contains(old) && !workspace.lock_file().contains(own), "{run}");
}

/// Terraform 0.12 and before recorded types without addresses: what they may mean stays.
#[test]
fn what_an_old_state_may_need_is_not_pruned() {
    let registry = widget_and_gadget();
    let workspace = Workspace::from("modules/module-tree");
    workspace.tflock(&registry, LOCK).ended_with(0);
    let main = workspace.read("main.tf");
    workspace.write("main.tf", main.split("module").next().unwrap());
    let resource =
        |kind: &str| format!(r#"{{"path": ["root"], "resources": {{"{kind}_thing.a": {{"provider": ""}}}}}}"#);
    for (kind, stays) in [("gadget", true), ("other", false)] {
        workspace.write("state.json", &format!(r#"{{"version": 3, "modules": [{}]}}"#, resource(kind)));
        let run = workspace.tflock(&registry, LOCK.iter().chain(&["--prune", "--state", "state.json"])).ended_with(0);
        assert_eq!(workspace.lock_file().contains("acme/gadget"), stays, "{run}");
    }
}

#[test]
fn what_nothing_requires_is_pruned_on_request_only() {
    let registry = widget_and_gadget();
    let locked = || {
        let workspace = Workspace::from("modules/module-tree");
        workspace.tflock(&registry, LOCK).ended_with(0);
        let main = workspace.read("main.tf");
        workspace.write("main.tf", main.split("module").next().unwrap());
        workspace
    };
    let kept = locked().tflock(&registry, LOCK).ended_with(0);
    insta::assert_snapshot!("possibly_from_state", kept);
    let pruned = locked().tflock(&registry, LOCK.iter().chain(&["--prune"])).ended_with(0);
    insta::assert_snapshot!("prune", pruned);

    let workspace = locked();
    workspace.write("state.json", &state(&registry, "acme/gadget"));
    let prune = LOCK.iter().chain(&["--prune", "--state", "state.json"]);
    let run = workspace.tflock(&registry, prune.clone()).ended_with(0);
    insta::assert_snapshot!("prune_with_state", run);
    assert!(workspace.lock_file().contains("/acme/gadget\""));
    workspace.write("state.json", &state(&registry, "acme/widget"));
    workspace.tflock(&registry, prune.clone()).ended_with(0);
    assert!(!workspace.lock_file().contains("/acme/gadget\""));
    workspace.write("state.json", "{");
    insta::assert_snapshot!("state_unreadable", workspace.tflock(&registry, prune).ended_with(2));
}

const MIRROR: [&str; 3] = ["--platform=linux_amd64", "--platform=darwin_arm64", "--fs-mirror"];

#[test]
fn a_packed_mirror_needs_no_network() {
    let workspace = Workspace::from("example");
    let run = workspace.tflock(None, ["lock"].iter().chain(&MIRROR).chain(&["mirror"])).ended_with(0);
    assert_eq!(workspace.lock_file(), workspace.read("expected.lock.hcl"));
    insta::assert_snapshot!("packed_mirror", run);
    let again = workspace.tflock(None, ["lock"].iter().chain(&MIRROR).chain(&["mirror"])).ended_with(0);
    assert!(again.touched().is_empty());
}

#[test]
fn a_relative_mirror_is_relative_to_the_current_directory() {
    let workspace = Workspace::from("example");
    let args = ["-C", "modules/site", "lock"].iter().chain(&MIRROR);
    workspace.tflock(None, args.chain(&["mirror"])).ended_with(0);
    let text = workspace.read("modules/site/.terraform.lock.hcl");
    assert!(text.contains("registry.example.com/acme/dns"), "{text}");
}

#[test]
fn an_unpacked_mirror_gives_h1_only() {
    let workspace = Workspace::from("example");
    let folder = "registry.example.com/acme/dns";
    for platform in PLATFORMS {
        let packed = format!("mirror/{folder}/terraform-provider-dns_2.3.1_{platform}.zip");
        for (name, contents) in unpacked(&std::fs::read(workspace.path(&packed)).unwrap()) {
            workspace.write_bytes(&format!("unpacked/{folder}/2.3.1/{platform}/{name}"), &contents);
        }
    }
    let args = ["lock", "registry.example.com/acme/dns"].iter().chain(&MIRROR);
    let run = workspace.tflock(None, args.chain(&["unpacked"])).ended_with(0);
    insta::assert_snapshot!("unpacked_mirror", run.filtered(&run.stdout));
    let (written, expected) = (workspace.lock_file(), workspace.read("expected.lock.hcl"));
    assert!(hashes(&written).iter().all(|hash| hash.contains("h1:") && expected.contains(hash)), "{written}");
    assert_eq!(hashes(&written).len(), 2);
}

#[test]
fn what_a_mirror_lacks_is_named() {
    let workspace = Workspace::from("example");
    let lock = |args: &[&str]| workspace.tflock(None, ["lock", "--fs-mirror"].iter().chain(args)).ended_with(2);
    insta::assert_snapshot!("mirror_lacks_platform", lock(&["mirror", "--platform=solaris_sparc"]));
    insta::assert_snapshot!("mirror_lacks_provider", lock(&["modules", "--platform=linux_amd64"]));
    insta::assert_snapshot!("mirror_not_there", lock(&["nowhere", "--platform=linux_amd64"]));
}

#[test]
fn offline_refuses_the_questions_that_the_work_needs() {
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".terraform.lock.hcl", EMPTY_LOCK);
    let registry = widget();
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--offline"])).ended_with(4);
    insta::assert_snapshot!("offline", run);
    assert_eq!(registry.requests(), []);
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--offline", "--format=json"])).ended_with(4);
    insta::assert_snapshot!("offline_json", run);
}

#[test]
fn settings_name_the_platforms() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
    workspace.tflock(&registry, ["lock"]).ended_with(0);
    for platform in PLATFORMS {
        assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.4.0", platform).h1));
    }
}

#[test]
fn an_optional_platform_is_a_warning() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    let settings = "platforms = [\"linux_amd64\", \"windows_arm64\"]\n";
    workspace.write(".tflock.hcl", settings);
    insta::assert_snapshot!("platform_required", workspace.tflock(&registry, ["lock"]).ended_with(2));
    let optional = "optional_platforms = {\n  \"{{registry}}/acme/widget\" = [\"windows_arm64\"]\n}\n";
    workspace.write(".tflock.hcl", &(settings.to_owned() + optional));
    let run = workspace.tflock(&registry, ["lock"]).ended_with(0);
    insta::assert_snapshot!("platform_optional", run.filtered(&run.stdout));
}

#[test]
fn a_misspelt_setting_is_an_error_with_a_suggestion() {
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".tflock.hcl", "platform = [\"linux_amd64\"]\ntool = \"terrafrom\"\n");
    insta::assert_snapshot!("misspelt_setting", workspace.tflock(None, ["lock"]).ended_with(2));
}

#[test]
fn opentofu_records_what_its_registry_reports() {
    let tofu = || widget().with_packages().standing_for("registry.opentofu.org");
    let lock = |registry: &Registry, args: &[&str]| {
        let workspace = Workspace::from("modules/default-host");
        let run = workspace.tflock(registry, LOCK.iter().chain(args)).ended_with(0);
        (workspace.lock_file(), run)
    };
    let registry = tofu();
    let (text, run) = lock(&registry, &["--tool", "tofu"]);
    insta::assert_snapshot!("tofu_packages", run);
    assert_eq!(registry.downloads("acme/widget"), 0);
    let darwin = registry.package("acme/widget", "1.4.0", "darwin_arm64").h1;
    assert!(text.contains(&darwin) && text.contains("\"tofu init\""), "{text}");

    let registry = tofu();
    let (text, _) = lock(&registry, &["--tool", "tofu", "--h1", "verified"]);
    assert_eq!((registry.downloads("acme/widget"), text.contains(&darwin)), (1, false));

    let registry = widget().with_packages().standing_for("registry.terraform.io");
    let (text, _) = lock(&registry, &["--tool", "terraform"]);
    assert_eq!((registry.downloads("acme/widget"), text.contains(&darwin)), (1, false));
    assert!(text.contains("provider \"registry.terraform.io/acme/widget\"") && text.contains("\"terraform init\""));
}

#[test]
fn a_host_block_trusts_the_packages_of_another_registry() {
    let (registry, workspace) = (widget().with_packages(), Workspace::from("modules/one-root"));
    workspace.write(".tflock.hcl", "host \"{{registry}}\" {\n  h1 = \"registry\"\n}\n");
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 0);
    assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.4.0", "darwin_arm64").h1));
}

#[test]
fn unusual_names_are_bound_by_the_registry_alone() {
    let registry = widget().named("{type}-{version}.{platform}.zip");
    let run = Workspace::from("modules/one-root").tflock(&registry, LOCK_BOTH).ended_with(0);
    insta::assert_snapshot!("unusual_names", run);
}

#[test]
fn warnings_of_the_configuration_are_those_of_why() {
    let main = "terraform {\n  required_providers {\n    terraform = {\n      source  = \"terraform.io/builtin/terraform\"\n      \
                version = \"~> 1.0\"\n    }\n  }\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", main)]);
    let why = workspace.tflock(None, ["why"]).ended_with(0);
    let lock = workspace.tflock(None, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let warning = why.stderr.lines().find(|line| line.contains("built")).unwrap_or_else(|| panic!("{why}"));
    assert!(lock.stderr.contains(warning), "{lock}");
}

/// Platforms that were not named are those of any entry that packages were fetched for. A release that lacks one which it
/// was never locked for is no error.
#[test]
fn platforms_without_an_option_or_setting() {
    let platforms = ["linux_amd64", "darwin_arm64", "freebsd_386"];
    let registry = Registry::start().release("acme/widget", "1.0.0", &platforms).release(
        "acme/gadget",
        "1.0.0",
        &["linux_amd64", "darwin_arm64"],
    );
    let main = "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    \
                }\n  }\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", main)]);
    let named = platforms.iter().flat_map(|platform| ["--platform", platform]);
    workspace.tflock(&registry, ["lock"].into_iter().chain(named)).ended_with(0);
    let gadget = format!("{}/acme/gadget", registry.host());
    let run = workspace.tflock(&registry, ["add", &gadget]).ended_with(0);
    assert!(run.stdout.contains("warning[platform-missing]") && run.stdout.contains("freebsd_386"), "{run}");
    for platform in ["linux_amd64", "darwin_arm64"] {
        assert!(workspace.lock_file().contains(&registry.package("acme/gadget", "1.0.0", platform).h1), "{platform}");
    }
    // Nothing is left to do, and hashes computed here before need no request.
    registry.forget_requests();
    workspace.tflock(&registry, ["lock", "--check"]).ended_with(0);
    assert_eq!(registry.downloads("acme/gadget"), 0);
    workspace.tflock(&registry, ["lock", "--check", "--offline"]).ended_with(0);
    // Who names it wants it.
    let named = workspace.tflock(&registry, ["lock", "--platform", "freebsd_386", "--format", "json"]);
    named.ended_with(2).failed_as("not-found", &["acme/gadget", "freebsd_386"]);
}

/// `tofu init` records all platforms of what its registry reports, and one of a provider from elsewhere: that file is
/// complete, with an index and without.
#[test]
fn platforms_that_a_registry_reports_are_those_of_its_own_entries() {
    let platforms = ["linux_amd64", "darwin_arm64", "windows_amd64", "linux_arm64"];
    let registry = Registry::start()
        .release("acme/widget", "1.0.0", &platforms)
        .with_packages()
        .release("acme/gadget", "1.0.0", &platforms)
        .standing_for("registry.opentofu.org");
    let required = |name: &str, host: &str| format!("    {name} = {{\n      source = \"{host}/acme/{name}\"\n    }}\n");
    let required = required("widget", "registry.opentofu.org") + &required("gadget", &registry.host());
    let main = format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n");
    let workspace = Workspace::with_files(&[("main.tofu", &main)]);
    workspace.tflock(&registry, ["lock"]).ended_with(0);
    let locked = workspace.lock_file();
    let recorded = |name: &str| {
        let of = |platform: &&str| registry.package(name, "1.0.0", platform).h1;
        platforms.iter().filter(|platform| locked.contains(&of(platform))).count()
    };
    assert_eq!((recorded("acme/widget"), recorded("acme/gadget")), (4, 1), "{locked}");
    workspace.tflock(&registry, ["lock", "--check", "--offline"]).ended_with(0);
    std::fs::remove_dir_all(workspace.path("../cache")).unwrap();
    workspace.tflock(&registry, ["lock", "--check"]).ended_with(0);
    // Who names platforms wants no others.
    std::fs::remove_dir_all(workspace.path("../cache")).unwrap();
    registry.forget_requests();
    workspace.tflock(&registry, ["lock", "--check", "--platform", "linux_amd64"]).ended_with(0);
    assert_eq!(registry.downloads("acme/gadget"), 1);
}

//! Units of Terragrunt: what is read of the working tree and what never is, and lock files of assembled modules.

use crate::modules::git::Repository;
use crate::support::locked::{LOCK, MAIN, honest, rules};
use crate::support::proposal::{GATE, commit};
use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

use super::unread::denied;

const SOURCE: &str = "terraform {\n  source = \"../modules/net\"\n}\n";

/// A unit in `live` whose module is in `modules/net`.
fn unit(text: &str) -> Workspace {
    let workspace = Workspace::with_files(&[("modules/net/main.tf", MAIN), ("live/terragrunt.hcl", text)]);
    workspace.git(["init", "--quiet"]);
    workspace
}

fn lock(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let platforms = ["lock", "--tool", "terraform", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
    workspace.tflock_in("live", registry, platforms.iter().chain(more))
}

#[test]
fn a_lock_file_is_that_of_the_assembled_module() {
    let registry = honest();
    let workspace = unit(SOURCE);
    lock(&workspace, &registry, &[]).ended_with(0);
    let whole = workspace.read(&format!("live/{LOCK}"));
    assert!(whole.contains("acme/gadget") && whole.contains("acme/widget"), "{whole}");
    lock(&workspace, &registry, &["--check"]).ended_with(0);
    // Each replaces the file of the module, which required both.
    let only_widget = "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n"
        .replace("{{registry}}", &registry.host());
    let generate = |policy: &str| {
        format!(
            "{SOURCE}generate \"g\" {{\n  path      = \"main.tf\"\n  if_exists = \"{policy}\"\n  contents  = <<EOT\n{only_widget}EOT\n}}\n"
        )
    };
    let is_pruned = |workspace: &Workspace| {
        let run = lock(workspace, &registry, &["--prune", "--dry-run", "--format", "json"]);
        run.json()["changes"].to_string().contains("removed")
    };
    assert!(!is_pruned(&workspace));
    workspace.write("live/main.tf", &only_widget);
    assert!(is_pruned(&workspace));
    std::fs::remove_file(workspace.path("live/main.tf")).unwrap();
    workspace.write("live/terragrunt.hcl", &generate("overwrite"));
    assert!(is_pruned(&workspace));
    workspace.write("live/terragrunt.hcl", &generate("skip"));
    assert!(!is_pruned(&workspace));
}

#[test]
fn only_files_of_the_repository_are_read_and_never_the_environment() {
    let registry = honest();
    let secret = "canary-4711";
    for (setup, expression, reason) in [
        (None, "get_env(\"CANARY\")", "if it is always the same"),
        (None, "run_cmd(\"sh\", \"-c\", \"touch started\")", "run_cmd(): "),
        (None, "file(\"/proc/self/environ\")", "/proc/self/environ, "),
        (None, "file(\"../.git/config\")", "which is in .git"),
        (Some((".gitignore", ".env\n")), "file(\"../.env\")", "which git ignores"),
    ] {
        let workspace =
            unit(&format!("terraform {{\n  source = \"../modules/${{{expression}}}\"\n}}\n")).env("CANARY", secret);
        workspace.write(".env", secret);
        workspace.write(&format!("live/{LOCK}"), "");
        if let Some((path, text)) = setup {
            workspace.write(path, text);
        }
        let run = workspace.tflock_in("live", &registry, ["verify", "--format", "json"]);
        assert!(
            rules(&run, "warn").contains("requirements-unread") && run.stdout.contains(reason),
            "{expression}: {run}"
        );
        assert!(!run.to_string().contains(secret) && !workspace.has("live/started"), "{expression}: {run}");
    }
    // The neighbour: a file that git would track.
    let workspace = unit("terraform {\n  source = \"../modules/${trimspace(file(\"../name\"))}\"\n}\n");
    workspace.write("name", "net\n");
    workspace.write(&format!("live/{LOCK}"), "");
    let run = workspace.tflock_in("live", &registry, ["why", "--offline"]);
    assert!(run.ended_with(0).stdout.contains("modules/net/main.tf"));
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_not_followed() {
    let registry = honest();
    let workspace = unit("include {\n  path = \"../root.hcl\"\n}\n");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("root.hcl"), SOURCE).unwrap();
    std::os::unix::fs::symlink(outside.path().join("root.hcl"), workspace.path("root.hcl")).unwrap();
    workspace.write(&format!("live/{LOCK}"), "");
    let run = workspace.tflock_in("live", &registry, ["verify", "--format", "json"]);
    assert!(rules(&run, "warn").contains("requirements-unread"), "{run}");
}

#[test]
fn the_gate_checks_units_below_a_changed_file() {
    let registry = honest();
    let workspace = unit("include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n");
    let root = SOURCE.replace("../modules", "${get_repo_root()}/modules");
    workspace.write("root.hcl", &root);
    lock(&workspace, &registry, &[]).ended_with(0);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let adds = format!(
        "{root}generate \"g\" {{\n  path      = \"more.tf\"\n  if_exists = \"overwrite\"\n  contents  = \"provider \\\"extra\\\" {{\\n}}\\n\"\n}}\n"
    );
    for (path, text, wanted) in [
        ("root.hcl", adds, "entry-missing"),
        ("root.hcl", root.replace("modules/net", "modules/${get_env(\"M\")}"), "requirements-unread"),
        // A file that was looked for in vain: now it is found first.
        ("live/terragrunt.values.hcl", "x = 1\n".to_owned(), ""),
    ] {
        workspace.write(path, &text);
        commit(&workspace, "change");
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--format", "json"]));
        let denied = denied(&run);
        assert!(wanted.is_empty() && denied.is_empty() || denied.iter().any(|rule| rule == wanted), "{path}: {run}");
        workspace.git(["reset", "--quiet", "--hard", "HEAD^"]);
    }
}

#[test]
fn the_command_line_goes_before_the_settings() {
    let registry = honest();
    let workspace = unit("terraform {\n  source = \"../modules/${get_env(\"M\")}\"\n}\n");
    workspace.write(".tflock.hcl", "terragrunt {\n  env = { M = \"none\" }\n}\n");
    workspace.write(&format!("live/{LOCK}"), "");
    let run = verify_in(&workspace, &registry, &[]);
    assert!(rules(&run, "warn").contains("requirements-unread") && run.stdout.contains("modules/none"), "{run}");
    assert!(!verify_in(&workspace, &registry, &["--env", "M=net"]).stdout.contains("requirements-unread"));
    workspace.tflock_in("live", &registry, ["why", "--env", "M"]).ended_with(2);
}

/// The search for units without a lock file reads them by the same settings and options as the commands do.
#[test]
fn a_unit_that_the_settings_make_readable_gets_a_lock_file() {
    let registry = honest();
    let create = |settings: &str, more: &[&str]| {
        let workspace = unit("terraform {\n  source = \"../modules/${get_env(\"M\")}\"\n}\n");
        workspace.write("live/.tflock.hcl", settings);
        let lock = ["lock", "-r", "--create", "--tool", "terraform", "--platform", PLATFORMS[0]];
        let run = workspace.tflock(&registry, lock.iter().chain(more));
        let has_lock = [workspace.has(&format!("live/{LOCK}")), workspace.has(&format!("modules/net/{LOCK}"))];
        (has_lock, run)
    };
    let (has_lock, run) = create("", &[]);
    assert!(has_lock == [false, false] && run.stderr.contains("get_env(\"M\")"), "{run}");
    let net = "terragrunt {\n  env = { M = \"net\" }\n}\n";
    for (settings, more) in [(net, [].as_slice()), ("", &["--env", "M=net"])] {
        let (has_lock, run) = create(settings, more);
        run.ended_with(0);
        // The module is called by the unit, so it is no root module.
        assert_eq!(has_lock, [true, false], "{settings} {more:?}");
    }
    // So does the choice of the tool.
    let workspace = unit(&format!("terraform_binary = get_env(\"TOOL\")\n{SOURCE}"));
    let tool = |settings: &str| {
        workspace.write(".tflock.hcl", settings);
        let run = workspace.tflock_in("live", &registry, ["lock", "--dry-run", "--platform", PLATFORMS[0]]);
        run.stdout.contains("\"tofu init\"")
    };
    assert!(!tool("") && tool("terragrunt {\n  env = { TOOL = \"tofu\" }\n}\n"));
}

fn verify_in(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock_in("live", registry, ["verify", "--offline", "--format", "json"].iter().chain(more))
}

/// One source, for two units; its user is neither sent nor printed.
#[test]
fn a_module_of_another_repository_is_fetched_once() {
    let repository = Repository::new();
    let registry = honest();
    repository.commit("sub/main.tf", &MAIN.replace("{{registry}}", &registry.host()));
    repository.0.git(["tag", "-a", "-m", "one", "v1"]);
    let registry = repository.served_by(registry);
    let host = registry.host();
    let text = format!(
        "locals {{\n  v = \"v1\"\n}}\nterraform {{\n  source = \"git::https://me:s3cret@{host}/net.git//sub?ref=${{local.v}}\"\n}}\n"
    );
    let workspace = Workspace::with_files(&[("live/terragrunt.hcl", &text), ("more/terragrunt.hcl", &text)])
        .env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap());
    workspace.git(["init", "--quiet"]);
    lock(&workspace, &registry, &[]).ended_with(0);
    assert!(workspace.read(&format!("live/{LOCK}")).contains("acme/gadget"));
    registry.forget_requests();
    let why = workspace.tflock_in("more", &registry, ["why"]).ended_with(0);
    assert!(why.stdout.contains("net.git") && why.stdout.contains("acme/gadget"), "{why}");
    assert_eq!(registry.count(Endpoint::Other), 0);
    assert!(!why.to_string().contains("s3cret"), "{why}");
    // The file of the repository gives way to a generated one.
    let generate = "generate \"g\" {\n  path      = \"main.tf\"\n  if_exists = \"overwrite\"\n  contents  = \"\"\n}\n";
    workspace.write("more/terragrunt.hcl", &format!("{text}{generate}"));
    let why = workspace.tflock_in("more", &registry, ["why"]).ended_with(0);
    assert!(!why.stdout.contains("acme/gadget"), "{why}");
    // A change that could choose the host needs one that the base names.
    std::fs::remove_dir_all(workspace.path("more")).unwrap();
    let gated = |policy: &str| {
        workspace.write(".tflock.hcl", policy);
        workspace.write("live/terragrunt.hcl", &text);
        commit(&workspace, "base");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        workspace.write("live/terragrunt.hcl", &format!("{text}inputs = {{}}\n"));
        commit(&workspace, "change");
        workspace.tflock(&registry, GATE.iter().chain(&["-r", "--format", "json"]))
    };
    let run = gated("");
    assert!(denied(&run) == ["requirements-unread"] && run.stdout.contains("in module_hosts"), "{run}");
    // Before the first change meets the gate, a check of the main branch says what it would refuse, with the line of settings.
    let notes = |workspace: &Workspace| {
        let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]);
        run.json()["notes"].as_array().unwrap().iter().any(|note| note.to_string().contains("module_hosts = ["))
    };
    assert!(notes(&workspace));
    let run = gated(&format!("policy {{\n  module_hosts = [\"{host}\"]\n}}\n"));
    assert!(!notes(&workspace));
    assert!(!denied(&run).contains(&"requirements-unread".to_owned()), "{run}");
}

#[test]
fn variables_of_terragrunt_are_named_once() {
    let registry = honest();
    let workspace = unit(SOURCE).env("TG_SOURCE", "../elsewhere").env("TG_TF_PATH", "tofu");
    let run = lock(&workspace, &registry, &[]).ended_with(0);
    let note = "TG_SOURCE, TG_TF_PATH are not considered: Terragrunt may use something else than was read";
    assert!(run.stderr.contains(note) && !run.stderr.contains("elsewhere"), "{run}");
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline"]);
    assert_eq!(run.stderr.matches(note).count(), 1, "{run}");
    let module = Workspace::with_files(&[("main.tf", MAIN)]).env("TG_SOURCE", "../elsewhere");
    let run = module.tflock(&registry, ["lock", "--platform", PLATFORMS[0]]).ended_with(0);
    assert!(!run.stderr.contains("not considered"), "{run}");
}

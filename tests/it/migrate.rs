//! Lock files move from one tool to the other.

use crate::support::keys;
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::hashes;

const LOCK: &str = ".terraform.lock.hcl";
const TRUST: &str = ".tflock.trust.hcl";
const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];
const TERRAFORM: &str = "registry.terraform.io";
const TOFU: &str = "registry.opentofu.org";

/// A requirement of some sources, each named after its type.
fn main(sources: &[&str]) -> String {
    let entry = |source: &&str| {
        format!("    {} = {{\n      source = \"{source}\"\n    }}\n", source.rsplit('/').next().unwrap())
    };
    let entries: String = sources.iter().map(entry).collect();
    format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n")
}

/// Two registries with the same archives of widget and gadget by the same signer.
fn registries() -> (Registry, Registry) {
    let registry = || {
        let registry = Registry::start().release("acme/widget", "1.4.0", &PLATFORMS);
        registry.release("acme/widget", "1.5.0", &PLATFORMS).release("acme/gadget", "2.0.0", &PLATFORMS)
    };
    (registry().standing_for(TERRAFORM), registry())
}

/// A workspace whose registry.opentofu.org is another registry than the one of its runs.
fn workspace(tofu: &Registry, files: &[(&str, &str)]) -> Workspace {
    let url = format!("https://{}/v1/providers/", tofu.host());
    let block = format!("host \"{TOFU}\" {{\n  services = {{\n    \"providers.v1\" = \"{url}\"\n  }}\n}}\n");
    Workspace::with_files(files).cli_config(&block)
}

/// The same, locked for Terraform at widget 1.4.0 for both platforms.
fn locked(terraform: &Registry, tofu: &Registry, files: &[(&str, &str)]) -> Workspace {
    let workspace = workspace(tofu, files);
    let args =
        ["lock", "-r", "--create", "--tool", "terraform", "--platform", "linux_amd64", "--platform", "darwin_arm64"];
    terraform.withdraw("acme/widget", "1.5.0");
    workspace.tflock(terraform, args).ended_with(0);
    workspace
}

fn migrate(workspace: &Workspace, terraform: &Registry, to: &str, more: &[&str]) -> Run {
    workspace.tflock(terraform, ["migrate", "--to", to].iter().chain(more))
}

#[test]
fn identical_archives_keep_hashes_and_pins() {
    let (terraform, tofu) = registries();
    let workspace = locked(&terraform, &tofu, &[("main.tf", &main(&["acme/widget", "acme/gadget"]))]);
    let before = workspace.lock_file();
    let run = migrate(&workspace, &terraform, "tofu", &["--no-first-use"]).ended_with(0);
    insta::assert_snapshot!("identical", run.filtered(&run.stdout));
    assert_eq!(run.touched(), [LOCK, TRUST]);
    // The same versions though there is a newer one, and all hashes: archives are the same.
    let wanted = before.replace(TERRAFORM, TOFU).replace("\"terraform init\"", "\"tofu init\"");
    assert_eq!(workspace.lock_file(), wanted);
    let pin = format!("provider \"{TOFU}/acme/widget\" {{\n  signers = [\"{}\"]\n}}", keys::GOOD.fingerprint());
    assert!(workspace.read(TRUST).contains(&pin), "{run}");

    let again = migrate(&workspace, &terraform, "tofu", &[]).ended_with(0);
    assert!(again.touched().is_empty() && again.stdout.contains("nothing to do"), "{again}");
    migrate(&workspace, &terraform, "tofu", &["--check", "--offline"]).ended_with(0);
    // And back; both addresses have pins now.
    migrate(&workspace, &terraform, "terraform", &["--no-first-use"]).ended_with(0);
    assert_eq!(workspace.lock_file(), before);
}

#[test]
fn other_archives_are_first_uses() {
    let (terraform, tofu) = registries();
    tofu.republish("acme/widget", "1.4.0");
    let tofu = tofu.of("acme/widget", "1.4.0").signed_by(keys::OTHER).of("acme/gadget", "2.0.0").signed_by(keys::OTHER);
    let workspace = locked(&terraform, &tofu, &[("main.tf", &main(&["acme/widget", "acme/gadget"]))]);
    let before = workspace.lock_file();
    let refused = migrate(&workspace, &terraform, "tofu", &["--no-first-use"]).ended_with(3);
    assert!(refused.touched().is_empty() && refused.stdout.contains("denied[first-use-forbidden]"), "{refused}");
    let check = migrate(&workspace, &terraform, "tofu", &["--check"]).ended_with(1);
    assert!(check.touched().is_empty(), "{check}");
    let dry = migrate(&workspace, &terraform, "tofu", &["--dry-run"]).ended_with(0);
    assert!(dry.touched().is_empty() && dry.stdout.contains(&format!("+provider \"{TOFU}/acme/widget\" {{")), "{dry}");
    let fewer = migrate(&workspace, &terraform, "tofu", &["--dry-run", "--platform", "linux_amd64"]).ended_with(0);
    let note = format!("acme/widget has 1 h1, where {TERRAFORM}/acme/widget had 2");
    assert!(fewer.stdout.contains(&note) && !fewer.stdout.contains("/acme/gadget has"), "{fewer}");
    let run = migrate(&workspace, &terraform, "tofu", &["--format", "json"]).ended_with(0);
    let json = run.json();
    let shown = |at: usize| {
        let change = &json["changes"][at];
        let text = |key: &str| change[key].as_str().map(str::to_owned);
        (
            text("kind").unwrap(),
            text("moved_from").unwrap(),
            text("archives"),
            text("signer"),
            change["first_use"].clone(),
        )
    };
    let other = Some(keys::OTHER.fingerprint());
    let kind = "moved".to_owned();
    // The archives of gadget are the same, but who signs them here was not remembered.
    let identical = Some("identical".to_owned());
    assert_eq!(shown(0), (kind.clone(), format!("{TERRAFORM}/acme/gadget"), identical, other.clone(), true.into()));
    assert_eq!(shown(1), (kind, format!("{TERRAFORM}/acme/widget"), None, other, true.into()));
    let widget = workspace.lock_file();
    let widget = &widget[widget.find("acme/widget").unwrap()..];
    assert!(hashes(widget).iter().all(|hash| !before.contains(hash)) && widget.contains("\"1.4.0\""), "{run}");
    for platform in PLATFORMS {
        assert!(widget.contains(&tofu.package("acme/widget", "1.4.0", platform).h1));
    }
}

#[test]
fn what_is_not_there_is_listed_and_nothing_is_written() {
    let (terraform, tofu) = registries();
    tofu.withdraw("acme/widget", "1.4.0");
    tofu.withdraw("acme/gadget", "2.0.0");
    let terraform = terraform.release("acme/gizmo", "0.1.0", &PLATFORMS);
    let tofu = tofu.release("acme/gizmo", "0.1.0", &PLATFORMS);
    let (a, b) = (main(&["acme/gizmo"]), main(&["acme/widget", "acme/gadget", "acme/gizmo"]));
    let workspace = workspace(&tofu, &[("a/main.tf", &a), ("b/main.tf", &b)]);
    terraform.withdraw("acme/widget", "1.5.0");
    let args = ["lock", "-r", "--create", "--tool", "terraform", "--platform", "linux_amd64"];
    workspace.tflock(&terraform, args).ended_with(0);
    let run = migrate(&workspace, &terraform, "tofu", &["-r"]).ended_with(2);
    assert!(run.touched().is_empty(), "{run}");
    for shown in [
        "registry.opentofu.org/acme/widget has no release 1.4.0",
        "the newest there is 1.5.0",
        "registry.opentofu.org has no provider acme/gadget",
        "tflock -C b upgrade --precise VERSION registry.terraform.io/acme/widget",
        "nothing was written, since not every root module can be migrated",
    ] {
        assert!(run.stderr.contains(shown), "{shown}\n{run}");
    }
    assert!(run.stdout.contains("2 root modules: 1 would change, 1 failed; nothing was written"), "{run}");
    assert!(!workspace.read(&format!("a/{TRUST}")).contains(TOFU));
    migrate(&workspace, &terraform, "tofu", &["-C", "b"]).ended_with(2);
    migrate(&workspace, &terraform, "tofu", &["-C", "a"]).ended_with(0);
}

#[test]
fn explicit_hosts_stay_or_are_edited() {
    let (terraform, tofu) = registries();
    let widget = format!("{TERRAFORM}/acme/widget");
    let net = main(&[&widget]).replace("widget\"\n", "widget\" # ours\n      version = \">= 1.0, < 1.5\"\n");
    let root = main(&["acme/gadget", "{{registry}}/acme/widget"]).replace("    widget = {", "    other = {")
        + "module \"net\" {\n  source = \"../modules/net\"\n}\nmodule \"again\" {\n  source = \"../modules/net\"\n}\n";
    let files = [("a/main.tf", &*root), ("b/main.tf", &root), ("modules/net/main.tf", &net)];
    let workspace = workspace(&tofu, &files);
    workspace.git(["init", "--quiet"]);
    let args = ["lock", "--tool", "terraform", "--platform", "linux_amd64", "-C", "a", "-C", "b"];
    workspace.tflock(&terraform, args).ended_with(0);
    let (root, before) = (workspace.read("a/main.tf"), workspace.read(&format!("a/{LOCK}")));

    let dry = migrate(&workspace, &terraform, "tofu", &["-r", "--edit-config", "--dry-run"]).ended_with(0);
    assert!(dry.touched().is_empty() && dry.stdout.contains(&format!("+      source = \"{TOFU}/acme/widget\" # ours")));
    let run = migrate(&workspace, &terraform, "tofu", &["-r"]).ended_with(0);
    assert!(run.stdout.contains(&format!("warning[explicit-host]: the source of {widget} names its host")), "{run}");
    assert_eq!(run.stdout.matches("modules/net/main.tf:3:5\n  in a, b\n").count(), 1, "{run}");
    let after = workspace.read(&format!("a/{LOCK}"));
    assert!(after.contains(&format!("\"{widget}\"")) && after.contains(&format!("\"{TOFU}/acme/gadget\"")), "{after}");
    let third = |text: &str| text.split("\n\n").find(|block| block.contains("localhost")).unwrap().to_owned();
    assert_eq!(third(&after), third(&before));

    let run = migrate(&workspace, &terraform, "tofu", &["-r", "--edit-config"]).ended_with(0);
    let touched = [&format!("a/{LOCK}"), &format!("b/{LOCK}"), "modules/net/main.tf"];
    assert_eq!(run.touched().into_iter().filter(|path| *path != TRUST).collect::<Vec<_>>(), touched, "{run}");
    assert_eq!(workspace.read("modules/net/main.tf"), net.replace(TERRAFORM, TOFU));
    assert_eq!(workspace.read("a/main.tf"), root);
    let after = workspace.read(&format!("a/{LOCK}"));
    assert!(!after.contains(TERRAFORM) && after.contains("constraints = \">= 1.0.0, < 1.5.0\""), "{after}");
    let again = migrate(&workspace, &terraform, "tofu", &["-r", "--edit-config"]).ended_with(0);
    assert!(again.touched().is_empty(), "{again}");
    workspace.tflock(&terraform, ["lock", "-r", "--check", "--platform", "linux_amd64"]).ended_with(0);
}

#[test]
fn both_addresses_at_once() {
    let (terraform, tofu) = registries();
    let root = main(&[&format!("{TERRAFORM}/acme/widget")]) + "module \"net\" {\n  source = \"./net\"\n}\n";
    let workspace = locked(&terraform, &tofu, &[("main.tf", &root), ("net/main.tf", &main(&["acme/widget"]))]);
    let before = workspace.lock_file();
    let run = migrate(&workspace, &terraform, "tofu", &[]).ended_with(0);
    assert!(run.stdout.contains("+ acme/widget 1.4.0") && run.stdout.contains("(identical archives)"), "{run}");
    let text = workspace.lock_file();
    let (tofu_at, terraform_at) = (text.find(TOFU).unwrap(), text.find(TERRAFORM).unwrap());
    assert!(tofu_at < terraform_at && text.matches("\"1.4.0\"").count() == 2, "{text}");
    migrate(&workspace, &terraform, "tofu", &["--edit-config"]).ended_with(0);
    assert_eq!(workspace.lock_file(), before.replace(TERRAFORM, TOFU).replace("\"terraform init\"", "\"tofu init\""));
    assert_eq!(workspace.read("main.tf"), root.replace(TERRAFORM, TOFU));
}

#[test]
fn a_denied_signer_is_refused_everywhere() {
    let (terraform, tofu) = registries();
    let tofu = tofu.of("acme/gadget", "2.0.0").signed_by(keys::OTHER);
    let (widget, gadget) = (main(&["acme/widget"]), main(&["acme/gadget"]));
    let workspace = workspace(&tofu, &[("a/main.tf", &widget), ("b/main.tf", &gadget)]);
    workspace.git(["init", "--quiet"]);
    terraform.withdraw("acme/widget", "1.5.0");
    let args = ["lock", "-r", "--create", "--tool", "terraform", "--platform", "linux_amd64"];
    workspace.tflock(&terraform, args).ended_with(0);
    let deny = ["trust", "deny", &keys::OTHER.fingerprint(), "--reason", "lost"];
    workspace.tflock(&terraform, deny).ended_with(0);
    let run = migrate(&workspace, &terraform, "tofu", &["-r"]).ended_with(3);
    assert!(run.touched().is_empty() && run.stdout.contains("denied[signer-denied]"), "{run}");
    assert!(run.stderr.contains("nothing was written, since not every root module can be migrated"), "{run}");
    let away = tofu.answers(Endpoint::Versions, Answer::status(503));
    let run = migrate(&workspace, &terraform, "tofu", &["-r", "--no-cache"]).ended_with(4);
    assert!(run.touched().is_empty(), "{run}");
    drop(away);
}

#[test]
fn each_query_is_sent_once() {
    let (terraform, tofu) = registries();
    let main = main(&["acme/widget", "acme/gadget"]);
    let files: Vec<(String, &str)> = (0..4).map(|number| (format!("root-{number}/main.tf"), &*main)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    let workspace = locked(&terraform, &tofu, &files);
    terraform.forget_requests();
    let run = migrate(&workspace, &terraform, "tofu", &["-r", "--no-cache", "--platform", "linux_amd64"]).ended_with(0);
    assert!(run.stdout.ends_with("\n4 root modules: 4 changed\n"), "{run}");
    let counts = [Endpoint::Versions, Endpoint::Download, Endpoint::Sums, Endpoint::Signature, Endpoint::Zip];
    assert_eq!(counts.map(|endpoint| tofu.count(endpoint)), [2; 5]);
    assert!(terraform.requests().is_empty());
}

#[test]
fn entries_of_both_tools_and_entries_that_nothing_requires() {
    let (terraform, tofu) = registries();
    let workspace = locked(&terraform, &tofu, &[("main.tf", &main(&["acme/widget", "acme/gadget"]))]);
    let before = workspace.lock_file();
    // What OpenTofu leaves next to Terraform's entries, and a provider that only a state needs.
    let blocks: Vec<&str> = before.split("\n\n").collect();
    let tofu_header = blocks[0].replace("terraform init", "tofu init");
    let own = blocks[2].replace(TERRAFORM, TOFU);
    workspace.write(LOCK, &format!("{tofu_header}\n\n{own}\n{}\n\n{}", blocks[1], blocks[2]));
    workspace.write("main.tf", &main(&["acme/widget"]));
    let run = migrate(&workspace, &terraform, "tofu", &[]).ended_with(0);
    let gadget = blocks[1].replace(TERRAFORM, TOFU);
    assert_eq!(workspace.lock_file(), format!("{tofu_header}\n\n{gadget}\n\n{own}"), "{run}");
    // Nothing but the lock file, as Terragrunt leaves it.
    std::fs::remove_file(workspace.path("main.tf")).unwrap();
    migrate(&workspace, &terraform, "terraform", &[]).ended_with(0);
    assert_eq!(workspace.lock_file(), before);
}

#[test]
fn nothing_to_migrate() {
    let (terraform, tofu) = registries();
    let workspace = locked(&terraform, &tofu, &[("main.tf", &main(&["{{registry}}/acme/widget"]))]);
    let odd = workspace.lock_file().replace("  version", "    version");
    workspace.write(LOCK, &odd);
    let same = migrate(&workspace, &terraform, "terraform", &["--offline"]).ended_with(0);
    assert!(same.touched().is_empty() && same.stdout.contains("nothing to do"), "{same}");
    // Only the header is another tool's.
    migrate(&workspace, &terraform, "tofu", &["--offline"]).ended_with(0);
    assert!(workspace.lock_file().starts_with("# This file is maintained automatically by \"tofu init\"."));
    std::fs::remove_file(workspace.path(LOCK)).unwrap();
    let none = migrate(&workspace, &terraform, "tofu", &[]).ended_with(2);
    assert!(none.stderr.contains("there is no dependency lock file to migrate"), "{none}");
}

#[test]
fn modules_that_the_new_tool_has_not_installed() {
    let (terraform, tofu) = registries();
    let call = "module \"net\" {\n  source = \"acme/net/lab\"\n}\n";
    let workspace = workspace(&tofu, &[("main.tf", &format!("{}{call}", main(&["acme/gadget"])))]);
    let modules = format!(
        "{{\"Modules\":[{{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"}},{{\"Key\":\"net\",\
         \"Source\":\"{TERRAFORM}/acme/net/lab\",\"Version\":\"1.0.0\",\"Dir\":\".terraform/modules/net\"}}]}}"
    );
    workspace.write(".terraform/modules/modules.json", &modules);
    let net = main(&["acme/widget"]).replace("widget\"\n", "widget\"\n      version = \"~> 1.4.0\"\n");
    workspace.write(".terraform/modules/net/main.tf", &net);
    workspace.tflock(&terraform, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let before = workspace.lock_file();
    let wanted = before.replace(TERRAFORM, TOFU).replace("\"terraform init\"", "\"tofu init\"");
    // What the other tool has installed is the same module.
    let dry = migrate(&workspace, &terraform, "tofu", &["--dry-run"]).ended_with(0);
    assert!(!dry.stdout.contains("module-not-installed") && dry.stdout.contains("~> 1.4.0"), "{dry}");
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    let run = migrate(&workspace, &terraform, "tofu", &[]).ended_with(0);
    assert!(run.stdout.contains("warning[module-not-installed]: module.net"), "{run}");
    assert_eq!(workspace.lock_file(), wanted);
}

#[test]
fn what_else_says_which_tool_it_is() {
    let (terraform, tofu) = registries();
    let workspace = locked(&terraform, &tofu, &[("main.tf", &main(&["acme/widget"]))]);
    workspace.write(".tflock.hcl", "tool = \"terraform\"\n");
    let run = migrate(&workspace, &terraform, "tofu", &[]).ended_with(0);
    assert!(run.stderr.contains("say tool = \"terraform\"; change that to \"tofu\""), "{run}");
    workspace.write("more.tofu", "");
    let run = migrate(&workspace, &terraform, "terraform", &[]).ended_with(0);
    assert!(run.stderr.contains("Terraform does not read more.tofu"), "{run}");
}

#[test]
fn terraform_accepts_what_came_from_tofu() {
    const HERE: [&str; 4] = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"];
    let registry = || Registry::start().release("acme/widget", "1.4.0", &HERE).release("acme/gadget", "2.0.0", &HERE);
    let (terraform, tofu) = (registry().standing_for(TERRAFORM), registry());
    tofu.republish("acme/widget", "1.4.0");
    let workspace = workspace(&tofu, &[("main.tf", &main(&["acme/widget", "acme/gadget"]))]);
    let platforms = HERE.map(|platform| format!("--platform={platform}"));
    let lock = ["lock", "--tool=tofu"].map(str::to_owned).into_iter().chain(platforms.clone());
    workspace.tflock(&terraform, lock).ended_with(0);
    migrate(&workspace, &terraform, "terraform", &platforms.each_ref().map(|it| &**it)).ended_with(0);
    let before = workspace.lock_file();
    for more in [&["-lockfile=readonly"][..], &[]] {
        let args = ["init", "-backend=false", "-input=false", "-no-color"].iter().chain(more);
        let Some(init) = workspace.terraform(&terraform, args) else { return };
        init.ended_with(0);
        assert_eq!(workspace.lock_file(), before);
    }
}

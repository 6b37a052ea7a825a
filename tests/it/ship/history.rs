//! A repository with a history of honest changes and attacks: what the gate says of each branch, and what of the tree alone.
#![cfg(unix)]

use std::collections::BTreeSet;

use crate::support::extent::Extent;
use crate::support::keys;
use crate::support::locked::{LOCK, block, hashes, honest, planted};
use crate::support::proposal::{SETTINGS, TRUST, commit, edit, pin, repository, without_last_line_with};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

/// What a branch does.
type Change = fn(&Workspace, &Registry);

/// An exit code and the rules at level deny.
type Verdict = (i32, &'static [&'static str]);

/// A branch, its change, the verdict with `--base`, and that of the tree about itself.
struct Branch(&'static str, Change, Verdict, Verdict);

const PASSES: Verdict = (0, &[]);

const HONEST: &[Branch] = &[
    Branch("readme", |it, _| it.write("README.md", "new\n"), PASSES, PASSES),
    Branch("more-configuration", |it, _| it.write("app/more.tf", "# new\n"), PASSES, PASSES),
    Branch(
        "upgrade",
        |it, registry| run(it, registry, &["-C", "app", "upgrade", "--precise", "1.4.1", &of(registry, "acme/widget")]),
        PASSES,
        PASSES,
    ),
    Branch(
        "upgrade-everywhere",
        |it, registry| run(it, registry, &["upgrade", "-r", "--precise", "1.4.1", &of(registry, "acme/widget")]),
        PASSES,
        PASSES,
    ),
    Branch("downgrade", |it, registry| precise(it, registry, "1.4.0", "1.3.9"), PASSES, PASSES),
    Branch(
        "provider-added",
        |it, registry| run(it, registry, &["-C", "app", "add", &of(registry, "acme/extra")]),
        PASSES,
        PASSES,
    ),
    Branch(
        "provider-removed",
        |it, registry| run(it, registry, &["-C", "app", "remove", &of(registry, "acme/gadget")]),
        PASSES,
        PASSES,
    ),
    Branch("root-module-added", root_module_added, PASSES, PASSES),
    Branch("root-module-moved", |it, _| drop(it.git(["mv", "other", "elsewhere"])), PASSES, PASSES),
    Branch("root-module-called-now", called_now, PASSES, PASSES),
    Branch("lock-file-left-behind", left_behind, (3, &["lock-file-moved"]), PASSES),
    Branch("lock-file-left-behind-and-touched-up", left_behind_and_touched_up, (3, &["lock-file-moved"]), PASSES),
    Branch("lock-file-left-behind-beside-a-rest", left_behind_beside_a_rest, (3, &["lock-file-moved"]), PASSES),
    Branch("root-module-deleted", |it, _| drop(it.git(["rm", "-r", "--quiet", "other"])), PASSES, PASSES),
    Branch(
        "policy-tightened",
        |it, _| edit(it, SETTINGS, |text| text.replace("always\"", "always\"\n  expired_key = \"deny\"")),
        PASSES,
        PASSES,
    ),
    Branch("shared-file-linked", shared_file_linked, PASSES, PASSES),
    Branch("linked-file-edited", |it, _| it.write("shared/common.tf", "# other\n"), PASSES, PASSES),
];

const ATTACKS: &[Branch] = &[
    Branch(
        "h1-planted",
        |it, _| edit(it, &lock(), |text| planted(text, EVIL)),
        (3, &["unattested-hash"]),
        (3, &["unattested-hash"]),
    ),
    Branch(
        "zh-planted",
        |it, _| edit(it, &lock(), |text| planted(text, &format!("zh:{}", "5".repeat(64)))),
        (3, &["unattested-hash"]),
        (3, &["unattested-hash"]),
    ),
    Branch("h1-replaced", h1_replaced, (3, &["hash-replaced"]), (3, &["unattested-hash"])),
    Branch(
        "h1-dropped",
        |it, _| edit(it, &lock(), |text| without_last_line_with(text, "h1:")),
        (3, &["hashes-dropped"]),
        PASSES,
    ),
    Branch("hashes-gone", hashes_gone, (3, &["hashes-dropped", "pins-nothing"]), (3, &["pins-nothing"])),
    Branch(
        "lock-file-removed",
        |it, _| std::fs::remove_file(it.path(&lock())).unwrap(),
        (3, &["lock-file-removed"]),
        PASSES,
    ),
    Branch("policy-gone", |it, _| it.write(SETTINGS, "# nothing\n"), (3, &["policy-weakened"]), PASSES),
    Branch("ban-lifted", ban_lifted, (3, &["banned", "policy-weakened"]), PASSES),
    Branch(
        "banned-release",
        |it, registry| install(it, registry, "acme/widget", "1.4.0", "1.4.2"),
        (3, &["banned"]),
        (3, &["banned"]),
    ),
    Branch("exemption", exemption, (3, &["policy-weakened", "unattested-hash"]), PASSES),
    Branch("second-signer", second_signer, (3, &["pin-changed"]), PASSES),
    Branch(
        "pin-gone",
        |it, registry| it.write(TRUST, &pin(registry, "acme/gadget", &keys::GOOD.fingerprint())),
        (3, &["pin-removed"]),
        (3, &["signer-not-pinned"]),
    ),
    Branch(
        "other-signer",
        |it, registry| install(it, registry, "acme/widget", "1.4.0", "1.4.3"),
        (3, &["signer-changed"]),
        (3, &["signer-changed"]),
    ),
    Branch("other-signer-and-pin", other_signer_and_pin, (3, &["pin-changed", "signer-changed"]), PASSES),
    Branch("republication-accepted", republication_accepted, (3, &["republication-accepted"]), PASSES),
    Branch("unpinned-provider", unpinned_provider, (3, &["signer-not-pinned"]), (3, &["signer-not-pinned"])),
    Branch("entry-missing", entry_missing, (1, &["entry-missing"]), (1, &["entry-missing"])),
    Branch(
        "version-not-allowed",
        |it, registry| install(it, registry, "acme/widget", "1.4.0", "1.3.9"),
        (1, &["version-not-allowed"]),
        (1, &["version-not-allowed"]),
    ),
    Branch(
        "release-that-is-not-there",
        |it, _| edit(it, &lock(), |text| text.replace("\"2.0.0\"", "\"2.9.9\"")),
        (3, &["version-withdrawn"]),
        (3, &["version-withdrawn"]),
    ),
    Branch("hashes-of-another-release", hashes_of_another, (3, &["lock-file-altered"]), (3, &["lock-file-altered"])),
    Branch("two-entries", two_entries, (1, &["duplicate-provider"]), (1, &["duplicate-provider"])),
    Branch(
        "packages-in-plugins",
        |it, _| it.write("app/terraform.d/plugins/x", "evil\n"),
        (3, &["tracked-packages"]),
        (3, &["tracked-packages"]),
    ),
    Branch(
        "packages-in-data-directory",
        packages_in_data_directory,
        (3, &["tracked-packages"]),
        (3, &["tracked-packages"]),
    ),
    Branch("moved-and-dropped", moved_and_dropped, (3, &["hashes-dropped"]), PASSES),
    Branch("unknown-scheme-only", unknown_scheme, (3, &["hashes-dropped", "pins-nothing"]), (3, &["pins-nothing"])),
    Branch("look-alike", look_alike, (3, &["look-alike", "pins-nothing"]), (3, &["look-alike", "pins-nothing"])),
    Branch("lock-file-linked", lock_file_linked, (3, &["link-changed", "unattested-hash"]), (3, &["unattested-hash"])),
    Branch("submodule", submodule, (3, &["root-module-moved-out"]), PASSES),
    Branch("skipped-directory", skipped_directory, (3, &["root-module-moved-out", "tracked-packages"]), PASSES),
    Branch("other-tool", other_tool, (3, &["dialect-changed"]), PASSES),
    Branch("plugins-by-link", plugins_by_link, (3, &["link-changed", "tracked-packages"]), (3, &["tracked-packages"])),
    Branch("not-literal", not_literal, (3, &["lock-not-literal"]), (3, &["lock-not-literal"])),
];

const EVIL: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

fn lock() -> String {
    format!("app/{LOCK}")
}

fn of(registry: &Registry, provider: &str) -> String {
    format!("{}/{provider}", registry.host())
}

fn run(workspace: &Workspace, registry: &Registry, args: &[&str]) {
    workspace.tflock(registry, args).ended_with(0);
}

/// Another version, honestly locked.
fn precise(workspace: &Workspace, registry: &Registry, from: &str, to: &str) {
    edit(workspace, "app/main.tf", |text| text.replace("~> 1.4", "~> 1.3"));
    edit(workspace, &lock(), |text| text.replace("~> 1.4", "~> 1.3"));
    install(workspace, registry, "acme/widget", from, to);
}

/// Another version and its hashes, written by hand.
fn install(workspace: &Workspace, registry: &Registry, provider: &str, from: &str, to: &str) {
    let [old, new] = [from, to].map(|version| hashes(registry, provider, version).join("\",\n    \""));
    edit(workspace, &lock(), |text| text.replace(&old, &new).replace(&format!("\"{from}\""), &format!("\"{to}\"")));
}

fn root_module_added(workspace: &Workspace, registry: &Registry) {
    workspace.write("third/main.tf", &workspace.read("app/main.tf").replace("~> 1.4", "1.4.1"));
    let platforms = PLATFORMS.iter().flat_map(|platform| ["--platform", platform]);
    let args: Vec<&str> = ["-C", "third", "lock"].into_iter().chain(platforms).collect();
    run(workspace, registry, &args);
}

fn link(workspace: &Workspace, target: &str, path: &str) {
    std::os::unix::fs::symlink(target, workspace.path(path)).unwrap();
}

fn shared_file_linked(workspace: &Workspace, _: &Registry) {
    link(workspace, "../shared/common.tf", "app/more.tf");
}

fn lock_file_linked(workspace: &Workspace, _: &Registry) {
    workspace.git(["mv", &lock(), "lock.hcl"]);
    edit(workspace, "lock.hcl", |text| planted(text, EVIL));
    link(workspace, "../lock.hcl", &lock());
}

/// A gitlink in place of a root module, not checked out.
fn submodule(workspace: &Workspace, _: &Registry) {
    let head = workspace.git(["rev-parse", "HEAD"]).stdout;
    workspace.git(["rm", "-r", "--quiet", "other"]);
    workspace.git(["update-index", "--add", "--cacheinfo", &format!("160000,{},other", head.trim())]);
    std::fs::create_dir_all(workspace.path("other")).unwrap();
}

fn skipped_directory(workspace: &Workspace, _: &Registry) {
    std::fs::create_dir(workspace.path(".terragrunt-cache")).unwrap();
    workspace.git(["mv", "other", ".terragrunt-cache/other"]);
    link(workspace, ".terragrunt-cache/other", "other");
}

fn other_tool(workspace: &Workspace, _: &Registry) {
    edit(workspace, &lock(), |text| text.replace("terraform init", "tofu init"));
}

/// Two evaluators need not agree about what this is.
fn not_literal(workspace: &Workspace, _: &Registry) {
    edit(workspace, &lock(), |text| text.replace("\"1.4.0\"", "0.1 + 0.2 == 0.3 ? \"1.4.1\" : \"1.4.0\""));
}

fn plugins_by_link(workspace: &Workspace, _: &Registry) {
    workspace.write("vendored/plugins/x", "evil\n");
    link(workspace, "../vendored", "app/terraform.d");
}

fn h1_replaced(workspace: &Workspace, _: &Registry) {
    edit(workspace, &lock(), |text| planted(&without_last_line_with(text, "h1:"), EVIL));
}

fn hashes_gone(workspace: &Workspace, _: &Registry) {
    edit(workspace, &lock(), |text| text[..text.rfind("  hashes = [").unwrap()].to_owned() + "}\n");
}

fn unknown_scheme(workspace: &Workspace, _: &Registry) {
    edit(workspace, &lock(), |text| {
        text[..text.rfind("  hashes = [").unwrap()].to_owned() + "  hashes = [\n    \"h9:abc\",\n  ]\n}\n"
    });
}

fn ban_lifted(workspace: &Workspace, registry: &Registry) {
    install(workspace, registry, "acme/widget", "1.4.0", "1.4.2");
    edit(workspace, SETTINGS, |text| text[..text.find("\nban").unwrap()].to_owned());
}

fn exemption(workspace: &Workspace, _: &Registry) {
    edit(workspace, &lock(), |text| planted(text, EVIL));
    workspace.write("app/.tflock.hcl", "exempt \"unattested-hash\" {\n}\n");
}

fn second_signer(workspace: &Workspace, _: &Registry) {
    let other = keys::OTHER.fingerprint();
    edit(workspace, TRUST, |text| text.replacen("\"]", &format!("\", \"{other}\"]"), 1));
}

fn other_signer_and_pin(workspace: &Workspace, registry: &Registry) {
    install(workspace, registry, "acme/widget", "1.4.0", "1.4.3");
    edit(workspace, TRUST, |text| {
        let (before, after) = text.split_at(text.find("/acme/widget").unwrap());
        before.to_owned() + &after.replacen("\"]", &format!("\", \"{}\"]", keys::OTHER.fingerprint()), 1)
    });
}

fn republication_accepted(workspace: &Workspace, registry: &Registry) {
    let record = "version = \"1.4.0\"\n  date    = \"2026-01-01\"\n  reason  = \"they said so\"";
    let block = format!("\nrepublished \"{}\" {{\n  {record}\n}}\n", of(registry, "acme/widget"));
    edit(workspace, TRUST, |text| text.to_owned() + &block);
}

fn require(workspace: &Workspace, source: &str) {
    let requirement = format!("    more = {{\n      source = \"{source}\"\n    }}\n  }}\n}}\n");
    edit(workspace, "app/main.tf", |text| text.strip_suffix("  }\n}\n").unwrap().to_owned() + &requirement);
}

fn entry_missing(workspace: &Workspace, registry: &Registry) {
    require(workspace, &of(registry, "acme/extra"));
}

fn unpinned_provider(workspace: &Workspace, registry: &Registry) {
    require(workspace, &of(registry, "zeta/extra"));
    let entry = block(registry, "zeta/extra", "  version = \"1.0.0\"\n", &hashes(registry, "zeta/extra", "1.0.0"));
    edit(workspace, &lock(), |text| text.to_owned() + &entry);
}

fn look_alike(workspace: &Workspace, registry: &Registry) {
    let source = of(registry, "\u{430}cme/widget");
    require(workspace, &source);
    edit(workspace, &lock(), |text| format!("{text}\nprovider \"{source}\" {{\n  version = \"1.0.0\"\n}}\n"));
}

fn hashes_of_another(workspace: &Workspace, registry: &Registry) {
    let [old, new] = ["1.4.0", "1.4.1"].map(|version| hashes(registry, "acme/widget", version).join("\",\n    \""));
    edit(workspace, &lock(), |text| text.replace(&old, &new));
}

fn two_entries(workspace: &Workspace, registry: &Registry) {
    let entry = block(registry, "acme/widget", "  version = \"1.4.1\"\n", &hashes(registry, "acme/widget", "1.4.1"));
    edit(workspace, &lock(), |text| text.to_owned() + &entry);
}

fn packages_in_data_directory(workspace: &Workspace, registry: &Registry) {
    workspace.write(&format!("app/.terraform/providers/{}/1.4.0/linux_amd64/x", of(registry, "acme/widget")), "evil\n");
}

fn moved_and_dropped(workspace: &Workspace, _: &Registry) {
    workspace.git(["mv", "other", "elsewhere"]);
    edit(workspace, &format!("elsewhere/{LOCK}"), |text| without_last_line_with(text, "h1:"));
}

fn left_behind(workspace: &Workspace, _: &Registry) {
    workspace.git(["mv", "other", "elsewhere"]);
    workspace.git(["rm", "--quiet", "-f", &format!("elsewhere/{LOCK}")]);
}

/// A caller that nothing reaches is none.
fn left_behind_and_touched_up(workspace: &Workspace, registry: &Registry) {
    left_behind(workspace, registry);
    edit(workspace, "elsewhere/main.tf", |text| format!("# Moved.\n{text}\nlocals {{\n  moved = true\n}}\n"));
    workspace.write("unused/main.tf", "module \"m\" {\n  source = \"../elsewhere\"\n}\n");
}

/// What is left needs no lock file.
fn left_behind_beside_a_rest(workspace: &Workspace, registry: &Registry) {
    left_behind(workspace, registry);
    workspace.write("other/rest.tf", "locals {}\n");
}

/// What was a root module is a module of another one, whose lock file holds its providers.
fn called_now(workspace: &Workspace, registry: &Registry) {
    left_behind(workspace, registry);
    edit(workspace, "app/main.tf", |text| format!("{text}\nmodule \"m\" {{\n  source = \"../elsewhere\"\n}}\n"));
}

/// The exit code and what is denied, over all root modules.
fn verdict(workspace: &Workspace, registry: &Registry, base: &[&str]) -> (i32, BTreeSet<String>) {
    let args = ["verify", "-r", "--format", "json"].iter().chain(base);
    let run = workspace.tflock(registry, args);
    let json = run.json();
    let roots = json["roots"].as_array().cloned().unwrap_or_default();
    let all = roots.iter().chain([&json]).flat_map(|part| part["findings"].as_array().cloned().unwrap_or_default());
    let denied =
        all.filter(|finding| finding["level"] == "deny").map(|finding| finding["rule"].as_str().unwrap().to_owned());
    (run.code.unwrap(), denied.collect())
}

fn owned(verdict: &Verdict) -> (i32, BTreeSet<String>) {
    (verdict.0, verdict.1.iter().map(ToString::to_string).collect())
}

#[test]
fn some_branches_get_their_verdict() {
    each_gets_its_verdict(&Extent::Short.of(HONEST, 8));
    each_gets_its_verdict(&Extent::Short.of(ATTACKS, 8));
}

#[test]
#[ignore = "long"]
fn each_honest_branch_gets_its_verdict() {
    each_gets_its_verdict(&Extent::Long.of(HONEST, 1));
}

#[test]
#[ignore = "long"]
fn each_attack_gets_its_verdict() {
    each_gets_its_verdict(&Extent::Long.of(ATTACKS, 1));
}

/// Makes each branch from the same main branch, and judges it with the base and alone.
#[track_caller]
fn each_gets_its_verdict(branches: &[&Branch]) {
    let registry = honest()
        .release("acme/widget", "1.3.9", PLATFORMS)
        .release("acme/widget", "1.4.1", PLATFORMS)
        .release("acme/widget", "1.4.2", PLATFORMS)
        .release("acme/widget", "1.4.3", PLATFORMS)
        .signed_by(keys::OTHER)
        .release("acme/extra", "1.0.0", PLATFORMS)
        .release("zeta/extra", "1.0.0", PLATFORMS)
        .signed_by(keys::OTHER);
    let workspace = repository(&registry);
    let ban = format!(
        "\nban \"{}\" {{\n  versions = \"= 1.4.2\"\n  reason = \"it deletes things\"\n}}\n",
        of(&registry, "acme/widget")
    );
    edit(&workspace, SETTINGS, |text| text.to_owned() + &ban);
    workspace.write("shared/common.tf", "# shared\n");
    for root in ["app", "other"] {
        link(&workspace, "../shared/common.tf", &format!("{root}/common.tf"));
    }
    commit(&workspace, "ban, and a file that both share by a link");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let mut wrong = Vec::new();
    for Branch(name, change, with_base, alone) in branches {
        workspace.git(["checkout", "--quiet", "-B", name, "refs/remotes/origin/main"]);
        change(&workspace, &registry);
        workspace.git(["add", "--all", "--force"]);
        workspace.git(["commit", "--quiet", "--message", name]);
        for (base, wanted) in [(&["--base", "refs/remotes/origin/main"][..], with_base), (&[], alone)] {
            let found = verdict(&workspace, &registry, base);
            if found != owned(wanted) {
                wrong.push(format!("{name} {base:?}: {found:?} instead of {wanted:?}"));
            }
        }
        workspace.git(["clean", "-ffdxq"]);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

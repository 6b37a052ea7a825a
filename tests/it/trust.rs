//! Who signed what, from one run to the next.

use crate::support::keys::{self, Key};
use crate::support::locked::{self, hashes, honest, locked};
use crate::support::proposal::repository;
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const TRUST: &str = ".tflock.trust.hcl";
const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source = "{{registry}}/acme/widget"
    }
  }
}
"#;
const LOCK: [&str; 3] = ["lock", "--platform", "linux_amd64"];

fn widget(signer: Key) -> Registry {
    Registry::start().release("acme/widget", "1.4.0", &["linux_amd64"]).signed_by(signer)
}

/// A work tree of git with one root module below its top.
fn work_tree() -> Workspace {
    let workspace = Workspace::with_files(&[("app/main.tf", MAIN)]);
    workspace.git(["init", "--quiet"]);
    workspace
}

fn lock<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["-C", "app"].into_iter().chain(LOCK).chain(more.iter().copied()).collect()
}

/// The trust file that a run wrote, below its header.
fn entries(run: &crate::support::run::Run, workspace: &Workspace) -> String {
    let text = run.filtered(&workspace.read(TRUST));
    text.split_once("\n\n").unwrap().1.to_owned()
}

/// The rules of the findings of a run in JSON.
fn rules(run: &crate::support::run::Run) -> Vec<String> {
    let findings = run.json()["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

/// The work tree moves on: a newer version is there, and the old one is forgotten.
fn select_anew(workspace: &Workspace) {
    std::fs::remove_file(workspace.path("app/.terraform.lock.hcl")).unwrap();
}

#[test]
fn that_the_history_is_not_read_is_noted() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    let said = |workspace: &Workspace| {
        let rotate = ["-C", "app", "trust", "rotate", "widget", "unsigned", "--reason", "they gave up"];
        let run = workspace.tflock(&registry, rotate).ended_with(0);
        run.stderr.contains("versions that were locked before do not count: cannot start git")
    };
    let trust = workspace.read(TRUST);
    assert!(!said(&workspace));
    workspace.write(TRUST, &trust);
    assert!(said(&workspace.env("PATH", "/nowhere")));
}

#[test]
fn a_first_use_is_remembered_and_printed() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    let run = workspace.tflock(&registry, lock(&[])).ended_with(0);
    assert_eq!(run.touched(), [TRUST, "app/.terraform.lock.hcl"]);
    let shown = run.filtered(&run.stdout);
    insta::assert_snapshot!(shown, @r#"
    + localhost:PORT/acme/widget 1.4.0  new: h1 for linux_amd64; 1 zh (signed)
        signed by <key GOOD>, which claims to be "GOOD <good@example.com>" (created 2024-01-01, no expiry) (first use)
    review and commit app/.terraform.lock.hcl and .tflock.trust.hcl
    "#);
    insta::assert_snapshot!(entries(&run, &workspace), @r#"
    # <key GOOD> claims to be "GOOD <good@example.com>" (created 2024-01-01, no expiry)
    provider "localhost:PORT/acme/widget" {
      signers = ["<key GOOD>"]
    }
    "#);

    let registry = registry.release("acme/widget", "1.5.0", &["linux_amd64"]);
    select_anew(&workspace);
    let run = workspace.tflock(&registry, lock(&["--no-first-use"])).ended_with(0);
    assert_eq!(run.touched(), ["app/.terraform.lock.hcl"]);
    let shown = run.filtered(&run.stdout);
    assert!(shown.contains("<key GOOD>") && !shown.contains("first use"), "{run}");
}

#[test]
fn outside_of_git_the_trust_file_is_next_to_the_lock_file() {
    let (registry, workspace) = (widget(keys::SUBKEY), Workspace::with_files(&[("main.tf", MAIN)]));
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(run.touched(), [".terraform.lock.hcl", TRUST]);
    // A pin names the primary key, also where a subkey signed.
    assert!(workspace.read(TRUST).contains(&keys::SUBKEY.fingerprint()));
}

#[test]
fn nothing_is_written_by_check_and_dry_run() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    for (flag, code) in [("--check", 1), ("--dry-run", 0)] {
        let run = workspace.tflock(&registry, lock(&[flag, "--format", "json"])).ended_with(code);
        assert!(run.touched().is_empty(), "{run}");
        let trust = run.json()["trust"].clone();
        assert_eq!(
            (trust["written"].as_bool(), trust["pinned"][0]["signer"].as_str().map(str::to_owned)),
            (Some(false), Some(keys::GOOD.fingerprint()))
        );
    }
}

#[test]
fn first_uses_can_be_forbidden() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    let run = workspace.tflock(&registry, lock(&["--no-first-use", "--format", "json"])).ended_with(3);
    assert!(run.touched().is_empty(), "{run}");
    assert_eq!(rules(&run), ["first-use-forbidden"]);
    // Whichever command wrote nothing, `lock` alone may have nothing to do.
    assert!(!run.stdout.contains("`tflock lock`"), "{run}");
    // Of a release that is recorded already nothing is trusted newly, and nothing learned.
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    registry.add_platform("acme/widget", "1.4.0", "darwin_arm64");
    let run = workspace.tflock(&registry, lock(&["--no-first-use", "--platform", "darwin_arm64"])).ended_with(0);
    assert_eq!(run.touched(), ["app/.terraform.lock.hcl"]);
}

#[test]
fn another_key_is_refused_until_it_is_rotated() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    let old_lock = workspace.read("app/.terraform.lock.hcl");
    let registry = registry.release("acme/widget", "1.5.0", &["linux_amd64"]).signed_by(keys::OTHER);
    select_anew(&workspace);
    let run = workspace.tflock(&registry, lock(&[])).ended_with(3);
    assert!(run.touched().is_empty(), "{run}");
    insta::assert_snapshot!(run.filtered(&run.stdout), @r"
    denied[signer-changed]: localhost:PORT/acme/widget 1.5.0 is signed by <key OTHER>; localhost:PORT/acme/widget is pinned to <key GOOD>
      --> app/main.tf:3:5
      help: Ask its publisher whether the key is theirs (`tflock -C app explain localhost:PORT/acme/widget` shows it and those remembered); then `tflock -C app trust rotate localhost:PORT/acme/widget <key OTHER> --reason TEXT`.
    refused; app/.terraform.lock.hcl unchanged
    ");

    // Rotated while 1.4.0 is locked, the old key counts for that version only.
    workspace.write("app/.terraform.lock.hcl", &old_lock);
    let address = format!("{}/acme/widget", registry.host());
    let rotate = ["trust", "rotate", &address, &keys::OTHER.fingerprint(), "--reason", "they have a new key"];
    let run = workspace.tflock(&registry, rotate).ended_with(0);
    assert_eq!(run.touched(), [TRUST]);
    insta::assert_snapshot!(entries(&run, &workspace), @r#"
    # <key GOOD> claims to be "GOOD <good@example.com>" (created 2024-01-01, no expiry)
    # <key OTHER> claims to be "OTHER <other@example.com>" (created 2024-01-01, no expiry)
    provider "localhost:PORT/acme/widget" {
      signers = ["<key OTHER>"]

      signer "<key OTHER>" {
        reason = "they have a new key"
      }

      retired_signer "<key GOOD>" {
        versions = ["1.4.0"]
      }
    }
    "#);
    registry.add_platform("acme/widget", "1.4.0", "darwin_arm64");
    workspace.tflock(&registry, lock(&["--platform", "darwin_arm64"])).ended_with(0);
    select_anew(&workspace);
    workspace.tflock(&registry, lock(&["--no-first-use"])).ended_with(0);
    assert!(workspace.read("app/.terraform.lock.hcl").contains("1.5.0"));
    select_anew(&workspace);
    let registry = registry.release("acme/widget", "1.4.1", &["linux_amd64"]).signed_by(keys::GOOD);
    registry.withdraw("acme/widget", "1.5.0");
    let run = workspace.tflock(&registry, lock(&["--format", "json"])).ended_with(3);
    assert_eq!(rules(&run), ["signer-changed"]);
}

#[test]
fn an_extended_expiry_is_the_same_key() {
    let (registry, workspace) = (widget(keys::EXPIRED), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    let registry = registry.release("acme/widget", "1.5.0", &["linux_amd64"]).signed_by(keys::EXPIRED);
    let registry = registry.signed_on(keys::AFTER_EXPIRY);
    select_anew(&workspace);
    let run = workspace.tflock(&registry, lock(&["--format", "json"])).ended_with(0);
    assert_eq!(rules(&run), ["expired-key"]);
    assert_eq!(run.touched(), ["app/.terraform.lock.hcl"]);
}

#[test]
fn unsigned_after_signed_is_refused() {
    let registry = widget(keys::GOOD).standing_for("registry.opentofu.org");
    let main = MAIN.replace("{{registry}}", "registry.opentofu.org");
    let workspace = Workspace::with_files(&[("app/main.tofu", &main)]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    let registry = registry.release("acme/widget", "1.5.0", &["linux_amd64"]).unsigned();
    select_anew(&workspace);
    let run = workspace.tflock(&registry, lock(&["--format", "json"])).ended_with(3);
    assert!(rules(&run).contains(&"unsigned-after-signed".to_owned()), "{run}");
    let rotate = ["-C", "app", "trust", "rotate", "acme/widget", "unsigned", "--reason", "they gave up"];
    let rotated = workspace.tflock(&registry, rotate).ended_with(0);
    assert_eq!(rotated.touched(), [TRUST]);
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    assert!(workspace.read(TRUST).contains("unsigned = true"));
}

#[test]
fn a_key_once_seen_revoked_stays_revoked() {
    let (registry, workspace) = (widget(keys::REVOKED), work_tree());
    let run = workspace.tflock(&registry, lock(&[])).ended_with(3);
    assert_eq!(run.touched(), [TRUST]);
    let text = workspace.read(TRUST);
    assert!(text.contains("denied_signer") && text.contains("reason = \"revoked: "), "{text}");
    let again = workspace.tflock(&registry, lock(&[])).ended_with(3);
    assert!(again.touched().is_empty(), "{again}");
}

#[test]
fn denied_keys_sign_nothing() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    let deny = ["trust", "deny", &keys::GOOD.fingerprint(), "--reason", "their laptop was stolen"];
    workspace.tflock(&registry, deny).ended_with(0);
    let run = workspace.tflock(&registry, lock(&["--format", "json"])).ended_with(3);
    assert_eq!(rules(&run), ["signer-denied"]);
    assert!(run.touched().is_empty(), "{run}");
    let run = workspace.tflock(&registry, ["trust", "deny", &keys::OTHER.fingerprint()]).ended_with(2);
    assert!(run.stderr.contains("--reason"), "{run}");
}

#[test]
fn an_accepted_republication_leaves_its_record() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    registry.republish("acme/widget", "1.4.0");
    let version = format!("{}/acme/widget@1.4.0", registry.host());
    let run = workspace.tflock(&registry, lock(&["--no-cache"])).ended_with(3);
    assert!(run.touched().is_empty(), "{run}");
    let accept = lock(&["--no-cache", "--accept-republished", &version, "--reason", "they rebuilt it"]);
    let run = workspace.tflock(&registry, &accept).ended_with(0);
    assert_eq!(run.touched(), [TRUST, "app/.terraform.lock.hcl"]);
    let text = workspace.read(TRUST);
    let block = format!("republished \"{}/acme/widget\" {{\n  version = \"1.4.0\"\n  date    = \"", registry.host());
    assert!(text.contains(&block) && text.contains("  reason  = \"they rebuilt it\"\n"), "{text}");
    let again = workspace.tflock(&registry, &accept).ended_with(0);
    assert!(again.touched().is_empty(), "{again}");
}

#[test]
fn there_is_one_trust_file_and_it_must_be_right() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.write("app/.tflock.trust.hcl", "");
    let run = workspace.tflock(&registry, lock(&[])).ended_with(2);
    assert!(run.stderr.contains("is a second trust file"), "{run}");
    std::fs::remove_file(workspace.path("app/.tflock.trust.hcl")).unwrap();

    workspace.write(TRUST, "provider \"acme/widget\" {\n  signrs = []\n}\n");
    let run = workspace.tflock(&registry, lock(&[])).ended_with(2);
    assert!(run.touched().is_empty(), "{run}");
    assert!(run.stderr.contains("did you mean \"signers\"?") && run.stderr.contains(".tflock.trust.hcl:2:3"), "{run}");

    let other = ["--trust-file", "pins.hcl"].into_iter().chain(lock(&[]));
    let run = workspace.tflock(&registry, other).ended_with(0);
    assert_eq!(run.touched(), ["app/.terraform.lock.hcl", "pins.hcl"]);
}

#[test]
fn pins_are_added_forgotten_and_listed() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace
        .write(TRUST, "# The house.\n\n# Ours alone.\nprovider \"a.example/b/c\" { # keep\n  unsigned = true\n}\n");
    let add = |what: &str, signer: &str| workspace.tflock(&registry, ["trust", "add", what, signer]).ended_with(0);
    let pattern = format!("{}/acme/*", registry.host());
    add(&pattern, &keys::GOOD.fingerprint());
    add(&pattern, &keys::OTHER.fingerprint());
    assert!(add(&pattern, &keys::OTHER.fingerprint().to_lowercase()).touched().is_empty());
    let run = add("hashicorp/null", &keys::OTHER.fingerprint());
    insta::assert_snapshot!(run.filtered(&run.stdout), @r"
    registry.terraform.io/hashicorp/null  <key OTHER>  for all versions
    review and commit .tflock.trust.hcl
    ");
    let text = workspace.read(TRUST);
    assert!(text.starts_with("# The house.\n\n# Ours alone.\nprovider \"a.example/b/c\" { # keep\n"), "{text}");
    // The pattern counts: nothing is learned.
    let run = workspace.tflock(&registry, lock(&["--no-first-use"])).ended_with(0);
    assert_eq!(run.touched(), ["app/.terraform.lock.hcl"]);
    let list = workspace.tflock(&registry, ["trust", "list"]).ended_with(0);
    let words = list.filtered(&list.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with("a.example/b/c not signed for all versions localhost:PORT/acme/* <key "), "{list}");
    assert_eq!(list.stdout.lines().count(), 4);
    let json = workspace.tflock(&registry, ["trust", "list", "--format", "json"]).ended_with(0).json();
    assert_eq!(json["providers"].as_array().unwrap().len(), 3);

    workspace.tflock(&registry, ["trust", "forget", "a.example/b/c", &pattern]).ended_with(0);
    let text = workspace.read(TRUST);
    assert!(text.starts_with("# The house.\n\nprovider \"registry.terraform.io/hashicorp/null\""), "{text}");
    workspace.tflock(&registry, ["trust", "forget", "a.example/b/c"]).ended_with(2);
    workspace.tflock(&registry, ["trust", "add", "*/*/*", "unsigned"]).ended_with(2);
    workspace.tflock(&registry, ["trust", "add", "a/b", "C0FFEE"]).ended_with(2);
}

#[test]
fn a_type_alone_means_a_provider_that_is_known() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    let shown = |args: &[&str], code| workspace.tflock(None, ["trust"].iter().chain(args)).ended_with(code);
    // Above the root module, too, which is where the trust file is.
    shown(&["add", "widget", &keys::GOOD.fingerprint()], 0);
    assert!(workspace.read(TRUST).contains(&format!("provider \"{}/acme/widget\"", registry.host())));
    for args in [&["add", "widgett", "unsigned"][..], &["rotate", "widgett", "unsigned"]] {
        let run = shown(args, 2);
        assert!(run.stderr.contains("did you mean") && !run.stderr.contains("trust add"), "{run}");
        assert!(run.touched().is_empty(), "{run}");
    }
    shown(&["deny", &keys::OTHER.fingerprint(), "--reason", "stolen"], 0);
    for args in [["add", "widget"], ["rotate", "acme/*"]] {
        let run = shown(&[&args[..], &[&keys::OTHER.fingerprint()]].concat(), 2);
        assert!(run.stderr.contains("stolen") && run.stderr.contains("`tflock trust forget "), "{run}");
    }
}

#[test]
fn a_reason_belongs_to_the_signer_that_is_accepted() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    let trust = |args: &[&str]| workspace.tflock(None, ["trust"].iter().chain(args)).ended_with(0);
    let other = keys::OTHER.fingerprint();
    trust(&["rotate", "widget", &other]);
    trust(&["rotate", "widget", &format!("0x{}", other.to_lowercase()), "--reason", "announced"]);
    let block = format!("  signer \"{other}\" {{\n    reason = \"announced\"\n  }}\n");
    assert!(workspace.read(TRUST).contains(&block), "{}", workspace.read(TRUST));
    trust(&["add", "widget", "unsigned", "--reason", "a mirror\nprovider \"x\" {"]);
    let block = "  signer \"unsigned\" {\n    reason = \"a mirror\\nprovider \\\"x\\\" {\"\n  }\n";
    assert!(workspace.read(TRUST).contains(block), "{}", workspace.read(TRUST));
    let listed = trust(&["list", "widget"]).stdout;
    let line = |part: &str| listed.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{listed}"));
    assert!(line(&other).contains("announced") && line("not signed").contains("a mirror"), "{listed}");
    assert!(!line(&keys::GOOD.fingerprint()).contains("announced"), "{listed}");
    let missing = workspace.tflock(None, ["trust", "list", "acme/gadget"]).ended_with(2);
    assert!(missing.stderr.contains("no signer of "), "{missing}");
    // A reason for who is not accepted is a mistake.
    let stray = format!("signer \"{}\" {{\n reason = \"x\"\n }}\n  signer \"unsigned\"", "A".repeat(40));
    workspace.write(TRUST, &workspace.read(TRUST).replace("signer \"unsigned\"", &stray));
    let run = workspace.tflock(None, ["trust", "list"]).ended_with(2);
    assert!(run.stderr.contains("is not an accepted signer of this provider"), "{run}");
}

/// What another tool recorded before the rotation is not what the old key signed.
#[test]
fn rotating_keeps_a_signer_for_what_it_signed() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "old"]);
    let registry = registry.release("acme/widget", "1.5.0", &["linux_amd64"]).signed_by(keys::OTHER);
    select_anew(&workspace);
    let pins = workspace.read(TRUST);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    let retired = |args: &[&str]| {
        workspace.write(TRUST, &pins);
        let rotate = ["trust", "rotate", "widget", &keys::OTHER.fingerprint(), "--reason", "announced"];
        let run = workspace.tflock(&registry, args.iter().chain(&rotate)).ended_with(0);
        let text = workspace.read(TRUST);
        let (_, blocks) = text.split_once("  signer \"").unwrap();
        (run, blocks.split_once("retired_signer").map(|(_, block)| block.to_owned()))
    };
    for args in [&[][..], &["--no-cache"], &["--offline"]] {
        let (run, block) = retired(args);
        let block = block.unwrap_or_else(|| panic!("{run}"));
        assert!(block.contains("versions = [\"1.4.0\"]") && !block.contains("announced"), "{block}");
    }
    // Where no signature can be checked, nothing is kept, and that is said.
    let (run, block) = retired(&["--offline", "--no-cache"]);
    assert_eq!(block, None);
    assert!(run.stderr.contains("the earlier signers are not kept for "), "{run}");
}

#[test]
fn rotating_a_pattern_does_not_concern_those_with_a_pin_of_their_own() {
    let registry = widget(keys::GOOD).release("acme/gadget", "2.0.0", &["linux_amd64"]);
    let workspace = work_tree();
    let of = |name: &str| MAIN.replace("widget", name);
    workspace.write("app/main.tf", &of("widget"));
    workspace.write("other/main.tf", &of("gadget"));
    workspace.tflock(&registry, ["lock", "-r", "--create", "--platform=linux_amd64"]).ended_with(0);
    let pins = format!(
        "provider \"{host}/acme/*\" {{\n  signers = [\"{key}\"]\n}}\n\nprovider \"{host}/acme/gadget\" {{\n  signers = [\"{key}\"]\n}}\n",
        host = registry.host(),
        key = keys::GOOD.fingerprint(),
    );
    workspace.write(TRUST, &pins);
    let pattern = format!("{}/acme/*", registry.host());
    workspace.tflock(None, ["trust", "rotate", &pattern, &keys::OTHER.fingerprint(), "--reason=lost"]).ended_with(0);
    let text = workspace.read(TRUST);
    assert!(text.contains("\"1.4.0\"") && !text.contains("\"2.0.0\""), "{text}");
}

#[test]
fn old_root_modules_get_their_first_trust_file() {
    let registry = widget(keys::GOOD).release("acme/widget", "2.0.0", &["linux_amd64"]).signed_by(keys::OTHER);
    let workspace = work_tree();
    let pinned = MAIN.replace("widget\"", "widget\"\n      version = \"1.4.0\"");
    for (root, text) in [("old", pinned.as_str()), ("new", MAIN), ("old2", pinned.as_str())] {
        workspace.write(&format!("{root}/main.tf"), text);
        let args = ["-C", root].into_iter().chain(LOCK).chain(["--trust-file", "throw-away"]);
        workspace.tflock(&registry, args);
        let _ = std::fs::remove_file(workspace.path("throw-away"));
    }
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["trust", "init", "-r"]).ended_with(0);
    assert_eq!(run.touched(), [TRUST]);
    assert_eq!(registry.downloads("acme/widget"), 0);
    insta::assert_snapshot!(entries(&run, &workspace), @r#"
    # <key OTHER> claims to be "OTHER <other@example.com>" (created 2024-01-01, no expiry)
    provider "localhost:PORT/acme/widget" {
      signers = ["<key OTHER>"]

      retired_signer "<key GOOD>" {
        versions = ["1.4.0"]
      }
    }
    "#);
    let shown = run.filtered(&run.stdout);
    let lines: Vec<&str> = shown.lines().collect();
    insta::assert_snapshot!(lines[..2].join("\n"), @r#"
    localhost:PORT/acme/widget  <key OTHER>  for all versions  claims to be "OTHER <other@example.com>" (created 2024-01-01, no expiry)
    localhost:PORT/acme/widget  <key GOOD>  for 1.4.0 only
    "#);
    assert!(lines.len() == 3 && lines[2].ends_with(TRUST), "{run}");
    let again = workspace.tflock(&registry, ["trust", "init", "-r"]).ended_with(0);
    assert!(again.touched().is_empty(), "{again}");
    for root in ["old", "new"] {
        let args = ["-C", root, "lock", "--platform", "linux_amd64", "--no-cache", "--no-first-use"];
        workspace.tflock(&registry, args).ended_with(0);
    }
}

/// Two commands, and each question once for all root modules.
#[test]
fn forty_old_root_modules_get_to_a_green_gate() {
    let registry = honest().release("acme/widget", "1.3.0", PLATFORMS).signed_by(keys::OTHER);
    let newer = locked(&registry).lock_file();
    let [now, before] = ["1.4.0", "1.3.0"].map(|version| hashes(&registry, "acme/widget", version).join("\",\n    \""));
    let older = newer.replace(&now, &before).replace("1.4.0", "1.3.0").replace("~> 1.4", "1.3.0");
    let pinned = locked::MAIN.replace("~> 1.4", "1.3.0");
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    for number in 0..40 {
        let (main, lock) = if number % 2 == 0 { (locked::MAIN, &newer) } else { (pinned.as_str(), &older) };
        let root = format!("team-{}/root-{number}", number % 3);
        workspace.write(&format!("{root}/main.tf"), main);
        workspace.write(&format!("{root}/{}", locked::LOCK), lock);
    }
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["trust", "init", "-r"]).ended_with(0);
    assert_eq!(run.touched(), [TRUST], "{run}");
    let asked = [Endpoint::Versions, Endpoint::Sums, Endpoint::Signature, Endpoint::Zip].map(|it| registry.count(it));
    assert_eq!(asked, [2, 3, 3, 0], "{run}");
    let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]).ended_with(0);
    let roots = run.json()["roots"].as_array().unwrap().clone();
    assert_eq!(roots.len(), 40);
    assert!(roots.iter().all(|root| root["proven"] == 8 && root["findings"] == serde_json::json!([])), "{run}");
    let zips = registry.requests().iter().filter(|it| it.endpoint == Endpoint::Zip && it.method == "GET").count();
    assert_eq!(zips, 6, "one of each archive");
}

#[test]
fn init_pins_no_signer_of_a_release_that_is_not_recorded() {
    let (registry, workspace) = (widget(keys::GOOD), work_tree());
    workspace.tflock(&registry, lock(&[])).ended_with(0);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    registry.republish("acme/widget", "1.4.0");
    let run = workspace.tflock(&registry, ["-C", "app", "trust", "init", "--format", "json"]).ended_with(3);
    assert!(run.touched().is_empty(), "{run}");
    assert_eq!(rules(&run), ["republished"]);
}

#[test]
fn a_second_trust_file_is_an_error() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("other/.tflock.trust.hcl", "");
    for args in [
        vec!["verify", "-r", "--offline"],
        vec!["-C", "other", "verify", "--offline"],
        vec!["-C", "app", "verify", "--offline", "--base", "origin/main"],
        vec!["lock", "-r", "--offline"],
        vec!["-C", "other", "lock", "--offline"],
        vec!["trust", "list"],
        vec!["-C", "app", "trust", "list"],
        vec!["trust", "init", "-r"],
    ] {
        let run = workspace.tflock(&registry, &args).ended_with(2);
        assert!(run.stderr.contains("is a second trust file"), "{args:?}: {run}");
        assert!(run.touched().is_empty(), "{run}");
    }
    // A named file is used.
    workspace.tflock(&registry, ["verify", "-r", "--offline", "--trust-file", TRUST]).ended_with(0);
    // That of a repository within is its own.
    std::fs::rename(workspace.path("other"), workspace.path("within")).unwrap();
    workspace.git(["-C", "within", "init", "--quiet"]);
    workspace.tflock(&registry, ["trust", "list"]).ended_with(0);
}

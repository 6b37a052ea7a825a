//! What `verify` says of broken worlds: an attack is refused, an outage is neither good nor bad.

use std::collections::BTreeSet;

use crate::support::keys;
use crate::support::registry::{Answer, Endpoint, Flaw, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const PLATFORMS: &[&str] = &["linux_amd64", "darwin_arm64"];
const LOCK: &str = ".terraform.lock.hcl";
const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.4"
    }
    gadget = {
      source = "{{registry}}/acme/gadget"
    }
  }
}
"#;

fn honest() -> Registry {
    Registry::start().release("acme/gadget", "2.0.0", PLATFORMS).release("acme/widget", "1.4.0", PLATFORMS)
}

/// The hashes of a release as they are recorded: each `h1:`, each `zh:`.
fn hashes(registry: &Registry, provider: &str, version: &str) -> Vec<String> {
    let packages = PLATFORMS.iter().map(|platform| registry.package(provider, version, platform));
    let mut hashes: Vec<String> = packages.flat_map(|package| [package.zh(), package.h1]).collect();
    hashes.sort();
    hashes
}

fn block(registry: &Registry, provider: &str, head: &str, hashes: &[String]) -> String {
    let lines = hashes.join("\",\n    \"");
    format!("\nprovider \"{}/{provider}\" {{\n{head}  hashes = [\n    \"{lines}\",\n  ]\n}}\n", registry.host())
}

/// A root module and its lock file, as the honest world has them.
fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    let gadget = hashes(registry, "acme/gadget", "2.0.0");
    let widget = hashes(registry, "acme/widget", "1.4.0");
    let text = [
        "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n"
            .to_owned(),
        block(registry, "acme/gadget", "  version = \"2.0.0\"\n", &gadget),
        block(registry, "acme/widget", "  version     = \"1.4.0\"\n  constraints = \"~> 1.4\"\n", &widget),
    ];
    workspace.write(LOCK, &text.concat());
    workspace
}

fn verify(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    let args = ["verify", "--format", "json"].iter().chain(args);
    let run = workspace.tflock(registry, args);
    assert!(run.touched().is_empty(), "{run}");
    run
}

/// The rules at one level, with the lines of their findings.
fn rules(run: &Run, level: &str) -> BTreeSet<String> {
    let findings = run.json()["findings"].as_array().cloned().unwrap_or_default();
    let at = findings.iter().filter(|finding| finding["level"] == level);
    at.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

fn line_of(text: &str, part: &str) -> u64 {
    text.lines().position(|line| line.contains(part)).unwrap() as u64 + 1
}

#[test]
fn an_honest_world_is_proven() {
    let registry = honest();
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &[]).ended_with(0);
    let report = run.json();
    assert_eq!((&report["proven"], &report["unknown"]), (&8.into(), &0.into()), "{run}");
    assert!(rules(&run, "deny").is_empty() && rules(&run, "warn").is_empty(), "{run}");
    // What was computed is known from now on.
    registry.forget_requests();
    verify(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(registry.count(Endpoint::Zip), 0);
    // And what was signed can be checked again without asking.
    registry.forget_requests();
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(0);
    assert_eq!((&run.json()["proven"], registry.requests().len()), (&8.into(), 0), "{run}");
    verify(&workspace, &registry, &["--deep", "--all-platforms"]).ended_with(0);
    assert_eq!(registry.count(Endpoint::Zip), 4);
}

#[test]
fn people_read_one_line_and_what_was_not_asked() {
    let registry = honest();
    let workspace = locked(&registry);
    let run = workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
    insta::assert_snapshot!(run.filtered(&run.stdout), @"passed: 0 hashes proven, 8 unknown");
    insta::assert_snapshot!(run.filtered(&run.stderr), @r"
    note: 8 hashes not checked against a registry
    note: the work tree vouches for itself: its own settings and trust file were believed
    ");
    assert!(registry.requests().is_empty());
    let run = workspace.tflock(&registry, ["verify", "--no-download"]).ended_with(0);
    insta::assert_snapshot!(run.filtered(&run.stdout), @r"
    note[signer-not-pinned]: localhost:PORT/acme/gadget 2.0.0 is signed by <key GOOD>; there is no trust file that would remember it
      --> .terraform.lock.hcl:5:13
    note[signer-not-pinned]: localhost:PORT/acme/widget 1.4.0 is signed by <key GOOD>; there is no trust file that would remember it
      --> .terraform.lock.hcl:15:17
    passed: 4 hashes proven, 4 unknown
    ");
    assert_eq!(registry.count(Endpoint::Zip), 0);
}

type Edit = fn(&str, &Registry) -> String;

/// A lock file that was tampered with: what is found, and on the line of what.
const DOCTORED: &[(&str, Edit, &[&str], i32)] = &[
    (
        "a planted zh",
        |text, _| planted(text, "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        &["unattested-hash"],
        3,
    ),
    (
        "a planted h1",
        |text, _| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        &["unattested-hash"],
        3,
    ),
    ("an h1 that is none", |text, _| planted(text, "h1:nonsense"), &["malformed-hash"], 3),
    (
        "a zh of another provider",
        |text, registry| planted(text, &registry.package("acme/gadget", "2.0.0", "linux_amd64").zh()),
        &["contradicted-hash"],
        3,
    ),
    (
        "the hashes of two providers swapped",
        |text, registry| {
            let [one, two] = [("acme/gadget", "2.0.0"), ("acme/widget", "1.4.0")]
                .map(|(provider, version)| hashes(registry, provider, version).join("\",\n    \""));
            text.replace(&one, "ONE").replace(&two, &one).replace("ONE", &two)
        },
        &["contradicted-hash"],
        3,
    ),
    (
        "no hashes",
        |text, _| {
            let start = text.rfind("  hashes = [").unwrap();
            format!("{}}}\n", &text[..start])
        },
        &["pins-nothing"],
        3,
    ),
    ("an entry removed", |text, _| text[..text.rfind("\nprovider").unwrap()].to_owned(), &["entry-missing"], 1),
    (
        "a version that is not allowed",
        |text, _| text.replace("1.4.0", "1.3.0"),
        &["version-not-allowed", "version-withdrawn"],
        3,
    ),
    ("a look-alike host", |text, _| text.replace("localhost:", "lоcalhost:"), &["entry-missing", "look-alike"], 3),
    ("conflict markers", |text, _| format!("<<<<<<< HEAD\n{text}"), &["lock-syntax"], 1),
];

/// The text with one more hash in its last entry.
fn planted(text: &str, hash: &str) -> String {
    let at = text.rfind("  hashes = [\n").unwrap() + "  hashes = [\n".len();
    format!("{}    \"{hash}\",\n{}", &text[..at], &text[at..])
}

#[test]
fn doctored_lock_files_are_refused() {
    let registry = honest().warning("\u{1b}[2Jpay us");
    for (name, edit, wanted, code) in DOCTORED {
        let workspace = locked(&registry);
        workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
        let text = workspace.lock_file();
        let doctored = edit(&text, &registry);
        assert_ne!(text, doctored, "{name}");
        workspace.write(LOCK, &doctored);
        let run = verify(&workspace, &registry, &[]);
        let denied = rules(&run, "deny");
        assert_eq!(
            (run.code, denied),
            (Some(*code), wanted.iter().map(ToString::to_string).collect()),
            "{name}: {run}"
        );
        if name.starts_with("a planted") {
            let findings = run.json()["findings"].clone();
            let finding =
                findings.as_array().unwrap().iter().find(|finding| finding["level"] == "deny").unwrap().clone();
            let line = line_of(&doctored, if name.ends_with("zh") { "zh:aaaa" } else { "h1:47DEQ" });
            assert_eq!(
                (&finding["line"], &finding["column"], &finding["file"]),
                (&line.into(), &5.into(), &LOCK.into())
            );
        }
    }
}

#[test]
fn what_is_missing_is_a_warning_where_the_rest_is_proven() {
    let registry = honest();
    for (scheme, rule) in [("zh", "zh-missing"), ("h1", "h1-missing")] {
        let workspace = locked(&registry);
        workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
        let text = workspace.lock_file();
        let start = text.rfind("provider").unwrap();
        let hash = registry.package("acme/widget", "1.4.0", "linux_amd64").zh();
        let keep = |line: &&str| if scheme == "zh" { !line.contains(&hash) } else { !line.contains("\"h1:") };
        let entry: String = text[start..].split_inclusive('\n').filter(keep).collect();
        workspace.write(LOCK, &format!("{}{entry}", &text[..start]));
        let run = verify(&workspace, &registry, &[]).ended_with(0);
        assert_eq!(rules(&run, "warn"), [rule.to_owned()].into(), "{run}");
    }
}

fn widget(registry: Registry) -> Registry {
    registry.of("acme/widget", "1.4.0")
}

fn republished(registry: Registry) -> Registry {
    registry.republish("acme/widget", "1.4.0");
    widget(registry)
}

type World = fn(Registry) -> Registry;

/// A registry that is not what it was when the lock file was written, and what is denied then.
const BROKEN: &[(&str, World, &[&str])] = &[
    ("published again by the same key", republished, &["republished"]),
    ("by another key", |it| republished(it).signed_by(keys::OTHER), &["republished", "signer-changed"]),
    ("another key", |it| widget(it).signed_by(keys::OTHER), &["signer-changed"]),
    (
        "withdrawn",
        |it| {
            it.withdraw("acme/widget", "1.4.0");
            it.release("acme/widget", "1.4.1", PLATFORMS)
        },
        &["version-withdrawn"],
    ),
    ("a key that is not listed", |it| widget(it).signed_by(keys::OTHER).listing(&[keys::GOOD]), &["bad-signature"]),
    ("signed before, unsigned now", |it| widget(it).unsigned(), &["bad-signature"]),
    ("revoked", |it| widget(it).signed_by(keys::REVOKED), &["revoked-key"]),
    ("a stale signature", |it| widget(it).flawed(Flaw::StaleSignature), &["bad-signature"]),
    ("no signature", |it| widget(it).flawed(Flaw::MissingSignature), &["bad-signature"]),
    ("an armored signature", |it| widget(it).flawed(Flaw::ArmoredSignature), &["bad-signature"]),
    (
        "sums of another version",
        |it| widget(it).named("terraform-provider-{type}_1.3.0_{platform}.zip"),
        &["unbound-signature"],
    ),
    (
        "sums of another provider",
        |it| widget(it).named("terraform-provider-other_{version}_{platform}.zip"),
        &["unbound-signature"],
    ),
    ("a false shasum", |it| widget(it).flawed(Flaw::WrongShasum), &["wrong-checksum"]),
    ("false archives", |it| widget(it).flawed(Flaw::TamperedZip), &["wrong-checksum"]),
    ("packages with false zh", |it| widget(it).with_packages().flawed(Flaw::PackagesWrongZh), &["packages-differ"]),
];

#[test]
fn broken_worlds_are_refused() {
    for (name, world, wanted) in BROKEN {
        let registry = honest();
        let workspace = locked(&registry);
        let pins = ["acme/gadget", "acme/widget"].map(|provider| {
            let key = keys::GOOD.fingerprint();
            format!("provider \"{}/{provider}\" {{\n  signers = [\"{key}\"]\n}}\n", registry.host())
        });
        workspace.write(".tflock.trust.hcl", &pins.join("\n"));
        let registry = world(registry);
        let run = verify(&workspace, &registry, &[]);
        let wanted = wanted.iter().map(ToString::to_string).collect();
        assert_eq!((run.code, rules(&run, "deny")), (Some(3), wanted), "{name}: {run}");
    }
}

#[test]
fn pins_count_once_there_is_a_trust_file() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write(".tflock.trust.hcl", "");
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["signer-not-pinned".to_owned()].into());
    let trust = format!(
        "provider \"{}/acme/*\" {{\n  signers = [\"{}\"]\n}}\n\ndenied_signer \"{1}\" {{\n  reason = \"stolen\"\n}}\n",
        registry.host(),
        keys::GOOD.fingerprint()
    );
    workspace.write(".tflock.trust.hcl", &trust);
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["signer-denied".to_owned()].into());
    // What was signed before is judged without asking.
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["signer-denied".to_owned()].into());
}

#[test]
fn a_false_h1_of_the_origin_accuses_nobody_but_the_origin() {
    let registry = honest().of("acme/widget", "1.4.0").with_packages().flawed(Flaw::PackagesWrongH1);
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &["--deep"]).ended_with(0);
    assert_eq!(run.json()["proven"], 8, "{run}");
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["packages-differ".to_owned()].into(), "{run}");
    assert_eq!(run.json()["proven"], 8, "{run}");
}

#[test]
fn a_hash_that_the_origin_alone_vouches_for_falls_in_depth() {
    let registry = honest().of("acme/widget", "1.4.0").with_packages();
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &[]).ended_with(0);
    assert_eq!((&run.json()["proven"], registry.downloads("acme/widget")), (&8.into(), 0), "{run}");
    // The lock file and the registry tell the same lie.
    let registry = registry.flawed(Flaw::PackagesWrongH1);
    let workspace = locked(&registry);
    workspace.write(LOCK, &planted(&workspace.lock_file(), "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
    let run = verify(&workspace, &registry, &["--deep"]).ended_with(3);
    assert!(rules(&run, "deny").contains("unattested-hash"), "{run}");
}

#[test]
fn keys_may_expire_after_they_signed() {
    for (day, warned) in [(keys::SIGNED_AT, false), (keys::AFTER_EXPIRY, true)] {
        let registry = honest().of("acme/widget", "1.4.0").signed_by(keys::EXPIRED).signed_on(day);
        let run = verify(&locked(&registry), &registry, &[]).ended_with(0);
        assert_eq!(rules(&run, "warn").contains("expired-key"), warned, "{run}");
        let workspace = locked(&registry);
        workspace.write(".tflock.hcl", "policy {\n  expired_key = \"deny\"\n}\n");
        verify(&workspace, &registry, &[]).ended_with(if warned { 3 } else { 0 });
    }
}

#[test]
fn a_redirect_does_not_get_the_token() {
    let registry = honest().requiring_token("secret").answers(Endpoint::Download, Answer::redirect_to_other_host());
    let workspace = locked(&registry).env("TF_TOKEN_{{registry}}", "secret");
    let run = verify(&workspace, &registry, &[]);
    assert!(
        rules(&run, "deny").is_empty() && !run.stdout.contains("secret") && !run.stderr.contains("secret"),
        "{run}"
    );
    assert_eq!(registry.hosts_that_saw_a_token().into_iter().collect::<Vec<_>>(), [registry.host()]);
}

#[test]
fn many_root_modules_ask_each_question_once() {
    let registry = honest();
    let one = locked(&registry);
    let workspace = Workspace::with_files(&[("README.md", "")]);
    for root in ["a", "b/c", "d"] {
        workspace.write(&format!("{root}/main.tf"), MAIN);
        workspace.write(&format!("{root}/{LOCK}"), &one.lock_file());
    }
    // One of them cannot be read; that is told of it alone.
    workspace.write("d/main.tf", "terraform {");
    let run = verify(&workspace, &registry, &["-r"]).ended_with(2);
    let roots = run.json()["roots"].as_array().unwrap().clone();
    let paths: Vec<&str> = roots.iter().map(|root| root["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a", "b/c", "d"]);
    assert_eq!((&roots[1]["proven"], &roots[2]["error"]["kind"]), (&8.into(), &"configuration".into()), "{run}");
    assert_eq!([Endpoint::Versions, Endpoint::Sums, Endpoint::Zip].map(|it| registry.count(it)), [2, 2, 4]);
}

/// A source that gives no answer: nothing is proven by it, and nobody accused.
#[test]
fn what_does_not_answer_is_inconclusive() {
    let answers: Vec<(&str, Endpoint, Answer)> = vec![
        ("discovery is a page", Endpoint::Discovery, Answer::html()),
        ("versions are a page", Endpoint::Versions, Answer::html()),
        ("downloads are a page", Endpoint::Download, Answer::html()),
        ("sums are a page", Endpoint::Sums, Answer::html()),
        ("the signature is a page", Endpoint::Signature, Answer::html()),
        ("archives are a page", Endpoint::Zip, Answer::html()),
        ("versions break off", Endpoint::Versions, Answer::truncated()),
        ("sums break off", Endpoint::Sums, Answer::truncated()),
        ("forbidden", Endpoint::Versions, Answer::status(403)),
        ("unauthorised", Endpoint::Versions, Answer::status(401)),
        ("too many requests", Endpoint::Versions, Answer::too_many_requests(600)),
        ("down", Endpoint::Discovery, Answer::status(503)),
        ("reset", Endpoint::Sums, Answer::reset()),
        ("not JSON", Endpoint::Download, Answer::json("[")),
        ("a version that is none", Endpoint::Versions, Answer::json(r#"{"versions":[{"version":"v1"}]}"#)),
        ("another shape", Endpoint::Versions, Answer::json(r#"{"versions":7}"#)),
    ];
    for (name, endpoint, answer) in answers {
        let registry = honest();
        let workspace =
            locked(&registry).env("TF_REGISTRY_DISCOVERY_RETRY", "0").env("TF_PROVIDER_DOWNLOAD_RETRY", "0");
        let registry = registry.answers(endpoint, answer);
        let run = verify(&workspace, &registry, &[]).ended_with(4);
        assert!(rules(&run, "deny").is_empty(), "{name}: {run}");
        assert_ne!(run.json()["unknown"], 0, "{name}: {run}");
        let tolerant = verify(&workspace, &registry, &["--inconclusive", "warn"]).ended_with(0);
        assert!(tolerant.stderr.contains("inconclusive: "), "{name}: {tolerant}");
        if name == "unauthorised" {
            let hint = run.json()["inconclusive"][0]["hints"][0].as_str().unwrap().to_owned();
            assert!(hint.contains("TF_TOKEN_"), "{hint}");
        }
    }
}

#[test]
fn policy_is_asked_before_the_network() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write(".tflock.hcl", "policy {\n  hosts = [\"registry.terraform.io\"]\n}\n");
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["host-not-allowed".to_owned()].into());
    assert!(registry.requests().is_empty());
    let ban = "ban \"{{registry}}/acme/widget\" {\n  versions = \"< 1.5.0\"\n  reason = \"\u{7}worms\"\n}\n";
    let settings = format!("platforms = [\"linux_amd64\", \"windows_amd64\"]\n{ban}");
    workspace.write(".tflock.hcl", &settings.replace('\u{7}', ""));
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["banned".to_owned(), "platform-uncovered".to_owned()].into());
}

#[test]
fn installed_and_tracked_packages_are_looked_at() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.git(["init", "--quiet"]);
    let place = format!("{}/acme/widget/1.4.0/linux_amd64", registry.host());
    workspace.write(&format!(".terraform/providers/{place}/terraform-provider-widget"), "worm");
    let run = verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["installed-differs".to_owned()].into());
    workspace.write(&format!("terraform.d/plugins/{place}/terraform-provider-widget"), "worm");
    verify(&workspace, &registry, &["--offline"]).ended_with(0);
    workspace.git(["add", "--force", "terraform.d"]);
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["tracked-packages".to_owned()].into());
}

#[test]
fn explanations_need_nobody() {
    let registry = honest();
    let workspace = locked(&registry);
    verify(&workspace, &registry, &[]).ended_with(0);
    registry.forget_requests();
    let package = registry.package("acme/widget", "1.4.0", "darwin_arm64");
    let run = workspace.tflock(&registry, ["explain", &package.zh()]).ended_with(0);
    assert!(run.stdout.contains("the archive for darwin_arm64"), "{run}");
    let run = workspace.tflock(&registry, ["explain", &package.h1]).ended_with(0);
    assert!(run.stdout.contains("computed here from the archive"), "{run}");
    let run = workspace.tflock(&registry, ["explain", &format!("{}/acme/widget", registry.host())]).ended_with(0);
    assert!(run.filtered(&run.stdout).contains("checksums signed by <key GOOD>"), "{run}");
    workspace.tflock(&registry, ["explain", "pins-nothing"]).ended_with(0);
    let run = workspace.tflock(&registry, ["explain", "pin-nothing"]).ended_with(2);
    assert!(run.stderr.contains("did you mean the rule pins-nothing?"), "{run}");
    assert!(registry.requests().is_empty());
}

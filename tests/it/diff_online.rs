//! `tflock diff --online`: whether changes are verified, and who signed them.

use serde_json::Value;

use crate::support::keys::{self, Key};
use crate::support::registry::{Answer, Endpoint, Flaw, Registry};
use crate::support::run::{Run, formats};
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const LOCK: &str = ".terraform.lock.hcl";
const TRUST: &str = ".tflock.trust.hcl";
const ONLINE: [&str; 5] = ["diff", "--online", "--exit-code", "--format", "json"];

fn honest() -> Registry {
    Registry::start().release("acme/widget", "1.4.0", PLATFORMS).release("acme/widget", "1.5.0", PLATFORMS)
}

/// The hashes of a release as they are recorded for both platforms.
fn hashes(registry: &Registry, version: &str) -> Vec<String> {
    let packages = PLATFORMS.iter().map(|platform| registry.package("acme/widget", version, platform));
    let mut hashes: Vec<String> = packages.flat_map(|package| [package.zh(), package.h1]).collect();
    hashes.sort();
    hashes
}

fn lock(registry: &Registry, version: &str, hashes: &[String]) -> String {
    let lines = hashes.join("\",\n    \"");
    let host = registry.host();
    format!(
        "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\n\
         provider \"{host}/acme/widget\" {{\n  version     = \"{version}\"\n  constraints = \"~> 1.4\"\n  hashes = [\n    \"{lines}\",\n  ]\n}}\n"
    )
}

fn pinned(registry: &Registry, key: Key) -> String {
    format!("provider \"{}/acme/widget\" {{\n  signers = [\"{}\"]\n}}\n", registry.host(), key.fingerprint())
}

/// A repository with 1.4.0 committed, and these hashes of a version in the work tree.
fn repository(registry: &Registry, version: &str, hashes: &[String], trust: Option<&str>) -> Workspace {
    let workspace = Workspace::with_files(&[(LOCK, &lock(registry, "1.4.0", &self::hashes(registry, "1.4.0")))]);
    if let Some(trust) = trust {
        workspace.write(TRUST, trust);
    }
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "old"]);
    workspace.write(LOCK, &lock(registry, version, hashes));
    workspace
}

/// A release that is locked for fewer platforms than the one before says for which it is not.
#[test]
fn the_platform_that_an_upgrade_leaves_out_is_named() {
    let registry = honest();
    let one = registry.package("acme/widget", "1.5.0", "linux_amd64");
    let workspace = repository(&registry, "1.5.0", &hashes(&registry, "1.5.0"), None);
    let diff = || {
        let run = workspace.tflock(None, ["diff", "-v"]).ended_with(0);
        run.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Both versions are known from here on, with the contents of their packages.
    for version in ["1.4.0", "1.5.0"] {
        let of_version = lock(&registry, version, &hashes(&registry, version));
        workspace.write(LOCK, &of_version);
        workspace.tflock(&registry, ["verify", "--deep", "--all-platforms"]);
    }
    workspace.write(LOCK, &lock(&registry, "1.5.0", &[one.h1.clone(), one.zh()]));
    let shown = diff();
    assert!(shown.contains("(h1) 2 -> 1, none for darwin_arm64"), "{shown}");
    assert!(!shown.contains("other platforms may miss theirs"), "{shown}");
}

fn upgraded(registry: &Registry, trust: Option<&str>) -> Workspace {
    repository(registry, "1.5.0", &hashes(registry, "1.5.0"), trust)
}

fn change(run: &Run) -> Value {
    run.json()["changes"][0].clone()
}

/// Each verdict once.
fn verdicts(run: &Run) -> Vec<String> {
    let change = change(run);
    let printed = change["hashes_added"].as_array().unwrap_or_else(|| panic!("{run}")).iter();
    let mut printed: Vec<String> = printed.map(|hash| hash["verdict"].as_str().unwrap().to_owned()).collect();
    printed.sort();
    printed.dedup();
    printed
}

fn rules(run: &Run) -> Vec<String> {
    let json = run.json();
    let findings = json["findings"].as_array().unwrap().iter();
    findings.map(|it| format!("{} {}", it["level"].as_str().unwrap(), it["rule"].as_str().unwrap())).collect()
}

#[test]
fn an_honest_upgrade_is_verified() {
    let about = r#"{"source":"https://github.com/acme/terraform-provider-widget","tag":"v1.5.0"}"#;
    let registry = honest().document("/v1/providers/acme/widget/1.5.0", "application/json", about);
    let workspace = upgraded(&registry, Some(&pinned(&registry, keys::GOOD)));
    let run = workspace.tflock(&registry, ["diff", "--format", "json"]).ended_with(0);
    assert_eq!((verdicts(&run), change(&run)["signer"].clone()), (vec!["unknown-offline".to_owned()], Value::Null));
    assert!(registry.requests().is_empty());
    let run = workspace.tflock(&registry, ONLINE).ended_with(1);
    let online = change(&run);
    assert_eq!(verdicts(&run), ["same-signed-archive"], "{run}");
    assert_eq!((online["signer"].clone(), &online["standing"]), (keys::GOOD.fingerprint().into(), &"pinned".into()));
    assert_eq!(online["link"], "https://github.com/acme/terraform-provider-widget/releases/tag/v1.5.0");
    assert!(rules(&run).is_empty() && run.touched().is_empty(), "{run}");
    // From now on it is known without a request, and the signature is checked again.
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["diff", "--format", "json"]).ended_with(0);
    assert_eq!(
        (verdicts(&run), change(&run)["standing"].clone()),
        (vec!["same-signed-archive".to_owned()], "pinned".into())
    );
    assert_eq!((change(&run)["link"].clone(), registry.requests().len()), (Value::Null, 0));
}

#[test]
fn people_read_who_signed_and_where_to_look() {
    let about = r#"{"source":"https://git.example/acme/terraform-provider-widget"}"#;
    let registry = honest().document("/v1/providers/acme/widget/1.5.0", "application/json", about);
    let workspace = upgraded(&registry, Some(&pinned(&registry, keys::OTHER)));
    let run = workspace.tflock(&registry, ["diff", "--online", "-v"]).ended_with(0);
    assert!(run.stdout.lines().any(|line| line.contains(" age: ") && line.contains("2024-06-01")), "{run}");
    let is_stable = |line: &&str| !["zh:", "h1:", " age: "].iter().any(|part| line.contains(part));
    let lines: Vec<&str> = run.stdout.lines().filter(is_stable).collect();
    insta::assert_snapshot!(run.filtered(&lines.join("\n")));
}

#[test]
fn hashes_that_no_source_has_are_refused() {
    let registry = honest();
    let planted = |hash: &str| {
        let all: Vec<String> = hashes(&registry, "1.4.0").into_iter().chain([hash.to_owned()]).collect();
        repository(&registry, "1.4.0", &all, None)
    };
    for hash in ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", &format!("zh:{}", "a".repeat(64))] {
        let workspace = planted(hash);
        let offline = workspace.tflock(&registry, ["diff", "--format", "json", "--exit-code"]).ended_with(1);
        assert_eq!(verdicts(&offline), ["unknown-offline"]);
        let run = workspace.tflock(&registry, ONLINE).ended_with(3);
        assert_eq!(
            (verdicts(&run), change(&run)["risk"].clone()),
            (vec!["contradicts-the-record".to_owned()], "dangerous".into())
        );
        workspace.tflock(&registry, ["diff", "--online"]).ended_with(0);
    }
    // It is not signed, and no source has it.
    let registry = honest().standing_for("registry.opentofu.org").of("acme/widget", "1.4.0").unsigned();
    let all: Vec<String> = hashes(&registry, "1.4.0").into_iter().chain([format!("zh:{}", "a".repeat(64))]).collect();
    let at_tofu =
        |text: &str| text.replace(&registry.host(), "registry.opentofu.org").replace("terraform init", "tofu init");
    let workspace = repository(&registry, "1.4.0", &all, None);
    workspace.write("old", &at_tofu(&lock(&registry, "1.4.0", &hashes(&registry, "1.4.0"))));
    workspace.write("new", &at_tofu(&workspace.lock_file()));
    let run = workspace.tflock(&registry, ONLINE.iter().chain(&["old", "new"])).ended_with(3);
    assert_eq!(verdicts(&run), ["unattested"], "{run}");
}

#[test]
fn signers_are_judged_by_the_trust_files_of_both_sides() {
    let registry = honest().signed_by(keys::OTHER);
    let good = pinned(&registry, keys::GOOD);
    let printed = |workspace: &Workspace, code: i32| {
        let run = workspace.tflock(&registry, ONLINE).ended_with(code);
        (change(&run)["standing"].as_str().unwrap().to_owned(), rules(&run))
    };
    let standing =
        |standing: &str, rules: &[&str]| (standing.to_owned(), rules.iter().map(ToString::to_string).collect());
    let workspace = upgraded(&registry, Some(&good));
    assert_eq!(printed(&workspace, 3), standing("refused", &["deny signer-changed"]));
    // What is known from then on counts without a request too.
    let run = workspace.tflock(&registry, ["diff", "--exit-code", "--format", "json"]).ended_with(3);
    assert_eq!(rules(&run), ["deny signer-changed"]);
    workspace.write(TRUST, &pinned(&registry, keys::OTHER));
    assert_eq!(printed(&workspace, 1), standing("rotated", &["warn signer-changed"]));
    let named = workspace.tflock(&registry, ONLINE.iter().chain(&["--trust-file", TRUST])).ended_with(1);
    assert_eq!(change(&named)["standing"], "pinned");
    assert_eq!(printed(&upgraded(&registry, Some("")), 1), standing("first-use", &["warn signer-not-pinned"]));
    let workspace = upgraded(&registry, None);
    assert_eq!(printed(&workspace, 1), standing("first-use", &[]));
    workspace.write(TRUST, &pinned(&registry, keys::OTHER));
    assert_eq!(printed(&workspace, 1), standing("pinned-here", &[]));
    workspace.write(TRUST, "nonsense {");
    let run = workspace.tflock(&registry, ONLINE).ended_with(1);
    assert!(run.stderr.contains("signers are not compared with a trust file"), "{run}");
}

/// The key of the old address is remembered by the trust file; without one, by the release that was locked there.
#[test]
fn a_provider_that_moves_to_another_signer_is_dangerous() {
    for (key, wanted) in [(keys::OTHER, "dangerous"), (keys::GOOD, "notable")] {
        let registry = honest().release("other/widget", "1.4.0", PLATFORMS).signed_by(key);
        for trust in [Some(pinned(&registry, keys::GOOD)), None] {
            let old = hashes(&registry, "1.4.0");
            let workspace = repository(&registry, "1.4.0", &old, trust.as_deref());
            if trust.is_none() {
                // What signed the old release is known from an earlier run.
                workspace.tflock(&registry, ["verify", "--no-download"]);
            }
            let package = registry.package("other/widget", "1.4.0", PLATFORMS[0]);
            let moved = lock(&registry, "1.4.0", &[package.h1.clone(), package.zh()]);
            workspace.write(LOCK, &moved.replace("/acme/widget", "/other/widget"));
            let run = workspace.tflock(&registry, ONLINE);
            let change = change(&run);
            assert_eq!((&change["kind"], &change["risk"]), (&"moved".into(), &wanted.into()), "{run}");
            let cause = change["cause"].as_str().unwrap();
            let names_both = cause.contains(&keys::OTHER.fingerprint()) && cause.contains(&keys::GOOD.fingerprint());
            assert_eq!(names_both, wanted == "dangerous", "{cause}");
        }
    }
}

/// The gate refuses a release whose signer the same change makes the trust file accept; so does who reads the change.
#[test]
fn a_signer_that_the_same_change_accepts_is_dangerous() {
    let registry = honest();
    let workspace = upgraded(&registry, Some(&pinned(&registry, keys::OTHER)));
    workspace.write(TRUST, &pinned(&registry, keys::GOOD));
    let run = workspace.tflock(&registry, ONLINE);
    assert_eq!(change(&run)["risk"], "dangerous", "{run}");
    assert!(!change(&run)["consequence"].as_str().unwrap().contains("minor version"), "{run}");
}

/// `HashiCorp` announces its keys.
#[test]
fn another_key_of_a_publisher_that_announces_its_keys_is_dangerous() {
    let registry = Registry::start().standing_for("registry.terraform.io");
    let registry = registry.release("hashicorp/null", "3.2.0", &PLATFORMS[..1]);
    let package = registry.package("hashicorp/null", "3.2.0", PLATFORMS[0]);
    let text = lock(&registry, "3.2.0", &[package.h1.clone(), package.zh()]);
    let text = text.replace(&format!("{}/acme/widget", registry.host()), "registry.terraform.io/hashicorp/null");
    let workspace = Workspace::with_files(&[("README", "")]);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "old"]);
    workspace.write(LOCK, &text);
    let run = workspace.tflock(&registry, ONLINE).ended_with(3);
    assert_eq!(change(&run)["risk"], "dangerous", "{run}");
    assert!(rules(&run).contains(&"deny unexpected-publisher".to_owned()), "{run}");
}

#[test]
fn releases_that_must_not_be_used_are_refused() {
    let printed = |registry: &Registry, workspace: &Workspace, rule: &str| {
        let run = workspace.tflock(registry, ONLINE).ended_with(3);
        assert_eq!(rules(&run), [format!("deny {rule}")], "{run}");
        assert_eq!(run.json()["findings"][0]["file"], LOCK);
        workspace.tflock(registry, ["diff", "--online"]).ended_with(0);
    };
    let registry = honest().flawed(Flaw::StaleSignature);
    printed(&registry, &upgraded(&registry, None), "bad-signature");
    let registry = honest().signed_by(keys::REVOKED);
    printed(&registry, &upgraded(&registry, None), "revoked-key");
    let registry = honest();
    let workspace = upgraded(&registry, None);
    registry.withdraw("acme/widget", "1.5.0");
    printed(&registry, &workspace, "version-withdrawn");
}

#[test]
#[ignore = "long"]
fn a_registry_that_does_not_answer_says_nothing() {
    for (endpoint, answer) in [
        (Endpoint::Discovery, Answer::status(503)),
        (Endpoint::Versions, Answer::html()),
        (Endpoint::Versions, Answer::status(401)),
        (Endpoint::Download, Answer::truncated()),
        (Endpoint::Sums, Answer::reset()),
        (Endpoint::Zip, Answer::html()),
    ] {
        let registry = honest().answers(endpoint, answer);
        let workspace =
            upgraded(&registry, None).env("TF_REGISTRY_DISCOVERY_RETRY", "0").env("TF_PROVIDER_DOWNLOAD_RETRY", "0");
        let run = workspace.tflock(&registry, ONLINE).ended_with(1);
        assert!(verdicts(&run).contains(&"unknown-offline".to_owned()), "{endpoint:?}: {run}");
        assert!(!run.stdout.contains("\"deny\"") && change(&run)["risk"] == "routine", "{endpoint:?}: {run}");
        assert_eq!(run.json()["inconclusive"].as_array().unwrap().len(), 1, "{endpoint:?}: {run}");
    }
    let registry = honest().answers(Endpoint::Versions, Answer::html());
    let workspace = upgraded(&registry, None);
    for format in formats("diff").into_iter().filter(|format| !["json", "commit"].contains(format)) {
        let run = workspace.tflock(&registry, ["diff", "--online", "--format", format]).ended_with(0);
        assert!(run.stdout.to_lowercase().contains("not checked"), "{format}: {run}");
    }
    let registry = honest();
    let workspace = upgraded(&registry, None);
    let run = workspace.tflock(&registry, ONLINE.iter().chain(&["--no-download"])).ended_with(1);
    assert_eq!((verdicts(&run).len(), registry.count(Endpoint::Zip)), (2, 0), "{run}");
    workspace.write(".tflock.hcl", "policy {\n  hosts = [\"registry.terraform.io\"]\n}\n");
    registry.forget_requests();
    let run = workspace.tflock(&registry, ONLINE).ended_with(1);
    assert!(registry.requests().is_empty());
    assert_eq!(run.json()["inconclusive"][0]["kind"], "settings", "{run}");
    workspace.tflock(&registry, ["diff", "--online", "--offline"]).ended_with(2);
    workspace.tflock(&registry, ["diff", "--no-download"]).ended_with(2);
}

#[test]
#[ignore = "long"]
fn links_are_https_or_none_and_never_markup() {
    for (source, shown) in [
        (r#""javascript:alert(1)""#, None),
        (r#""http://github.com/acme/widget""#, None),
        (r#""https://user:secret@github.com/acme/widget""#, None),
        ("7", None),
        (
            r#""https://git.example/a)[x](javascript:1)|<b>\u001b[31m""#,
            Some("https://git.example/a)[x](javascript:1)|%3Cb%3E%1B[31m"),
        ),
    ] {
        let about = format!("{{\"source\":{source}}}");
        let registry = honest().document("/v1/providers/acme/widget/1.5.0", "application/json", about);
        let workspace = upgraded(&registry, None);
        let run = workspace.tflock(&registry, ONLINE).ended_with(1);
        assert_eq!(change(&run)["link"].as_str(), shown, "{run}");
        let run = workspace.tflock(&registry, ["diff", "--online", "--format", "markdown"]).ended_with(0);
        assert!(!run.stdout.contains("(javascript:") && !run.stdout.contains("secret"), "{run}");
        assert_eq!(run.stdout.contains("](https://git.example/a%29"), shown.is_some(), "{run}");
    }
}

#[test]
fn many_lock_files_send_each_query_once() {
    let registry = honest();
    let workspace = upgraded(&registry, None);
    let old = workspace.git(["show", &format!("HEAD:{LOCK}")]).stdout;
    for root in ["a", "b"] {
        workspace.write(&format!("{root}/{LOCK}"), &old);
    }
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "more"]);
    let new = lock(&registry, "1.5.0", &hashes(&registry, "1.5.0"));
    for root in ["a", "b"] {
        workspace.write(&format!("{root}/{LOCK}"), &new);
    }
    let run = workspace.tflock(&registry, ONLINE.iter().chain(&["-r"])).ended_with(1);
    let json = run.json();
    let roots = json["roots"].as_array().unwrap();
    assert_eq!(roots.len(), 2, "{run}");
    let verdict = |root: &Value| root["changes"][0]["hashes_added"][0]["verdict"].clone();
    assert!(roots.iter().all(|root| verdict(root) == "same-signed-archive"), "{run}");
    assert_eq!([Endpoint::Versions, Endpoint::Sums, Endpoint::Zip].map(|it| registry.count(it)), [1, 1, 2]);
}

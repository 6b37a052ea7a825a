//! What `verify` says of lock files that were tampered with.

use crate::support::locked::{LOCK, MAIN, hashes, honest, line_of, locked, planted, rules, verify};
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;

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

#[test]
fn a_backend_without_lock_file_is_found() {
    let registry = honest();
    let workspace = Workspace::with_files(&[
        ("state/main.tf", "terraform {\n  backend \"local\" {}\n}\n"),
        ("called/main.tf", "terraform {\n  backend \"local\" {}\n}\n"),
        ("caller/main.tf", "module \"x\" {\n  source = \"../called\"\n}\n"),
    ]);
    workspace.write(&format!("caller/{LOCK}"), &locked(&registry).lock_file()[..0]);
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]).ended_with(1);
    let roots = run.json()["roots"].as_array().unwrap().clone();
    let told: Vec<_> =
        roots.iter().map(|it| (it["path"].as_str().unwrap(), it["findings"][0]["rule"].as_str())).collect();
    assert!(
        told.contains(&("state", Some("lock-file-missing"))) && !told.iter().any(|(path, _)| *path == "called"),
        "{run}"
    );
    // At the level of the settings.
    workspace.write(".tflock.hcl", "level \"lock-file-missing\" {\n  is = \"warn\"\n}\n");
    workspace.write("state/.tflock.hcl", &workspace.read(".tflock.hcl"));
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]);
    assert!(run.stdout.contains("\"warn\"") && run.code == Some(0), "{run}");
}

//! What `verify` requests, proves and prints. What it says of broken worlds is in `attack`.

use crate::support::keys;
use crate::support::locked::{LOCK, MAIN, honest, locked, rules, verify};
use crate::support::packages::unpacked;
use crate::support::registry::Endpoint;
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
    // And signatures can be checked again without a request.
    registry.forget_requests();
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(0);
    assert_eq!((&run.json()["proven"], registry.requests().len()), (&8.into(), 0), "{run}");
    verify(&workspace, &registry, &["--deep", "--all-platforms"]).ended_with(0);
    assert_eq!(registry.count(Endpoint::Zip), 4);
}

#[test]
fn human_output_is_one_line_and_says_what_was_not_checked() {
    let registry = honest();
    let workspace = locked(&registry);
    let run = workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
    insta::assert_snapshot!(run.filtered(&run.stdout), @"passed: 0 hashes proven, 8 unknown");
    let [hashes, base] = run.stderr.lines().collect::<Vec<_>>()[..] else { panic!("{run}") };
    assert!(hashes.starts_with("note: 8 hashes ") && base.contains(" --base REV "), "{run}");
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
    // What was signed before is judged without a request.
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["signer-denied".to_owned()].into());
}

#[test]
fn many_root_modules_send_each_query_once() {
    let registry = honest();
    let one = locked(&registry);
    let workspace = Workspace::with_files(&[("README.md", "")]);
    for root in ["a", "b/c", "d"] {
        workspace.write(&format!("{root}/main.tf"), MAIN);
        workspace.write(&format!("{root}/{LOCK}"), &one.lock_file());
    }
    // One of them cannot be read; only its own result says so.
    workspace.write("d/main.tf", "terraform {");
    let run = verify(&workspace, &registry, &["-r"]).ended_with(2);
    let roots = run.json()["roots"].as_array().unwrap().clone();
    let paths: Vec<&str> = roots.iter().map(|root| root["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a", "b/c", "d"]);
    assert_eq!((&roots[1]["proven"], &roots[2]["error"]["kind"]), (&8.into(), &"configuration".into()), "{run}");
    assert_eq!([Endpoint::Versions, Endpoint::Sums, Endpoint::Zip].map(|it| registry.count(it)), [2, 2, 4]);
}

#[test]
fn the_policy_applies_before_the_network() {
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

/// From the directory itself, from above and by an absolute path; installed, and in an implied mirror.
#[test]
fn packages_are_named_from_the_top_of_the_working_tree() {
    let registry = honest();
    let workspace = locked(&registry);
    for file in [".terraform.lock.hcl", "main.tf"] {
        workspace.write(&format!("envs/a/{file}"), &workspace.read(file));
    }
    workspace.git(["init", "--quiet"]);
    let package = format!("{}/acme/widget/1.4.0/{}", registry.host(), "linux_amd64");
    let absolute = workspace.path("envs/a").display().to_string();
    for place in [".terraform/providers", "terraform.d/plugins"] {
        let directory = format!("envs/a/{place}/{package}");
        workspace.write(&format!("{directory}/terraform-provider-widget"), "worm");
        workspace.write("envs/a/.tflock.hcl", "platforms = [\"linux_amd64\"]\n");
        let verify = ["verify", "--installed", "--offline", "--format", "json"];
        let from_above = |directory: &str| workspace.tflock(&registry, ["-C", directory].iter().chain(&verify));
        let runs = [from_above("envs/a"), from_above(&absolute), from_above("./envs/../envs/a")];
        for run in runs.into_iter().chain([workspace.tflock_in("envs/a", &registry, verify)]) {
            let json = run.ended_with(3).json();
            assert_eq!(json["findings"][0]["file"], directory, "{place}");
        }
        std::fs::remove_dir_all(workspace.path(&format!("envs/a/{place}"))).unwrap();
    }
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
    // The implied mirror, and the one that the CLI configuration names in its place.
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\"]\n");
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    let run = verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["installed-differs".to_owned()].into(), "{run}");
    let config = "provider_installation {\n  filesystem_mirror {\n    path = \"house\"\n  }\n}\n";
    let workspace = workspace.cli_config(config);
    verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(0);
    let name = "terraform-provider-widget_1.4.0_linux_amd64.zip";
    let folder = format!("house/{}/acme/widget", registry.host());
    let package = registry.package("acme/widget", "1.4.0", "linux_amd64");
    workspace.write_bytes(&format!("{folder}/{name}"), &package.zip);
    verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(0);
    let other = registry.package("acme/gadget", "2.0.0", "linux_amd64");
    workspace.write_bytes(&format!("{folder}/{name}"), &other.zip);
    let run = verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["installed-differs".to_owned()].into(), "{run}");
    workspace.git(["add", "--force", "terraform.d"]);
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["tracked-packages".to_owned()].into());
    // Without git that is unknown.
    let workspace = workspace.env("PATH", "/nowhere");
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(4);
    assert!(run.json()["inconclusive"].to_string().contains("cannot start git"), "{run}");
    let run = verify(&workspace, &registry, &["--offline", "--inconclusive", "warn"]).ended_with(0);
    assert!(run.stderr.contains("cannot start git"), "{run}");
}

/// Where `init` installs is another version than is locked; plugin caches have what they like.
#[test]
fn what_is_installed_is_counted_and_may_be_no_other_version() {
    let registry = honest().release("acme/widget", "1.5.0", &["linux_amd64"]);
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(0);
    assert_eq!(run.json()["installed"], serde_json::json!({ "hashed": 0, "not_installed": 2 }));
    assert!(run.json()["notes"].to_string().contains("nothing installed to check"), "{run}");
    let install = |version: &str, folder: &str| {
        let place = format!("{folder}/{}/acme/widget/{version}/linux_amd64", registry.host());
        for (name, content) in unpacked(&registry.package("acme/widget", version, "linux_amd64").zip) {
            workspace.write_bytes(&format!("{place}/{name}"), &content);
        }
    };
    install("1.5.0", ".terraform/providers");
    let run = verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["installed-differs".to_owned()].into(), "{run}");
    install("1.4.0", ".terraform/providers");
    let run = verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(0);
    assert_eq!(run.json()["installed"], serde_json::json!({ "hashed": 1, "not_installed": 1 }));
    // Of all root modules together.
    let run = workspace.tflock(&registry, ["verify", "--offline", "--installed", "-r"]).ended_with(0);
    assert!(run.stderr.contains("hashed 1 installed package; 1 locked provider not installed"), "{run}");
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    install("1.5.0", "cache");
    let workspace = workspace.env("TF_PLUGIN_CACHE_DIR", "cache");
    verify(&workspace, &registry, &["--offline", "--installed"]).ended_with(0);
    // Without the option nothing of it is said.
    assert!(verify(&workspace, &registry, &["--offline"]).json()["installed"].is_null());
}

/// A misspelt path must not turn a gate with pins into one without.
#[test]
fn nothing_weakens_the_gate_in_silence() {
    let registry = honest();
    let workspace = locked(&registry);
    let run = workspace.tflock(&registry, ["verify", "--trust-file", "pins.hcl"]).ended_with(2);
    assert!(run.stderr.contains("there is no trust file pins.hcl"), "{run}");
    let run = workspace.tflock(&registry, ["verify", "--deep", "--offline"]).ended_with(4);
    assert!(run.stderr.contains("--offline forbids downloading"), "{run}");
    assert!(registry.requests().is_empty());
    workspace.write_bytes(".tflock.trust.hcl", b"\xff");
    let run = workspace.tflock(&registry, ["verify"]).ended_with(2);
    assert!(run.stderr.contains("cannot read .tflock.trust.hcl: it is not UTF-8"), "{run}");
}

#[test]
fn explanations_need_no_network() {
    let registry = honest();
    let workspace = locked(&registry);
    verify(&workspace, &registry, &[]).ended_with(0);
    registry.forget_requests();
    let package = registry.package("acme/widget", "1.4.0", "darwin_arm64");
    let run = workspace.tflock(&registry, ["explain", &package.zh()]).ended_with(0);
    assert!(run.stdout.contains("the archive for darwin_arm64"), "{run}");
    let run = workspace.tflock(&registry, ["explain", &package.h1]).ended_with(0);
    assert!(run.stdout.contains(" darwin_arm64 of ") && !run.stdout.contains("archive"), "{run}");
    let run = workspace.tflock(&registry, ["explain", "zh:00000000"]).ended_with(0);
    assert_eq!(run.stdout, "zh:00000000\n  no hash that is recorded or known here begins with it\n");
    let rule = workspace.tflock(&registry, ["explain", "pins-nothing"]).ended_with(0);
    assert!(!rule.stdout.contains("**") && rule.stdout.contains("\n\nNext: "), "{rule}");
    // Topics and rules are help too.
    let help = workspace.tflock(&registry, ["help", "pins-nothing"]).ended_with(0);
    assert_eq!(help.stdout, rule.stdout);
    let source = workspace.tflock(&registry, ["explain", "pins-nothing", "--format", "markdown"]).ended_with(0);
    assert!(source.stdout.starts_with("# pins-nothing\n") && source.stdout.contains("**Next:**"), "{source}");
    // What annotations call changes.
    let run = workspace.tflock(&registry, ["explain", "provider-added"]).ended_with(0);
    assert!(run.stdout.starts_with("provider-added\n\n"), "{run}");
    // Elsewhere in the repository too, with -r.
    workspace.write(&format!("other/{LOCK}"), &workspace.lock_file());
    let run = workspace.tflock(&registry, ["explain", &package.h1]).ended_with(0);
    assert!(!run.stdout.contains("other/"), "{run}");
    let run = workspace.tflock(&registry, ["explain", "-r", &package.h1]).ended_with(0);
    let shown = run.filtered(&run.stdout).replace(&package.h1, "<h1>");
    let [hash, recorded, origin] = shown.lines().collect::<Vec<_>>()[..] else { panic!("{run}") };
    let places = ".terraform.lock.hcl:18, other/.terraform.lock.hcl:18";
    assert_eq!((hash, recorded), ("<h1>", &*format!("  recorded for localhost:PORT/acme/widget 1.4.0 in {places}")));
    assert!(origin.ends_with(" darwin_arm64 of localhost:PORT/acme/widget 1.4.0"), "{run}");
    // The beginning of a hash is enough where one alone begins so.
    let run = workspace.tflock(&registry, ["explain", &format!("{}…", &package.h1[..12])]).ended_with(0);
    assert!(run.stdout.starts_with(&format!("{}\n", package.h1)), "{run}");
    let strange = format!("zh:{}", "0".repeat(64));
    let run = workspace.tflock(&registry, ["explain", &strange]).ended_with(0);
    assert!(run.stdout.contains("recorded in no lock file here"), "{run}");
    let run = workspace.tflock(&registry, ["explain", "acme/widget"]).ended_with(2);
    assert!(run.filtered(&run.stderr).contains("did you mean localhost:PORT/acme/widget?"), "{run}");
    let run = workspace.tflock(&registry, ["explain", "pin-nothing"]).ended_with(2);
    assert!(run.stderr.contains("did you mean `tflock explain pins-nothing`?"), "{run}");
    // A lock file that cannot be read is not passed over in silence.
    workspace.write(LOCK, "provider {");
    for topic in [&*package.h1, "widget"] {
        let run = workspace.tflock(&registry, ["explain", "-r", topic]).ended_with(2);
        assert!(run.stdout.contains("other/.terraform.lock.hcl") && run.stderr.contains(LOCK), "{run}");
    }
    assert!(registry.requests().is_empty());
}

#[test]
fn a_backend_without_lock_file_is_found() {
    let registry = honest();
    let backend = |required: &str| {
        let entry = format!("x = {{\n      source = \"{required}\"\n    }}");
        format!("terraform {{\n  backend \"local\" {{}}\n  required_providers {{\n    {entry}\n  }}\n}}\n")
    };
    let workspace = Workspace::with_files(&[
        ("state/main.tf", &backend("{{registry}}/acme/widget")),
        ("called/main.tf", &backend("{{registry}}/acme/widget")),
        // `init` writes no lock file here.
        ("unneeding/main.tf", "terraform {\n  backend \"local\" {}\n}\n"),
        ("caller/main.tf", "module \"x\" {\n  source = \"../called\"\n}\n"),
    ]);
    workspace
        .write(&format!("caller/{LOCK}"), &locked(&registry).lock_file().replace("  constraints = \"~> 1.4\"\n", ""));
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]).ended_with(1);
    let roots = run.json()["roots"].as_array().unwrap().clone();
    let paths: Vec<&str> = roots.iter().map(|root| root["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["caller", "state"], "{run}");
    assert_eq!(roots[1]["findings"][0]["rule"], "lock-file-missing", "{run}");
    assert!(run.stdout.contains("requires 1 provider\""), "{run}");
    let run = workspace.tflock(&registry, ["-C", "unneeding", "verify", "--offline"]).ended_with(2);
    assert!(!run.stdout.contains("lock-file-missing"), "{run}");
    // At the level of the settings.
    workspace.write(".tflock.hcl", "level \"lock-file-missing\" {\n  is = \"warn\"\n}\n");
    workspace.write("state/.tflock.hcl", &workspace.read(".tflock.hcl"));
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]);
    assert!(run.stdout.contains("\"warn\"") && run.code == Some(0), "{run}");
}

/// Settings may lower every error of a lock file; what was not read is not passed all the same.
#[test]
fn an_unreadable_lock_file_does_not_pass_at_any_level() {
    let registry = honest();
    let workspace = locked(&registry);
    let text = workspace.read(LOCK);
    let block = &text[text.find("provider").unwrap()..];
    let first = &block[..block.find("\n}\n").unwrap() + 3];
    for (rule, broken) in [
        ("lock-syntax", text.replacen('{', "", 1)),
        ("lock-schema", text.replacen("  version", "  wersion", 1)),
        ("lock-address", text.replacen("/acme/", "/a_c/m e/", 1)),
        ("lock-version", text.replacen("\"2.0.0\"", "\"two\"", 1)),
        ("lock-constraints", text.replacen("~> 1.4", "~> x", 1)),
        ("lock-hashes", text.replacen("zh:", "zh", 1)),
        ("lock-not-literal", text.replacen("\"2.0.0\"", "upper(\"2.0.0\")", 1)),
        ("duplicate-provider", format!("{text}\n{first}")),
    ] {
        workspace.write(LOCK, &broken);
        let exempt = format!("exempt \"{rule}\" {{\n  reason = \"x\"\n}}\n");
        let level = format!("level \"{rule}\" {{\n  is = \"note\"\n}}\n");
        for settings in [level, exempt] {
            workspace.write(".tflock.hcl", &settings);
            let run = verify(&workspace, &registry, &[]).ended_with(2);
            assert!(rules(&run, "note").contains(rule), "{rule}: {run}");
            assert_ne!(run.json()["verdict"], "passed", "{rule}: {run}");
            // Nor does a page say that it did, nor the summary that something else is to be done.
            let sarif = workspace.tflock(&registry, ["verify", "--format", "sarif"]).ended_with(2).json();
            assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false, "{rule}: {sarif}");
            let status = workspace.tflock(&registry, ["status", "--format", "json"]).ended_with(0).json();
            assert_eq!(
                (&status["status"]["unreadable"][0], &status["next"]),
                (&".".into(), &"tflock verify".into()),
                "{status}"
            );
        }
        workspace.write(".tflock.hcl", "");
        let code = verify(&workspace, &registry, &[]).code;
        assert!(matches!(code, Some(1 | 3)), "{rule}: {code:?}");
    }
}

#[test]
fn a_report_that_cannot_be_written_does_not_pass() {
    let registry = honest();
    let workspace = locked(&registry);
    for more in [&[][..], &["-r"]] {
        let args = ["verify", "--offline", "--report", "html=no/such/folder"];
        let run = workspace.tflock(&registry, args.iter().chain(more)).ended_with(2);
        assert!(run.stdout.contains("could not be checked") && !run.stdout.contains("passed: "), "{run}");
    }
}

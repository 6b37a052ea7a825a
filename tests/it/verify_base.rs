//! `verify --base`: a gate for pull requests that does not trust the tree under attack.

use crate::support::keys;
use crate::support::locked::{LOCK, block, hashes, honest, planted, rules};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, edit, gate, pin, repository, without_last_line_with};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

type Attack = fn(&Workspace, &Registry);

/// What a pull request does, what of it is found at which level, and whether an approval lifts it.
const FOUND: &[(&str, Attack, &str, &str, bool)] = &[
    (
        "an h1 replaced",
        |it, _| {
            let other = "\"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]";
            edit(it, &format!("app/{LOCK}"), |text| {
                without_last_line_with(text, "h1:").trim_end().strip_suffix("  ]\n}").unwrap().to_owned()
                    + &format!("    {other}\n}}\n")
            });
        },
        "hash-replaced",
        "deny",
        false,
    ),
    (
        "an h1 dropped",
        |it, _| edit(it, &format!("app/{LOCK}"), |text| without_last_line_with(text, "h1:")),
        "hashes-dropped",
        "deny",
        false,
    ),
    (
        "the lock file removed",
        |it, _| std::fs::remove_file(it.path(&format!("app/{LOCK}"))).unwrap(),
        "lock-file-removed",
        "deny",
        false,
    ),
    ("the policy gone", |it, _| it.write(SETTINGS, "# nothing\n"), "policy-weakened", "deny", true),
    (
        "a nested exemption",
        |it, _| it.write("app/.tflock.hcl", "exempt \"unattested-hash\" {\n}\n"),
        "policy-weakened",
        "deny",
        true,
    ),
    (
        "a second signer",
        |it, _| {
            let other = keys::OTHER.fingerprint();
            edit(it, TRUST, |text| text.replacen("\"]", &format!("\", \"{other}\"]"), 1));
        },
        "pin-changed",
        "deny",
        true,
    ),
    (
        "a pin gone",
        |it, registry| it.write(TRUST, &pin(registry, "acme/gadget", &keys::GOOD.fingerprint())),
        "pin-removed",
        "deny",
        true,
    ),
    (
        "a republication accepted",
        |it, registry| {
            let record = "version = \"1.4.0\"\n  date    = \"2026-01-01\"\n  reason  = \"they said so\"";
            let block = format!("\nrepublished \"{}/acme/widget\" {{\n  {record}\n}}\n", registry.host());
            edit(it, TRUST, |text| text.to_owned() + &block);
        },
        "republication-accepted",
        "deny",
        true,
    ),
    (
        "a pin for another provider",
        |it, registry| {
            edit(it, TRUST, |text| text.to_owned() + "\n" + &pin(registry, "zeta/new", &keys::OTHER.fingerprint()));
        },
        "pin-added",
        "warn",
        true,
    ),
];

#[test]
fn each_attack_is_found() {
    let registry = honest();
    for (name, attack, rule, level, liftable) in FOUND {
        let workspace = repository(&registry);
        attack(&workspace, &registry);
        // Committed or not, tracked or not: the work tree counts.
        let before = gate(&workspace, &registry, &["--offline"]);
        assert!(rules(&before, level).contains(*rule), "{name}: {before}");
        commit(&workspace, "change");
        let run = gate(&workspace, &registry, &["--offline"]);
        assert_eq!(run.code, Some(if *level == "deny" { 3 } else { 0 }), "{name}: {run}");
        assert_eq!(rules(&run, level), [(*rule).to_owned()].into(), "{name}: {run}");
        let approved = gate(&workspace, &registry, &["--offline", "--allow-trust-change"]);
        assert_eq!(rules(&approved, level).contains(*rule), !liftable, "{name}: {approved}");
        if *liftable {
            assert_eq!(approved.code, Some(0), "{name}: {approved}");
            assert!(rules(&approved, "note").contains(*rule), "{name}: {approved}");
        }
        // From below the root module, and for all of them at once, it is the same.
        let all = GATE.into_iter().chain(["--format", "json", "--offline", "-r"]);
        assert_eq!(workspace.tflock(&registry, all).code, run.code, "{name}");
    }
    assert!(registry.requests().is_empty());
}

#[test]
fn a_hash_that_no_package_has_may_go() {
    let registry = honest();
    let workspace = repository(&registry);
    let path = format!("app/{LOCK}");
    let honest = workspace.read(&path);
    // As recorded for both platforms, and for either alone: then the other package has to be looked at as well.
    let h1 = |platform| Some(registry.package("acme/widget", "1.4.0", platform).h1);
    for left_out in [None, h1(PLATFORMS[0]), h1(PLATFORMS[1])] {
        let lines = honest.split_inclusive('\n').filter(|line| left_out.as_ref().is_none_or(|h1| !line.contains(h1)));
        let mended: String = lines.collect();
        workspace.write(&path, &planted(&mended, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
        commit(&workspace, "planted");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        workspace.write(&path, &mended);
        commit(&workspace, "mended");
        // Only the packages show it.
        let run = gate(&workspace, &registry, &["--offline"]).ended_with(3);
        assert_eq!(rules(&run, "deny"), ["hashes-dropped".to_owned()].into(), "{run}");
        let run = gate(&workspace, &registry, &["--no-cache"]).ended_with(0);
        assert!(rules(&run, "note").contains("hashes-dropped"), "{run}");
        assert!(run.stdout.contains("no package of the release has the missing hashes"), "{run}");
    }
    // One that a package has may not.
    edit(&workspace, &path, |text| without_last_line_with(text, "h1:"));
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["hashes-dropped".to_owned()].into(), "{run}");
}

#[test]
fn what_settings_around_let_pass_is_found_once() {
    let registry = honest();
    let workspace = repository(&registry);
    for directory in ["app", "app/nested"] {
        std::fs::create_dir_all(workspace.path(directory)).unwrap();
        workspace.write(&format!("{directory}/{SETTINGS}"), "policy {\n  minimum_age = \"3d\"\n}\n");
    }
    commit(&workspace, "nested");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let weakened = || {
        let run = gate(&workspace, &registry, &["--offline"]).ended_with(3);
        let findings = run.json()["findings"].as_array().cloned().unwrap();
        let weakened = findings.into_iter().filter(|finding| finding["rule"] == "policy-weakened");
        weakened.map(|finding| finding["file"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    workspace.write(SETTINGS, "# nothing\n");
    assert_eq!(weakened(), [SETTINGS]);
    // What an inner file lets pass as well, an age less and an exemption more, is found there and not again below.
    workspace.write(&format!("app/{SETTINGS}"), "exempt \"unattested-hash\" {\n}\n");
    workspace.write(&format!("app/nested/{SETTINGS}"), "exempt \"unattested-hash\" {\n}\n");
    assert_eq!(weakened(), [SETTINGS, "app/.tflock.hcl", "app/.tflock.hcl"]);
}

/// A root module says itself that it has no lock file, and the search for new directories does not say it again.
#[test]
fn a_missing_lock_file_is_found_once() {
    let registry = honest();
    let workspace = repository(&registry);
    let found = |roots: &[&str]| {
        let run = workspace.tflock(&registry, GATE.iter().chain(&["--offline", "--format", "json"]).chain(roots));
        ["lock-file-missing", "lock-file-removed"].map(|rule| run.stdout.matches(&format!("\"{rule}\"")).count())
    };
    // Terragrunt keeps lock files without configuration; then there is some, and the lock file is gone.
    workspace.write(&format!("live/{LOCK}"), &workspace.read(&format!("app/{LOCK}")));
    commit(&workspace, "live");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.git(["rm", "--quiet", "-r", "live"]);
    for directory in ["live", "new"] {
        workspace.write(&format!("{directory}/main.tf"), &workspace.read("app/main.tf"));
    }
    commit(&workspace, "change");
    assert_eq!([found(&["-C", "new"]), found(&["-C", "live"]), found(&["-r"])], [[1, 0], [0, 1], [1, 1]]);
}

#[test]
fn the_tree_under_attack_does_not_verify_itself() {
    let registry = honest();
    let workspace = repository(&registry);
    let path = format!("app/{LOCK}");
    edit(&workspace, &path, |text| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
    let excuse = "exempt \"unattested-hash\" {\n}\n\nlevel \"policy-weakened\" {\n  is = \"note\"\n}\n";
    edit(&workspace, SETTINGS, |text| format!("{text}\n{excuse}"));
    commit(&workspace, "harmless");
    // A run that trusts the tree finds nothing.
    let blind = workspace.tflock(&registry, ["-C", "app", "verify", "--format", "json"]).ended_with(0);
    assert_eq!(blind.json()["judged_by"]["source"], "working-tree");
    assert!(blind.stderr.contains("checked only against the working tree's own settings"), "{blind}");
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["policy-weakened".to_owned(), "unattested-hash".to_owned()].into());
    assert_eq!(run.json()["judged_by"]["source"], "revision");

    // A release by another key, and a trust file that says that this is well.
    let workspace = repository(&registry);
    let other = keys::OTHER.fingerprint();
    registry.republish("acme/widget", "1.4.0");
    let registry = registry.of("acme/widget", "1.4.0").signed_by(keys::OTHER);
    let swapped = block(
        &registry,
        "acme/widget",
        "  version     = \"1.4.0\"\n  constraints = \"~> 1.4\"\n",
        &hashes(&registry, "acme/widget", "1.4.0"),
    );
    edit(&workspace, &path, |text| text[..text.rfind("\nprovider").unwrap()].to_owned() + &swapped);
    edit(&workspace, TRUST, |text| {
        text.replace(&keys::GOOD.fingerprint(), &other).replacen(&other, &keys::GOOD.fingerprint(), 1)
    });
    commit(&workspace, "upgrade");
    workspace.tflock(&registry, ["-C", "app", "verify"]).ended_with(0);
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    let wanted = ["hash-replaced", "pin-changed", "signer-changed"].map(str::to_owned);
    assert_eq!(rules(&run, "deny"), wanted.into(), "{run}");
    // An approval of the trust file does not cover the lock file, unless the trust file says that it was published again.
    let run = gate(&workspace, &registry, &["--allow-trust-change"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["hash-replaced".to_owned()].into(), "{run}");
    let record = "version = \"1.4.0\"\n  date    = \"2026-01-01\"\n  reason  = \"they said so\"";
    let record = format!("\nrepublished \"{}/acme/widget\" {{\n  {record}\n}}\n", registry.host());
    edit(&workspace, TRUST, |text| text.to_owned() + &record);
    let run = gate(&workspace, &registry, &["--allow-trust-change"]).ended_with(0);
    assert_eq!(rules(&run, "warn"), ["hash-replaced".to_owned()].into(), "{run}");
    gate(&workspace, &registry, &[]).ended_with(3);

    // Once that is merged, it accepts no other hashes.
    commit(&workspace, "accepted");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    edit(&workspace, &path, |text| {
        let other = "    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n";
        let rest = without_last_line_with(text, "h1:");
        let end = rest.rfind("  ]\n").unwrap();
        format!("{}{other}{}", &rest[..end], &rest[end..])
    });
    for more in [&["--offline"][..], &["--offline", "--allow-trust-change"]] {
        let run = gate(&workspace, &registry, more).ended_with(3);
        assert!(rules(&run, "deny").contains("hash-replaced"), "{run}");
        assert!(!run.stdout.contains("accepts it already"), "{run}");
    }
}

/// The working tree's own settings apply to findings about no root module too, such as those about the whole tree and about the lock
/// file of a directory without configuration.
#[test]
fn approved_settings_apply_to_all_findings() {
    let registry = honest();
    let workspace = repository(&registry);
    let lock = workspace.read(&format!("app/{LOCK}"));
    workspace.write(&format!("bare/{LOCK}"), &lock);
    workspace.write("bare/notes.txt", "no configuration\n");
    commit(&workspace, "bare");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    std::fs::remove_file(workspace.path(&format!("bare/{LOCK}"))).unwrap();
    workspace.write("shared/terraform.d/plugins/x", "");
    let levels =
        ["tracked-packages", "lock-file-removed"].map(|rule| format!("level \"{rule}\" {{\n  is = \"note\"\n}}\n"));
    edit(&workspace, SETTINGS, |text| text.to_owned() + &levels.concat());
    commit(&workspace, "levels");
    let all = |more: &[&str]| {
        workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]).chain(more))
    };
    let level = |run: &Run, rule: &str| {
        let roots = run.json()["roots"].as_array().cloned().unwrap_or_default();
        let mut findings = roots.iter().flat_map(|root| root["findings"].as_array().cloned().unwrap_or_default());
        findings.find(|it| it["rule"] == rule).map(|it| it["level"].as_str().unwrap().to_owned())
    };
    for (more, code, expected) in [(&[][..], 3, "deny"), (&["--allow-trust-change"][..], 0, "note")] {
        let run = all(more).ended_with(code);
        for rule in ["tracked-packages", "lock-file-removed"] {
            assert_eq!(level(&run, rule).as_deref(), Some(expected), "{rule}: {run}");
        }
    }
}

#[test]
fn only_changes_are_queried() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("README.md", "new\n");
    let all = |more: &[&str]| {
        workspace.tflock(&registry, GATE.into_iter().chain(["-r", "--format", "json"]).chain(more.iter().copied()))
    };
    let run = all(&[]).ended_with(0);
    assert!(registry.requests().is_empty(), "{run}");
    let unchanged = |run: &Run| {
        let roots = run.json()["roots"].as_array().unwrap().clone();
        let row = |root: &serde_json::Value| (root["path"].as_str().unwrap().to_owned(), root["unchanged"] == true);
        roots.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(unchanged(&run), [("app".to_owned(), true), ("other".to_owned(), true)]);
    assert!(run.stderr.contains("skipped 2 unchanged root modules"), "{run}");
    // A single one says so itself.
    let run = workspace.tflock(&registry, ["-C", "app"].into_iter().chain(GATE)).ended_with(0);
    assert_eq!(run.stdout, "unchanged since the base, not checked\n");
    // A file of the module, or of a module that it calls, makes the difference.
    workspace.write("app/more.tf", "# new\n");
    assert_eq!(unchanged(&all(&["--offline"])), [("app".to_owned(), false), ("other".to_owned(), true)]);
    std::fs::remove_file(workspace.path("app/more.tf")).unwrap();
    workspace.write("modules/net/main.tf", "");
    edit(&workspace, "other/main.tf", |text| text.to_owned() + "module \"net\" {\n  source = \"../modules/net\"\n}\n");
    commit(&workspace, "call");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write("modules/net/main.tf", "# other\n");
    let run = all(&[]).ended_with(0);
    assert_eq!(unchanged(&run), [("app".to_owned(), true), ("other".to_owned(), false)]);
    assert_eq!(registry.count(Endpoint::Versions), 2);
    workspace.git(["rm", "--quiet", "--force", "modules/net/main.tf"]);
    assert_eq!(all(&["--offline"]).code, Some(2));
    workspace.git(["reset", "--quiet", "--hard"]);
    // Settings concern every root module.
    workspace.write("app/.tflock.hcl", "platforms = [\"linux_amd64\"]\n");
    assert_eq!(unchanged(&all(&["--offline"])), [("app".to_owned(), false), ("other".to_owned(), false)]);
}

#[test]
fn root_modules_come_and_go_and_move() {
    let registry = honest();
    let workspace = repository(&registry);
    let all = || workspace.tflock(&registry, GATE.into_iter().chain(["-r", "--offline", "--format", "json"]));
    let denied = |run: &Run| {
        let roots = run.json()["roots"].as_array().cloned().unwrap_or_default();
        let findings = roots.iter().flat_map(|root| root["findings"].as_array().cloned().unwrap_or_default());
        let denied = findings.filter(|finding| finding["level"] == "deny");
        let row = |it: serde_json::Value| format!("{} {}", it["rule"].as_str().unwrap(), it["file"].as_str().unwrap());
        denied.map(row).collect::<Vec<_>>()
    };
    // With its configuration it is no attack, even the last one.
    workspace.git(["rm", "-r", "--quiet", "app", "other"]);
    assert_eq!(all().ended_with(0).json()["roots"], serde_json::json!([]));
    workspace.git(["reset", "--quiet", "--hard"]);
    workspace.git(["rm", "-r", "--quiet", "other"]);
    assert_eq!(denied(&all().ended_with(0)), [""; 0]);
    // Moved as a whole neither, but hashes are compared with what they were.
    workspace.git(["mv", "app", "moved"]);
    assert_eq!(denied(&all().ended_with(0)), [""; 0]);
    edit(&workspace, &format!("moved/{LOCK}"), |text| without_last_line_with(text, "h1:"));
    assert_eq!(denied(&all().ended_with(3)), [format!("hashes-dropped moved/{LOCK}")]);
    workspace.git(["reset", "--quiet", "--hard"]);
    // Left behind it is one, also where `init` has written another that git ignores.
    let lock = workspace.read(&format!("other/{LOCK}"));
    workspace.git(["mv", "other", "elsewhere"]);
    workspace.git(["rm", "--quiet", "-f", &format!("elsewhere/{LOCK}")]);
    assert_eq!(denied(&all().ended_with(3)), [format!("lock-file-moved elsewhere/{LOCK}")]);
    workspace.write(".gitignore", &format!("elsewhere/{LOCK}\n"));
    workspace.write(&format!("elsewhere/{LOCK}"), &lock);
    assert_eq!(denied(&all().ended_with(3)), [format!("lock-file-moved elsewhere/{LOCK}")]);
    // One that is about to be added is there.
    std::fs::remove_file(workspace.path(".gitignore")).unwrap();
    assert_eq!(denied(&all().ended_with(0)), [""; 0]);
    workspace.git(["reset", "--quiet", "--hard"]);
    workspace.git(["clean", "-ffdxq"]);
    // The lock file alone is.
    std::fs::remove_file(workspace.path(&format!("other/{LOCK}"))).unwrap();
    assert_eq!(denied(&all().ended_with(3)), [format!("lock-file-removed other/{LOCK}")]);
    // Unless nothing needs one any more.
    workspace.write("other/main.tf", "locals {}\n");
    assert_eq!(denied(&all().ended_with(0)), [""; 0]);
    workspace.git(["reset", "--quiet", "--hard"]);
    // Terragrunt keeps lock files without configuration.
    workspace.write(&format!("live/{LOCK}"), &workspace.read(&format!("app/{LOCK}")));
    workspace.write("live/terragrunt.hcl", "terraform {\n  source = get_env(\"X\")\n}\n");
    commit(&workspace, "live");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    // Taking out what it says is no better than taking it away.
    let lock = workspace.read(&format!("live/{LOCK}"));
    for left in ["", &lock[..lock.find("\nprovider").unwrap()]] {
        workspace.write(&format!("live/{LOCK}"), left);
        assert_eq!(denied(&all().ended_with(3)), [format!("lock-file-removed live/{LOCK}")], "{left}");
    }
    // One of several may be needed no more.
    workspace.write(&format!("live/{LOCK}"), &lock[..=lock.rfind("\nprovider").unwrap()]);
    let run = all().ended_with(0);
    assert!(denied(&run).is_empty() && run.stdout.contains("hashes-dropped"), "{run}");
    std::fs::remove_file(workspace.path(&format!("live/{LOCK}"))).unwrap();
    assert_eq!(denied(&all().ended_with(3)), [format!("lock-file-removed live/{LOCK}")]);
    let one = ["-C", "live", "verify", "--base", "origin/main", "--offline"];
    let run = workspace.tflock(&registry, one).ended_with(3);
    assert!(run.stdout.contains("denied[lock-file-removed]") && !run.stderr.contains("error"), "{run}");
    std::fs::remove_file(workspace.path("live/terragrunt.hcl")).unwrap();
    assert_eq!(denied(&all().ended_with(0)), [""; 0]);
}

#[test]
fn commits_of_others_cause_no_findings() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.git(["branch", "topic"]);
    // Upstream tightens the policy and pins one more.
    edit(&workspace, SETTINGS, |text| text.replace("\"always\"", "\"always\"\n  minimum_age = \"36500d\""));
    edit(&workspace, TRUST, |text| text.to_owned() + "\n" + &pin(&registry, "zeta/new", &keys::OTHER.fingerprint()));
    commit(&workspace, "stricter");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.git(["checkout", "--quiet", "topic"]);
    workspace.write("app/more.tf", "# new\n");
    commit(&workspace, "more");
    let run = gate(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(rules(&run, "deny").is_empty() && rules(&run, "warn").is_empty(), "{run}");
    // As on code hosts that merge first and check then.
    workspace.git(["merge", "--quiet", "--message", "merged", "origin/main"]);
    let run = gate(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(rules(&run, "deny").is_empty() && rules(&run, "warn").is_empty(), "{run}");
    // What upstream wants counts all the same.
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["too-young".to_owned()].into(), "{run}");
}

#[test]
fn a_new_provider_with_its_pin_is_a_first_use() {
    let registry = honest().release("acme/new", "1.0.0", &["linux_amd64"]).signed_by(keys::OTHER);
    let workspace = repository(&registry);
    let requirement = format!("    new = {{\n      source = \"{}/acme/new\"\n    }}\n  }}\n}}\n", registry.host());
    edit(&workspace, "app/main.tf", |text| text.strip_suffix("  }\n}\n").unwrap().to_owned() + &requirement);
    workspace.tflock(&registry, ["-C", "app", "lock", "--platform", "linux_amd64"]).ended_with(0);
    assert!(workspace.read(TRUST).contains("acme/new"));
    let run = gate(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(rules(&run, "warn"), ["pin-added".to_owned()].into(), "{run}");
    assert!(run.stdout.contains(&format!("\"address\": \"{}/acme/new\"", registry.host())), "{run}");
    // Without its pin no signer is remembered.
    workspace.git(["checkout", "--quiet", "--", TRUST]);
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["signer-not-pinned".to_owned()].into(), "{run}");
    // A revision that has no trust file yet.
    workspace.git(["reset", "--quiet", "--hard"]);
    let trust = workspace.read(TRUST);
    workspace.git(["rm", "--quiet", TRUST]);
    commit(&workspace, "none");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write(TRUST, &trust);
    let run = gate(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(rules(&run, "warn"), ["pin-added".to_owned()].into(), "{run}");
}

#[test]
fn queries_about_changed_entries_never_pass_on_errors() {
    let registry = honest();
    let workspace =
        repository(&registry).env("TF_REGISTRY_DISCOVERY_RETRY", "0").env("TF_PROVIDER_DOWNLOAD_RETRY", "0");
    let path = format!("app/{LOCK}");
    let registry = registry.answers(Endpoint::Versions, Answer::status(503));
    workspace.write("app/more.tf", "# new\n");
    let tolerant = ["--inconclusive", "warn"];
    let run = gate(&workspace, &registry, &tolerant).ended_with(0);
    assert!(run.stderr.contains("inconclusive: "), "{run}");
    edit(&workspace, &path, |text| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
    let run = gate(&workspace, &registry, &tolerant).ended_with(4);
    assert!(rules(&run, "deny").is_empty(), "{run}");
    gate(&workspace, &registry, &[]).ended_with(4);
}

#[test]
fn a_shallow_clone_is_refused_with_the_command_to_deepen_it() {
    let registry = honest();
    let workspace = Workspace::with_files(&[("README.md", "")]);
    let origin = repository(&registry);
    origin.git(["checkout", "--quiet", "-B", "main"]);
    origin.git(["checkout", "--quiet", "-b", "topic"]);
    origin.write("app/more.tf", "# new\n");
    commit(&origin, "topic");
    let url = format!("file://{}", origin.path("").display());
    let clone = |directory: &str, more: &[&str]| {
        let args = ["clone", "--quiet", "--branch", "topic"].into_iter().chain(more.iter().copied());
        workspace.git(args.chain([url.as_str(), directory]));
    };
    let gate = |directory: &str, base: &str| {
        workspace.tflock(&registry, ["-C", directory, "verify", "-r", "--offline", "--base", base])
    };
    clone("one", &["--depth", "1"]);
    let run = gate("one", "origin/main").ended_with(2);
    insta::assert_snapshot!(run.filtered(&run.stderr), @r#"
    error: --base: "origin/main" is not a revision in this clone
      help: the clone is shallow and may lack the revision
      help: fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI
      help: or here: `git fetch --unshallow`
    "#);
    clone("two", &["--depth", "1", "--no-single-branch"]);
    let run = gate("two", "origin/main").ended_with(2);
    insta::assert_snapshot!(run.filtered(&run.stderr), @r#"
    error: the clone is too shallow: it lacks the commit where "origin/main" and "HEAD" diverge
      help: fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI
      help: or here: `git fetch --unshallow`
    "#);
    clone("whole", &[]);
    gate("whole", "origin/main").ended_with(0);
    let run = gate("whole", "main").ended_with(2);
    insta::assert_snapshot!(run.filtered(&run.stderr), @r#"
    error: --base: "main" is not a revision in this clone
      help: the clone has no such branch of its own; try "origin/main"
        "#);
    let run = gate("whole", "--nonsense").ended_with(2);
    assert!(run.stderr.contains("nonsense"), "{run}");
    // Two histories that have nothing in common.
    workspace.git(["-C", "whole", "checkout", "--quiet", "--orphan", "alone"]);
    workspace.git(["-C", "whole", "commit", "--quiet", "--message", "alone"]);
    let run = gate("whole", "origin/main").ended_with(2);
    assert!(run.stderr.contains("have no common ancestor") && run.stderr.contains("fetch-depth: 0"), "{run}");
    // No clone at all.
    let run = workspace
        .tflock(&registry, ["verify", "--offline", "-C", "."].into_iter().chain(["--base", "main"]))
        .ended_with(2);
    assert!(run.stderr.contains("is not in a git working tree"), "{run}");
}

#[test]
fn human_and_machine_reports() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, &format!("app/{LOCK}"), |text| without_last_line_with(text, "h1:"));
    workspace.write(SETTINGS, "policy {\n  signature = \"if_keys_known\"\n}\n");
    let run = |format: &str| {
        let args = GATE.into_iter().chain(["--no-download", "-r", "--format", format]);
        let run = workspace.tflock(&registry, args).ended_with(3);
        let text = run.filtered(&run.to_string());
        let commit = workspace.git(["rev-parse", "HEAD"]).stdout.trim().to_owned();
        text.replace(&commit, "<commit>").replace(&commit[..10], "<commit>")
    };
    insta::assert_snapshot!("base_human", run("human"));
    insta::assert_snapshot!("base_json", run("json"));
    insta::assert_snapshot!("base_github", run("github"));
}

#[test]
fn a_clone_of_which_nothing_is_checked_out_is_not_judged() {
    let registry = honest();
    let workspace = repository(&registry);
    let clone = |name: &str, more: &[&str]| {
        let args = ["clone", "--quiet", "--no-checkout", "."].iter().chain([&name]).chain(more);
        workspace.git(args.copied());
    };
    let judge = |name: &str| workspace.tflock(&registry, ["verify", "-r", "-C", name, "--base", "HEAD", "--offline"]);
    clone("bare-tree", &[]);
    let run = judge("bare-tree").ended_with(2);
    assert!(run.stderr.contains("nothing of HEAD is checked out"), "{run}");
    // With an index; with a file that git does not track; and with every file removed again.
    workspace.git(["-C", "bare-tree", "reset", "--quiet"]);
    workspace.write("bare-tree/report.json", "{}");
    judge("bare-tree").ended_with(2);
    workspace.git(["-C", "bare-tree", "checkout", "HEAD", "--", "."]);
    judge("bare-tree").ended_with(0);
    // A commit that removes every file has nothing to check out.
    workspace.git(["-C", "bare-tree", "rm", "--quiet", "-r", "."]);
    judge("bare-tree").ended_with(2);
    workspace.git(["-C", "bare-tree", "commit", "--quiet", "--message", "empty"]);
    let run = workspace.tflock(&registry, ["verify", "-r", "-C", "bare-tree", "--base", "HEAD~1", "--offline"]);
    assert!(!run.stderr.contains("is checked out"), "{run}");
}

/// What a skipped root module requires is not known.
#[test]
fn unchanged_root_modules_without_lock_files_are_not_said_to_need_none() {
    let registry = honest();
    let workspace = repository(&registry);
    for root in ["app", "other"] {
        std::fs::remove_file(workspace.path(&format!("{root}/{LOCK}"))).unwrap();
    }
    commit(&workspace, "no lock files");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let run = workspace.tflock(&registry, ["-C", "app"].into_iter().chain(GATE)).ended_with(0);
    assert!(run.stdout.contains("there is no lock file") && !run.stdout.contains("requires no"), "{run}");
}

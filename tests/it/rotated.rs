//! What is advised about signers and republications before and after a decision.

use crate::support::keys;
use crate::support::locked::{LOCK, honest};
use crate::support::proposal::{self, TRUST, commit, gate};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget as widget_alone;

const UPGRADE: [&str; 7] = ["-C", "app", "upgrade", "--platform", "linux_amd64", "--platform", "darwin_arm64"];

const ONLY_WIDGET: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";

/// Level and help of the findings by a rule.
fn shown(run: &Run, rule: &str) -> Vec<(String, String)> {
    let findings = run.json()["findings"].as_array().unwrap_or_else(|| panic!("{run}")).clone();
    let of_rule = findings.iter().filter(|finding| finding["rule"] == rule);
    of_rule
        .map(|finding| [&finding["level"], &finding["help"]].map(|it| it.as_str().unwrap().to_owned()).into())
        .collect()
}

fn widget(registry: &Registry) -> String {
    format!("{}/acme/widget", registry.host())
}

/// A repository whose provider has a newer release by another key, and the finding that refuses it.
fn by_another_key() -> (Registry, Workspace) {
    let registry = honest().release("acme/widget", "1.5.0", &["linux_amd64", "darwin_arm64"]).signed_by(keys::OTHER);
    let workspace = proposal::repository(&registry);
    (registry, workspace)
}

#[test]
fn the_command_that_rotates_names_the_key() {
    let (registry, workspace) = by_another_key();
    let run = workspace.tflock(&registry, UPGRADE.iter().chain(&["--format", "json"])).ended_with(3);
    let [(_, help)] = &shown(&run, "signer-changed")[..] else { panic!("{run}") };
    let rotate = format!("trust rotate {} {} --reason TEXT`", widget(&registry), keys::OTHER.fingerprint());
    assert!(help.contains(&rotate), "{help}");
}

#[test]
fn a_rotation_that_is_proposed_is_to_be_approved_and_not_made_again() {
    let (registry, workspace) = by_another_key();
    let rotate = ["trust", "rotate", &widget(&registry), &keys::OTHER.fingerprint(), "--reason", "announced"];
    workspace.tflock(&registry, rotate).ended_with(0);
    workspace.tflock(&registry, UPGRADE).ended_with(0);
    commit(&workspace, "rotated");
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    let [(level, help)] = &shown(&run, "signer-changed")[..] else { panic!("{run}") };
    assert_eq!(level, "deny");
    assert!(help.starts_with(&format!("{TRUST} of this change accepts it already")), "{help}");
    assert!(help.contains("--allow-trust-change") && !help.contains("trust rotate"), "{help}");
    gate(&workspace, &registry, &["--allow-trust-change"]).ended_with(0);
    let diff = ["-C", "app", "diff", "origin/main", "--online", "--format", "json"];
    let run = workspace.tflock(&registry, diff).ended_with(0);
    let [(level, help)] = &shown(&run, "signer-changed")[..] else { panic!("{run}") };
    assert_eq!(level, "warn");
    assert!(help.starts_with("Compare the fingerprint") && !help.contains("tflock"), "{help}");
}

/// Whether the old key still counts for what is locked is a question to the registry: without its answer nothing is rotated.
#[test]
fn without_an_answer_nothing_is_rotated() {
    let (registry, workspace) = by_another_key();
    let rotate = ["trust", "rotate", &widget(&registry), &keys::OTHER.fingerprint(), "--reason", "announced"];
    let mut registry = registry;
    for endpoint in [Endpoint::Download, Endpoint::Sums, Endpoint::Signature, Endpoint::Discovery] {
        registry = registry.recovered().answers(endpoint, Answer::reset());
        let run = workspace.tflock(&registry, rotate).ended_with(4);
        assert!(run.touched().is_empty(), "{endpoint:?}: {run}");
    }
    // Unless it is not to be asked.
    let run = workspace.tflock(&registry, rotate.iter().chain(&["--offline"])).ended_with(0);
    assert_eq!(run.touched(), [TRUST], "{run}");
    let registry = registry.recovered();
    let again = workspace.copied();
    again.git(["checkout", "--quiet", "--", TRUST]);
    again.tflock(&registry, rotate).ended_with(0);
}

#[test]
fn an_acceptance_that_is_proposed_is_to_be_approved_and_not_made_again() {
    let registry = honest();
    let workspace = proposal::repository(&registry);
    registry.republish("acme/widget", "1.4.0");
    let release = format!("{}@1.4.0", widget(&registry));
    let accept = ["-C", "app", "lock", "--accept-republished", &release, "--reason", "they rebuilt it"];
    let platforms = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];
    workspace.tflock(&registry, accept.iter().chain(&platforms)).ended_with(0);
    commit(&workspace, "accepted");
    let run = gate(&workspace, &registry, &[]).ended_with(3);
    let [(level, help)] = &shown(&run, "hash-replaced")[..] else { panic!("{run}") };
    assert_eq!(level, "deny");
    assert!(help.contains("--allow-trust-change") && !help.contains("--accept-republished"), "{help}");
    let run = gate(&workspace, &registry, &["--allow-trust-change"]).ended_with(0);
    let [(level, help)] = &shown(&run, "hash-replaced")[..] else { panic!("{run}") };
    assert_eq!(level, "warn");
    assert!(help.starts_with("Nothing") && !help.contains("tflock"), "{help}");
}

#[test]
fn a_replaced_hash_names_its_release_in_what_is_advised() {
    let registry = honest();
    let workspace = proposal::repository(&registry);
    let [old, new] = ["acme/widget", "acme/gadget"].map(|provider| {
        let version = if provider == "acme/widget" { "1.4.0" } else { "2.0.0" };
        registry.package(provider, version, "linux_amd64").h1
    });
    proposal::edit(&workspace, &format!("app/{LOCK}"), |text| text.replace(&old, &new));
    commit(&workspace, "replaced");
    let run = gate(&workspace, &registry, &["--offline"]).ended_with(3);
    let helps = shown(&run, "hash-replaced");
    assert!(helps[0].1.contains(&format!("--accept-republished {}@1.4.0", widget(&registry))), "{run}");
}

/// Which keys a run may speak of depends on what registries listed in earlier ones.
#[test]
fn an_unlisted_key_is_reported_before_it_is_remembered() {
    let (registry, workspace) = by_another_key();
    let widget = widget(&registry);
    let pattern = format!("{}/acme/*", registry.host());
    for (digit, command, what) in
        [("A", "rotate", &widget), ("B", "rotate", &pattern), ("C", "add", &widget), ("D", "add", &pattern)]
    {
        let never_seen = digit.repeat(40);
        // A pattern has to be remembered before it can be rotated.
        workspace.tflock(None, ["trust", "add", what, &keys::GOOD.fingerprint()]);
        let run = workspace.tflock(None, ["--offline", "trust", command, what, &never_seen]).ended_with(0);
        assert!(run.stderr.contains(&format!("no registry has listed the primary key {never_seen}")), "{run}");
    }
    // The registry is queried, and what it lists is known from then on.
    workspace.tflock(&registry, UPGRADE).ended_with(3);
    for (command, what) in [("rotate", &widget), ("rotate", &pattern)] {
        let run =
            workspace.tflock(None, ["--offline", "trust", command, what, &keys::OTHER.fingerprint()]).ended_with(0);
        assert!(!run.stderr.contains("no registry has listed"), "{run}");
    }
    let run = workspace.tflock(None, ["trust", "rotate", &widget, "DEADBEEFDEADBEEF"]).ended_with(2);
    assert!(run.stderr.contains("anyone can make a key with a chosen key id") && run.touched().is_empty(), "{run}");
}

#[test]
fn the_signer_of_an_unsigned_release_is_no_fingerprint() {
    let registry = widget_alone().unsigned();
    let workspace = Workspace::with_files(&[("app/main.tf", ONLY_WIDGET)]);
    workspace.git(["init", "--quiet"]);
    workspace.write(proposal::SETTINGS, "policy {\n  signature = \"never\"\n}\n");
    workspace.tflock(&registry, ["-C", "app", "lock", "--platform", "linux_amd64"]).ended_with(0);
    workspace.write(TRUST, "");
    let run = workspace.tflock(&registry, ["-C", "app", "verify", "--format", "json"]).ended_with(3);
    let [(_, help)] = &shown(&run, "signer-not-pinned")[..] else { panic!("{run}") };
    let add = format!("`tflock -C app trust add {} unsigned`", widget(&registry));
    assert!(help.contains(&add) && !help.contains("FINGERPRINT"), "{help}");
    let args: Vec<String> = add.trim_matches('`').split(' ').skip(1).map(str::to_owned).collect();
    workspace.tflock(&registry, &args).ended_with(0);
    let run = workspace.tflock(&registry, ["-C", "app", "verify", "--format", "json"]).ended_with(0);
    assert!(shown(&run, "signer-not-pinned").is_empty(), "{run}");
}

/// What a rule's help calls `PATH` and `REV` is named relative to the current directory.
#[test]
fn files_and_revisions_are_named_in_what_is_advised() {
    let registry = honest();
    let workspace = proposal::repository(&registry);
    std::fs::remove_file(workspace.path(&format!("app/{LOCK}"))).unwrap();
    commit(&workspace, "removed");
    let sound = workspace.read(&format!("other/{LOCK}"));
    for (args, directory) in [(&["-C", "app"][..], ""), (&[], "app"), (&["-C", "."], "app"), (&["-r"], "")] {
        let mut words = vec!["verify", "--offline", "--base", "origin/main", "--format", "json"];
        if args == ["-r"] {
            words.push("-r");
        } else {
            words.splice(0..0, args.iter().copied());
        }
        let run = workspace.tflock_in(directory, &registry, &words).ended_with(3);
        let json = run.json();
        let findings = json.pointer("/findings").cloned().unwrap_or_else(|| {
            let roots = json["roots"].as_array().unwrap();
            roots.iter().find(|root| root["path"] == "app").unwrap()["findings"].clone()
        });
        let removed = findings.as_array().unwrap().iter().find(|it| it["rule"] == "lock-file-removed").unwrap().clone();
        let help = removed["help"].as_str().unwrap();
        let (_, command) = help.split_once("`git ").unwrap();
        let (command, _) = command.split_once('`').unwrap();
        let top = workspace.path(directory).display().to_string();
        let words: Vec<&str> = ["-C", &top].into_iter().chain(command.split(' ')).collect();
        workspace.git(words);
        assert_eq!(workspace.read(&format!("app/{LOCK}")), sound, "{help}");
        workspace.git(["rm", "--quiet", "-f", &format!("app/{LOCK}")]);
    }
    // An unfinished merge.
    workspace.write(&format!("app/{LOCK}"), &format!("<<<<<<< ours\n{sound}=======\n{sound}>>>>>>> theirs\n"));
    for directory in ["", "app"] {
        let args = if directory.is_empty() { &["-C", "app", "list"][..] } else { &["list"] };
        let run = workspace.tflock_in(directory, &registry, args).ended_with(2);
        let (_, command) = run.stderr.split_once("`tflock ").unwrap_or_else(|| panic!("{run}"));
        let (command, _) = command.split_once('`').unwrap();
        let marked = workspace.read(&format!("app/{LOCK}"));
        let words: Vec<&str> = command.split(' ').collect();
        workspace.tflock_in(directory, None, &words).ended_with(0);
        assert_eq!(workspace.read(&format!("app/{LOCK}")), sound, "{command}");
        workspace.write(&format!("app/{LOCK}"), &marked);
    }
}

#[test]
fn a_denial_is_taken_back_by_its_fingerprint() {
    let (key, workspace) = (keys::OTHER.fingerprint(), Workspace::with_files(&[("main.tf", "")]));
    workspace.tflock(None, ["trust", "deny", &key, "--reason", "stolen"]).ended_with(0);
    assert!(workspace.read(TRUST).contains("denied_signer"));
    workspace.tflock(None, ["trust", "forget", &key]).ended_with(0);
    assert!(!workspace.read(TRUST).contains(&key), "{}", workspace.read(TRUST));
    let run = workspace.tflock(None, ["trust", "forget", &key]).ended_with(2);
    assert!(run.stderr.contains("is not denied"), "{run}");
}

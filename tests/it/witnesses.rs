//! Other places are asked about releases that are new: they agree, differ, or say nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::github::{archives, proxy_to};
use crate::support::locked::{LOCK as FILE, rules};
use crate::support::proposal::{SETTINGS, TRUST, commit};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{EMPTY_LOCK, LOCK, PLATFORMS, widget};

const MAIN: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";

/// What a registry does instead of answering.
type Way = fn(Registry) -> Registry;

/// A list of checksums of another version.
const OTHER_LIST: &str = "00000000000000000000000000000000000000000000000000000000000000aa  terraform-provider-widget_9.9.9_linux_amd64.zip\n";

/// Settings by which a host is a witness of the registry.
fn naming(registry: &Registry, places: &[&str]) -> String {
    let places: Vec<String> = places.iter().map(|place| format!("{place:?}")).collect();
    format!("host \"{}\" {{\n  witnesses = [{}]\n}}\n", registry.host(), places.join(", "))
}

fn demanding(registry: &Registry) -> String {
    format!("policy {{\n  witnessed = [\"{}/acme/*\"]\n}}\n", registry.host())
}

fn workspace(registry: &Registry, settings: &str) -> Workspace {
    Workspace::with_files(&[("main.tf", &MAIN.replace("{{registry}}", &registry.host())), (SETTINGS, settings)])
}

fn run(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    workspace.tflock(registry, args.iter().chain(&["--format", "json"]))
}

fn refused(run: &Run, rule: &str) {
    let is_named = run.stdout.contains(&format!("\"rule\": \"{rule}\",\n"));
    assert!(run.code == Some(3) && is_named && run.touched().is_empty(), "{run}");
}

/// The places that a run names next to the first change.
fn named(run: &Run) -> Value {
    run.json()["changes"][0]["witnesses"].clone()
}

#[test]
fn a_registry_with_the_same_archives_is_named() {
    let (registry, other) = (widget(), widget());
    let workspace = workspace(&registry, &naming(&registry, &[&other.host()]));
    let locked = run(&workspace, &registry, &LOCK).ended_with(0);
    assert_eq!(named(&locked), json!([{ "place": other.host(), "archives": 2 }]), "{locked}");
    // One document of a package, which names the list, and discovery.
    assert!(other.requests().len() <= 3, "{:?}", other.requests());
    std::fs::remove_file(workspace.path(FILE)).unwrap();
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    let shown = workspace.tflock(&registry, LOCK).ended_with(0);
    let says = format!("first use; the same 2 archives at {}", other.host());
    assert!(format!("{}{}", shown.stdout, shown.stderr).contains(&says), "{shown}");
    // Nothing is new any more.
    other.forget_requests();
    for args in [&LOCK[..], &["verify"], &["upgrade", "--platform", "linux_amd64"], &["lock", "--offline"]] {
        run(&workspace, &registry, args).ended_with(0);
        assert!(other.requests().is_empty(), "{args:?} {:?}", other.requests());
    }
}

#[test]
fn a_registry_with_another_archive_has_nothing_written() {
    let (registry, other) = (widget(), widget());
    other.republish("acme/widget", "1.4.0");
    let settings = naming(&registry, &[&other.host()]);
    let workspace = workspace(&registry, &settings);
    refused(&run(&workspace, &registry, &LOCK), "witness-differs");
    assert!(!workspace.has(FILE) && !workspace.has(TRUST));
    workspace.write(SETTINGS, "");
    run(&workspace, &registry, &LOCK).ended_with(0);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    workspace.write(SETTINGS, &settings);
    refused(&run(&workspace, &registry, &["trust", "init"]), "witness-differs");
    assert!(!workspace.has(TRUST));
    // The way on, once the publisher said which archive is right.
    let exempt = "exempt \"witness-differs\" {\n  reason = \"the publisher replaced it, ticket 12\"\n}\n";
    workspace.write(SETTINGS, &(settings + exempt));
    std::fs::remove_file(workspace.path(FILE)).unwrap();
    let locked = run(&workspace, &registry, &LOCK).ended_with(0);
    assert!(rules(&locked, "note").contains("witness-differs") && locked.stdout.contains("ticket 12"), "{locked}");
}

#[test]
fn a_newer_version_is_asked_about() {
    let (registry, other) = (widget(), widget());
    let workspace = workspace(&registry, &naming(&registry, &[&other.host()]));
    run(&workspace, &registry, &LOCK).ended_with(0);
    let [registry, other] = [registry, other].map(|registry| registry.release("acme/widget", "1.5.0", PLATFORMS));
    other.republish("acme/widget", "1.5.0");
    let upgrade = ["upgrade", "--platform", "linux_amd64"];
    refused(&run(&workspace, &registry, &upgrade), "witness-differs");
    refused(&run(&workspace, &registry, &["upgrade", "-r", "--platform", "linux_amd64"]), "witness-differs");
    other.withdraw("acme/widget", "1.5.0");
    run(&workspace, &registry, &upgrade).ended_with(0);
}

#[test]
#[ignore = "long"]
fn silence_proves_nothing_and_is_refused_only_where_a_witness_is_demanded() {
    let ways: [(&str, Way, i32); 9] = [
        ("not there", |_| Registry::start().release("acme/gadget", "1.0.0", PLATFORMS), 3),
        ("404", |other| other.answers(Endpoint::Download, Answer::status(404)), 3),
        ("500", |other| other.answers(Endpoint::Download, Answer::status(500)), 4),
        ("a page", |other| other.answers(Endpoint::Download, Answer::html()), 4),
        ("too many", |other| other.answers(Endpoint::Download, Answer::status(429)), 4),
        ("a list that is a page", |other| other.answers(Endpoint::Sums, Answer::html()), 4),
        ("a list without end", |other| other.answers(Endpoint::Sums, Answer::endless()), 4),
        ("redirects without end", |other| other.answers(Endpoint::Download, Answer::redirects()), 4),
        ("no common name", |other| other.answers(Endpoint::Sums, Answer::json(OTHER_LIST)), 3),
    ];
    for (way, change, code) in ways {
        let (registry, other) = (widget(), change(widget()));
        let settings = naming(&registry, &[&other.host()]);
        let workspace = workspace(&registry, &settings);
        let locked = run(&workspace, &registry, &[&LOCK[..], &["-v"]].concat()).ended_with(0);
        assert!(!locked.stdout.contains("witness-"), "{way}: {locked}");
        assert!(!other.requests().is_empty(), "{way}");
        std::fs::remove_file(workspace.path(FILE)).unwrap();
        workspace.write(SETTINGS, &(settings + &demanding(&registry)));
        let demanded = run(&workspace, &registry, &LOCK).ended_with(code);
        assert_eq!(demanded.stdout.contains("witness-missing"), code == 3, "{way}: {demanded}");
        assert!(!workspace.has(FILE), "{way}");
    }
}

#[test]
#[ignore = "long"]
fn a_slow_witness_is_not_waited_for() {
    let (registry, other) = (widget(), widget().answers(Endpoint::Download, Answer::slow(Duration::from_secs(60))));
    let workspace = workspace(&registry, &naming(&registry, &[&other.host()]));
    let locked = workspace.tflock(&registry, [&LOCK[..], &["-v"]].concat()).ended_with(0);
    assert!(locked.stderr.contains("did not answer"), "{locked}");
}

#[test]
fn the_gate_asks_about_what_a_change_brings() {
    let (registry, other) = (widget(), widget());
    let settings = naming(&registry, &[&other.host()]);
    let workspace = workspace(&registry, &settings);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    // Another tool locks, and the change takes the witness out of the settings.
    workspace.write(SETTINGS, "");
    run(&workspace, &registry, &LOCK).ended_with(0);
    commit(&workspace, "change");
    let gate = ["verify", "--base", "origin/main"];
    let judged = run(&workspace, &registry, &gate).ended_with(3);
    assert!(judged.stdout.contains("is no longer asked about new releases"), "{judged}");
    // The base decides who is asked.
    assert!(!other.requests().is_empty(), "{judged}");
    workspace.write(SETTINGS, &settings);
    commit(&workspace, "as before");
    other.forget_requests();
    let judged = run(&workspace, &registry, &gate);
    let shown = workspace.tflock(&registry, [&gate[..], &["--format", "markdown"]].concat());
    assert!(shown.stdout.contains("(pinned by this change; the same 2 archives at"), "{shown}");
    // An agreement is kept, so none is asked for once more.
    assert!(!judged.stdout.contains("witness-") && other.requests().is_empty(), "{judged}");
    run(&workspace, &registry, &["verify", "--base", "origin/main", "--offline"]);
    other.republish("acme/widget", "1.4.0");
    let judged = run(&workspace, &registry, &[&gate[..], &["--no-cache"]].concat()).ended_with(3);
    assert!(rules(&judged, "deny").contains("witness-differs"), "{judged}");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    other.forget_requests();
    run(&workspace, &registry, &gate).ended_with(0);
    assert!(other.requests().is_empty(), "{:?}", other.requests());
}

/// The digests that GitHub computed when the files were uploaded.
#[test]
fn github_is_a_witness() {
    let of = |files: &[(String, String)]| {
        let assets = files.iter().map(|(name, hex)| json!({ "name": name, "digest": format!("sha256:{hex}") }));
        let old = json!({ "name": "manifest.json", "digest": null });
        json!({ "tag_name": "v1.4.0", "assets": assets.chain([old]).collect::<Vec<_>>() }).to_string()
    };
    let mine = archives(&widget(), "acme/widget", "1.4.0");
    let mut other = mine.clone();
    other[0].1 = "ab".repeat(32);
    for (answer, code) in [(of(&mine), 0), (of(&other), 3), (of(&[]), 0), ("{}".to_owned(), 0), (String::new(), 0)] {
        let path = "/repos/acme/terraform-provider-widget/releases/tags/v1.4.0";
        let registry = widget().document(path, "application/json", answer.clone());
        let settings = naming(&registry, &["github"]);
        let workspace = workspace(&registry, &settings)
            .env("HTTPS_PROXY", &proxy_to(&registry))
            .env("NO_PROXY", "localhost,127.0.0.1")
            .env("GITHUB_TOKEN", "t0ken");
        let locked = run(&workspace, &registry, &LOCK).ended_with(code);
        if code == 3 {
            refused(&locked, "witness-differs");
        }
        let agrees = answer == of(&mine);
        let wanted = if agrees { json!([{ "place": "github", "archives": 2 }]) } else { Value::Null };
        assert_eq!(named(&locked), wanted, "{locked}");
        assert!(!format!("{locked}").contains("t0ken"), "{locked}");
        let asked = registry.requests().iter().filter(|request| request.path == path).count();
        assert_eq!(asked, 1, "{answer}");
    }
}

#[test]
fn settings_that_cannot_be_meant_are_errors_with_their_place() {
    let registry = widget();
    let host = registry.host();
    for (settings, says, line) in [
        ("witnesses = [\"github.com/acme\"]\n".to_owned(), "is no witness", 1),
        (format!("host \"{host}\" {{\n  witnesses = [\"{host}\"]\n}}\n"), "cannot be a witness of itself", 1),
        ("policy {\n  witnessed = [\"hashicorp/*\"]\n}\n".to_owned(), "registry.terraform.io/hashicorp/*", 2),
        (demanding(&registry), "which no witness can know", 2),
    ] {
        let workspace = workspace(&registry, &settings);
        let failed = workspace.tflock(&registry, LOCK).ended_with(2);
        assert!(failed.stderr.contains(says) && failed.stderr.contains(&format!("{SETTINGS}:{line}:")), "{failed}");
    }
}

#[test]
fn explain_asks_with_online_alone_and_an_agreement_is_kept() {
    let (registry, other) = (widget(), widget());
    let workspace = workspace(&registry, "");
    run(&workspace, &registry, &LOCK).ended_with(0);
    workspace.write(SETTINGS, &naming(&registry, &[&other.host()]));
    let addr = format!("{}/acme/widget", registry.host());
    let said = |args: &[&str]| {
        let explained = run(&workspace, &registry, &[&["explain", addr.as_str()], args].concat()).ended_with(0);
        explained.json()["provider_entries"][0]["witnesses"].clone()
    };
    assert_eq!(said(&[]), Value::Null);
    assert!(other.requests().is_empty());
    assert_eq!(said(&["--online"]), json!([{ "place": other.host(), "opinion": "agrees", "archives": 2 }]));
    other.forget_requests();
    assert_eq!(said(&["--online"]), json!([{ "place": other.host(), "opinion": "agrees", "archives": 2 }]));
    assert!(other.requests().is_empty(), "{:?}", other.requests());
    let shown = workspace.tflock(&registry, ["explain", &addr, "--online"]).ended_with(0);
    assert!(shown.stdout.contains(&format!("{} has the same 2 archives", other.host())), "{shown}");
    // What was kept is about these archives only: the registry that serves others is compared anew.
    registry.republish("acme/widget", "1.4.0");
    assert_eq!(said(&["--online"])[0]["opinion"], "differs");
    workspace.write(SETTINGS, "");
    assert_eq!(said(&["--online"]), json!([]));
    workspace.tflock(&registry, ["explain", &addr, "--online", "--offline"]).ended_with(2);
}

/// Whoever controls a registry names the key, the list and the archive.
#[test]
fn a_hostile_registry_is_believed_by_nobody_else() {
    let honest = widget();
    let hostile = || {
        let registry = widget();
        registry.republish("acme/widget", "1.4.0");
        registry
    };
    let registry = hostile();
    run(&workspace(&registry, ""), &registry, &LOCK).ended_with(0);
    refused(&run(&workspace(&registry, &naming(&registry, &[&honest.host()])), &registry, &LOCK), "witness-differs");
    let assets = archives(&honest, "acme/widget", "1.4.0");
    let assets = assets.iter().map(|(name, hex)| json!({ "name": name, "digest": format!("sha256:{hex}") }));
    let release = json!({ "tag_name": "v1.4.0", "assets": assets.collect::<Vec<_>>() }).to_string();
    let path = "/repos/acme/terraform-provider-widget/releases/tags/v1.4.0";
    let registry = widget().document(path, "application/json", release);
    registry.republish("acme/widget", "1.4.0");
    let workspace = workspace(&registry, &naming(&registry, &["github"]))
        .env("HTTPS_PROXY", &proxy_to(&registry))
        .env("NO_PROXY", "localhost,127.0.0.1");
    refused(&run(&workspace, &registry, &LOCK), "witness-differs");
}

#[test]
fn a_token_goes_to_its_own_host_alone() {
    let (registry, other) = (widget(), widget());
    let of_other = format!("credentials \"{}\" {{\n  token = \"of-the-witness\"\n}}\n", other.host());
    let workspace = workspace(&registry, &naming(&registry, &[&other.host()])).cli_config(&of_other);
    run(&workspace, &registry, &LOCK).ended_with(0);
    let sent = |registry: &Registry| {
        let requests = registry.requests();
        requests.iter().any(|it| it.authorization.as_deref().is_some_and(|text| text.contains("of-the-witness")))
    };
    assert!(sent(&other) && !sent(&registry), "{:?}", other.requests());
}

/// Each public registry is a witness of the other, but for what OpenTofu builds itself.
#[test]
fn the_public_registries_are_witnesses_of_each_other() {
    let of = |host: &str| {
        let registry = Registry::start().standing_for(host);
        ["acme/widget", "hashicorp/null"].into_iter().fold(registry, |it, name| it.release(name, "1.4.0", PLATFORMS))
    };
    let registry = of("registry.terraform.io").standing_for("registry.opentofu.org");
    for (source, asks) in [
        ("registry.terraform.io/acme/widget", Some("registry.opentofu.org")),
        ("registry.opentofu.org/acme/widget", Some("registry.terraform.io")),
        ("registry.terraform.io/hashicorp/null", None),
        ("registry.opentofu.org/hashicorp/null", None),
    ] {
        let main = MAIN.replace("{{registry}}/acme/widget", source);
        let settings = "witnesses = [\"registry.opentofu.org\", \"registry.terraform.io\"]\n";
        let workspace = Workspace::with_files(&[("main.tf", &main), (SETTINGS, settings)]);
        let locked = run(&workspace, &registry, &LOCK).ended_with(0);
        let wanted = asks.map_or(Value::Null, |host| json!([{ "place": host, "archives": 2 }]));
        assert_eq!(named(&locked), wanted, "{source}");
        // What can have no witness cannot demand one.
        let demand = format!("policy {{\n  witnessed = [\"{source}\"]\n}}\n");
        workspace.write(SETTINGS, &(settings.to_owned() + &demand));
        run(&workspace, &registry, &["verify", "--offline"]).ended_with(if source.contains("terraform.io/hashicorp") {
            2
        } else {
            0
        });
    }
}

#[test]
fn setup_names_the_places_that_can_know_what_is_locked() {
    let lock = |addr: &str| format!("{EMPTY_LOCK}\nprovider \"{addr}\" {{\n  version = \"1.4.0\"\n}}\n");
    for (addr, line) in [
        ("registry.terraform.io/acme/widget", "witnesses = [\"registry.opentofu.org\", \"github\"]"),
        ("registry.opentofu.org/acme/widget", "witnesses = [\"registry.terraform.io\", \"github\"]"),
        ("registry.opentofu.org/hashicorp/null", "witnesses = [\"github\"]"),
        ("registry.terraform.io/hashicorp/null", ""),
        ("registry.example.com/acme/widget", ""),
    ] {
        let workspace = Workspace::with_files(&[("main.tf", ""), (FILE, &lock(addr))]);
        workspace.git(["init", "--quiet"]);
        workspace.tflock(None, ["setup", "--offline"]).ended_with(0);
        let settings = workspace.read(SETTINGS);
        assert_eq!(settings.contains("witnesses"), !line.is_empty(), "{settings}");
        assert!(settings.contains(line), "{settings}");
    }
}

/// Root modules share one question about a release, whichever of them is read first.
#[test]
fn one_root_module_that_names_a_witness_suffices() {
    let (registry, other) = (widget(), widget());
    other.republish("acme/widget", "1.4.0");
    let main = MAIN.replace("{{registry}}", &registry.host());
    for with_witness in ["a", "b"] {
        let workspace = Workspace::with_files(&[("a/main.tf", &main), ("b/main.tf", &main)]);
        workspace.git(["init", "--quiet"]);
        for root in ["a", "b"] {
            workspace.tflock_in(root, &registry, LOCK).ended_with(0);
        }
        std::fs::remove_file(workspace.path(TRUST)).unwrap();
        workspace.write(&format!("{with_witness}/{SETTINGS}"), &naming(&registry, &[&other.host()]));
        refused(&run(&workspace, &registry, &["trust", "init", "-r"]), "witness-differs");
        assert!(!workspace.has(TRUST), "{with_witness}");
    }
}

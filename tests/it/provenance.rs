//! Where releases are built: the service of attestations is asked, and what it does not answer, or answers wrongly, is no pass.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::json;

use crate::support::registry::Registry;
use crate::support::sigstore::{Claims, attest, root};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, LOCK_BOTH, PLATFORMS, widget};

/// A proxy that leads to the registry's server, whatever host is asked for; returns its address.
fn proxy_to(registry: &Registry) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = registry.host();
    let serve = move |mut client: TcpStream, server: &str| -> std::io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let server = TcpStream::connect(server)?;
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let (mut from, mut to) = (server, client);
        std::io::copy(&mut from, &mut to).map(drop)
    };
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = server.clone();
            std::thread::spawn(move || serve(client, &server));
        }
    });
    address
}

/// What the service has for the archive of widget 1.4.0 for a platform.
fn attestations(registry: Registry, platform: &str, answer: &str) -> Registry {
    let zh = registry.package("acme/widget", "1.4.0", platform).zh();
    let digest = zh.trim_start_matches("zh:");
    let path = format!(
        "/repos/acme/terraform-provider-widget/attestations/sha256:{digest}?predicate_type=https%3A%2F%2Fslsa.dev%2Fprovenance%2Fv1"
    );
    registry.document(&path, "application/json", answer)
}

/// The real provenance of other files.
const OF_OTHERS: &str = include_str!("../../testdata/provenance/tarball-user-slsa-provenance.json");

const AT_STORAGE: &str =
    r#"{"attestations": [{"bundle": null, "bundle_url": "https://bundles.example.com/b?sig=secret"}]}"#;

/// `verify` where the service answers so, with a token, in a world where the place is pinned.
fn verified(change: impl FnOnce(Registry) -> Registry) -> (Registry, crate::support::run::Run) {
    let registry = change(widget());
    let workspace = pinned(&registry).env("HTTPS_PROXY", &proxy_to(&registry)).env("GITHUB_TOKEN", "t0ken");
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["verify"]);
    (registry, run)
}

/// The requests that were meant for GitHub or its storage: host, path without its query, and whether a token came along.
fn asked(registry: &Registry) -> Vec<(String, bool)> {
    let of_service = registry.requests().into_iter().filter(|request| !request.host.starts_with("localhost"));
    let shown = |path: &str| path.split(['?', ':']).next().unwrap_or_default().to_owned();
    of_service.map(|it| (format!("{}{}", it.host, shown(&it.path)), it.authorization.is_some())).collect()
}

const LIST: &str = "api.github.com/repos/acme/terraform-provider-widget/attestations/sha256";
const REPOSITORY: &str = "api.github.com/repos/acme/terraform-provider-widget";

#[test]
fn an_attestation_of_other_files_is_refused() {
    let packed = snap::raw::Encoder::new().compress_vec(OF_OTHERS.as_bytes()).unwrap();
    let (registry, run) = verified(|registry| {
        let registry = attestations(registry, "darwin_arm64", AT_STORAGE);
        registry.document("/b?sig=secret", "application/x-snappy", packed)
    });
    assert_eq!(run.code, Some(3), "{run}");
    let text = format!("{}{}", run.stdout, run.stderr);
    assert!(text.contains("provenance-invalid") && text.contains("the listed files"), "{run}");
    assert!(!text.contains("t0ken") && !text.contains("secret"), "{run}");
    // The token goes to the service alone.
    assert_eq!(asked(&registry), [(LIST.to_owned(), true), ("bundles.example.com/b".to_owned(), false)], "{run}");
}

#[test]
fn no_attestation_is_missing_only_if_the_repository_can_be_read() {
    let (registry, run) =
        verified(|registry| registry.document("/repos/acme/terraform-provider-widget", "application/json", "{}"));
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stdout.contains("provenance-missing") && run.stdout.contains("darwin_arm64.zip"), "{run}");
    let list = LIST.to_owned();
    assert_eq!(asked(&registry), [(list.clone(), true), (list, false), (REPOSITORY.to_owned(), true)], "{run}");
    let (_, empty) = verified(|registry| attestations(registry, "darwin_arm64", r#"{"attestations": []}"#));
    assert!(empty.code == Some(3) && empty.stdout.contains("provenance-missing"), "{empty}");
    let (_, unreadable) = verified(|registry| registry);
    assert_eq!(unreadable.code, Some(4), "{unreadable}");
    assert!(unreadable.stderr.contains("there is no repository github.com/acme/"), "{unreadable}");
}

#[test]
fn what_cannot_be_used_is_no_answer() {
    let bomb = [&[0xff, 0xff, 0xff, 0xff, 0x0f][..], &[0; 64]].concat();
    for (answer, bundle, why) in [
        (AT_STORAGE, bomb, "more than 1 MiB"),
        (AT_STORAGE, vec![b' '; 2 << 20], "larger than"),
        (AT_STORAGE, b"\x05nonsense".to_vec(), "cannot be used"),
        (
            r#"{"attestations": [{"bundle_url": "http://bundles.example.com/b"}]}"#,
            Vec::new(),
            "not at an https address",
        ),
        (r#"{"attestations": [{"bundle_url": "https://127.0.0.1/b"}]}"#, Vec::new(), "not at an https address"),
        (r#"{"attestations": [{"bundle_url": "https://localhost/b"}]}"#, Vec::new(), "not at an https address"),
        (r#"{"attestations": [{}]}"#, Vec::new(), "neither bundle nor bundle_url"),
        ("<html>", Vec::new(), "cannot be used"),
    ] {
        let (_, run) = verified(|registry| {
            let registry = attestations(registry, "darwin_arm64", answer);
            registry.document("/b?sig=secret", "application/x-snappy", bundle)
        });
        assert_eq!(run.code, Some(4), "{why}: {run}");
        assert!(run.stderr.contains(why) && !run.stderr.contains("secret"), "{why}: {run}");
    }
}

/// A locked root module whose trust file pins where its provider is built, on a machine that reaches no GitHub.
fn pinned(registry: &Registry) -> Workspace {
    let workspace = Workspace::from("modules/one-root").env("HTTPS_PROXY", "http://127.0.0.1:1");
    let workspace = workspace.env("NO_PROXY", "localhost,127.0.0.1");
    workspace.tflock(registry, LOCK).ended_with(0);
    let place = "\n  built_by {\n    repository = \"github.com/acme/terraform-provider-widget\"\n    repository_id = \"123\"\n    \
                 owner_id = \"7\"\n    workflow = \".github/workflows/release.yml\"\n    ref = \"refs/tags/*\"\n    \
                 triggers = [\"push\"]\n    since = \"1.0.0\"\n  }\n}\n";
    let trust = workspace.read(".tflock.trust.hcl");
    workspace.write(".tflock.trust.hcl", &format!("{}{place}", trust.trim_end().trim_end_matches('}')));
    workspace
}

#[test]
fn what_github_does_not_answer_is_no_pass() {
    let registry = widget();
    let workspace = pinned(&registry);
    let verified = workspace.tflock(&registry, ["verify"]).ended_with(4);
    assert!(verified.stderr.contains("where ") && verified.stderr.contains("was built is unknown"), "{verified}");
    assert!(verified.stdout.contains("provenance-unknown"), "{verified}");
    let before = workspace.lock_file();
    let locked = workspace.tflock(&registry, LOCK_BOTH).ended_with(4);
    assert!(locked.stderr.contains("was built is unknown"), "{locked}");
    assert_eq!(workspace.lock_file(), before);
    // Nothing to write needs no question, and offline nothing is asked.
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
}

#[test]
fn a_release_of_a_demanded_provider_needs_a_pinned_place() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".tflock.hcl", "provenance {\n  required = [\"*/*/*\"]\n}\n");
    let refused = workspace.tflock(&registry, LOCK).ended_with(3);
    assert!(
        refused.stdout.contains("provenance-missing") && refused.stdout.contains("--provenance=1.4.0"),
        "{refused}"
    );
    assert!(!workspace.has(".terraform.lock.hcl"), "{refused}");
    workspace.write(".tflock.hcl", "");
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.write(".tflock.hcl", "provenance {\n  required = [\"*/*/*\"]\n}\n");
    assert!(workspace.tflock(&registry, ["verify"]).ended_with(3).stdout.contains("provenance-missing"));
}

#[test]
fn the_trust_command_shows_the_place_and_changes_it_only_with_a_reason() {
    let registry = widget();
    let workspace = pinned(&registry);
    let listed = workspace.tflock(&registry, ["trust", "list"]).ended_with(0);
    assert!(listed.stdout.contains("built by .github/workflows/release.yml of github.com/acme/"), "{listed}");
    let json = workspace.tflock(&registry, ["trust", "list", "--format=json"]).ended_with(0).json();
    assert_eq!(json["providers"][0]["built_by"]["repository_id"], "123");
    let address = json["providers"][0]["address"].as_str().unwrap().to_owned();
    let twice = workspace.tflock(&registry, ["trust", "add", &address, "--provenance"]).ended_with(2);
    assert!(twice.stderr.contains("is pinned to where it is built already"), "{twice}");
    let reasonless = workspace.tflock(&registry, ["trust", "rotate", &address, "--provenance"]).ended_with(2);
    assert!(reasonless.stderr.contains("a reason is needed"), "{reasonless}");
    // The test registry's packages are on no GitHub, so nothing says where to look.
    let unattested = workspace.tflock(&registry, ["trust", "rotate", &address, "--provenance", "--reason", "moved"]);
    assert!(unattested.code != Some(0) && unattested.stderr.contains("nothing attests where"), "{unattested}");
    let fresh = Workspace::from("modules/one-root");
    fresh.tflock(&registry, LOCK).ended_with(0);
    let init = fresh.tflock(&registry, ["trust", "init", "--provenance"]).ended_with(0);
    assert!(init.stderr.contains("nothing attests where these are built"), "{init}");
}

#[test]
fn the_base_decides_where_releases_are_built() {
    let registry = widget();
    let workspace = pinned(&registry);
    workspace.git(["init", "-q", "-b", "main"]);
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "-qm", "base"]);
    let pinned = workspace.read(".tflock.trust.hcl");
    let gate = || workspace.tflock(&registry, ["verify", "--base", "HEAD"]);
    workspace.write(".tflock.trust.hcl", &pinned.replace("\"123\"", "\"124\""));
    let moved = gate().ended_with(3);
    assert!(moved.stdout.contains("pin-changed") && moved.stdout.contains("(number 124"), "{moved}");
    let (start, _) = pinned.split_once("\n  built_by").unwrap();
    workspace.write(".tflock.trust.hcl", &format!("{start}}}\n"));
    let lost = gate().ended_with(3);
    assert!(lost.stdout.contains("pin-removed") && lost.stdout.contains("may be built anywhere now"), "{lost}");
}

/// All archives of a release of acme/widget, by their names.
fn files(registry: &Registry, version: &str) -> Vec<(String, String)> {
    let file = |platform: &&str| {
        let zh = registry.package("acme/widget", version, platform).zh();
        (format!("terraform-provider-widget_{version}_{platform}.zip"), zh.trim_start_matches("zh:").to_owned())
    };
    PLATFORMS.iter().map(file).collect()
}

/// The service has one attestation of all archives of a release, under each of them.
fn attested(mut registry: Registry, version: &str, claims: &Claims) -> Registry {
    let files = files(&registry, version);
    let answer = json!({ "attestations": [{ "bundle": attest(claims, &files) }] }).to_string();
    for (_, digest) in &files {
        let path = format!(
            "/repos/acme/terraform-provider-widget/attestations/sha256:{digest}?predicate_type=https%3A%2F%2Fslsa.dev%2Fprovenance%2Fv1"
        );
        registry = registry.document(&path, "application/json", answer.clone());
    }
    registry
}

/// A locked world of widget 1.4.0 whose place is pinned, and that trusts the test instance.
fn trusting(registry: &Registry) -> Workspace {
    let workspace = pinned(registry).env("HTTPS_PROXY", &proxy_to(registry));
    workspace.write("root.json", &root());
    let place = workspace.path("root.json").display().to_string();
    workspace.env("TFLOCK_TEST_SIGSTORE_ROOT", &place)
}

#[test]
fn a_release_that_was_built_where_it_is_pinned_passes() {
    let registry = attested(widget(), "1.4.0", &Claims::of_tag("v1.4.0"));
    let workspace = trusting(&registry);
    registry.forget_requests();
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert_eq!(asked(&registry), [(LIST.to_owned(), false)]);
    // What the cache has is verified again, and not asked for.
    registry.forget_requests();
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!(asked(&registry), []);
    let address = format!("{}/acme/widget", registry.host());
    let explained = workspace.tflock(&registry, ["explain", &address]).ended_with(0).stdout;
    assert!(explained.contains("refs/tags/v1.4.0, push"), "{explained}");
    let commit = Claims::of_tag("v1.4.0").commit();
    assert!(explained.contains(&format!("terraform-provider-widget/commit/{commit}")), "{explained}");
}

#[test]
fn a_release_that_was_built_elsewhere_is_refused() {
    let pinned = Claims::of_tag("v1.4.0");
    for (claims, rule, why) in [
        (Claims { repository_id: "124".to_owned(), ..pinned.clone() }, "provenance-changed", "(number 124)"),
        (Claims { owner_id: "8".to_owned(), ..pinned.clone() }, "provenance-changed", "the number of its owner is 8"),
        (
            Claims { workflow: ".github/workflows/x.yml".to_owned(), ..pinned.clone() },
            "provenance-changed",
            "the workflow is .github/workflows/x.yml",
        ),
        (
            Claims { git_ref: "refs/heads/main".to_owned(), ..pinned.clone() },
            "provenance-changed",
            "the ref is refs/heads/main",
        ),
        (
            Claims { trigger: "pull_request".to_owned(), ..pinned.clone() },
            "provenance-changed",
            "the trigger is pull_request",
        ),
        (Claims { issuer: "https://x.example".to_owned(), ..pinned.clone() }, "provenance-changed", "as the issuer"),
        (Claims::of_tag("v1.3.0"), "provenance-version", "the tag v1.3.0"),
    ] {
        let registry = attested(widget(), "1.4.0", &claims);
        let workspace = trusting(&registry);
        let run = workspace.tflock(&registry, ["verify", "--format=json"]).ended_with(3);
        assert!(run.stdout.contains(rule) && run.stdout.contains(why), "{why}: {run}");
        let before = workspace.lock_file();
        let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(3);
        assert!(run.stdout.contains(rule) && workspace.lock_file() == before, "{why}: {run}");
    }
}

#[test]
fn a_renamed_repository_is_a_note() {
    let claims = Claims { repository: "acme/renamed".to_owned(), ..Claims::of_tag("v1.4.0") };
    let registry = attested(widget(), "1.4.0", &claims);
    let run = trusting(&registry).tflock(&registry, ["verify"]).ended_with(0);
    assert!(run.stdout.contains("is now github.com/acme/renamed"), "{run}");
}

#[test]
fn another_root_verifies_nothing() {
    let registry = attested(widget(), "1.4.0", &Claims::of_tag("v1.4.0"));
    let workspace = pinned(&registry).env("HTTPS_PROXY", &proxy_to(&registry));
    let run = workspace.tflock(&registry, ["verify"]).ended_with(3);
    assert!(run.stdout.contains("provenance-invalid"), "{run}");
}

/// A locked world whose packages come from GitHub; no place is pinned.
fn on_github(registry: &Registry) -> Workspace {
    let workspace = Workspace::from("modules/one-root").env("HTTPS_PROXY", &proxy_to(registry));
    workspace.write("root.json", &root());
    let place = workspace.path("root.json").display().to_string();
    let workspace = workspace.env("NO_PROXY", "localhost").env("TFLOCK_TEST_SIGSTORE_ROOT", &place);
    workspace.tflock(registry, LOCK).ended_with(0);
    workspace
}

fn two_releases() -> Registry {
    widget().release("acme/widget", "1.5.0", PLATFORMS).with_files_on_github()
}

#[test]
fn places_are_learned_from_locked_releases() {
    let registry = two_releases();
    registry.withdraw("acme/widget", "1.5.0");
    let registry = attested(registry, "1.4.0", &Claims::of_tag("v1.4.0"));
    let workspace = on_github(&registry);
    workspace.tflock(&registry, ["trust", "init", "--provenance"]).ended_with(0);
    let trust = workspace.read(".tflock.trust.hcl");
    for line in ["repository_id = \"123\"", "ref           = \"refs/tags/*\"", "since         = \"1.4.0\""] {
        assert!(trust.contains(line), "{line}: {trust}");
    }
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    let again = workspace.tflock(&registry, ["trust", "init", "--provenance"]).ended_with(0);
    assert_eq!(workspace.read(".tflock.trust.hcl"), trust, "{again}");
    // Moved, with a reason; the note names where it was before.
    let moved = Claims { workflow: ".github/workflows/new.yml".to_owned(), ..Claims::of_tag("v1.4.0") };
    let registry = attested(registry, "1.4.0", &moved);
    let address = format!("{}/acme/widget", registry.host());
    let args = ["trust", "rotate", &address, "--provenance", "--reason", "announced", "--no-cache"];
    let rotated = workspace.tflock(&registry, args).ended_with(0);
    assert!(rotated.stderr.contains("before, ") && rotated.stderr.contains("release.yml"), "{rotated}");
    let trust = workspace.read(".tflock.trust.hcl");
    assert!(trust.contains("workflows/new.yml") && trust.contains("reason        = \"announced\""), "{trust}");
}

#[test]
fn an_upgrade_must_come_from_the_pinned_place() {
    let registry = attested(two_releases(), "1.4.0", &Claims::of_tag("v1.4.0"));
    registry.withdraw("acme/widget", "1.5.0");
    let workspace = on_github(&registry);
    workspace.tflock(&registry, ["trust", "init", "--provenance"]).ended_with(0);
    workspace.git(["init", "-q", "-b", "main"]);
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "-qm", "base"]);
    let registry = registry.release("acme/widget", "1.5.0", PLATFORMS).with_files_on_github();
    let upgrade = ["upgrade", "--platform", "linux_amd64"];
    let before = workspace.lock_file();
    // Nothing attests it.
    let registry = registry.document("/repos/acme/terraform-provider-widget", "application/json", "{}");
    let run = workspace.tflock(&registry, upgrade).ended_with(3);
    assert!(run.stdout.contains("provenance-missing") && workspace.lock_file() == before, "{run}");
    // One archive only is attested.
    let part = files(&registry, "1.5.0")[..1].to_vec();
    let bundle = json!({ "attestations": [{ "bundle": attest(&Claims::of_tag("v1.5.0"), &part) }] }).to_string();
    let registry = attested(registry, "1.5.0", &Claims::of_tag("v1.4.0"));
    let run = workspace.tflock(&registry, upgrade).ended_with(3);
    assert!(run.stdout.contains("provenance-version"), "{run}");
    let mut registry = registry;
    for (_, digest) in files(&registry, "1.5.0") {
        let path = format!(
            "/repos/acme/terraform-provider-widget/attestations/sha256:{digest}?predicate_type=https%3A%2F%2Fslsa.dev%2Fprovenance%2Fv1"
        );
        let answer = if digest == part[0].1 { bundle.clone() } else { r#"{"attestations": []}"#.to_owned() };
        registry = registry.document(&path, "application/json", answer);
    }
    let run = workspace.tflock(&registry, upgrade).ended_with(3);
    assert!(run.stdout.contains("nothing attests where 1 archive"), "{run}");
    // All of it, from the pinned place.
    let registry = attested(registry, "1.5.0", &Claims::of_tag("v1.5.0"));
    workspace.tflock(&registry, upgrade).ended_with(0);
    assert!(workspace.lock_file().contains("1.5.0"));
    let [old, new] = ["v1.4.0", "v1.5.0"].map(|tag| Claims::of_tag(tag).commit());
    let compared = format!("https://github.com/acme/terraform-provider-widget/compare/{old}...{new}");
    for format in ["human", "markdown", "html", "json"] {
        let diff = workspace.tflock(&registry, ["diff", "HEAD", "-v", "--format", format]).ended_with(0).stdout;
        assert!(diff.contains("v1.5.0") && diff.contains(&new[..12]) && diff.contains(&compared), "{format}: {diff}");
        assert!(diff.contains("/actions/runs/1/attempts/1"), "{format}: {diff}");
    }
    workspace.tflock(&registry, ["verify", "--base", "HEAD"]).ended_with(0);
    workspace.tflock(None, ["verify", "--base", "HEAD", "--offline"]).ended_with(0);
}

#[test]
fn releases_of_different_places_pin_nothing() {
    let registry = attested(two_releases(), "1.4.0", &Claims::of_tag("v1.4.0"));
    let moved = Claims { repository_id: "9".to_owned(), ..Claims::of_tag("v1.5.0") };
    let registry = attested(registry, "1.5.0", &moved);
    let workspace = on_github(&registry);
    let main = workspace.read("main.tf");
    workspace.git(["init", "-q"]);
    std::fs::remove_file(workspace.path(".tflock.trust.hcl")).unwrap();
    workspace.write("old/main.tf", &main.replace("~> 1.4", "1.4.0"));
    workspace.tflock_in("old", &registry, LOCK).ended_with(0);
    let init = workspace.tflock(&registry, ["trust", "init", "-r", "--provenance"]).ended_with(0);
    let versions = [workspace.lock_file(), workspace.read("old/.terraform.lock.hcl")];
    assert!(versions[0] != versions[1], "{versions:?}");
    assert!(init.stderr.contains("built in different places"), "{init}");
    assert!(!workspace.read(".tflock.trust.hcl").contains("built_by"), "{init}");
}

#[test]
fn a_release_is_asked_about_once_for_all_root_modules() {
    let registry = widget();
    let files = files(&registry, "1.4.0");
    let bundle = attest(&Claims::of_tag("v1.4.0"), &files).to_string();
    let packed = snap::raw::Encoder::new().compress_vec(bundle.as_bytes()).unwrap();
    let registry = attestations(registry, "darwin_arm64", AT_STORAGE);
    let registry = registry.document("/b?sig=secret", "application/x-snappy", packed);
    let workspace = trusting(&registry);
    workspace.git(["init", "-q"]);
    let (main, lock) = (workspace.read("main.tf"), workspace.lock_file());
    for n in 0..40 {
        workspace.write(&format!("r{n}/main.tf"), &main);
        workspace.write(&format!("r{n}/.terraform.lock.hcl"), &lock);
    }
    registry.forget_requests();
    workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert_eq!(asked(&registry), [(LIST.to_owned(), false), ("bundles.example.com/b".to_owned(), false)]);
    registry.forget_requests();
    workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert_eq!(asked(&registry), []);
}

/// The settings give another level to what `verify` finds; what is written stays strict.
#[test]
fn a_level_of_the_settings_counts_for_verify_alone() {
    let moved = Claims { workflow: ".github/workflows/x.yml".to_owned(), ..Claims::of_tag("v1.4.0") };
    let registry = attested(widget(), "1.4.0", &moved);
    let workspace = trusting(&registry);
    workspace.write(".tflock.hcl", "level \"provenance-changed\" {\n  is = \"warn\"\n}\n");
    let run = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(run.stdout.contains("warning[provenance-changed]"), "{run}");
    workspace.tflock(&registry, LOCK_BOTH).ended_with(3);
}

/// Whatever the newest release is attested as: `upgrade` writes it exactly if `verify` passes a lock file that has it.
#[test]
fn upgrade_and_verify_agree() {
    let good = Claims::of_tag("v1.5.0");
    let fork = Claims {
        repository: "evil/terraform-provider-widget".to_owned(),
        repository_id: "9".to_owned(),
        ..good.clone()
    };
    let histories: [(&str, Vec<Claims>, bool); 6] = [
        ("not attested", Vec::new(), false),
        ("attested", vec![good.clone()], true),
        ("renamed", vec![Claims { repository: "acme/renamed".to_owned(), ..good.clone() }], true),
        ("attested from a fork too", vec![fork.clone(), good.clone()], true),
        ("attested from a fork alone", vec![fork], false),
        ("created again", vec![Claims { repository_id: "77".to_owned(), ..good }], false),
    ];
    for (name, claims, passes) in histories {
        let registry = attested(two_releases(), "1.4.0", &Claims::of_tag("v1.4.0"));
        let files = files(&registry, "1.5.0");
        let bundles: Vec<_> = claims.iter().map(|claims| json!({ "bundle": attest(claims, &files) })).collect();
        let answer = json!({ "attestations": bundles }).to_string();
        let mut registry = registry;
        for (_, digest) in &files {
            let path = format!(
                "/repos/acme/terraform-provider-widget/attestations/sha256:{digest}?predicate_type=https%3A%2F%2Fslsa.dev%2Fprovenance%2Fv1"
            );
            registry = registry.document(&path, "application/json", answer.clone());
        }
        registry.withdraw("acme/widget", "1.5.0");
        let workspace = on_github(&registry);
        workspace.tflock(&registry, ["trust", "init", "--provenance"]).ended_with(0);
        let registry = registry.release("acme/widget", "1.5.0", PLATFORMS);
        // What a run without the trust file writes.
        let trust = workspace.read(".tflock.trust.hcl");
        std::fs::remove_file(workspace.path(".tflock.trust.hcl")).unwrap();
        let before = workspace.lock_file();
        workspace.tflock(&registry, ["upgrade", "--platform", "linux_amd64"]).ended_with(0);
        workspace.write(".tflock.trust.hcl", &trust);
        let upgraded = workspace.lock_file();
        let code = if passes { 0 } else { 3 };
        let verified = workspace.tflock(&registry, ["verify"]);
        assert_eq!(verified.code, Some(code), "{name}: {verified}");
        workspace.write(".terraform.lock.hcl", &before);
        let run = workspace.tflock(&registry, ["upgrade", "--platform", "linux_amd64"]);
        assert_eq!(run.code, Some(code), "{name}: {run}");
        assert_eq!(workspace.lock_file(), if passes { upgraded } else { before }, "{name}");
    }
}

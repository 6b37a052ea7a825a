//! Where releases are built: the service of attestations is asked, and what it does not answer, or answers wrongly, is no pass.

use crate::support::dice::Dice;
use crate::support::extent::seeds;
use crate::support::github::{
    answering, archives, asked, attested, built, place, proxy_to, question, reaching, repository, with_place,
};
use crate::support::keys::{Day, SIGNED_AT};
use crate::support::proposal::without_last_line_with;
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::sigstore::{Claims, attest};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, LOCK_BOTH, PLATFORMS, widget};

const WIDGET: &str = "acme/widget";

/// What the service answers about the archive of widget 1.4.0 that is asked about first.
fn attestations(registry: Registry, answer: &str) -> Registry {
    let (_, digest) = &archives(&registry, WIDGET, "1.4.0")[1];
    registry.document(&question(WIDGET, digest), "application/json", answer)
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

const LIST: &str = "api.github.com/repos/acme/terraform-provider-widget/attestations/sha256";
const REPOSITORY: &str = "api.github.com/repos/acme/terraform-provider-widget";

#[test]
fn an_attestation_of_other_files_is_refused() {
    let packed = snap::raw::Encoder::new().compress_vec(OF_OTHERS.as_bytes()).unwrap();
    let (registry, run) = verified(|registry| {
        let registry = attestations(registry, AT_STORAGE);
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
#[ignore = "long"]
fn no_attestation_is_missing_only_if_the_repository_can_be_read() {
    let (registry, run) =
        verified(|registry| registry.document("/repos/acme/terraform-provider-widget", "application/json", "{}"));
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stdout.contains("provenance-missing") && run.stdout.contains("darwin_arm64.zip"), "{run}");
    let list = LIST.to_owned();
    assert_eq!(asked(&registry), [(list.clone(), true), (list, false), (REPOSITORY.to_owned(), true)], "{run}");
    let (_, empty) = verified(|registry| attestations(registry, r#"{"attestations": []}"#));
    assert!(empty.code == Some(3) && empty.stdout.contains("provenance-missing"), "{empty}");
    let (_, unreadable) = verified(|registry| registry);
    assert_eq!(unreadable.code, Some(4), "{unreadable}");
    assert!(unreadable.stderr.contains("there is no repository github.com/acme/"), "{unreadable}");
}

#[test]
#[ignore = "long"]
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
        (r#"{"attestations": [{"bundle_url": "https://localhost./b"}]}"#, Vec::new(), "not at an https address"),
        (r#"{"attestations": [{"bundle_url": "https://x.localhost./b"}]}"#, Vec::new(), "not at an https address"),
        (r#"{"attestations": [{}]}"#, Vec::new(), "neither bundle nor bundle_url"),
        ("{}", Vec::new(), "cannot be used"),
        ("[]", Vec::new(), "cannot be used"),
        ("[[]]", Vec::new(), "cannot be used"),
        (r#"{"attestations": null}"#, Vec::new(), "cannot be used"),
        ("<html>", Vec::new(), "cannot be used"),
    ] {
        let (_, run) = verified(|registry| {
            let registry = attestations(registry, answer);
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
    let trust = workspace.read(".tflock.trust.hcl");
    let address = format!("{}/{WIDGET}", registry.host());
    workspace.write(".tflock.trust.hcl", &with_place(&trust, &address, &place(WIDGET)));
    workspace
}

/// A line of releases that goes on below the first attested one is not a way around the pin.
#[test]
fn an_older_release_that_was_signed_after_the_pin_was_made_needs_provenance() {
    let registry = widget().document("/repos/acme/terraform-provider-widget", "application/json", "{}");
    for (since, pinned_on, code) in
        [("2.0.0", "2000-01-01", 3), ("2.0.0", "2999-01-01", 0), ("2.0.0", "", 0), ("1.4.0", "2999-01-01", 3)]
    {
        let pinned_on = if pinned_on.is_empty() { String::new() } else { format!("    pinned_on = \"{pinned_on}\"\n") };
        let since = format!("since         = \"{since}\"\n{pinned_on}");
        let place = place(WIDGET).replace("since         = \"1.0.0\"\n", &since);
        let workspace = Workspace::from("modules/one-root").env("HTTPS_PROXY", &proxy_to(&registry));
        workspace.tflock(&registry, LOCK).ended_with(0);
        let trust = workspace.read(".tflock.trust.hcl");
        let address = format!("{}/{WIDGET}", registry.host());
        workspace.write(".tflock.trust.hcl", &with_place(&trust, &address, &place));
        let run = workspace.tflock(&registry, ["verify"]).ended_with(code);
        assert_eq!(run.stdout.contains("provenance-missing"), code == 3, "{run}");
        std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
        workspace.tflock(&registry, LOCK).ended_with(code);
        assert_eq!(workspace.has(".terraform.lock.hcl"), code == 0);
    }
}

/// Where the block does not say since when it pins, the commit of the base that added it does.
#[test]
fn a_pin_without_a_date_is_as_old_as_its_commit() {
    // Commits of tests are of 1 June 2024.
    for (signed_on, code) in [(SIGNED_AT, 0), (Day(SIGNED_AT.0 + 1), 3)] {
        let registry = widget().signed_on(signed_on);
        let registry = registry.document("/repos/acme/terraform-provider-widget", "application/json", "{}");
        let workspace = Workspace::from("modules/one-root").env("HTTPS_PROXY", &proxy_to(&registry));
        workspace.tflock(&registry, LOCK).ended_with(0);
        let (lock, trust) = (workspace.lock_file(), workspace.read(".tflock.trust.hcl"));
        std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
        let commit = |message: &str| {
            workspace.git(["add", "--all"]);
            workspace.git(["commit", "--quiet", "--message", message]);
        };
        workspace.git(["init", "--quiet"]);
        commit("signers");
        let place = place(WIDGET).replace("since         = \"1.0.0\"", "since         = \"2.0.0\"");
        let address = format!("{}/{WIDGET}", registry.host());
        workspace.write(".tflock.trust.hcl", &with_place(&trust, &address, &place));
        commit("place");
        workspace.write(".tflock.trust.hcl", &format!("# kept\n{}", workspace.read(".tflock.trust.hcl")));
        commit("comment");
        workspace.write(".terraform.lock.hcl", &lock);
        commit("lock");
        let run = workspace.tflock(&registry, ["verify", "--base", "HEAD~1"]).ended_with(code);
        assert_eq!(run.stdout.contains("provenance-missing"), code == 3, "{run}");
        // A pin that the change brings is new.
        workspace.tflock(&registry, ["verify", "--base", "HEAD~3"]).ended_with(0);
    }
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
    // Of a changed entry it must be known, whatever the gate tolerates of others.
    workspace.write(".terraform.lock.hcl", &without_last_line_with(&before, "zh:"));
    workspace.git(["init", "-q", "-b", "main"]);
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "-qm", "base"]);
    let tolerant = ["verify", "--base", "HEAD", "--inconclusive", "warn"];
    workspace.tflock(&registry, tolerant).ended_with(0);
    workspace.write(".terraform.lock.hcl", &before);
    let gate = workspace.tflock(&registry, tolerant).ended_with(4);
    assert!(gate.stderr.contains("was built is unknown"), "{gate}");
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
    assert!(unattested.code == Some(2) && unattested.stderr.contains("nothing attests where"), "{unattested}");
    assert!(unattested.stderr.contains("`tflock trust rotate "), "{unattested}");
    // A provider that is required and not locked is typed right, and a lock file that cannot be read is named.
    let lock = workspace.lock_file();
    let place_of = |lock: &str| {
        workspace.write(".terraform.lock.hcl", lock);
        workspace.tflock(&registry, ["trust", "rotate", &address, "--provenance", "--reason", "x"]).ended_with(2).stderr
    };
    let unlocked = place_of("");
    assert!(unlocked.contains("no lock file here records a release of"), "{unlocked}");
    let command = format!("`tflock trust rotate {address} --provenance=VERSION --reason TEXT`");
    assert!(unlocked.contains(&command) && !unlocked.contains("did you mean"), "{unlocked}");
    let broken = place_of("provider {");
    assert!(broken.contains("unreadable: ") && broken.contains(".terraform.lock.hcl"), "{broken}");
    workspace.write(".terraform.lock.hcl", &lock);
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
    workspace.git(["commit", "-qam", "without"]);
    workspace.write(".tflock.trust.hcl", &pinned);
    let added = gate();
    assert!(added.stdout.contains("warning[pin-added]") && added.stdout.contains("built by"), "{added}");
}

/// A locked world of widget 1.4.0 whose place is pinned, and that trusts the test instance.
fn trusting(registry: &Registry) -> Workspace {
    reaching(pinned(registry), registry)
}

#[test]
fn a_release_that_was_built_where_it_is_pinned_passes() {
    let registry = built(widget(), WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
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
#[ignore = "long"]
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
        let registry = built(widget(), WIDGET, "1.4.0", &claims);
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
    let registry = built(widget(), WIDGET, "1.4.0", &claims);
    let workspace = trusting(&registry);
    let run = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(run.stdout.contains("is now github.com/acme/renamed"), "{run}");
    // What the note advises.
    let address = format!("{}/{WIDGET}", registry.host());
    assert!(run.stdout.contains(&format!("`tflock trust rotate {address} --provenance --reason TEXT`")), "{run}");
    workspace.tflock(&registry, ["trust", "rotate", &address, "--provenance", "--reason", "renamed"]).ended_with(0);
    assert!(workspace.read(".tflock.trust.hcl").contains("\"github.com/acme/renamed\""));
    let run = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(!run.stdout.contains("provenance"), "{run}");
}

#[test]
fn another_root_verifies_nothing() {
    let registry = built(widget(), WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
    let workspace = pinned(&registry).env("HTTPS_PROXY", &proxy_to(&registry));
    let run = workspace.tflock(&registry, ["verify"]).ended_with(3);
    assert!(run.stdout.contains("provenance-invalid"), "{run}");
}

/// A locked world whose packages come from GitHub; no place is pinned.
fn on_github(registry: &Registry) -> Workspace {
    let workspace = reaching(Workspace::from("modules/one-root"), registry);
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
    let registry = built(registry, WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
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
    let registry = built(registry, WIDGET, "1.4.0", &moved);
    let address = format!("{}/acme/widget", registry.host());
    let args = ["trust", "rotate", &address, "--provenance", "--reason", "announced", "--no-cache"];
    let rotated = workspace.tflock(&registry, args).ended_with(0);
    assert!(rotated.stderr.contains("before, ") && rotated.stderr.contains("release.yml"), "{rotated}");
    let trust = workspace.read(".tflock.trust.hcl");
    assert!(trust.contains("workflows/new.yml") && trust.contains("reason        = \"announced\""), "{trust}");
}

#[test]
#[ignore = "long"]
fn an_upgrade_must_come_from_the_pinned_place() {
    let registry = built(two_releases(), WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
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
    let part = archives(&registry, WIDGET, "1.5.0")[..1].to_vec();
    let registry = built(registry, WIDGET, "1.5.0", &Claims::of_tag("v1.4.0"));
    let run = workspace.tflock(&registry, upgrade).ended_with(3);
    assert!(run.stdout.contains("provenance-version"), "{run}");
    let registry = answering(registry, WIDGET, &part[0].1, &[attest(&Claims::of_tag("v1.5.0"), &part)]);
    let (_, other) = &archives(&registry, WIDGET, "1.5.0")[1];
    let registry = answering(registry, WIDGET, other, &[]);
    let run = workspace.tflock(&registry, upgrade).ended_with(3);
    assert!(run.stdout.contains("nothing attests where 1 archive"), "{run}");
    // All of it, from the pinned place.
    let registry = built(registry, WIDGET, "1.5.0", &Claims::of_tag("v1.5.0"));
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
    let registry = built(two_releases(), WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
    let moved = Claims { repository_id: "9".to_owned(), ..Claims::of_tag("v1.5.0") };
    let registry = built(registry, WIDGET, "1.5.0", &moved);
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

/// 300 root modules with six providers: each release costs two requests, and all releases are asked about side by side, so a run
/// waits for two answers more than one without pins. The next run sends none.
#[test]
#[ignore = "long"]
fn a_release_is_asked_about_once_for_all_root_modules() {
    let providers = ["acme/p0", "acme/p1", "acme/p2", "acme/p3", "acme/p4", "acme/p5"];
    let mut registry =
        providers.iter().fold(Registry::start(), |it, provider| it.release(provider, "1.4.0", PLATFORMS));
    for provider in providers {
        let files = archives(&registry, provider, "1.4.0");
        let claims = Claims { repository: repository(provider), ..Claims::of_tag("v1.4.0") };
        let packed = snap::raw::Encoder::new().compress_vec(attest(&claims, &files).to_string().as_bytes()).unwrap();
        let list = AT_STORAGE.replace("/b?", &format!("/{provider}?"));
        for (_, digest) in &files {
            registry = registry.document(&question(provider, digest), "application/json", list.clone());
        }
        registry = registry.document(&format!("/{provider}?sig=secret"), "application/x-snappy", packed);
    }
    let sources =
        providers.map(|it| format!("    {} = {{\n      source = \"{}/{it}\"\n    }}\n", &it[5..], registry.host()));
    let main = format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", sources.concat());
    let workspace = reaching(Workspace::with_files(&[("main.tf", &main)]), &registry);
    workspace.tflock(&registry, LOCK).ended_with(0);
    let lock = workspace.lock_file();
    let trust = providers.iter().fold(workspace.read(".tflock.trust.hcl"), |text, provider| {
        with_place(&text, &format!("{}/{provider}", registry.host()), &place(provider))
    });
    workspace.write(".tflock.trust.hcl", &trust);
    workspace.git(["init", "-q"]);
    for n in 1..300 {
        workspace.write(&format!("r{n}/main.tf"), &main);
        workspace.write(&format!("r{n}/.terraform.lock.hcl"), &lock);
    }
    // Each is answered only once all six of its kind have been asked for.
    let registry = registry.answers(Endpoint::Attestations, Answer::together(6));
    let registry = registry.answers(Endpoint::Other, Answer::together(6));
    registry.forget_requests();
    workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    let cold = asked(&registry);
    let of = |host: &str| cold.iter().filter(|(place, _)| place.starts_with(host)).count();
    assert_eq!((of("api.github.com/"), of("bundles.example.com/"), cold.len()), (6, 6, 12), "{cold:?}");
    registry.forget_requests();
    workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert_eq!(asked(&registry), []);
}

/// The settings give another level to what `verify` finds; what is written stays strict.
#[test]
fn a_level_of_the_settings_counts_for_verify_alone() {
    let moved = Claims { workflow: ".github/workflows/x.yml".to_owned(), ..Claims::of_tag("v1.4.0") };
    let registry = built(widget(), WIDGET, "1.4.0", &moved);
    let workspace = trusting(&registry);
    workspace.write(".tflock.hcl", "level \"provenance-changed\" {\n  is = \"warn\"\n}\n");
    let run = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(run.stdout.contains("warning[provenance-changed]"), "{run}");
    workspace.tflock(&registry, LOCK_BOTH).ended_with(3);
}

/// What a service can do that is down, refuses, or is not what it says: never a pass, and little is asked.
#[test]
#[ignore = "long"]
fn a_service_that_does_not_answer_is_no_pass() {
    let own = |path: &str| format!("https://api.github.com{path}");
    let rows = [
        (Answer::endless(), "larger than"),
        (Answer::status(403), "403"),
        (Answer::too_many_requests(3600), "GITHUB_TOKEN"),
        (Answer::status(500), "500"),
        (Answer::reset(), "is unknown"),
        (Answer::truncated(), "is unknown"),
        (Answer::html(), "cannot be used"),
        (Answer::redirects(), "redirect"),
        (Answer::redirect_to("http://api.github.com/x"), "redirect"),
        (Answer::redirect_to("https://evil.example.com/x"), "redirect"),
        (Answer::redirect_to("https://127.0.0.1/x"), "redirect"),
        (Answer::redirect_to(&own("/x")), "404"),
    ];
    crate::support::side_by_side(&rows, |(answer, why)| {
        let (registry, run) = verified(|registry| {
            let registry = attestations(registry, AT_STORAGE);
            registry.document("/x", "application/json", AT_STORAGE).answers(Endpoint::Attestations, answer.clone())
        });
        assert_eq!(run.code, Some(4), "{why}: {run}");
        assert!(run.stderr.contains(why) && !run.stderr.contains("t0ken"), "{why}: {run}");
        let asked = asked(&registry);
        let leaks = |(place, token): &(String, bool)| *token && !place.starts_with("api.github.com");
        assert!(asked.len() <= 11 && !asked.iter().any(leaks), "{asked:?}");
    });
}

#[test]
fn storage_that_leads_elsewhere_is_no_pass() {
    let rows = ["http://bundles.example.com/x", "https://127.0.0.1/x", "https://[::1]/x", "https://evil.example.com/x"];
    crate::support::side_by_side(&rows, |place| {
        let (registry, run) = verified(|registry| {
            let registry = attestations(registry, AT_STORAGE).document("/x", "application/json", OF_OTHERS);
            registry.answers(Endpoint::Other, Answer::redirect_to(place).times(1))
        });
        assert_eq!(run.code, Some(4), "{place}: {run}");
        assert!(run.stderr.contains("redirected to "), "{place}: {run}");
        assert!(!run.stderr.contains("secret") && !run.stderr.contains("t0ken"), "{place}: {run}");
        assert_eq!(asked(&registry), [(LIST.to_owned(), true), ("bundles.example.com/b".to_owned(), false)], "{run}");
    });
}

#[test]
#[ignore = "long"]
fn of_many_attestations_few_are_looked_at() {
    for entry in [r#"{"bundle": {}}"#, r#"{"bundle_url": "https://bundles.example.com/b?sig=secret"}"#] {
        let answer = format!(r#"{{"attestations": [{}]}}"#, vec![entry; 1000].join(","));
        let (registry, run) = verified(|registry| {
            attestations(registry, &answer).document("/b?sig=secret", "application/json", OF_OTHERS)
        });
        assert_eq!(run.code, Some(3), "{run}");
        assert!(run.stderr.contains("more than 8 attestations of one archive"), "{run}");
        assert!(asked(&registry).len() <= 10, "{:?}", asked(&registry));
    }
}

/// A publisher that attests each archive by itself, and keeps the attestations at their own addresses.
#[test]
fn a_release_with_many_attestations_costs_few_requests() {
    let platforms = ["darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64"];
    for (count, code) in [(5, 0), (6, 4)] {
        let mut registry = Registry::start().release(WIDGET, "1.4.0", &platforms[..count]);
        for platform in &platforms[..count] {
            let digest = registry.package(WIDGET, "1.4.0", platform).zh().trim_start_matches("zh:").to_owned();
            let name = format!("terraform-provider-widget_1.4.0_{platform}.zip");
            let bundle = attest(&Claims::of_tag("v1.4.0"), &[(name, digest.clone())]).to_string();
            let list = AT_STORAGE.replace("/b?", &format!("/{platform}?"));
            registry = registry.document(&question(WIDGET, &digest), "application/json", list);
            registry = registry.document(&format!("/{platform}?sig=secret"), "application/json", bundle);
        }
        let workspace = reaching(pinned(&registry), &registry);
        registry.forget_requests();
        let run = workspace.tflock(&registry, ["verify"]).ended_with(code);
        assert_eq!(asked(&registry).len(), 10, "{run}");
        assert_eq!(run.stderr.contains("in more than 10 places"), code == 4, "{run}");
    }
}

#[test]
fn a_signature_over_a_file_is_no_attestation() {
    let mut bundle = attest(&Claims::of_tag("v1.4.0"), &archives(&widget(), WIDGET, "1.4.0"));
    bundle.as_object_mut().unwrap().remove("dsseEnvelope");
    bundle["messageSignature"] = serde_json::json!({
        "messageDigest": { "algorithm": "SHA2_256", "digest": "AAAA" },
        "signature": "AAAA",
    });
    let registry = attested(widget(), WIDGET, "1.4.0", &[bundle]);
    let run = trusting(&registry).tflock(&registry, ["verify"]).ended_with(3);
    assert!(run.stdout.contains("provenance-invalid"), "{run}");
}

/// What a certificate says comes from whoever ran the workflow.
#[test]
fn claims_are_escaped_wherever_they_are_shown() {
    let claims = Claims {
        git_ref: "refs/heads/\u{1b}[31m<b>[x](https://evil.example)|`".to_owned(),
        trigger: "<i>".to_owned(),
        ..Claims::of_tag("v1.4.0")
    };
    let registry = built(widget(), WIDGET, "1.4.0", &claims);
    let workspace = trusting(&registry);
    for format in ["human", "markdown", "html", "json", "sarif", "github", "gitlab"] {
        let run = workspace.tflock(&registry, ["verify", "--format", format]).ended_with(3);
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains("provenance-changed"), "{format}: {run}");
        assert!(!text.contains('\u{1b}'), "{format}: {run}");
        let is_markup = matches!(format, "markdown" | "html");
        assert!(!(is_markup && (text.contains("<b>") || text.contains("<i>"))), "{format}: {run}");
        assert!(!(format == "markdown" && text.contains("[x](https:")), "{format}: {run}");
    }
}

#[test]
fn what_else_is_attested_is_told_to_those_who_ask() {
    let fork = Claims { repository_id: "9".to_owned(), ..Claims::of_tag("v1.4.0") };
    let registry = widget();
    let files = archives(&registry, WIDGET, "1.4.0");
    let bundles = [fork, Claims::of_tag("v1.4.0")].map(|claims| attest(&claims, &files));
    let registry = attested(registry, WIDGET, "1.4.0", &bundles);
    let workspace = trusting(&registry);
    let quiet = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(!quiet.stderr.contains("(number 9)"), "{quiet}");
    // From the service, then from the cache.
    for more in [&["--no-cache"][..], &[]] {
        let told = workspace.tflock(&registry, ["verify", "-v"].iter().chain(more)).ended_with(0);
        assert!(told.stderr.contains("ignored another attestation of") && told.stderr.contains("(number 9)"), "{told}");
    }
}

#[test]
fn a_move_to_the_other_tool_needs_the_pinned_place() {
    let hosts = ["registry.terraform.io", "registry.opentofu.org"];
    let registry = hosts.iter().fold(Registry::start(), |it, host| it.standing_for(host));
    let registry = registry.release(WIDGET, "1.4.0", PLATFORMS).with_files_on_github();
    let registry = built(registry, WIDGET, "1.4.0", &Claims { owner_id: "8".to_owned(), ..Claims::of_tag("v1.4.0") });
    let workspace = Workspace::with_files(&[(
        "main.tf",
        "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n",
    )]);
    let workspace = reaching(workspace, &registry);
    workspace.tflock(&registry, LOCK.iter().chain(&["--tool", "terraform"])).ended_with(0);
    let trust = workspace.read(".tflock.trust.hcl");
    let moved = trust.replace(hosts[0], hosts[1]);
    let pinned = with_place(&moved, &format!("{}/{WIDGET}", hosts[1]), &place(WIDGET));
    workspace.write(".tflock.trust.hcl", &pinned);
    let before = workspace.lock_file();
    let migrate = ["migrate", "--to", "tofu", "--platform", "linux_amd64"];
    let run = workspace.tflock(&registry, migrate).ended_with(3);
    assert!(run.stdout.contains("provenance-changed") && workspace.lock_file() == before, "{run}");
    // A pin of the old address is not one of the new address.
    let pinned = with_place(&trust, &format!("{}/{WIDGET}", hosts[0]), &place(WIDGET));
    workspace.write(".tflock.trust.hcl", &pinned);
    let run = workspace.tflock(&registry, migrate).ended_with(0);
    let text = format!("{}{}", run.stdout, run.stderr);
    let command = format!("tflock trust add {} --provenance", "acme/widget");
    assert!(text.contains("but not where") && text.contains(&command), "{run}");
    // What the note advises, as it is printed.
    let registry = built(registry, WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
    workspace.tflock(&registry, ["trust", "add", WIDGET, "--provenance"]).ended_with(0);
    assert!(workspace.read(".tflock.trust.hcl").matches("built_by").count() == 2, "{run}");
    workspace.tflock(&registry, ["verify"]).ended_with(0);
}

/// How a release can be built: in which claims that differs from the pinned place, and whether it is accepted.
type Way = (&'static [(&'static str, &'static str)], bool);

const WAYS: [Way; 12] = [
    (&[], true),
    (&[("repository", "acme/renamed")], true),
    // Transferred, created again, a fork.
    (&[("repository", "other/terraform-provider-widget"), ("owner_id", "8")], false),
    (&[("repository_id", "124")], false),
    (&[("repository", "evil/terraform-provider-widget"), ("repository_id", "9"), ("owner_id", "10")], false),
    (&[("workflow", ".github/workflows/test.yml")], false),
    (&[("signer", "acme/shared/.github/workflows/build.yml")], false),
    (&[("ref", "refs/heads/main")], false),
    (&[("ref", "refs/tags/v0.9.0")], false),
    (&[("trigger", "pull_request")], false),
    (&[("trigger", "workflow_dispatch")], false),
    (&[("issuer", "https://x.example")], false),
];

/// What is signed, or proves that it is.
const SIGNED: [&str; 9] = [
    "/dsseEnvelope/payload",
    "/dsseEnvelope/payloadType",
    "/dsseEnvelope/signatures/0/sig",
    "/verificationMaterial/certificate/rawBytes",
    "/verificationMaterial/tlogEntries/0/canonicalizedBody",
    "/verificationMaterial/tlogEntries/0/inclusionPromise/signedEntryTimestamp",
    "/verificationMaterial/tlogEntries/0/inclusionProof/rootHash",
    "/verificationMaterial/tlogEntries/0/inclusionProof/checkpoint/envelope",
    "/verificationMaterial/tlogEntries/0/integratedTime",
];

/// Changes a character in the middle of a text.
fn forge(bundle: &mut serde_json::Value, place: &str) {
    let value = bundle.pointer_mut(place).unwrap();
    let mut text = value.as_str().unwrap().to_owned();
    let at = text.len() / 2;
    let other = if &text[at..=at] == "7" { "8" } else { "7" };
    text.replace_range(at..=at, other);
    *value = text.into();
}

#[test]
fn a_changed_attestation_is_refused_with_the_failed_step() {
    let whole = attest(&Claims::of_tag("v1.4.0"), &archives(&widget(), WIDGET, "1.4.0"));
    crate::support::side_by_side(&SIGNED, |place| {
        let mut bundle = whole.clone();
        forge(&mut bundle, place);
        let registry = attested(widget(), WIDGET, "1.4.0", &[bundle]);
        let run = trusting(&registry).tflock(&registry, ["verify"]).ended_with(3);
        assert!(run.stdout.contains("denied[provenance-invalid]"), "{place}: {run}");
    });
}

/// An old archive in the place of a new one, and archives in the place of each other.
#[test]
fn an_archive_that_is_attested_under_another_name_is_refused() {
    let own = archives(&widget(), WIDGET, "1.4.0");
    let renamed =
        |from: &str, to: &str| own.iter().map(|(name, digest)| (name.replace(from, to), digest.clone())).collect();
    let swapped = vec![(own[0].0.clone(), own[1].1.clone()), (own[1].0.clone(), own[0].1.clone())];
    for files in [renamed("1.4.0", "1.3.0"), renamed("-widget_", "-gadget_"), swapped] {
        let bundle = attest(&Claims::of_tag("v1.4.0"), &files);
        let registry = attested(widget(), WIDGET, "1.4.0", &[bundle]);
        let run = trusting(&registry).tflock(&registry, ["verify"]).ended_with(3);
        assert!(run.stdout.contains("denied[provenance-version]") && run.stdout.contains("is attested as"), "{run}");
    }
    // A name that says nothing is a warning.
    let bundle = attest(&Claims::of_tag("v1.4.0"), &renamed("terraform-provider-widget_1.4.0_", "build/"));
    let registry = attested(widget(), WIDGET, "1.4.0", &[bundle]);
    let run = trusting(&registry).tflock(&registry, ["verify"]).ended_with(0);
    assert!(run.stdout.contains("warning[provenance-version]"), "{run}");
}

#[test]
fn a_platform_that_is_added_later_needs_an_attestation() {
    let registry = built(widget(), WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
    let registry = registry.document(&format!("/repos/{}", repository(WIDGET)), "application/json", "{}");
    let workspace = trusting(&registry);
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    registry.add_platform(WIDGET, "1.4.0", "windows_amd64");
    let before = workspace.lock_file();
    let run = workspace.tflock(&registry, ["lock", "--platform", "windows_amd64"]).ended_with(3);
    let name = "nothing attests where 1 archive of ";
    assert!(run.stdout.contains(name) && run.stdout.contains("1.4.0_windows_amd64.zip"), "{run}");
    assert_eq!(workspace.lock_file(), before);
}

/// Whatever is attested of whichever archives: `lock` writes a release exactly if `verify` passes a lock file that has it, and
/// that is exactly if each archive was built where the provider's releases are built.
#[test]
#[ignore = "long"]
fn lock_and_verify_agree_about_every_history() {
    let histories: Vec<u64> = seeds(6).collect();
    crate::support::side_by_side(&histories, |seed| history(&mut Dice::of(*seed)));
}

fn history(dice: &mut Dice) {
    let versions = ["1.3.0", "1.4.1", "1.5.0", "2.0.0"];
    let mut registry = built(widget(), WIDGET, "1.4.0", &Claims::of_tag("v1.4.0"));
    let mut expected = Vec::new();
    for version in versions {
        registry = registry.release(WIDGET, version, PLATFORMS);
        let (files, mut said) = (archives(&registry, WIDGET, version), Vec::new());
        let (mut bundles, mut accepted) = (vec![Vec::new(); files.len()], vec![false; files.len()]);
        for _ in 0..dice.below(4) {
            let way = if dice.one_in(2) { WAYS[0] } else { dice.pick(&WAYS) };
            let only = dice.one_in(3).then(|| dice.below(files.len()));
            let is_forged = dice.one_in(6);
            let at: Vec<usize> = (0..files.len()).filter(|at| only.is_none_or(|only| only == *at)).collect();
            let listed: Vec<_> = at.iter().map(|at| files[*at].clone()).collect();
            let mut claims = Claims::of_tag(&format!("v{version}"));
            way.0.iter().for_each(|(name, value)| claims.set(name, value));
            let mut bundle = attest(&claims, &listed);
            if is_forged {
                forge(&mut bundle, dice.pick(&SIGNED));
            }
            for at in at {
                bundles[at].push(bundle.clone());
                accepted[at] |= way.1 && !is_forged;
            }
            said.push((way.0, only, is_forged));
        }
        for (bundles, (_, digest)) in bundles.iter().zip(&files) {
            registry = answering(registry, WIDGET, digest, bundles);
        }
        // Before the first attested release the signer is enough.
        expected.push((version, said, version == "1.3.0" || accepted.iter().all(|accepted| *accepted)));
    }
    let workspace = trusting(&registry);
    let trust = workspace.read(".tflock.trust.hcl").replace("\"1.0.0\"", "\"1.4.0\"");
    let remove = |name: &str| std::fs::remove_file(workspace.path(name)).unwrap();
    let main = workspace.read("main.tf");
    for (version, said, passes) in expected {
        workspace.write("main.tf", &main.replace("~> 1.4", version));
        // What a run without the pin writes.
        let _ = (remove(".terraform.lock.hcl"), remove(".tflock.trust.hcl"));
        workspace.tflock(&registry, LOCK).ended_with(0);
        let locked = workspace.lock_file();
        workspace.write(".tflock.trust.hcl", &trust);
        let code = if passes { 0 } else { 3 };
        let verified = workspace.tflock(&registry, ["verify"]);
        assert_eq!(verified.code, Some(code), "{version} {said:?}: {verified}");
        remove(".terraform.lock.hcl");
        let run = workspace.tflock(&registry, LOCK);
        assert_eq!(run.code, Some(code), "{version} {said:?}: {run}");
        assert_eq!(workspace.has(".terraform.lock.hcl"), passes, "{version} {said:?}: {run}");
        workspace.write(".terraform.lock.hcl", &locked);
    }
}

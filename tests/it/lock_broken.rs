//! `tflock lock` in broken worlds: releases that are not what they should be. Each is refused by its own words, or
//! accepted as the tools accept it; what is refused leaves the lock file as it was.

use crate::support::keys;
use crate::support::packages::Shape;
use crate::support::registry::{Endpoint, Flaw, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{EMPTY_LOCK, PLATFORMS, widget};

/// Quietly, for whether a download comes to its end before something else is refused is a matter of chance.
const LOCK: [&str; 3] = ["lock", "--platform", "linux_amd64"];

/// A root module with a lock file that has no entries yet.
fn workspace() -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".terraform.lock.hcl", EMPTY_LOCK);
    workspace
}

/// The run that refuses a world, with nothing written.
#[track_caller]
fn refused(registry: &Registry, code: i32) -> Run {
    let workspace = workspace();
    let run = workspace.tflock(registry, LOCK).ended_with(code);
    assert!(run.touched().is_empty(), "{run}");
    assert_eq!(workspace.lock_file(), EMPTY_LOCK);
    run
}

/// The run that locks the package of `linux_amd64`, as terraform does.
#[track_caller]
fn accepted(registry: &Registry) -> Run {
    let workspace = workspace();
    let run = workspace.tflock(registry, LOCK).ended_with(0);
    let package = registry.package("acme/widget", "1.4.0", "linux_amd64");
    assert!(workspace.lock_file().contains(&package.h1) && workspace.lock_file().contains(&package.zh()), "{run}");
    run
}

#[test]
fn tampered_archive() {
    insta::assert_snapshot!("tampered_archive", refused(&widget().flawed(Flaw::TamperedZip), 3));
    let json = workspace().tflock(&widget().flawed(Flaw::TamperedZip), LOCK.iter().chain(&["--format=json"]));
    assert_eq!(json.json()["findings"][0]["rule"], "wrong-checksum");
    insta::assert_snapshot!("tampered_archive_json", json.ended_with(3));
}

#[test]
fn not_an_archive() {
    insta::assert_snapshot!("not_an_archive", refused(&widget().flawed(Flaw::NotAZip), 2));
}

#[test]
fn wrong_shasum() {
    insta::assert_snapshot!("wrong_shasum", refused(&widget().flawed(Flaw::WrongShasum), 3));
}

#[test]
fn wrong_sums() {
    insta::assert_snapshot!("wrong_sums", refused(&widget().flawed(Flaw::WrongSums), 3));
}

#[test]
fn short_sums() {
    insta::assert_snapshot!("short_sums", refused(&widget().flawed(Flaw::ShortSums("linux_amd64")), 3));
}

#[test]
fn starred_sums() {
    insta::assert_snapshot!("starred_sums", refused(&widget().flawed(Flaw::StarredSums), 3));
}

#[test]
fn signed_by_another_key() {
    insta::assert_snapshot!("other_key", refused(&widget().signed_by(keys::OTHER).listing(&[keys::GOOD]), 3));
}

#[test]
fn signature_of_another_document() {
    insta::assert_snapshot!("stale_signature", refused(&widget().flawed(Flaw::StaleSignature), 3));
}

#[test]
fn revoked_key() {
    let workspace = workspace();
    let run = workspace.tflock(&widget().signed_by(keys::REVOKED), LOCK).ended_with(3);
    assert_eq!(workspace.lock_file(), EMPTY_LOCK);
    // That is worth remembering.
    assert_eq!(run.touched(), [".tflock.trust.hcl"]);
    insta::assert_snapshot!("revoked_key", run.filtered(&run.stdout));
}

#[test]
fn expired_key() {
    let registry = widget().signed_by(keys::EXPIRED).signed_on(keys::AFTER_EXPIRY);
    let run = accepted(&registry);
    insta::assert_snapshot!("expired_key", run.filtered(&run.stdout));
    let within = accepted(&widget().signed_by(keys::EXPIRED));
    assert!(!within.stdout.contains("expired-key"), "{within}");
}

#[test]
fn unsigned() {
    insta::assert_snapshot!("unsigned", refused(&widget().unsigned(), 3));
}

#[test]
fn unsigned_in_the_registry_of_opentofu() {
    let registry = widget().unsigned().standing_for("registry.opentofu.org");
    let run = Workspace::from("modules/default-host").tflock(&registry, LOCK.iter().chain(&["--tool=tofu"]));
    insta::assert_snapshot!("unsigned_tofu", run.filtered(&run.stdout));
    assert_eq!(run.ended_with(0).touched(), [".terraform.lock.hcl", ".tflock.trust.hcl"]);
}

#[test]
fn armored_signature() {
    insta::assert_snapshot!("armored_signature", refused(&widget().flawed(Flaw::ArmoredSignature), 3));
}

#[test]
fn missing_signature() {
    insta::assert_snapshot!("missing_signature", refused(&widget().flawed(Flaw::MissingSignature), 3));
}

#[test]
fn unreadable_key() {
    insta::assert_snapshot!("unreadable_key", refused(&widget().flawed(Flaw::UnreadableKey), 3));
}

#[test]
fn wrong_target() {
    insta::assert_snapshot!("wrong_target", refused(&widget().flawed(Flaw::WrongTarget("darwin_arm64")), 2));
}

#[test]
fn missing_platform_names_the_newest_version_that_has_it() {
    let registry = widget().release("acme/widget", "1.2.0", PLATFORMS).release("acme/widget", "1.3.0", PLATFORMS);
    let registry = registry.release("acme/widget", "1.4.0", &["darwin_arm64"]);
    insta::assert_snapshot!("missing_platform", refused(&registry, 2));
    let listed_only = widget().flawed(Flaw::MissingPlatform("linux_amd64"));
    insta::assert_snapshot!("platform_listed_only", refused(&listed_only, 2));
}

#[test]
fn unsupported_protocol_names_the_newest_version_with_one() {
    let registry = widget().speaking(&["4.0"]).release("acme/widget", "1.3.0", PLATFORMS);
    insta::assert_snapshot!("unsupported_protocol", refused(&registry, 2));
    // Nothing of it is requested that could not be used.
    assert_eq!([Endpoint::Sums, Endpoint::Signature].map(|endpoint| registry.count(endpoint)), [0, 0]);
    assert_eq!(registry.downloads("acme/widget"), 0);
}

#[test]
fn no_program() {
    insta::assert_snapshot!("no_program", refused(&widget().shaped(Shape::NoProgram), 2));
}

#[test]
fn zip_slip() {
    insta::assert_snapshot!("zip_slip", refused(&widget().shaped(Shape::Escaping), 2));
}

#[test]
fn packages_that_contradict_the_signed_sums() {
    for flaw in [Flaw::PackagesWrongZh, Flaw::PackagesOmit("linux_amd64")] {
        let registry = widget().with_packages().flawed(flaw).standing_for("registry.opentofu.org");
        let workspace = Workspace::from("modules/default-host");
        let run = workspace.tflock(&registry, LOCK.iter().chain(&["--tool=tofu"])).ended_with(3);
        assert!(run.touched().is_empty());
        insta::assert_snapshot!(format!("packages_{flaw:?}").split('(').next().unwrap().to_lowercase(), run);
    }
}

#[test]
fn odd_archives_are_accepted_as_the_tools_do() {
    for shape in [Shape::Deflated, Shape::DirectoryEntries] {
        let run = accepted(&widget().shaped(shape));
        insta::assert_snapshot!(format!("shape_{shape:?}").to_lowercase(), run.filtered(&run.stdout));
    }
}

#[test]
fn odd_releases_are_accepted_as_the_tools_do() {
    let manifest = format!("{}  terraform-provider-widget_1.4.0_manifest.json", "0".repeat(64));
    for registry in [
        widget().signed_by(keys::SUBKEY),
        widget().listing(&[keys::OTHER, keys::GOOD]),
        widget().with_relative_urls().sums_line(&manifest),
        widget().speaking(&["4.0", "6.0"]),
    ] {
        accepted(&registry);
    }
}

/// What a registry says may steer a terminal; what is said of it may not, as `attack` shows for every format.
#[test]
fn control_characters_are_escaped() {
    let evil = "{type}\u{1b}]0;owned\u{7}\u{1b}[2J_{version}_{platform}\u{202e}.zip";
    let registry = widget().named(evil).flawed(Flaw::ShortSums("linux_amd64"));
    insta::assert_snapshot!("terminal_escapes", refused(&registry, 3));
}

/// The tools take the later one of two entries with one name; no publisher makes such archives.
#[test]
fn an_archive_with_two_entries_of_one_name_is_refused() {
    let registry = widget().shaped(Shape::DuplicateEntry);
    let workspace = Workspace::from("modules/one-root");
    let run = workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(3);
    assert!(run.stdout.contains("denied[unusual-archive]"), "{run}");
    assert!(run.stdout.contains("two of its entries have the same name") && run.touched().is_empty(), "{run}");
}

//! Registries that are not what they were when the lock file was written.

use super::{CANNOT, HONEST, OPEN, PASSES, Row, check, refuses, widget};
use crate::support::keys;
use crate::support::locked::{honest, locked, planted, rules, verify};
use crate::support::packages::{Package, PackageName};
use crate::support::registry::{Flaw, Registry};
use crate::support::worlds::PLATFORMS;

fn republished(registry: Registry) -> Registry {
    registry.republish("acme/widget", "1.4.0");
    widget(registry)
}

const PUBLISHED_AGAIN: &[Row] = &[
    Row {
        name: "by the same key",
        world: republished,
        verify: refuses(&["republished"]),
        lock: refuses(&["republished"]),
        ..HONEST
    },
    Row {
        name: "by another key",
        world: |it| republished(it).signed_by(keys::OTHER),
        verify: refuses(&["republished", "signer-changed"]),
        lock: refuses(&["republished", "signer-changed"]),
        ..HONEST
    },
    Row {
        name: "unsigned",
        world: |it| republished(it).unsigned(),
        verify: refuses(&["no-signing-key"]),
        lock: refuses(&["no-signing-key"]),
        ..HONEST
    },
    Row {
        name: "for one platform only",
        world: |it| widget(it).another(&["darwin_arm64"]),
        verify: refuses(&["republished", "unattested-hash"]),
        lock: refuses(&["republished"]),
        ..HONEST
    },
    Row {
        name: "with one platform more: it grew",
        world: |it| {
            it.add_platform("acme/widget", "1.4.0", "windows_amd64");
            it
        },
        verify: PASSES,
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "withdrawn",
        world: |it| {
            it.withdraw("acme/widget", "1.4.0");
            it.release("acme/widget", "1.4.1", PLATFORMS)
        },
        verify: refuses(&["version-withdrawn"]),
        lock: CANNOT,
        ..HONEST
    },
];

#[test]
#[ignore = "long"]
fn releases_published_again_are_judged() {
    check(PUBLISHED_AGAIN);
}

const SIGNED_OTHERWISE: &[Row] = &[
    Row {
        name: "by another key",
        world: |it| widget(it).signed_by(keys::OTHER),
        verify: refuses(&["signer-changed"]),
        lock: refuses(&["signer-changed"]),
        ..HONEST
    },
    Row {
        name: "by a key that is not listed",
        world: |it| widget(it).signed_by(keys::OTHER).listing(&[keys::GOOD]),
        verify: refuses(&["bad-signature"]),
        lock: refuses(&["bad-signature"]),
        ..HONEST
    },
    Row {
        name: "signed before, unsigned now",
        world: |it| widget(it).unsigned(),
        verify: refuses(&["no-signing-key"]),
        lock: refuses(&["no-signing-key"]),
        ..HONEST
    },
    Row {
        name: "no signature document",
        world: |it| widget(it).flawed(Flaw::MissingSignature),
        verify: refuses(&["bad-signature"]),
        lock: refuses(&["bad-signature"]),
        ..HONEST
    },
    Row {
        name: "a stale signature",
        world: |it| widget(it).flawed(Flaw::StaleSignature),
        verify: refuses(&["bad-signature"]),
        lock: refuses(&["bad-signature"]),
        ..HONEST
    },
    Row {
        name: "an armored signature",
        world: |it| widget(it).flawed(Flaw::ArmoredSignature),
        verify: refuses(&["bad-signature"]),
        lock: refuses(&["bad-signature"]),
        ..HONEST
    },
    Row {
        name: "a key that does not decode before the right one",
        world: |it| widget(it).flawed(Flaw::UnreadableKey),
        verify: refuses(&["bad-signature"]),
        lock: refuses(&["bad-signature"]),
        ..HONEST
    },
    Row {
        name: "by a revoked key",
        world: |it| widget(it).signed_by(keys::REVOKED),
        verify: refuses(&["revoked-key"]),
        lock: refuses(&["revoked-key"]),
        ..HONEST
    },
    Row {
        name: "by a revoked key, of which a copy without the revocation is listed first",
        world: |it| widget(it).signed_by(keys::REVOKED).listing(&[keys::PARDONED, keys::REVOKED]),
        verify: refuses(&["revoked-key"]),
        lock: refuses(&["revoked-key"]),
        ..HONEST
    },
    Row {
        name: "by a revoked subkey",
        world: |it| widget(it).signed_by(keys::SUBKEY_REVOKED),
        verify: refuses(&["revoked-key"]),
        lock: refuses(&["revoked-key"]),
        ..HONEST
    },
];

#[test]
#[ignore = "long"]
fn releases_signed_otherwise_are_judged() {
    check(SIGNED_OTHERWISE);
}

const CHECKSUMS_REPLAYED_AND_PACKAGES_SWAPPED: &[Row] = &[
    Row {
        name: "sums of another version",
        world: |it| widget(it).named("terraform-provider-{type}_1.3.0_{platform}.zip"),
        verify: refuses(&["unbound-signature"]),
        lock: refuses(&["unbound-signature"]),
        ..HONEST
    },
    Row {
        name: "sums of another provider",
        world: |it| widget(it).named("terraform-provider-other_{version}_{platform}.zip"),
        verify: refuses(&["unbound-signature"]),
        lock: refuses(&["unbound-signature"]),
        ..HONEST
    },
    Row {
        name: "names that follow no convention bind nothing, but are no accusation",
        world: |it| widget(it).named("{type}-{platform}.zip"),
        verify: PASSES,
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "a planted h1 where no name tells which archives there are",
        lock_file: |text, _| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        world: |it| widget(it).named("{type}-{platform}.zip"),
        verify: OPEN,
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "the same, with every archive hashed again",
        lock_file: |text, _| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        world: |it| widget(it).named("{type}-{platform}.zip"),
        args: &["--deep", "--all-platforms"],
        verify: OPEN,
        lock: PASSES,
    },
    Row {
        name: "the same, where the name is not asked about",
        lock_file: |text, _| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        world: |it| widget(it).named("{type}-{platform}.zip"),
        args: &["--no-download"],
        verify: PASSES,
        lock: PASSES,
    },
    Row {
        name: "a false shasum",
        world: |it| widget(it).flawed(Flaw::WrongShasum),
        verify: refuses(&["wrong-checksum"]),
        lock: refuses(&["wrong-checksum"]),
        ..HONEST
    },
    Row {
        name: "sums of other archives",
        world: |it| widget(it).flawed(Flaw::WrongSums),
        verify: refuses(&["wrong-checksum"]),
        lock: refuses(&["wrong-checksum"]),
        ..HONEST
    },
    Row {
        name: "sums without a line for the package",
        world: |it| widget(it).flawed(Flaw::ShortSums("linux_amd64")),
        verify: refuses(&["wrong-checksum"]),
        lock: refuses(&["wrong-checksum"]),
        ..HONEST
    },
    Row {
        name: "false archives",
        world: |it| widget(it).flawed(Flaw::TamperedZip),
        verify: refuses(&["wrong-checksum"]),
        lock: refuses(&["wrong-checksum"]),
        ..HONEST
    },
];

#[test]
#[ignore = "long"]
fn replayed_checksums_and_swapped_packages_are_judged() {
    check(CHECKSUMS_REPLAYED_AND_PACKAGES_SWAPPED);
}

const UNSIGNED_REPORTS_THAT_LIE: &[Row] = &[
    Row {
        name: "packages with false zh",
        world: |it| widget(it).with_packages().flawed(Flaw::PackagesWrongZh),
        verify: refuses(&["packages-differ"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "packages with false h1: the archive tells",
        world: |it| widget(it).with_packages().flawed(Flaw::PackagesWrongH1),
        verify: refuses(&["packages-differ"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "packages with false h1: they are not looked at in depth",
        world: |it| widget(it).with_packages().flawed(Flaw::PackagesWrongH1),
        args: &["--deep"],
        verify: PASSES,
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "the lock file and the registry tell the same lie",
        lock_file: |text, _| planted(text, &stranger()),
        world: |it| widget(it).with_packages().flawed(Flaw::PackagesWrongH1),
        args: &["--deep"],
        verify: refuses(&["unattested-hash"]),
        lock: PASSES,
    },
];

#[test]
#[ignore = "long"]
fn lying_reports_are_judged() {
    check(UNSIGNED_REPORTS_THAT_LIE);
}

/// The `h1:` that [`Flaw::PackagesWrongH1`] reports for `linux_amd64`.
fn stranger() -> String {
    let name = PackageName { kind: "stranger", version: "1.4.0", platform: "linux_amd64", edition: 1 };
    Package::make(name, &[]).h1
}

#[test]
fn a_false_h1_of_the_origin_refutes_no_true_one() {
    let registry = widget(honest()).with_packages().flawed(Flaw::PackagesWrongH1);
    for (args, code) in [(&["--deep"][..], 0), (&[], 3)] {
        let run = verify(&locked(&registry), &registry, args).ended_with(code);
        assert_eq!(run.json()["proven"], 8, "{run}");
    }
}

#[test]
fn hashes_that_only_the_origin_reports_save_downloads() {
    let registry = widget(honest()).with_packages();
    let run = verify(&locked(&registry), &registry, &[]).ended_with(0);
    assert_eq!((&run.json()["proven"], registry.downloads("acme/widget")), (&8.into(), 0), "{run}");
}

#[test]
#[ignore = "long"]
fn keys_may_expire_after_they_signed() {
    for (key, day, warned) in [
        (keys::EXPIRED, keys::SIGNED_AT, false),
        (keys::EXPIRED, keys::AFTER_EXPIRY, true),
        // Another copy of the key says that it lives on.
        (keys::RENEWED, keys::AFTER_EXPIRY, false),
    ] {
        let registry = widget(honest()).signed_by(key).signed_on(day);
        let run = verify(&locked(&registry), &registry, &[]).ended_with(0);
        assert_eq!(rules(&run, "warn").contains("expired-key"), warned, "{run}");
        let strict = locked(&registry);
        strict.write(".tflock.hcl", "policy {\n  expired_key = \"deny\"\n}\n");
        let code = if warned { 3 } else { 0 };
        verify(&strict, &registry, &[]).ended_with(code);
        let platforms = ["--platform", "linux_amd64"];
        strict.tflock(&registry, ["lock", "--no-cache"].iter().chain(&platforms)).ended_with(code);
    }
}

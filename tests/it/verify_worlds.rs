//! What `verify` says of broken worlds: an attack is refused, an outage is neither good nor bad.

use crate::support::keys;
use crate::support::locked::{LOCK, honest, locked, planted, rules, verify};
use crate::support::registry::{Answer, Endpoint, Flaw, Registry};
use crate::support::worlds::PLATFORMS;

fn widget(registry: Registry) -> Registry {
    registry.of("acme/widget", "1.4.0")
}

fn republished(registry: Registry) -> Registry {
    registry.republish("acme/widget", "1.4.0");
    widget(registry)
}

type World = fn(Registry) -> Registry;

/// A registry that is not what it was when the lock file was written, and what is denied then.
const BROKEN: &[(&str, World, &[&str])] = &[
    ("published again by the same key", republished, &["republished"]),
    ("by another key", |it| republished(it).signed_by(keys::OTHER), &["republished", "signer-changed"]),
    ("another key", |it| widget(it).signed_by(keys::OTHER), &["signer-changed"]),
    (
        "withdrawn",
        |it| {
            it.withdraw("acme/widget", "1.4.0");
            it.release("acme/widget", "1.4.1", PLATFORMS)
        },
        &["version-withdrawn"],
    ),
    ("a key that is not listed", |it| widget(it).signed_by(keys::OTHER).listing(&[keys::GOOD]), &["bad-signature"]),
    ("signed before, unsigned now", |it| widget(it).unsigned(), &["bad-signature"]),
    ("revoked", |it| widget(it).signed_by(keys::REVOKED), &["revoked-key"]),
    ("a stale signature", |it| widget(it).flawed(Flaw::StaleSignature), &["bad-signature"]),
    ("no signature", |it| widget(it).flawed(Flaw::MissingSignature), &["bad-signature"]),
    ("an armored signature", |it| widget(it).flawed(Flaw::ArmoredSignature), &["bad-signature"]),
    (
        "sums of another version",
        |it| widget(it).named("terraform-provider-{type}_1.3.0_{platform}.zip"),
        &["unbound-signature"],
    ),
    (
        "sums of another provider",
        |it| widget(it).named("terraform-provider-other_{version}_{platform}.zip"),
        &["unbound-signature"],
    ),
    ("a false shasum", |it| widget(it).flawed(Flaw::WrongShasum), &["wrong-checksum"]),
    ("false archives", |it| widget(it).flawed(Flaw::TamperedZip), &["wrong-checksum"]),
    ("packages with false zh", |it| widget(it).with_packages().flawed(Flaw::PackagesWrongZh), &["packages-differ"]),
];

#[test]
fn broken_worlds_are_refused() {
    for (name, world, wanted) in BROKEN {
        let registry = honest();
        let workspace = locked(&registry);
        let pins = ["acme/gadget", "acme/widget"].map(|provider| {
            let key = keys::GOOD.fingerprint();
            format!("provider \"{}/{provider}\" {{\n  signers = [\"{key}\"]\n}}\n", registry.host())
        });
        workspace.write(".tflock.trust.hcl", &pins.join("\n"));
        let registry = world(registry);
        let run = verify(&workspace, &registry, &[]);
        let wanted = wanted.iter().map(ToString::to_string).collect();
        assert_eq!((run.code, rules(&run, "deny")), (Some(3), wanted), "{name}: {run}");
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
    // What was signed before is judged without asking.
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["signer-denied".to_owned()].into());
}

#[test]
fn a_false_h1_of_the_origin_accuses_nobody_but_the_origin() {
    let registry = honest().of("acme/widget", "1.4.0").with_packages().flawed(Flaw::PackagesWrongH1);
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &["--deep"]).ended_with(0);
    assert_eq!(run.json()["proven"], 8, "{run}");
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["packages-differ".to_owned()].into(), "{run}");
    assert_eq!(run.json()["proven"], 8, "{run}");
}

#[test]
fn a_hash_that_the_origin_alone_vouches_for_falls_in_depth() {
    let registry = honest().of("acme/widget", "1.4.0").with_packages();
    let workspace = locked(&registry);
    let run = verify(&workspace, &registry, &[]).ended_with(0);
    assert_eq!((&run.json()["proven"], registry.downloads("acme/widget")), (&8.into(), 0), "{run}");
    // The lock file and the registry tell the same lie.
    let registry = registry.flawed(Flaw::PackagesWrongH1);
    let workspace = locked(&registry);
    workspace.write(LOCK, &planted(&workspace.lock_file(), "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
    let run = verify(&workspace, &registry, &["--deep"]).ended_with(3);
    assert!(rules(&run, "deny").contains("unattested-hash"), "{run}");
}

#[test]
fn keys_may_expire_after_they_signed() {
    for (day, warned) in [(keys::SIGNED_AT, false), (keys::AFTER_EXPIRY, true)] {
        let registry = honest().of("acme/widget", "1.4.0").signed_by(keys::EXPIRED).signed_on(day);
        let run = verify(&locked(&registry), &registry, &[]).ended_with(0);
        assert_eq!(rules(&run, "warn").contains("expired-key"), warned, "{run}");
        let workspace = locked(&registry);
        workspace.write(".tflock.hcl", "policy {\n  expired_key = \"deny\"\n}\n");
        verify(&workspace, &registry, &[]).ended_with(if warned { 3 } else { 0 });
    }
}

#[test]
fn a_redirect_does_not_get_the_token() {
    let registry = honest().requiring_token("secret").answers(Endpoint::Download, Answer::redirect_to_other_host());
    let workspace = locked(&registry).env("TF_TOKEN_{{registry}}", "secret");
    let run = verify(&workspace, &registry, &[]);
    assert!(
        rules(&run, "deny").is_empty() && !run.stdout.contains("secret") && !run.stderr.contains("secret"),
        "{run}"
    );
    assert_eq!(registry.hosts_that_saw_a_token().into_iter().collect::<Vec<_>>(), [registry.host()]);
}

/// A source that gives no answer: nothing is proven by it, and nobody accused.
#[test]
fn what_does_not_answer_is_inconclusive() {
    let answers: Vec<(&str, Endpoint, Answer)> = vec![
        ("discovery is a page", Endpoint::Discovery, Answer::html()),
        ("versions are a page", Endpoint::Versions, Answer::html()),
        ("downloads are a page", Endpoint::Download, Answer::html()),
        ("sums are a page", Endpoint::Sums, Answer::html()),
        ("the signature is a page", Endpoint::Signature, Answer::html()),
        ("archives are a page", Endpoint::Zip, Answer::html()),
        ("versions break off", Endpoint::Versions, Answer::truncated()),
        ("sums break off", Endpoint::Sums, Answer::truncated()),
        ("forbidden", Endpoint::Versions, Answer::status(403)),
        ("unauthorised", Endpoint::Versions, Answer::status(401)),
        ("too many requests", Endpoint::Versions, Answer::too_many_requests(600)),
        ("down", Endpoint::Discovery, Answer::status(503)),
        ("reset", Endpoint::Sums, Answer::reset()),
        ("not JSON", Endpoint::Download, Answer::json("[")),
        ("a version that is none", Endpoint::Versions, Answer::json(r#"{"versions":[{"version":"v1"}]}"#)),
        ("another shape", Endpoint::Versions, Answer::json(r#"{"versions":7}"#)),
    ];
    for (name, endpoint, answer) in answers {
        let registry = honest();
        let workspace =
            locked(&registry).env("TF_REGISTRY_DISCOVERY_RETRY", "0").env("TF_PROVIDER_DOWNLOAD_RETRY", "0");
        let registry = registry.answers(endpoint, answer);
        let run = verify(&workspace, &registry, &[]).ended_with(4);
        assert!(rules(&run, "deny").is_empty(), "{name}: {run}");
        assert_ne!(run.json()["unknown"], 0, "{name}: {run}");
        let tolerant = verify(&workspace, &registry, &["--inconclusive", "warn"]).ended_with(0);
        assert!(tolerant.stderr.contains("inconclusive: "), "{name}: {tolerant}");
        if name == "unauthorised" {
            let hint = run.json()["inconclusive"][0]["hints"][0].as_str().unwrap().to_owned();
            assert!(hint.contains("TF_TOKEN_"), "{hint}");
        }
    }
}

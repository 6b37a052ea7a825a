//! Networks and registries that give no answer: nothing is proven by that, and no one is accused.

use super::impatient;
use crate::support::locked::{honest, locked, rules, verify};
use crate::support::registry::{Answer, Endpoint};
use crate::support::side_by_side;

/// What is wrong, with which endpoint, and what it answers. The gate says exit code 4 and accuses no one; nor does
/// `lock`, and it writes nothing.
type Outage = (&'static str, Endpoint, fn() -> Answer);

const DOCUMENTS: &[Outage] = &[
    ("discovery is a page", Endpoint::Discovery, || Answer::html()),
    ("versions are a page", Endpoint::Versions, || Answer::html()),
    ("downloads are a page", Endpoint::Download, || Answer::html()),
    ("versions break off", Endpoint::Versions, || Answer::truncated()),
    ("forbidden", Endpoint::Versions, || Answer::status(403)),
    ("unauthorised", Endpoint::Versions, || Answer::status(401)),
    ("too many requests", Endpoint::Versions, || Answer::too_many_requests(600)),
    ("down", Endpoint::Discovery, || Answer::status(503)),
    ("redirected for ever", Endpoint::Versions, || Answer::redirects()),
    ("not JSON", Endpoint::Download, || Answer::json("[")),
    ("a version that is none", Endpoint::Versions, || Answer::json(r#"{"versions":[{"version":"v1"}]}"#)),
    ("another shape", Endpoint::Versions, || Answer::json(r#"{"versions":7}"#)),
    ("an object without members", Endpoint::Versions, || Answer::json("{}")),
    ("an array", Endpoint::Versions, || Answer::json("[]")),
    ("null", Endpoint::Versions, || Answer::json("null")),
    ("an error called success", Endpoint::Versions, || Answer::json(r#"{"error":"rate limit exceeded"}"#)),
    ("no member of a package", Endpoint::Download, || Answer::json("{}")),
];

const CHECKSUMS: &[Outage] = &[
    ("sums are a page", Endpoint::Sums, || Answer::html()),
    ("the signature is a page", Endpoint::Signature, || Answer::html()),
    ("sums break off", Endpoint::Sums, || Answer::truncated()),
    ("the signature breaks off", Endpoint::Signature, || Answer::truncated()),
    ("sums are forbidden", Endpoint::Sums, || Answer::status(403)),
    ("reset", Endpoint::Sums, || Answer::reset()),
    ("sums are redirected for ever", Endpoint::Sums, || Answer::redirects()),
];

const ARCHIVES: &[Outage] = &[
    ("archives are a page", Endpoint::Zip, || Answer::html()),
    ("archives break off", Endpoint::Zip, || Answer::truncated()),
    ("archives are forbidden", Endpoint::Zip, || Answer::status(403)),
    ("too many requests for archives", Endpoint::Zip, || Answer::too_many_requests(600)),
    ("archives are down", Endpoint::Zip, || Answer::status(500)),
    ("archives are redirected for ever", Endpoint::Zip, || Answer::redirects()),
];

#[test]
#[ignore = "long"]
fn documents_that_are_no_answer() {
    inconclusive(DOCUMENTS);
}

#[test]
#[ignore = "long"]
fn checksums_that_are_no_answer() {
    inconclusive(CHECKSUMS);
}

#[test]
#[ignore = "long"]
fn archives_that_are_no_answer() {
    inconclusive(ARCHIVES);
}

#[track_caller]
fn inconclusive(outages: &[Outage]) {
    side_by_side(outages, |(name, endpoint, answer)| {
        let registry = honest();
        let workspace = impatient(&registry);
        let registry = registry.answers(*endpoint, answer());
        let run = verify(&workspace, &registry, &[]).ended_with(4);
        assert!(rules(&run, "deny").is_empty(), "{name}: {run}");
        assert_ne!(run.json()["unknown"], 0, "{name}: {run}");
        let tolerant = verify(&workspace, &registry, &["--inconclusive", "warn"]).ended_with(0);
        assert!(tolerant.stderr.contains("inconclusive: "), "{name}: {tolerant}");
        assert_eq!(tolerant.json()["unknown"], run.json()["unknown"], "{name}: {tolerant}");
        if ["unauthorised", "forbidden"].contains(name) {
            let hint = run.json()["inconclusive"][0]["hints"][0].as_str().unwrap().to_owned();
            assert!(hint.contains("TF_TOKEN_"), "{hint}");
        }
        let platforms = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];
        let lock = ["lock", "--format", "json", "--no-cache"].iter().chain(&platforms);
        let run = workspace.tflock(&registry, lock);
        assert_eq!(run.code, Some(4), "{name}: {run}");
        assert!(run.touched().is_empty() && rules(&run, "deny").is_empty(), "{name}: {run}");
    });
}

/// An empty list is an answer.
#[test]
fn a_list_without_releases_says_so() {
    let registry = honest();
    let workspace = impatient(&registry);
    let empty = Answer::json(r#"{"Versions":[]}"#).only_for("acme/widget");
    let registry = registry.answers(Endpoint::Versions, empty);
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["version-withdrawn".to_owned()].into(), "{run}");
    assert!(run.stdout.contains("lists no release of provider"), "{run}");
    let run = workspace.tflock(&registry, ["lock", "--no-cache"]).ended_with(2);
    assert!(
        run.stderr
            .contains(&format!("provider registry {0} lists no release of provider {0}/acme/widget", registry.host())),
        "{run}"
    );
}

/// Tolerance is for what is unknown, never for what is known to be bad.
#[test]
fn tolerance_lets_no_attack_pass() {
    let registry = honest();
    let workspace = impatient(&registry);
    registry.republish("acme/widget", "1.4.0");
    let registry = registry.answers(Endpoint::Versions, Answer::status(503).only_for("acme/gadget"));
    let run = verify(&workspace, &registry, &["--inconclusive", "warn"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["republished".to_owned()].into(), "{run}");
}

#[test]
fn a_redirect_does_not_get_the_token() {
    for endpoint in [Endpoint::Versions, Endpoint::Download] {
        let registry = honest().requiring_token("secret").answers(endpoint, Answer::redirect_to_other_host());
        let workspace = locked(&registry).env("TF_TOKEN_{{registry}}", "secret");
        let run = verify(&workspace, &registry, &["-v"]);
        assert!(rules(&run, "deny").is_empty(), "{run}");
        assert!(!run.stdout.contains("secret") && !run.stderr.contains("secret"), "{run}");
        assert_eq!(registry.hosts_that_saw_a_token().into_iter().collect::<Vec<_>>(), [registry.host()]);
    }
}

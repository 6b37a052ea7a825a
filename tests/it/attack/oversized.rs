//! Answers without end: each is cut off at its bound and named, and the memory of the program with it.

use super::{impatient, widget};
use crate::support::locked::{honest, locked, rules, verify};
use crate::support::registry::{Answer, Endpoint, Registry};

const MIB: u64 = 1 << 20;

/// The document, how much of it is read, and the name of the limit in messages.
const BOUNDS: &[(Endpoint, u64, &str)] = &[
    (Endpoint::Discovery, MIB, "larger than 1048576 bytes"),
    (Endpoint::Versions, 10 * MIB, "larger than 10485760 bytes"),
    (Endpoint::Download, 10 * MIB, "larger than 10485760 bytes"),
    (Endpoint::Sums, MIB, "larger than 1048576 bytes"),
    (Endpoint::Signature, MIB / 16, "larger than 65536 bytes"),
];

fn world(endpoint: Endpoint, answer: Answer) -> (Registry, crate::support::workspace::Workspace) {
    let registry = honest();
    let workspace = impatient(&registry);
    (registry.answers(endpoint, answer), workspace)
}

#[test]
#[ignore = "long"]
fn documents_without_end_are_cut_off() {
    for (endpoint, bound, message) in BOUNDS {
        for announced in [None, Some(1 << 40)] {
            let answer = announced.map_or_else(Answer::endless, Answer::endless_of);
            let (registry, workspace) = world(*endpoint, answer);
            let run = verify(&workspace, &registry, &[]).ended_with(4);
            assert!(rules(&run, "deny").is_empty() && run.stdout.contains(message), "{endpoint:?}: {run}");
            // Two providers, and what lies in the buffers of two connections.
            let read = registry.endless_bytes();
            assert!(read <= 2 * bound + 32 * MIB, "{endpoint:?}: {read} bytes were read");
        }
    }
}

#[test]
fn archives_without_end_are_cut_off() {
    let (registry, workspace) = world(Endpoint::Zip, Answer::endless_of(1 << 40));
    let run = verify(&workspace, &registry, &["--max-download", "16TiB"]).ended_with(4);
    assert!(rules(&run, "deny").is_empty() && run.stdout.contains("larger than 4294967296 bytes"), "{run}");
    let read = registry.endless_bytes();
    assert!(read <= 64 * MIB, "{read} bytes were read");
}

#[test]
fn long_lists_within_the_bounds_are_read() {
    // A list of some megabytes, of versions that were not requested.
    let registry = (0..500).fold(honest(), |it, n| it.release("acme/widget", &format!("0.0.{n}"), &["linux_amd64"]));
    let lines: Vec<String> = (0..5000).map(|n| format!("{n:064x}  other_{n}.txt")).collect();
    let registry = lines.iter().fold(widget(registry), |registry, line| registry.sums_line(line));
    let workspace = locked(&registry);
    verify(&workspace, &registry, &[]).ended_with(0);
}

#[test]
fn key_blocks_without_end_are_refused() {
    let garbage = format!("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{}", "mQINBFIt\n".repeat(900_000));
    let registry = honest();
    let workspace = locked(&registry);
    let package = registry.package("acme/widget", "1.4.0", "linux_amd64");
    let files = format!("https://{}/files/acme/widget/1.4.0/terraform-provider-widget_1.4.0", registry.host());
    let document = format!(
        r#"{{"protocols":["5.0"],"os":"linux","arch":"amd64","filename":"terraform-provider-widget_1.4.0_linux_amd64.zip",
        "download_url":"{files}_linux_amd64.zip","shasums_url":"{files}_SHA256SUMS",
        "shasums_signature_url":"{files}_SHA256SUMS.sig","shasum":"{}",
        "signing_keys":{{"gpg_public_keys":[{{"key_id":"0","ascii_armor":{}}}]}}}}"#,
        package.sha256,
        serde_json::Value::from(garbage),
    );
    let registry = registry.answers(Endpoint::Download, Answer::json(document).only_for("acme/widget"));
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["bad-signature".to_owned()].into());
    assert!(run.stdout.len() < 20_000 && run.stderr.len() < 20_000, "{} {}", run.stdout.len(), run.stderr.len());
}

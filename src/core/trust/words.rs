//! Signers in words: who signed, and what is said of a signer that is not the remembered one.
//!
//! Every command that reports signers takes its words from here.

use std::collections::BTreeSet;

use super::judge::Verdict;
use super::pins::Signer;
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::version::Version;

pub fn by(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => format!("signed by {key}"),
        Signer::Unsigned => "not signed".to_owned(),
    }
}

/// Some signers, in the order of their texts.
pub fn all(signers: &BTreeSet<Signer>) -> String {
    let texts: Vec<String> = signers.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// The finding of a verdict about the signer of a release; none for one that accepts.
pub fn refused(addr: &ProviderAddr, version: &Version, signer: &Signer, verdict: Verdict) -> Option<Finding> {
    let name = format!("{addr} {version} is {}", by(signer));
    let (rule, message) = match verdict {
        Verdict::Known(_) => return None,
        Verdict::FirstUse => {
            (Rule::FirstUseForbidden, format!("{name}, and no signer of this provider is remembered yet"))
        }
        Verdict::KeyChanged { pin, accepted } => {
            (Rule::SignerChanged, format!("{name}; {pin} is pinned to {}", all(&accepted)))
        }
        Verdict::Retired { pin, accepted } => {
            let what = "a signer that was replaced since and does not count for this version";
            (Rule::SignerChanged, format!("{name}, {what}; {pin} is pinned to {}", all(&accepted)))
        }
        Verdict::UnsignedAfterSigned { pin, accepted } => {
            (Rule::UnsignedAfterSigned, format!("{name}; {pin} is pinned to {}", all(&accepted)))
        }
        Verdict::Denied { key, reason } => {
            (Rule::SignerDenied, format!("{addr} {version} is signed by {key}, which the trust file denies: {reason}"))
        }
    };
    Some(by_signer(Finding::new(rule, message).about(addr), signer))
}

/// A finding about a signer, with what to do about this very one.
pub fn by_signer(finding: Finding, signer: &Signer) -> Finding {
    match (signer, finding.rule) {
        (Signer::Key(key), _) => finding.filled("FINGERPRINT", key.as_str()),
        (Signer::Unsigned, Rule::SignerNotPinned) => {
            let addr = finding.address.as_ref().map(ToString::to_string).unwrap_or_default();
            finding.remedied_by(&format!(
                "Ask its publisher whether releases are meant to be unsigned; then `tflock trust add {addr} unsigned`, or \
                 `tflock trust init` for all."
            ))
        }
        (Signer::Unsigned, Rule::UnexpectedPublisher) => finding.filled("FINGERPRINT", Signer::UNSIGNED).remedied_by(
            "Ask the publisher why the release is not signed; if that is meant: `tflock trust add ADDR unsigned --reason TEXT`.",
        ),
        (Signer::Unsigned, _) => finding,
    }
}

/// The finding that no signer is remembered for the provider of a release.
pub fn not_pinned(addr: &ProviderAddr, version: &Version, signer: &Signer) -> Finding {
    let message = format!("{addr} {version} is {}, but no signer of this provider is remembered", by(signer));
    by_signer(Finding::new(Rule::SignerNotPinned, message).about(addr), signer)
}

/// The finding if a source names no signer, and first uses are forbidden.
pub fn unknown_signer(addr: &ProviderAddr, version: &Version) -> Finding {
    let message = format!("{addr} {version} comes from a mirror, which says nothing of its signer");
    Finding::new(Rule::FirstUseForbidden, message).about(addr)
}

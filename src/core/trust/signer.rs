//! Signer continuity: may this signer have signed this release?
//!
//! The judgment is about fingerprints of primary keys only: a renewed copy of a key, with a later expiry, is the same
//! key. A pin counts for its own host and namespace, never for another.
//!
//! Every command that reports signers takes its words from here, and what a run learns about signers for the trust file.

use std::collections::BTreeSet;

use super::Fingerprint;
use super::pins::{Pin, Pins, Republication, Signer};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::settings::Date;
use crate::step::Hole;
use crate::version::Version;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignerVerdict {
    /// The signer is accepted for this version, by the pin of this pattern.
    Known(AddrPattern),
    /// No signer is remembered for the provider.
    FirstUse,
    KeyChanged {
        pin: AddrPattern,
        accepted: BTreeSet<Signer>,
    },
    /// A key signed that was replaced since, and not one of the versions that it still counts for.
    Retired {
        pin: AddrPattern,
        accepted: BTreeSet<Signer>,
    },
    /// Not signed, where it was before.
    UnsignedAfterSigned {
        pin: AddrPattern,
        accepted: BTreeSet<Signer>,
    },
    /// The key is denied, whatever a pin says.
    Denied {
        key: Fingerprint,
        /// Why, as the trust file says; `revoked` for one that was seen revoked.
        reason: String,
    },
}

impl SignerVerdict {
    /// True if the release may be used without approval.
    pub fn accepts(&self) -> bool {
        matches!(self, Self::Known(_))
    }
}

/// The denial of a key or of the subkey that signed, if there is one.
pub fn denied(pins: &Pins, key: Option<&Fingerprint>) -> Option<SignerVerdict> {
    let (key, reason) = pins.denied.get_key_value(key?)?;
    Some(SignerVerdict::Denied { key: key.clone(), reason: reason.clone() })
}

pub fn judge(pins: &Pins, addr: &ProviderAddr, version: &Version, signer: &Signer) -> SignerVerdict {
    if let Some(denied) = denied(pins, signer.key()) {
        return denied;
    }
    let Some((pattern, pin)) = pins.pin(addr) else { return SignerVerdict::FirstUse };
    if pin.accepts(signer, version) {
        return SignerVerdict::Known(pattern.clone());
    }
    let (accepted, retired) = (pin.signers.clone(), pin.retired.contains_key(signer));
    let pin = pattern.clone();
    match signer {
        Signer::Unsigned => SignerVerdict::UnsignedAfterSigned { pin, accepted },
        Signer::Key(_) if retired => SignerVerdict::Retired { pin, accepted },
        Signer::Key(_) => SignerVerdict::KeyChanged { pin, accepted },
    }
}

pub fn signed_by(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => format!("signed by {key}"),
        Signer::Unsigned => "not signed".to_owned(),
    }
}

/// Some signers, in the order of their texts.
pub fn listed(signers: &BTreeSet<Signer>) -> String {
    let texts: Vec<String> = signers.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// The finding of a verdict about the signer of a release; none for one that accepts.
pub fn refused(addr: &ProviderAddr, version: &Version, signer: &Signer, verdict: SignerVerdict) -> Option<Finding> {
    let name = format!("{addr} {version} is {}", signed_by(signer));
    let (rule, message) = match verdict {
        SignerVerdict::Known(_) => return None,
        SignerVerdict::FirstUse => {
            (Rule::FirstUseForbidden, format!("{name}, and no signer of this provider is remembered yet"))
        }
        SignerVerdict::KeyChanged { pin, accepted } => {
            (Rule::SignerChanged, format!("{name}; {pin} is pinned to {}", listed(&accepted)))
        }
        SignerVerdict::Retired { pin, accepted } => {
            let what = "a signer that was replaced since and does not count for this version";
            (Rule::SignerChanged, format!("{name}, {what}; {pin} is pinned to {}", listed(&accepted)))
        }
        SignerVerdict::UnsignedAfterSigned { pin, accepted } => {
            (Rule::UnsignedAfterSigned, format!("{name}; {pin} is pinned to {}", listed(&accepted)))
        }
        SignerVerdict::Denied { key, reason } => {
            (Rule::SignerDenied, format!("{addr} {version} is signed by {key}, which the trust file denies: {reason}"))
        }
    };
    Some(by_signer(Finding::new(rule, message).about(addr), signer))
}

/// A finding about a signer, with what to do about this very one.
pub fn by_signer(finding: Finding, signer: &Signer) -> Finding {
    match (signer, finding.rule) {
        (Signer::Key(key), _) => finding.filled(Hole::Fingerprint, key.as_str()),
        (Signer::Unsigned, Rule::SignerNotPinned) => {
            let addr = finding.address.as_ref().map(ToString::to_string).unwrap_or_default();
            finding.remedied_by(step!(
                "Ask its publisher whether releases are meant to be unsigned; then `tflock trust add {} unsigned`, or \
                 `tflock trust init` for all.",
                addr
            ))
        }
        (Signer::Unsigned, Rule::UnexpectedPublisher) => finding.remedied_by(step!("Ask the publisher why the release is not signed; if that is meant: `tflock trust add ADDR unsigned --reason TEXT`.")),
        (Signer::Unsigned, _) => finding,
    }
}

/// The finding that no signer is remembered for the provider of a release.
pub fn not_pinned(addr: &ProviderAddr, version: &Version, signer: &Signer) -> Finding {
    let message = format!("{addr} {version} is {}, but no signer of this provider is remembered", signed_by(signer));
    by_signer(Finding::new(Rule::SignerNotPinned, message).about(addr), signer)
}

/// The finding if a source names no signer, and first uses are forbidden.
pub fn unknown_signer(addr: &ProviderAddr, version: &Version) -> Finding {
    let message = format!("{addr} {version} comes from a mirror, which says nothing of its signer");
    Finding::new(Rule::FirstUseForbidden, message).about(addr)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustUpdate {
    FirstUse {
        address: ProviderAddr,
        version: Version,
        signer: Signer,
    },
    /// Who signed a release of a provider that no signer was remembered for, where the same archives at another address
    /// are those of a remembered signer.
    Carried {
        /// The other address, whose pin applies to this one too.
        from: ProviderAddr,
        address: ProviderAddr,
        version: Version,
        signer: Signer,
    },
    /// A key whose owner revoked it.
    Revoked {
        key: Fingerprint,
        /// Where and when that was seen.
        reason: String,
    },
    /// A release that someone accepted though it was not the recorded one.
    Republished {
        republication: Republication,
        reason: String,
    },
}

impl TrustUpdate {
    /// The update by a release that is refused since its key is revoked.
    pub fn of_revoked(key: Fingerprint, address: &ProviderAddr, day: Date) -> Self {
        Self::Revoked { key, reason: format!("revoked: seen with {address} on {day}") }
    }

    pub fn apply(&self, pins: &mut Pins) -> Result<bool, Error> {
        match self {
            Self::FirstUse { address, version, signer } => match judge(pins, address, version, signer) {
                SignerVerdict::Known(_) => Ok(false),
                SignerVerdict::FirstUse => Ok(pins.exact(address).signers.insert(signer.clone())),
                verdict => {
                    let finding = refused(address, version, signer, verdict);
                    Err(Error::new(
                        ErrorKind::Trust,
                        finding.map_or(String::new(), |finding| finding.message().to_owned()),
                    ))
                }
            },
            Self::Carried { from, address, version, signer } => {
                let pin = pins.pin(from).map(|(_, pin)| pin.clone()).filter(|pin| pin.accepts(signer, version));
                let first =
                    Self::FirstUse { address: address.clone(), version: version.clone(), signer: signer.clone() };
                let new = first.apply(pins)?;
                if let Some(pin) = pin.filter(|_| new) {
                    // Where the releases of the other address are built is another matter.
                    *pins.exact(address) = Pin { built_by: None, ..pin };
                }
                Ok(new)
            }
            Self::Revoked { key, reason } => {
                let new = !pins.denied.contains_key(key);
                pins.denied.entry(key.clone()).or_insert_with(|| reason.clone());
                Ok(new)
            }
            Self::Republished { republication, reason } => {
                Ok(pins.republished.insert(republication.clone(), reason.clone()).as_ref() != Some(reason))
            }
        }
    }
}

#[cfg(test)]
mod judge_tests {
    use std::path::Path;

    use super::*;
    use crate::dialect::Dialect;
    use crate::trust::pins::decode;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn verdict(text: &str, addr: &str, version: &str, signer: &str) -> SignerVerdict {
        let pins = decode(text, Path::new("x")).unwrap().pins;
        let addr = ProviderAddr::parse(addr, Dialect::Terraform).unwrap();
        judge(&pins, &addr, &version.parse().unwrap(), &signer.parse().unwrap())
    }

    #[test]
    fn a_pin_applies_to_its_own_address() {
        let pins = format!("provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{A}\"]\n}}\n");
        assert!(verdict(&pins, "acme/widget", "1.0.0", A).accepts());
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.0", B), SignerVerdict::KeyChanged { .. }));
        assert!(matches!(
            verdict(&pins, "acme/widget", "1.0.0", "unsigned"),
            SignerVerdict::UnsignedAfterSigned { .. }
        ));
        for other in ["acme/gadget", "other/widget", "registry.opentofu.org/acme/widget"] {
            assert_eq!(verdict(&pins, other, "1.0.0", A), SignerVerdict::FirstUse);
        }
    }

    #[test]
    fn the_most_specific_pin_counts() {
        let pins = format!(
            "provider \"registry.terraform.io/*/*\" {{\n signers = [\"{A}\"]\n}}\n\
             provider \"registry.terraform.io/acme/*\" {{\n unsigned = true\n}}\n\
             provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{B}\"]\n}}\n"
        );
        assert!(verdict(&pins, "x/y", "1.0.0", A).accepts());
        assert!(verdict(&pins, "acme/gadget", "1.0.0", "unsigned").accepts());
        assert!(verdict(&pins, "acme/widget", "1.0.0", B).accepts());
        assert!(matches!(verdict(&pins, "acme/gadget", "1.0.0", A), SignerVerdict::KeyChanged { .. }));
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.0", A), SignerVerdict::KeyChanged { .. }));
        assert_eq!(verdict(&pins, "example.com/acme/widget", "1.0.0", A), SignerVerdict::FirstUse);
    }

    #[test]
    fn a_retired_signer_is_accepted_for_its_versions() {
        let pins = format!(
            "provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{B}\"]\n \
             retired_signer \"{A}\" {{\n versions = [\"1.0.0\"]\n }}\n \
             retired_signer \"unsigned\" {{\n versions = [\"0.9.0\"]\n }}\n}}\n"
        );
        assert!(verdict(&pins, "acme/widget", "1.0.0", A).accepts());
        assert!(verdict(&pins, "acme/widget", "1.0.0", B).accepts());
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.1", A), SignerVerdict::Retired { .. }));
        assert!(verdict(&pins, "acme/widget", "0.9.0", "unsigned").accepts());
        assert!(matches!(
            verdict(&pins, "acme/widget", "1.0.0", "unsigned"),
            SignerVerdict::UnsignedAfterSigned { .. }
        ));
    }

    #[test]
    fn a_denied_key_is_denied_whatever_a_pin_says() {
        let pins = format!(
            "provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{A}\"]\n}}\n\
             denied_signer \"{A}\" {{\n reason = \"revoked\"\n}}\n"
        );
        let denied = SignerVerdict::Denied { key: A.parse().unwrap(), reason: "revoked".to_owned() };
        assert_eq!(verdict(&pins, "acme/widget", "1.0.0", A), denied);
        assert_eq!(verdict(&pins, "acme/gadget", "1.0.0", A), denied);
    }
}

#[cfg(test)]
mod update_tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::finding::Rule;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn addr() -> ProviderAddr {
        ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap()
    }

    #[test]
    fn what_another_run_remembered_is_not_overwritten() {
        let key = |text: &str| Signer::Key(text.parse().unwrap());
        let update = |signer| TrustUpdate::FirstUse { address: addr(), version: Version::new(1, 0, 0), signer };
        let mut pins = Pins::default();
        update(key(A)).apply(&mut pins).unwrap();
        let error = update(key(B)).apply(&mut pins).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Trust);
        assert_eq!(pins.exact(&addr()).signers, [key(A)].into());
    }

    #[test]
    fn a_revoked_key_is_denied_for_good() {
        let mut pins = Pins::default();
        let update = TrustUpdate::of_revoked(A.parse().unwrap(), &addr(), "2026-11-20".parse().unwrap());
        assert!(update.apply(&mut pins).unwrap());
        assert!(!update.apply(&mut pins).unwrap());
        let (version, signer) = (Version::new(1, 0, 0), A.parse().unwrap());
        let refused = refused(&addr(), &version, &signer, judge(&pins, &addr(), &version, &signer)).unwrap();
        assert_eq!(refused.rule, Rule::SignerDenied);
        assert!(
            refused.message().ends_with("denies: revoked: seen with registry.terraform.io/acme/widget on 2026-11-20")
        );
    }
}

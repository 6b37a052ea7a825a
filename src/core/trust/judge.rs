//! Signer continuity: may this signer have signed this release?
//!
//! The judgment is about fingerprints of primary keys only: a renewed copy of a key, with a later expiry, is the same
//! key. A pin counts for its own host and namespace, never for another.

use std::collections::BTreeSet;

use super::Fingerprint;
use super::pins::{Pins, Signer};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::version::Version;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
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

impl Verdict {
    /// True if the release may be used without approval.
    pub fn accepts(&self) -> bool {
        matches!(self, Self::Known(_))
    }
}

/// The denial of a key or of the subkey that signed, if there is one.
pub fn denied(pins: &Pins, key: Option<&Fingerprint>) -> Option<Verdict> {
    let (key, reason) = pins.denied.get_key_value(key?)?;
    Some(Verdict::Denied { key: key.clone(), reason: reason.clone() })
}

pub fn judge(pins: &Pins, addr: &ProviderAddr, version: &Version, signer: &Signer) -> Verdict {
    if let Some(denied) = denied(pins, signer.key()) {
        return denied;
    }
    let Some((pattern, pin)) = pins.pin(addr) else { return Verdict::FirstUse };
    if pin.accepts(signer, version) {
        return Verdict::Known(pattern.clone());
    }
    let (accepted, retired) = (pin.signers.clone(), pin.retired.contains_key(signer));
    let pin = pattern.clone();
    match signer {
        Signer::Unsigned => Verdict::UnsignedAfterSigned { pin, accepted },
        Signer::Key(_) if retired => Verdict::Retired { pin, accepted },
        Signer::Key(_) => Verdict::KeyChanged { pin, accepted },
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::dialect::Dialect;
    use crate::trust::pins::decode;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn verdict(text: &str, addr: &str, version: &str, signer: &str) -> Verdict {
        let pins = decode(text, Path::new("x")).unwrap().pins;
        let addr = ProviderAddr::parse(addr, Dialect::Terraform).unwrap();
        judge(&pins, &addr, &version.parse().unwrap(), &signer.parse().unwrap())
    }

    #[test]
    fn a_pin_applies_to_its_own_address() {
        let pins = format!("provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{A}\"]\n}}\n");
        assert!(verdict(&pins, "acme/widget", "1.0.0", A).accepts());
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.0", B), Verdict::KeyChanged { .. }));
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.0", "unsigned"), Verdict::UnsignedAfterSigned { .. }));
        for other in ["acme/gadget", "other/widget", "registry.opentofu.org/acme/widget"] {
            assert_eq!(verdict(&pins, other, "1.0.0", A), Verdict::FirstUse);
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
        assert!(matches!(verdict(&pins, "acme/gadget", "1.0.0", A), Verdict::KeyChanged { .. }));
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.0", A), Verdict::KeyChanged { .. }));
        assert_eq!(verdict(&pins, "example.com/acme/widget", "1.0.0", A), Verdict::FirstUse);
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
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.1", A), Verdict::Retired { .. }));
        assert!(verdict(&pins, "acme/widget", "0.9.0", "unsigned").accepts());
        assert!(matches!(verdict(&pins, "acme/widget", "1.0.0", "unsigned"), Verdict::UnsignedAfterSigned { .. }));
    }

    #[test]
    fn a_denied_key_is_denied_whatever_a_pin_says() {
        let pins = format!(
            "provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{A}\"]\n}}\n\
             denied_signer \"{A}\" {{\n reason = \"revoked\"\n}}\n"
        );
        let denied = Verdict::Denied { key: A.parse().unwrap(), reason: "revoked".to_owned() };
        assert_eq!(verdict(&pins, "acme/widget", "1.0.0", A), denied);
        assert_eq!(verdict(&pins, "acme/gadget", "1.0.0", A), denied);
    }
}

//! What a run learns about signers, for the trust file.

use super::Fingerprint;
use super::judge::{Verdict, judge};
use super::pins::{Pins, Republication, Signer};
use super::words::refused;
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::settings::Date;
use crate::version::Version;

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
                Verdict::Known(_) => Ok(false),
                Verdict::FirstUse => Ok(pins.exact(address).signers.insert(signer.clone())),
                verdict => {
                    let finding = refused(address, version, signer, verdict);
                    Err(Error::new(ErrorKind::Trust, finding.map_or(String::new(), |finding| finding.message)))
                }
            },
            Self::Carried { from, address, version, signer } => {
                let pin = pins.pin(from).map(|(_, pin)| pin.clone()).filter(|pin| pin.accepts(signer, version));
                let first =
                    Self::FirstUse { address: address.clone(), version: version.clone(), signer: signer.clone() };
                let new = first.apply(pins)?;
                if let Some(pin) = pin.filter(|_| new) {
                    *pins.exact(address) = pin;
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
mod tests {
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
            refused.message.ends_with("denies: revoked: seen with registry.terraform.io/acme/widget on 2026-11-20")
        );
    }
}

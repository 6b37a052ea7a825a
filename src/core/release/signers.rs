//! Signer continuity of a release: is its signer a remembered one, and what is to be remembered of it?
//!
//! Pure: remembered pins and a release in, updates of the trust file and findings out. What is learned for a root module
//! counts for those settled after it, and is written only if the root module is.

use super::Release;
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Level, Rule};
use crate::settings::ExpiredKeyRule;
use crate::trust::judge::{Verdict, denied, judge};
use crate::trust::openpgp::{Lapse, Verified};
use crate::trust::pins::{Pins, Signer};
use crate::trust::update::TrustUpdate;
use crate::trust::words::{refused, unknown_signer};
use crate::version::Version;

/// What happens when no signer is remembered for a provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FirstUseRule {
    /// The signer is remembered for the exact address.
    #[default]
    Remember,
    /// A release that is new to the lock file is refused; of a recorded one nothing is learned.
    Refuse,
}

/// What the remembered signers say about a release that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignerMemory {
    /// The signer was remembered.
    Pinned,
    /// No signer was remembered: this one is to be.
    First(Box<TrustUpdate>),
    /// There is nothing to remember: a mirror proves no signer, or nothing may be learned.
    Unknown,
}

/// What the remembered signers say of one, which may have signed with a subkey that is denied.
pub fn verdict(pins: &Pins, release: &Release, signer: &Signer) -> Verdict {
    let of_subkey = denied(pins, release.subkey.as_ref());
    of_subkey.unwrap_or_else(|| judge(pins, &release.address, &release.version, signer))
}

/// Judges a release by what is remembered. `is_new` says whether it is new to the lock file.
pub fn remembered(pins: &Pins, release: &Release, rule: FirstUseRule, is_new: bool) -> Result<SignerMemory, Finding> {
    let (address, version) = (&release.address, &release.version);
    let Some(signer) = &release.signer else {
        let forbidden = rule == FirstUseRule::Refuse && is_new;
        return if forbidden { Err(unknown_signer(address, version)) } else { Ok(SignerMemory::Unknown) };
    };
    match verdict(pins, release, signer) {
        Verdict::Known(_) => Ok(SignerMemory::Pinned),
        Verdict::FirstUse if rule == FirstUseRule::Remember => {
            let (address, version, signer) = (address.clone(), version.clone(), signer.clone());
            Ok(SignerMemory::First(Box::new(TrustUpdate::FirstUse { address, version, signer })))
        }
        Verdict::FirstUse if !is_new => Ok(SignerMemory::Unknown),
        verdict => refused(address, version, signer, verdict).map_or(Ok(SignerMemory::Pinned), Err),
    }
}

/// The pin of the old address of a release whose archives are the same at a new one, where no signer is remembered; none
/// if it does not apply to this signer.
pub fn carried(pins: &Pins, from: &ProviderAddr, release: &Release) -> Option<TrustUpdate> {
    let (address, version, signer) = (&release.address, &release.version, release.signer.clone()?);
    let known = judge(pins, from, version, &signer).accepts();
    let unknown = judge(pins, address, version, &signer) == Verdict::FirstUse;
    let (from, address, version) = (from.clone(), address.clone(), version.clone());
    (known && unknown).then_some(TrustUpdate::Carried { from, address, version, signer })
}

/// What the expiry of keys and signatures means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExpiryRules {
    /// A key that had expired when it signed.
    pub at_signing: ExpiredKeyRule,
    /// A key that has expired since.
    pub since: ExpiredKeyRule,
    /// A signature that has expired itself, or is dated in the future.
    pub signature: ExpiredKeyRule,
}

impl Default for ExpiryRules {
    /// What Terraform makes of them, with a word about the first.
    fn default() -> Self {
        Self { at_signing: ExpiredKeyRule::Warn, since: ExpiredKeyRule::Allow, signature: ExpiredKeyRule::Deny }
    }
}

impl ExpiryRules {
    /// Of each, the stricter.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self {
            at_signing: self.at_signing.max(other.at_signing),
            since: self.since.max(other.since),
            signature: self.signature.max(other.signature),
        }
    }

    /// What has expired about a signature, if that is to be reported: the worst thing only.
    pub fn finding(&self, addr: &ProviderAddr, version: &Version, verified: &Verified) -> Option<Finding> {
        let key = &verified.fingerprint;
        let (message, rule) = match verified {
            Verified { lapse: Some(Lapse::Expired), .. } => {
                (format!("the signature of {addr} {version} by the signing key {key} has expired"), self.signature)
            }
            Verified { lapse: Some(Lapse::Future), .. } => (
                format!("the signature of {addr} {version} by the signing key {key} is dated in the future"),
                self.signature,
            ),
            Verified { expired: true, .. } => {
                (format!("the signing key {key} had expired when it signed {addr} {version}"), self.at_signing)
            }
            Verified { expired_now: true, .. } => {
                (format!("the signing key {key} has expired since it signed {addr} {version}"), self.since)
            }
            _ => return None,
        };
        let finding = Finding::new(Rule::ExpiredKey, message).about(addr);
        match rule {
            ExpiredKeyRule::Allow => None,
            ExpiredKeyRule::Warn => Some(finding),
            ExpiredKeyRule::Deny => Some(Finding { level: Level::Deny, ..finding }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Hostname;
    use crate::dialect::Dialect;
    use crate::error::ErrorKind;
    use crate::finding::Rule;
    use crate::version::Version;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn addr() -> ProviderAddr {
        ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap()
    }

    fn release(signer: Option<Signer>) -> Release {
        Release { signer, ..Release::new(addr(), Version::new(1, 0, 0)) }
    }

    fn signed(signer: &str) -> Release {
        release(Some(signer.parse().unwrap()))
    }

    #[test]
    fn a_first_use_is_learned_once() {
        let mut pins = Pins::default();
        let by_a = signed(A);
        let first = remembered(&pins, &by_a, FirstUseRule::Remember, true).unwrap();
        let SignerMemory::First(update) = first else { panic!("{first:?}") };
        assert!(update.apply(&mut pins).unwrap());
        assert!(!update.apply(&mut pins).unwrap());
        let again = remembered(&pins, &by_a, FirstUseRule::Refuse, true);
        assert_eq!(again, Ok(SignerMemory::Pinned));
        let other = signed(B);
        let refused = remembered(&pins, &other, FirstUseRule::Remember, true).unwrap_err();
        assert_eq!(refused.rule, Rule::SignerChanged);
        let unsigned = signed("unsigned");
        let refused = remembered(&pins, &unsigned, FirstUseRule::Remember, true).unwrap_err();
        assert_eq!(refused.rule, Rule::UnsignedAfterSigned);
    }

    #[test]
    fn a_policy_without_first_uses_remembers_no_signer() {
        let unsigned = signed("unsigned");
        let pins = Pins::default();
        let refused = remembered(&pins, &unsigned, FirstUseRule::Refuse, true).unwrap_err();
        assert_eq!(refused.rule, Rule::FirstUseForbidden);
        let recorded = remembered(&pins, &unsigned, FirstUseRule::Refuse, false);
        assert_eq!(recorded, Ok(SignerMemory::Unknown));
        let mirror = remembered(&pins, &release(None), FirstUseRule::Refuse, true);
        assert_eq!(mirror.unwrap_err().rule, Rule::FirstUseForbidden);
    }

    #[test]
    fn a_pin_is_carried_to_another_address_whole() {
        let from = addr().at(Hostname::parse("registry.opentofu.org").unwrap());
        let key = |text: &str| Signer::Key(text.parse().unwrap());
        let by_a = signed(A);
        let mut pins = Pins::default();
        assert_eq!(carried(&pins, &from, &by_a), None);
        pins.exact(&from).signers = [key(A), key(B)].into();
        let update = carried(&pins, &from, &by_a).unwrap();
        assert!(update.apply(&mut pins).unwrap() && !update.apply(&mut pins).unwrap());
        assert_eq!(pins.exact(&addr()).signers, [key(A), key(B)].into());
        // Who is remembered here already counts.
        pins.exact(&addr()).signers = [key(B)].into();
        assert_eq!(carried(&pins, &from, &by_a), None);
        assert_eq!(update.apply(&mut pins).unwrap_err().kind, ErrorKind::Trust);
        pins.denied.insert(A.parse().unwrap(), "lost".to_owned());
        assert_eq!(carried(&pins, &from, &by_a), None);
    }
}

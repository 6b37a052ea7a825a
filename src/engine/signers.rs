//! Signer continuity of the releases that a run looks at, and what the run learns about signers.
//!
//! Pure: remembered pins and facts in, lessons and findings out. What is learned for a root module counts for those
//! settled after it, and is written only if the root module is.

use super::facts::{Origin, ReleaseFacts, Signature};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::outcome;
use crate::settings::Date;
use crate::trust::Fingerprint;
use crate::trust::judge::{Verdict, denied, judge};
use crate::trust::pins::{Pins, Republication, Signer};
use crate::version::Version;

/// What happens when nobody is remembered for a provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FirstUseRule {
    /// The signer is remembered for the exact address.
    #[default]
    Remember,
    /// A release that is new to the lock file is refused; of a recorded one nothing is learned.
    Refuse,
}

/// One thing for the trust file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lesson {
    /// Who signed a release of a provider that nobody was remembered for.
    FirstUse {
        /// The provider.
        address: ProviderAddr,
        /// Which release.
        version: Version,
        /// Who signed it.
        signer: Signer,
    },
    /// Who signed a release of a provider that nobody was remembered for, where the same archives at another address
    /// are those of a remembered signer.
    Carried {
        /// The other address, whose pin holds for this one too.
        from: ProviderAddr,
        /// The provider.
        address: ProviderAddr,
        /// Which release.
        version: Version,
        /// Who signed it.
        signer: Signer,
    },
    /// A key whose owner revoked it.
    Revoked {
        /// The key.
        key: Fingerprint,
        /// Where and when that was seen.
        reason: String,
    },
    /// A release that somebody accepted though it was not the recorded one.
    Republished {
        /// Which one, and when.
        republication: Republication,
        /// Why.
        reason: String,
    },
}

/// What memory says about a release that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// The signer was remembered.
    Pinned,
    /// Nobody was remembered: this is to be.
    First(Box<Lesson>),
    /// There is nothing to remember: a mirror vouches for nobody, or nothing may be learned.
    Unknown,
}

impl Lesson {
    /// The lesson of a release that is refused since its key is revoked.
    pub fn of_revoked(key: Fingerprint, address: &ProviderAddr, day: Date) -> Self {
        Self::Revoked { key, reason: format!("revoked: seen with {address} on {day}") }
    }

    /// Adds the lesson to what is remembered; true if that is new.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Trust`] if another signer was remembered meanwhile.
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

/// Judges a release by what is remembered. `is_new` says whether it is new to the lock file.
///
/// # Errors
///
/// A finding at level deny.
pub fn remembered(
    pins: &Pins,
    addr: &ProviderAddr,
    facts: &ReleaseFacts,
    (rule, is_new): (FirstUseRule, bool),
) -> Result<Signed, Finding> {
    let Some(signer) = signer(&facts.origin) else { return Ok(Signed::Unknown) };
    let of_subkey = denied(pins, facts.subkey.as_ref());
    match of_subkey.unwrap_or_else(|| judge(pins, addr, &facts.version, &signer)) {
        Verdict::Known(_) => Ok(Signed::Pinned),
        Verdict::FirstUse if rule == FirstUseRule::Remember => {
            let lesson = Lesson::FirstUse { address: addr.clone(), version: facts.version.clone(), signer };
            Ok(Signed::First(Box::new(lesson)))
        }
        Verdict::FirstUse if !is_new => Ok(Signed::Unknown),
        verdict => match refused(addr, &facts.version, &signer, verdict) {
            Some(finding) => Err(finding),
            None => Ok(Signed::Pinned),
        },
    }
}

/// The pin of the old address of a release whose archives are the same at a new one, where nobody is remembered; none
/// if it does not hold for who signed here.
pub fn carried(pins: &Pins, (from, addr): (&ProviderAddr, &ProviderAddr), facts: &ReleaseFacts) -> Option<Lesson> {
    let signer = signer(&facts.origin)?;
    let known = judge(pins, from, &facts.version, &signer).accepts();
    let unknown = judge(pins, addr, &facts.version, &signer) == Verdict::FirstUse;
    let (from, address, version) = (from.clone(), addr.clone(), facts.version.clone());
    (known && unknown).then_some(Lesson::Carried { from, address, version, signer })
}

/// Who signed, where that can be told.
pub fn signer(origin: &Origin) -> Option<Signer> {
    match origin {
        Origin::Registry { signer, .. } => of_signature(signer),
        Origin::Mirror => None,
    }
}

/// The signer that a checked signature names.
pub fn of_signature(signature: &Signature) -> Option<Signer> {
    match signature {
        Signature::By(key) => key.parse().ok().map(Signer::Key),
        Signature::Unsigned => Some(Signer::Unsigned),
    }
}

impl From<Signer> for outcome::Signer {
    fn from(signer: Signer) -> Self {
        match signer {
            Signer::Key(key) => Self::Key(key.to_string()),
            Signer::Unsigned => Self::Unsigned,
        }
    }
}

/// The finding of a verdict; none for one that accepts.
pub fn refused(addr: &ProviderAddr, version: &Version, signer: &Signer, verdict: Verdict) -> Option<Finding> {
    let names = |accepted: &std::collections::BTreeSet<Signer>| {
        let names: Vec<String> = accepted.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    let (rule, message) = match verdict {
        Verdict::Known(_) => return None,
        Verdict::FirstUse => (
            Rule::FirstUseForbidden,
            format!("{addr} {version} is {}, and no signer of it is remembered yet", by(signer)),
        ),
        Verdict::KeyChanged { pin, accepted } => (
            Rule::SignerChanged,
            format!("{addr} {version} is {}, but for {pin} is remembered: {}", by(signer), names(&accepted)),
        ),
        Verdict::Retired { pin, accepted } => (
            Rule::SignerChanged,
            format!(
                "{addr} {version} is {}, which counts for older versions only; for {pin} is remembered: {}",
                by(signer),
                names(&accepted)
            ),
        ),
        Verdict::UnsignedAfterSigned { pin, accepted } => (
            Rule::UnsignedAfterSigned,
            format!("{addr} {version} is not signed, but for {pin} is remembered: {}", names(&accepted)),
        ),
        Verdict::Denied { key, reason } => {
            (Rule::SignerDenied, format!("{addr} {version} is signed by {key}, which the trust file denies: {reason}"))
        }
    };
    Some(Finding::new(rule, message).about(addr))
}

/// The finding that nobody is remembered for the provider of a release.
pub fn not_remembered(addr: &ProviderAddr, version: &Version, signer: &Signer) -> Finding {
    let message = format!("{addr} {version} is {}, but no signer of this provider is remembered", by(signer));
    Finding::new(Rule::SignerNotPinned, message).about(addr)
}

/// Who signed, in words.
pub fn by(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => format!("signed by {key}"),
        Signer::Unsigned => "not signed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::addr::Hostname;
    use crate::dialect::Dialect;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn addr() -> ProviderAddr {
        ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap()
    }

    fn facts(origin: Origin) -> ReleaseFacts {
        ReleaseFacts {
            version: Version::new(1, 0, 0),
            origin,
            subkey: None,
            packages: BTreeMap::new(),
            missing: BTreeMap::new(),
            supported_protocol: true,
            newest_supported: None,
            newest: None,
            passed_over: Vec::new(),
            known: BTreeMap::new(),
            reported: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    fn signed(signature: Signature) -> ReleaseFacts {
        facts(Origin::Registry { signer: signature, sums: Arc::default() })
    }

    #[test]
    fn a_first_use_is_learned_once() {
        let mut pins = Pins::default();
        let by_a = signed(Signature::By(A.to_owned()));
        let first = remembered(&pins, &addr(), &by_a, (FirstUseRule::Remember, true)).unwrap();
        let Signed::First(lesson) = first else { panic!("{first:?}") };
        assert!(lesson.apply(&mut pins).unwrap());
        assert!(!lesson.apply(&mut pins).unwrap());
        let again = remembered(&pins, &addr(), &by_a, (FirstUseRule::Refuse, true));
        assert_eq!(again, Ok(Signed::Pinned));
        let other = signed(Signature::By(B.to_owned()));
        let refused = remembered(&pins, &addr(), &other, (FirstUseRule::Remember, true)).unwrap_err();
        assert_eq!(refused.rule, Rule::SignerChanged);
        let unsigned = signed(Signature::Unsigned);
        let refused = remembered(&pins, &addr(), &unsigned, (FirstUseRule::Remember, true)).unwrap_err();
        assert_eq!(refused.rule, Rule::UnsignedAfterSigned);
    }

    #[test]
    fn who_forbids_first_uses_learns_nothing() {
        let unsigned = signed(Signature::Unsigned);
        let pins = Pins::default();
        let refused = remembered(&pins, &addr(), &unsigned, (FirstUseRule::Refuse, true)).unwrap_err();
        assert_eq!(refused.rule, Rule::FirstUseForbidden);
        let recorded = remembered(&pins, &addr(), &unsigned, (FirstUseRule::Refuse, false));
        assert_eq!(recorded, Ok(Signed::Unknown));
        let mirror = remembered(&pins, &addr(), &facts(Origin::Mirror), (FirstUseRule::Refuse, true));
        assert_eq!(mirror, Ok(Signed::Unknown));
    }

    #[test]
    fn a_pin_is_carried_to_another_address_whole() {
        let from = addr().at(Hostname::parse("registry.opentofu.org").unwrap());
        let key = |text: &str| Signer::Key(text.parse().unwrap());
        let by_a = signed(Signature::By(A.to_owned()));
        let mut pins = Pins::default();
        assert_eq!(carried(&pins, (&from, &addr()), &by_a), None);
        pins.exact(&from).signers = [key(A), key(B)].into();
        let lesson = carried(&pins, (&from, &addr()), &by_a).unwrap();
        assert!(lesson.apply(&mut pins).unwrap() && !lesson.apply(&mut pins).unwrap());
        assert_eq!(pins.exact(&addr()).signers, [key(A), key(B)].into());
        // Who is remembered here already counts.
        pins.exact(&addr()).signers = [key(B)].into();
        assert_eq!(carried(&pins, (&from, &addr()), &by_a), None);
        assert_eq!(lesson.apply(&mut pins).unwrap_err().kind, ErrorKind::Trust);
        pins.denied.insert(A.parse().unwrap(), "lost".to_owned());
        assert_eq!(carried(&pins, (&from, &addr()), &by_a), None);
    }

    #[test]
    fn what_another_run_remembered_is_not_overwritten() {
        let key = |text: &str| Signer::Key(text.parse().unwrap());
        let lesson = |signer| Lesson::FirstUse { address: addr(), version: Version::new(1, 0, 0), signer };
        let mut pins = Pins::default();
        lesson(key(A)).apply(&mut pins).unwrap();
        let error = lesson(key(B)).apply(&mut pins).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Trust);
        assert_eq!(pins.exact(&addr()).signers, [key(A)].into());
    }

    #[test]
    fn a_revoked_key_is_denied_for_good() {
        let mut pins = Pins::default();
        let lesson = Lesson::of_revoked(A.parse().unwrap(), &addr(), "2026-11-20".parse().unwrap());
        assert!(lesson.apply(&mut pins).unwrap());
        assert!(!lesson.apply(&mut pins).unwrap());
        let by_a = signed(Signature::By(A.to_owned()));
        let refused = remembered(&pins, &addr(), &by_a, (FirstUseRule::Remember, true)).unwrap_err();
        assert_eq!(refused.rule, Rule::SignerDenied);
        assert!(
            refused.message.ends_with("denies: revoked: seen with registry.terraform.io/acme/widget on 2026-11-20")
        );
    }
}

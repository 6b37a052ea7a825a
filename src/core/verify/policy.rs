//! What the settings and plain sight say of a provider before any request about it.
//!
//! For every command that requests or selects, not for `verify` alone: the levels of the settings are still to be applied.

use std::time::SystemTime;

use unicode_security::skeleton;

use crate::addr::{ProviderAddr, Publisher, UsedNames, publisher};
use crate::finding::{Finding, Rule};
use crate::settings::{Basis, Candidate, Settings};
use crate::trust::pins::{Pins, Signer};
use crate::trust::words::{by, by_signer};
use crate::version::Version;

/// What speaks against an address, whatever its version: its looks and its host.
pub fn of_address(addr: &ProviderAddr, settings: &Settings) -> Vec<Finding> {
    let seen = looks_like(addr).map(|seen| {
        let message = format!("{addr} looks like {seen}, but is another provider");
        Finding::new(Rule::LookAlike, message)
    });
    let forbidden = (!settings.policy.allows_host(addr.host())).then(|| {
        let message = format!("the policy does not allow the host {} of {addr}", addr.host());
        Finding::new(Rule::HostNotAllowed, message)
    });
    seen.into_iter().chain(forbidden).map(|finding| finding.about(addr)).collect()
}

/// The finding that a new address may be mistaken for one in use or a well-known one.
pub fn similar_name(addr: &ProviderAddr, used: &UsedNames) -> Option<Finding> {
    // Letters of other scripts have a finding of their own.
    let other = used.mistaken_for(addr).filter(|_| looks_like(addr).is_none())?;
    let message = format!("{addr} is easily mistaken for {other}, and is another provider");
    Some(Finding::new(Rule::SimilarName, message).about(addr))
}

/// That a well-known provider is signed by a key that its publisher is not known by, unless the trust file says why that
/// signer is accepted.
pub fn unexpected_publisher(pins: Option<&Pins>, addr: &ProviderAddr, signer: &Signer) -> Option<Finding> {
    let publisher = publisher(addr)?;
    if is_known_by(&publisher, signer) {
        return None;
    }
    if pins.and_then(|pins| pins.pin(addr)).is_some_and(|(_, pin)| pin.reasons.contains_key(signer)) {
        return None;
    }
    let message = match signer {
        Signer::Key(_) => format!("{addr} is {}, which is no known key of {}", by(signer), publisher.name),
        Signer::Unsigned => format!("{addr} is not signed, though {} signs its releases", publisher.name),
    };
    Some(by_signer(Finding::new(Rule::UnexpectedPublisher, message).about(addr), signer))
}

/// True if a signer is the publisher's own key.
pub fn is_known_by(publisher: &Publisher, signer: &Signer) -> bool {
    signer.key().is_some_and(|key| publisher.keys.contains(&key.as_str()))
}

/// The bans of all releases of a provider, where it is not known which one is meant.
pub fn of_all_releases(addr: &ProviderAddr, settings: &Settings) -> Vec<Finding> {
    let bans = settings.bans.iter().filter(|ban| ban.versions.terms().is_empty() && ban.providers.covers(addr));
    bans.map(|_| Finding::new(Rule::Banned, format!("{addr} is banned by the settings")).about(addr)).collect()
}

/// What the settings object to a version whose release nothing is known of.
pub fn of_version(addr: &ProviderAddr, version: &Version, settings: &Settings, now: SystemTime) -> Vec<Finding> {
    let objections = settings.versions_of(addr, now).against(&Candidate::of(addr, version)).into_iter();
    objections.filter(|it| it.basis == Basis::Number).map(|objection| objection.finding(addr)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn publishers_are_known_by_their_keys() {
        let found = |name: &str, signer: &str| {
            let addr = ProviderAddr::parse(name, Dialect::Terraform).unwrap();
            unexpected_publisher(None, &addr, &signer.parse().unwrap()).map(|finding| finding.rule)
        };
        let hashicorp = "C874011F0AB405110D02105534365D9472D7468F";
        let unexpected = Some(Rule::UnexpectedPublisher);
        assert_eq!(found("hashicorp/aws", hashicorp), None);
        assert_eq!(found("hashicorp/aws", &"A".repeat(40)), unexpected);
        assert_eq!(found("hashicorp/aws", "unsigned"), unexpected);
        // Each registry has its own publisher of a namespace, and others have none that is known.
        assert_eq!(found("registry.opentofu.org/hashicorp/aws", hashicorp), unexpected);
        assert_eq!(found("acme/widget", &"A".repeat(40)), None);
    }
}

/// The plain address that an address looks like by letters of other scripts, if it is another.
///
/// Source: Unicode TR 39, section 4: two texts are confusable if their skeletons are the same.
fn looks_like(addr: &ProviderAddr) -> Option<String> {
    let text = addr.to_string();
    if text.is_ascii() {
        return None;
    }
    text.chars().map(|letter| if letter.is_ascii() { Some(letter) } else { plain(letter) }).collect()
}

/// The Latin letter or digit that another character looks like, itself or in upper case: Unicode compares shapes in one
/// case only, and many letters differ from the Latin ones in the shape of small capitals alone.
fn plain(letter: char) -> Option<char> {
    let same = |a: &str, b: &str| skeleton(a).eq(skeleton(b));
    let (lower, upper) = (letter.to_string(), letter.to_uppercase().to_string());
    let mut latin = ('a'..='z').chain('0'..='9');
    let in_lower = latin.clone().find(|plain| same(&lower, plain.encode_utf8(&mut [0; 4])));
    in_lower.or_else(|| latin.find(|plain| same(&upper, plain.to_ascii_uppercase().encode_utf8(&mut [0; 4]))))
}

#[cfg(test)]
mod lookalike_tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn letters_of_other_scripts_are_recognised() {
        let seen = |text: &str| looks_like(&ProviderAddr::parse(text, Dialect::Terraform).unwrap());
        assert_eq!(seen("registry.terraform.io/acme/widget"), None);
        assert_eq!(seen("registry.terrаform.io/acme/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        assert_eq!(seen("registry.terraform.io/асмe/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        for alike in ["haѕhicorp", "hаshiсоrр", "haꜱhicᴏrp", "hashicoгp", "ηashicorp", "hashicoʀp", "hashicᴏʀp"]
        {
            let address = format!("registry.terraform.io/{alike}/aws");
            assert_eq!(seen(&address).as_deref(), Some("registry.terraform.io/hashicorp/aws"), "{alike}");
        }
        // Honest names of other languages look like nothing else.
        assert_eq!(seen("münchen.example/acme/widget"), None);
        assert_eq!(seen("пример.example/acme/widget"), None);
    }
}

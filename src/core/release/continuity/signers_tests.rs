//! Signers against pins.

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

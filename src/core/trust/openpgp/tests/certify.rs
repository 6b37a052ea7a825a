//! Which key certifies which.

use std::collections::BTreeSet;

use super::*;

/// The certificate with a certification of its name by another one.
fn certified(cert: &Cert, by: &Cert, hash: HashAlgorithm) -> Cert {
    let name = cert.userids().next().unwrap().userid().clone();
    let builder = SignatureBuilder::new(SignatureType::GenericCertification).set_hash_algo(hash);
    let made = builder.sign_userid_binding(&mut primary_pair(by), cert.primary_key().key(), &name).unwrap();
    cert.clone().insert_packets(vec![Packet::from(made)]).unwrap().0
}

fn who(cert: &Cert, keys: &[&Cert]) -> BTreeSet<Fingerprint> {
    let keys: Vec<String> = keys.iter().map(|key| armor(&[key])).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).chain(["no key"]).collect();
    certifiers(&fingerprint(cert), &keys)
}

#[test]
fn names_and_keys_are_certified() {
    let (old, new, other) = (cert(), cert(), cert());
    let named = certified(&new, &old, HashAlgorithm::SHA256);
    let by_old = BTreeSet::from([fingerprint(&old)]);
    assert_eq!(who(&new, &[&named, &old, &other]), by_old);
    // In whichever copy the certification stands, and in one list.
    assert_eq!(who(&new, &[&old, &new, &named]), by_old);
    assert_eq!(certifiers(&fingerprint(&new), &[&armor(&[&other, &old, &named])]), by_old);
    let direct = SignatureBuilder::new(SignatureType::DirectKey)
        .set_hash_algo(HashAlgorithm::SHA512)
        .sign_direct_key(&mut primary_pair(&old), Some(new.primary_key().key()))
        .unwrap();
    let direct = new.clone().insert_packets(vec![Packet::from(direct)]).unwrap().0;
    assert_eq!(who(&new, &[&direct, &old]), by_old);
    assert!(who(&old, &[&named, &old]).is_empty(), "the other way round nothing is said");
}

#[test]
fn what_certifies_nothing() {
    let (old, new, other) = (cert(), cert(), cert());
    let named = certified(&new, &old, HashAlgorithm::SHA256);
    assert!(who(&new, &[&named, &other]).is_empty(), "the certifier is not there");
    assert!(who(&new, &[&new, &old]).is_empty());
    assert!(who(&new, &[&named, &revoked(&old, ReasonForRevocation::KeyCompromised)]).is_empty());
    assert!(who(&new, &[&certified(&new, &old, HashAlgorithm::SHA1), &old]).is_empty());
    // A certification of another key's name of the same words.
    let foreign = certified(&other, &old, HashAlgorithm::SHA256);
    let stolen = foreign.userids().next().unwrap().bundle().certifications().next().unwrap().clone();
    let claims = new.clone().insert_packets(vec![Packet::from(stolen)]).unwrap().0;
    assert!(who(&new, &[&claims, &old]).is_empty());
    // One that was taken back.
    let name = named.userids().next().unwrap().userid().clone();
    let taken = SignatureBuilder::new(SignatureType::CertificationRevocation)
        .sign_userid_binding(&mut primary_pair(&old), named.primary_key().key(), &name)
        .unwrap();
    let taken = named.clone().insert_packets(vec![Packet::from(taken)]).unwrap().0;
    assert!(who(&new, &[&taken, &old]).is_empty());
}

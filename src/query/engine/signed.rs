//! Checksums and their signature, fetched and checked once for each release.

use std::sync::Arc;
use std::time::SystemTime;

use super::registry::RegistrySource;
use super::{Equipment, SignedDigests};
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::hash::sums::Sums;
use crate::net::Kind;
use crate::platform::Platform;
use crate::query::answer::Refusal;
use crate::query::rules::Rules;
use crate::release::{Release, ReleaseKey};
use crate::settings::SignatureRule;
use crate::source::{Miss, Package, SignedDocuments};
use crate::trust::Fingerprint;
use crate::trust::openpgp::{self, SignatureError};
use crate::trust::pins::Signer;
use crate::version::Version;

#[derive(Debug)]
pub(super) struct SignedSums {
    pub(super) sums: Arc<Sums>,
    pub(super) digests: SignedDigests,
    pub(super) signer: Signer,
    /// The subkey that signed, if it was not the primary key.
    pub(super) subkey: Option<Fingerprint>,
    pub(super) made: Option<SystemTime>,
    pub(super) findings: Vec<Finding>,
}

impl SignedSums {
    /// The release that they list: archives by their conventional names, or by names that their source gives.
    pub(super) fn release(&self, (addr, version): &ReleaseKey, given: impl Fn(&str) -> Option<Platform>) -> Release {
        Release {
            signer: Some(self.signer.clone()),
            subkey: self.subkey.clone(),
            signed_at: self.made,
            findings: self.findings.clone(),
            ..Release::new(addr.clone(), version.clone()).listing(&self.sums, given)
        }
    }
}

impl RegistrySource {
    pub(super) async fn signed_sums(
        &self,
        release: &ReleaseKey,
        package: &Package,
        rules: &Rules,
    ) -> Result<Arc<SignedSums>, Refusal> {
        let (urls, (addr, version)) = (&package.signed, release);
        let request = async {
            let (sums, signature) = tokio::join!(
                self.registry.signed_document(addr, version, &urls.sums, Kind::Sums),
                self.registry.signed_document(addr, version, &urls.signature, Kind::Signature),
            );
            let sums = sums?;
            let signature = signature.map_err(|error| missing_signature(addr, version, error))?;
            let documents = SignedDocuments { sums, signature, keys: urls.keys.clone() };
            check(&self.equipment, release, rules, &documents).map(Arc::new)
        };
        let key = (urls.clone(), rules.signature, rules.expiry);
        self.signed.answer(key, request).await
    }
}

/// The checksums, if they are signed as the rules require.
pub(super) fn check(
    equipment: &Equipment,
    (addr, version): &ReleaseKey,
    rules: &Rules,
    documents: &SignedDocuments,
) -> Result<SignedSums, Refusal> {
    let unsigned = match rules.signature {
        SignatureRule::Always => false,
        SignatureRule::IfKeysKnown => documents.keys.is_empty(),
        SignatureRule::Never => true,
    };
    if !unsigned && documents.keys.is_empty() {
        return Err(no_signing_key(addr, version).into());
    }
    let mut findings = Vec::new();
    let keys: Vec<&str> = documents.keys.iter().map(String::as_str).collect();
    let (signer, subkey, made) = if unsigned {
        let message = if documents.keys.is_empty() {
            format!(
                "the registry lists no signing key for {addr} {version}, so only the registry attests its checksums"
            )
        } else {
            format!("the settings require no signature of {addr} {version}, so none was checked")
        };
        findings.push(Finding::new(Rule::Unsigned, message).about(addr));
        (Signer::Unsigned, None, None)
    } else {
        let verified = openpgp::verify(&documents.sums, &documents.signature, &keys, equipment.now)
            .map_err(|error| bad_signature(addr, version, &error))?;
        findings.extend(rules.expiry.finding(addr, version, &verified));
        (Signer::Key(verified.fingerprint), verified.signing_subkey, Some(verified.made))
    };
    let digests = SignedDigests {
        sums: equipment.cache.put_document(&documents.sums),
        signature: equipment.cache.put_document(&documents.signature),
        keys: equipment.cache.put_keys(&keys),
    };
    Ok(SignedSums { digests, sums: Arc::new(Sums::decode(&documents.sums)), signer, subkey, made, findings })
}

/// A registry that lists no key may sign nothing at all; then someone has to say so.
fn no_signing_key(addr: &ProviderAddr, version: &Version) -> Finding {
    let host = addr.host();
    let message = format!("{host} lists no signing key for {addr} {version}, although a signature is required");
    let remedy = format!(
        "Where {host} signs nothing, write `host \"{host}\" {{ signature = \"never\" }}` into `.tflock.hcl`, and run \
         `tflock trust add {addr} unsigned`."
    );
    Finding::new(Rule::NoSigningKey, message).about(addr).remedied_by(&remedy)
}

fn missing_signature(addr: &ProviderAddr, version: &Version, miss: Miss) -> Refusal {
    match miss {
        Miss::Absent(error) => {
            let message = format!("{addr} {version} is not signed: {error}");
            Finding::new(Rule::BadSignature, message).about(addr).into()
        }
        Miss::Unknown(error) => error.into(),
    }
}

fn bad_signature(addr: &ProviderAddr, version: &Version, error: &SignatureError) -> Refusal {
    let (rule, revoked) = match error {
        SignatureError::Revoked(key) | SignatureError::RevokedSubkey { subkey: key, .. } => {
            (Rule::RevokedKey, Some(key.clone()))
        }
        _ => (Rule::BadSignature, None),
    };
    let message = format!("the signature over the checksums of {addr} {version} is refused: {error}");
    Refusal::Finding(Box::new(Finding::new(rule, message).about(addr)), revoked)
}

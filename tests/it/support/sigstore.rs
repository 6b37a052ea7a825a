//! A small instance of Sigstore: an authority, a log of certificates, a log of signatures, and attestations that verify by its root.
//!
//! Source: RFC 6962, section 3.2 (precertificates); <https://github.com/sigstore/fulcio>, `docs/oid-info.md`;
//! <https://github.com/sigstore/rekor>, `pkg/types/dsse`.

use std::sync::OnceLock;

use base64::prelude::{BASE64_STANDARD, Engine};
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, SanType, SigningKey, date_time_ymd,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// When everything is signed: 2026-07-02, noon.
const TIME: u64 = 1_782_993_600;

const CT_LIST: [u64; 10] = [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2];

struct Instance {
    authority: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
    /// The hash of the issuer's public key.
    issuer_key: Vec<u8>,
    certificates: KeyPair,
    signatures: KeyPair,
}

/// What a certificate says of a build.
#[derive(Debug, Clone)]
pub struct Claims {
    pub repository: String,
    pub repository_id: String,
    pub owner_id: String,
    pub workflow: String,
    /// The workflow that signed, if it is another one: `OWNER/NAME/.github/workflows/FILE`.
    pub signer: Option<String>,
    pub git_ref: String,
    pub trigger: String,
    pub issuer: String,
}

impl Claims {
    /// The release workflow of the publisher of `acme/widget`, for a tag.
    pub fn of_tag(tag: &str) -> Self {
        Self {
            repository: "acme/terraform-provider-widget".to_owned(),
            repository_id: "123".to_owned(),
            owner_id: "7".to_owned(),
            workflow: ".github/workflows/release.yml".to_owned(),
            signer: None,
            git_ref: format!("refs/tags/{tag}"),
            trigger: "push".to_owned(),
            issuer: "https://token.actions.githubusercontent.com".to_owned(),
        }
    }
}

impl Claims {
    /// Another value of a claim.
    pub fn set(&mut self, name: &str, value: &str) {
        let claim = match name {
            "repository" => &mut self.repository,
            "repository_id" => &mut self.repository_id,
            "owner_id" => &mut self.owner_id,
            "workflow" => &mut self.workflow,
            "signer" => self.signer.get_or_insert_default(),
            "ref" => &mut self.git_ref,
            "trigger" => &mut self.trigger,
            "issuer" => &mut self.issuer,
            _ => panic!("there is no claim {name}"),
        };
        value.clone_into(claim);
    }

    /// The commit that was built: another one for each ref.
    pub fn commit(&self) -> String {
        hex(Sha256::digest(&self.git_ref))[..40].to_owned()
    }
}

fn instance() -> &'static Instance {
    static INSTANCE: OnceLock<Instance> = OnceLock::new();
    INSTANCE.get_or_init(|| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "test instance");
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        (params.not_before, params.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(2035, 1, 1));
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().der().to_vec();
        let issuer_key = Sha256::digest(key.subject_public_key_info()).to_vec();
        let issuer = Issuer::new(params, key);
        let [certificates, signatures] = [(); 2].map(|()| KeyPair::generate().unwrap());
        Instance { authority, issuer, issuer_key, certificates, signatures }
    })
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    tflock_core::hash::Sha256Digest::from_bytes(bytes.as_ref().try_into().unwrap()).to_hex()
}

/// A value in DER.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    let length = match content.len() {
        0..=127 => vec![length[1]],
        128..=255 => vec![0x81, length[1]],
        _ => vec![0x82, length[0], length[1]],
    };
    [&[tag][..], &length, content].concat()
}

/// The first part of a certificate, which is what is signed.
fn tbs(certificate: &[u8]) -> &[u8] {
    let header = |der: &[u8]| match der[1] {
        length @ 0..=127 => (2, usize::from(length)),
        0x81 => (3, usize::from(der[2])),
        _ => (4, usize::from(u16::from_be_bytes([der[2], der[3]]))),
    };
    let inner = &certificate[header(certificate).0..];
    let (start, length) = header(inner);
    &inner[..start + length]
}

/// The root of the instance, as Sigstore's `trusted_root.json` has it.
pub fn root() -> String {
    let Instance { authority, certificates, signatures, .. } = instance();
    let log = |key: &KeyPair| {
        let spki = key.subject_public_key_info();
        json!({
            "baseUrl": "https://log.example.com",
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": base64(&spki),
                "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                "validFor": { "start": "2025-01-01T00:00:00Z" },
            },
            "logId": { "keyId": base64(Sha256::digest(&spki)) },
        })
    };
    json!({
        "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
        "tlogs": [log(signatures)],
        "certificateAuthorities": [{
            "subject": { "organization": "test", "commonName": "test instance" },
            "uri": "https://ca.example.com",
            "certChain": { "certificates": [{ "rawBytes": base64(authority) }] },
            "validFor": { "start": "2025-01-01T00:00:00Z" },
        }],
        "ctlogs": [log(certificates)],
        "timestampAuthorities": [],
    })
    .to_string()
}

/// The type of statements.
const TYPE: &str = "application/vnd.in-toto+json";

/// A bundle that attests files, by name and digest, as built where the claims say.
pub fn attest(claims: &Claims, files: &[(String, String)]) -> Value {
    let subjects = files.iter().map(|(name, digest)| json!({ "name": name, "digest": { "sha256": digest } }));
    let payload = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects.collect::<Vec<_>>(),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {},
    })
    .to_string();
    let key = KeyPair::generate().unwrap();
    let signed = format!("DSSEv1 {} {TYPE} {} {payload}", TYPE.len(), payload.len());
    let signature = base64(key.sign(signed.as_bytes()).unwrap());
    let certificate = certificate(claims, &key);
    json!({
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {
            "certificate": { "rawBytes": base64(&certificate) },
            "tlogEntries": [entry(&payload, &signature, &certificate)],
        },
        "dsseEnvelope": {
            "payload": base64(&payload),
            "payloadType": TYPE,
            "signatures": [{ "sig": signature }],
        },
    })
}

/// The certificate of a workflow, with the receipt of the log of certificates.
fn certificate(claims: &Claims, key: &KeyPair) -> Vec<u8> {
    let Instance { issuer, issuer_key, certificates, .. } = instance();
    let source = format!("https://github.com/{}", claims.repository);
    let workflow = format!("{source}/{}@{}", claims.workflow, claims.git_ref);
    let by = match &claims.signer {
        Some(file) => format!("https://github.com/{file}@refs/heads/main"),
        None => workflow.clone(),
    };
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.serial_number = Some(7.into());
    params.subject_alt_names = vec![SanType::URI(by.as_str().try_into().unwrap())];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
    params.use_authority_key_identifier_extension = true;
    (params.not_before, params.not_after) = (date_time_ymd(2026, 7, 2), date_time_ymd(2026, 7, 3));
    let commit = claims.commit();
    let run = format!("{source}/actions/runs/1/attempts/1");
    let all: [(u64, &str); 11] = [
        (8, &claims.issuer),
        (9, &by),
        (10, &commit),
        (12, &source),
        (13, &commit),
        (14, &claims.git_ref),
        (15, &claims.repository_id),
        (17, &claims.owner_id),
        (18, &workflow),
        (20, &claims.trigger),
        (21, &run),
    ];
    params.custom_extensions = all
        .iter()
        .map(|(number, text)| {
            let oid = [1, 3, 6, 1, 4, 1, 57264, 1, *number];
            CustomExtension::from_oid_content(&oid, der(0x0c, text.as_bytes()))
        })
        .collect();
    let before = params.signed_by(key, issuer).unwrap().der().to_vec();
    let before = tbs(&before);
    let time = (TIME * 1000).to_be_bytes();
    let length = u32::try_from(before.len()).unwrap().to_be_bytes();
    // Version 1, of a certificate, of a precertificate; no extensions.
    let signed = [&[0, 0][..], &time, &[0, 1], issuer_key, &length[1..], before, &[0, 0]].concat();
    let signature = certificates.sign(&signed).unwrap();
    let log = Sha256::digest(certificates.subject_public_key_info());
    let length = u16::try_from(signature.len()).unwrap().to_be_bytes();
    let receipt = [&[0][..], &log, &time, &[0, 0], &[4, 3], &length, &signature].concat();
    let length = |part: &[u8]| u16::try_from(part.len()).unwrap().to_be_bytes();
    let one = [&length(&receipt)[..], &receipt].concat();
    let list = der(0x04, &[&length(&one)[..], &one].concat());
    params.custom_extensions.push(CustomExtension::from_oid_content(&CT_LIST, list));
    params.signed_by(key, issuer).unwrap().der().to_vec()
}

/// The only entry of the log of signatures.
fn entry(payload: &str, signature: &str, certificate: &[u8]) -> Value {
    let Instance { signatures, .. } = instance();
    let lines = base64(certificate);
    let lines: Vec<&str> = lines.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let pem = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"));
    let body = json!({
        "apiVersion": "0.0.1",
        "kind": "dsse",
        "spec": {
            "envelopeHash": { "algorithm": "sha256", "value": "0".repeat(64) },
            "payloadHash": { "algorithm": "sha256", "value": hex(Sha256::digest(payload)) },
            "signatures": [{ "signature": signature, "verifier": base64(pem) }],
        },
    })
    .to_string();
    let log = Sha256::digest(signatures.subject_public_key_info());
    let set = format!(r#"{{"body":"{}","integratedTime":{TIME},"logID":"{}","logIndex":0}}"#, base64(&body), hex(log));
    let root = Sha256::digest([&[0][..], body.as_bytes()].concat());
    let note = format!("log.example.com - 1\n1\n{}\n", base64(root));
    let mark = [&log[..4], &signatures.sign(note.as_bytes()).unwrap()].concat();
    json!({
        "logIndex": "0",
        "logId": { "keyId": base64(log) },
        "kindVersion": { "kind": "dsse", "version": "0.0.1" },
        "integratedTime": TIME.to_string(),
        "inclusionPromise": { "signedEntryTimestamp": base64(signatures.sign(set.as_bytes()).unwrap()) },
        "inclusionProof": {
            "logIndex": "0",
            "rootHash": base64(root),
            "treeSize": "1",
            "hashes": [],
            "checkpoint": { "envelope": format!("{note}\n\u{2014} log.example.com {}\n", base64(mark)) },
        },
        "canonicalizedBody": base64(&body),
    })
}

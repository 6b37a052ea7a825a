//! One attestation: a bundle of statement, signature, certificate and log entry, verified offline.
//!
//! Source: <https://github.com/sigstore/protobuf-specs>, `sigstore_bundle.proto`; <https://in-toto.io/Statement/v1>. What the library
//! below does not do is done here: only statements about builds count, and their other subjects come from the very bytes whose
//! signature was verified.

use std::sync::OnceLock;

use sigstore_verify::trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot as Root};
use sigstore_verify::types::{Bundle, Sha256Hash, SignatureContent, Statement};
use sigstore_verify::{Error, VerificationPolicy, Verifier};

use super::place::BadPlace;
use super::{Build, crypto};
use crate::hash::Sha256Digest;

/// The most bytes of a bundle. Real ones have 10 to 20 KB.
pub const LONGEST_BUNDLE: usize = 1024 * 1024;

/// The type of statements about builds.
pub const PREDICATE_TYPE: &str = "https://slsa.dev/provenance/v1";

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// A verified statement about a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// The files that it lists.
    pub subjects: Vec<AttestedFile>,
    /// Where they were built, or what the certificate lacks.
    pub build: Result<Build, BadPlace>,
}

/// A file that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttestedFile {
    pub name: String,
    pub digest: Sha256Digest,
}

/// Why a bundle proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{step}: {why}")]
pub struct InvalidBundle {
    /// The step that failed, in words.
    pub step: &'static str,
    pub why: String,
}

/// What tests trust. Nothing can set it in a program that is released.
static OF_TESTS: OnceLock<TrustedRoot> = OnceLock::new();

/// The authorities and logs that are trusted.
pub struct TrustedRoot {
    verifier: Verifier,
    /// The day from which its newest key counts.
    date: String,
}

impl std::fmt::Debug for TrustedRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrustedRoot").field("date", &self.date).finish_non_exhaustive()
    }
}

impl TrustedRoot {
    /// That of Sigstore's public instance, as it was when this program was built.
    ///
    /// # Panics
    ///
    /// Never: a test reads what is built in.
    pub fn public() -> &'static Self {
        static PUBLIC: OnceLock<TrustedRoot> = OnceLock::new();
        #[expect(clippy::expect_used, reason = "what is built in was read by a test")]
        PUBLIC.get_or_init(|| Self::decode(SIGSTORE_PRODUCTION_TRUSTED_ROOT).expect("the built-in trusted root"))
    }

    /// The one that counts in this run: in a development build whatever tests have put in place of the public one.
    pub fn in_use() -> &'static Self {
        OF_TESTS.get().unwrap_or_else(Self::public)
    }

    /// Trusts another root in this process, for tests with an instance of their own.
    #[cfg(debug_assertions)]
    pub fn replace(text: &str) -> Result<(), String> {
        OF_TESTS.set(Self::decode(text)?).map_err(|_| "a trusted root was set before".to_owned())
    }

    /// A root in the format of Sigstore's `trusted_root.json`.
    pub fn decode(text: &str) -> Result<Self, String> {
        crypto::install();
        let root = Root::from_json(text).map_err(|problem| problem.to_string())?;
        let verifier = Verifier::new(&root).map_err(|problem| problem.to_string())?;
        let logs = root.tlogs.iter().map(|log| log.public_key.valid_for);
        let certificate_logs = root.ctlogs.iter().map(|log| log.public_key.valid_for);
        let authorities = root.certificate_authorities.iter().map(|authority| authority.valid_for);
        let newest = logs.chain(certificate_logs).chain(authorities).flatten().map(|period| period.start).max();
        let date = newest.map_or_else(String::new, |start| start.to_string().chars().take(10).collect());
        Ok(Self { verifier, date })
    }

    /// The day from which its newest key counts.
    pub fn date(&self) -> &str {
        &self.date
    }
}

/// Verifies a bundle that should attest an artifact; `None` if it is no statement about a build, which is no harm.
pub fn verify(root: &TrustedRoot, text: &[u8], artifact: &Sha256Digest) -> Result<Option<Attestation>, InvalidBundle> {
    let bad = |step: &'static str, why: String| InvalidBundle { step, why };
    let form = |why: String| bad("its form", why);
    if text.len() > LONGEST_BUNDLE {
        return Err(form(format!("it is larger than {LONGEST_BUNDLE} bytes")));
    }
    let text = std::str::from_utf8(text).map_err(|problem| form(problem.to_string()))?;
    let bundle = Bundle::from_json(text).map_err(|problem| form(problem.to_string()))?;
    let SignatureContent::DsseEnvelope(envelope) = &bundle.content else {
        return Err(form("it has a signature over a file, and no statement".to_owned()));
    };
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(form(format!("its payload is {:?}, not a statement", envelope.payload_type)));
    }
    let statement: Statement =
        serde_json::from_slice(envelope.payload.as_bytes()).map_err(|problem| form(problem.to_string()))?;
    if statement.predicate_type != PREDICATE_TYPE {
        return Ok(None);
    }
    if statement.type_ != STATEMENT_TYPE {
        return Err(form(format!("its statement is of type {:?}", statement.type_)));
    }
    let artifact = Sha256Hash::new(*artifact.as_bytes());
    // Who may have signed is decided by the pin, with more than the name.
    let verified = root.verifier.verify(artifact, &bundle, &VerificationPolicy::any_identity());
    let verified = verified.map_err(|error| bad(step(&error), error.to_string()))?;
    let proven = verified.certificate_verified() && verified.sct_verified() && verified.tlog_verified();
    let certificate = verified.certificate().filter(|_| proven);
    let certificate = certificate.ok_or_else(|| bad("the certificate", "it was not checked".to_owned()))?;
    let subjects = statement.subject.iter().filter_map(|subject| {
        let digest = Sha256Digest::from_bytes(*subject.digest.sha256.as_ref()?.as_bytes());
        Some(AttestedFile { name: subject.name.clone(), digest })
    });
    let identity = certificate.identity.as_ref().map(sigstore_verify::SubjectAltName::as_str);
    let build = Build::of(certificate.issuer.as_deref(), identity, &certificate.ci_claims);
    Ok(Some(Attestation { subjects: subjects.collect(), build }))
}

/// The step at which a verification failed.
fn step(error: &Error) -> &'static str {
    use sigstore_verify::CertificateError;
    match error {
        Error::Certificate(CertificateError::Sct(_)) => "the certificate's entry in the certificate log",
        Error::Certificate(_) | Error::IdentityMismatch { .. } | Error::IssuerMismatch { .. } => "the certificate",
        Error::TransparencyLog(_) => "the entry in the transparency log",
        Error::Timestamp(_) => "the time of signing",
        Error::SignatureInvalid(_) => "the signature",
        Error::ArtifactMismatch(_) => "the listed files",
        _ => "its form",
    }
}

#[cfg(test)]
mod tests;

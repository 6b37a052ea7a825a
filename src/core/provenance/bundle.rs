//! One attestation: a bundle of statement, signature, certificate and log entry, verified offline.
//!
//! Source: <https://github.com/sigstore/protobuf-specs>, `sigstore_bundle.proto`; <https://in-toto.io/Statement/v1>. What the library
//! below does not do is done here: only statements about builds count, and their other subjects come from the very bytes whose
//! signature was verified.

use std::sync::OnceLock;

use sigstore_verify::crypto::FulcioCiClaims;
use sigstore_verify::trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot as Root};
use sigstore_verify::types::{Bundle, Sha256Hash, SignatureContent, Statement};
use sigstore_verify::{Error, VerificationPolicy, Verifier};

use super::attestation::{Attestation, AttestedFile, InvalidBundle, LONGEST_BUNDLE, PREDICATE_TYPE};
use super::place::{BadPlace, split};
use super::{Build, Repository, crypto};
use crate::hash::Sha256Digest;

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Who confirms the claims of a workflow: the identity provider of GitHub's runners.
const ISSUER: &str = "https://token.actions.githubusercontent.com";

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

impl Build {
    /// The build that a certificate was issued for. `identity` is whom it names, which must be the workflow that signed.
    fn of(issuer: Option<&str>, identity: Option<&str>, claims: &FulcioCiClaims) -> Result<Self, BadPlace> {
        let need =
            |claim: &Option<String>, what| claim.clone().filter(|it| !it.is_empty()).ok_or(BadPlace::Claim(what));
        let issuer = issuer.unwrap_or_default();
        if issuer != ISSUER {
            return Err(BadPlace::Issuer(issuer.to_owned()));
        }
        let source = need(&claims.source_repository_uri, "from which repository it was built")?;
        let repository: Repository = source.strip_prefix("https://").unwrap_or(&source).parse()?;
        let signed_by = need(&claims.build_signer_uri, "which workflow signed")?;
        if identity != Some(signed_by.as_str()) {
            return Err(BadPlace::Signer(identity.unwrap_or_default().to_owned()));
        }
        let config = need(&claims.build_config_uri, "which workflow ran")?;
        let (config, signed_by) = (without_ref(&config), without_ref(&signed_by));
        let workflow = split(config).filter(|(of, _)| of.is(&repository)).map(|(_, file)| file.to_owned());
        let trigger = need(&claims.build_trigger, "what started the workflow")?;
        let git_ref = need(&claims.source_repository_ref, "which ref was built")?;
        Ok(Self {
            workflow: workflow.ok_or_else(|| BadPlace::Workflow(config.to_owned()))?,
            signer: (signed_by != config).then(|| signed_by.strip_prefix("https://").unwrap_or(signed_by).to_owned()),
            repository,
            repository_id: need(&claims.source_repository_identifier, "the number of the repository")?,
            owner_id: need(&claims.source_repository_owner_identifier, "the number of the repository's owner")?,
            commit: need(&claims.source_repository_digest, "which commit was built").and_then(object_name)?,
            run: claims.run_invocation_uri.clone().filter(|url| is_page(url)),
            git_ref,
            trigger,
        })
    }
}

/// The name of a commit, which becomes a part of URLs.
fn object_name(text: String) -> Result<String, BadPlace> {
    let is_name = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if is_name { Ok(text) } else { Err(BadPlace::Claim("which commit was built")) }
}

/// True for the page of a run on GitHub, which is shown as a link.
fn is_page(url: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-_.".contains(&b);
    url.strip_prefix("https://github.com/").is_some_and(|path| path.bytes().all(plain))
}

/// `URL@refs/tags/v1.2.3` without the ref.
fn without_ref(url: &str) -> &str {
    url.split_once('@').map_or(url, |(file, _)| file)
}

#[cfg(test)]
mod tests;

//! What an attestation says, once it is verified.

use super::Build;
use super::place::BadPlace;
use crate::hash::Sha256Digest;

/// The most bytes of a bundle. Real ones have 10 to 20 KB.
pub const LONGEST_BUNDLE: usize = 1024 * 1024;

/// The type of statements about builds.
pub const PREDICATE_TYPE: &str = "https://slsa.dev/provenance/v1";

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

//! SHA256SUMS documents: digests and file names, read as the tools read them.
//!
//! Two readings of one document, on purpose: a file is looked up leniently, but the digests of all platforms are taken
//! only from a document without a bad line. Signatures are the business of `trust`.
//!
//! Source: `internal/getproviders/package_authentication.go`, `matchingChecksumAuthentication` and
//! `signatureAuthentication.AcceptableHashes`.

use std::collections::HashSet;

use super::Sha256Digest;
use crate::platform::Platform;
use crate::version::Version;

/// A line of this many bytes or more ends the list of digests.
const LONGEST_LINE: usize = 64 << 10;

/// A SHA256SUMS document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    lines: Vec<Line>,
    lock_file_digests: Vec<Sha256Digest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    digest: String,
    name: String,
}

/// Why a document gives no digest for a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SumsError {
    /// No line names the file.
    #[error("checksum list has no SHA-256 hash for {0:?}")]
    NotListed(String),
    /// The first line that names it has no digest.
    #[error("checksum list has invalid SHA256 hash {digest:?} for {name:?}")]
    BadDigest {
        /// The name of the file.
        name: String,
        /// What is in place of the digest.
        digest: String,
    },
}

impl Sums {
    /// Reads a document; any bytes are one.
    pub fn decode(document: &[u8]) -> Self {
        let lines = document.split(|byte| *byte == b'\n').filter_map(Line::decode).collect();
        Self { lines, lock_file_digests: lock_file_digests(document).unwrap_or_default() }
    }

    /// The digest of a file, from the first line that names it exactly.
    ///
    /// A digest that is too short is filled up with zeros, as in the tools, so it differs from any true one.
    pub fn digest_of(&self, name: &str) -> Result<Sha256Digest, SumsError> {
        let line = self.lines.iter().find(|line| line.name == name);
        let line = line.ok_or_else(|| SumsError::NotListed(name.to_owned()))?;
        let bad = || SumsError::BadDigest { name: name.to_owned(), digest: line.digest.clone() };
        if !line.digest.is_ascii() || line.digest.len() % 2 != 0 {
            return Err(bad());
        }
        Sha256Digest::from_hex(&format!("{:0<64}", line.digest)).ok_or_else(bad)
    }

    /// The digests of all files, in the order of the lines: what a signed document attests.
    ///
    /// Empty if any line has a single field or no digest. Stops at a line of 64 KiB or more.
    pub fn lock_file_digests(&self) -> &[Sha256Digest] {
        &self.lock_file_digests
    }

    /// File names and digests of all lines that have both.
    pub fn lines(&self) -> impl Iterator<Item = (&str, Sha256Digest)> {
        self.lines.iter().filter_map(|line| Some((line.name.as_str(), Sha256Digest::from_hex(&line.digest)?)))
    }

    /// The archives of a release, by the customary names `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
    ///
    /// Each platform once, with the digest that [`digest_of`](Self::digest_of) gives; platforms without a whole digest
    /// are left out.
    pub fn archives(&self, kind: &str, version: &Version) -> impl Iterator<Item = (Platform, Sha256Digest)> {
        let prefix = format!("terraform-provider-{kind}_{version}_");
        let mut seen = HashSet::new();
        self.lines.iter().filter_map(move |line| {
            let platform = line.name.strip_prefix(&prefix)?.strip_suffix(".zip")?.parse::<Platform>().ok()?;
            if !seen.insert(platform.clone()) {
                return None;
            }
            Some((platform, Sha256Digest::from_hex(&line.digest)?))
        })
    }
}

impl Line {
    fn decode(line: &[u8]) -> Option<Self> {
        // A replacement character means what is not UTF-8; no requested name contains one.
        let text = String::from_utf8_lossy(line);
        let mut fields = text.split_whitespace();
        let (digest, name) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        Some(Self { digest, name })
    }
}

/// The digests of all lines; none at all if one is bad. Blank lines, on which the tools crash, are passed over.
fn lock_file_digests(document: &[u8]) -> Option<Vec<Sha256Digest>> {
    let mut digests = Vec::new();
    for line in document.split(|byte| *byte == b'\n') {
        if line.len() >= LONGEST_LINE {
            break;
        }
        let text = String::from_utf8_lossy(line);
        let mut fields = text.split_whitespace();
        let Some(digest) = fields.next() else { continue };
        fields.next()?;
        digests.push(Sha256Digest::from_hex(digest)?);
    }
    Some(digests)
}

#[cfg(test)]
#[path = "sums_tests.rs"]
mod tests;

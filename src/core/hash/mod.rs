//! Package hashes: what a lock file records about the packages of a release.
//!
//! A hash is its text, `scheme:value`. This folder computes them and keeps them; it knows nothing of who attests
//! one (`trust`) or where it is written (`lockfile`).
//!
//! SHA256SUMS documents: digests and file names, read as the tools read them.
//!
//! Two readings of one document, on purpose: a file is looked up leniently, but the digests of all platforms are taken
//! only from a document without a bad line. Signatures are the business of `trust`.
//!
//! Source: `internal/getproviders/package_authentication.go`, `matchingChecksumAuthentication` and
//! `signatureAuthentication.AcceptableHashes`.

pub mod archive;
pub mod digest;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use digest::{Sha256Digest, hex};

use crate::platform::Platform;
use crate::version::Version;

/// A hash as a lock file records it. Unknown schemes survive; ordered by text, bytewise. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PackageHash(Arc<str>);

/// The scheme of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HashScheme {
    /// Over the names and contents of the files in a package.
    H1,
    /// Over the bytes of the archive.
    Zh,
    /// Any other; never matches anything.
    Other,
}

/// A text without a scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a hash: expected a scheme, a colon and a value")]
pub struct HashError(pub String);

impl PackageHash {
    /// True if it is written in the one form in which it can match a package; always true for unknown schemes.
    pub fn is_well_formed(&self) -> bool {
        match self.scheme() {
            HashScheme::Zh => digest::is_lower_hex(&self.0.as_bytes()[3..]),
            HashScheme::H1 => digest::is_base64(&self.0.as_bytes()[3..]),
            HashScheme::Other => true,
        }
    }

    /// The `zh:` hash of an archive with this digest.
    pub fn zh(digest: Sha256Digest) -> Self {
        Self(format!("zh:{}", digest.to_hex()).into())
    }

    /// The `h1:` hash with this digest.
    pub fn h1(digest: Sha256Digest) -> Self {
        Self(format!("h1:{}", digest.to_base64()).into())
    }

    /// The scheme.
    pub fn scheme(&self) -> HashScheme {
        match self.0.as_bytes() {
            [b'h', b'1', b':', ..] => HashScheme::H1,
            [b'z', b'h', b':', ..] => HashScheme::Zh,
            _ => HashScheme::Other,
        }
    }

    /// The digest of a `zh:` hash in the one form that can match: 64 lower-case hex digits.
    pub fn zh_digest(&self) -> Option<Sha256Digest> {
        let hex = self.0.strip_prefix("zh:")?;
        Sha256Digest::from_hex(hex).filter(|_| digest::is_lower_hex(hex.as_bytes()))
    }

    /// What is before the first colon of a text, if that is a scheme.
    pub fn scheme_of(text: &str) -> Option<&str> {
        // Schemes are short: a plain walk finds their end sooner than a searcher is set up.
        let colon = text.bytes().position(|byte| byte == b':')?;
        text.get(..colon).filter(|scheme| !scheme.is_empty())
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that distinguishes it from others in a sentence: scheme and twelve letters, and a sign that more follow.
    pub fn abridged(&self) -> String {
        let letters = self.scheme_length() + 1 + 12;
        match self.0.char_indices().nth(letters) {
            Some((end, _)) => format!("{}…", &self.0[..end]),
            None => self.0.to_string(),
        }
    }

    fn scheme_length(&self) -> usize {
        Self::scheme_of(&self.0).map_or(0, |scheme| scheme.chars().count())
    }
}

impl FromStr for PackageHash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        match Self::scheme_of(text) {
            Some(_) => Ok(Self(text.into())),
            None => Err(HashError(text.to_owned())),
        }
    }
}

impl fmt::Display for PackageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The hashes of one entry: sorted by text, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PackageHashes(Vec<PackageHash>);

impl PackageHashes {
    /// No hashes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a hash; false if it was there.
    pub fn insert(&mut self, hash: PackageHash) -> bool {
        match self.0.binary_search(&hash) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, hash);
                true
            }
        }
    }

    /// Removes a hash; false if it was not there.
    pub fn remove(&mut self, hash: &PackageHash) -> bool {
        match self.0.binary_search(hash) {
            Ok(at) => {
                self.0.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// True if the hash is there, byte for byte.
    pub fn contains(&self, hash: &PackageHash) -> bool {
        self.0.binary_search(hash).is_ok()
    }

    /// True if one of them can match a package: of a known scheme, and well-formed.
    pub fn pin_packages(&self) -> bool {
        self.0.iter().any(|hash| hash.scheme() != HashScheme::Other && hash.is_well_formed())
    }

    /// The hashes in the order of their text.
    pub fn iter(&self) -> std::slice::Iter<'_, PackageHash> {
        self.0.iter()
    }

    /// The hashes of one scheme.
    pub fn of(&self, scheme: HashScheme) -> impl Iterator<Item = &PackageHash> {
        self.0.iter().filter(move |hash| hash.scheme() == scheme)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<PackageHash> for PackageHashes {
    fn from_iter<I: IntoIterator<Item = PackageHash>>(hashes: I) -> Self {
        let mut list: Vec<PackageHash> = hashes.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        Self(list)
    }
}

impl Extend<PackageHash> for PackageHashes {
    fn extend<I: IntoIterator<Item = PackageHash>>(&mut self, hashes: I) {
        self.0.extend(hashes);
        self.0.sort_unstable();
        self.0.dedup();
    }
}

impl IntoIterator for PackageHashes {
    type Item = PackageHash;
    type IntoIter = std::vec::IntoIter<PackageHash>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a PackageHashes {
    type Item = &'a PackageHash;
    type IntoIter = std::slice::Iter<'a, PackageHash>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

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
mod tests {
    use super::*;

    #[test]
    fn sorted_by_text_and_unique() {
        let hashes: PackageHashes =
            ["zh:1", "h1:a", "x:", "h1:A", "h1:a"].iter().map(|text| text.parse().unwrap()).collect();
        let texts: Vec<&str> = hashes.iter().map(PackageHash::as_str).collect();
        assert_eq!(texts, ["h1:A", "h1:a", "x:", "zh:1"]);
    }

    #[test]
    fn a_scheme_is_needed() {
        assert!(":x".parse::<PackageHash>().is_err());
        assert!("h1".parse::<PackageHash>().is_err());
        assert_eq!("h2:x".parse::<PackageHash>().unwrap().scheme(), HashScheme::Other);
    }
}

//! Package hashes: what a lock file records about the packages of a release.
//!
//! A hash is its text, `scheme:value`. This folder computes them and keeps them; it knows nothing of who attests
//! one (`evidence`) or where it is written (`lockfile`).

pub mod archive;
pub mod git_blob;
pub mod h1;
pub mod sha256;
pub mod sums;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use sha256::Sha256Digest;

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
            HashScheme::Zh => sha256::is_lower_hex(&self.0.as_bytes()[3..]),
            HashScheme::H1 => sha256::is_base64(&self.0.as_bytes()[3..]),
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
        Sha256Digest::from_hex(hex).filter(|_| sha256::is_lower_hex(hex.as_bytes()))
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

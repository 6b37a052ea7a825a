//! SHA-256 digests and their texts: the only use of `sha2`; `h1:` hashes, over the names and digests of files; and the
//! names that git gives to the contents of files.
//!
//! Knows neither archives nor directories. Names are bytes, since an archive may contain names that are not UTF-8.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1collisiondetection::{Output, Sha1CD};
use sha2::Digest as _;

use super::PackageHash;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// A digest from its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads exactly 64 hexadecimal digits, in either case.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            b'A'..=b'F' => Some(digit - b'A' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = value(pair[0])? << 4 | value(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// Reads padded standard base64, as in an `h1:` hash.
    pub fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// Padded standard base64.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A digest in the making.
#[derive(Clone, Default)]
pub struct Sha256(sha2::Sha256);

impl Sha256 {
    /// The state before the first byte.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far.
    pub fn finish(self) -> Sha256Digest {
        Sha256Digest(self.0.finalize().into())
    }
}

/// True if a text is what [`Sha256Digest::to_hex`] gives. Costs far less than to decode it.
pub(super) fn is_lower_hex(text: &[u8]) -> bool {
    text.len() == 64 && text.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// True if a text is what [`Sha256Digest::to_base64`] gives: 43 digits, of which the last has two bits to spare, and one
/// sign of padding.
pub(super) fn is_base64(text: &[u8]) -> bool {
    let [digits @ .., last, b'='] = text else { return false };
    let is_digit = |digit: &u8| digit.is_ascii_alphanumeric() || matches!(digit, b'+' | b'/');
    // Each fourth digit has its lower two bits at zero.
    digits.len() == 42 && digits.iter().all(is_digit) && b"AEIMQUYcgkosw048".contains(last)
}

/// A set of files without an `h1:` hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum H1Error {
    /// The line of such a file could be read as two.
    #[error("filenames with newlines are not supported: {0:?}")]
    NewlineInName(String),
}

/// Hashes a set of files, given as slash-separated names and SHA-256 digests of their contents.
///
/// Entries may come in any order; they are sorted by name, bytewise. A name that comes twice is hashed twice, in the
/// order given. Modes and times have no part in it.
///
/// Source: `golang.org/x/mod/sumdb/dirhash`, `Hash1`.
pub fn h1<N: AsRef<[u8]>>(entries: impl IntoIterator<Item = (N, Sha256Digest)>) -> Result<PackageHash, H1Error> {
    let mut entries: Vec<(N, Sha256Digest)> = entries.into_iter().collect();
    entries.sort_by(|(one, _), (other, _)| one.as_ref().cmp(other.as_ref()));
    let mut hasher = Sha256::new();
    for (name, digest) in &entries {
        let name = name.as_ref();
        if name.contains(&b'\n') {
            return Err(H1Error::NewlineInName(String::from_utf8_lossy(name).into_owned()));
        }
        hasher.update(digest.to_hex().as_bytes());
        hasher.update(b"  ");
        hasher.update(name);
        hasher.update(b"\n");
    }
    Ok(PackageHash::h1(hasher.finish()))
}

/// True if git names some bytes so: by SHA-1, in newer repositories by SHA-256.
///
/// Bytes that were made to collide have no name.
///
/// Source: `git help hash-function-transition`, "Object names"; a blob is hashed behind `blob LENGTH` and a zero byte.
pub fn has_name(bytes: &[u8], id: &str) -> bool {
    let head = format!("blob {}\0", bytes.len());
    if id.len() == 64 {
        let digest = sha2::Sha256::new().chain_update(&head).chain_update(bytes).finalize();
        return hex(&digest) == id;
    }
    let mut hasher = Sha1CD::default();
    hasher.update(&head);
    hasher.update(bytes);
    let mut digest = Output::default();
    hasher.finalize_into_dirty_cd(&mut digest).is_ok() && hex(&digest) == id
}

/// Lower case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_empty_digest() {
        let digest = Sha256Digest::of(b"");
        assert_eq!(digest.to_hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest.to_base64(), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(Sha256Digest::from_hex(&digest.to_hex().to_uppercase()), Some(digest));
        assert_eq!(Sha256Digest::from_base64(&digest.to_base64()), Some(digest));
        assert_eq!(Sha256Digest::from_hex("abc"), None);
    }

    /// The short ways to tell a well-formed text say what decoding it and encoding it again would say.
    #[test]
    fn texts_are_judged_without_decoding() {
        let decoded = |text: &str| {
            let hex = Sha256Digest::from_hex(text).is_some_and(|digest| digest.to_hex() == text);
            (hex, Sha256Digest::from_base64(text).is_some_and(|digest| digest.to_base64() == text))
        };
        for content in 0..50_u8 {
            let digest = Sha256Digest::of(&[content]);
            for good in [digest.to_hex(), digest.to_base64()] {
                let mut texts = vec![good.clone(), good[1..].to_owned(), format!("{good}A"), format!("{good}=")];
                for at in [0, good.len() / 2, good.len() - 2, good.len() - 1] {
                    let changed = |to: u8| format!("{}{}{}", &good[..at], to as char, &good[at + 1..]);
                    texts.extend((0..128).map(changed));
                }
                for text in texts {
                    let judged = (is_lower_hex(text.as_bytes()), is_base64(text.as_bytes()));
                    assert_eq!(judged, decoded(&text), "{text:?}");
                }
            }
        }
        assert!(!is_base64(b"") && !is_lower_hex("ä".repeat(32).as_bytes()));
    }

    fn h1_of(files: &[(&str, &str)]) -> String {
        h1(files.iter().map(|(name, content)| (name, Sha256Digest::of(content.as_bytes())))).unwrap().to_string()
    }

    #[test]
    fn the_empty_set_has_a_hash() {
        assert_eq!(h1_of(&[]), "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn names_are_sorted_bytewise() {
        let files = [
            ("terraform-provider-foo_v1.0.0", "#!bin\n"),
            ("LICENSE", "l"),
            ("a/b.txt", "x"),
            ("a.txt", "y"),
            ("a-b", "z"),
        ];
        assert_eq!(h1_of(&files), "h1:83Crw1AZryyoxfUwDqKXuuAeR+4AaDFosrirdO/0P1c=");
        assert_eq!(h1_of(&files[..1]), "h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI=");
    }

    #[test]
    fn a_newline_is_refused() {
        assert_eq!(h1([("a\nb", Sha256Digest::of(b""))]), Err(H1Error::NewlineInName("a\nb".to_owned())));
    }

    #[test]
    fn names_as_git_gives_them() {
        // printf 'a\n' | git hash-object --stdin, and the same in a repository made with --object-format=sha256.
        assert!(has_name(b"a\n", "78981922613b2afb6025042ff6bd878ac1994e85"));
        assert!(!has_name(b"a", "78981922613b2afb6025042ff6bd878ac1994e85"));
        assert!(has_name(b"", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"));
    }
}

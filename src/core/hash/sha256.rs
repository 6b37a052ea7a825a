//! SHA-256 digests and their texts: the only use of `sha2`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest as _;

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
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            text.push(DIGITS[usize::from(byte >> 4)] as char);
            text.push(DIGITS[usize::from(byte & 15)] as char);
        }
        text
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
}

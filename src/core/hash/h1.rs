//! `h1:` hashes: names and content digests of files, whatever they came in.
//!
//! Knows neither archives nor directories. Names are bytes, since an archive may contain names that are not UTF-8.

use super::sha256::Sha256;
use super::{PackageHash, Sha256Digest};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}

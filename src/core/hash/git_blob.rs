//! The object names that git gives to the contents of files.

use sha1collisiondetection::{Output, Sha1CD};
use sha2::Digest as _;

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

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_git_gives_them() {
        // printf 'a\n' | git hash-object --stdin, and the same in a repository made with --object-format=sha256.
        assert!(has_name(b"a\n", "78981922613b2afb6025042ff6bd878ac1994e85"));
        assert!(!has_name(b"a", "78981922613b2afb6025042ff6bd878ac1994e85"));
        assert!(has_name(b"", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"));
    }
}

//! A short text for each lock file, for git to compare instead of the file.
//!
//! Some lines for each entry. Hashes are counted by scheme and shown as one digest over all of them, so
//! no change of a hash hides. The form does not change from version to version without need: git may keep the texts.

use std::fmt::Write;

use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::lockfile::{Decoded, LockEntry, LockFile, decode, detect_dialect};

use super::MergeOptions;

/// How many hex digits of a digest are shown.
const SHOWN: usize = 24;

/// A lock file in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// The short text. Two lock files have the same one only if they are equal byte for byte.
    pub text: String,
    /// What the lock file says; none for a text that cannot be read as one, which is in the short text whole.
    pub lock: Option<LockFile>,
}

/// Shortens a lock file.
pub fn textconv(text: &[u8]) -> Shortened {
    let dialect = detect_dialect(text).unwrap_or(MergeOptions::default().dialect);
    if let Ok(decoded) = decode(text, dialect) {
        return Shortened { text: summary(text, &decoded), lock: Some(decoded.lock) };
    }
    let whole = String::from_utf8_lossy(text);
    Shortened { text: format!("cannot be read: text {}\n{whole}", digest([text])), lock: None }
}

fn summary(text: &[u8], decoded: &Decoded) -> String {
    let mut summary = String::new();
    // Writing to a string cannot fail.
    let _ = match decoded.header {
        Some(dialect) => writeln!(summary, "written by {}", dialect.program()),
        None => writeln!(summary, "written by hand"),
    };
    if !decoded.canonical {
        let _ = writeln!(summary, "not formatted: text {}", digest([text]));
    }
    for (addr, entry) in decoded.lock.iter() {
        let _ = writeln!(summary, "\n{addr} {}", entry.version);
        push_entry(&mut summary, entry);
    }
    summary
}

fn push_entry(summary: &mut String, entry: &LockEntry) {
    if !entry.constraints.is_empty() {
        let _ = writeln!(summary, "  constraints {}", entry.constraints);
    }
    for (name, scheme) in [("h1", HashScheme::H1), ("zh", HashScheme::Zh), ("other", HashScheme::Other)] {
        let hashes: Vec<&[u8]> = entry.hashes.of(scheme).map(PackageHash::as_str).map(str::as_bytes).collect();
        if !hashes.is_empty() {
            let noun = if hashes.len() == 1 { "hash" } else { "hashes" };
            let _ = writeln!(summary, "  {} {name} {noun}: {}", hashes.len(), digest(hashes));
        }
    }
}

/// The first digits of the digest over texts, each with a line end.
fn digest<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> String {
    let mut all = Vec::new();
    for text in texts {
        all.extend_from_slice(text);
        all.push(b'\n');
    }
    let mut hex = Sha256Digest::of(&all).to_hex();
    hex.truncate(SHOWN);
    hex
}

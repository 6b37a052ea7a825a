//! The codec against the vectors, public lock files, annotated fixtures and random texts.

mod fixtures;
mod limits;
mod peer;
mod random;
mod real;
mod vectors;

use std::path::{Path, PathBuf};

use super::*;
use crate::dialect::Dialect;
use crate::finding::Finding;

/// A folder of the material next to the project; None, and a line on standard error, where that is not there.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: ../shared is not here");
    None
}

#[expect(clippy::disallowed_methods, reason = "tests read what the library must not")]
fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

fn read_text(path: &Path) -> Option<String> {
    read(path).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// The files of a folder with an extension, by name.
#[expect(clippy::disallowed_methods, reason = "tests read what the library must not")]
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|is| is == extension));
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

/// Lines and columns of findings.
fn places(findings: &[Finding]) -> Vec<(usize, usize)> {
    findings
        .iter()
        .map(|finding| finding.position.map_or((0, 0), |position| (position.line, position.column)))
        .collect()
}

/// A lock file of many providers with many hashes each, as large ones are.
fn large(providers: u64, hashes: u64) -> LockFile {
    let mut lock = LockFile::new();
    for provider in 0..providers {
        let addr = format!("registry.terraform.io/acme/p{provider}");
        let hash = |at: u64| {
            let digest = crate::hash::Sha256Digest::of(&(provider * 1_000_003 + at).to_le_bytes());
            if at.is_multiple_of(5) {
                crate::hash::PackageHash::h1(digest)
            } else {
                crate::hash::PackageHash::zh(digest)
            }
        };
        let entry = LockEntry {
            version: crate::version::Version::new(provider, 2, 3),
            constraints: ">= 1.0.0".parse().unwrap(),
            hashes: (0..hashes).map(hash).collect(),
        };
        lock.insert(crate::addr::ProviderAddr::parse(&addr, Dialect::Terraform).unwrap(), entry);
    }
    lock
}

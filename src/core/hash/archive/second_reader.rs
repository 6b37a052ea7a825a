//! Why the second reader is our own and not the `zip` crate: the two do not agree on what the tools install.
//!
//! Once these tests fail, the crate reads as the tools do, and `seekable` can go.
#![expect(clippy::disallowed_methods, reason = "tests read what the library must not")]

use std::io::{Cursor, Read as _};

use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::record::{CENTRAL, LOCAL};
use super::tests::{archive, at, by_directory, installed};
use super::{ArchiveHashes, Entry};
use crate::hash::Sha256Digest;

/// The hashes of an archive as the `zip` crate reads it, or its words against it.
fn by_crate(bytes: &[u8]) -> Result<ArchiveHashes, String> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let mut entries = Vec::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).map_err(|error| error.to_string())?;
        let (name, directory) = (file.name_raw().into(), file.is_dir());
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(|error| error.to_string())?;
        entries.push(Entry { name, directory, digest: Some(Sha256Digest::of(&content)) });
    }
    let hashes = ArchiveHashes::of_entries(Sha256Digest::of(bytes), bytes.len() as u64, &entries);
    hashes.map_err(|bad| bad.to_string())
}

/// An archive of one stored file, and the same with some bytes of both headers of it changed: their offset in the local
/// one, and the value.
fn changed(at_local: usize, value: &[u8]) -> Vec<u8> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut bytes = archive(&[("terraform-provider-foo_v1.0.0", b"#!bin\n")], stored);
    // The directory says the same two bytes further on.
    for place in [at(&bytes, LOCAL) + at_local, at(&bytes, CENTRAL) + at_local + 2] {
        bytes[place..place + value.len()].copy_from_slice(value);
    }
    bytes
}

#[test]
fn both_read_a_usual_archive() {
    let bytes = changed(6, &[0, 0]);
    assert_eq!(by_crate(&bytes).unwrap(), by_directory(&bytes).unwrap());
}

/// Go takes a checksum of zero for none, and knows no encryption.
#[test]
fn the_crate_refuses_what_the_tools_install() {
    for (what, bytes) in [("no checksum", changed(14, &[0; 4])), ("flagged as encrypted", changed(6, &[1, 0]))] {
        assert!(by_directory(&bytes).is_ok(), "{what}");
        assert!(by_crate(&bytes).is_err(), "{what}");
    }
}

/// The vectors hold what `terraform` and Go said of each archive.
#[test]
fn the_crate_disagrees_with_the_vectors() {
    let rows = crate::vectors::rows("h1/expected.tsv");
    let (mut agreed, mut wrong) = (0, 0);
    for row in rows.iter().filter(|row| row[1] != "-") {
        let path = format!("{}/../../testdata/vectors/h1/{}", env!("CARGO_MANIFEST_DIR"), row[0]);
        let bytes = std::fs::read(path).unwrap();
        let got = by_crate(&bytes).map_or_else(|words| format!("err: {words}"), |hashes| installed(Ok(hashes)));
        if got == row[3] || (got.starts_with("err: ") && row[3] == "err") {
            agreed += 1;
        } else {
            wrong += 1;
        }
    }
    assert!(agreed > 0 && wrong > 0, "the crate agrees on all {agreed}: take it");
}

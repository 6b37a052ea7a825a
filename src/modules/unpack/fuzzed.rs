//! What the fuzzer calls.

use std::fs;
use std::io::Cursor;

use super::{Builder, formats};
use crate::hash::Sha256Digest;
use crate::hash::archive::{ArchiveHasher, ArchiveHashes, ArchiveRefusal, Limits};

fn hashed(bytes: &[u8]) -> Result<ArchiveHashes, ArchiveRefusal> {
    let mut hasher = ArchiveHasher::new(Limits::default());
    let _ = hasher.update(bytes);
    hasher.finish()
}

/// Unpacks bytes behind a first one, which says whether they are a zip archive or a tar archive without compression.
///
/// # Panics
///
/// If something is written outside of the package, if a file is not what its digest says, or if the hash of a zip archive is
/// not the one of its central directory.
#[doc(hidden)]
#[expect(clippy::unwrap_used, reason = "for the fuzzer, to which a panic is a finding")]
pub fn read_package(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let top = place.path().join("package");
    fs::create_dir(&top).unwrap();
    let mut builder = Builder::new(&top);
    let unpacked = match kind % 2 {
        0 => formats::unpack_tar_entries(bytes, &mut builder),
        _ => formats::unpack_zip_entries(&mut Cursor::new(bytes), &mut builder),
    };
    let contents = unpacked.and_then(|()| builder.finish());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "something is next to the package");
    let Ok(contents) = contents else { return };
    for (name, digest) in contents.digests.iter().filter(|(name, _)| !contents.links.contains_key(*name)) {
        assert_eq!(Sha256Digest::of(&fs::read(top.join(name)).unwrap()), *digest, "{name}");
    }
    if kind % 2 == 1
        && contents.digests.keys().all(|name| super::counts(name))
        && let Ok(hash) = contents.hash()
        && let Ok(hashes) = hashed(bytes)
    {
        assert_eq!(hash, hashes.h1, "the tools install another package");
    }
}

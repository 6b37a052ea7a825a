//! Tar archives, compressed in one of three ways.

use std::io::{BufReader, Read};

use super::{Builder, UnpackError};

/// The most memory for a dictionary, in KiB: that of the strongest preset.
const MAX_DICTIONARY: u32 = 96 * 1024;

/// How a tar archive is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::modules) enum Compression {
    Gzip,
    Bzip2,
    Xz,
}

/// Unpacks a tar archive.
pub(in crate::modules) fn unpack_tar(
    archive: impl Read,
    compression: Compression,
    builder: &mut Builder,
) -> Result<(), UnpackError> {
    let archive = BufReader::with_capacity(128 * 1024, archive);
    match compression {
        Compression::Gzip => entries(flate2::bufread::MultiGzDecoder::new(archive), builder),
        Compression::Bzip2 => entries(bzip2::bufread::MultiBzDecoder::new(archive), builder),
        Compression::Xz => entries(lzma_rust2::XzReader::new_mem_limit(archive, true, MAX_DICTIONARY), builder),
    }
}

fn entries(plain: impl Read, builder: &mut Builder) -> Result<(), UnpackError> {
    // Headers and padding count too, a little: what is skipped has to be decompressed as well.
    let plain = plain.take(builder.bytes_left().saturating_mul(2));
    let mut archive = tar::Archive::new(plain);
    for entry in archive.entries().map_err(UnpackError::Archive)? {
        let mut entry = entry.map_err(UnpackError::Archive)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let target = entry.link_name_bytes().map(|target| String::from_utf8_lossy(&target).into_owned());
        match entry.header().entry_type() {
            tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => {
                builder.file(&name, &mut entry)?;
                if entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0) {
                    builder.executable(&name)?;
                }
            }
            tar::EntryType::Directory => builder.directory(&name)?,
            tar::EntryType::Symlink => builder.link(&name, &target.unwrap_or_default())?,
            tar::EntryType::Link => builder.hard_link(&name, &target.unwrap_or_default())?,
            tar::EntryType::XGlobalHeader | tar::EntryType::XHeader => {}
            _ => return Err(UnpackError::Special(super::shown(&name))),
        }
    }
    Ok(())
}

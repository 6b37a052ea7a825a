//! Tar archives, compressed in one of three ways.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use super::{Builder, UnpackError, text_of};

/// The most memory for a dictionary, in KiB: that of the strongest preset.
const MAX_DICTIONARY: u32 = 96 * 1024;

/// The most bytes before an entry, in which its long name stands; they are all in memory at once.
const MAX_HEAD: u64 = 64 * 1024;

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
    let left = Rc::new(Cell::new(MAX_HEAD));
    let mut archive = tar::Archive::new(Head { archive: plain, left: Rc::clone(&left) });
    let mut entries = archive.entries().map_err(UnpackError::Archive)?;
    loop {
        left.set(MAX_HEAD);
        let Some(entry) = entries.next() else { return Ok(()) };
        let mut entry = entry.map_err(UnpackError::Archive)?;
        left.set(u64::MAX);
        let name = text_of(&entry.path_bytes())?.to_owned();
        let target = entry.link_name_bytes().map(|target| text_of(&target).map(str::to_owned)).transpose()?;
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
}

/// An archive of which no more is read than is left.
struct Head<R> {
    archive: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Head<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other(format!("what stands before an entry has more than {} KiB", MAX_HEAD >> 10)));
        }
        let most = usize::try_from(self.left.get()).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.archive.read(&mut buffer[..most])?;
        self.left.set(self.left.get().saturating_sub(count as u64));
        Ok(count)
    }
}

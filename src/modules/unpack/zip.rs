//! Zip archives, read by the reader that hashes those of providers.

use std::fs::File;
use std::io::{self, Read, Seek};

use super::{Builder, MAX_ENTRIES, MAX_NAME, UnpackError, beginning, text_of};
use crate::hash::archive::{Limits, ReadError, Unpacking};

/// The bits of a Unix mode that say what an entry is.
const KIND: u32 = 0o170_000;

/// Entries up to this size are not written to the disk twice.
const SMALL: usize = 1 << 20;

/// The most bytes of the central directory.
const MAX_DIRECTORY: u64 = 64 << 20;

pub(in crate::modules) fn unpack_zip(mut archive: File, builder: &mut Builder) -> Result<(), UnpackError> {
    unpack(&mut archive, builder)
}

pub(super) fn unpack<R: Read + Seek>(archive: &mut R, builder: &mut Builder) -> Result<(), UnpackError> {
    let limits =
        Limits { entries: MAX_ENTRIES, name: MAX_NAME, directory: MAX_DIRECTORY, unpacked: builder.bytes_left() };
    let mut entries = Unpacking::open(archive, limits).map_err(damaged)?;
    loop {
        // Only what is sound to its end becomes a file.
        let mut content = tempfile::spooled_tempfile(SMALL);
        let Some(entry) = entries.next_into(&mut content).map_err(damaged)? else { return Ok(()) };
        content.rewind().map_err(UnpackError::Archive)?;
        let name = text_of(&entry.name)?;
        let mode = entry.mode.unwrap_or(0);
        match mode & KIND {
            _ if entry.directory => builder.directory(name)?,
            0o120_000 => {
                let mut target = Vec::new();
                // One byte more than allowed, so a longer one is noticed and not cut.
                content.take(MAX_NAME as u64 + 1).read_to_end(&mut target).map_err(UnpackError::Archive)?;
                builder.link(name, text_of(&target)?)?;
            }
            0 | 0o100_000 => {
                builder.file(name, &mut content)?;
                if mode & 0o111 != 0 {
                    builder.executable(name)?;
                }
            }
            _ => return Err(UnpackError::Special(beginning(name))),
        }
    }
}

fn damaged(error: ReadError) -> UnpackError {
    UnpackError::Archive(match error {
        ReadError::Io(reason) => reason,
        ReadError::Bad(bad) => io::Error::other(bad),
    })
}

//! Zip archives.

use std::fs::File;
use std::io::{self, Read};

use super::{Builder, MAX_NAME, UnpackError, text_of};

/// The bits of a Unix mode that say what an entry is.
const KIND: u32 = 0o170_000;

/// Unpacks a zip archive.
pub(in crate::modules) fn unpack_zip(archive: File, builder: &mut Builder) -> Result<(), UnpackError> {
    let damaged = |error: zip::result::ZipError| UnpackError::Archive(io::Error::other(error));
    let mut archive = zip::ZipArchive::new(archive).map_err(damaged)?;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(damaged)?;
        let name = text_of(entry.name_raw())?.to_owned();
        match entry.unix_mode().map_or(0, |mode| mode & KIND) {
            0o120_000 => {
                let mut target = Vec::new();
                // One byte more than it may have, so that no longer one is cut.
                let read = entry.by_ref().take(MAX_NAME as u64 + 1).read_to_end(&mut target);
                read.map_err(UnpackError::Archive)?;
                builder.link(&name, text_of(&target)?)?;
            }
            _ if entry.is_dir() => builder.directory(&name)?,
            0 | 0o100_000 => {
                let runs = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
                builder.file(&name, &mut entry)?;
                if runs {
                    builder.executable(&name)?;
                }
            }
            _ => return Err(UnpackError::Special(super::shown(&name))),
        }
    }
    Ok(())
}

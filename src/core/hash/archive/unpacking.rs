//! An archive that is unpacked by its central directory, as the tools unpack it.

use std::io::{Read, Seek, Write};

use super::Limits;
use super::seekable::{Contents, DirectoryReadError, Header, open};

/// An archive that is unpacked, entry by entry.
pub struct Unpacking<'a, R> {
    headers: std::vec::IntoIter<Header>,
    contents: Contents<'a, R>,
}

/// An entry, as the central directory describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// Its name as it stands there.
    pub name: Box<[u8]>,
    /// True for directories.
    pub directory: bool,
    /// Its Unix mode with the bits that say of which kind it is, if the archive was made where there is one.
    pub mode: Option<u32>,
}

impl<'a, R: Read + Seek> Unpacking<'a, R> {
    /// Reads the central directory.
    ///
    /// # Errors
    ///
    /// As [`super::hash_by_directory`].
    pub fn open(reader: &'a mut R, limits: Limits) -> Result<Self, DirectoryReadError> {
        let (headers, contents) = open(reader, limits)?;
        Ok(Self { headers: headers.into_iter(), contents })
    }

    /// The next entry, in the order of the directory; none after the last. Its content is written as it is read, before all
    /// of it is known to be sound. That of directories is not looked at, as the tools do not.
    ///
    /// # Errors
    ///
    /// As [`super::hash_by_directory`], and what the writer says.
    pub fn next_into(&mut self, to: &mut dyn Write) -> Result<Option<Unpacked>, DirectoryReadError> {
        let Some(header) = self.headers.next() else { return Ok(None) };
        if !header.directory {
            self.contents.digest(&header, to)?;
        }
        Ok(Some(Unpacked { name: header.name, directory: header.directory, mode: header.mode }))
    }
}

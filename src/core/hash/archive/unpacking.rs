//! An archive that is unpacked, once the streaming pass has read it to its end.

use std::io::{self, Read, Seek, SeekFrom, Write};

use flate2::read::DeflateDecoder;

use super::central::Streamed;
use super::record::DEFLATED;
use super::sink::Sink;
use super::stream::Stream;
use super::{BadArchive, Limits, PIECE, Threads};

/// Why an archive was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The reader failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The archive is refused.
    #[error(transparent)]
    Bad(#[from] BadArchive),
}

/// An archive that is unpacked, entry by entry.
pub struct Unpacking<'a, R> {
    entries: std::vec::IntoIter<Streamed>,
    reader: &'a mut R,
}

/// An entry, as the central directory describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// Its name in the archive.
    pub name: Box<[u8]>,
    /// True for directories.
    pub directory: bool,
    /// Its Unix mode with the bits that say of which kind it is, if the archive was made where there is one.
    pub mode: Option<u32>,
}

impl<'a, R: Read + Seek> Unpacking<'a, R> {
    /// Reads the archive to its end.
    pub fn open(reader: &'a mut R, limits: Limits) -> Result<Self, ReadError> {
        reader.rewind()?;
        let (mut stream, mut sink) = (Stream::new(limits), Sink::new(Threads::One, None));
        let mut piece = vec![0; PIECE];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => stream.update(&piece[..length], &mut sink)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { entries: stream.finish()?.into_iter(), reader })
    }

    /// The next entry, in the order of the archive; none after the last. That of directories is not looked at, as the
    /// tools do not.
    pub fn next_into(&mut self, to: &mut dyn Write) -> Result<Option<Unpacked>, ReadError> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        if !entry.directory {
            self.reader.seek(SeekFrom::Start(entry.data))?;
            let data = self.reader.by_ref().take(entry.packed);
            if entry.method == DEFLATED {
                io::copy(&mut DeflateDecoder::new(data), to)?
            } else {
                io::copy(&mut { data }, to)?
            };
        }
        Ok(Some(Unpacked { name: entry.name, directory: entry.directory, mode: entry.mode }))
    }
}

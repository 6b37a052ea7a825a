//! An archive read by its central directory, as the tools read it: lenient where they are, strict where they are.
//!
//! Local headers give nothing but the place of the data; bytes before, between and after do not matter. Slower than
//! the streaming pass, since it comes after all bytes are there. The `zip` crate cannot take its place: it refuses archives
//! that the tools install, and keeps one entry of two that share a name (`second_reader` shows it).
//!
//! Source: Go's `archive/zip`, `reader.go`.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;

use super::forms::{Entry, lossy};
use super::record::{
    CENTRAL_LENGTH, CentralHeader, DEFLATED, DESCRIBED, DESCRIPTOR, DirectoryEnd, END_LENGTH, Fields, LOCAL,
    LOCAL_LENGTH, LocalHeader, STORED, ZIP64_END_LENGTH, ZIP64_LOCATOR_LENGTH, signature, zip64_end_offset,
};
use super::{ArchiveHashes, BadArchive, Limits};
use crate::hash::Sha256Digest;
use crate::hash::sha256::Sha256;

const BUFFER: usize = 128 << 10;

/// Why an archive could not be read by its central directory.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryReadError {
    /// The reader failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The archive is refused.
    #[error(transparent)]
    Bad(#[from] BadArchive),
}

/// Hashes an archive by its central directory. The digest of its bytes is the caller's, who has seen them all.
///
/// # Errors
///
/// [`DirectoryReadError::Bad`] if the tools refuse to install the archive, or it is beyond the limits;
/// [`DirectoryReadError::Io`] if reading fails.
pub fn hash_by_directory<R: Read + Seek>(
    reader: &mut R,
    zh: Sha256Digest,
    limits: Limits,
) -> Result<ArchiveHashes, DirectoryReadError> {
    let size = reader.seek(SeekFrom::End(0))?;
    let entries = read_entries(reader, limits)?;
    Ok(ArchiveHashes::of_entries(zh, size, &entries)?)
}

/// The entries of an archive with the digests of their contents.
pub(super) fn read_entries<R: Read + Seek>(reader: &mut R, limits: Limits) -> Result<Vec<Entry>, DirectoryReadError> {
    let (headers, mut contents) = open(reader, limits)?;
    headers.iter().map(|header| contents.entry(header)).collect()
}

/// The headers of an archive, and what reads the contents of its entries.
pub(super) fn open<R: Read + Seek>(
    reader: &mut R,
    limits: Limits,
) -> Result<(Vec<Header>, Contents<'_, R>), DirectoryReadError> {
    let size = reader.seek(SeekFrom::End(0))?;
    let start = find_directory(reader, size)?;
    let headers = read_headers(reader, &start, limits)?;
    Ok((headers, Contents::new(reader, size, limits)))
}

/// Where the central directory is, and how many entries the end of it claims.
struct Start {
    /// What has to be added to all offsets: the length of what was put before the archive, or taken away there.
    base: i64,
    offset: u64,
    entries: u64,
}

fn find_directory<R: Read + Seek>(reader: &mut R, size: u64) -> Result<Start, DirectoryReadError> {
    let (mut end_at, bytes) = find_end(reader, size)?;
    let (mut end, _) = DirectoryEnd::parse(&bytes).ok_or(BadArchive::NotAZip)?;
    if end.asks_for_zip64()
        && let Some(offset) = zip64_end_at(reader, end_at)?
    {
        let bytes = read_at::<ZIP64_END_LENGTH, R>(reader, offset)?.ok_or(BadArchive::NotAZip)?;
        (end, _) = DirectoryEnd::parse_zip64(&bytes).ok_or(BadArchive::NotAZip)?;
        end_at = offset;
    }
    let begins = end_at.checked_sub(end.size).filter(|begins| *begins < size).ok_or(BadArchive::NotAZip)?;
    let signed = |number: u64| i64::try_from(number).map_err(|_| BadArchive::NotAZip);
    let mut base = signed(begins)? - signed(end.offset)?;
    // Some archives record true offsets although something stands before them.
    if base > 0 && header_at(reader, end.offset)? {
        base = 0;
    }
    Ok(Start { base, offset: end.offset, entries: end.entries })
}

/// The last end of a directory whose comment fits before the end of the bytes: its place and its bytes.
fn find_end<R: Read + Seek>(reader: &mut R, size: u64) -> Result<(u64, Vec<u8>), DirectoryReadError> {
    for length in [1024, 65 * 1024] {
        let length = size.min(length);
        reader.seek(SeekFrom::Start(size - length))?;
        let mut bytes = Vec::new();
        reader.by_ref().take(length).read_to_end(&mut bytes)?;
        let whole = bytes.len().checked_sub(END_LENGTH - 4);
        let found = whole.and_then(|whole| memmem::rfind(&bytes[..whole], b"PK\x05\x06"));
        if let Some(at) = found {
            let end = bytes.split_off(at);
            let comment = DirectoryEnd::parse(&end).map(|(_, comment)| comment);
            // With a comment that is cut short this one does not count, nor does any other.
            if comment.is_some_and(|comment| END_LENGTH + comment <= end.len()) {
                return Ok((size - length + at as u64, end));
            }
        }
        if length == size {
            break;
        }
    }
    Err(BadArchive::NotAZip.into())
}

fn zip64_end_at<R: Read + Seek>(reader: &mut R, end_at: u64) -> Result<Option<u64>, DirectoryReadError> {
    let Some(locator_at) = end_at.checked_sub(ZIP64_LOCATOR_LENGTH as u64) else { return Ok(None) };
    let locator = read_at::<ZIP64_LOCATOR_LENGTH, R>(reader, locator_at)?;
    Ok(locator.and_then(|locator| zip64_end_offset(&locator)).filter(|offset| i64::try_from(*offset).is_ok()))
}

/// True if a header of the directory can be read there.
fn header_at<R: Read + Seek>(reader: &mut R, offset: u64) -> Result<bool, DirectoryReadError> {
    reader.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    read_header(reader, &mut bytes)?;
    Ok(CentralHeader::parse(&bytes).is_some())
}

/// Reads the bytes of one header of the directory; fewer, if the input ends.
fn read_header<R: Read>(reader: &mut R, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    reader.by_ref().take(CENTRAL_LENGTH as u64).read_to_end(bytes)?;
    if let Some(length) = CentralHeader::length(bytes) {
        reader.by_ref().take((length - CENTRAL_LENGTH) as u64).read_to_end(bytes)?;
    }
    Ok(())
}

/// A header of the directory, with the place of the local one.
pub(super) struct Header {
    pub(super) name: Box<[u8]>,
    pub(super) directory: bool,
    pub(super) mode: Option<u32>,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    unpacked: u64,
    offset: Option<u64>,
}

/// Reads headers until there is none; their number must be the recorded one, of which 16 bits count.
fn read_headers<R: Read + Seek>(
    reader: &mut R,
    start: &Start,
    limits: Limits,
) -> Result<Vec<Header>, DirectoryReadError> {
    let place = start.offset.checked_add_signed(start.base).ok_or(BadArchive::NotAZip)?;
    reader.seek(SeekFrom::Start(place))?;
    let mut reader = BufReader::with_capacity(BUFFER, reader);
    let (mut headers, mut bytes, mut total) = (Vec::new(), Vec::new(), 0);
    loop {
        if reader.fill_buf()?.is_empty() {
            return Err(BadArchive::NotAZip.into());
        }
        read_header(&mut reader, &mut bytes)?;
        let Some(header) = CentralHeader::parse(&bytes) else { break };
        total += bytes.len() as u64;
        check(&header, headers.len(), total, limits)?;
        headers.push(Header {
            name: header.name.into(),
            directory: header.is_directory(),
            mode: header.unix_mode(),
            flags: header.flags,
            method: header.method,
            crc: header.crc,
            packed: header.packed,
            unpacked: header.unpacked,
            offset: header.offset.checked_add_signed(start.base),
        });
    }
    if headers.len() as u64 & 0xffff != start.entries & 0xffff {
        return Err(BadArchive::NotAZip.into());
    }
    Ok(headers)
}

fn check(header: &CentralHeader<'_>, before: usize, total: u64, limits: Limits) -> Result<(), BadArchive> {
    if before >= limits.entries {
        return Err(BadArchive::TooManyEntries(limits.entries));
    }
    if header.name.len() > limits.name {
        return Err(BadArchive::NameTooLong(limits.name));
    }
    if total > limits.directory {
        return Err(BadArchive::DirectoryTooLarge(limits.directory));
    }
    Ok(())
}

/// Reads the contents of entries, one after another.
pub(super) struct Contents<'a, R> {
    reader: &'a mut R,
    inflate: Decompress,
    input: Vec<u8>,
    output: Vec<u8>,
    /// How much all entries may still unpack to, and what is to be said when it is more.
    room: u64,
    beyond: BadArchive,
}

impl<'a, R: Read + Seek> Contents<'a, R> {
    fn new(reader: &'a mut R, size: u64, limits: Limits) -> Self {
        let by_ratio = size.saturating_mul(limits.ratio);
        let (room, beyond) = if by_ratio < limits.unpacked {
            (by_ratio, BadArchive::Ratio(limits.ratio))
        } else {
            (limits.unpacked, BadArchive::TooLarge(limits.unpacked))
        };
        let inflate = Decompress::new(false);
        Self { reader, inflate, input: vec![0; BUFFER], output: vec![0; BUFFER], room, beyond }
    }

    /// An entry with its digest. What cannot be read matters for files alone.
    fn entry(&mut self, header: &Header) -> Result<Entry, DirectoryReadError> {
        let digest = match self.digest(header, &mut io::sink()) {
            Ok(digest) => Some(digest),
            Err(DirectoryReadError::Bad(bad)) if header.directory && bad != self.beyond => None,
            Err(error) => return Err(error),
        };
        Ok(Entry { name: header.name.clone(), directory: header.directory, digest })
    }

    /// The digest of an entry, whose content is written as it is read.
    pub(super) fn digest(&mut self, header: &Header, to: &mut dyn Write) -> Result<Sha256Digest, DirectoryReadError> {
        let malformed = || BadArchive::Entry(lossy(&header.name));
        let data = self.find_data(header)?.ok_or_else(malformed)?;
        if header.name.last() == Some(&b'/') {
            return if header.unpacked == 0 { Ok(Sha256Digest::of(b"")) } else { Err(malformed().into()) };
        }
        let mut content = Content { sha256: Sha256::new(), crc: crc32fast::Hasher::new(), length: 0, to };
        self.reader.seek(SeekFrom::Start(data))?;
        match header.method {
            STORED => self.stored(header, &mut content)?,
            DEFLATED => self.deflated(header, &mut content)?,
            method => return Err(BadArchive::Method { name: lossy(&header.name), method }.into()),
        }
        if content.length != header.unpacked {
            return Err(BadArchive::UnexpectedEnd(lossy(&header.name)).into());
        }
        let described = header.flags & DESCRIBED != 0;
        if described {
            self.check_descriptor(header, data)?;
        }
        if (described || header.crc != 0) && content.crc.finalize() != header.crc {
            return Err(BadArchive::Checksum(lossy(&header.name)).into());
        }
        Ok(content.sha256.finish())
    }

    /// Where the data of an entry begin; none without a local header.
    fn find_data(&mut self, header: &Header) -> Result<Option<u64>, DirectoryReadError> {
        let Some(offset) = header.offset else { return Ok(None) };
        let Some(local) = read_at::<LOCAL_LENGTH, R>(self.reader, offset)? else { return Ok(None) };
        let lengths = LocalHeader::lengths(&local).filter(|_| signature(&local) == Some(LOCAL));
        Ok(lengths.and_then(|(name, extra)| offset.checked_add((LOCAL_LENGTH + name + extra) as u64)))
    }

    fn stored(&mut self, header: &Header, content: &mut Content<'_>) -> Result<(), DirectoryReadError> {
        let mut left = header.packed;
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
            let length = read_some(self.reader, &mut self.input[..wanted])?;
            if length == 0 {
                break;
            }
            left -= length as u64;
            self.room = self.room.checked_sub(length as u64).ok_or_else(|| self.beyond.clone())?;
            content.take(&self.input[..length], header)?;
        }
        Ok(())
    }

    /// Inflates up to the end of the deflate data; what follows in the entry does not matter.
    fn deflated(&mut self, header: &Header, content: &mut Content<'_>) -> Result<(), DirectoryReadError> {
        self.inflate.reset(false);
        let (mut left, mut from, mut to) = (header.packed, 0, 0);
        loop {
            if from == to && left > 0 {
                let wanted = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
                (from, to) = (0, read_some(self.reader, &mut self.input[..wanted])?);
                left = if to == 0 { 0 } else { left - to as u64 };
            }
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(&self.input[from..to], &mut self.output, FlushDecompress::None)
                .map_err(|_| BadArchive::Corrupt(lossy(&header.name)))?;
            let used = usize::try_from(self.inflate.total_in() - before_in).unwrap_or(usize::MAX);
            let made = usize::try_from(self.inflate.total_out() - before_out).unwrap_or(usize::MAX);
            from += used;
            self.room = self.room.checked_sub(made as u64).ok_or_else(|| self.beyond.clone())?;
            content.take(&self.output[..made], header)?;
            if status == Status::StreamEnd {
                return Ok(());
            }
            if used == 0 && made == 0 && left == 0 {
                return Err(BadArchive::UnexpectedEnd(lossy(&header.name)).into());
            }
        }
    }

    /// Compares the checksum of the data descriptor, with or without a signature before it; its sizes do not matter.
    fn check_descriptor(&mut self, header: &Header, data: u64) -> Result<(), DirectoryReadError> {
        let cut_short = || BadArchive::UnexpectedEnd(lossy(&header.name));
        let offset = data.checked_add(header.packed).ok_or_else(cut_short)?;
        let mut bytes = Vec::new();
        seek_to(self.reader, offset)?.ok_or_else(cut_short)?;
        self.reader.take(16).read_to_end(&mut bytes)?;
        let crc_at = if signature(&bytes) == Some(DESCRIPTOR) { 4 } else { 0 };
        let described = bytes.get(crc_at..crc_at + 12).ok_or_else(cut_short)?;
        if Fields(described).u32() != Some(header.crc) {
            return Err(BadArchive::Checksum(lossy(&header.name)).into());
        }
        Ok(())
    }
}

/// The content of an entry, in the making.
struct Content<'a> {
    sha256: Sha256,
    crc: crc32fast::Hasher,
    length: u64,
    to: &'a mut dyn Write,
}

impl Content<'_> {
    fn take(&mut self, bytes: &[u8], header: &Header) -> Result<(), DirectoryReadError> {
        self.length += bytes.len() as u64;
        if self.length > header.unpacked {
            return Err(BadArchive::Entry(lossy(&header.name)).into());
        }
        self.to.write_all(bytes)?;
        self.crc.update(bytes);
        self.sha256.update(bytes);
        Ok(())
    }
}

/// Reads at least a byte, unless the input ends.
fn read_some<R: Read>(reader: &mut R, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Moves to a place; none if there can be none so far away.
fn seek_to<R: Seek>(reader: &mut R, offset: u64) -> io::Result<Option<()>> {
    if i64::try_from(offset).is_err() {
        return Ok(None);
    }
    reader.seek(SeekFrom::Start(offset)).map(|_| Some(()))
}

/// The bytes at a place; none if there are too few.
fn read_at<const N: usize, R: Read + Seek>(reader: &mut R, offset: u64) -> io::Result<Option<[u8; N]>> {
    if seek_to(reader, offset)?.is_none() {
        return Ok(None);
    }
    let mut bytes = [0; N];
    match reader.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

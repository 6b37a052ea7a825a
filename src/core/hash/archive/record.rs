//! The fixed records of a zip archive: bytes to values, read as leniently as the tools do.
//!
//! Source: APPNOTE.TXT 6.3; Go's `archive/zip` where that leaves a choice.
//!
//! The streaming pass compared with what the directory at the end of the archive says.
//!
//! The central directory decides the content of an archive. The streaming pass has read the entries without it, so its
//! result counts only if directory and end describe exactly these entries, and no reader can find another directory.

use memchr::memmem;

use super::error::Oddity;

pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const CENTRAL: u32 = 0x0201_4b50;
pub(super) const END: u32 = 0x0605_4b50;
pub(super) const ZIP64_END: u32 = 0x0606_4b50;
const ZIP64_LOCATOR: u32 = 0x0706_4b50;
pub(super) const DESCRIPTOR: u32 = 0x0807_4b50;

pub(super) const LOCAL_LENGTH: usize = 30;
pub(super) const CENTRAL_LENGTH: usize = 46;
pub(super) const END_LENGTH: usize = 22;
pub(super) const ZIP64_END_LENGTH: usize = 56;
pub(super) const ZIP64_LOCATOR_LENGTH: usize = 20;

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;

/// The flag: checksum and sizes follow the data.
pub(super) const DESCRIBED: u16 = 1 << 3;

const ZIP64_EXTRA: u16 = 1;

/// Little-endian fields from the front of some bytes; none once they are used up.
struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
}

/// The number in the first four bytes.
pub(super) fn signature(bytes: &[u8]) -> Option<u32> {
    Fields(bytes).u32()
}

/// The data of an entry, as each of its headers describes them; sizes from the zip64 field where they are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EntryData {
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) unpacked: u64,
}

impl EntryData {
    /// Reads the fields, which are the same ones in both headers.
    fn parse(fields: &mut Fields<'_>) -> Option<Self> {
        let (flags, method) = (fields.u16()?, fields.u16()?);
        fields.take(4)?;
        let (crc, packed, unpacked) = (fields.u32()?, fields.u32()?.into(), fields.u32()?.into());
        Some(Self { flags, method, crc, packed, unpacked })
    }

    /// True if checksum and sizes follow the data.
    pub(super) fn is_described(&self) -> bool {
        self.flags & DESCRIBED != 0
    }

    /// True if the method is one that the tools read.
    pub(super) fn is_readable(&self) -> bool {
        [STORED, DEFLATED].contains(&self.method)
    }
}

/// What a local header says.
pub(super) struct LocalHeader<'a> {
    pub(super) data: EntryData,
    pub(super) name: &'a [u8],
}

impl<'a> LocalHeader<'a> {
    /// Lengths of the name and of the extra fields, from the fixed part.
    pub(super) fn lengths(fixed: &[u8]) -> Option<(usize, usize)> {
        let mut fields = Fields(fixed.get(26..)?);
        Some((fields.u16()?.into(), fields.u16()?.into()))
    }

    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.u32()? != LOCAL {
            return None;
        }
        fields.take(2)?;
        let mut data = EntryData::parse(&mut fields)?;
        let (name, extra) = (fields.u16()?, fields.u16()?);
        let name = fields.take(name.into())?;
        widen([&mut data.unpacked, &mut data.packed], fields.take(extra.into())?)?;
        Some(Self { data, name })
    }
}

/// What the central directory says of an entry.
pub(super) struct CentralHeader<'a> {
    made_by: u16,
    data: EntryData,
    disk: u16,
    attributes: u32,
    offset: u64,
    pub(super) name: &'a [u8],
}

impl<'a> CentralHeader<'a> {
    /// The whole length of the header, from its fixed part.
    pub(super) fn length(fixed: &[u8]) -> Option<usize> {
        let mut fields = Fields(fixed.get(28..)?);
        let variable = [fields.u16()?, fields.u16()?, fields.u16()?];
        Some(CENTRAL_LENGTH + variable.into_iter().map(usize::from).sum::<usize>())
    }

    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.u32()? != CENTRAL {
            return None;
        }
        let made_by = fields.u16()?;
        fields.take(2)?;
        let mut data = EntryData::parse(&mut fields)?;
        let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let disk = fields.u16()?;
        fields.take(2)?;
        let (attributes, mut offset) = (fields.u32()?, fields.u32()?.into());
        let name = fields.take(name.into())?;
        // An unpacked size of 2^32-1 may be meant so; of the others it never is.
        let must_widen = [data.packed, offset].contains(&WIDE);
        let widened = widen([&mut data.unpacked, &mut data.packed, &mut offset], fields.take(extra.into())?)?;
        fields.take(comment.into())?;
        (widened || !must_widen).then_some(Self { made_by, data, disk, attributes, offset, name })
    }

    /// True for a directory: by a slash at the end, the mode bits or the DOS attribute.
    ///
    /// Source: Go's `archive/zip`, `FileHeader.Mode`.
    pub(super) fn is_directory(&self) -> bool {
        self.name.last() == Some(&b'/')
            || match (self.unix_mode(), self.made_by >> 8) {
                (Some(mode), _) => mode & 0xf000 == 0x4000,
                (None, 0 | 11 | 14) => self.attributes & 0x10 != 0,
                _ => false,
            }
    }

    /// The mode, where the archive was made on a system that has one.
    fn unix_mode(&self) -> Option<u32> {
        matches!(self.made_by >> 8, 3 | 19).then_some(self.attributes >> 16)
    }
}

/// The value of 32 bits in place of one that is in the zip64 field.
const WIDE: u64 = u32::MAX as u64;

/// Replaces each value of 2^32-1, in order, by one of the first zip64 field; false if there is no such field, `None` if
/// it is too short.
fn widen<const N: usize>(values: [&mut u64; N], extra: &[u8]) -> Option<bool> {
    let mut fields = Fields(extra);
    while let (Some(tag), Some(length)) = (fields.u16(), fields.u16()) {
        let Some(field) = fields.take(length.into()) else { break };
        if tag == ZIP64_EXTRA {
            let mut field = Fields(field);
            for value in values.into_iter().filter(|value| **value == WIDE) {
                *value = field.u64()?;
            }
            return Some(true);
        }
    }
    Some(false)
}

/// The end of the central directory, in either width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirectoryEnd {
    pub(super) disk: u32,
    directory_disk: u32,
    entries_here: u64,
    pub(super) entries: u64,
    pub(super) size: u64,
    pub(super) offset: u64,
}

impl DirectoryEnd {
    /// The record and the length of the comment after it.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut fields = Fields(bytes.get(4..)?);
        let end = Self {
            disk: fields.u16()?.into(),
            directory_disk: fields.u16()?.into(),
            entries_here: fields.u16()?.into(),
            entries: fields.u16()?.into(),
            size: fields.u32()?.into(),
            offset: fields.u32()?.into(),
        };
        Some((end, fields.u16()?.into()))
    }

    /// The zip64 record, and the length it claims for itself.
    pub(super) fn parse_zip64(bytes: &[u8]) -> Option<(Self, u64)> {
        let mut fields = Fields(bytes);
        if fields.u32()? != ZIP64_END {
            return None;
        }
        let length = fields.u64()?;
        fields.take(4)?;
        let end = Self {
            disk: fields.u32()?,
            directory_disk: fields.u32()?,
            entries_here: fields.u64()?,
            entries: fields.u64()?,
            size: fields.u64()?,
            offset: fields.u64()?,
        };
        Some((end, length))
    }

    /// True if the tools look for a zip64 record because of these values. (A size of 2^16-1, not of 2^32-1, is what
    /// they look for.)
    fn requires_zip64(&self) -> bool {
        self.entries == 0xffff || self.size == 0xffff || self.offset == 0xffff_ffff
    }
}

/// True if the end of a central directory, with all of its comment, is in the last bytes of a file.
pub(super) fn has_end(tail: &[u8]) -> bool {
    let is_whole = |at: usize| {
        let end = &tail[at..];
        DirectoryEnd::parse(end).is_some_and(|(_, comment)| END_LENGTH + comment <= end.len())
    };
    memmem::find_iter(tail, b"PK\x05\x06").any(is_whole)
}

/// The place of the zip64 end, from its locator; `None` if there is no locator or it speaks of several disks.
pub(super) fn zip64_end_offset(bytes: &[u8]) -> Option<u64> {
    let mut fields = Fields(bytes);
    if fields.u32()? != ZIP64_LOCATOR || fields.u32()? != 0 {
        return None;
    }
    let offset = fields.u64()?;
    (fields.u32()? == 1).then_some(offset)
}

#[derive(Debug, Default)]
pub(super) struct Streamed {
    pub(super) name: Box<[u8]>,
    pub(super) data: EntryData,
    pub(super) offset: u64,
    pub(super) data_offset: u64,
    /// Known once the entry is confirmed.
    pub(super) directory: bool,
    /// Its Unix mode, once the entry is confirmed, if the archive was made where there is one.
    pub(super) mode: Option<u32>,
}

impl Streamed {
    /// Compares the entry with its header in the directory.
    pub(super) fn confirm(&mut self, header: &CentralHeader<'_>) -> Result<(), Oddity> {
        let same = self.name[..] == *header.name
            && self.data == header.data
            && self.offset == header.offset
            && header.disk == 0;
        if !same {
            return Err(Oddity::CentralDiffers);
        }
        (self.directory, self.mode) = (header.is_directory(), header.unix_mode());
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Directory {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) entries: u64,
    /// A zip64 end was found, and confirmed.
    pub(super) zip64: bool,
}

impl Directory {
    fn is_described_by(&self, end: &DirectoryEnd) -> bool {
        *end == DirectoryEnd { offset: self.offset, size: self.size, ..DirectoryEnd::of(self.entries) }
    }

    /// Compares the directory with its zip64 end, which must have no further data.
    pub(super) fn confirm_zip64(&mut self, end: &DirectoryEnd, length: u64) -> Result<(), Oddity> {
        self.zip64 = length == 44 && self.is_described_by(end);
        if self.zip64 { Ok(()) } else { Err(Oddity::EndDiffers) }
    }

    /// Compares the directory with its end, of which these are the bytes, comment included.
    pub(super) fn confirm_end(&self, bytes: &[u8]) -> Result<(), Oddity> {
        let (end, _) = DirectoryEnd::parse(bytes).ok_or(Oddity::EndDiffers)?;
        let confirmed = if self.zip64 {
            end.requires_zip64() && self.is_described_by(&self.with_zip64_marks_replaced(end))
        } else {
            !end.requires_zip64() && self.is_described_by(&end)
        };
        // Readers search from the back: another end within the comment would be found first.
        if confirmed && memmem::find(&bytes[1..], b"PK\x05\x06").is_none() { Ok(()) } else { Err(Oddity::EndDiffers) }
    }

    fn with_zip64_marks_replaced(&self, mut end: DirectoryEnd) -> DirectoryEnd {
        let narrow = |value: &mut u64, mark: u64, truth: u64| {
            if *value == mark {
                *value = truth;
            }
        };
        narrow(&mut end.entries, 0xffff, self.entries);
        narrow(&mut end.entries_here, 0xffff, self.entries);
        narrow(&mut end.size, 0xffff_ffff, self.size);
        narrow(&mut end.offset, 0xffff_ffff, self.offset);
        if end.disk == 0xffff {
            end.disk = 0;
        }
        if end.directory_disk == 0xffff {
            end.directory_disk = 0;
        }
        end
    }
}

impl DirectoryEnd {
    fn of(entries: u64) -> Self {
        Self { disk: 0, directory_disk: 0, entries_here: entries, entries, size: 0, offset: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(entries: u16, size: u32, offset: u32, comment: &[u8]) -> Vec<u8> {
        let mut bytes = b"PK\x05\x06\0\0\0\0".to_vec();
        bytes.extend(entries.to_le_bytes());
        bytes.extend(entries.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend(u16::try_from(comment.len()).unwrap().to_le_bytes());
        bytes.extend(comment);
        bytes
    }

    #[test]
    fn an_end_within_the_comment_is_not_trusted() {
        let directory = Directory { offset: 300, size: 80, entries: 2, zip64: false };
        assert_eq!(directory.confirm_end(&end(2, 80, 300, b"signed by us")), Ok(()));
        assert!(directory.confirm_end(&end(2, 80, 300, &end(1, 40, 340, b""))).is_err());
        assert!(directory.confirm_end(&end(1, 80, 300, b"")).is_err());
        assert!(directory.confirm_end(&end(2, 80, 301, b"")).is_err());
        // The offset and the comment are searched too.
        let at_signature = Directory { offset: 0x0605_4b50, ..directory };
        assert!(at_signature.confirm_end(&end(2, 80, 0x0605_4b50, b"")).is_err());
    }

    #[test]
    fn marks_need_a_zip64_end() {
        let directory = Directory { offset: 300, size: 80, entries: 2, zip64: false };
        let marked = end(0xffff, u32::MAX, u32::MAX, b"");
        assert!(directory.confirm_end(&marked).is_err());
        assert_eq!(Directory { zip64: true, ..directory }.confirm_end(&marked), Ok(()));
        assert!(Directory { zip64: true, ..directory }.confirm_end(&end(2, 80, 300, b"")).is_err());
        // The tools look for a zip64 end there, and might find one in the last entry's comment.
        let odd = Directory { size: 0xffff, ..directory };
        assert!(odd.confirm_end(&end(2, 0xffff, 300, b"")).is_err());
    }
}

//! The fixed records of a zip archive: bytes to values, read as leniently as the tools do.
//!
//! Source: APPNOTE.TXT 6.3; Go's `archive/zip` where that leaves a choice.

pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const CENTRAL: u32 = 0x0201_4b50;
pub(super) const END: u32 = 0x0605_4b50;
pub(super) const ZIP64_END: u32 = 0x0606_4b50;
pub(super) const ZIP64_LOCATOR: u32 = 0x0706_4b50;
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
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

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

/// What a local header says, sizes from the zip64 field where they are there.
pub(super) struct LocalHeader<'a> {
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) unpacked: u64,
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
        let (flags, method) = (fields.u16()?, fields.u16()?);
        fields.take(4)?;
        let (crc, packed, unpacked) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (name, extra) = (fields.u16()?, fields.u16()?);
        let name = fields.take(name.into())?;
        let mut wide = [unpacked.into(), packed.into()];
        widen(&mut wide, fields.take(extra.into())?)?;
        let [unpacked, packed] = wide;
        Some(Self { flags, method, crc, packed, unpacked, name })
    }
}

/// What the central directory says of an entry.
pub(super) struct CentralHeader<'a> {
    made_by: u16,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) unpacked: u64,
    pub(super) disk: u16,
    attributes: u32,
    pub(super) offset: u64,
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
        let (flags, method) = (fields.u16()?, fields.u16()?);
        fields.take(4)?;
        let (crc, packed, unpacked) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let disk = fields.u16()?;
        fields.take(2)?;
        let (attributes, offset) = (fields.u32()?, fields.u32()?);
        let name = fields.take(name.into())?;
        let mut wide = [unpacked.into(), packed.into(), offset.into()];
        let widened = widen(&mut wide, fields.take(extra.into())?)?;
        fields.take(comment.into())?;
        // An unpacked size of 2^32-1 may be meant so; of the others it never is.
        if [packed, offset].contains(&u32::MAX) && !widened {
            return None;
        }
        let [unpacked, packed, offset] = wide;
        Some(Self { made_by, flags, method, crc, packed, unpacked, disk, attributes, offset, name })
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
    pub(super) fn unix_mode(&self) -> Option<u32> {
        matches!(self.made_by >> 8, 3 | 19).then_some(self.attributes >> 16)
    }
}

/// Replaces each value of 2^32-1, in order, by one of the first zip64 field; false if there is no such field, `None` if
/// it is too short.
fn widen(values: &mut [u64], extra: &[u8]) -> Option<bool> {
    let mut fields = Fields(extra);
    while let (Some(tag), Some(length)) = (fields.u16(), fields.u16()) {
        let Some(field) = fields.take(length.into()) else { break };
        if tag == ZIP64_EXTRA {
            let mut field = Fields(field);
            for value in values.iter_mut().filter(|value| **value == u64::from(u32::MAX)) {
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
    pub(super) directory_disk: u32,
    pub(super) entries_here: u64,
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
    pub(super) fn requires_zip64(&self) -> bool {
        self.entries == 0xffff || self.size == 0xffff || self.offset == 0xffff_ffff
    }
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

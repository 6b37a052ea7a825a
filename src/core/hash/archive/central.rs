//! The streaming pass compared with what the directory at the end of the archive says.
//!
//! The central directory decides the content of an archive. The streaming pass has read the entries without it, so its
//! result counts only if directory and end describe exactly these entries, and no reader can find another directory.

use memchr::memmem;

use super::Oddity;
use super::record::{CentralHeader, DESCRIBED, DirectoryEnd};

#[derive(Debug, Default)]
pub(super) struct Streamed {
    pub(super) name: Box<[u8]>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) unpacked: u64,
    pub(super) offset: u64,
    pub(super) data: u64,
    /// Known once the entry is confirmed.
    pub(super) directory: bool,
    /// Its Unix mode, once the entry is confirmed, if the archive was made where there is one.
    pub(super) mode: Option<u32>,
}

impl Streamed {
    /// Compares the entry with its header in the directory.
    pub(super) fn confirm(&mut self, header: &CentralHeader<'_>) -> Result<(), Oddity> {
        let same = self.name[..] == *header.name
            && self.flags == header.flags
            && self.method == header.method
            && self.crc == header.crc
            && self.packed == header.packed
            && self.unpacked == header.unpacked
            && self.offset == header.offset
            && header.disk == 0;
        if !same {
            return Err(Oddity::CentralDiffers);
        }
        (self.directory, self.mode) = (header.is_directory(), header.unix_mode());
        Ok(())
    }

    /// True if checksum and sizes follow the data.
    pub(super) fn is_described(&self) -> bool {
        self.flags & DESCRIBED != 0
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

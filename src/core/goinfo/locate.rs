//! Where a program can keep its record: from the headers at its start.

use std::ops::Range;

use object::Endianness;
use object::elf::{self, PF_W, PF_X, PT_LOAD};
use object::macho::{self, FAT_MAGIC, FAT_MAGIC_64};
use object::pe;
use object::read::elf::{ProgramHeader as _, SectionHeader};
use object::read::macho::{FatArch as _, MachHeader, MachOFatFile32, MachOFatFile64, Section as _, Segment as _};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader as _};

use super::Unknown;

/// More sections than any linker makes; the table of more is not read.
const MOST_SECTIONS: u64 = 4096;

/// A part of the file and where it is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) address: u64,
    pub(super) file: Range<u64>,
}

/// What the headers of a program say. Offsets count from the beginning of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The parts of the file that can contain the record, in the order of the file.
    pub(super) data: Vec<Range<u64>>,
    /// The table of sections, if it is to be consulted: a record is at the beginning of a section.
    pub(super) table: Option<SectionTable>,
    /// What addresses mean.
    pub(super) segments: Vec<Segment>,
}

/// The section table of an ELF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SectionTable {
    pub(super) range: Range<u64>,
    kind: (bool, Endianness),
}

/// What the first bytes are of.
pub(super) enum Located {
    Program(Layout),
    /// A universal binary, whose first program begins here. `go version` reads the first one too.
    Universal(u64),
}

/// Reads the headers. `head` is the beginning of the file.
pub(super) fn locate(head: &[u8]) -> Result<Located, Unknown> {
    let magic = head.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    let located = match magic {
        Some(0x7f45_4c46) if head.get(4) == Some(&2) => elf::<elf::FileHeader64<Endianness>>(head),
        Some(0x7f45_4c46) => elf::<elf::FileHeader32<Endianness>>(head),
        Some(0xcffa_edfe | 0xfeed_facf) => mach::<macho::MachHeader64<Endianness>>(head),
        Some(0xcefa_edfe | 0xfeed_face) => mach::<macho::MachHeader32<Endianness>>(head),
        Some(FAT_MAGIC) => {
            let file = MachOFatFile32::parse(head).map_err(damaged)?;
            return first(file.arches().first().map(|arch| arch.file_range().0));
        }
        Some(FAT_MAGIC_64) => {
            let file = MachOFatFile64::parse(head).map_err(damaged)?;
            return first(file.arches().first().map(|arch| arch.file_range().0));
        }
        Some(magic) if magic >> 16 == 0x4d5a => {
            let wide = pe_header::<pe::ImageNtHeaders64>(head);
            wide.or_else(|_| pe_header::<pe::ImageNtHeaders32>(head))
        }
        _ => return Err(Unknown::NotAProgram),
    };
    let mut layout = located.map_err(damaged)?;
    layout.data.retain(|range| !range.is_empty());
    layout.data = merged(std::mem::take(&mut layout.data));
    Ok(Located::Program(layout))
}

/// The same parts in order, those that overlap as one: each byte is looked at once.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn first(offset: Option<u64>) -> Result<Located, Unknown> {
    // A program inside its own header would never end.
    offset.filter(|offset| *offset >= 8).map(Located::Universal).ok_or(Unknown::NotAProgram)
}

fn damaged(error: object::read::Error) -> Unknown {
    Unknown::Damaged(error.to_string())
}

fn range((offset, size): (u64, u64)) -> Range<u64> {
    offset..offset.saturating_add(size)
}

fn elf<H: object::read::elf::FileHeader<Endian = Endianness>>(head: &[u8]) -> object::read::Result<Layout> {
    let header = H::parse(head)?;
    let endian = header.endian()?;
    let mut layout = Layout::default();
    for segment in header.program_headers(endian, head)? {
        if segment.p_type(endian) != PT_LOAD {
            continue;
        }
        let file = range(segment.file_range(endian));
        if (segment.p_flags(endian) & (PF_X | PF_W)) == PF_W {
            layout.data.push(file.clone());
        }
        layout.segments.push(Segment { address: segment.p_vaddr(endian).into(), file });
    }
    let (offset, count) = (header.e_shoff(endian).into(), u64::from(header.e_shnum(endian)));
    if offset > 0 && (1..=MOST_SECTIONS).contains(&count) {
        let size = count * size_of::<H::SectionHeader>() as u64;
        layout.table = Some(SectionTable { range: range((offset, size)), kind: (header.is_type_64(), endian) });
    }
    Ok(layout)
}

impl SectionTable {
    /// True if a section begins at this offset, by the bytes of the table.
    pub(super) fn has_section_at(&self, offset: u64, bytes: &[u8]) -> bool {
        fn any<S: SectionHeader<Endian = Endianness>>(bytes: &[u8], offset: u64, endian: Endianness) -> bool {
            let headers = object::pod::slice_from_all_bytes::<S>(bytes).unwrap_or_default();
            headers.iter().any(|header| header.sh_offset(endian).into() == offset)
        }
        match self.kind {
            (true, endian) => any::<elf::SectionHeader64<Endianness>>(bytes, offset, endian),
            (false, endian) => any::<elf::SectionHeader32<Endianness>>(bytes, offset, endian),
        }
    }
}

fn mach<H: MachHeader<Endian = Endianness>>(head: &[u8]) -> object::read::Result<Layout> {
    let header = H::parse(head, 0)?;
    let endian = header.endian()?;
    let mut commands = header.load_commands(endian, head, 0)?;
    let (mut layout, mut sections) = (Layout::default(), Vec::new());
    while let Some(command) = commands.next()? {
        let Some((segment, data)) = H::Segment::from_command(command)? else { continue };
        let file = range(segment.file_range(endian));
        if segment.name() == b"__DATA" {
            layout.data.push(file.clone());
        }
        layout.segments.push(Segment { address: segment.vmaddr(endian).into(), file });
        let of_record = segment.sections(endian, data)?.iter().filter(|it| it.name() == b"__go_buildinfo");
        sections.extend(of_record.map(|section| range((section.offset(endian).into(), section.size(endian).into()))));
    }
    if !sections.is_empty() {
        layout.data = sections;
    }
    Ok(layout)
}

fn pe_header<H: ImageNtHeaders>(head: &[u8]) -> object::read::Result<Layout> {
    let mut offset = pe::ImageDosHeader::parse(head)?.nt_headers_offset().into();
    let (header, _) = H::parse(head, &mut offset)?;
    let base = header.optional_header().image_base();
    let mut layout = Layout::default();
    for section in header.sections(head, offset)?.iter() {
        let (offset, size) = section.pe_file_range();
        let address = base.wrapping_add(section.virtual_address.get(object::LittleEndian).into());
        layout.segments.push(Segment { address, file: range((offset.into(), size.into())) });
        let flags = section.characteristics.get(object::LittleEndian).without(pe::IMAGE_SCN_ALIGN_32BYTES);
        let of_data = pe::IMAGE_SCN_CNT_INITIALIZED_DATA | pe::IMAGE_SCN_MEM_READ | pe::IMAGE_SCN_MEM_WRITE;
        if flags == of_data {
            layout.data.push(range((offset.into(), size.into())));
        }
    }
    // As `go version`, in the first one only.
    layout.data.truncate(1);
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_overlap_are_one() {
        assert_eq!(merged(vec![30..40, 0..10, 5..20, 20..25, 32..35]), [0..25, 30..40]);
    }
}

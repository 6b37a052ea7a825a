//! The pass over a file as it streams by, in bounded memory: which programs it has, and what each says of itself.
//!
//! Where a program can keep its record: from the headers at its start.

use std::ops::Range;

use memchr::memmem;
use object::elf::{self, PF_W, PF_X, PT_LOAD};
use object::macho::{self, FAT_MAGIC, FAT_MAGIC_64};
use object::read::elf::{ProgramHeader as _, SectionHeader};
use object::read::macho::{MachHeader, Section as _, Segment as _};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader as _};
use object::{Endianness, pe};

use super::{ALIGNMENT, Addresses, BuiltFrom, GoInfo, HEADER, MAGIC, Read, Unknown};

/// As much of the beginning of a program as has all its headers.
const HEAD: usize = 64 << 10;

/// So many places that look like a record are looked at.
const MOST_FOUND: usize = 8;

/// Takes the bytes of a file in pieces of any size, in order.
#[derive(Debug, Default)]
pub struct Scan {
    /// The beginning of the file, until it is known which programs are in it.
    head: Vec<u8>,
    programs: Vec<GoProgram>,
    failed: Option<Unknown>,
}

impl Scan {
    /// Before the first byte.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        if self.programs.is_empty() {
            let before = self.head.len();
            self.head.extend_from_slice(&bytes[..bytes.len().min(START - before)]);
            match starts(&self.head) {
                Ok(None) => return,
                Ok(Some(starts)) => self.programs = starts.into_iter().map(GoProgram::at).collect(),
                Err(unknown) => return self.failed = Some(unknown),
            }
            let head = std::mem::take(&mut self.head);
            self.programs.iter_mut().for_each(|program| program.update(&head[..before]));
        }
        self.programs.iter_mut().for_each(|program| program.update(bytes));
    }

    /// What the file says of itself, once all of it was given. [`Unknown::OldLayout`] may be read by
    /// [`finish_with`](Self::finish_with).
    pub fn finish(self) -> BuiltFrom {
        self.end(None::<fn(u64, usize) -> Option<Vec<u8>>>)
    }

    /// The same with a way to read as many bytes anywhere in the file.
    pub fn finish_with(self, read: impl FnMut(u64, usize) -> Option<Vec<u8>>) -> BuiltFrom {
        self.end(Some(read))
    }

    fn end(self, mut read: Option<impl FnMut(u64, usize) -> Option<Vec<u8>>>) -> BuiltFrom {
        if let Some(unknown) = self.failed {
            return vec![Err(unknown)];
        }
        if self.programs.is_empty() {
            let unknown = if is_program(&self.head) { Unknown::Truncated } else { Unknown::NotAProgram };
            return vec![Err(unknown)];
        }
        self.programs.into_iter().map(|program| program.end(read.as_mut())).collect()
    }
}

/// Takes the bytes of a file in which a program begins somewhere.
#[derive(Debug, Default)]
struct GoProgram {
    /// Where in the file the program begins: not at its start in a universal binary.
    base: u64,
    /// Where in the file the next piece begins.
    position: u64,
    head: Vec<u8>,
    packed: bool,
    layout: Option<ProgramLayout>,
    table: Vec<u8>,
    /// Bytes of the part of the data that is read now, and where in the program they begin.
    window: (u64, Vec<u8>),
    found: Vec<(u64, Found)>,
    failed: Option<Unknown>,
}

#[derive(Debug)]
enum Found {
    Record(Result<GoInfo, Unknown>),
    Old(Addresses),
}

impl GoProgram {
    fn at(base: u64) -> Self {
        Self { base, ..Self::default() }
    }

    /// Takes the next bytes of the file.
    fn update(&mut self, mut bytes: &[u8]) {
        let start = self.position;
        self.position = start.saturating_add(bytes.len() as u64);
        if self.failed.is_some() {
            return;
        }
        if self.layout.is_some() {
            return self.take(start - self.base, bytes);
        }
        let before = usize::try_from(self.base.saturating_sub(start)).unwrap_or(usize::MAX).min(bytes.len());
        bytes = &bytes[before..];
        let missing = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..missing]);
        if self.head.len() == HEAD {
            self.read_head();
            self.position -= (bytes.len() - missing) as u64;
            self.update(&bytes[missing..]);
        }
    }

    fn read_head(&mut self) {
        let head = std::mem::take(&mut self.head);
        match locate(&head) {
            Ok(layout) => {
                self.packed = memmem::find(&head, b"UPX!").is_some();
                self.layout = Some(layout);
                self.take(0, &head);
            }
            Err(unknown) => self.failed = Some(unknown),
        }
    }

    /// Takes bytes of the program at an offset in it.
    fn take(&mut self, offset: u64, bytes: &[u8]) {
        let Some(layout) = self.layout.take() else { return };
        if let Some(table) = &layout.table {
            self.table.extend_from_slice(overlap(&table.range, offset, bytes).1);
        }
        for range in &layout.data {
            let (at, part) = overlap(range, offset, bytes);
            if !part.is_empty() && self.found.len() < MOST_FOUND {
                if at == range.start {
                    self.window = (at, Vec::new());
                }
                self.window.1.extend_from_slice(part);
                self.search(at + part.len() as u64 == range.end);
            }
        }
        self.layout = Some(layout);
    }

    /// Looks for records in the window, and leaves in it only what more bytes can make one of.
    fn search(&mut self, is_end: bool) {
        let (mut start, bytes) = std::mem::take(&mut self.window);
        let mut rest = &bytes[..];
        let mut skip = |rest: &mut &[u8], count: usize| {
            let count = count.min(rest.len());
            *rest = &rest[count..];
            start += count as u64;
            start
        };
        let mut at = skip(&mut rest, 0);
        while let Some(found) = memmem::find(rest, MAGIC) {
            at = skip(&mut rest, found);
            if !at.is_multiple_of(ALIGNMENT) {
                at = skip(&mut rest, 1);
                continue;
            }
            let record = match super::read(rest) {
                Read::Partial if !is_end => break,
                Read::Partial => Found::Record(Err(Unknown::Truncated)),
                Read::Complete(record) => Found::Record(record),
                Read::Addresses(addresses) => Found::Old(addresses),
            };
            self.found.push((at, record));
            if self.found.len() == MOST_FOUND {
                return;
            }
            at = skip(&mut rest, HEADER);
        }
        if !rest.starts_with(MAGIC) {
            // The last bytes may begin one.
            let done = rest.len() - rest.len().min(MAGIC.len() - 1);
            at = skip(&mut rest, done);
        }
        self.window = (at, rest.to_vec());
    }

    fn end(mut self, read: Option<impl FnMut(u64, usize) -> Option<Vec<u8>>>) -> Result<GoInfo, Unknown> {
        if self.layout.is_none() && self.failed.is_none() {
            if self.head.is_empty() {
                return Err(Unknown::Truncated);
            }
            self.read_head();
        }
        if let Some(unknown) = self.failed {
            return Err(unknown);
        }
        let layout = self.layout.unwrap_or_default();
        let table = layout.table.as_ref().filter(|_| !self.table.is_empty());
        let is_section = |(at, _): &(u64, Found)| table.is_some_and(|table| table.has_section_at(*at, &self.table));
        let chosen = self.found.iter().find(|found| is_section(found)).or(self.found.first());
        let ended = self.position.saturating_sub(self.base);
        match chosen {
            Some((_, Found::Record(record))) => record.clone(),
            Some((_, Found::Old(addresses))) => {
                let mut read = read.ok_or(Unknown::OldLayout)?;
                let mut in_file = |at: u64, count| read(self.base.checked_add(at)?, count);
                addresses.follow(|address, count| {
                    layout.segments.iter().find_map(|segment| segment.read(address, count, &mut in_file))
                })
            }
            None if self.packed => Err(Unknown::Packed),
            None if layout.data.iter().any(|range| range.end > ended) => Err(Unknown::Truncated),
            None => Err(Unknown::NoRecord),
        }
    }
}

/// The part of bytes at an offset that is in a range, and where it begins.
fn overlap<'a>(range: &std::ops::Range<u64>, offset: u64, bytes: &'a [u8]) -> (u64, &'a [u8]) {
    let end = offset.saturating_add(bytes.len() as u64);
    let (from, to) = (range.start.max(offset), range.end.min(end));
    let index = |at: u64| usize::try_from(at - offset).unwrap_or(bytes.len());
    if from < to { (from, &bytes[index(from)..index(to)]) } else { (from, &[]) }
}

/// More sections than any linker makes; the table of more is not read.
const MOST_SECTIONS: u64 = 4096;

/// More programs than any universal binary has.
const MOST_SLICES: usize = 4;

/// As many bytes of a file as say where its programs begin.
const START: usize = 8 + 32 * MOST_SLICES;

/// A part of the file and where it is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    pub(super) address: u64,
    /// Its bytes in memory. Those that the file does not have are zero.
    pub(super) size: u64,
    pub(super) file: Range<u64>,
}

impl Segment {
    /// As many bytes at an address; `None` if they are not all in this part.
    pub(super) fn read(
        &self,
        address: u64,
        count: usize,
        mut read: impl FnMut(u64, usize) -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let from = address.checked_sub(self.address)?;
        let in_file = self.file.end.saturating_sub(self.file.start);
        if from.checked_add(count as u64)? > self.size.max(in_file) {
            return None;
        }
        let in_file = usize::try_from(in_file.saturating_sub(from)).unwrap_or(usize::MAX).min(count);
        let mut bytes = if in_file == 0 { Vec::new() } else { read(self.file.start.checked_add(from)?, in_file)? };
        bytes.resize(count, 0);
        Some(bytes)
    }
}

/// What the headers of a program say. Offsets count from the beginning of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProgramLayout {
    /// The parts of the file that can contain the record, in the order of the file.
    pub(super) data: Vec<Range<u64>>,
    /// The table of sections, if it is to be consulted: a record is at the beginning of a section.
    pub(super) table: Option<SectionTable>,
    /// What addresses mean.
    segments: Vec<Segment>,
}

/// The section table of an ELF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SectionTable {
    range: Range<u64>,
    kind: (bool, Endianness),
}

/// True if a file that begins with these bytes is a program.
fn is_program(head: &[u8]) -> bool {
    const OTHERS: [u32; 7] = [0x7f45_4c46, 0xcffa_edfe, 0xfeed_facf, 0xcefa_edfe, 0xfeed_face, FAT_MAGIC, FAT_MAGIC_64];
    magic(head).is_some_and(|magic| OTHERS.contains(&magic) || magic >> 16 == 0x4d5a)
}

fn magic(head: &[u8]) -> Option<u32> {
    head.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Where the programs of a file begin, by its first bytes; `None` if more of them are needed. A universal binary has
/// several programs.
fn starts(head: &[u8]) -> Result<Option<Vec<u64>>, Unknown> {
    let (slice, width) = match magic(head) {
        None => return Ok(None),
        Some(FAT_MAGIC) => (20, 4),
        Some(FAT_MAGIC_64) => (32, 8),
        Some(_) if is_program(head) => return Ok(Some(vec![0])),
        Some(_) => return Err(Unknown::NotAProgram),
    };
    let number = |at: usize, width: usize| {
        let bytes = head.get(at..at + width)?;
        Some(bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let Some(count) = number(4, 4) else { return Ok(None) };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if !(1..=MOST_SLICES).contains(&count) {
        return Err(Unknown::Damaged(format!("it is a universal binary of {count} programs")));
    }
    let offsets: Option<Vec<u64>> = (0..count).map(|at| number(8 + at * slice + 8, width)).collect();
    if offsets.iter().flatten().any(|offset| *offset < (8 + count * slice) as u64) {
        return Err(Unknown::Damaged("a program begins in the header of its universal binary".to_owned()));
    }
    Ok(offsets)
}

/// Reads the headers of a program. `head` is its beginning.
pub(super) fn locate(head: &[u8]) -> Result<ProgramLayout, Unknown> {
    let located = match magic(head) {
        Some(0x7f45_4c46) if head.get(4) == Some(&2) => elf::<elf::FileHeader64<Endianness>>(head),
        Some(0x7f45_4c46) => elf::<elf::FileHeader32<Endianness>>(head),
        Some(0xcffa_edfe | 0xfeed_facf) => mach::<macho::MachHeader64<Endianness>>(head),
        Some(0xcefa_edfe | 0xfeed_face) => mach::<macho::MachHeader32<Endianness>>(head),
        Some(magic) if magic >> 16 == 0x4d5a => {
            let wide = pe_header::<pe::ImageNtHeaders64>(head);
            wide.or_else(|_| pe_header::<pe::ImageNtHeaders32>(head))
        }
        _ => return Err(Unknown::Damaged("a part of a universal binary is not a program".to_owned())),
    };
    let mut layout = located.map_err(damaged)?;
    layout.data.retain(|range| !range.is_empty());
    layout.data = merged(std::mem::take(&mut layout.data));
    Ok(layout)
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

fn damaged(error: object::read::Error) -> Unknown {
    Unknown::Damaged(error.to_string())
}

fn range((offset, size): (u64, u64)) -> Range<u64> {
    offset..offset.saturating_add(size)
}

fn elf<H: object::read::elf::FileHeader<Endian = Endianness>>(head: &[u8]) -> object::read::Result<ProgramLayout> {
    let header = H::parse(head)?;
    let endian = header.endian()?;
    let mut layout = ProgramLayout::default();
    for segment in header.program_headers(endian, head)? {
        if segment.p_type(endian) != PT_LOAD {
            continue;
        }
        let file = range(segment.file_range(endian));
        if (segment.p_flags(endian) & (PF_X | PF_W)) == PF_W {
            layout.data.push(file.clone());
        }
        let (address, size) = (segment.p_vaddr(endian).into(), segment.p_memsz(endian).into());
        layout.segments.push(Segment { address, size, file });
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
    fn has_section_at(&self, offset: u64, bytes: &[u8]) -> bool {
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

fn mach<H: MachHeader<Endian = Endianness>>(head: &[u8]) -> object::read::Result<ProgramLayout> {
    let header = H::parse(head, 0)?;
    let endian = header.endian()?;
    let mut commands = header.load_commands(endian, head, 0)?;
    let (mut layout, mut sections) = (ProgramLayout::default(), Vec::new());
    while let Some(command) = commands.next()? {
        let Some((segment, data)) = H::Segment::from_command(command)? else { continue };
        let file = range(segment.file_range(endian));
        if segment.name() == b"__DATA" {
            layout.data.push(file.clone());
        }
        let (address, size) = (segment.vmaddr(endian).into(), segment.vmsize(endian).into());
        layout.segments.push(Segment { address, size, file });
        let of_record = segment.sections(endian, data)?.iter().filter(|it| it.name() == b"__go_buildinfo");
        sections.extend(of_record.map(|section| range((section.offset(endian).into(), section.size(endian).into()))));
    }
    if !sections.is_empty() {
        layout.data = sections;
    }
    Ok(layout)
}

fn pe_header<H: ImageNtHeaders>(head: &[u8]) -> object::read::Result<ProgramLayout> {
    let mut offset = pe::ImageDosHeader::parse(head)?.nt_headers_offset().into();
    let (header, _) = H::parse(head, &mut offset)?;
    let base = header.optional_header().image_base();
    let mut layout = ProgramLayout::default();
    for section in header.sections(head, offset)?.iter() {
        let (offset, size) = section.pe_file_range();
        let address = base.wrapping_add(section.virtual_address.get(object::LittleEndian).into());
        let in_memory = section.virtual_size.get(object::LittleEndian).into();
        layout.segments.push(Segment { address, size: in_memory, file: range((offset.into(), size.into())) });
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

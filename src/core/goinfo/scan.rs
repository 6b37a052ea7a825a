//! The pass over a program, in bounded memory: as it streams by, or with leaps where it can be read at any place.

use std::io::{self, Read as _, Seek, SeekFrom};

use memchr::memmem;

use super::locate::{Layout, Located, locate};
use super::record::{self, ALIGNMENT, Addresses, HEADER, MAGIC, Read};
use super::{GoInfo, Unknown};

/// As much of the beginning of a program as has all its headers.
const HEAD: usize = 64 << 10;

/// What is read of a file at once.
const PIECE: u64 = 256 << 10;

/// So many places that look like a record are looked at.
const MOST_FOUND: usize = 8;

/// Takes the bytes of a program in pieces of any size, in order.
#[derive(Debug, Default)]
pub struct Scan {
    /// Where in the file the program begins: not at its start in a universal binary.
    base: u64,
    /// Where in the file the next piece begins.
    position: u64,
    head: Vec<u8>,
    packed: bool,
    layout: Option<Layout>,
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

impl GoInfo {
    /// What a program says of itself, of which only what matters is read.
    pub fn of_program(file: &mut (impl io::Read + Seek)) -> io::Result<Result<Self, Unknown>> {
        let (mut scan, mut piece) = (Scan::new(), Vec::new());
        while let Some(at) = scan.wanted() {
            file.seek(SeekFrom::Start(at))?;
            piece.clear();
            if file.by_ref().take(PIECE).read_to_end(&mut piece)? == 0 {
                break;
            }
            scan.update_at(at, &piece);
        }
        let read = |at, count| {
            let mut bytes = vec![0; count];
            file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes)).ok()?;
            Some(bytes)
        };
        Ok(scan.finish_with(read))
    }
}

impl Scan {
    /// Before the first byte.
    pub fn new() -> Self {
        Self::default()
    }

    /// The place of the next bytes that matter; `None` if no more do.
    pub fn wanted(&self) -> Option<u64> {
        if self.failed.is_some() {
            return None;
        }
        let Some(layout) = &self.layout else { return Some(self.position.max(self.base)) };
        let ranges = layout.data.iter().filter(|_| self.found.len() < MOST_FOUND);
        let ranges = ranges.chain(layout.table.as_ref().map(|table| &table.range));
        let here = self.position - self.base;
        let next = ranges.filter(|range| range.end > here).map(|range| range.start.max(here)).min();
        next.map(|at| self.base.saturating_add(at))
    }

    /// Takes the bytes at a place, which is not before the last one.
    pub fn update_at(&mut self, position: u64, bytes: &[u8]) {
        self.position = self.position.max(position);
        self.update(bytes);
    }

    /// Takes the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
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
            Ok(Located::Program(layout)) => {
                self.packed = memmem::find(&head, b"UPX!").is_some();
                self.layout = Some(layout);
                self.take(0, &head);
            }
            Ok(Located::Universal(_)) if self.base > 0 => self.failed = Some(Unknown::NotAProgram),
            Ok(Located::Universal(offset)) => {
                self.base = offset;
                let known = usize::try_from(offset).unwrap_or(usize::MAX).min(head.len());
                self.head = head[known..].to_vec();
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
            let record = match record::read(rest) {
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

    /// What the program says of itself, once all that is wanted of it was given.
    ///
    /// # Errors
    ///
    /// Why that is unknown. [`Unknown::OldLayout`] if it can be read by [`finish_with`](Self::finish_with).
    pub fn finish(self) -> Result<GoInfo, Unknown> {
        self.end(None::<fn(u64, usize) -> Option<Vec<u8>>>)
    }

    /// The same with a way to read as many bytes anywhere in the file.
    pub fn finish_with(self, read: impl FnMut(u64, usize) -> Option<Vec<u8>>) -> Result<GoInfo, Unknown> {
        self.end(Some(read))
    }

    fn end(mut self, read: Option<impl FnMut(u64, usize) -> Option<Vec<u8>>>) -> Result<GoInfo, Unknown> {
        while self.layout.is_none() && self.failed.is_none() {
            let base = self.base;
            if self.head.is_empty() {
                return Err(if base > 0 { Unknown::Truncated } else { Unknown::NotAProgram });
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
                addresses.follow(|address, count| {
                    let fits = layout.segments.iter().find_map(|segment| {
                        let inside = address.checked_sub(segment.address)?;
                        let from = segment.file.start.checked_add(inside)?;
                        (from.checked_add(count as u64)? <= segment.file.end).then_some(from)
                    });
                    read(self.base.checked_add(fits?)?, count)
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

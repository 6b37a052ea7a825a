//! The pass over a file as it streams by, in bounded memory: which programs it has, and what each says of itself.

use memchr::memmem;

use super::locate::{Layout, START, is_program, locate, starts};
use super::record::{self, ALIGNMENT, Addresses, HEADER, MAGIC, Read};
use super::{BuiltFrom, GoInfo, Unknown};

/// As much of the beginning of a program as has all its headers.
const HEAD: usize = 64 << 10;

/// So many places that look like a record are looked at.
const MOST_FOUND: usize = 8;

/// Takes the bytes of a file in pieces of any size, in order.
#[derive(Debug, Default)]
pub struct Scan {
    /// The beginning of the file, until it is known which programs are in it.
    head: Vec<u8>,
    programs: Vec<Program>,
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
                Ok(Some(starts)) => self.programs = starts.into_iter().map(Program::at).collect(),
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
struct Program {
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

impl Program {
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

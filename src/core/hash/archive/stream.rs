//! The streaming pass: a machine that takes the bytes of an archive as they arrive.
//!
//! Entry after entry, then the directory, then its end; no gap, nothing before, nothing after. Whatever is unusual is
//! refused, for the central directory may say something else than what was read.
//! Memory: a header, and a short record for each entry.

use std::mem;

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;

use super::forms::lossy;
use super::record::{
    CENTRAL, CENTRAL_LENGTH, CentralHeader, DEFLATED, DESCRIBED, DESCRIPTOR, DirectoryEnd, END, END_LENGTH, EntryData,
    LOCAL, LOCAL_LENGTH, LocalHeader, STORED, ZIP64_END, ZIP64_END_LENGTH, ZIP64_LOCATOR_LENGTH, signature,
    zip64_end_offset,
};
use super::record::{Directory, Streamed};
use super::sink::Sink;
use super::{BadArchive, Limits, Oddity};

/// Flags without meaning for the content: how hard was compressed, sizes follow, the name is UTF-8.
const USUAL_FLAGS: u16 = 0b110 | DESCRIBED | 1 << 11;

/// The longest data descriptor, and the signature after it.
const DESCRIPTOR_AND_NEXT: usize = 24 + 4;

pub(super) struct Stream {
    limits: Limits,
    state: State,
    /// Bytes of the record that is not complete yet.
    held: Vec<u8>,
    /// Where the kept bytes begin, or the next byte if there are none.
    position: u64,
    inflate: Decompress,
    current: Current,
    entries: Vec<Streamed>,
    confirmed: usize,
    directory: Directory,
    unpacked: u64,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Signature,
    Local,
    Stored,
    Deflated,
    Descriptor,
    Central,
    Zip64End,
    End,
    Done,
}

/// The entry whose data are being read. Its sizes count up.
#[derive(Default)]
struct Current {
    entry: Streamed,
    crc: crc32fast::Hasher,
    /// What the local header says of them.
    declared: EntryData,
    /// Packed bytes to come, where that is known.
    left: Option<u64>,
}

/// Whether the next step is possible with the bytes so far.
type StreamStep = Result<bool, BadArchive>;

impl Stream {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::Signature,
            held: Vec::new(),
            position: 0,
            inflate: Decompress::new(false),
            current: Current::default(),
            entries: Vec::new(),
            confirmed: 0,
            directory: Directory::default(),
            unpacked: 0,
        }
    }

    /// Takes more bytes. After an error nothing more may be given.
    pub(super) fn update(&mut self, mut input: &[u8], sink: &mut Sink) -> Result<(), BadArchive> {
        loop {
            let more = match self.state {
                State::Signature => self.signature(&mut input)?,
                State::Local => self.local(&mut input, sink)?,
                State::Stored => self.stored(&mut input, sink)?,
                State::Deflated => self.deflated(&mut input, sink)?,
                State::Descriptor => self.descriptor(&mut input)?,
                State::Central => self.central(&mut input)?,
                State::Zip64End => self.zip64_end(&mut input)?,
                State::End => self.end(&mut input)?,
                State::Done if input.is_empty() => false,
                State::Done => return Err(Oddity::Trailing.into()),
            };
            if !more {
                return Ok(());
            }
        }
    }

    /// True while the end of an entry is looked for, which may be that of the archive.
    pub(super) fn is_open_ended(&self) -> bool {
        matches!(self.state, State::Stored) && self.current.left.is_none()
    }

    pub(super) fn finish(self) -> Result<Vec<Streamed>, BadArchive> {
        match self.state {
            State::Done => Ok(self.entries),
            _ => Err(BadArchive::NotAZip),
        }
    }

    /// Keeps bytes of the input until there are enough of them.
    fn hold(&mut self, input: &mut &[u8], length: usize) -> bool {
        let missing = length.saturating_sub(self.held.len()).min(input.len());
        let (now, later) = input.split_at(missing);
        self.held.extend_from_slice(now);
        *input = later;
        self.held.len() >= length
    }

    fn release(&mut self, length: usize) {
        self.held.drain(..length);
        self.position += length as u64;
    }

    fn signature(&mut self, input: &mut &[u8]) -> StreamStep {
        if !self.hold(input, 4) {
            return Ok(false);
        }
        let directory_begun = self.confirmed > 0;
        let directory_ended = directory_begun && self.confirmed == self.entries.len();
        self.state = match signature(&self.held) {
            Some(LOCAL) if !directory_begun => State::Local,
            Some(CENTRAL) if !self.entries.is_empty() && !directory_ended => {
                if !directory_begun {
                    self.directory.offset = self.position;
                }
                State::Central
            }
            Some(ZIP64_END) if directory_ended && !self.directory.zip64 => State::Zip64End,
            Some(END) if directory_ended => State::End,
            Some(END) if self.position == 0 => return Err(BadArchive::Empty),
            _ if self.position == 0 => return Err(BadArchive::NotAZip),
            _ => return Err(Oddity::Gap.into()),
        };
        Ok(true)
    }

    fn local(&mut self, input: &mut &[u8], sink: &mut Sink) -> StreamStep {
        if !self.hold(input, LOCAL_LENGTH) {
            return Ok(false);
        }
        let (name, extra) = LocalHeader::lengths(&self.held).ok_or(Oddity::LocalHeader)?;
        self.check_room(name)?;
        let length = LOCAL_LENGTH + name + extra;
        if !self.hold(input, length) {
            return Ok(false);
        }
        let LocalHeader { data: declared, name: written } =
            LocalHeader::parse(&self.held).ok_or(Oddity::LocalHeader)?;
        if declared.flags & !USUAL_FLAGS != 0 {
            return Err(Oddity::Flags.into());
        }
        self.state = match declared.method {
            STORED => State::Stored,
            DEFLATED => State::Deflated,
            // Only the directory says whether it is a folder, whose data no reader looks at.
            _ if !declared.is_described() => State::Stored,
            method => return Err(unknown_method(written, method, written.last() == Some(&b'/'))),
        };
        let entry = Streamed {
            name: written.into(),
            data: EntryData { crc: 0, packed: 0, unpacked: 0, ..declared },
            offset: self.position,
            data_offset: self.position + length as u64,
            ..Streamed::default()
        };
        sink.begin_entry(&entry.name)?;
        let sizes_follow = declared.is_described() && (declared.method == DEFLATED || declared.packed == 0);
        self.current = Current {
            entry,
            crc: crc32fast::Hasher::new(),
            declared,
            left: (!sizes_follow).then_some(declared.packed),
        };
        // What the directory will have at least; its true size comes once it is read.
        self.directory.size += (CENTRAL_LENGTH + name) as u64;
        self.inflate.reset(false);
        self.release(length);
        if matches!(self.state, State::Stored) { self.stored(input, sink) } else { Ok(true) }
    }

    /// Refuses one entry too many, or a directory that is bound to be too large.
    fn check_room(&self, name: usize) -> Result<(), BadArchive> {
        if self.entries.len() >= self.limits.entries {
            return Err(BadArchive::TooManyEntries(self.limits.entries));
        }
        if name > self.limits.name {
            return Err(BadArchive::NameTooLong(self.limits.name));
        }
        if self.directory.size + (CENTRAL_LENGTH + name) as u64 > self.limits.directory {
            return Err(BadArchive::DirectoryTooLarge(self.limits.directory));
        }
        Ok(())
    }

    fn stored(&mut self, input: &mut &[u8], sink: &mut Sink) -> StreamStep {
        let Some(left) = self.current.left else { return self.stored_up_to_descriptor(input, sink) };
        let (now, later) = input.split_at(usize::try_from(left).unwrap_or(usize::MAX).min(input.len()));
        self.current.crc.update(now);
        sink.content(now);
        *input = later;
        self.count(now.len(), now.len())?;
        if self.current.left == Some(0) { self.end_of_data(sink) } else { Ok(false) }
    }

    /// Stored data whose size follows them: they end before the first descriptor that fits them, with or without its signature.
    fn stored_up_to_descriptor(&mut self, input: &mut &[u8], sink: &mut Sink) -> StreamStep {
        let bytes = [mem::take(&mut self.held).as_slice(), input].concat();
        let before = self.current.entry.data.packed;
        let mut done = 0;
        let mut take = |stream: &mut Self, end: usize| {
            let content = &bytes[done..end.max(done)];
            stream.current.crc.update(content);
            sink.content(content);
            done += content.len();
            stream.count(content.len(), content.len()).map(|()| done)
        };
        let mut found = None;
        for next in memmem::find_iter(&bytes, b"PK") {
            let Some(length) = described_length(&bytes, next, before) else { continue };
            // Later descriptors begin later, so this is content, whatever the checksum says.
            let done = take(self, next - length)?;
            self.current.entry.data.crc = self.current.crc.clone().finalize();
            if done == next - length && descriptor_length(&bytes[done..], &self.current.entry.data)?.is_some() {
                found = Some(done);
                break;
            }
        }
        // The last bytes may be a descriptor and the beginning of what follows.
        let done = match found {
            Some(done) => done,
            None => take(self, bytes.len().saturating_sub(DESCRIPTOR_AND_NEXT - 1))?,
        };
        let held = (bytes.len() - done).min(DESCRIPTOR_AND_NEXT);
        self.held.extend_from_slice(&bytes[done..done + held]);
        *input = &input[input.len() - (bytes.len() - done - held)..];
        if found.is_some() { self.end_of_data(sink) } else { Ok(false) }
    }

    fn deflated(&mut self, input: &mut &[u8], sink: &mut Sink) -> StreamStep {
        let left = self.current.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
        let packed = &input[..left.min(input.len())];
        let space = sink.space();
        let room = space.len();
        let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self
            .inflate
            .decompress(packed, space, FlushDecompress::None)
            .map_err(|_| BadArchive::Corrupt(lossy(&self.current.entry.name)))?;
        let used = usize::try_from(self.inflate.total_in() - before_in).unwrap_or(usize::MAX);
        let made = usize::try_from(self.inflate.total_out() - before_out).unwrap_or(usize::MAX);
        self.current.crc.update(&space[..made]);
        sink.advance(made);
        let all_used = used == packed.len();
        *input = &input[used..];
        self.count(used, made)?;
        if status == Status::StreamEnd {
            return if self.current.left.unwrap_or(0) == 0 {
                self.end_of_data(sink)
            } else {
                Err(Oddity::Deflate.into())
            };
        }
        // A full buffer means that more may come of the same input.
        if made == room || (!all_used && used + made > 0) {
            return Ok(true);
        }
        if !all_used || self.current.left == Some(0) {
            return Err(Oddity::Deflate.into());
        }
        Ok(false)
    }

    fn count(&mut self, packed: usize, unpacked: usize) -> Result<(), BadArchive> {
        let (packed, unpacked) = (packed as u64, unpacked as u64);
        self.position += packed;
        self.current.entry.data.packed += packed;
        self.current.entry.data.unpacked += unpacked;
        self.current.left = self.current.left.map(|left| left - packed);
        self.unpacked += unpacked;
        if self.unpacked > self.limits.unpacked {
            return Err(BadArchive::TooLarge(self.limits.unpacked));
        }
        Ok(())
    }

    fn end_of_data(&mut self, sink: &mut Sink) -> StreamStep {
        sink.end_entry(self.entries.len());
        let Current { mut entry, crc, declared, .. } = mem::take(&mut self.current);
        entry.data.crc = crc.finalize();
        self.state = if declared.is_described() {
            State::Descriptor
        } else if !declared.is_readable() {
            entry.data = declared;
            State::Signature
        } else if declared == entry.data {
            State::Signature
        } else {
            return Err(Oddity::LocalDiffers.into());
        };
        self.entries.push(entry);
        Ok(true)
    }

    fn descriptor(&mut self, input: &mut &[u8]) -> StreamStep {
        if !self.hold(input, DESCRIPTOR_AND_NEXT) {
            return Ok(false);
        }
        let entry = self.entries.last().ok_or(Oddity::Descriptor)?;
        let length = descriptor_length(&self.held, &entry.data)?.ok_or(Oddity::Descriptor)?;
        self.release(length);
        self.state = State::Signature;
        Ok(true)
    }

    fn central(&mut self, input: &mut &[u8]) -> StreamStep {
        if !self.hold(input, CENTRAL_LENGTH) {
            return Ok(false);
        }
        let length = CentralHeader::length(&self.held).ok_or(Oddity::CentralDiffers)?;
        // What has not been compared with an entry need not be the directory at all.
        if self.position - self.directory.offset + length as u64 > self.limits.directory {
            return Err(Oddity::CentralDiffers.into());
        }
        if !self.hold(input, length) {
            return Ok(false);
        }
        let header = CentralHeader::parse(&self.held).ok_or(Oddity::CentralDiffers)?;
        let entry = self.entries.get_mut(self.confirmed).ok_or(Oddity::CentralDiffers)?;
        entry.confirm(&header)?;
        if !entry.data.is_readable() {
            return Err(unknown_method(&entry.name, entry.data.method, entry.directory));
        }
        self.confirmed += 1;
        self.release(length);
        self.directory.size = self.position - self.directory.offset;
        self.directory.entries = self.confirmed as u64;
        self.state = State::Signature;
        Ok(true)
    }

    fn zip64_end(&mut self, input: &mut &[u8]) -> StreamStep {
        if !self.hold(input, ZIP64_END_LENGTH + ZIP64_LOCATOR_LENGTH) {
            return Ok(false);
        }
        let (end, length) = DirectoryEnd::parse_zip64(&self.held).ok_or(Oddity::EndDiffers)?;
        if zip64_end_offset(&self.held[ZIP64_END_LENGTH..]) != Some(self.position) {
            return Err(Oddity::EndDiffers.into());
        }
        self.directory.confirm_zip64(&end, length)?;
        self.release(ZIP64_END_LENGTH + ZIP64_LOCATOR_LENGTH);
        self.state = State::Signature;
        Ok(true)
    }

    fn end(&mut self, input: &mut &[u8]) -> StreamStep {
        if !self.hold(input, END_LENGTH) {
            return Ok(false);
        }
        let (_, comment) = DirectoryEnd::parse(&self.held).ok_or(Oddity::EndDiffers)?;
        if !self.hold(input, END_LENGTH + comment) {
            return Ok(false);
        }
        self.directory.confirm_end(&self.held)?;
        self.release(END_LENGTH + comment);
        self.state = State::Done;
        Ok(true)
    }
}

/// An entry that only a folder may be: the tools read no data of folders.
fn unknown_method(name: &[u8], method: u16, is_folder: bool) -> BadArchive {
    if is_folder { Oddity::FolderMethod.into() } else { BadArchive::Method { name: lossy(name), method } }
}

/// The length of the descriptor before a record, if its sizes are those of all data before it, of which the first `before` bytes are gone.
fn described_length(bytes: &[u8], record: usize, before: u64) -> Option<usize> {
    if !matches!(signature(&bytes[record..]), Some(LOCAL | CENTRAL)) {
        return None;
    }
    let size = |from: usize, width: usize| -> Option<u64> {
        let mut number = [0; 8];
        number[..width].copy_from_slice(bytes.get(from..from + width)?);
        Some(u64::from_le_bytes(number))
    };
    // Sizes of four or of eight bytes, behind a checksum or behind that and the signature.
    [(4, 12), (4, 16), (8, 20), (8, 24)].into_iter().find_map(|(width, length)| {
        let packed = size(record.checked_sub(2 * width)?, width)?;
        let fits = packed == size(record - width, width)? && before + record.checked_sub(length)? as u64 == packed;
        fits.then_some(length)
    })
}

/// The length of the data descriptor that fits the entry: with or without signature, sizes of four or of eight bytes.
/// Fails if no record follows one that fits.
fn descriptor_length(held: &[u8], entry: &EntryData) -> Result<Option<usize>, Oddity> {
    // Such a checksum cannot be distinguished from the signature.
    if entry.crc == DESCRIPTOR {
        return Ok(None);
    }
    let narrow = (u32::try_from(entry.packed).ok()).zip(u32::try_from(entry.unpacked).ok());
    let narrow = narrow.map(|(packed, unpacked)| [packed.to_le_bytes(), unpacked.to_le_bytes()].concat());
    let wide = [entry.packed.to_le_bytes(), entry.unpacked.to_le_bytes()].concat();
    let unsigned = held.strip_prefix(&DESCRIPTOR.to_le_bytes()).unwrap_or(held);
    let Some(sizes) = unsigned.strip_prefix(&entry.crc.to_le_bytes()) else { return Ok(None) };
    let fitting = narrow.iter().chain([&wide]).filter_map(|them| sizes.strip_prefix(them.as_slice()));
    let mut fitting = fitting.peekable();
    if fitting.peek().is_none() {
        return Ok(None);
    }
    let rest = fitting.find(|rest| matches!(signature(rest), Some(LOCAL | CENTRAL))).ok_or(Oddity::Gap)?;
    Ok(Some(held.len() - rest.len()))
}

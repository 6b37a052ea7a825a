//! Where bytes become digests: of the archive and of one entry after another.
//!
//! Either at once, straight out of the buffer that inflate fills, or on a second thread: inflate takes about twice as
//! long as both digests together, so the second thread hides them. Buffers go round; none is allocated once all are out.
//!
//! An archive that is unpacked, once the streaming pass has read it to its end.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use flate2::read::DeflateDecoder;

use super::forms::file_path;
use super::record::{DEFLATED, Streamed};
use super::stream::Stream;
use super::{BadArchive, Limits, PIECE, ProgramFiles, Threads};
use crate::goinfo::Scan;
use crate::hash::Sha256Digest;
use crate::hash::digest::Sha256;

/// Bytes in a buffer. Smaller ones cost inflate its speed, larger ones fall out of the cache.
const BLOCK: usize = 256 << 10;

/// Buffers on their way between the threads.
const BLOCKS: usize = 8;

/// A block with less space than this is handed on: inflate needs room to be fast.
const LEAST_SPACE: usize = 32 << 10;

/// Where the files of an archive go while it is hashed. It reports errors only at the end.
pub trait Contents: Send {
    /// A file begins, by its path in the package.
    fn begin(&mut self, path: &[u8]);

    /// More bytes of the file.
    fn write(&mut self, bytes: &[u8]);

    /// The file is complete.
    fn end(&mut self);
}

pub(super) struct Digests {
    pub(super) zh: Sha256Digest,
    pub(super) entries: Vec<Sha256Digest>,
}

pub(super) struct Sink {
    block: Vec<u8>,
    filled: usize,
    worker: Worker,
    unpacks: bool,
    /// The path of the current entry, if it is a file, and what reads it.
    file: Option<(Vec<u8>, Box<Scan>)>,
    programs: ProgramFiles,
}

enum Worker {
    Inline(Hashing),
    Thread(Overlapped),
}

impl Sink {
    /// A sink on this thread or with one of its own; on this one, too, if no other can be had.
    pub(super) fn new(threads: Threads, contents: Option<Box<dyn Contents>>) -> Self {
        let unpacks = contents.is_some();
        let hashing = Hashing { contents, ..Hashing::default() };
        let worker = match threads {
            Threads::One => Worker::Inline(hashing),
            Threads::Two => Overlapped::start(hashing),
        };
        Self { block: vec![0; BLOCK], filled: 0, worker, unpacks, file: None, programs: ProgramFiles::default() }
    }

    /// Begins an entry, by its name in the archive.
    pub(super) fn begin_entry(&mut self, name: &[u8]) -> Result<(), BadArchive> {
        let path = match file_path(name) {
            Ok(path) => path,
            Err(bad) if self.unpacks => return Err(bad),
            // The whole archive is refused in the end, for the first of its reasons.
            Err(_) => None,
        };
        if let Some(path) = path.clone().filter(|_| self.unpacks) {
            match &mut self.worker {
                Worker::Inline(hashing) => hashing.begin(&path),
                Worker::Thread(overlapped) => overlapped.send(Job::Begin(path)),
            }
        }
        self.file = path.map(|path| (path, Box::default()));
        Ok(())
    }

    pub(super) fn archive(&mut self, bytes: &[u8]) {
        match &mut self.worker {
            Worker::Inline(hashing) => hashing.zh.update(bytes),
            Worker::Thread(overlapped) => overlapped.archive(bytes),
        }
    }

    /// Where the next bytes of content may be written; never empty.
    pub(super) fn space(&mut self) -> &mut [u8] {
        &mut self.block[self.filled..]
    }

    pub(super) fn advance(&mut self, length: usize) {
        if let Some((_, scan)) = &mut self.file {
            scan.update(&self.block[self.filled..self.filled + length]);
        }
        match &mut self.worker {
            Worker::Inline(hashing) => hashing.content(&self.block[..length]),
            Worker::Thread(overlapped) => {
                self.filled += length;
                if BLOCK - self.filled < LEAST_SPACE {
                    overlapped.content(&mut self.block, mem::take(&mut self.filled));
                }
            }
        }
    }

    /// Takes content that is not in the space.
    pub(super) fn content(&mut self, mut bytes: &[u8]) {
        if let Worker::Inline(hashing) = &mut self.worker {
            if let Some((_, scan)) = &mut self.file {
                scan.update(bytes);
            }
            return hashing.content(bytes);
        }
        while !bytes.is_empty() {
            let space = self.space();
            let (now, later) = bytes.split_at(space.len().min(bytes.len()));
            space[..now.len()].copy_from_slice(now);
            self.advance(now.len());
            bytes = later;
        }
    }

    /// Ends the content of the entry of this number.
    pub(super) fn end_entry(&mut self, number: usize) {
        if let Some((path, scan)) = self.file.take() {
            self.programs.add(path, number, scan.finish());
        }
        match &mut self.worker {
            Worker::Inline(hashing) => hashing.end_entry(),
            Worker::Thread(overlapped) => {
                if self.filled > 0 {
                    overlapped.content(&mut self.block, mem::take(&mut self.filled));
                }
                overlapped.send(Job::EndEntry);
            }
        }
    }

    /// The digests of all that was taken, and what programs say of themselves.
    pub(super) fn finish(self) -> (Digests, ProgramFiles) {
        let digests = match self.worker {
            Worker::Inline(hashing) => hashing.finish(),
            Worker::Thread(overlapped) => overlapped.finish(),
        };
        (digests, self.programs)
    }
}

#[derive(Default)]
struct Hashing {
    zh: Sha256,
    content: Sha256,
    entries: Vec<Sha256Digest>,
    contents: Option<Box<dyn Contents>>,
    in_file: bool,
}

impl Hashing {
    fn begin(&mut self, path: &[u8]) {
        self.in_file = true;
        self.contents.iter_mut().for_each(|contents| contents.begin(path));
    }

    fn content(&mut self, bytes: &[u8]) {
        self.content.update(bytes);
        if self.in_file {
            self.contents.iter_mut().for_each(|contents| contents.write(bytes));
        }
    }

    fn end_entry(&mut self) {
        if mem::take(&mut self.in_file) {
            self.contents.iter_mut().for_each(|contents| contents.end());
        }
        self.entries.push(mem::take(&mut self.content).finish());
    }

    fn finish(self) -> Digests {
        Digests { zh: self.zh.finish(), entries: self.entries }
    }

    /// Does the requested work until all senders are dropped.
    fn work(mut self, jobs: &Receiver<Job>, used: &Sender<Vec<u8>>) -> Digests {
        for job in jobs {
            let block = match job {
                Job::Archive(block, length) => {
                    self.zh.update(&block[..length]);
                    block
                }
                Job::Content(block, length) => {
                    self.content(&block[..length]);
                    block
                }
                Job::Begin(path) => {
                    self.begin(&path);
                    continue;
                }
                Job::EndEntry => {
                    self.end_entry();
                    continue;
                }
            };
            // Fails once no more blocks are wanted.
            let _ = used.send(block);
        }
        self.finish()
    }
}

/// Work for the second thread: a block and how much of it counts.
enum Job {
    Archive(Vec<u8>, usize),
    Begin(Vec<u8>),
    Content(Vec<u8>, usize),
    EndEntry,
}

/// The near end of the second thread, which ends when this is dropped.
struct Overlapped {
    jobs: SyncSender<Job>,
    used: Receiver<Vec<u8>>,
    unallocated: usize,
    archive: Vec<u8>,
    archive_filled: usize,
    thread: JoinHandle<Digests>,
}

impl Overlapped {
    /// On this thread after all if no other one can be had.
    fn start(hashing: Hashing) -> Worker {
        let (jobs, todo) = sync_channel(2 * BLOCKS);
        let (done, used) = channel();
        // A thread that cannot be started drops what it was to own.
        let shared = Arc::new(Mutex::new(Some(hashing)));
        let taken = Arc::clone(&shared);
        let take = |shared: &Mutex<Option<Hashing>>| {
            shared.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
        };
        let work = move || take(&taken).work(&todo, &done);
        match thread::Builder::new().name("digests".to_owned()).spawn(work) {
            Ok(thread) => {
                let archive = vec![0; BLOCK];
                Worker::Thread(Self { jobs, used, unallocated: BLOCKS, archive, archive_filled: 0, thread })
            }
            Err(_) => Worker::Inline(take(&shared)),
        }
    }

    fn archive(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = &mut self.archive[self.archive_filled..];
            let (now, later) = bytes.split_at(space.len().min(bytes.len()));
            space[..now.len()].copy_from_slice(now);
            self.archive_filled += now.len();
            bytes = later;
            if self.archive_filled == BLOCK {
                self.send_archive();
            }
        }
    }

    fn send_archive(&mut self) {
        let next = self.free_block();
        let block = mem::replace(&mut self.archive, next);
        let length = mem::take(&mut self.archive_filled);
        self.send(Job::Archive(block, length));
    }

    /// Hands on a block of content and puts a free one in its place.
    fn content(&mut self, block: &mut Vec<u8>, length: usize) {
        let full = mem::replace(block, self.free_block());
        self.send(Job::Content(full, length));
    }

    /// A block that is free, or will be when the other thread has caught up.
    fn free_block(&mut self) -> Vec<u8> {
        if let Ok(block) = self.used.try_recv() {
            return block;
        }
        if self.unallocated == 0 {
            return self.used.recv().unwrap_or_else(|_| vec![0; BLOCK]);
        }
        self.unallocated -= 1;
        vec![0; BLOCK]
    }

    /// Fails only if the other thread has panicked, which `finish` passes on.
    fn send(&self, job: Job) {
        let _ = self.jobs.send(job);
    }

    fn finish(mut self) -> Digests {
        self.send_archive();
        drop(self.jobs);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

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
            self.reader.seek(SeekFrom::Start(entry.data_offset))?;
            let data = self.reader.by_ref().take(entry.data.packed);
            if entry.data.method == DEFLATED {
                io::copy(&mut DeflateDecoder::new(data), to)?
            } else {
                io::copy(&mut { data }, to)?
            };
        }
        Ok(Some(Unpacked { name: entry.name, directory: entry.directory, mode: entry.mode }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_same_digests() {
        let bytes: Vec<u8> = (0..1_000_000u32).map(|number| (number % 251) as u8).collect();
        for threads in [Threads::One, Threads::Two] {
            let mut sink = Sink::new(threads, None);
            for piece in bytes.chunks(77_777) {
                sink.archive(piece);
                sink.content(piece);
            }
            sink.end_entry(0);
            sink.end_entry(1);
            let space = sink.space();
            let length = space.len().min(1000);
            space[..length].copy_from_slice(&bytes[..length]);
            sink.advance(length);
            sink.end_entry(2);
            let (digests, _) = sink.finish();
            assert_eq!(digests.zh, Sha256Digest::of(&bytes));
            let expected = [bytes.as_slice(), &[], &bytes[..length]].map(Sha256Digest::of);
            assert_eq!(digests.entries, expected);
        }
    }
}

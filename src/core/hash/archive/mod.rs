//! `zh:` and `h1:` of a zip archive in one pass over its bytes, as they arrive, in constant memory.
//!
//! The central directory at the end of an archive decides its content. The streaming pass reads the entries before it
//! comes to that directory, then compares: on any difference the archive is refused as unusual. So the `h1:` belongs to
//! the package that the tools install.
//!
//! Packages of modules are unpacked ([`Unpacking`]) after the same pass. Nothing here opens a file; `disk` does.

mod error;
mod forms;
mod record;
mod sink;
mod stream;
#[cfg(test)]
mod tests;

pub use error::{ArchiveRefusal, BadArchive, Oddity};
pub use forms::{MOST_PROGRAMS, PackageFile, PackagePrograms, ProgramFile, ProgramFiles, is_program_of};
pub use sink::{Contents, ReadError, Unpacked, Unpacking};

use super::{PackageHash, Sha256Digest};
use forms::{ArchiveEntry, archive_form, directory_form};
use record::Streamed;
use sink::Sink;
use stream::Stream;

/// Bytes that go through all stages before the next ones: few enough to stay in the cache.
const PIECE: usize = 64 << 10;

/// The longest end of a central directory, with its comment.
const LONGEST_END: usize = 22 + 0xffff;

/// How many threads one archive is hashed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The caller's own: the best use of all cores when at least as many archives are under way.
    One,
    /// A second one for both digests, next to inflate: the shortest way to the last byte of a single archive.
    Two,
}

/// The hashes of one archive, and what of its content matters besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveHashes {
    /// The digest of the archive's bytes: its `zh:`.
    pub zh: Sha256Digest,
    /// The bytes of the archive.
    pub size: u64,
    /// The directory form: the `h1:` of the installed package, which lock files record.
    pub h1: PackageHash,
    /// The archive form, where it exists and is another: the only `h1:` by which the tools accept the packed archive.
    pub archive_form: Option<PackageHash>,
    /// The files of the installed package.
    pub files: Vec<PackageFile>,
    /// What its programs say of themselves.
    pub programs: PackagePrograms,
}

impl ArchiveHashes {
    fn of_entries(
        zh: Sha256Digest,
        size: u64,
        entries: &[ArchiveEntry],
        programs: ProgramFiles,
    ) -> Result<Self, BadArchive> {
        let installed = directory_form(entries)?;
        let archive_form = archive_form(entries).filter(|form| *form != installed.h1);
        let programs = programs.finish(|number| entries.get(number).is_some_and(|entry| !entry.directory));
        Ok(Self { zh, size, h1: installed.h1, archive_form, files: installed.files, programs })
    }

    /// True if the package has the program of a provider of this type, without which the tools refuse to install it.
    pub fn has_program(&self, kind: &str) -> bool {
        self.files.iter().any(|file| is_program_of(&file.path, kind))
    }
}

/// Takes the bytes of an archive in pieces of any size, and gives its hashes after the last one.
pub struct ArchiveHasher {
    sink: Sink,
    stream: Stream,
    size: u64,
    refused: Option<BadArchive>,
    /// The last bytes, where they decide whether this is an archive.
    tail: Vec<u8>,
}

impl ArchiveHasher {
    /// Hashes on the caller's thread.
    pub fn new(limits: Limits) -> Self {
        Self::on(Threads::One, limits)
    }

    /// Hashes on the caller's thread and a second one.
    pub fn overlapped(limits: Limits) -> Self {
        Self::on(Threads::Two, limits)
    }

    /// Hashes on as many threads.
    pub fn on(threads: Threads, limits: Limits) -> Self {
        Self::unpacking(threads, limits, None)
    }

    /// The same, with the files going somewhere too. They count for nothing before [`finish`](Self::finish) has returned: only
    /// the end of an archive says what it contains.
    pub fn unpacking(threads: Threads, limits: Limits, contents: Option<Box<dyn Contents>>) -> Self {
        Self {
            sink: Sink::new(threads, contents),
            stream: Stream::new(limits),
            size: 0,
            refused: None,
            tail: Vec::new(),
        }
    }

    /// Takes more bytes. Once the archive is refused they count for `zh:` and the size alone.
    pub fn update(&mut self, bytes: &[u8]) -> Result<(), BadArchive> {
        self.size += bytes.len() as u64;
        for piece in bytes.chunks(PIECE) {
            self.sink.archive(piece);
            if self.refused.is_none() {
                self.refused = self.stream.update(piece, &mut self.sink).err();
            }
            if self.stream.is_open_ended() || self.refused == Some(BadArchive::NotAZip) {
                self.tail.extend_from_slice(piece);
                self.tail.drain(..self.tail.len().saturating_sub(LONGEST_END));
            }
        }
        match &self.refused {
            Some(bad) if bad.is_beyond_limits() => Err(bad.clone()),
            _ => Ok(()),
        }
    }

    /// Ends the archive.
    pub fn finish(self) -> Result<ArchiveHashes, ArchiveRefusal> {
        let Self { sink, stream, size, refused, tail } = self;
        let (digests, programs) = sink.finish();
        let entries = refused.map_or_else(|| stream.finish(), Err);
        // The tools begin at the end.
        let entries = entries.map_err(|bad| match bad {
            BadArchive::NotAZip if record::has_end(&tail) => Oddity::Gap.into(),
            bad => bad,
        });
        let hashes = entries.and_then(|entries| {
            let entries: Vec<ArchiveEntry> = entries
                .into_iter()
                .zip(digests.entries)
                .map(|(entry, digest)| {
                    // Content under such a name cannot be read by it.
                    let readable = entry.data.unpacked == 0 || entry.name.last() != Some(&b'/');
                    let Streamed { name, directory, mode, .. } = entry;
                    ArchiveEntry { name, directory, mode, digest: readable.then_some(digest) }
                })
                .collect();
            ArchiveHashes::of_entries(digests.zh, size, &entries, programs)
        });
        hashes.map_err(|error| ArchiveRefusal { zh: digests.zh, size, error })
    }
}

/// Bounds that the tools do not have: an archive beyond them is refused, not hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries in one archive.
    pub entries: usize,
    /// Bytes in the name of an entry.
    pub name: usize,
    /// Bytes of the central directory.
    pub directory: u64,
    /// Bytes of all entries together, unpacked.
    pub unpacked: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 65_536, name: 4096, directory: 8 << 20, unpacked: 8 << 30 }
    }
}

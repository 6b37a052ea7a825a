//! `zh:` and `h1:` of a zip archive in one pass over its bytes, as they arrive, in constant memory.
//!
//! The central directory at the end of an archive decides its content. The streaming pass reads the entries before it
//! comes to that directory, then compares: on any difference the archive is refused as unusual. So the `h1:` belongs to
//! the package that the tools install.
//!
//! Packages of modules are unpacked ([`Unpacking`]) after the same pass. Nothing here opens a file; `disk` does.

mod forms;
mod record;
mod sink;
mod stream;
#[cfg(test)]
mod tests;

pub use forms::{MOST_PROGRAMS, PackageFile, PackagePrograms, ProgramFile, ProgramFiles, is_program_of};
pub use sink::{Contents, ReadError, Unpacked, Unpacking};

use super::digest::H1Error;
use super::{PackageHash, Sha256Digest};
use crate::error::{Error, ErrorKind};
use forms::{ArchiveEntry, archive_form, directory_form};
use record::Streamed;
use sink::Sink;
use stream::Stream;

/// Bytes that go through all stages before the next ones: few enough to stay in the cache.
const PIECE: usize = 64 << 10;

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
        Self { sink: Sink::new(threads, contents), stream: Stream::new(limits), size: 0, refused: None }
    }

    /// Takes more bytes. Once the archive is refused they count for `zh:` and the size alone.
    pub fn update(&mut self, bytes: &[u8]) -> Result<(), BadArchive> {
        self.size += bytes.len() as u64;
        for piece in bytes.chunks(PIECE) {
            self.sink.archive(piece);
            if self.refused.is_none() {
                self.refused = self.stream.update(piece, &mut self.sink).err();
            }
        }
        match &self.refused {
            Some(bad) if bad.is_beyond_limits() => Err(bad.clone()),
            _ => Ok(()),
        }
    }

    /// Ends the archive.
    pub fn finish(self) -> Result<ArchiveHashes, ArchiveRefusal> {
        let Self { sink, stream, size, refused } = self;
        let (digests, programs) = sink.finish();
        let entries = refused.map_or_else(|| stream.finish(), Err);
        let hashes = entries.and_then(|entries| {
            let entries: Vec<ArchiveEntry> = entries
                .into_iter()
                .zip(digests.entries)
                .map(|(entry, digest)| {
                    // Content under such a name cannot be read by it.
                    let readable = entry.unpacked == 0 || entry.name.last() != Some(&b'/');
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

/// An archive without `h1:`, of which all bytes were seen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ArchiveRefusal {
    /// The digest of the bytes.
    pub zh: Sha256Digest,
    /// How many bytes there were.
    pub size: u64,
    /// Why there is no `h1:`.
    #[source]
    pub error: BadArchive,
}

/// What is unusual about an archive. A tool may accept it, but no publisher makes such ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    /// Something other than an entry, the directory or its end, at a place where one of them must be.
    #[error("there are bytes between its records")]
    Gap,
    /// A local header that cannot be read.
    #[error("a local header is malformed")]
    LocalHeader,
    /// Flags beyond "sizes follow" and "name is UTF-8".
    #[error("an entry has unusual flags, such as that of encryption")]
    Flags,
    /// Deflate data that does not end where it should.
    #[error("compressed data does not end with its entry")]
    Deflate,
    /// No data descriptor that fits the data.
    #[error("a data descriptor does not fit its data")]
    Descriptor,
    /// Size or checksum differ from those of the local header.
    #[error("a local header does not fit its data")]
    LocalDiffers,
    /// The central directory describes other entries than those that were read.
    #[error("local headers and central directory differ")]
    CentralDiffers,
    /// The end of the central directory describes another directory.
    #[error("the end of the central directory does not fit it")]
    EndDiffers,
    /// Bytes after the archive.
    #[error("there are bytes after its end")]
    Trailing,
    /// Two entries have one name.
    #[error("two of its entries have the same name")]
    SameName,
}

/// Why an archive is refused. The tools refuse it too, and say so in these words, up to [`BadArchive::Unusual`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadArchive {
    /// There is no central directory, or a wrong one.
    #[error("not a valid zip file")]
    NotAZip,
    /// There are no entries.
    #[error("empty archive")]
    Empty,
    /// A name that leads out of the package.
    #[error("entry contains '..': {0:?}")]
    ParentName(String),
    /// A file and a directory have one name, or a file has none.
    #[error("not a directory: {0:?} is needed as a file and as a directory")]
    NotADirectory(String),
    /// A name that no file system takes.
    #[error("invalid file name: {0:?}")]
    Name(String),
    /// The files have no `h1:`.
    #[error(transparent)]
    H1(#[from] H1Error),
    /// A method other than stored and deflated.
    #[error("unsupported compression algorithm {method} of {name:?}")]
    Method {
        /// The name of the entry.
        name: String,
        /// The number of the method.
        method: u16,
    },
    /// Damaged deflate data.
    #[error("corrupt input in {0:?}")]
    Corrupt(String),
    /// An archive that can be read in more than one way.
    #[error("the archive is unusual: {0}")]
    Unusual(#[from] Oddity),
    /// More than [`Limits::entries`](Limits::entries).
    #[error("the archive has more than {0} entries")]
    TooManyEntries(usize),
    /// More than [`Limits::name`](Limits::name).
    #[error("the archive has a name of more than {0} bytes")]
    NameTooLong(usize),
    /// More than [`Limits::directory`](Limits::directory).
    #[error("the central directory has more than {0} bytes")]
    DirectoryTooLarge(u64),
    /// More than [`Limits::unpacked`](Limits::unpacked).
    #[error("the archive unpacks to more than {0} bytes")]
    TooLarge(u64),
}

impl BadArchive {
    fn is_beyond_limits(&self) -> bool {
        use BadArchive::{DirectoryTooLarge, NameTooLong, TooLarge, TooManyEntries};
        matches!(self, TooManyEntries(_) | NameTooLong(_) | DirectoryTooLarge(_) | TooLarge(_))
    }
}

impl From<BadArchive> for Error {
    fn from(bad: BadArchive) -> Self {
        let error = Error::new(ErrorKind::Package, bad.to_string());
        match bad {
            BadArchive::NotAZip => error.hint("a package is a zip archive, whole from its first to its last byte"),
            BadArchive::Corrupt(_) => {
                error.hint("the package is damaged: download it again, or ask the operator of its source")
            }
            _ => error.hint("the package cannot be installed in this form: ask its publisher"),
        }
    }
}

impl From<ArchiveRefusal> for Error {
    fn from(refusal: ArchiveRefusal) -> Self {
        refusal.error.into()
    }
}

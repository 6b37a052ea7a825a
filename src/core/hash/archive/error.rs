//! Why an archive is refused.

use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::hash::digest::H1Error;

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
    /// Something other than an entry, the directory or its end, at a place where one of them must be, in what ends as an archive.
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
    #[error("the end of the central directory disagrees with the directory")]
    EndDiffers,
    /// Bytes after the archive.
    #[error("there are bytes after its end")]
    Trailing,
    /// A folder with a method of compression that no reader needs to know.
    #[error("a folder has an unknown method of compression")]
    FolderMethod,
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
    /// More than [`Limits::entries`](super::Limits::entries).
    #[error("the archive has more than {0} entries")]
    TooManyEntries(usize),
    /// More than [`Limits::name`](super::Limits::name).
    #[error("the archive has a name of more than {0} bytes")]
    NameTooLong(usize),
    /// More than [`Limits::directory`](super::Limits::directory).
    #[error("the central directory has more than {0} bytes")]
    DirectoryTooLarge(u64),
    /// More than [`Limits::unpacked`](super::Limits::unpacked).
    #[error("the archive unpacks to more than {0} bytes")]
    TooLarge(u64),
}

impl BadArchive {
    pub(super) fn is_beyond_limits(&self) -> bool {
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

//! What the Go linker writes into a program: the toolchain, the main module, its dependencies and how it was built.
//!
//! The record is found by the headers of the program, never by searching all of it: programs contain the bytes that mark a
//! record as data, too. Since Go 1.18 the record contains its texts itself. Go 1.13 to 1.17 wrote addresses of them, which
//! can only be followed where the whole program can be read.

mod locate;
mod record;
mod scan;
#[cfg(test)]
mod tests;

pub use record::{GoInfo, GoModule, LIMIT};
pub use scan::Scan;

/// What a file says of itself: one program, or each of a universal binary.
pub type BuiltFrom = Vec<Result<GoInfo, Unknown>>;

/// Why nothing is known of what a program was built from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// Another kind of file.
    #[error("it is not an ELF, Mach-O or PE program")]
    NotAProgram,
    /// A program without a record.
    #[error("it has no Go build information: it is not a Go program, or this information was removed")]
    NoRecord,
    /// A program that unpacks itself.
    #[error("it is compressed with UPX, which hides its Go build information")]
    Packed,
    /// The record refers to other places in the program, which has streamed by.
    #[error("it was built with Go 1.17 or older, whose build information can only be read from an unpacked package")]
    OldLayout,
    /// More than any record contains.
    #[error("its Go build information is larger than 1 MiB")]
    TooLarge,
    /// The file ends too early.
    #[error("it is cut off")]
    Truncated,
    /// Headers or a record that make no sense.
    #[error("its headers or its Go build information are damaged: {0}")]
    Damaged(String),
    /// No program in a package.
    #[error("the package has no program of the provider")]
    NoProgram,
    /// The program that the tools start is not among those of a package that were read.
    #[error("the package has more than 16 programs, and the program of the provider was not read")]
    NotRead,
    /// Another file has the name of the program where case, or the characters at the end of a name, make no difference.
    #[error("on some systems another file of the package is started in its place, and that file cannot be read")]
    Ambiguous,
}

//! What the Go linker writes into a program: the toolchain, the main module, its dependencies and how it was built.
//!
//! The record is found by the headers of the program, never by searching all of it: programs contain the bytes that mark a
//! record as data, too. Since Go 1.18 the record contains its texts itself. Go 1.13 to 1.17 wrote addresses of them, which
//! can only be followed where the whole program can be read.
//!
//! The record itself.

mod scan;
#[cfg(test)]
mod tests;

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

/// The most bytes of a record, or of one of its texts. Programs with 1,500 modules have 200 KiB.
pub const LIMIT: usize = 1 << 20;

/// Before and after the list of modules, for other programs to find it.
const MARK: usize = 16;

/// What begins a record, 14 bytes.
const MAGIC: &[u8] = b"\xff Go buildinf:";

/// Bytes before the texts.
const HEADER: usize = 32;

/// What a record is aligned to, in memory and so in the file.
const ALIGNMENT: u64 = 16;

/// What a program was built from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GoInfo {
    /// The version of the toolchain, as it names itself: `go1.22.11`.
    pub go: String,
    /// The list of modules, as `go version -m` prints it without indentation.
    text: String,
}

/// A module.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoModule {
    /// Its path.
    pub path: String,
    /// Its version; `(devel)` or empty for a main module without one.
    pub version: String,
    /// Its checksum, `h1:…`; empty if there is none.
    pub sum: String,
    /// What was built in its place.
    pub replace: Option<Box<GoModule>>,
}

impl GoModule {
    /// What was built: the module or what replaces it.
    pub fn built(&self) -> &GoModule {
        self.replace.as_deref().unwrap_or(self)
    }

    /// True if it was replaced by a directory, which has no version.
    pub fn is_local(&self) -> bool {
        self.replace.as_ref().is_some_and(|by| matches!(by.version.as_str(), "" | "(devel)"))
    }
}

impl GoInfo {
    /// The record of a toolchain and a list of modules, if the list can be read.
    pub fn new(go: &str, text: &str) -> Result<Self, Unknown> {
        let damaged = |what: &str| Err(Unknown::Damaged(what.to_owned()));
        if go.is_empty() || go.contains(char::is_control) {
            return damaged("the Go version is empty or has control characters");
        }
        let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
        if text.contains(is_control) {
            return damaged("the list of modules has control characters");
        }
        let mut before = "";
        for line in text.lines() {
            let (kind, rest) = line.split_once('\t').unwrap_or((line, ""));
            let columns = rest.split('\t').count();
            let is_read = match kind {
                "mod" | "dep" => (2..=3).contains(&columns) && !rest.starts_with('\t'),
                "=>" => matches!(before, "mod" | "dep") && (2..=3).contains(&columns),
                _ => true,
            };
            if !is_read {
                return damaged("a line of the list of modules cannot be read");
            }
            before = kind;
        }
        Ok(Self { go: go.to_owned(), text: text.to_owned() })
    }

    /// The list of modules, as `go version -m` prints it without indentation.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The path of the main package.
    pub fn path(&self) -> Option<&str> {
        self.lines("path").next()
    }

    /// The main module, which is the last one, as for Go. Programs that were built without modules have none.
    pub fn main(&self) -> Option<GoModule> {
        self.modules("mod").last()
    }

    /// The modules that the main module depends on, in their order.
    pub fn dependencies(&self) -> impl Iterator<Item = GoModule> {
        self.modules("dep")
    }

    /// How it was built: `vcs.revision`, `GOOS` and others. Since Go 1.18.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.lines("build").find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    }

    fn lines(&self, kind: &'static str) -> impl Iterator<Item = &str> {
        self.text.lines().filter_map(move |line| line.strip_prefix(kind)?.strip_prefix('\t'))
    }

    fn modules(&self, kind: &'static str) -> impl Iterator<Item = GoModule> {
        let mut lines = self.text.lines().peekable();
        std::iter::from_fn(move || {
            let of_kind = |line: &str| line.strip_prefix(kind)?.strip_prefix('\t').map(module);
            let mut found = lines.by_ref().find_map(of_kind)?;
            let replaced = lines.peek().and_then(|line| line.strip_prefix("=>\t"));
            found.replace = replaced.map(|line| Box::new(module(line)));
            Some(found)
        })
    }
}

fn module(line: &str) -> GoModule {
    let mut columns = line.split('\t').map(str::to_owned);
    let mut next = || columns.next().unwrap_or_default();
    GoModule { path: next(), version: next(), sum: next(), replace: None }
}

/// The part of a record in bytes that begin with it.
enum Read {
    Complete(Result<GoInfo, Unknown>),
    /// There is more to it.
    Partial,
    /// The addresses of its texts.
    Addresses(Addresses),
}

/// Where the texts of a record of Go 1.13 to 1.17 are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Addresses {
    wide: bool,
    big_endian: bool,
    go: u64,
    text: u64,
}

/// Reads a record, of which there may be more to come.
fn read(bytes: &[u8]) -> Read {
    let (Some(pointer_size), Some(flags)) = (bytes.get(MAGIC.len()), bytes.get(MAGIC.len() + 1)) else {
        return Read::Partial;
    };
    if flags & 2 != 0 {
        let texts = |bytes| Ok(text(bytes)?.and_then(|(go, rest)| Some((go, text(rest).transpose()?))));
        return match texts(bytes.get(HEADER..).unwrap_or_default()) {
            Ok(Some((go, Ok((list, _))))) => Read::Complete(of_texts(go, list)),
            Ok(None) => Read::Partial,
            Ok(Some((_, Err(unknown)))) | Err(unknown) => Read::Complete(Err(unknown)),
        };
    }
    let (wide, big_endian) = (*pointer_size == 8, *flags == 1);
    if !matches!((pointer_size, flags), (4 | 8, 0 | 1)) {
        return Read::Complete(Err(Unknown::Damaged("the header of the record".to_owned())));
    }
    let Some(pointers) = bytes.get(MAGIC.len() + 2..HEADER) else { return Read::Partial };
    let size = usize::from(*pointer_size);
    let number = |at: usize| number(&pointers[at..at + size], big_endian);
    Read::Addresses(Addresses { wide, big_endian, go: number(0), text: number(size) })
}

/// A number in as many bytes.
fn number(bytes: &[u8], big_endian: bool) -> u64 {
    let add = |number, byte: &u8| number << 8 | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// A text and the rest; `None` if more bytes are needed.
type InfoText<'a> = Option<(&'a [u8], &'a [u8])>;

/// The text that bytes begin with, behind its length.
fn text(bytes: &[u8]) -> Result<InfoText<'_>, Unknown> {
    let mut length = 0;
    for (at, byte) in bytes.iter().enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if length > LIMIT || at > 2 {
            return Err(Unknown::TooLarge);
        }
        if byte & 0x80 == 0 {
            return Ok(bytes[at + 1..].split_at_checked(length));
        }
    }
    Ok(None)
}

fn of_texts(go: &[u8], list: &[u8]) -> Result<GoInfo, Unknown> {
    let is_marked = list.len() > 2 * MARK && list[list.len() - MARK - 1] == b'\n';
    let list = if is_marked { &list[MARK..list.len() - MARK] } else { &[] };
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| Unknown::Damaged("it is not UTF-8".to_owned()));
    GoInfo::new(text(go)?, text(list)?)
}

impl Addresses {
    /// Reads the texts out of memory, of which `read` gives as many bytes at an address.
    fn follow(&self, mut read: impl FnMut(u64, usize) -> Option<Vec<u8>>) -> Result<GoInfo, Unknown> {
        let size = if self.wide { 8 } else { 4 };
        let mut text = |address: u64| {
            let outside = || Unknown::Damaged("an address leads outside of the program".to_owned());
            let header = read(address, 2 * size).ok_or_else(outside)?;
            let [at, length] = [&header[..size], &header[size..]].map(|bytes| number(bytes, self.big_endian));
            let length = usize::try_from(length).ok().filter(|length| *length <= LIMIT).ok_or(Unknown::TooLarge)?;
            // Where an empty text is does not matter: its address may be zero.
            if length == 0 {
                return Ok(Vec::new());
            }
            read(at, length).ok_or_else(outside)
        };
        let go = text(self.go)?;
        // Programs that were built without modules have none.
        let list = if self.text == 0 { Vec::new() } else { text(self.text)? };
        of_texts(&go, &list)
    }
}

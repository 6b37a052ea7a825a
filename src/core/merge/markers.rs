//! Conflict markers: written around a conflict, and read to get both sides back.
//!
//! Source: `git help merge`, "How conflicts are presented"; `xdiff/xmerge.c` for the order of the sections.

use super::MergedText;
use super::remark::Remark;
use crate::error::{Error, ErrorKind};
use crate::finding::Position;

/// How long markers are unless the attribute `conflict-marker-size` says otherwise.
pub const DEFAULT_MARKER_SIZE: usize = 7;

#[derive(Debug, Clone, Copy)]
pub(super) struct Markers {
    pub(super) size: usize,
}

impl Markers {
    /// Appends both sides. A side that does not end its last line gets an end.
    pub(super) fn push_conflict(self, text: &mut Vec<u8>, ours: &[u8], theirs: &[u8]) {
        self.push(text, b'<', " OURS");
        push_lines(text, ours);
        self.push(text, b'=', "");
        push_lines(text, theirs);
        self.push(text, b'>', " THEIRS");
    }

    fn push(self, text: &mut Vec<u8>, sign: u8, label: &str) {
        text.extend(std::iter::repeat_n(sign, self.size));
        text.extend_from_slice(label.as_bytes());
        text.push(b'\n');
    }

    pub(super) fn whole_file(self, ours: &[u8], theirs: &[u8], remarks: Vec<Remark>) -> MergedText {
        let mut text = Vec::with_capacity(ours.len() + theirs.len() + 64);
        self.push_conflict(&mut text, ours, theirs);
        MergedText { text, conflicts: true, remarks, ..MergedText::default() }
    }
}

fn push_lines(text: &mut Vec<u8>, lines: &[u8]) {
    text.extend_from_slice(lines);
    if lines.last().is_some_and(|last| *last != b'\n') {
        text.push(b'\n');
    }
}

/// The texts that a file with conflict markers was made from, as far as it shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The common ancestor, if any conflict shows it (styles diff3 and zdiff3). With zdiff3 it also has lines that both
    /// sides added.
    pub base: Option<Vec<u8>>,
    /// Ours, with what merged cleanly.
    pub ours: Vec<u8>,
    /// Theirs, with what merged cleanly.
    pub theirs: Vec<u8>,
    /// The length of the markers.
    pub marker_size: usize,
}

/// Why a text cannot be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// A marker where none can be.
    #[error("conflict marker `{marker}` on line {line} does not belong there")]
    OutOfOrder {
        /// Its signs.
        marker: String,
        /// Its line.
        line: usize,
    },
    /// No end until the end of the text.
    #[error("the conflict that begins on line {line} does not end")]
    Unclosed {
        /// The line of its first marker.
        line: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Common,
    Ours,
    Base,
    Theirs,
}

/// Splits a text at its conflict markers; `None` without markers.
///
/// The first line that begins with seven or more `<`, alone or before a space, gives the length of the markers.
pub fn split(text: &[u8]) -> Result<Option<Split>, MarkerError> {
    let lines = || text.split_inclusive(|byte| *byte == b'\n');
    let Some(size) = lines().find_map(opening) else { return Ok(None) };
    let mut split = Split { base: None, ours: Vec::new(), theirs: Vec::new(), marker_size: size };
    let (mut base, mut has_base) = (Vec::new(), false);
    let (mut section, mut begin) = (Section::Common, 0);
    for (number, line) in (1..).zip(lines()) {
        let Some(sign) = marker(line, size) else {
            for (side, shown) in
                [(&mut base, Section::Base), (&mut split.ours, Section::Ours), (&mut split.theirs, Section::Theirs)]
            {
                if section == shown || section == Section::Common {
                    side.extend_from_slice(line);
                }
            }
            continue;
        };
        section = match (section, sign) {
            (Section::Common, b'<') => {
                begin = number;
                Section::Ours
            }
            (Section::Ours, b'|') => {
                has_base = true;
                Section::Base
            }
            (Section::Ours | Section::Base, b'=') => Section::Theirs,
            (Section::Theirs, b'>') => Section::Common,
            _ => {
                let marker = String::from_utf8_lossy(&line[..size]).into_owned();
                return Err(MarkerError::OutOfOrder { marker, line: number });
            }
        };
    }
    if section != Section::Common {
        return Err(MarkerError::Unclosed { line: begin });
    }
    split.base = has_base.then_some(base);
    Ok(Some(split))
}

/// The length of a marker that opens a conflict.
fn opening(line: &[u8]) -> Option<usize> {
    let size = line.iter().take_while(|byte| **byte == b'<').count();
    (size >= DEFAULT_MARKER_SIZE && marker(line, size).is_some()).then_some(size)
}

/// The sign of a line that is a marker of this length.
fn marker(line: &[u8], size: usize) -> Option<u8> {
    let sign = *line.first().filter(|byte| b"<|=>".contains(byte))?;
    let length = line.iter().take_while(|byte| **byte == sign).count();
    let ends = matches!(line.get(length), None | Some(b' ' | b'\r' | b'\n'));
    (length == size && ends).then_some(sign)
}

impl From<MarkerError> for Error {
    fn from(error: MarkerError) -> Self {
        let (MarkerError::OutOfOrder { line, .. } | MarkerError::Unclosed { line }) = error;
        Self::new(ErrorKind::LockFile, error.to_string())
            .at(Position { line, column: 1 })
            .hint("`git checkout --merge FILE` recreates the conflict")
    }
}

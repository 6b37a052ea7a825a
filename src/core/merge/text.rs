//! The trust file, merged block by block; and conflict markers.
//!
//! A block is known by its type and labels, and taken whole with the comments above it: who is trusted is decided by
//! users, never put together from two answers. So two sides that changed one block differently are a conflict, and so
//! is a block that one side removed and the other changed. What the blocks mean is not known here.
//!
//! Markers are written around a conflict, and read to get both sides back.
//!
//! Source: `git help merge`, "How conflicts are presented"; `xdiff/xmerge.c` for the order of the sections.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::Span;
use hcl_edit::parser::parse_body;
use hcl_edit::structure::{Block, Structure};

use super::entry::{MergeRemark, Side};
use super::{MergeOptions, MergedText, Three, both};
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hcl::scan::outline_for_parser;

/// The order of the types in the file; unknown ones come last.
const TYPES: [&str; 3] = ["provider", "denied_signer", "republished"];

/// What a block is known by, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct EntryKey {
    rank: usize,
    kind: String,
    labels: Vec<String>,
    /// The version and the date of a release that was accepted as republished: one may be so next to another, and again.
    republished: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct TextPiece {
    comments: String,
    block: String,
}

#[derive(Debug, Default)]
struct Pieces {
    /// Comments above all, set off by a blank line.
    header: String,
    keys: Vec<EntryKey>,
    by_key: BTreeMap<EntryKey, TextPiece>,
    footer: String,
}

/// Merges the texts of trust files, in the line ends of ours. What two sides of a text with markers agree about decides a
/// conflict.
pub(super) fn merge(texts: Three<&[u8]>, sides: Option<[&[u8]; 2]>, options: MergeOptions) -> MergedText {
    let markers = Markers { size: options.marker_size };
    let Three { base, ours, theirs } = texts;
    match (Pieces::read(ours), Pieces::read(theirs)) {
        (Ok(_), Ok(_)) if ours == theirs || theirs == base => unchanged(ours),
        (Ok(_), Ok(_)) if ours == base => unchanged(theirs),
        (Ok(our_pieces), Ok(their_pieces)) => {
            let base = Pieces::read(base);
            let no_base = base.is_err().then_some(MergeRemark::NoBase);
            let base = base.unwrap_or_default();
            let decided = both(sides, |side| Pieces::read(side).ok());
            let mut merged =
                merge_pieces(&Three { base, ours: our_pieces, theirs: their_pieces }, decided.as_ref(), markers);
            merged.remarks.extend(no_base);
            if ours.windows(2).any(|pair| pair == b"\r\n") {
                merged.text = with_carriage_returns(&merged.text);
            }
            merged
        }
        (ours_read, theirs_read) => {
            let wrong = [
                ours_read.err().map(|error| MergeRemark::Unreadable(Side::Ours, error)),
                theirs_read.err().map(|error| MergeRemark::Unreadable(Side::Theirs, error)),
            ];
            markers.whole_file(ours, theirs, wrong.into_iter().flatten().collect())
        }
    }
}

/// Whether a text consists of blocks, each known by its own key.
pub(super) fn is_readable(text: &[u8]) -> bool {
    Pieces::read(text).is_ok()
}

fn unchanged(text: &[u8]) -> MergedText {
    MergedText { text: text.to_owned(), ..MergedText::default() }
}

fn with_carriage_returns(text: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| if *byte == b'\n' { b"\r\n".to_vec() } else { vec![*byte] }).collect()
}

impl Pieces {
    /// The pieces of a text, or why it has none.
    fn read(text: &[u8]) -> Result<Self, String> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let text = std::str::from_utf8(text).map_err(|_| "the file is not UTF-8 text")?.replace("\r\n", "\n");
        outline_for_parser(&text).map_err(|error| error.kind.to_string())?;
        let body =
            parse_body(&text).map_err(|error| format!("line {}: {}", error.location().line(), error.message()))?;
        let mut pieces = Self::default();
        let mut end = 0;
        for structure in &body {
            let Structure::Block(block) = structure else { return Err("an attribute outside of any block".into()) };
            let span = block.span().unwrap_or(end..end);
            let gap = text.get(end..span.start).unwrap_or_default().trim();
            // A comment behind the brace belongs to the block.
            end = text[span.end..].find('\n').map_or(text.len(), |line| span.end + line);
            let comments = if pieces.keys.is_empty() { pieces.take_header(gap) } else { gap };
            let piece = TextPiece { comments: comments.to_owned(), block: text[span.start..end].trim_end().to_owned() };
            let key = EntryKey::of(block);
            if pieces.by_key.insert(key.clone(), piece).is_some() {
                return Err(format!("{} is there twice", key.name()));
            }
            pieces.keys.push(key);
        }
        text[end..].trim().clone_into(&mut pieces.footer);
        Ok(pieces)
    }

    /// Keeps what is above a blank line before the first block; gives the rest.
    fn take_header<'t>(&mut self, gap: &'t str) -> &'t str {
        match gap.rsplit_once("\n\n") {
            Some((header, comments)) => {
                header.trim_end().clone_into(&mut self.header);
                comments.trim_start()
            }
            None => gap,
        }
    }
}

impl EntryKey {
    fn of(block: &Block) -> Self {
        let kind = block.ident.as_str().to_owned();
        let names: &[&str] = if kind == "republished" { &["version", "date"] } else { &[] };
        let text = |name: &&str| Some(block.body.get_attribute(name)?.value.as_str()?.to_owned());
        Self {
            rank: TYPES.iter().position(|known| *known == kind).unwrap_or(TYPES.len()),
            labels: block.labels.iter().map(|label| label.as_str().to_lowercase()).collect(),
            republished: names.iter().filter_map(text).collect(),
            kind,
        }
    }

    fn name(&self) -> String {
        let labels = self.labels.iter().map(|label| format!("{label:?}"));
        let which = (!self.republished.is_empty()).then(|| format!("({})", self.republished.join(", ")));
        let words: Vec<String> = std::iter::once(self.kind.clone()).chain(labels).chain(which).collect();
        words.join(" ")
    }
}

impl TextPiece {
    fn text(&self) -> String {
        let separator = if self.comments.is_empty() { "" } else { "\n" };
        format!("{}{separator}{}\n", self.comments, self.block)
    }
}

fn merge_pieces(pieces: &Three<Pieces>, decided: Option<&[Pieces; 2]>, markers: Markers) -> MergedText {
    let Three { base, ours, theirs } = pieces;
    let mut merged = MergedText::default();
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let header = merge_comments(&base.header, &ours.header, &theirs.header);
    texts.extend((!header.is_empty()).then(|| format!("{header}\n").into_bytes()));
    for key in order(ours, theirs) {
        let sides = Three { base: base.by_key.get(key), ours: ours.by_key.get(key), theirs: theirs.by_key.get(key) };
        match settle(sides).or_else(|TextConflict| decision(key, sides, decided)) {
            Ok(None) => {}
            Ok(Some(piece)) => texts.push(piece.text().into_bytes()),
            Err(TextConflict) => {
                let mut text = Vec::new();
                let [ours, theirs] =
                    [sides.ours, sides.theirs].map(|piece| piece.map(TextPiece::text).unwrap_or_default());
                markers.push_conflict(&mut text, ours.as_bytes(), theirs.as_bytes());
                texts.push(text);
                merged.conflicts = true;
                merged.remarks.push(MergeRemark::BlockConflict(key.name()));
            }
        }
    }
    let footer = merge_comments(&base.footer, &ours.footer, &theirs.footer);
    texts.extend((!footer.is_empty()).then(|| format!("{footer}\n").into_bytes()));
    merged.text = texts.join(&b'\n');
    merged
}

struct TextConflict;

fn settle(piece: Three<Option<&TextPiece>>) -> Result<Option<TextPiece>, TextConflict> {
    let block = |piece: Option<&TextPiece>| piece.map(|piece| piece.block.clone());
    let [base, ours, theirs] = [piece.base, piece.ours, piece.theirs].map(block);
    let block = if ours == theirs || theirs == base {
        ours
    } else if ours == base {
        theirs
    } else {
        return Err(TextConflict);
    };
    let comments = |piece: Option<&TextPiece>| piece.map(|piece| piece.comments.clone()).unwrap_or_default();
    let [base, ours, theirs] = [piece.base, piece.ours, piece.theirs].map(comments);
    Ok(block.map(|block| TextPiece { block, comments: merge_comments(&base, &ours, &theirs) }))
}

/// What both sides of the markers have where one of the texts has it so.
fn decision(
    key: &EntryKey,
    texts: Three<Option<&TextPiece>>,
    decided: Option<&[Pieces; 2]>,
) -> Result<Option<TextPiece>, TextConflict> {
    let [one, other] = decided.ok_or(TextConflict)?.each_ref().map(|side| side.by_key.get(key));
    let block = |piece: Option<&TextPiece>| piece.map(|piece| piece.block.clone());
    let is_of_a_text = [texts.ours, texts.theirs].map(block).contains(&block(one));
    if block(one) == block(other) && is_of_a_text { Ok(one.cloned()) } else { Err(TextConflict) }
}

/// Comments never conflict: where both sides changed them, the lines of both stay.
fn merge_comments(base: &str, ours: &str, theirs: &str) -> String {
    if ours == theirs || theirs == base {
        return ours.to_owned();
    }
    if ours == base {
        return theirs.to_owned();
    }
    let mut lines: Vec<&str> = ours.lines().collect();
    lines.extend(theirs.lines().filter(|line| !ours.lines().any(|there| there == *line)));
    lines.join("\n")
}

/// The keys of both: ours in their order, and each that only theirs has after the last lesser one.
fn order<'p>(ours: &'p Pieces, theirs: &'p Pieces) -> Vec<&'p EntryKey> {
    let mut keys: Vec<&EntryKey> = ours.keys.iter().collect();
    let further: BTreeSet<&EntryKey> = theirs.keys.iter().filter(|key| !ours.by_key.contains_key(key)).collect();
    for key in further {
        let place = keys.iter().rposition(|there| *there < key).map_or(0, |at| at + 1);
        keys.insert(place, key);
    }
    keys
}

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

    pub(super) fn whole_file(self, ours: &[u8], theirs: &[u8], remarks: Vec<MergeRemark>) -> MergedText {
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
enum HunkSection {
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
    let (mut section, mut begin) = (HunkSection::Common, 0);
    for (number, line) in (1..).zip(lines()) {
        let Some(sign) = marker(line, size) else {
            for (side, shown) in [
                (&mut base, HunkSection::Base),
                (&mut split.ours, HunkSection::Ours),
                (&mut split.theirs, HunkSection::Theirs),
            ] {
                if section == shown || section == HunkSection::Common {
                    side.extend_from_slice(line);
                }
            }
            continue;
        };
        section = match (section, sign) {
            (HunkSection::Common, b'<') => {
                begin = number;
                HunkSection::Ours
            }
            (HunkSection::Ours, b'|') => {
                has_base = true;
                HunkSection::Base
            }
            (HunkSection::Ours | HunkSection::Base, b'=') => HunkSection::Theirs,
            (HunkSection::Theirs, b'>') => HunkSection::Common,
            _ => {
                let marker = String::from_utf8_lossy(&line[..size]).into_owned();
                return Err(MarkerError::OutOfOrder { marker, line: number });
            }
        };
    }
    if section != HunkSection::Common {
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
            .hint(step!("`git checkout --merge FILE` recreates the conflict"))
    }
}

//! The layout of a native text: its lines with their indentation and comments, pieces that are replaced at once, and
//! equals signs and comments of adjacent lines in one column, as `terraform fmt` puts them.
//!
//! Only the white space before the latter two is ever touched, and only in the lines of a range.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclwrite/format.go`, `formatCells` and `linesForFormat`.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::hcl::scan::{self, Hidden};

/// Edits a text, then aligns the first of some ranges that was aligned before; nested ranges come from outer to inner.
///
/// What was not aligned by its author is left alone.
pub(super) fn edit_aligned(text: &str, ranges: &[Range<usize>], splices: Splices) -> String {
    let aligned = ranges.iter().find(|range| align(text, (*range).clone()) == text);
    let edited = splices.apply(text);
    match aligned {
        // Every edit is within all of the ranges.
        Some(range) => align(&edited, range.start..range.end + edited.len() - text.len()),
        None => edited,
    }
}

/// The text with the lines of a range aligned.
pub(super) fn align(text: &str, range: Range<usize>) -> String {
    let lines = lines(text, range);
    let mut splices = Splices::default();
    let mut columns: Vec<Columns> = lines.iter().map(|line| Columns::of(text, line)).collect();
    for chain in chains(&lines, |line| line.equals.is_some() && line.whole) {
        let widest = columns[chain.clone()].iter().map(|line| line.lead).max().unwrap_or(0);
        for line in &mut columns[chain] {
            line.before_equals = widest - line.lead + 1;
        }
    }
    for chain in chains(&lines, |line| line.comment.is_some()) {
        let widest = columns[chain.clone()].iter().map(Columns::code).max().unwrap_or(0);
        for line in &mut columns[chain] {
            line.before_comment = widest - line.code() + 1;
        }
    }
    for (line, columns) in lines.iter().zip(&columns) {
        for (at, spaces) in [(line.equals, columns.before_equals), (line.comment, columns.before_comment)] {
            if let Some(at) = at {
                splices.replace(text[..at].trim_end_matches([' ', '\t']).len()..at, " ".repeat(spaces));
            }
        }
    }
    splices.apply(text)
}

struct Columns {
    lead: usize,
    before_equals: usize,
    assigned: usize,
    before_comment: usize,
}

impl Columns {
    fn of(text: &str, line: &LineTokens) -> Self {
        let end = line.comment.unwrap_or(line.range.end);
        let split = line.equals.unwrap_or(end);
        let width = |range: Range<usize>| text[range].trim_end().graphemes(true).count();
        Self { lead: width(line.range.start..split), before_equals: 1, assigned: width(split..end), before_comment: 1 }
    }

    fn code(&self) -> usize {
        if self.assigned == 0 { self.lead } else { self.lead + self.before_equals + self.assigned }
    }
}

/// Runs of adjacent lines that have something in common.
fn chains(lines: &[LineTokens], belongs: impl Fn(&LineTokens) -> bool) -> Vec<Range<usize>> {
    let mut chains: Vec<Range<usize>> = Vec::new();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| belongs(line)) {
        match chains.last_mut() {
            Some(chain) if chain.end == index => chain.end += 1,
            _ => chains.push(index..index + 1),
        }
    }
    chains
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LineTokens {
    /// The line without its line break.
    pub(super) range: Range<usize>,
    /// Its first equals sign that has something before it.
    equals: Option<usize>,
    /// True if the equals sign is followed by a whole expression, as far as brackets show.
    whole: bool,
    /// A comment up to the end of the line that has something before it.
    pub(super) comment: Option<usize>,
}

/// The lines of a range, which begins in code. Lines that a heredoc or a comment reaches over have no parts.
fn lines(text: &str, range: Range<usize>) -> Vec<LineTokens> {
    let bytes = &text.as_bytes()[..range.end];
    let mut reader = LayoutReader { bytes, lines: Vec::new(), line: OpenLine::new(range.start) };
    let mut at = range.start;
    for Hidden { range: hidden, is_comment } in scan::hidden(text, range) {
        reader.code(at..hidden.start);
        at = hidden.end;
        let is_last_of_line = is_comment && !text[hidden.clone()].starts_with("/*");
        if !is_last_of_line {
            reader.skip(hidden);
        } else if reader.line.has_code {
            reader.line.comment = Some(hidden.start);
        }
    }
    reader.code(at..bytes.len());
    reader.end_line(bytes.len());
    reader.lines
}

#[derive(Debug)]
struct OpenLine {
    start: usize,
    has_code: bool,
    equals: Option<usize>,
    /// How many brackets are open since the equals sign.
    brackets: i32,
    comment: Option<usize>,
    /// True if something that is not code reaches over an end of it.
    opaque: bool,
}

impl OpenLine {
    fn new(start: usize) -> Self {
        Self { start, has_code: false, equals: None, brackets: 0, comment: None, opaque: false }
    }
}

struct LayoutReader<'a> {
    /// The text up to the end of the range.
    bytes: &'a [u8],
    lines: Vec<LineTokens>,
    line: OpenLine,
}

impl LayoutReader<'_> {
    /// Ends the line before a line break.
    fn end_line(&mut self, at: usize) {
        let line = std::mem::replace(&mut self.line, OpenLine::new(at + 1));
        let has_return = at > line.start && self.bytes[at - 1] == b'\r';
        let seen = !line.opaque;
        self.lines.push(LineTokens {
            range: line.start..at - usize::from(has_return),
            equals: line.equals.filter(|_| seen),
            whole: line.brackets == 0,
            comment: line.comment.filter(|_| seen),
        });
    }

    fn code(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let byte = self.bytes[at];
            match byte {
                b'\n' => self.end_line(at),
                b' ' | b'\t' | b'\r' => {}
                b'(' | b'[' | b'{' => self.bracket(1),
                b')' | b']' | b'}' => self.bracket(-1),
                b'=' | b'!' | b'<' | b'>' => {
                    let double = matches!((byte, self.bytes.get(at + 1)), (_, Some(b'=')) | (b'=', Some(b'>')));
                    if byte == b'=' && !double && self.line.has_code {
                        self.line.equals.get_or_insert(at);
                    }
                    self.line.has_code = true;
                    at += usize::from(double);
                }
                _ => self.line.has_code = true,
            }
            at += 1;
        }
    }

    fn bracket(&mut self, change: i32) {
        self.line.has_code = true;
        self.line.brackets += if self.line.equals.is_some() { change } else { 0 };
    }

    /// Skips what is not code. Lines that end within it have no parts, and neither has the one that it ends on then.
    fn skip(&mut self, range: Range<usize>) {
        for at in memchr::memchr_iter(b'\n', &self.bytes[range.clone()]) {
            self.line.opaque = true;
            self.end_line(range.start + at);
            self.line.opaque = true;
        }
        self.line.has_code = true;
    }
}

/// Replacements in one text. They must not overlap; of two at one place the earlier comes first.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(super) fn one(range: Range<usize>, new: impl Into<String>) -> Self {
        Self(vec![(range, new.into())])
    }

    pub(super) fn replace(&mut self, range: Range<usize>, new: impl Into<String>) {
        self.0.push((range, new.into()));
    }

    pub(super) fn insert(&mut self, at: usize, new: impl Into<String>) {
        self.replace(at..at, new);
    }

    /// The text after all replacements. One that overlaps with an earlier one is left out.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut result = String::with_capacity(text.len() + 64);
        let mut at = 0;
        for (range, new) in self.0 {
            if let Some(kept) = text.get(at..range.start) {
                result.push_str(kept);
                result.push_str(&new);
                at = range.end;
            }
        }
        result.push_str(text.get(at..).unwrap_or_default());
        result
    }
}

/// The default step of indentation, that of `terraform fmt`.
pub(super) const UNIT: &str = "  ";

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The line break that a text uses, by its first one.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Where the line with a byte begins, behind a byte order mark.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind('\n') {
        Some(before) => before + 1,
        None if text.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len().min(at),
        None => 0,
    }
}

/// The white space that the line with a byte begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at.max(line_start(text, at))];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation: what the inner indentation has more than the outer one, if it has.
pub(super) fn unit<'a>(outer: &str, inner: &'a str) -> &'a str {
    match inner.strip_prefix(outer) {
        Some(more) if !more.is_empty() => more,
        _ if inner.contains('\t') => "\t",
        _ => UNIT,
    }
}

/// The end of a line, behind its line break, from a byte where neither a string nor a comment is open.
///
/// Comments are skipped, and with them the lines that they span.
pub(super) fn line_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => return at + 1,
            b'#' => at = rest_of_line(text, at),
            b'/' if bytes[at..].starts_with(b"//") => at = rest_of_line(text, at),
            b'/' if bytes[at..].starts_with(b"/*") => at = comment_end(text, at),
            _ => at += 1,
        }
    }
    at
}

fn rest_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length)
}

fn comment_end(text: &str, at: usize) -> usize {
    text.get(at + 2..).and_then(|rest| rest.find("*/")).map_or(text.len(), |length| at + 2 + length + 2)
}

/// The start of the comments directly above an item, without a blank line in between; else the item's line.
///
/// `floor` is the beginning of a line between which and the item there are only comments and white space.
pub(super) fn comments_above(text: &str, floor: usize, item: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut start, mut at, mut has_comment) = (floor, floor, false);
    while at < item {
        match bytes[at] {
            b'\n' => {
                at += 1;
                if !has_comment {
                    start = at;
                }
                has_comment = false;
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                at = comment_end(text, at);
                has_comment = true;
            }
            b'#' | b'/' => {
                at = rest_of_line(text, at);
                has_comment = true;
            }
            _ => at += 1,
        }
    }
    start.min(item)
}

/// The blank line that begins at a byte, if one does.
pub(super) fn blank_line_at(text: &str, at: usize) -> Option<Range<usize>> {
    let end = at + text[at..].find('\n')? + 1;
    text[at..end].trim().is_empty().then_some(at..end)
}

/// The blank line that ends at a byte, if one does.
pub(super) fn blank_line_before(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text[..at].strip_suffix('\n')?;
    let start = line_start(text, before.len());
    text[start..at].trim().is_empty().then_some(start..at)
}

/// A quoted string of HCL with the given value; It is valid JSON too if it contains neither `${` nor `%{`.
pub(super) fn quoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ => text.push(character),
        }
    }
    text.push('"');
    text.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests;

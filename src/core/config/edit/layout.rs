//! The layout of a native text: its lines with their indentation and comments, pieces that are replaced at once, and
//! equals signs and comments of adjacent lines in one column, as `terraform fmt` puts them.
//!
//! Only the white space before the latter two is ever touched, and only in the lines of a range.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclwrite/format.go`, `formatCells` and `linesForFormat`.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::hcl::ends_heredoc;

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

#[derive(Debug, PartialEq, Eq)]
enum Nesting {
    Bracket,
    Interpolation,
    Quote,
}

/// The lines of a range, which begins in code. Lines that a heredoc or a comment reaches over have no parts.
fn lines(text: &str, range: Range<usize>) -> Vec<LineTokens> {
    let bytes = &text.as_bytes()[..range.end];
    let mut reader =
        LayoutReader { text, bytes, at: range.start, frames: Vec::new(), lines: Vec::new(), line: fresh(0) };
    reader.line = fresh(range.start);
    while let Some(byte) = bytes.get(reader.at) {
        if reader.frames.last() == Some(&Nesting::Quote) { reader.quoted(*byte) } else { reader.code(*byte) }
    }
    reader.end_line();
    reader.lines
}

#[derive(Debug)]
struct Open {
    start: usize,
    has_code: bool,
    equals: Option<usize>,
    brackets: i32,
    comment: Option<usize>,
    opaque: bool,
}

fn fresh(start: usize) -> Open {
    Open { start, has_code: false, equals: None, brackets: 0, comment: None, opaque: false }
}

struct LayoutReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    frames: Vec<Nesting>,
    lines: Vec<LineTokens>,
    line: Open,
}

impl LayoutReader<'_> {
    /// Ends the line before the line break at which the reader is.
    fn end_line(&mut self) {
        let line = std::mem::replace(&mut self.line, fresh(self.at + 1));
        let mut end = self.at;
        if end > line.start && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        let seen = !line.opaque;
        self.lines.push(LineTokens {
            range: line.start..end,
            equals: line.equals.filter(|_| seen),
            whole: line.brackets == 0,
            comment: line.comment.filter(|_| seen),
        });
        self.at += 1;
    }

    fn code(&mut self, byte: u8) {
        let rest = &self.bytes[self.at..];
        match byte {
            b'\n' => return self.end_line(),
            b' ' | b'\t' | b'\r' => return self.at += 1,
            b'#' => return self.comment(),
            b'/' if rest.starts_with(b"//") => return self.comment(),
            b'/' if rest.starts_with(b"/*") => return self.inline_comment(),
            b'"' => self.frames.push(Nesting::Quote),
            b'(' | b'[' | b'{' => self.open(Nesting::Bracket),
            b')' | b']' | b'}' => {
                self.frames.pop();
                self.line.brackets -= i32::from(self.line.equals.is_some());
            }
            b'<' if rest.starts_with(b"<<") && self.heredoc() => return,
            b'=' | b'!' | b'<' | b'>' => return self.operator(byte),
            _ => {}
        }
        self.line.has_code = true;
        self.at += 1;
    }

    fn operator(&mut self, byte: u8) {
        let double = matches!((byte, self.bytes.get(self.at + 1)), (_, Some(b'=')) | (b'=', Some(b'>')));
        if byte == b'=' && !double && self.line.has_code {
            self.line.equals.get_or_insert(self.at);
        }
        self.line.has_code = true;
        self.at += 1 + usize::from(double);
    }

    fn quoted(&mut self, byte: u8) {
        let rest = &self.bytes[self.at..];
        match byte {
            b'"' | b'\n' => {
                self.frames.pop();
                if byte == b'\n' {
                    return;
                }
            }
            b'\\' => self.at += usize::from(rest.get(1).is_some_and(|next| *next != b'\n')),
            b'$' | b'%' if rest.get(1) == Some(&byte) && rest.get(2) == Some(&b'{') => self.at += 2,
            b'$' | b'%' if rest.get(1) == Some(&b'{') => {
                self.at += 1;
                self.open(Nesting::Interpolation);
            }
            _ => {}
        }
        self.at += 1;
    }

    fn open(&mut self, frame: Nesting) {
        self.frames.push(frame);
        self.line.brackets += i32::from(self.line.equals.is_some());
    }

    fn comment(&mut self) {
        if self.line.has_code {
            self.line.comment = Some(self.at);
        }
        self.at = memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |length| self.at + length);
    }

    fn inline_comment(&mut self) {
        let end = self.text[self.at + 2..self.bytes.len()].find("*/").map(|length| self.at + 2 + length + 2);
        self.skip_over(end.unwrap_or(self.bytes.len()));
        self.line.has_code = true;
    }

    /// Skips a heredoc, if one begins here.
    fn heredoc(&mut self) -> bool {
        let rest = &self.text[self.at..self.bytes.len()];
        let name = rest[2..].strip_prefix('-').unwrap_or(&rest[2..]);
        let Some((first, _)) = name.split_once('\n') else { return false };
        let marker = first.trim_end_matches('\r');
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
        if marker.is_empty() || !marker.chars().all(is_name) {
            return false;
        }
        let mut end = self.at + (rest.len() - name.len()) + first.len() + 1;
        for line in self.text[end..self.bytes.len()].split_inclusive('\n') {
            if ends_heredoc(line, marker) {
                end += line.trim_end().len();
                break;
            }
            end += line.len();
        }
        self.skip_over(end);
        self.line.has_code = true;
        true
    }

    /// Goes on to a byte. Lines that end before it have no parts, and neither has the one that it is on then.
    fn skip_over(&mut self, end: usize) {
        let end = end.min(self.bytes.len());
        while let Some(length) = memchr::memchr(b'\n', &self.bytes[self.at..end]) {
            self.at += length;
            self.line.opaque = true;
            self.end_line();
            self.line.opaque = true;
        }
        self.at = end;
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

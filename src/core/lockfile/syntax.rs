//! The text of a lock file before it means anything: its outline, and the bodies of its blocks.
//!
//! The outline is found by the scanner that configuration is read with, which takes no text that the tools refuse; it
//! knows comments, in which any bytes may appear. The body of each block is then parsed by `hcl-edit`, with blanks in the
//! place of comments. Nothing is evaluated.
//!
//! The short way: texts that are exactly what a tool writes.
//!
//! Nearly every lock file is one, and 878 KB of it are read in a few milliseconds. The scanner compares line by line and
//! gives up on anything else, however harmless; then the text goes the long way, which also knows what to say.

use std::borrow::Cow;
use std::ops::Range;

use hcl_edit::expr::Expression;
use hcl_edit::parser::parse_body;
use hcl_edit::structure::Body;

use super::encode::split_header;
use super::{EntrySpans, LockEntry, LockFile, Spans};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Position, Rule};
use crate::hash::PackageHash;
use crate::hcl::is_plain;
use crate::hcl::scan::{self, LabelSpan, Outline, ScanError};
use crate::version::Constraints;

/// How deep brackets may nest; those of a plain value nest once. The tools follow any. `hcl-edit` follows 64, for which a thread
/// of Windows has hardly enough stack.
const DEEPEST: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxProblem {
    pub(super) rule: Rule,
    pub(super) at: usize,
    pub(super) message: String,
}

/// A text with a NUL for each byte that is not UTF-8; all offsets are as in the bytes.
#[derive(Debug)]
pub(super) struct LockText<'a> {
    pub(super) text: Cow<'a, str>,
    not_utf8: Vec<usize>,
}

impl<'a> LockText<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Self { text: Cow::Borrowed(text), not_utf8: Vec::new() };
        }
        let mut text = String::with_capacity(bytes.len());
        let mut not_utf8 = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            not_utf8.extend((0..chunk.invalid().len()).map(|at| text.len() + at));
            text.extend(std::iter::repeat_n('\0', chunk.invalid().len()));
        }
        Self { text: Cow::Owned(text), not_utf8 }
    }

    /// The first byte that is neither UTF-8 nor in a comment.
    fn foreign_byte(&self, comments: &[Range<usize>]) -> Option<usize> {
        let in_comment = |at: usize| {
            let next = comments.partition_point(|comment| comment.end <= at);
            comments.get(next).is_some_and(|comment| comment.start <= at)
        };
        self.not_utf8.iter().copied().find(|at| !in_comment(*at))
    }

    fn problem(&self, error: &ScanError) -> SyntaxProblem {
        if self.not_utf8.binary_search(&error.at).is_ok() {
            not_utf8(error.at)
        } else {
            syntax(error.at, error.kind.to_string())
        }
    }
}

/// A text of which the outline is known.
#[derive(Debug)]
pub(super) struct SyntaxTree<'s> {
    pub(super) outline: Outline<'s>,
    /// The text with blanks in the place of comments.
    blanked: Cow<'s, str>,
}

/// Finds the outline of a text.
pub(super) fn parse<'s>(source: &'s LockText<'_>) -> Result<SyntaxTree<'s>, SyntaxProblem> {
    let text = &*source.text;
    let outline = scan::outline_for_parser(text).map_err(|error| source.problem(&error))?;
    match source.foreign_byte(&outline.comments) {
        Some(at) => Err(not_utf8(at)),
        None => Ok(SyntaxTree { blanked: blanked(text, &outline.comments), outline }),
    }
}

impl SyntaxTree<'_> {
    /// What is between the braces of a block; spans count from the first byte of the range.
    pub(super) fn body(&self, range: Range<usize>) -> Result<Body, SyntaxProblem> {
        let text = &self.blanked[range.clone()];
        if let Some(at) = too_deep(text) {
            let message = format!("nested more than {DEEPEST} levels deep, which no plain value is");
            return Err(SyntaxProblem { rule: Rule::LockNotLiteral, at: range.start + at, message });
        }
        let at = |offset: usize| (range.start + offset).min(range.end);
        parse_body(text).map_err(|error| syntax(at(error.location().offset()), error.message()))
    }
}

/// The text of a label, in which the tools resolve escapes.
pub(super) fn label<'s>(label: &LabelSpan<'s>) -> Result<Cow<'s, str>, SyntaxProblem> {
    if !label.raw.contains(['\\', '$', '%']) {
        return Ok(Cow::Borrowed(label.raw));
    }
    match format!("\"{}\"", label.raw).parse() {
        Ok(Expression::String(text)) => Ok(Cow::Owned(text.into_value())),
        Ok(_) => Err(syntax(label.at, "this is not a label")),
        Err(error) => Err(syntax(label.at + error.location().offset(), error.message())),
    }
}

fn syntax(at: usize, message: impl Into<String>) -> SyntaxProblem {
    SyntaxProblem { rule: Rule::LockSyntax, at, message: message.into() }
}

fn not_utf8(at: usize) -> SyntaxProblem {
    syntax(at, "not UTF-8")
}

fn blanked<'s>(text: &'s str, comments: &[Range<usize>]) -> Cow<'s, str> {
    if comments.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    for comment in comments {
        blanked.push_str(&text[blanked.len()..comment.start]);
        blanked.extend(std::iter::repeat_n(' ', comment.len()));
    }
    blanked.push_str(&text[blanked.len()..]);
    Cow::Owned(blanked)
}

/// The first bracket that nests too deep, those in strings counted too.
fn too_deep(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > DEEPEST
    })
}

/// A text that `encode` would write again, byte for byte.
#[derive(Debug)]
pub(super) struct Canonical {
    pub(super) lock: LockFile,
    pub(super) spans: Spans,
    pub(super) header: Dialect,
}

/// True if a text is exactly what `dialect` writes. Keeps nothing of it, which spares the time of all those hashes.
pub(super) fn holds(text: &[u8], dialect: Dialect) -> bool {
    read(text, dialect, false).is_some_and(|found| found.header == dialect)
}

/// Reads a canonical text with either header; addresses are judged as `dialect` does. None for any other text.
pub(super) fn scan_canonical(text: &[u8], dialect: Dialect) -> Option<Canonical> {
    read(text, dialect, true)
}

fn read(text: &[u8], dialect: Dialect, keep: bool) -> Option<Canonical> {
    let text = std::str::from_utf8(text).ok()?;
    let ((header, stacks), rest) = split_header(text)?;
    let mut lines = Lines { rest, line: 2, keep };
    let mut found = Canonical { lock: LockFile { stacks, ..LockFile::new() }, spans: Spans::default(), header };
    let mut passed: Option<ProviderAddr> = None;
    while !lines.rest.is_empty() {
        if !lines.take()?.is_empty() {
            return None;
        }
        let (addr, entry, spans) = lines.entry(dialect)?;
        let last = found.spans.entries.last_key_value().map(|(last, _)| last).or(passed.as_ref());
        if last.is_some_and(|last| *last >= addr) {
            return None;
        }
        if keep {
            found.lock.insert(addr.clone(), entry);
            found.spans.entries.insert(addr, Box::new(spans));
        } else {
            passed = Some(addr);
        }
    }
    Some(found)
}

struct Lines<'a> {
    rest: &'a str,
    /// The number of the line last taken.
    line: usize,
    /// False if entries and hashes are looked at and forgotten.
    keep: bool,
}

impl<'a> Lines<'a> {
    fn take(&mut self) -> Option<&'a str> {
        let end = memchr::memchr(b'\n', self.rest.as_bytes())?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        self.line += 1;
        Some(line)
    }

    fn at(&self, column: usize) -> Position {
        Position { line: self.line, column }
    }

    fn entry(&mut self, dialect: Dialect) -> Option<(ProviderAddr, LockEntry, EntrySpans)> {
        let label = plain(self.take()?.strip_prefix("provider \"")?.strip_suffix("\" {")?)?;
        let addr = ProviderAddr::parse(label, dialect).ok().filter(|addr| addr.to_string() == label)?;
        let mut spans = EntrySpans { block: self.at(1), ..EntrySpans::default() };
        let line = self.take()?;
        let aligned = line.strip_prefix("  version     = \"");
        let version = plain(aligned.or_else(|| line.strip_prefix("  version = \""))?.strip_suffix('"')?)?;
        let mut entry = LockEntry {
            version: version.parse().ok()?,
            constraints: Constraints::default(),
            hashes: [].into_iter().collect(),
        };
        if entry.version.to_string() != version {
            return None;
        }
        spans.version = Some(self.at(if aligned.is_some() { 17 } else { 13 }));
        if aligned.is_some() {
            let text = plain(self.take()?.strip_prefix("  constraints = \"")?.strip_suffix('"')?)?;
            entry.constraints = text.parse().ok()?;
            spans.constraints = Some(self.at(17));
            if entry.constraints.is_empty() || entry.constraints.to_string() != text {
                return None;
            }
        }
        let mut line = self.take()?;
        if line == "  hashes = [" {
            spans.hashes = Some(self.at(3));
            spans.each_hash = self.hashes()?;
            entry.hashes = spans.each_hash.iter().map(|(hash, _)| hash.clone()).collect();
            line = self.take()?;
        }
        (line == "}").then_some((addr, entry, spans))
    }

    /// Takes the hashes and the line that ends their list.
    fn hashes(&mut self) -> Option<Vec<(PackageHash, Position)>> {
        let mut hashes: Vec<(PackageHash, Position)> = Vec::new();
        let mut last: Option<&str> = None;
        loop {
            let line = self.take()?;
            if line == "  ]" {
                return last.is_some().then_some(hashes);
            }
            let text = plain(line.strip_prefix("    \"")?.strip_suffix("\",")?)?;
            if last.is_some_and(|last| last >= text) || PackageHash::scheme_of(text).is_none() {
                return None;
            }
            last = Some(text);
            if self.keep {
                hashes.push((text.parse().ok()?, self.at(5)));
            }
        }
    }
}

/// A text that is literal between quotes.
fn plain(text: &str) -> Option<&str> {
    is_plain(text).then_some(text)
}

//! The short way: texts that are exactly what a tool writes.
//!
//! Nearly every lock file is one, and 878 KB of it are read in a few milliseconds. The scanner compares line by line and
//! gives up on anything else, however harmless; then the text goes the long way, which also knows what to say.

use super::header::header;
use super::{EntrySpans, LockEntry, LockFile, Spans};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::Position;
use crate::hash::PackageHash;
use crate::hcl::is_plain;
use crate::version::Constraints;

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
pub(super) fn scan(text: &[u8], dialect: Dialect) -> Option<Canonical> {
    read(text, dialect, true)
}

fn read(text: &[u8], dialect: Dialect, keep: bool) -> Option<Canonical> {
    let text = std::str::from_utf8(text).ok()?;
    let of = |dialect: Dialect| Some((dialect, text.strip_prefix(header(dialect))?));
    let (header, rest) = of(Dialect::Terraform).or_else(|| of(Dialect::OpenTofu))?;
    let mut lines = Lines { rest, line: 2, keep };
    let mut found = Canonical { lock: LockFile::new(), spans: Spans::default(), header };
    while !lines.rest.is_empty() {
        if !lines.take()?.is_empty() {
            return None;
        }
        let (addr, entry, spans) = lines.entry(dialect)?;
        let last = found.spans.entries.last_key_value();
        if last.is_some_and(|(last, _)| *last >= addr) {
            return None;
        }
        found.lock.insert(addr.clone(), entry);
        found.spans.entries.insert(addr, Box::new(spans));
    }
    Some(found)
}

struct Lines<'a> {
    rest: &'a str,
    /// The number of the line last taken.
    line: usize,
    /// False if hashes are looked at and forgotten.
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

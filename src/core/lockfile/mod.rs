//! The dependency lock file: `.terraform.lock.hcl`.
//!
//! [`LockFile`] is what the file says, whatever its layout. [`decode()`] reads the text strictly and reports all that is
//! wrong with it; [`LockFile::encode`] writes the one canonical text, byte for byte as the tools do. Where something
//! is in the text is kept next to the model, in [`Spans`]. The folder reads no files and sends no request.
//!
//! Source: `internal/depsfile/locks.go` and `locks_file.go`.

mod content;
mod encode;
mod name;
mod syntax;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use name::{FILE_NAME, LockName, NAME_PATTERNS};

pub use encode::{StacksHeader, detect_dialect, header_dialect as detect_header, likely_dialect};

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Level, LineIndex, Position, Rule};
use crate::hash::{PackageHash, PackageHashes};
use crate::version::{Constraints, Version};
use content::Content;
use encode::{BYTE_ORDER_MARK, header_dialect, stacks_header};
use syntax::{LockText, parse};

/// True if a text is exactly what a tool writes, so there is nothing to format. False may also mean that a closer
/// look is needed.
pub fn is_canonical(text: &[u8], dialect: Dialect) -> bool {
    syntax::holds(text, dialect)
}

/// What a dependency lock file says: one entry for each provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockFile {
    /// The header of Terraform Stacks that the text begins with, which stays when Terraform's text is written.
    pub stacks: Option<StacksHeader>,
    /// Boxed because a node of the map has room for eleven entries, and most files have few.
    entries: BTreeMap<ProviderAddr, Box<LockEntry>>,
}

/// The selected version of one provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockEntry {
    /// The version.
    pub version: Version,
    /// The constraints at the time of writing: a hint for users, never used to select.
    pub constraints: Constraints,
    /// The recorded hashes of its packages.
    pub hashes: PackageHashes,
}

impl LockFile {
    /// A file without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entry of a provider.
    pub fn get(&self, addr: &ProviderAddr) -> Option<&LockEntry> {
        self.entries.get(addr).map(Box::as_ref)
    }

    /// Sets the entry of a provider; gives the old one.
    pub fn insert(&mut self, addr: ProviderAddr, entry: LockEntry) -> Option<LockEntry> {
        self.entries.insert(addr, Box::new(entry)).map(|old| *old)
    }

    /// Removes the entry of a provider.
    pub fn remove(&mut self, addr: &ProviderAddr) -> Option<LockEntry> {
        self.entries.remove(addr).map(|entry| *entry)
    }

    /// The entries in the order of the file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ProviderAddr, &LockEntry)> {
        self.entries.iter().map(|(addr, entry)| (addr, &**entry))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The largest lock file that is read, in bytes; the tools have no limit.
const LARGEST: usize = 16 << 20;

/// The most entries, hashes of one entry, and hashes of a file; the largest of 582 real files has 14 entries, and 43
/// hashes in one.
const MOST_ENTRIES: usize = 2_000;
const MOST_HASHES_OF_ENTRY: usize = 10_000;
const MOST_HASHES: usize = 50_000;

/// No file within those bounds has more quotes: two for each hash, and for label, version and constraints of each entry.
const MOST_QUOTES: usize = 2 * (MOST_HASHES + 3 * MOST_ENTRIES);

/// A lock file as read.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// What it says.
    pub lock: LockFile,
    /// Where it says it.
    pub spans: Spans,
    /// The tool whose header it has, if it has one.
    pub header: Option<Dialect>,
    /// Warnings: what is accepted, but not as the tools would write it. Never at level deny.
    pub warnings: Vec<Finding>,
    /// Of a text that is refused for it, all entries of each provider that has several, as far as they can be read.
    pub repeated: BTreeMap<ProviderAddr, Vec<LockEntry>>,
    /// True if the text is exactly what `encode` gives in the dialect of its header.
    pub canonical: bool,
}

impl Decoded {
    /// Why the text is not as it would be written where it is: only stacks have headers of Terraform Stacks, and they record
    /// no constraints.
    pub fn unlike_kind(&self, is_stack: bool) -> Vec<Finding> {
        let finding = |message: String, at| Finding::new(Rule::NotCanonical, message).at(at);
        let header = match (is_stack, self.lock.stacks.is_some()) {
            (true, false) => Some("the file does not begin with a header of Terraform Stacks, and this is a stack"),
            (false, true) => Some("the file begins with a header of Terraform Stacks, and this is no stack"),
            _ => None,
        };
        let header = header.map(|message| finding(message.to_owned(), Position::default()));
        let spans = self.spans.entries.iter().filter(|_| is_stack);
        let constraints = spans.filter_map(|(addr, spans)| {
            let message = format!("the entry of {addr} records constraints, which stacks do not");
            Some(finding(message, spans.constraints?).about(addr))
        });
        header.into_iter().chain(constraints).collect()
    }
}

/// Decodes the bytes of a lock file as `dialect` would.
///
/// Texts above 16 MiB are refused, and those with more entries or hashes than any project has. The findings name no file.
pub fn decode(text: &[u8], dialect: Dialect) -> Result<Decoded, Vec<Finding>> {
    if let Some(finding) = oversized(text) {
        return Err(vec![finding]);
    }
    let decoded = match syntax::scan_canonical(text, dialect) {
        Some(found) => Decoded {
            lock: found.lock,
            spans: found.spans,
            header: Some(found.header),
            warnings: Vec::new(),
            repeated: BTreeMap::new(),
            canonical: true,
        },
        None => decode_any(text, dialect)?,
    };
    match excess(&decoded) {
        Some(finding) => Err(vec![finding]),
        None => Ok(decoded),
    }
}

/// Why a text is too large to be read at all, by its bytes alone.
fn oversized(text: &[u8]) -> Option<Finding> {
    if text.len() > LARGEST {
        return Some(refusal(format!("the file has {} bytes; a lock file has at most {LARGEST}", text.len())));
    }
    let many = memchr::memchr_iter(b'"', text).nth(MOST_QUOTES).is_some();
    many.then(|| {
        refusal(format!("the file has more quoted strings than {MOST_HASHES} hashes need, which is the limit"))
    })
}

/// The first entry or hash beyond the bounds.
fn excess(decoded: &Decoded) -> Option<Finding> {
    let limit = |limit: usize, what: &str, at: Position| {
        Finding::new(Rule::LockSyntax, format!("the file has more than {limit} {what}, which is the limit")).at(at)
    };
    if let Some((_, spans)) = decoded.spans.entries.iter().nth(MOST_ENTRIES) {
        return Some(limit(MOST_ENTRIES, "entries", spans.block));
    }
    let mut all = 0;
    for (addr, spans) in &decoded.spans.entries {
        if let Some((_, at)) = spans.each_hash.get(MOST_HASHES_OF_ENTRY) {
            return Some(limit(MOST_HASHES_OF_ENTRY, "hashes in one entry", *at).about(addr));
        }
        all += spans.each_hash.len();
        if all > MOST_HASHES {
            return Some(limit(MOST_HASHES, "hashes", spans.block));
        }
    }
    None
}

/// Reads what can be read of any text, for reports about it; never for writing it back.
///
/// Skips conflict markers and the common ancestor between them. Of two entries of a provider the last counts. The warnings say all that is wrong, here also at level deny;
/// a refused text is never canonical.
pub fn salvage(text: &[u8], dialect: Dialect) -> Decoded {
    let nothing = |warnings| Decoded {
        lock: LockFile::new(),
        spans: Spans::default(),
        header: header_dialect(text),
        warnings,
        repeated: BTreeMap::new(),
        canonical: false,
    };
    match decode(text, dialect) {
        Ok(decoded) => decoded,
        Err(findings) if oversized(text).is_some() => nothing(findings),
        Err(findings) => match read(&without_markers(text), dialect) {
            Ok(decoded) if excess(&decoded).is_none() => Decoded { warnings: findings, canonical: false, ..decoded },
            _ => nothing(findings),
        },
    }
}

/// The text with both sides of each conflict, one behind the other; lines keep their numbers.
fn without_markers(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut in_base = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let begins = |marker: &[u8]| line.starts_with(marker);
        in_base = if in_base { !begins(b"=======") } else { begins(b"|||||||") };
        let is_marker = begins(b"<<<<<<<") || begins(b"=======") || begins(b">>>>>>>");
        kept.extend_from_slice(if in_base || is_marker { b"\n" } else { line });
    }
    kept
}

/// Decodes any text, the long way.
fn decode_any(bytes: &[u8], dialect: Dialect) -> Result<Decoded, Vec<Finding>> {
    let decoded = read(bytes, dialect)?;
    let refused = decoded.warnings.iter().any(|finding| finding.level() == Level::Deny);
    if refused { Err(decoded.warnings) } else { Ok(decoded) }
}

/// Reads any text, whatever is wrong with its content.
fn read(bytes: &[u8], dialect: Dialect) -> Result<Decoded, Vec<Finding>> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(vec![refusal("not UTF-8; the file seems to be UTF-16".to_owned())]);
    }
    let source = LockText::new(bytes);
    let index = LineIndex::new(&source.text);
    let mut content = Content::new(&source.text, &index, dialect);
    let tree = match parse(&source) {
        Ok(tree) => tree,
        Err(problem) => {
            content.unreadable(&problem);
            return Err(content.findings);
        }
    };
    content.read(&tree);
    let Content { mut lock, spans, mut findings, repeated, .. } = content;
    lock.stacks = stacks_header(bytes);
    let refused = findings.iter().any(|finding| finding.level() == Level::Deny);
    let header = header_dialect(bytes);
    let canonical = !refused && header.is_some_and(|header| lock.encode(header).as_bytes() == bytes);
    if !refused && !canonical {
        let layout = encode::Layout { text: &source.text, index: &index, comments: &tree.outline.comments };
        findings.extend(encode::warnings(&layout, &lock, &spans, header));
        if bytes.starts_with(BYTE_ORDER_MARK) {
            let message = "the file begins with a byte order mark";
            findings.push(Finding::new(Rule::NotCanonical, message).at(Position::default()));
        }
    }
    findings.sort_by_key(|finding| finding.position);
    Ok(Decoded { lock, spans, header, warnings: findings, repeated, canonical })
}

fn refusal(message: String) -> Finding {
    Finding::new(Rule::LockSyntax, message).at(Position::default())
}

/// The places of all entries of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// By provider; the first block where there are several.
    pub entries: BTreeMap<ProviderAddr, Box<EntrySpans>>,
}

/// The places of one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntrySpans {
    /// The `provider` keyword.
    pub block: Position,
    /// The value of `version`.
    pub version: Option<Position>,
    /// The value of `constraints`.
    pub constraints: Option<Position>,
    /// The `hashes` keyword.
    pub hashes: Option<Position>,
    /// Each hash as written, in the order of the text, with duplicates.
    pub each_hash: Vec<(PackageHash, Position)>,
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn refused_files_are_salvaged_with_all_errors() {
        let block = |name: &str, version: &str| {
            format!("provider \"registry.terraform.io/acme/{name}\" {{\n  version = \"{version}\"\n}}\n")
        };
        let versions = |text: &str| {
            let decoded = salvage(text.as_bytes(), Dialect::Terraform);
            assert!(!decoded.canonical && decoded.warnings.iter().any(|finding| finding.level() == Level::Deny));
            decoded
                .lock
                .iter()
                .map(|(addr, entry)| format!("{} {}", addr.type_name(), entry.version))
                .collect::<Vec<_>>()
        };
        let twice = block("a", "1.0.0") + &block("b", "1.0.0") + &block("a", "2.0.0");
        assert_eq!(versions(&twice), ["a 2.0.0", "b 1.0.0"]);
        let conflict = format!(
            "<<<<<<< HEAD\n{}||||||| base\n{}=======\n{}>>>>>>> other\n",
            block("a", "1.0.0"),
            block("b", "1.0.0"),
            block("c", "1.0.0")
        );
        assert_eq!(versions(&conflict), ["a 1.0.0", "c 1.0.0"]);
        assert_eq!(versions("nonsense {{{"), [""; 0]);
    }
}

//! The canonical text of a lock file.
//!
//! Source: `internal/depsfile/locks_file.go`, `SaveLocksToBytes`.
//!
//! With it: the two lines that each tool begins its lock files with, and how an accepted text differs from the canonical one.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use memchr::memmem;

use super::{LockEntry, LockFile, Spans};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, LineIndex, Position, Rule};
use crate::hcl::push_escaped;
use crate::version::Constraints;

impl LockFile {
    /// The text as `dialect` writes it, byte for byte.
    pub fn encode(&self, dialect: Dialect) -> String {
        let mut text = String::with_capacity(self.encoded_size());
        text.push_str(&header(self.program(dialect)));
        for (addr, entry) in self.iter() {
            push_entry(&mut text, addr, entry);
        }
        text
    }

    /// True if a text is what Terragrunt's provider cache server writes: the same without the header.
    ///
    /// Source: terragrunt `internal/tf/getproviders/lock.go`.
    pub fn is_without_header(&self, text: &[u8], dialect: Dialect) -> bool {
        self.encode(dialect).strip_prefix(&header(self.program(dialect))).is_some_and(|rest| rest.as_bytes() == text)
    }

    /// The file as it is written next to a stack or a module: a stack has one of its own headers, the newest if it had none,
    /// and no constraints; only stacks have these headers.
    #[must_use]
    pub fn of_kind(mut self, is_stack: bool) -> Self {
        self.stacks = self.stacks.or(Some(StacksHeader::Current)).filter(|_| is_stack);
        self.entries.values_mut().filter(|_| is_stack).for_each(|entry| entry.constraints = Constraints::default());
        self
    }

    /// True if a text begins with a header of Terraform Stacks.
    pub fn has_stacks_header(text: &[u8]) -> bool {
        stacks_header(text).is_some()
    }

    /// The command that the header names.
    fn program(&self, dialect: Dialect) -> &'static str {
        match (dialect, self.stacks) {
            (Dialect::Terraform, Some(stacks)) => stacks.program(),
            _ => program(dialect),
        }
    }

    fn encoded_size(&self) -> usize {
        let hashes = |entry: &LockEntry| entry.hashes.iter().map(|hash| hash.as_str().len() + 8).sum::<usize>();
        256 + self.iter().map(|(_, entry)| 256 + hashes(entry)).sum::<usize>()
    }
}

fn push_entry(text: &mut String, addr: &ProviderAddr, entry: &LockEntry) {
    text.push_str("\nprovider \"");
    push_escaped(text, &addr.to_string());
    text.push_str("\" {\n");
    // Versions and constraints contain nothing that needs an escape; writing to a string does not fail.
    if entry.constraints.is_empty() {
        let _ = writeln!(text, "  version = \"{}\"", entry.version);
    } else {
        let _ = writeln!(text, "  version     = \"{}\"", entry.version);
        let _ = writeln!(text, "  constraints = \"{}\"", entry.constraints);
    }
    if !entry.hashes.is_empty() {
        text.push_str("  hashes = [\n");
        for hash in &entry.hashes {
            text.push_str("    \"");
            push_escaped(text, hash.as_str());
            text.push_str("\",\n");
        }
        text.push_str("  ]\n");
    }
    text.push_str("}\n");
}

/// The byte order mark, which the tools skip.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the program that writes the lock files of Terraform Stacks has called itself.
///
/// Source: public lock files next to `*.tfcomponent.hcl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StacksHeader {
    /// The program of the beta.
    Beta,
    /// Terraform 1.13 and early 1.14.
    Spaced,
    /// Terraform since about 1.14.2.
    Current,
}

impl StacksHeader {
    /// All of them, the oldest first.
    pub const ALL: [Self; 3] = [Self::Beta, Self::Spaced, Self::Current];

    /// The command that the header names.
    pub fn program(self) -> &'static str {
        match self {
            Self::Beta => "tfstacks providers lock",
            Self::Spaced => "terraform stacks providers lock",
            Self::Current => "terraform stacks providers-lock",
        }
    }
}

/// The command that the header of a tool names.
pub(super) fn program(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Terraform => "terraform init",
        Dialect::OpenTofu => "tofu init",
    }
}

/// What a text of a program begins with.
fn header(program: &str) -> String {
    format!("{}\n{SECOND_LINE}\n", first_line(program))
}

fn first_line(program: &str) -> String {
    format!("# This file is maintained automatically by \"{program}\".")
}

const SECOND_LINE: &str = "# Manual edits may be lost in future updates.";

/// The header at the beginning of a text, and what follows it.
pub(super) fn split_header(text: &str) -> Option<((Dialect, Option<StacksHeader>), &str)> {
    let (first, rest) = text.split_once('\n')?;
    let found = named_in(first.as_bytes())?;
    Some((found, rest.strip_prefix(SECOND_LINE)?.strip_prefix('\n')?))
}

/// What the first line of a header names.
fn named_in(line: &[u8]) -> Option<(Dialect, Option<StacksHeader>)> {
    let line = line.strip_prefix(b"# This file is maintained automatically by \"")?.strip_suffix(b"\".")?;
    let tool = [Dialect::Terraform, Dialect::OpenTofu].into_iter().find(|tool| program(*tool).as_bytes() == line);
    let stacks = || StacksHeader::ALL.into_iter().find(|stacks| stacks.program().as_bytes() == line);
    tool.map(|tool| (tool, None)).or_else(|| Some((Dialect::Terraform, Some(stacks()?))))
}

/// What the first comment names that is the first line of a header, before anything but comments.
fn header_of(text: &[u8]) -> Option<(Dialect, Option<StacksHeader>)> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .take_while(|line| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//"))
        .find_map(named_in)
}

/// The tool that a text names in its header; Terraform for those of Stacks.
pub fn header_dialect(text: &[u8]) -> Option<Dialect> {
    header_of(text).map(|(dialect, _)| dialect)
}

/// The header of Stacks that a text has.
pub(super) fn stacks_header(text: &[u8]) -> Option<StacksHeader> {
    header_of(text)?.1
}

/// The tool that a lock file belongs to: by its header, else by the registries it names if that is one tool's only.
///
/// Works on the text, since how a text is decoded depends on the tool.
pub fn detect_dialect(text: &[u8]) -> Option<Dialect> {
    let names = |dialect: Dialect| {
        let host = format!("\"{}/", dialect.default_registry_host());
        memmem::find(text, host.as_bytes()).is_some()
    };
    header_dialect(text).or_else(|| match (names(Dialect::Terraform), names(Dialect::OpenTofu)) {
        (true, false) => Some(Dialect::Terraform),
        (false, true) => Some(Dialect::OpenTofu),
        _ => None,
    })
}

/// The same, and Terraform where a text does not say.
pub fn likely_dialect(text: &[u8]) -> Dialect {
    detect_dialect(text).unwrap_or(Dialect::Terraform)
}

const MOST_FINDINGS: usize = 1000;

pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    pub(super) index: &'a LineIndex<'a>,
    pub(super) comments: &'a [Range<usize>],
}

impl<'a> Layout<'a> {
    fn without_mark(&self) -> &'a str {
        self.text.trim_start_matches('\u{feff}')
    }

    fn lines(&self) -> std::str::Lines<'a> {
        self.without_mark().lines()
    }
}

/// Says why a text is not canonical; at least one reason for each that is not.
pub(super) fn warnings(of: &Layout<'_>, lock: &LockFile, spans: &Spans, tool: Option<Dialect>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let wanted = tool.map(|tool| header(lock.program(tool)));
    findings.extend(of_header(of, tool.zip(wanted.as_deref())));
    findings.extend(of_line_ends(of));
    findings.extend(of_comments(of, wanted.as_deref()));
    findings.extend(of_order(spans));
    of_hashes(spans, &mut findings);
    if findings.is_empty() {
        let wanted = lock.encode(tool.unwrap_or(Dialect::Terraform));
        // The caller reports the byte order mark.
        if of.without_mark() == wanted {
            return findings;
        }
        let same = of.lines().zip(wanted.lines()).take_while(|(is, wanted)| is == wanted).count();
        // The last line may lack its end.
        let line = of.lines().count().clamp(1, same + 1);
        let message = "the file is not formatted as the tools do, here and perhaps below";
        findings.push(not_canonical(message).at(Position { line, column: 1 }));
    }
    findings
}

fn not_canonical(message: impl Into<String>) -> Finding {
    Finding::new(Rule::NotCanonical, message)
}

fn of_header(of: &Layout<'_>, wanted: Option<(Dialect, &str)>) -> Option<Finding> {
    let message = match wanted {
        None => "the file has no header of Terraform or OpenTofu".to_owned(),
        Some((tool, header)) => {
            let begins = header.lines().zip(of.lines()).all(|(wanted, line)| wanted == line.trim_end());
            if begins {
                return None;
            }
            format!("the file does not begin with the header of {tool}")
        }
    };
    Some(not_canonical(message).at(Position::default()))
}

fn of_line_ends(of: &Layout<'_>) -> Option<Finding> {
    let at = of.text.find("\r\n")?;
    Some(not_canonical("the file has CRLF line ends").at(of.index.position(at)))
}

/// Comments other than the two of the header.
fn of_comments(of: &Layout<'_>, header: Option<&str>) -> Option<Finding> {
    let of_header = |at: &Range<usize>| {
        header.is_some_and(|header| header.lines().any(|line| of.text[at.start..].starts_with(line)))
    };
    let mut others = of.comments.iter().filter(|at| !of_header(at));
    let first = others.next()?;
    let count = 1 + others.count();
    let message = format!("the file has comments ({count}), which the tools drop when they write it");
    Some(not_canonical(message).at(of.index.position(first.start)))
}

fn of_order(spans: &Spans) -> Option<Finding> {
    let mut blocks: Vec<_> = spans.entries.iter().map(|(addr, entry)| (entry.block, addr)).collect();
    blocks.sort();
    let pair = blocks.windows(2).find(|pair| pair[0].1 > pair[1].1)?;
    let (block, addr) = pair[1];
    let message = format!("the entries are not in order: {addr} belongs before {}", pair[0].1);
    Some(not_canonical(message).about(addr).at(block))
}

fn of_hashes(spans: &Spans, findings: &mut Vec<Finding>) {
    for (addr, entry) in &spans.entries {
        let mut seen = BTreeSet::new();
        for (hash, position) in &entry.each_hash {
            if !seen.insert(hash) && findings.len() < MOST_FINDINGS {
                let message = format!("{hash} is recorded twice for {addr}");
                findings.push(Finding::new(Rule::DuplicateHash, message).about(addr).at(*position));
            }
        }
        let unsorted = entry.each_hash.windows(2).find(|pair| pair[0].0 > pair[1].0);
        if let Some(pair) = unsorted {
            let message = format!("the hashes of {addr} are not sorted; the next run of init rewrites the file");
            findings.push(not_canonical(message).about(addr).at(pair[1].1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockfile::decode;

    fn lock(entries: &[(&str, &str, &str, &[&str])]) -> LockFile {
        let mut lock = LockFile::new();
        for (addr, version, constraints, hashes) in entries {
            let entry = LockEntry {
                version: version.parse().unwrap(),
                constraints: constraints.parse().unwrap(),
                hashes: hashes.iter().map(|hash| hash.parse().unwrap()).collect(),
            };
            lock.insert(ProviderAddr::parse(addr, Dialect::Terraform).unwrap(), entry);
        }
        lock
    }

    #[test]
    fn without_entries_only_the_header_is_written() {
        let text = LockFile::new().encode(Dialect::OpenTofu);
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("# This file is maintained automatically by \"tofu init\".\n"));
        assert!(text.ends_with(".\n"));
    }

    #[test]
    fn attributes_are_aligned_without_hashes() {
        let text = lock(&[
            ("zz.example/a/b", "1.0.0", "", &[]),
            ("registry.terraform.io/acme/foo", "1.10.0", "~> 1.2", &["zh:b", "h1:a", "zh:b"]),
        ])
        .encode(Dialect::Terraform);
        let expected = concat!(
            "# This file is maintained automatically by \"terraform init\".\n",
            "# Manual edits may be lost in future updates.\n",
            "\nprovider \"registry.terraform.io/acme/foo\" {\n",
            "  version     = \"1.10.0\"\n  constraints = \"~> 1.2\"\n",
            "  hashes = [\n    \"h1:a\",\n    \"zh:b\",\n  ]\n}\n",
            "\nprovider \"zz.example/a/b\" {\n  version = \"1.0.0\"\n}\n",
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn entries_are_ordered_by_component_of_the_comparison_form() {
        let order = [
            "example.com/a/c",
            "example.com/a/c-d",
            "example.com/a/cd",
            "example.com/a-b/c",
            "example.com/ab/c",
            "example.com/é/a",
            "xm.example/a/b",
            "éa.example/a/b",
            "xo.example/a/b",
            "zz.example/a/b",
            "zz.example:10/a/b",
        ];
        let entries: Vec<_> = order.iter().rev().map(|addr| (*addr, "1.0.0", "", &[] as &[&str])).collect();
        let text = lock(&entries).encode(Dialect::Terraform);
        let labels: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("provider \"")?.strip_suffix("\" {")).collect();
        assert_eq!(labels, order);
    }

    #[test]
    fn the_header_decides_before_the_hosts() {
        let tofu = b"\n// ours\n# This file is maintained automatically by \"tofu init\".\r\nprovider \"registry.terraform.io/a/b\" {";
        assert_eq!(detect_dialect(tofu), Some(Dialect::OpenTofu));
        assert_eq!(header_dialect(b"x = 1\n# This file is maintained automatically by \"tofu init\".\n"), None);
        assert_eq!(header_dialect(b"# This file is maintained automatically by \"opentf init\".\n"), None);
    }

    #[test]
    fn headers_of_stacks_are_known_and_stay() {
        let first = |program: &str| format!("# This file is maintained automatically by \"{program}\".\n");
        let rest = LockFile::new().encode(Dialect::Terraform).lines().nth(1).unwrap().to_owned()
            + "\n\nprovider \"zz.example/a/b\" {\n  version = \"1.0.0\"\n}\n";
        for program in ["tfstacks providers lock", "terraform stacks providers lock", "terraform stacks providers-lock"]
        {
            let text = first(program) + &rest;
            assert_eq!(detect_dialect(text.as_bytes()), Some(Dialect::Terraform), "{program}");
            let decoded = decode(text.as_bytes(), Dialect::Terraform).unwrap();
            assert!(decoded.canonical && decoded.warnings.is_empty(), "{decoded:?}");
            assert_eq!(decoded.lock.encode(Dialect::Terraform), text);
            assert_eq!(decoded.lock.encode(Dialect::OpenTofu), first("tofu init") + &rest);
            let loose = text.replace(" = ", "=");
            let decoded = decode(loose.as_bytes(), Dialect::Terraform).unwrap();
            assert_eq!((decoded.canonical, decoded.warnings.len()), (false, 1), "{decoded:?}");
            assert_eq!(decoded.lock.encode(Dialect::Terraform), text);
        }
        let unknown = first("terraform stacks lock") + &rest;
        assert_eq!(header_dialect(unknown.as_bytes()), None);
    }

    #[test]
    fn one_host_decides_and_both_do_not() {
        assert_eq!(detect_dialect(b"provider\"registry.opentofu.org/a/b\"{"), Some(Dialect::OpenTofu));
        assert_eq!(detect_dialect(b"provider \"registry.terraform.io/a/b\" {"), Some(Dialect::Terraform));
        assert_eq!(detect_dialect(b"\"registry.terraform.io/a/b\" \"registry.opentofu.org/a/b\""), None);
        assert_eq!(detect_dialect(b"provider \"example.com/a/b\" {"), None);
        assert_eq!(detect_dialect(b""), None);
    }
}

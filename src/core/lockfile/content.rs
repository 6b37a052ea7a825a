//! What the blocks and arguments of a lock file say, and the rules for it.
//!
//! A value is one literal quoted string, and the hashes are a list of such: no tool writes anything else,
//! and of an expression two readers might make two things. All problems are reported, whatever is wrong before them.
//!
//! Source: `internal/depsfile/locks_file.go`, `decodeLocksFromHCL` and below; which findings are reported together
//! is as there, except that one broken value is one finding.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Body};

use super::syntax::{self, SyntaxProblem, SyntaxTree};
use super::{EntrySpans, LockEntry, LockFile, Spans};
use crate::addr::{AddrError, ProviderAddr, ProviderSource};
use crate::dialect::Dialect;
use crate::finding::{Finding, LineIndex, Position, Rule};
use crate::hash::{PackageHash, PackageHashes};
use crate::hcl::literal;
use crate::hcl::scan::{BlockSpan, LabelSpan};
use crate::step::Template;
use crate::version::{Constraints, Version};

const MOST_FINDINGS: usize = 10_000;

const ARGUMENTS: [&str; 3] = ["version", "constraints", "hashes"];

pub(super) struct Content<'s> {
    pub(super) lock: LockFile,
    pub(super) spans: Spans,
    pub(super) findings: Vec<Finding>,
    /// The entries of each provider that has several, in their order, as far as they can be read.
    pub(super) repeated: BTreeMap<ProviderAddr, Vec<LockEntry>>,
    /// Of each of them the finding, and how many entries there are.
    repeats: BTreeMap<ProviderAddr, (usize, usize)>,
    text: &'s str,
    index: &'s LineIndex<'s>,
    dialect: Dialect,
}

/// A body that was parsed, and where in the text it is.
struct Inner<'b> {
    body: &'b Body,
    /// Offset of the text that the spans of the body count from.
    start: usize,
    at: usize,
}

impl<'s> Content<'s> {
    pub(super) fn new(text: &'s str, index: &'s LineIndex<'s>, dialect: Dialect) -> Self {
        let (lock, spans, findings) = (LockFile::new(), Spans::default(), Vec::new());
        Self { lock, spans, findings, repeated: BTreeMap::new(), repeats: BTreeMap::new(), text, index, dialect }
    }

    fn position(&self, at: usize) -> Position {
        self.index.position(at)
    }

    fn find(&mut self, rule: Rule, at: usize, message: impl Into<String>) {
        self.find_at(rule, self.index.position(at), message);
    }

    fn find_at(&mut self, rule: Rule, position: Position, message: impl Into<String>) {
        self.push(Finding::new(rule, message).at(position));
    }

    fn push(&mut self, finding: Finding) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// Takes in what could not be read.
    pub(super) fn unreadable(&mut self, problem: &SyntaxProblem) {
        let (at, finding) = match conflict_marker(self.text, problem.at) {
            Some((at, message)) => (at, Finding::new(Rule::LockSyntax, message).remedied_by(MERGE)),
            None => (problem.at, Finding::new(problem.rule, &problem.message)),
        };
        self.push(finding.at(self.position(at)));
    }

    pub(super) fn read(&mut self, tree: &SyntaxTree<'s>) {
        let mut modules = 0;
        for argument in &tree.outline.arguments {
            self.unexpected_argument(argument.name, argument.at, &[]);
        }
        for block in &tree.outline.blocks {
            match (block.kind, &block.labels[..]) {
                ("provider", [label]) => self.provider(tree, block, label),
                ("module", [_]) => {
                    modules += 1;
                    if modules == 1 {
                        self.find(Rule::LockModules, block.at, "locks for modules are not supported and are left out");
                    }
                    self.module(tree, block);
                }
                ("provider", labels) => self.wrong_labels(block, labels, "the address of the provider"),
                ("module", labels) => self.wrong_labels(block, labels, "the path of the module"),
                (kind, _) => {
                    let message = format!("a lock file has no block `{kind}`{}", meant(kind, &["provider"]));
                    self.find(Rule::LockSchema, block.at, message);
                }
            }
        }
    }

    fn wrong_labels(&mut self, block: &BlockSpan<'s>, labels: &[LabelSpan<'s>], wanted: &str) {
        let brace = block.body.start - 1;
        let (at, what) = labels.get(1).map_or((brace, "lacks its"), |second| (second.at, "has one"));
        self.find(Rule::LockSchema, at, format!("a block `{}` {what} label: {wanted}", block.kind));
    }

    fn unexpected_argument(&mut self, name: &str, at: usize, known: &[&str]) {
        self.find(Rule::LockSchema, at, format!("there is no argument `{name}` here{}", meant(name, known)));
    }

    /// Nothing reads a block for a module; but its content must be unambiguous.
    fn module(&mut self, tree: &SyntaxTree<'s>, block: &BlockSpan<'s>) {
        match tree.body(block.body.clone()) {
            Ok(body) => self.only_literals(&body, block.body.start),
            Err(problem) => self.unreadable(&problem),
        }
    }

    fn only_literals(&mut self, body: &Body, start: usize) {
        for Attribute { key, value, .. } in body.attributes() {
            match value {
                Expression::Array(items) if key.as_str() == "hashes" => {
                    for item in items {
                        self.literal(item, start, "a hash");
                    }
                }
                _ => drop(self.literal(value, start, &format!("the value of `{}`", key.as_str()))),
            }
        }
        for block in body.blocks() {
            self.only_literals(&block.body, start);
        }
    }

    fn provider(&mut self, tree: &SyntaxTree<'s>, block: &BlockSpan<'s>, label: &LabelSpan<'s>) {
        let addr = match syntax::label(label) {
            Ok(text) => address(&text, self.dialect),
            Err(problem) => return self.unreadable(&problem),
        };
        let addr = match addr {
            Ok(addr) => addr,
            Err(message) => {
                let finding = Finding::new(Rule::LockAddress, &message).at(self.position(label.at));
                let is_leftover = message.ends_with(LEFTOVER);
                return self.push(if is_leftover { finding.remedied_by(DELETE) } else { finding });
            }
        };
        let before = self.findings.len();
        let mut spans = EntrySpans { block: self.position(block.at), ..EntrySpans::default() };
        let entry = match tree.body(block.body.clone()) {
            Ok(body) => self.entry(&inner(self.text, block, &body), &mut spans),
            Err(problem) => {
                self.unreadable(&problem);
                None
            }
        };
        for finding in &mut self.findings[before..] {
            finding.address = Some(addr.clone());
        }
        if let Some(first) = self.spans.entries.get(&addr) {
            let line = first.block.line;
            self.repeat(&addr, line, spans.block);
            let known = self.lock.get(&addr).cloned();
            self.repeated.entry(addr.clone()).or_insert_with(|| known.into_iter().collect()).extend(entry.clone());
        } else {
            self.spans.entries.insert(addr.clone(), Box::new(spans));
        }
        // A text with two entries is refused; where it is looked at nevertheless, the last one counts.
        if let Some(entry) = entry {
            self.lock.insert(addr, entry);
        }
    }

    /// One finding for each provider, however many entries it has.
    fn repeat(&mut self, addr: &ProviderAddr, first: usize, at: Position) {
        let next = (self.findings.len(), 1);
        let (finding, count) = self.repeats.entry(addr.clone()).or_insert(next);
        *count += 1;
        let find = |message| Finding::new(Rule::DuplicateProvider, message).about(addr);
        if *count == 2 {
            self.findings.push(find(format!("{addr} has an entry already, on line {first}")).at(at));
        } else if let Some(earlier) = self.findings.get_mut(*finding) {
            let at = earlier.position;
            *earlier = find(format!("{addr} has {count} entries, the first one on line {first}")).at(at);
        }
    }

    /// Reads an entry; none without a version.
    fn entry(&mut self, of: &Inner<'_>, spans: &mut EntrySpans) -> Option<LockEntry> {
        for attribute in of.body.attributes().filter(|attribute| !ARGUMENTS.contains(&attribute.key.as_str())) {
            self.unexpected_argument(attribute.key.as_str(), of.start + start(&attribute.key), &ARGUMENTS);
        }
        for nested in of.body.blocks() {
            let kind = nested.ident.as_str();
            let message = format!("an entry has no block `{kind}`{}", argument_meant(kind, &ARGUMENTS));
            self.find(Rule::LockSchema, of.start + start(&nested.ident), message);
        }
        let version = self.version(of, spans);
        let constraints = self.constraints(of, spans);
        let hashes = self.hashes(of, spans);
        version.map(|version| LockEntry { version, constraints, hashes })
    }

    /// The text of a value that is one literal quoted string, in NFC. Anything else is reported.
    fn literal(&mut self, value: &Expression, from: usize, what: &str) -> Option<String> {
        let span = value.span().unwrap_or_default();
        let (at, end) = (from + span.start, from + span.end);
        let text = literal(&self.text[at..end]).map(Cow::into_owned);
        if text.is_none() {
            let message = format!("{what} is not one quoted string without escapes and template sequences");
            self.find(Rule::LockNotLiteral, at, message);
        }
        text
    }

    fn version(&mut self, of: &Inner<'_>, spans: &mut EntrySpans) -> Option<Version> {
        let Some(value) = of.value("version") else {
            self.find(Rule::LockSchema, of.at, "the entry has no `version`");
            return None;
        };
        let at = of.start + start(value);
        spans.version = Some(self.position(at));
        let text = self.literal(value, of.start, "the version")?;
        match text.parse::<Version>() {
            Ok(version) if version.to_string() == text => return Some(version),
            Ok(version) => {
                let message = format!("version {text:?} must be written {:?}", version.to_string());
                self.find(Rule::LockVersion, at, message);
            }
            Err(error) => self.find(Rule::LockVersion, at, format!("version {text:?} is not a version: {error}")),
        }
        None
    }

    fn constraints(&mut self, of: &Inner<'_>, spans: &mut EntrySpans) -> Constraints {
        let Some(value) = of.value("constraints") else { return Constraints::default() };
        let at = of.start + start(value);
        spans.constraints = Some(self.position(at));
        let Some(text) = self.literal(value, of.start, "the value of `constraints`") else {
            return Constraints::default();
        };
        match text.parse::<Constraints>() {
            Ok(constraints) if constraints.to_string() == text => return constraints,
            Ok(constraints) => {
                let message = format!("constraints {text:?} must be written {:?}", constraints.to_string());
                self.find(Rule::LockConstraints, at, message);
            }
            Err(error) => {
                self.find(Rule::LockConstraints, at, format!("{text:?} is not a version constraint: {error}"));
            }
        }
        Constraints::default()
    }

    fn hashes(&mut self, of: &Inner<'_>, spans: &mut EntrySpans) -> PackageHashes {
        let Some(attribute) = of.attribute("hashes") else { return PackageHashes::new() };
        spans.hashes = Some(self.position(of.start + start(&attribute.key)));
        let at = of.start + start(&attribute.value);
        match &attribute.value {
            Expression::Array(items) if items.is_empty() => {
                let message = "the list `hashes` is empty: an entry without hashes has no such list";
                self.find(Rule::LockHashes, at, message);
            }
            Expression::Array(items) => {
                let list = self.position(at);
                for item in items {
                    if let Some(hash) = self.hash(list, item, of.start) {
                        spans.each_hash.push((hash, self.position(of.start + start(item))));
                    }
                }
            }
            // The tools see it begin behind its quote, and one without text behind both.
            Expression::String(text) => {
                let quotes = if text.is_empty() { 2 } else { 1 };
                self.find(Rule::LockHashes, at + quotes, "hashes are a list in brackets, not one string");
            }
            _ => self.find(Rule::LockNotLiteral, at, "the hashes are not a list of quoted strings"),
        }
        spans.each_hash.iter().map(|(hash, _)| hash.clone()).collect()
    }

    /// Reads one hash. A problem with its text is reported at the list, as the tools do.
    fn hash(&mut self, list: Position, item: &Expression, from: usize) -> Option<PackageHash> {
        match self.literal(item, from, "a hash")?.parse::<PackageHash>() {
            Ok(hash) => Some(hash),
            Err(error) => {
                let message = format!("{error} (on line {})", self.position(from + start(item)).line);
                self.find_at(Rule::LockHashes, list, message);
                None
            }
        }
    }
}

impl<'b> Inner<'b> {
    fn attribute(&self, name: &str) -> Option<&'b Attribute> {
        self.body.get_attribute(name)
    }

    fn value(&self, name: &str) -> Option<&'b Expression> {
        self.attribute(name).map(|attribute| &attribute.value)
    }
}

/// The body of a block. What it lacks is missing at its brace, or on one line at its only argument.
fn inner<'b>(text: &str, block: &BlockSpan<'_>, body: &'b Body) -> Inner<'b> {
    let Range { start: first, .. } = block.body;
    let only = body.attributes().next().map(|attribute| first + start(&attribute.key));
    let on_one_line = only.filter(|at| !text[first..*at].contains('\n'));
    Inner { body, start: first, at: on_one_line.unwrap_or(first - 1) }
}

/// Where a part begins, from the first byte of its body.
fn start(part: &impl Span) -> usize {
    part.span().map_or(0, |span| span.start)
}

/// What to do about conflict markers.
const MERGE: Template = template!("Run `tflock merge --resolve PATH`, which merges both sides.");

/// The conflict marker that git left on the line of an offset, and what to say of it.
fn conflict_marker(text: &str, at: usize) -> Option<(usize, String)> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let marker =
        ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].into_iter().find(|marker| text[start..].starts_with(marker))?;
    Some((start, format!("conflict marker `{marker}` of an unfinished merge")))
}

const LEFTOVER: &str = "a leftover of Terraform 0.12 that has no namespace, and cannot be locked";

/// What to do about one.
const DELETE: Template = template!(
    "Delete the entry. If the state still has the provider, `terraform state replace-provider` gives it its new address."
);

fn address(label: &str, dialect: Dialect) -> Result<ProviderAddr, String> {
    let source = ProviderSource::parse(label, dialect).map_err(|error| match error {
        AddrError::LegacyNamespace(_) => format!("{label} is {LEFTOVER}"),
        error => format!("{label:?} is not a full address host/namespace/type: {error}"),
    })?;
    let addr = match source {
        ProviderSource::Provider(addr) => addr,
        ProviderSource::BuiltIn(text) => return Err(format!("{text} is part of {dialect} and cannot be locked")),
        ProviderSource::Legacy(text) => return Err(format!("{text} is {LEFTOVER}")),
    };
    let canonical = addr.to_string();
    if canonical == label { Ok(addr) } else { Err(format!("the address must be written {canonical:?}, not {label:?}")) }
}

/// The known word that a word is near to, as a question.
fn meant(word: &str, known: &[&str]) -> String {
    let near = known.iter().find(|known| strsim::osa_distance(word, known) <= 2);
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

fn argument_meant(keyword: &str, known: &[&str]) -> String {
    if known.contains(&keyword) { format!("; an argument is written `{keyword} =`") } else { String::new() }
}

//! What the blocks and arguments of a lock file say, and the rules for it.
//!
//! Source: `internal/depsfile/locks_file.go`, `decodeLocksFromHCL` and below; which findings are told beside each other
//! is as there, except that one broken value is one finding.

use std::collections::BTreeSet;

use super::syntax::{Attribute, Block, Body, Expr, Label, Node};
use super::value::{Evaluator, NoValue};
use super::{EntrySpans, LockEntry, LockFile, Spans};
use crate::addr::{ProviderAddr, ProviderSource};
use crate::dialect::Dialect;
use crate::finding::{Finding, LineIndex, Position, Rule};
use crate::hash::{PackageHash, PackageHashes};
use crate::version::{Constraints, Version};

/// More findings than anybody reads.
const MOST_FINDINGS: usize = 10_000;

/// There is no value, and why was told.
struct Told;

/// What was read so far.
pub(super) struct Content<'s> {
    pub(super) lock: LockFile,
    pub(super) spans: Spans,
    pub(super) findings: Vec<Finding>,
    text: &'s str,
    index: &'s LineIndex<'s>,
    dialect: Dialect,
    evaluator: Evaluator<'s>,
    /// Lines with something that could not be read: what is missing there is told already.
    told: BTreeSet<usize>,
}

impl<'s> Content<'s> {
    pub(super) fn new(text: &'s str, index: &'s LineIndex<'s>, dialect: Dialect) -> Self {
        Self {
            lock: LockFile::new(),
            spans: Spans::default(),
            findings: Vec::new(),
            text,
            index,
            dialect,
            evaluator: Evaluator::new(),
            told: BTreeSet::new(),
        }
    }

    fn position(&self, at: usize) -> Position {
        self.index.position(at)
    }

    fn find(&mut self, rule: Rule, at: usize, message: impl Into<String>) {
        self.find_at(rule, self.index.position(at), message);
    }

    fn find_at(&mut self, rule: Rule, position: Position, message: impl Into<String>) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding::new(rule, message).at(position));
        }
    }

    /// Takes in what could not be read.
    pub(super) fn unreadable(&mut self, at: usize, message: impl Into<String>) {
        self.told.insert(self.position(at).line);
        self.find(Rule::LockSyntax, at, message);
    }

    /// Reads the whole file.
    pub(super) fn read(&mut self, body: &Body<'s>) {
        let mut modules = 0;
        self.unexpected_arguments(&body.attributes, &[]);
        for block in &body.blocks {
            match (block.keyword, &block.labels[..]) {
                ("provider", [label]) => self.provider(block, label),
                ("module", [_]) => {
                    modules += 1;
                    if modules == 1 {
                        self.find(Rule::LockModules, block.at, "locks for modules are not supported and are left out");
                    }
                }
                ("provider", labels) => self.wrong_labels(block, labels, "the address of the provider"),
                ("module", labels) => self.wrong_labels(block, labels, "the path of the module"),
                (keyword, _) => {
                    let message = format!("a lock file has no block `{keyword}`{}", meant(keyword, &["provider"]));
                    self.find(Rule::LockSchema, block.at, message);
                }
            }
        }
    }

    fn wrong_labels(&mut self, block: &Block<'s>, labels: &[Label<'s>], wanted: &str) {
        let (at, what) = labels.get(1).map_or((block.open, "lacks its"), |second| (second.at, "has one"));
        self.find(Rule::LockSchema, at, format!("a block `{}` {what} label: {wanted}", block.keyword));
    }

    fn unexpected_arguments(&mut self, attributes: &[Attribute<'s>], known: &[&str]) {
        for attribute in attributes.iter().filter(|attribute| !known.contains(&attribute.name)) {
            let message = format!("there is no argument `{}` here{}", attribute.name, meant(attribute.name, known));
            self.find(Rule::LockSchema, attribute.at, message);
        }
    }

    fn provider(&mut self, block: &Block<'s>, label: &Label<'s>) {
        const ARGUMENTS: [&str; 3] = ["version", "constraints", "hashes"];
        let addr = match address(&label.text, self.dialect) {
            Ok(addr) => addr,
            Err(message) => return self.find(Rule::LockAddress, label.at, message),
        };
        let before = self.findings.len();
        self.unexpected_arguments(&block.body.attributes, &ARGUMENTS);
        for nested in &block.body.blocks {
            let message =
                format!("an entry has no block `{}`{}", nested.keyword, argument_meant(nested.keyword, &ARGUMENTS));
            self.find(Rule::LockSchema, nested.at, message);
        }
        let mut spans = EntrySpans { block: self.position(block.at), ..EntrySpans::default() };
        let version = self.version(&block.body, &mut spans);
        let constraints = self.constraints(&block.body, &mut spans);
        let hashes = self.hashes(&block.body, &mut spans);
        for finding in &mut self.findings[before..] {
            finding.address = Some(addr.clone());
        }
        if let Some(first) = self.spans.entries.get(&addr) {
            let message = format!("{addr} has an entry already, on line {}", first.block.line);
            let finding = Finding::new(Rule::DuplicateProvider, message).about(&addr).at(spans.block);
            self.findings.push(finding);
        } else {
            self.spans.entries.insert(addr.clone(), spans);
        }
        // A text with two entries is refused; where it is looked at nevertheless, the last one counts.
        if let Some(version) = version {
            self.lock.insert(addr, LockEntry { version, constraints, hashes });
        }
    }

    /// The value of an argument as a string, or null.
    fn text(&mut self, rule: Rule, node: &Node<'s>) -> Result<Option<String>, Told> {
        match self.evaluator.text(node) {
            Ok(text) => Ok(text),
            Err(NoValue { at, message }) => {
                let told = message.is_none() && self.told.contains(&self.position(at).line);
                if !told {
                    self.find(rule, at, message.unwrap_or_else(|| "this is no value".to_owned()));
                }
                Err(Told)
            }
        }
    }

    fn version(&mut self, body: &Body<'s>, spans: &mut EntrySpans) -> Option<Version> {
        let Some(Attribute { value, .. }) = argument(body, "version") else {
            self.find(Rule::LockSchema, body.at, "the entry has no `version`");
            return None;
        };
        spans.version = Some(self.position(value.at));
        let Some(text) = self.text(Rule::LockVersion, value).ok()? else {
            self.find(Rule::LockSchema, value.at, "the entry has no `version`: it is null");
            return None;
        };
        match text.parse::<Version>() {
            Ok(version) if version.to_string() == text => return Some(version),
            Ok(version) => {
                self.find(
                    Rule::LockVersion,
                    value.at,
                    format!("version {text:?} must be written {:?}", version.to_string()),
                );
            }
            Err(error) => self.find(Rule::LockVersion, value.at, format!("version {text:?} is not a version: {error}")),
        }
        None
    }

    fn constraints(&mut self, body: &Body<'s>, spans: &mut EntrySpans) -> Constraints {
        let Some(Attribute { value, .. }) = argument(body, "constraints") else {
            return Constraints::default();
        };
        spans.constraints = Some(self.position(value.at));
        match self.text(Rule::LockConstraints, value) {
            Ok(Some(text)) => match text.parse::<Constraints>() {
                Ok(constraints) if constraints.to_string() == text => return constraints,
                Ok(constraints) => {
                    let message = format!("constraints {text:?} must be written {:?}", constraints.to_string());
                    self.find(Rule::LockConstraints, value.at, message);
                }
                Err(error) => {
                    self.find(Rule::LockConstraints, value.at, format!("constraints {text:?} are none: {error}"));
                }
            },
            Ok(None) => self.find(Rule::LockConstraints, value.at, "constraints are a string, not null"),
            Err(Told) => {}
        }
        Constraints::default()
    }

    fn hashes(&mut self, body: &Body<'s>, spans: &mut EntrySpans) -> PackageHashes {
        let Some(Attribute { value, at, .. }) = argument(body, "hashes") else {
            return PackageHashes::new();
        };
        spans.hashes = Some(self.position(*at));
        match &value.expr {
            Expr::Broken => {}
            Expr::Tuple(items) if items.is_empty() => {
                let message = "the list of hashes is empty; an entry without hashes has no `hashes`";
                self.find(Rule::LockHashes, value.at, message);
            }
            Expr::Tuple(items) => {
                let list = self.position(value.at);
                for item in items {
                    if let Some(hash) = self.hash(list, item) {
                        spans.each_hash.push((hash, self.position(item.at)));
                    }
                }
            }
            _ => self.find(Rule::LockHashes, self.first_part(value), "hashes are a list in brackets, written out"),
        }
        spans.each_hash.iter().map(|(hash, _)| hash.clone()).collect()
    }

    /// Reads one hash. What is wrong with its text is told at the list, as the tools do.
    fn hash(&mut self, list: Position, item: &Node<'s>) -> Option<PackageHash> {
        let Some(text) = self.text(Rule::LockHashes, item).ok()? else {
            self.find(Rule::LockHashes, item.at, "a hash is a string, not null");
            return None;
        };
        match text.parse::<PackageHash>() {
            Ok(hash) => Some(hash),
            Err(error) => {
                let message = format!("{error} (on line {})", self.position(item.at).line);
                self.find_at(Rule::LockHashes, list, message);
                None
            }
        }
    }

    /// Where the tools see the beginning of an expression: inside of parentheses and quotes.
    fn first_part(&self, node: &Node<'s>) -> usize {
        let written = &self.text[node.at..];
        match &node.expr {
            Expr::Parentheses(inner) => self.first_part(inner),
            Expr::Text(text) if text.is_empty() && written.starts_with('"') => node.at + 2,
            Expr::Text(_) | Expr::Template(_) if written.starts_with('"') => node.at + 1,
            Expr::Text(_) | Expr::Template(_) => node.at + written.find('\n').map_or(0, |end| end + 1),
            _ => node.at,
        }
    }
}

fn argument<'b, 's>(body: &'b Body<'s>, name: &str) -> Option<&'b Attribute<'s>> {
    body.attributes.iter().find(|attribute| attribute.name == name)
}

/// The provider that a label names, by the rules for labels in their order.
fn address(label: &str, dialect: Dialect) -> Result<ProviderAddr, String> {
    let source = ProviderSource::parse(label, dialect)
        .map_err(|error| format!("{label:?} is not a full address host/namespace/type: {error}"))?;
    let addr = match source {
        ProviderSource::Provider(addr) => addr,
        ProviderSource::BuiltIn(text) => return Err(format!("{text} is part of {dialect} and cannot be locked")),
        ProviderSource::Legacy(text) => return Err(format!("{text} stands for no one provider and cannot be locked")),
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

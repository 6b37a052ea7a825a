//! Documents in HCL that users write and `tflock` reads: blocks and literal values, read one by one; what is wrong is
//! kept and the reading goes on.
//!
//! Knows nothing of what a document is about.
//!
//! What a misspelt word was meant to be.

mod writer;

use std::fmt::Display;
use std::path::Path;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::parser::parse_body;
use hcl_edit::structure::{Attribute, Block, Body};

pub use writer::{Anchor, Comments, Remark, Value, Writer};

use crate::error::{Error, ErrorKind};
use crate::finding::{LineIndex, Position};
use crate::hcl::scan::outline_for_parser;
use crate::step::Step;
use crate::words::counted;

/// How many problems of a document are listed; the rest is counted.
const MOST_PROBLEMS: usize = 100;

pub struct Reader<'a> {
    lines: LineIndex<'a>,
    errors: Vec<(Position, Problem)>,
    /// How many more problems there are.
    left_out: usize,
}

/// What is wrong with a part of a document, and perhaps what to write.
#[derive(Debug)]
pub struct Problem {
    pub message: String,
    hint: Option<Step>,
}

impl Problem {
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Step>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl<D: Display> From<D> for Problem {
    fn from(message: D) -> Self {
        Self { message: message.to_string(), hint: None }
    }
}

/// What may appear in a body.
pub struct Schema {
    pub name: &'static str,
    pub attributes: &'static [&'static str],
    pub blocks: &'static [&'static str],
}

pub struct Literal<'e> {
    pub text: &'e str,
    /// Where it begins in the document, in bytes.
    pub offset: usize,
}

/// Reads a document by a function that goes on behind what is wrong. Errors name it as `file`, in the order of the text.
pub fn read<T>(
    text: &str,
    file_name: &'static str,
    (kind, file): (ErrorKind, &Path),
    read: impl FnOnce(&mut Reader<'_>, &Body) -> T,
) -> Result<T, Vec<Error>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { lines: LineIndex::new(text), errors: Vec::new(), left_out: 0 };
    let parsed = match outline_for_parser(text) {
        Ok(_) => parse_body(text).map_err(|error| (error.location().offset(), error.message().to_owned())),
        Err(error) => Err((error.at, error.kind.to_string())),
    };
    let read = match parsed {
        Ok(body) => Some(read(&mut reader, &body)),
        Err((at, reason)) => {
            reader.report(at, format!("{file_name} is not valid HCL: {reason}"));
            None
        }
    };
    reader.errors.sort_by_key(|(position, _)| *position);
    match read {
        Some(read) if reader.errors.is_empty() => Ok(read),
        _ => {
            let error = |(position, Problem { message, hint })| {
                Error::new(kind, message).in_file(file).at(position).hints(hint)
            };
            let left_out = (reader.left_out > 0).then(|| {
                let message = format!("not listed: {} of this file", counted(reader.left_out, "more problem"));
                Error::new(kind, message).in_file(file)
            });
            Err(reader.errors.into_iter().map(error).chain(left_out).collect())
        }
    }
}

impl Reader<'_> {
    pub fn position(&self, offset: usize) -> Position {
        self.lines.position(offset)
    }

    pub fn report(&mut self, offset: usize, problem: impl Into<Problem>) {
        if self.errors.len() < MOST_PROBLEMS {
            self.errors.push((self.lines.position(offset), problem.into()));
        } else {
            self.left_out += 1;
        }
    }

    /// Keeps the error of a literal and goes on without its value.
    pub fn keep<T>(&mut self, literal: &Literal<'_>, value: Result<T, impl Into<Problem>>) -> Option<T> {
        value.map_err(|problem| self.report(literal.offset, problem)).ok()
    }

    /// Reports all names that may not appear in a body.
    pub fn check_names(&mut self, body: &Body, place: &Schema) {
        for attribute in body.attributes() {
            let (name, offset) = (attribute.key.as_str(), start(&attribute.key));
            if place.blocks.contains(&name) {
                let problem = Problem::from(format!("{name:?} is a block and takes no equals sign"));
                self.report(offset, problem.hint(format!("write {name} {{ … }}")));
            } else if !place.attributes.contains(&name) {
                self.report_unknown(offset, ("setting", name), place);
            }
        }
        for block in body.blocks() {
            let (name, offset) = (block.ident.as_str(), start(&block.ident));
            if place.attributes.contains(&name) {
                let problem = Problem::from(format!("{name:?} is an attribute and takes an equals sign"));
                self.report(offset, problem.hint(format!("write {name} = …")));
            } else if !place.blocks.contains(&name) {
                self.report_unknown(offset, ("block", name), place);
            }
        }
    }

    fn report_unknown(&mut self, offset: usize, (what, name): (&str, &str), place: &Schema) {
        let known = || place.attributes.iter().chain(place.blocks).copied();
        let suggestion = self.nearest(name, known());
        let meant = did_you_mean(suggestion);
        let problem = Problem::from(format!("unknown {what} {name:?}{}{meant}", place.name));
        let expected = || format!("write one of: {}", known().collect::<Vec<_>>().join(", "));
        self.report(offset, if suggestion.is_none() { problem.hint(expected()) } else { problem });
    }

    /// The word that was perhaps meant; none once so many problems are known that this one is not listed.
    pub fn nearest(&self, text: &str, words: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
        if self.errors.len() < MOST_PROBLEMS { nearest(text, words) } else { None }
    }

    fn report_type(&mut self, value: &Expression, name: &str, wanted: &str) {
        self.report(start(value), format!("{name} must be {wanted}"));
    }

    /// Reports the second of a block that can appear once.
    pub fn report_twice(&mut self, block: &Block) {
        let labels: Vec<_> = block.labels.iter().map(|label| format!(" {:?}", label.as_str())).collect();
        self.report(start(&block.ident), format!("{}{} appears twice", block.ident.as_str(), labels.concat()));
    }

    pub fn text<'e>(&mut self, body: &'e Body, name: &'static str) -> Option<Literal<'e>> {
        let value = &body.get_attribute(name)?.value;
        self.literal(value, name, "a literal string")
    }

    /// The word of an attribute, by a table of those that there are.
    pub fn word<T: Copy>(&mut self, body: &Body, name: &'static str, table: &[(&'static str, T)]) -> Option<T> {
        let literal = self.text(body, name)?;
        let found = table.iter().find(|(word, _)| *word == literal.text).map(|(_, value)| *value);
        if found.is_none() {
            let words: Vec<_> = table.iter().map(|(word, _)| *word).collect();
            let meant = did_you_mean(self.nearest(literal.text, words.iter().copied()));
            let problem = Problem::from(format!("{name} cannot be {:?}{meant}", literal.text));
            self.report(literal.offset, problem.hint(format!("write one of: {}", words.join(", "))));
        }
        found
    }

    /// The texts of an attribute, if it is there and a list of literal ones.
    pub fn texts<'e>(&mut self, body: &'e Body, name: &'static str) -> Option<Vec<Literal<'e>>> {
        let value = &body.get_attribute(name)?.value;
        self.list(value, name)
    }

    pub fn list<'e>(&mut self, value: &'e Expression, name: &'static str) -> Option<Vec<Literal<'e>>> {
        let wanted = "a list of literal strings";
        let Expression::Array(array) = value else {
            self.report_type(value, name, wanted);
            return None;
        };
        Some(array.iter().filter_map(|element| self.literal(element, name, wanted)).collect())
    }

    pub fn map<'e>(
        &mut self,
        body: &'e Body,
        name: &'static str,
        wanted: &'static str,
    ) -> Vec<(Literal<'e>, &'e Expression)> {
        let Some(Attribute { value, .. }) = body.get_attribute(name) else { return Vec::new() };
        let Expression::Object(object) = value else {
            self.report_type(value, name, wanted);
            return Vec::new();
        };
        let pairs = object.iter().filter_map(|(key, value)| match key {
            ObjectKey::Ident(ident) => Some((Literal { text: ident.as_str(), offset: start(ident) }, value.expr())),
            ObjectKey::Expression(key) => Some((self.literal(key, name, wanted)?, value.expr())),
        });
        pairs.collect()
    }

    /// Reads an attribute without which the block means nothing.
    pub fn needed<T>(
        &mut self,
        block: &Block,
        kind: &'static str,
        name: &'static str,
        read: impl FnOnce(&mut Self, &Body) -> Option<T>,
    ) -> Option<T> {
        if !block.body.has_attribute(name) {
            self.report(start(&block.ident), format!("a {kind} block needs {name}"));
        }
        read(self, &block.body)
    }

    pub fn label<'e>(&mut self, block: &'e Block, kind: &'static str, wanted: &'static str) -> Option<Literal<'e>> {
        if let [label] = &block.labels[..] {
            return Some(Literal { text: label.as_str(), offset: start(label) });
        }
        let offset = block.labels.get(1).map_or(start(&block.ident), start);
        self.report(offset, format!("a {kind} block has {wanted}"));
        None
    }

    /// The text of a plain quoted string; anything else is a finding.
    pub fn literal<'e>(
        &mut self,
        value: &'e Expression,
        name: &'static str,
        wanted: &'static str,
    ) -> Option<Literal<'e>> {
        let text = value.as_str().map(|text| Literal { text, offset: start(value) });
        if text.is_none() {
            self.report_type(value, name, wanted);
        }
        text
    }
}

/// The end of a message about a word that is not known.
pub fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|word| format!("; did you mean {word:?}?")).unwrap_or_default()
}

pub fn start(part: &impl Span) -> usize {
    part.span().map_or(0, |span| span.start)
}

/// Where the bracket or brace is that closes a part.
pub fn last_byte(part: &impl Span) -> usize {
    part.span().map_or(0, |span| span.end.saturating_sub(1))
}

/// To compare a text with a word takes time and memory in proportion to both.
const LONGEST_WORD: usize = 64;

/// The word nearest to a text, if it is near enough for a suggestion.
pub fn nearest(text: &str, words: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    if text.len() > LONGEST_WORD {
        return None;
    }
    let text = text.to_lowercase();
    let distance = |word: &&str| strsim::damerau_levenshtein(&text, word);
    let near = |word: &&str| {
        distance(word) <= word.len() / 3 || strsim::jaro_winkler(&text, word) >= 0.85 || has_word(&text, word)
    };
    words.into_iter().filter(near).min_by_key(distance)
}

/// True if one is a word of the other: `platform` and `optional_platform`, `tofu` and `opentofu`.
fn has_word(text: &str, word: &str) -> bool {
    let (short, long) = if text.len() < word.len() { (text, word) } else { (word, text) };
    short.len() >= 4 && long.ends_with(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_only() {
        let names = ["platforms", "optional_platforms", "tool", "source", "policy", "host"];
        assert_eq!(nearest("plattforms", names), Some("platforms"));
        assert_eq!(nearest("platform", names), Some("platforms"));
        assert_eq!(nearest("optional_platform", names), Some("optional_platforms"));
        assert_eq!(nearest("Tool", names), Some("tool"));
        assert_eq!(nearest("hosts", names), Some("host"));
        assert_eq!(nearest("polcy", names), Some("policy"));
        assert_eq!(nearest("banana", names), None);
        assert_eq!(nearest("opentofu", ["auto", "terraform", "tofu"]), Some("tofu"));
        assert_eq!(nearest("", names), None);
    }
}

//! Documents in HCL that people write and `tflock` reads: blocks and literal values, read one by one; what is wrong is
//! kept and the reading goes on.
//!
//! Knows nothing of what a document is about. Each kind of document brings a type `P` for what can be wrong with it,
//! of which [`Shape`] is a part.

mod comments;
mod shape;
mod suggest;
mod writer;

use hcl::edit::Span;
use hcl::edit::expr::{Expression, ObjectKey};
use hcl::edit::parser::parse_body;
use hcl::edit::structure::{Attribute, Block, Body};

pub use comments::{Anchor, Comments, Remark};
pub use shape::Shape;
pub use shape::did_you_mean;
pub use suggest::nearest;
pub use writer::{Value, Writer};

use crate::finding::{LineIndex, Position};

pub struct Reader<'a, P> {
    lines: LineIndex<'a>,
    errors: Vec<(Position, P)>,
}

/// What may stand in a body.
pub struct Place {
    pub name: &'static str,
    pub attributes: &'static [&'static str],
    pub blocks: &'static [&'static str],
}

pub struct Literal<'e> {
    pub text: &'e str,
    /// Where it begins in the document, in bytes.
    pub offset: usize,
}

/// Reads a document by a function that goes on behind what is wrong.
pub fn read<T, P: From<Shape>>(
    text: &str,
    file_name: &'static str,
    read: impl FnOnce(&mut Reader<'_, P>, &Body) -> T,
) -> Result<T, Vec<(Position, P)>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { lines: LineIndex::new(text), errors: Vec::new() };
    let read = match parse_body(text) {
        Ok(body) => Some(read(&mut reader, &body)),
        Err(error) => {
            let message = error.message().to_owned();
            reader.report(error.location().offset(), Shape::Syntax { file_name, message });
            None
        }
    };
    reader.errors.sort_by_key(|(position, _)| *position);
    match read {
        Some(read) if reader.errors.is_empty() => Ok(read),
        _ => Err(reader.errors),
    }
}

impl<P: From<Shape>> Reader<'_, P> {
    pub fn position(&self, offset: usize) -> Position {
        self.lines.position(offset)
    }

    pub fn report(&mut self, offset: usize, problem: impl Into<P>) {
        let position = self.lines.position(offset);
        self.errors.push((position, problem.into()));
    }

    /// Keeps the error of a literal and goes on without its value.
    pub fn keep<T>(&mut self, literal: &Literal<'_>, value: Result<T, impl Into<P>>) -> Option<T> {
        value.map_err(|problem| self.report(literal.offset, problem)).ok()
    }

    /// Reports all names that may not stand in a body.
    pub fn check_names(&mut self, body: &Body, place: &Place) {
        for attribute in body.attributes() {
            let (name, offset) = (attribute.key.as_str(), start(&attribute.key));
            if let Some(block) = place.blocks.iter().find(|block| **block == name) {
                self.report(offset, Shape::IsABlock(block));
            } else if !place.attributes.contains(&name) {
                let suggestion = nearest(name, place.names());
                self.report(offset, Shape::UnknownAttribute { name: name.to_owned(), place: place.name, suggestion });
            }
        }
        for block in body.blocks() {
            let (name, offset) = (block.ident.as_str(), start(&block.ident));
            if let Some(attribute) = place.attributes.iter().find(|attribute| **attribute == name) {
                self.report(offset, Shape::IsAnAttribute(attribute));
            } else if !place.blocks.contains(&name) {
                let suggestion = nearest(name, place.names());
                self.report(offset, Shape::UnknownBlock { name: name.to_owned(), place: place.name, suggestion });
            }
        }
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
            let suggestion = nearest(literal.text, words.iter().copied());
            self.report(literal.offset, Shape::Word { name, value: literal.text.to_owned(), suggestion, words });
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
            self.report(start(value), Shape::Type { name, wanted });
            return None;
        };
        Some(array.iter().filter_map(|element| self.literal(element, name, wanted)).collect())
    }

    pub fn map<'e>(&mut self, body: &'e Body, name: &'static str) -> Vec<(Literal<'e>, &'e Expression)> {
        let Some(Attribute { value, .. }) = body.get_attribute(name) else { return Vec::new() };
        let wanted = "a map from source addresses to lists of platforms";
        let Expression::Object(object) = value else {
            self.report(start(value), Shape::Type { name, wanted });
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
            self.report(start(&block.ident), Shape::Missing { block: kind, name });
        }
        read(self, &block.body)
    }

    pub fn label<'e>(&mut self, block: &'e Block, kind: &'static str, wanted: &'static str) -> Option<Literal<'e>> {
        if let [label] = &block.labels[..] {
            return Some(Literal { text: label.as_str(), offset: start(label) });
        }
        let offset = block.labels.get(1).map_or(start(&block.ident), start);
        self.report(offset, Shape::Labels { block: kind, wanted });
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
            self.report(start(value), Shape::Type { name, wanted });
        }
        text
    }
}

impl Place {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.attributes.iter().chain(self.blocks).copied()
    }
}

pub fn start(part: &impl Span) -> usize {
    part.span().map_or(0, |span| span.start)
}

/// Where the bracket or brace stands that closes a part.
pub fn last_byte(part: &impl Span) -> usize {
    part.span().map_or(0, |span| span.end.saturating_sub(1))
}

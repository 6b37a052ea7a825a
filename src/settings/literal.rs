//! Literal values of a settings file, read one by one; what is wrong is kept and the reading goes on.

use std::path::Path;

use hcl::edit::Span;
use hcl::edit::expr::{Expression, ObjectKey};
use hcl::edit::structure::{Attribute, Body};

use super::suggest::nearest;
use super::{Problem, SettingsError};
use crate::finding::LineIndex;

/// Reads one file: its places, and what was wrong so far.
pub(super) struct Reader<'a> {
    pub(super) file: &'a Path,
    pub(super) lines: LineIndex<'a>,
    pub(super) errors: Vec<SettingsError>,
}

/// What may stand in a body.
pub(super) struct Place {
    /// Where that is, in words.
    pub(super) name: &'static str,
    pub(super) attributes: &'static [&'static str],
    pub(super) blocks: &'static [&'static str],
}

/// A literal text and its place, for what is wrong with it.
pub(super) struct Literal<'e> {
    pub(super) text: &'e str,
    pub(super) offset: usize,
}

impl Reader<'_> {
    /// Keeps what is wrong at a byte of the text.
    pub(super) fn report(&mut self, offset: usize, problem: impl Into<Problem>) {
        let position = self.lines.position(offset);
        self.errors.push(SettingsError { file: self.file.to_owned(), position, problem: problem.into() });
    }

    /// Keeps the error of a literal and goes on without its value.
    pub(super) fn keep<T>(&mut self, literal: &Literal<'_>, value: Result<T, impl Into<Problem>>) -> Option<T> {
        value.map_err(|problem| self.report(literal.offset, problem)).ok()
    }

    /// Reports all names that may not stand in a body.
    pub(super) fn check_names(&mut self, body: &Body, place: &Place) {
        for attribute in body.attributes() {
            let (name, offset) = (attribute.key.as_str(), start(&attribute.key));
            if let Some(block) = place.blocks.iter().find(|block| **block == name) {
                self.report(offset, Problem::IsABlock(block));
            } else if !place.attributes.contains(&name) {
                let suggestion = nearest(name, place.names());
                self.report(offset, Problem::UnknownAttribute { name: name.to_owned(), place: place.name, suggestion });
            }
        }
        for block in body.blocks() {
            let (name, offset) = (block.ident.as_str(), start(&block.ident));
            if let Some(attribute) = place.attributes.iter().find(|attribute| **attribute == name) {
                self.report(offset, Problem::IsAnAttribute(attribute));
            } else if !place.blocks.contains(&name) {
                let suggestion = nearest(name, place.names());
                self.report(offset, Problem::UnknownBlock { name: name.to_owned(), place: place.name, suggestion });
            }
        }
    }

    /// The text of an attribute, if it is there and a literal one.
    pub(super) fn text<'e>(&mut self, body: &'e Body, name: &'static str) -> Option<Literal<'e>> {
        let value = &body.get_attribute(name)?.value;
        self.literal(value, name, "a literal string")
    }

    /// The word of an attribute, by a table of those that there are.
    pub(super) fn word<T: Copy>(&mut self, body: &Body, name: &'static str, table: &[(&'static str, T)]) -> Option<T> {
        let literal = self.text(body, name)?;
        let found = table.iter().find(|(word, _)| *word == literal.text).map(|(_, value)| *value);
        if found.is_none() {
            let words: Vec<_> = table.iter().map(|(word, _)| *word).collect();
            let suggestion = nearest(literal.text, words.iter().copied());
            self.report(literal.offset, Problem::Word { name, value: literal.text.to_owned(), suggestion, words });
        }
        found
    }

    /// The texts of an attribute, if it is there and a list of literal ones.
    pub(super) fn texts<'e>(&mut self, body: &'e Body, name: &'static str) -> Option<Vec<Literal<'e>>> {
        let value = &body.get_attribute(name)?.value;
        self.list(value, name)
    }

    /// A list of literal texts.
    pub(super) fn list<'e>(&mut self, value: &'e Expression, name: &'static str) -> Option<Vec<Literal<'e>>> {
        let wanted = "a list of literal strings";
        let Expression::Array(array) = value else {
            self.report(start(value), Problem::Type { name, wanted });
            return None;
        };
        Some(array.iter().filter_map(|element| self.literal(element, name, wanted)).collect())
    }

    /// The keys and values of an attribute that is an object.
    pub(super) fn map<'e>(&mut self, body: &'e Body, name: &'static str) -> Vec<(Literal<'e>, &'e Expression)> {
        let Some(Attribute { value, .. }) = body.get_attribute(name) else { return Vec::new() };
        let wanted = "a map from source addresses to lists of platforms";
        let Expression::Object(object) = value else {
            self.report(start(value), Problem::Type { name, wanted });
            return Vec::new();
        };
        let pairs = object.iter().filter_map(|(key, value)| match key {
            ObjectKey::Ident(ident) => Some((Literal { text: ident.as_str(), offset: start(ident) }, value.expr())),
            ObjectKey::Expression(key) => Some((self.literal(key, name, wanted)?, value.expr())),
        });
        pairs.collect()
    }

    fn literal<'e>(&mut self, value: &'e Expression, name: &'static str, wanted: &'static str) -> Option<Literal<'e>> {
        let text = value.as_str().map(|text| Literal { text, offset: start(value) });
        if text.is_none() {
            self.report(start(value), Problem::Type { name, wanted });
        }
        text
    }
}

impl Place {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.attributes.iter().chain(self.blocks).copied()
    }
}

/// Where a part of the document begins.
pub(super) fn start(part: &impl Span) -> usize {
    part.span().map_or(0, |span| span.start)
}

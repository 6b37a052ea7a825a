//! Expressions that are read when their value is needed: most of a configuration is never evaluated.

use super::module::Location;
use super::value::Node;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    pub place: Location,
    pub(super) source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Native(String),
    /// A value of JSON whose strings are plain text.
    Plain(Node),
    /// A value of JSON whose strings are templates.
    Templates(Node),
}

impl Expression {
    pub(super) fn read(&self) -> Node {
        match &self.source {
            Source::Native(text) => Node::native(text, 0..text.len()).unwrap_or_else(|_| Node::unreadable()),
            Source::Plain(node) => node.clone(),
            Source::Templates(node) => node.clone().with_templates(),
        }
    }

    /// Its text in a language for types, which is the content of a string in JSON.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.source {
            Source::Native(text) => Some(text),
            Source::Plain(node) | Source::Templates(node) => node.text(),
        }
    }
}

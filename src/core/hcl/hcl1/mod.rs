//! HCL 1, the language of the CLI configuration (`.terraformrc`, `.tofurc`, `*.tfrc`).
//!
//! Not HCL 2: keys may be quoted, several assignments may share a line, there are no expressions, and `${…}` in a string
//! is plain text. A text whose first visible character is `{` is the JSON form. This reader knows nothing of what the
//! blocks mean.
//!
//! Source: `github.com/hashicorp/hcl` v1, `hcl/scanner`, `hcl/parser`; refusals compared with Terraform 1.11.4.
//!
//! The JSON form.

mod parser;

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::finding::Position;

/// A list of items: a whole document, or what is between braces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object {
    /// In the order of the text; keys may repeat.
    pub items: Vec<Item>,
}

/// `key = value` or `key "label" { … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// One key, or a block's type with its labels; never empty.
    pub keys: Vec<String>,
    /// True if `=` is before the value; never in JSON, which does not distinguish blocks from assignments.
    pub assigned: bool,
    pub value: Hcl1Value,
    /// Where the first key is; in JSON the start of the document.
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hcl1Value {
    /// A quoted string or a heredoc, without quotes and escapes.
    String(String),
    Number(String),
    /// `true` or `false`.
    Bool(bool),
    /// `[ … ]`.
    List(Vec<Hcl1Value>),
    /// `{ … }`.
    Object(Object),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Hcl1Error {
    pub position: Position,
    pub message: Cow<'static, str>,
}

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 64;

pub fn parse(text: &str) -> Result<Object, Hcl1Error> {
    if text.trim_start().starts_with('{') { parse_json(text) } else { parser::parse(text) }
}

impl Hcl1Value {
    /// The text of a string or a number; the tools read both where they want a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Hcl1Value::String(text) | Hcl1Value::Number(text) => Some(text),
            Hcl1Value::Bool(_) | Hcl1Value::List(_) | Hcl1Value::Object(_) => None,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Hcl1Value::String(_) => "a string",
            Hcl1Value::Number(_) => "a number",
            Hcl1Value::Bool(_) => "a truth value",
            Hcl1Value::List(_) => "a list",
            Hcl1Value::Object(_) => "an object",
        }
    }

    /// The object, or the objects of a list of objects, as JSON writes repeated blocks. Empty for anything else.
    pub fn objects(&self) -> Vec<&Object> {
        match self {
            Hcl1Value::Object(object) => vec![object],
            Hcl1Value::List(list) => list.iter().flat_map(Hcl1Value::objects).collect(),
            Hcl1Value::String(_) | Hcl1Value::Number(_) | Hcl1Value::Bool(_) => Vec::new(),
        }
    }
}

impl Object {
    /// The items whose first key is a name, whatever its case, as the tools look fields up.
    pub fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Item> {
        self.items.iter().filter(move |item| item.keys[0].eq_ignore_ascii_case(name))
    }
}

/// The line and column of a byte of a text; columns count grapheme clusters.
fn position(text: &str, offset: usize) -> Position {
    use unicode_segmentation::UnicodeSegmentation;

    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Position { line: before.matches('\n').count() + 1, column: before[start..].graphemes(true).count() + 1 }
}

/// Reads the JSON form: one object. `null` means an absent item.
fn parse_json(text: &str) -> Result<Object, Hcl1Error> {
    match serde_json::from_str(text) {
        Ok(Json::Object(map)) => Ok(object(map)),
        Ok(_) => Err(error(1, 1, "a document must be an object")),
        Err(fault) => {
            let full = fault.to_string();
            // The place is separate from the message.
            let message = full.split(" at line ").next().unwrap_or_default();
            Err(error(fault.line(), fault.column(), message))
        }
    }
}

fn error(line: usize, column: usize, problem: &str) -> Hcl1Error {
    let position = Position { line: line.max(1), column: column.max(1) };
    Hcl1Error { position, message: format!("invalid JSON: {problem}").into() }
}

fn object(map: serde_json::Map<String, Json>) -> Object {
    let item = |(key, json)| {
        Some(Item { keys: vec![key], assigned: false, value: value(json)?, position: Position::default() })
    };
    Object { items: map.into_iter().filter_map(item).collect() }
}

fn value(json: Json) -> Option<Hcl1Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(value) => Hcl1Value::Bool(value),
        Json::Number(number) => Hcl1Value::Number(number.to_string()),
        Json::String(text) => Hcl1Value::String(text),
        Json::Array(list) => Hcl1Value::List(list.into_iter().filter_map(value).collect()),
        Json::Object(map) => Hcl1Value::Object(object(map)),
    })
}

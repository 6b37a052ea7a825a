//! The JSON form of configuration: a reader that keeps places and duplicate keys, and the mapping of blocks.
//!
//! A general JSON library reports neither the place of a value nor a duplicate key, and both matter here.
//!
//! Source: `github.com/hashicorp/hcl/v2/json`.
//!
//! Bodies in JSON: which keys are arguments and which are blocks is known only to the reader's schema.

use std::borrow::Cow;

use super::body::{Argument, Block, Body, BodyContents, BodySchema, Label, RawValue};
use super::error::ConfigErrorKind;
use crate::evaluate::syntax::{Node, NodeKind};

/// A JSON value and where it begins and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonNode<'a> {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) value: JsonValue<'a>,
}

/// A JSON value. Objects keep the order of their keys, and all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonValue<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<JsonNode<'a>>),
    Object(Vec<Member<'a>>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) at: usize,
    pub(crate) value: JsonNode<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    #[error("a JSON value is required here")]
    Value,
    #[error("a key in double quotes is required here")]
    Key,
    #[error("a colon is required after a key")]
    Colon,
    #[error("a comma or {0:?} is required here")]
    Separator(char),
    /// A string that does not end on its line, or with an unknown escape.
    #[error("this is not a valid JSON string")]
    Text,
    #[error("nothing can follow the value of a JSON file")]
    Trailing,
    #[error("values are nested more than {DEPTH} levels deep")]
    TooDeep,
    #[error("a JSON object or an array of objects is required here")]
    Body,
    #[error("a JSON object is required here, whose keys are the labels of {0:?} blocks")]
    Label(String),
}

/// The deepest nesting that is read.
pub(super) const DEPTH: usize = 200;

/// Reads a text with one value.
pub(super) fn parse(text: &str) -> Result<JsonNode<'_>, (usize, JsonError)> {
    let mut reader = JsonReader { text, bytes: text.as_bytes(), at: 0 };
    let node = reader.value(0)?;
    reader.skip_blank();
    if reader.at < reader.bytes.len() { Err((reader.at, JsonError::Trailing)) } else { Ok(node) }
}

struct JsonReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> JsonReader<'a> {
    fn value(&mut self, depth: usize) -> Result<JsonNode<'a>, (usize, JsonError)> {
        self.skip_blank();
        let at = self.at;
        if depth > DEPTH {
            return Err((at, JsonError::TooDeep));
        }
        let value = match self.bytes.get(at) {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => JsonValue::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => match self.word() {
                word if serde_json::from_str::<serde_json::Number>(word).is_ok() => JsonValue::Number(word),
                _ => return Err((at, JsonError::Value)),
            },
            Some(b'a'..=b'z') => match self.word() {
                "null" => JsonValue::Null,
                "true" => JsonValue::Bool(true),
                "false" => JsonValue::Bool(false),
                _ => return Err((at, JsonError::Value)),
            },
            _ => return Err((at, JsonError::Value)),
        };
        Ok(JsonNode { at, end: self.at, value })
    }

    fn object(&mut self, depth: usize) -> Result<JsonValue<'a>, (usize, JsonError)> {
        let mut members = Vec::new();
        self.at += 1;
        self.skip_blank();
        if self.take(b'}') {
            return Ok(JsonValue::Object(members));
        }
        loop {
            self.skip_blank();
            let at = self.at;
            if self.bytes.get(at) != Some(&b'"') {
                return Err((at, JsonError::Key));
            }
            let name = self.string()?;
            self.skip_blank();
            if !self.take(b':') {
                return Err((self.at, JsonError::Colon));
            }
            members.push(Member { name, at, value: self.value(depth + 1)? });
            if self.ends_with(b'}')? {
                return Ok(JsonValue::Object(members));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<JsonValue<'a>, (usize, JsonError)> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_blank();
        if self.take(b']') {
            return Ok(JsonValue::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.ends_with(b']')? {
                return Ok(JsonValue::Array(items));
            }
        }
    }

    /// A comma (false) or the end (true).
    fn ends_with(&mut self, close: u8) -> Result<bool, (usize, JsonError)> {
        self.skip_blank();
        if self.take(close) {
            return Ok(true);
        }
        if self.take(b',') { Ok(false) } else { Err((self.at, JsonError::Separator(char::from(close)))) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, (usize, JsonError)> {
        let open = self.at;
        self.at += 1;
        let wrong = || (open, JsonError::Text);
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).ok_or_else(wrong)?;
            self.at += length;
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    break;
                }
                b'\\' => self.at += 2,
                _ => return Err(wrong()),
            }
        }
        let inner = &self.text[open + 1..self.at - 1];
        if inner.is_ascii() && !inner.contains('\\') {
            return Ok(Cow::Borrowed(inner));
        }
        // Escapes are rare: let the library undo them.
        serde_json::from_str(&self.text[open..self.at]).map(Cow::Owned).map_err(|_| wrong())
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        while self.bytes.get(self.at).is_some_and(|byte| part(*byte)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn skip_blank(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

type Located = (usize, ConfigErrorKind);

/// Arguments and blocks of a body: an object, or an array of objects that together are one body.
///
/// The key `//` is a comment.
pub(in crate::config) fn contents<'a>(
    node: &'a JsonNode<'a>,
    schema: BodySchema,
    errors: &mut Vec<Located>,
) -> BodyContents<'a> {
    let mut contents = BodyContents::default();
    for member in members(node, errors, || JsonError::Body) {
        if member.name == "//" {
            continue;
        }
        match schema.iter().find(|(kind, _)| *kind == member.name) {
            Some((kind, labels)) => {
                let mut header = Header { kind, at: member.at, labels: Vec::new() };
                blocks(&mut header, &member.value, *labels, &mut contents.blocks, errors);
            }
            None => contents.arguments.push(Argument {
                name: Cow::Borrowed(&member.name),
                at: member.at,
                value: RawValue::Json(&member.value),
            }),
        }
    }
    contents
}

struct Header<'a> {
    kind: &'static str,
    at: usize,
    labels: Vec<Label<'a>>,
}

/// Takes the labels that are still missing from the keys of objects, then makes a block of each body.
fn blocks<'a>(
    header: &mut Header<'a>,
    node: &'a JsonNode<'a>,
    missing: usize,
    into: &mut Vec<Block<'a>>,
    errors: &mut Vec<Located>,
) {
    if missing > 0 {
        let before = errors.len();
        let found = members(node, errors, || JsonError::Label(header.kind.to_owned()));
        if found.is_empty() && errors.len() == before {
            errors.push((node.at, JsonError::Label(header.kind.to_owned()).into()));
        }
        for member in found {
            header.labels.push(Label { text: Cow::Borrowed(&member.name), at: member.at });
            blocks(header, &member.value, missing - 1, into, errors);
            header.labels.pop();
        }
        return;
    }
    let at = header.labels.last().map_or(header.at, |label| label.at);
    let mut block = |body: &'a JsonNode<'a>| {
        let body = Body::Json(body);
        into.push(Block { kind: Cow::Borrowed(header.kind), at, labels: header.labels.clone(), body });
    };
    match &node.value {
        JsonValue::Object(_) => block(node),
        JsonValue::Array(items) => items.iter().for_each(block),
        JsonValue::Null => {}
        _ => errors.push((node.at, JsonError::Body.into())),
    }
}

/// The members of an object, or of all objects of an array.
fn members<'a>(
    node: &'a JsonNode<'a>,
    errors: &mut Vec<Located>,
    wrong: impl Fn() -> JsonError,
) -> Vec<&'a Member<'a>> {
    match &node.value {
        JsonValue::Object(members) => members.iter().collect(),
        JsonValue::Array(items) => {
            let mut all = Vec::new();
            for item in items {
                match &item.value {
                    JsonValue::Object(members) => all.extend(members),
                    _ => errors.push((item.at, wrong().into())),
                }
            }
            all
        }
        JsonValue::Null => Vec::new(),
        _ => {
            errors.push((node.at, wrong().into()));
            Vec::new()
        }
    }
}

/// The value of a node, strings as they are.
pub(in crate::config) fn value(node: &JsonNode<'_>) -> Node {
    let kind = match &node.value {
        JsonValue::Null => NodeKind::Null,
        JsonValue::Bool(value) => NodeKind::Bool(*value),
        JsonValue::Number(text) => NodeKind::Number((*text).into()),
        JsonValue::Text(text) => NodeKind::Text(text.clone().into_owned()),
        JsonValue::Array(items) => NodeKind::Tuple(items.iter().map(value).collect()),
        JsonValue::Object(members) => NodeKind::Object(members.iter().map(pair).collect()),
    };
    Node { at: node.at, kind }
}

fn pair(member: &Member<'_>) -> (Node, Node) {
    let key = Node { at: member.at, kind: NodeKind::Text(member.name.clone().into_owned()) };
    (key, value(&member.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn duplicate_keys_and_places_are_kept() {
        let node = parse(" {\"a\": 1, \"a\" : [\"\\u00e9\"]}\n").unwrap();
        let JsonValue::Object(members) = node.value else { panic!() };
        let places: Vec<_> = members.iter().map(|member| (&*member.name, member.at, member.value.at)).collect();
        assert_eq!(places, [("a", 2, 7), ("a", 10, 16)]);
        let JsonValue::Array(items) = &members[1].value.value else { panic!() };
        assert_eq!(items[0], JsonNode { at: 17, end: 25, value: JsonValue::Text("é".into()) });
    }

    #[test]
    fn errors_have_their_place() {
        use JsonError as E;
        for (text, at, error) in [
            ("", 0, E::Value),
            ("{a: 1}", 1, E::Key),
            ("{\"a\" 1}", 5, E::Colon),
            ("{\"a\": 1 \"b\": 2}", 8, E::Separator('}')),
            ("[1", 2, E::Separator(']')),
            ("[1,]", 3, E::Value),
            ("\"a", 0, E::Text),
            ("\"\\", 0, E::Text),
            ("\"\\q\"", 0, E::Text),
            ("\"a\nb\"", 0, E::Text),
            ("{} {}", 3, E::Trailing),
            ("nul", 0, E::Value),
        ] {
            assert_eq!(parse(text), Err((at, error)), "{text:?}");
        }
        assert_eq!(parse(&"[".repeat(100_000)).unwrap_err().1, E::TooDeep);
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_library(text in "[\\[\\]{}\":,0-9a-z\\\\ é\n]{0,20}") {
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                prop_assert!(parse(&text).is_ok());
            }
            let _ = parse(&text);
        }
    }
}

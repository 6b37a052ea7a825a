//! Bodies in JSON: which keys are arguments and which are blocks is known only to the reader's schema.

use std::borrow::Cow;

use super::super::body::{Argument, Block, Body, Contents, Label, RawValue, Schema};
use super::super::error::ConfigErrorKind;
use super::super::value::{Node, Value, number_text};
use super::{JsonError, JsonNode, JsonValue, Member};

type Located = (usize, ConfigErrorKind);

/// Arguments and blocks of a body: an object, or an array of objects that together are one body.
///
/// The key `//` is a comment.
pub(in super::super) fn contents<'a>(
    node: &'a JsonNode<'a>,
    schema: Schema,
    errors: &mut Vec<Located>,
) -> Contents<'a> {
    let mut contents = Contents::default();
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
pub(in super::super) fn value(node: &JsonNode<'_>) -> Node {
    let value = match &node.value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(value) => Value::Bool(*value),
        JsonValue::Number(text) => Value::Number(number_text(text)),
        JsonValue::Text(text) => Value::Text(text.clone().into_owned()),
        JsonValue::Array(items) => Value::List(items.iter().map(value).collect()),
        JsonValue::Object(members) => Value::Object(members.iter().map(pair).collect()),
    };
    Node { at: node.at, value }
}

fn pair(member: &Member<'_>) -> (Node, Node) {
    let key = Node { at: member.at, value: Value::Text(member.name.clone().into_owned()) };
    (key, value(&member.value))
}

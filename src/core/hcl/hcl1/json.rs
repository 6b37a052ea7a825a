//! The JSON form.

use serde_json::Value as Json;

use super::{Hcl1Error, Item, Object, Value};
use crate::finding::Position;

/// Reads the JSON form: one object. `null` means an absent item.
pub(super) fn parse(text: &str) -> Result<Object, Hcl1Error> {
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

fn value(json: Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::String(text) => Value::String(text),
        Json::Array(list) => Value::List(list.into_iter().filter_map(value).collect()),
        Json::Object(map) => Value::Object(object(map)),
    })
}

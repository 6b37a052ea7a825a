//! Sets: which elements are the same, and the order in which the tools iterate.
//!
//! Source: `cty/set_internals.go`, `Less`, `appendSetHashBytes`.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::sync::Arc;

use super::Value;

/// Sorts the elements of a set, each once.
pub(super) fn arrange(elements: Vec<Value>) -> Arc<[Value]> {
    let mut keyed: Vec<(String, Value)> = elements.into_iter().map(|value| (key(&value), value)).collect();
    keyed.sort_by(|one, other| compare(&one.1, &other.1).unwrap_or_else(|| one.0.cmp(&other.0)));
    // Equal numbers of different precision may have different keys, and different numbers one key, next to each other.
    keyed.dedup_by(|one, other| one.1.equals(&other.1) == Ok(true));
    keyed.into_iter().map(|(_, value)| value).collect()
}

/// The order of values that have one of their own; null comes last.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Null(_), _) | (_, Value::Null(_)) => Some(one.is_null().cmp(&other.is_null())),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (Value::Number(one), Value::Number(other)) => Some(one.cmp(other)),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        _ => None,
    }
}

/// What the elements of other types are sorted by; empty for those that have an order of their own.
fn key(value: &Value) -> String {
    let mut key = String::new();
    if value.elements().is_some() || value.attributes().is_some() {
        write_key(value, &mut key);
    }
    key
}

fn write_key(value: &Value, key: &mut String) {
    match value {
        Value::Unknown(..) => key.push('?'),
        Value::Null(_) => key.push('~'),
        Value::Bool(value) => key.push(if *value { 'T' } else { 'F' }),
        Value::Number(number) => key.push_str(&number.write(super::Notation::General, Some(10))),
        Value::String(text) => key.push_str(&quote(text)),
        Value::List(_, elements) | Value::Set(_, elements) => write_all("[", elements.iter(), "]", key),
        Value::Tuple(elements) => write_all("<", elements.iter(), ">", key),
        Value::Object(attributes) => write_all("<", attributes.values(), ">", key),
        Value::Map(_, elements) => {
            key.push('{');
            for (name, value) in elements.iter() {
                key.push_str(&quote(name));
                key.push(':');
                write_key(value, key);
                key.push(';');
            }
            key.push('}');
        }
    }
}

fn write_all<'a>(open: &str, values: impl Iterator<Item = &'a Value>, close: &str, key: &mut String) {
    key.push_str(open);
    for value in values {
        write_key(value, key);
        key.push(';');
    }
    key.push_str(close);
}

/// A string of Go, as `%q` of its `fmt` writes it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            ' '..='~' => quoted.push(c),
            c if !crate::hcl::is_print(c) => {
                let code = u32::from(c);
                let written = match code {
                    ..0x80 => write!(quoted, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
                    0x1_0000.. => write!(quoted, "\\U{code:08x}"),
                };
                written.unwrap_or(());
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

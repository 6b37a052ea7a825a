//! Sets: which elements are the same, and the order in which the tools iterate.
//!
//! Source: `cty/set_internals.go`, `Less`.

use std::cmp::Ordering;

use super::{SharedParts, Value};

/// The elements of a set in order, each once; `None` if one is no text, number, bool or null, as their order is one of hashes.
pub(super) fn arrange(mut elements: Vec<Value>) -> Option<SharedParts<[Value]>> {
    if elements.iter().any(|value| value.elements().is_some() || value.attributes().is_some()) {
        return None;
    }
    elements.sort_by(compare);
    elements.dedup();
    Some(elements.into())
}

/// The order of values of one type; null comes last.
fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => one.cmp(other),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        _ => one.is_null().cmp(&other.is_null()),
    }
}

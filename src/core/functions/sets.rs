//! Functions over sets.
//!
//! Source: `cty/function/stdlib/set.go`.

use super::uncertain;
use crate::value::{Budget, Failure, Type, Value};

pub(super) fn unite(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    combine(arguments, |kept, other| kept.extend(other.iter().cloned()))
}

pub(super) fn intersect(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    combine(arguments, |kept, other| kept.retain(|value| has(other, value)))
}

pub(super) fn subtract(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    combine(arguments, |kept, other| kept.retain(|value| !has(other, value)))
}

/// True if a set, whose elements are texts in their order, has a value.
fn has(set: &[Value], wanted: &Value) -> bool {
    set.binary_search_by(|value| value.as_text().cmp(&wanted.as_text())).is_ok()
}

/// What becomes of the first set with each of the others.
fn combine(arguments: &[Value], take: fn(&mut Vec<Value>, &[Value])) -> Result<Value, Failure> {
    let mut kept: Option<Vec<Value>> = None;
    for set in arguments {
        let elements = set.elements().map_or(&[][..], |elements| elements);
        let is_empty = elements.is_empty() && set.kind() == Type::set(Type::Dynamic);
        if !is_empty && set.kind() != Type::set(Type::String) || elements.iter().any(Value::is_null) {
            return uncertain("values that are no text");
        }
        match &mut kept {
            None => kept = Some(elements.to_vec()),
            Some(kept) => take(kept, elements),
        }
    }
    let kept = kept.unwrap_or_default();
    // An empty set has no type of its own.
    let is_typed = arguments.iter().any(|set| set.kind() == Type::set(Type::String));
    Ok(Value::set(if is_typed { Type::String } else { Type::Dynamic }, kept))
}

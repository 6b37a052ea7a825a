//! How many elements a value has.
//!
//! Source: terraform `internal/lang/funcs/collection.go`, `LengthFunc`.

use super::{refuse, strings};
use crate::value::{Budget, Type, Unevaluated, Value};

/// The number of characters of a text, or of elements.
pub(super) fn length(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let Some(value) = arguments.first() else { return refuse("an argument is required") };
    Ok(match value {
        Value::String(text) => Value::count(strings::count(text)),
        Value::Unknown(Type::Tuple(kinds), _) => Value::count(kinds.len()),
        Value::Unknown(Type::Object(kinds), _) => Value::count(kinds.len()),
        Value::Unknown(Type::Bool | Type::Number, _) | Value::Bool(_) | Value::Number(_) => {
            return refuse(format!("a {} has no length", value.kind()));
        }
        Value::Unknown(_, reason) => Value::Unknown(Type::Number, reason.clone()),
        _ => {
            let of_elements = value.elements().map(|elements| elements.len());
            Value::count(of_elements.or_else(|| value.attributes().map(|attributes| attributes.len())).unwrap_or(0))
        }
    })
}

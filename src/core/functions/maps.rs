//! Functions over maps and objects.
//!
//! Source: `cty/function/stdlib/collection.go`; terraform `internal/lang/funcs/collection.go`.

use std::sync::Arc;

use super::{elements, text, uncertain};
use crate::value::{Budget, Cause, Elements, Failure, Type, Value};

pub(super) fn keys(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let Some(attributes) = arguments.first().and_then(Value::attributes) else { return uncertain("what is no map") };
    budget.spend_elements(attributes.len())?;
    let keys = attributes.keys().map(|name| Value::String(name.clone())).collect();
    Ok(match arguments.first() {
        Some(Value::Object(_)) => Value::tuple(keys),
        _ => Value::list(Type::String, keys),
    })
}

pub(super) fn values(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    budget.spend(arguments.first().map_or(0, Value::size))?;
    match arguments.first() {
        Some(Value::Object(attributes)) => Ok(Value::tuple(attributes.values().cloned().collect())),
        Some(Value::Map(kind, elements)) => Ok(Value::list(kind.clone(), elements.values().cloned().collect())),
        _ => uncertain("what is no map"),
    }
}

/// The element with a key, else the default.
pub(super) fn lookup(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let (key, default) = (text(arguments, 1), arguments.get(2));
    let Some(attributes) = arguments.first().and_then(Value::attributes) else { return uncertain("what is no map") };
    // A default of another type is refused even where it is not needed.
    let default = match (arguments.first(), default) {
        (Some(Value::Map(kind, _)), Some(default)) => {
            budget.spend(default.size())?;
            Some(default.convert(kind).or_else(|_| uncertain("a default of another type"))?)
        }
        (_, default) => default.cloned(),
    };
    match attributes.get(key).cloned().or(default) {
        _ if arguments.len() > 3 => uncertain("more than three arguments"),
        Some(value) => Ok(value),
        None => Err(Cause::MissingPart.refuses(format!("there is no key {key:?}"))),
    }
}

/// The elements of all maps and objects; of equal keys the last one counts.
pub(super) fn merge(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let mut merged = Elements::new();
    for argument in arguments {
        let Some(attributes) = argument.attributes() else { return uncertain("what is no map") };
        budget.spend(attributes.size())?;
        merged.extend(attributes.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    Ok(match arguments.first() {
        Some(Value::Map(kind, _))
            if arguments.iter().all(|other| matches!(other, Value::Map(other, _) if other == kind)) =>
        {
            Value::map(kind.clone(), merged)
        }
        _ => Value::object(merged),
    })
}

/// Two values in one: maps key by key, lists joined, of others the second.
///
/// Source: terragrunt `pkg/config/cty_helpers.go`, `deepMergeCtyMaps`; `dario.cat/mergo`, `deepMerge`.
pub(crate) fn merge_deeply(one: &Value, other: &Value) -> Value {
    if let (Some(ours), Some(theirs)) = (one.attributes(), other.attributes()) {
        let mut merged = Elements::clone(ours);
        for (name, value) in theirs.iter() {
            let both = merged.get(name).map_or_else(|| value.clone(), |ours| merge_deeply(ours, value));
            merged.insert(name.clone(), both);
        }
        return Value::object(merged);
    }
    match (one.elements(), other.elements()) {
        (Some(ours), Some(theirs)) => Value::tuple(ours.iter().chain(theirs.iter()).cloned().collect()),
        _ if matches!(one, Value::Unknown(_)) && (other.attributes().is_some() || other.elements().is_some()) => {
            one.clone()
        }
        _ => other.clone(),
    }
}

/// A map, or an object from a tuple, with these keys and values.
pub(super) fn zip(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let (keys, Some(Value::List(_, values) | Value::Tuple(values))) = (elements(arguments, 0), arguments.get(1)) else {
        return uncertain("values that are neither a list nor a tuple");
    };
    if keys.len() != values.len() {
        return uncertain(format!("{} keys and {} values", keys.len(), values.len()));
    }
    let mut zipped = Elements::new();
    for (key, value) in keys.iter().zip(values.iter()) {
        let Value::String(key) = key else { return uncertain("a key that is null") };
        zipped.insert(Arc::clone(key), value.clone());
    }
    Ok(match arguments.get(1) {
        Some(Value::List(kind, _)) => Value::map(kind.clone(), zipped),
        _ => Value::object(zipped),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Meter;
    use crate::evaluate::syntax::Node;

    #[test]
    fn maps_are_merged_by_key_and_lists_are_joined() {
        let value = |text: &str| Node::parse(text, 0..text.len()).unwrap().constant(&Meter::default()).unwrap();
        for (one, other, wanted) in [
            ("{ a = 1, b = { c = 1, d = 2 } }", "{ b = { d = 3 } }", "{ a = 1, b = { c = 1, d = 3 } }"),
            ("{ a = [1] }", "{ a = [2, 3] }", "{ a = [1, 2, 3] }"),
            ("{ a = 1 }", "{ a = null }", "{ a = null }"),
            ("{ a = 1 }", "{ a = \"\" }", "{ a = \"\" }"),
            ("{ a = [1] }", "{ a = \"b\" }", "{ a = \"b\" }"),
            ("{ a = {} }", "{ a = { b = 1 } }", "{ a = { b = 1 } }"),
        ] {
            assert_eq!(merge_deeply(&value(one), &value(other)), value(wanted), "{one} {other}");
        }
    }
}

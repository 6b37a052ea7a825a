//! Functions over maps and objects.
//!
//! Source: `cty/function/stdlib/collection.go`; terraform `internal/lang/funcs/collection.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{elements, refuse, text};
use crate::value::{Budget, Elements, Safety, Type, Unevaluated, Value, is_convertible};

pub(super) fn keys(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let texts = |names: &mut dyn Iterator<Item = &Arc<str>>| names.map(|name| Value::String(name.clone())).collect();
    match arguments.first() {
        Some(Value::Object(attributes)) => Ok(Value::tuple(texts(&mut attributes.keys()))),
        Some(Value::Unknown(Type::Object(attributes), _)) => Ok(Value::tuple(texts(&mut attributes.keys()))),
        Some(Value::Map(_, elements)) => Ok(Value::list(Type::String, texts(&mut elements.keys()))),
        Some(Value::Unknown(Type::Map(_), reason)) => Ok(Value::Unknown(Type::list(Type::String), reason.clone())),
        Some(Value::Unknown(Type::Dynamic, reason)) => Ok(Value::Unknown(Type::Dynamic, reason.clone())),
        _ => refuse("a map or object is required"),
    }
}

pub(super) fn values(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    match arguments.first() {
        Some(Value::Object(attributes)) => Ok(Value::tuple(attributes.values().cloned().collect())),
        Some(Value::Map(kind, elements)) => Ok(Value::list(kind.clone(), elements.values().cloned().collect())),
        _ => refuse("a map or object is required"),
    }
}

/// The element with a key, else the default.
pub(super) fn lookup(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    if arguments.len() > 3 {
        return refuse("it takes two or three arguments");
    }
    let (key, default) = (text(arguments, 1), arguments.get(2));
    match arguments.first() {
        Some(Value::Map(kind, elements)) => {
            // A default of another type is refused even where it is not needed.
            let default = default.map(|default| default.convert(kind)).transpose()?;
            elements.get(key).cloned().or(default).map_or_else(|| absent(key), Ok)
        }
        Some(Value::Object(attributes)) => attributes.get(key).or(default).cloned().map_or_else(|| absent(key), Ok),
        Some(Value::Unknown(kind, reason)) => {
            let refused = default.is_some_and(|default| match kind {
                Type::Map(kind) => !is_convertible(&default.kind(), kind, Safety::Unsafe),
                _ => false,
            });
            let kind = kind.element().cloned().unwrap_or(Type::Dynamic);
            if refused { refuse("the default is of another type") } else { Ok(Value::Unknown(kind, reason.clone())) }
        }
        _ => refuse("a map or object is required"),
    }
}

fn absent(key: &str) -> Result<Value, Unevaluated> {
    refuse(format!("there is no key {key:?}"))
}

/// The elements of all maps and objects; of equal keys the last one counts.
pub(super) fn merge(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    if arguments.is_empty() {
        return Ok(Value::Object(Arc::default()));
    }
    let kinds: Vec<Type> = arguments.iter().map(Value::kind).collect();
    if let Some(at) = kinds.iter().position(|kind| !matches!(kind, Type::Map(_) | Type::Object(_) | Type::Dynamic)) {
        // After a null without a type the tools do not look at the types any more.
        if kinds[..at].contains(&Type::Dynamic) {
            return Err(Unevaluated::limit("a null without a type in merge()"));
        }
        return refuse(format!("maps or objects are required, and an argument is a {}", kinds[at]));
    }
    let mut merged = Elements::new();
    for argument in arguments.iter().filter(|argument| !argument.is_null()) {
        let Some(attributes) = argument.attributes() else { return refuse("maps or objects are required") };
        budget.spend_elements(attributes.len())?;
        merged.extend(attributes.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    let is_alike = kinds.iter().all(|kind| kind == &kinds[0]);
    Ok(match &kinds[0] {
        Type::Map(kind) if is_alike => Value::Map((**kind).clone(), Arc::new(merged)),
        _ => Value::Object(Arc::new(merged)),
    })
}

/// The elements of all maps and objects, merged key by key.
pub(super) fn merge_all_deeply(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let mut merged = Value::Object(Arc::default());
    for argument in arguments.iter().filter(|argument| !argument.is_null()) {
        let Some(attributes) = argument.attributes() else { return refuse("maps or objects are required") };
        budget.spend_elements(attributes.len())?;
        merged = merge_deeply(&merged, argument);
    }
    Ok(merged)
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
        return Value::Object(merged.into());
    }
    match (one.elements(), other.elements()) {
        (Some(ours), Some(theirs)) => Value::tuple(ours.iter().chain(theirs.iter()).cloned().collect()),
        _ if matches!(one, Value::Unknown(..)) && (other.attributes().is_some() || other.elements().is_some()) => {
            one.clone()
        }
        _ => other.clone(),
    }
}

/// A map from texts to lists of the keys that had them.
pub(super) fn transpose(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let mut turned: BTreeMap<Arc<str>, Vec<Value>> = BTreeMap::new();
    let lists = Type::list(Type::String);
    if let Some(reason) = arguments.iter().find_map(Value::unknown_part) {
        return Ok(Value::Unknown(Type::map(lists), reason.clone()));
    }
    for (key, list) in arguments.first().and_then(Value::attributes).iter().flat_map(|elements| elements.iter()) {
        let Some(elements) = list.elements() else { return refuse("an element is null") };
        for element in elements.iter() {
            let Value::String(element) = element else { return refuse("an element is null") };
            turned.entry(element.clone()).or_default().push(Value::String(key.clone()));
        }
    }
    let elements = turned.into_iter().map(|(key, mut keys)| {
        keys.sort_by(|one, other| one.as_text().cmp(&other.as_text()));
        (key, Value::list(Type::String, keys))
    });
    Ok(Value::Map(lists, Arc::new(elements.collect())))
}

/// A map, or an object from a tuple, with these keys and values.
pub(super) fn zip(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    if let Some(reason) = arguments.first().and_then(Value::unknown_part) {
        return Ok(Value::Unknown(Type::Dynamic, reason.clone()));
    }
    let keys = elements(arguments, 0);
    let Some(Value::List(_, values) | Value::Tuple(values)) = arguments.get(1) else {
        return refuse("a list or tuple of values is required");
    };
    if keys.len() != values.len() {
        return refuse(format!("there are {} keys and {} values", keys.len(), values.len()));
    }
    let mut zipped = Elements::new();
    for (key, value) in keys.iter().zip(values.iter()) {
        let Value::String(key) = key else { return refuse("a key is null") };
        zipped.insert(key.clone(), value.clone());
    }
    Ok(match arguments.get(1) {
        Some(Value::List(kind, _)) => Value::Map(kind.clone(), Arc::new(zipped)),
        _ => Value::Object(Arc::new(zipped)),
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
            let merged = merge_all_deeply(&[value(one), value(other)], &Budget::default()).unwrap();
            assert_eq!(merged, value(wanted), "{one} {other}");
        }
    }
}

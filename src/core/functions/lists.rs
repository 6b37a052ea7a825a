//! Functions over lists, sets and tuples.
//!
//! Source: `cty/function/stdlib/collection.go`, `sequence.go`; terraform `internal/lang/funcs/collection.go`.

use std::collections::HashSet;

use super::{ascii, elements, natural, uncertain};
use crate::value::{Budget, Failure, Type, Value};

pub(super) fn all_true(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(elements(arguments, 0).iter().all(|value| *value == Value::Bool(true)).into())
}

pub(super) fn any_true(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(elements(arguments, 0).contains(&Value::Bool(true)).into())
}

/// The number of characters of a text, or of elements.
pub(super) fn length(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(Value::count(match arguments.first() {
        Some(Value::String(_)) => ascii(arguments, 0)?.len(),
        Some(value) => match (value.elements(), value.attributes()) {
            (Some(elements), _) => elements.len(),
            (_, Some(attributes)) => attributes.len(),
            _ => return uncertain("a number or a bool"),
        },
        None => return uncertain("no argument"),
    }))
}

/// The texts that are neither null nor empty.
pub(super) fn compact(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let kept = elements(arguments, 0).iter().filter(|value| value.as_text().is_some_and(|text| !text.is_empty()));
    Ok(Value::list(Type::String, kept.cloned().collect()))
}

/// Lists one after the other: a list if all are lists of one type, else a tuple.
pub(super) fn concat(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let mut all = Vec::new();
    let mut kinds = Vec::new();
    for argument in arguments {
        match argument {
            Value::List(kind, elements) => {
                budget.spend(elements.size())?;
                kinds.push(Some(kind));
                all.extend(elements.iter().cloned());
            }
            Value::Tuple(elements) => {
                budget.spend(elements.size())?;
                kinds.push(None);
                all.extend(elements.iter().cloned());
            }
            _ => return uncertain("what is neither a list nor a tuple"),
        }
    }
    match kinds.first() {
        None => uncertain("no argument"),
        Some(Some(kind)) if kinds.iter().all(|other| *other == Some(*kind)) => Ok(Value::list((*kind).clone(), all)),
        // Lists of different types become lists of the type that they have in common.
        Some(_) if kinds.iter().all(Option::is_some) => uncertain("lists of different types"),
        Some(_) => Ok(Value::tuple(all)),
    }
}

pub(super) fn contains(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let [list, wanted] = arguments else { return uncertain("its arguments") };
    let Some(elements) = list.elements() else { return uncertain("what is no list, tuple or set") };
    budget.spend(wanted.size())?;
    for element in elements.iter() {
        match element.equals(wanted) {
            Ok(true) => return Ok(Value::Bool(true)),
            Ok(false) => {}
            Err(reason) => return Ok(Value::Unknown(reason)),
        }
    }
    Ok(Value::Bool(false))
}

/// Each element once, where it comes first.
pub(super) fn distinct(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let Some(Value::List(kind, list)) = arguments.first() else { return uncertain("what is no list") };
    let mut seen = HashSet::new();
    let mut kept: Vec<Value> = Vec::new();
    for value in list.iter() {
        let is_new = match value {
            Value::String(text) => seen.insert(text.clone()),
            _ => return uncertain("values that are no text"),
        };
        if is_new {
            kept.push(value.clone());
        }
    }
    Ok(Value::list(kind.clone(), kept))
}

/// The element at an index, which wraps around and counts from the end if it is negative.
pub(super) fn element(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let (Some(Value::List(_, list) | Value::Tuple(list)), Some(Value::Number(index))) =
        (arguments.first(), arguments.get(1))
    else {
        return uncertain("what is neither a list nor a tuple");
    };
    let (Some(index), Ok(length)) = (index.to_i64(), i64::try_from(list.len())) else {
        return uncertain(format!("the index {index}"));
    };
    let index = index.checked_rem_euclid(length).and_then(|index| usize::try_from(index).ok());
    match index.and_then(|index| list.get(index)) {
        Some(element) => Ok(element.clone()),
        None => uncertain("an empty list"),
    }
}

/// The elements of nested lists, sets and tuples, as one tuple.
pub(super) fn flatten(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    fn push_flat(elements: &[Value], flat: &mut Vec<Value>) {
        for element in elements {
            match element.elements() {
                Some(inner) => push_flat(inner, flat),
                None => flat.push(element.clone()),
            }
        }
    }
    let Some(elements) = arguments.first().and_then(Value::elements) else {
        return uncertain("what is no list, set or tuple");
    };
    let mut flat = Vec::new();
    push_flat(elements, &mut flat);
    Ok(Value::tuple(flat))
}

/// The only element, or null.
pub(super) fn one(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    match arguments.first().and_then(Value::elements).map(|elements| &elements[..]) {
        Some([]) => {
            let kind = arguments.first().and_then(|value| value.kind().element().cloned());
            Ok(Value::Null(kind.unwrap_or(Type::Dynamic)))
        }
        Some([only]) => Ok(only.clone()),
        _ => uncertain("more than one element"),
    }
}

pub(super) fn reverse(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    budget.spend(arguments.first().map_or(0, Value::size))?;
    let reversed = elements(arguments, 0).iter().rev().cloned().collect();
    match arguments.first() {
        Some(Value::Tuple(_)) => Ok(Value::tuple(reversed)),
        Some(Value::List(kind, _)) => Ok(Value::list(kind.clone(), reversed)),
        _ => uncertain("what is neither a list nor a tuple"),
    }
}

/// The elements from a start up to an end, which is not one of them.
pub(super) fn slice(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let Some(Value::List(_, list) | Value::Tuple(list)) = arguments.first() else {
        return uncertain("what is neither a list nor a tuple");
    };
    budget.spend(list.size())?;
    let (start, end) = (natural(arguments, 1)?, natural(arguments, 2)?);
    let Some(part) = list.get(start..end) else { return uncertain("a part that the list does not have") };
    Ok(match arguments.first() {
        Some(Value::List(kind, _)) => Value::list(kind.clone(), part.to_vec()),
        _ => Value::tuple(part.to_vec()),
    })
}

/// Texts by their bytes in UTF-8.
pub(super) fn sort(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let mut texts = Vec::new();
    for value in elements(arguments, 0) {
        let Some(text) = value.as_text() else { return uncertain("a list with null") };
        texts.push(text);
    }
    texts.sort_unstable();
    Ok(Value::list(Type::String, texts.into_iter().map(Value::text).collect()))
}

//! Functions over lists and tuples.
//!
//! Source: `cty/function/stdlib/collection.go`, `sequence.go`; terraform `internal/lang/funcs/collection.go`.

use std::collections::HashSet;
use std::sync::Arc;

use super::strings::texts;
use super::{elements, refuse, whole};
use crate::value::{Budget, Safety, Type, Unevaluated, Value, unify};

pub(super) fn all_true(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    for value in elements(arguments, 0) {
        match value {
            Value::Bool(true) => {}
            Value::Unknown(..) => return Ok(value.clone()),
            _ => return Ok(Value::Bool(false)),
        }
    }
    Ok(Value::Bool(true))
}

pub(super) fn any_true(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let values = elements(arguments, 0);
    if values.contains(&Value::Bool(true)) {
        return Ok(Value::Bool(true));
    }
    let unknown = values.iter().find(|value| matches!(value, Value::Unknown(..)));
    Ok(unknown.cloned().unwrap_or(Value::Bool(false)))
}

/// The type of the elements of an argument that is a list.
fn element_kind(arguments: &[Value], at: usize) -> Type {
    arguments.get(at).and_then(|value| value.kind().element().cloned()).unwrap_or(Type::Dynamic)
}

/// Why a part of an argument is unknown, as the value of the whole call.
fn unknown(arguments: &[Value], kind: Type) -> Option<Value> {
    let reason = arguments.iter().find_map(Value::unknown_part)?;
    Some(Value::Unknown(kind, reason.clone()))
}

pub(super) fn chunk(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (list, size, kind) = (elements(arguments, 0), whole(arguments, 1)?, element_kind(arguments, 0));
    let outer = Type::list(kind.clone());
    let Ok(size) = usize::try_from(size) else { return refuse("the size is negative") };
    if list.is_empty() {
        return Ok(Value::list(outer, Vec::new()));
    }
    let size = if size == 0 { list.len() } else { size };
    Ok(Value::list(outer, list.chunks(size).map(|part| Value::list(kind.clone(), part.to_vec())).collect()))
}

/// The first list or tuple that is not empty.
pub(super) fn coalesce(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    if arguments.iter().any(|value| matches!(value, Value::Unknown(..))) {
        // The tools look at the types first, and stop where they do not know one.
        let before = arguments.iter().take_while(|value| !matches!(value, Value::Unknown(..)));
        check_lists(before)?;
    } else {
        check_lists(arguments.iter())?;
    }
    for value in arguments {
        match value {
            Value::Unknown(_, reason) => return Ok(Value::Unknown(Type::Dynamic, reason.clone())),
            Value::Null(_) => return refuse("an argument is null"),
            _ if value.elements().is_some_and(|elements| !elements.is_empty()) => return Ok(value.clone()),
            _ => {}
        }
    }
    refuse("all arguments are empty")
}

fn check_lists<'a>(mut values: impl Iterator<Item = &'a Value>) -> Result<(), Unevaluated> {
    match values.find(|value| !matches!(value.kind(), Type::List(_) | Type::Tuple(_))) {
        Some(value) => refuse(format!("lists or tuples are required, and an argument is a {}", value.kind())),
        None => Ok(()),
    }
}

/// The texts that are neither null nor empty.
pub(super) fn compact(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    if let Some(unknown) = unknown(arguments, Type::list(Type::String)) {
        return Ok(unknown);
    }
    let kept = elements(arguments, 0).iter().filter(|value| value.as_text().is_some_and(|text| !text.is_empty()));
    Ok(Value::list(Type::String, kept.cloned().collect()))
}

/// Lists one after the other; a tuple if one of them is, or if they have no type in common.
pub(super) fn concat(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    if arguments.is_empty() {
        return refuse("at least one argument is required");
    }
    let kinds: Vec<Type> = arguments.iter().map(Value::kind).collect();
    for argument in arguments {
        check_lists([argument].into_iter())?;
        budget.spend_elements(argument.elements().map_or(0, |elements| elements.len()))?;
    }
    let all = |values: &[Value]| values.iter().filter_map(Value::elements).flat_map(|it| it.iter().cloned()).collect();
    if kinds.iter().all(|kind| matches!(kind, Type::List(_)))
        && let Some(Type::List(kind)) = unify(&kinds, Safety::Unsafe)
    {
        let whole = Type::List(kind.clone());
        let converted = arguments.iter().map(|value| value.convert(&whole)).collect::<Result<Vec<_>, _>>()?;
        let elements: Vec<Value> = all(&converted);
        // Next to an empty list without a type the elements have the type that they had.
        let kind =
            if *kind == Type::Dynamic { elements.first().map_or(Type::Dynamic, Value::kind) } else { (*kind).clone() };
        if elements.iter().any(|element| element.kind() != kind) {
            return refuse("the elements have different types");
        }
        return Ok(Value::list(kind, elements));
    }
    Ok(Value::tuple(all(arguments)))
}

pub(super) fn contains(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let [list, wanted] = arguments else { return refuse("two arguments are required") };
    let Some(elements) = list.elements() else { return refuse("a list, tuple or set is required") };
    let mut unknown = None;
    for element in elements.iter() {
        match element.equals(wanted) {
            Ok(true) => return Ok(Value::Bool(true)),
            Ok(false) => {}
            Err(reason) => unknown = Some(reason),
        }
    }
    Ok(unknown.map_or(Value::Bool(false), |reason| Value::Unknown(Type::Bool, reason)))
}

/// Each element once, where it comes first.
pub(super) fn distinct(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let kind = element_kind(arguments, 0);
    if let Some(unknown) = unknown(arguments, Type::list(kind.clone())) {
        return Ok(unknown);
    }
    let list = elements(arguments, 0);
    let mut seen = HashSet::new();
    let mut kept: Vec<Value> = Vec::new();
    for value in list {
        // Text is found by hash; other values are compared with each other.
        let is_new = if let Some(text) = value.as_text() {
            seen.insert(text)
        } else {
            budget.spend(u64::try_from(kept.len()).unwrap_or(u64::MAX))?;
            kept.iter().all(|other| other.equals(value) != Ok(true))
        };
        if is_new {
            kept.push(value.clone());
        }
    }
    Ok(Value::list(kind, kept))
}

/// The element at an index, which wraps around; that of a list may count from the end.
pub(super) fn element(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let index = whole(arguments, 1)?;
    let Some(Value::List(_, list) | Value::Tuple(list)) = arguments.first() else {
        return refuse("a list or tuple is required");
    };
    let Some(length) = i64::try_from(list.len()).ok().filter(|length| *length > 0) else {
        return refuse("the list is empty");
    };
    let is_list = matches!(arguments.first(), Some(Value::List(..)));
    let index = if is_list { index.rem_euclid(length) } else { index % length };
    let found = usize::try_from(index).ok().and_then(|index| list.get(index));
    found.map_or_else(|| refuse("the index is negative"), |value| Ok(value.clone()))
}

/// The elements of nested lists, sets and tuples, as one tuple.
pub(super) fn flatten(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let mut flat = Vec::new();
    match arguments.first() {
        Some(value) if value.elements().is_some() => match push_flat(value, &mut flat, budget)? {
            Some(reason) => Ok(Value::Unknown(Type::Dynamic, reason)),
            None => Ok(Value::tuple(flat)),
        },
        _ => refuse("a list, set or tuple is required"),
    }
}

/// Why it is unknown what belongs there, if it is.
fn push_flat(value: &Value, flat: &mut Vec<Value>, budget: &Budget) -> Result<Option<Arc<Unevaluated>>, Unevaluated> {
    for element in value.elements().map_or(&[][..], |elements| elements) {
        budget.spend_elements(1)?;
        match element {
            Value::Unknown(Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Tuple(_), reason) => {
                return Ok(Some(reason.clone()));
            }
            _ if element.elements().is_some() => {
                if let Some(reason) = push_flat(element, flat, budget)? {
                    return Ok(Some(reason));
                }
            }
            _ => flat.push(element.clone()),
        }
    }
    Ok(None)
}

/// Where an element is.
pub(super) fn index(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let [Value::List(_, list) | Value::Tuple(list), wanted] = arguments else {
        return refuse("a list or tuple is required");
    };
    for (at, element) in list.iter().enumerate() {
        match element.equals(wanted) {
            Ok(true) => return Ok(Value::count(at)),
            Ok(false) => {}
            Err(reason) => return Ok(Value::Unknown(Type::Number, reason)),
        }
    }
    refuse("the list does not have the value")
}

/// The values whose keys are among those searched for.
pub(super) fn match_keys(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let (kind, list) = (element_kind(arguments, 0), elements(arguments, 0));
    let kinds: Vec<Type> = arguments.iter().skip(1).map(Value::kind).collect();
    let Some(common) = unify(&kinds, Safety::Unsafe) else {
        return refuse("keys and searchset have no type in common");
    };
    if let Some(unknown) = unknown(arguments, Type::list(kind.clone())) {
        return Ok(unknown);
    }
    let (keys, searched) = (arguments[1].convert(&common)?, arguments[2].convert(&common)?);
    let of = |value: &Value| value.elements().cloned().unwrap_or_else(|| Arc::from([]));
    let (keys, searched) = (of(&keys), of(&searched));
    if list.len() != keys.len() {
        return refuse("there are not as many keys as values");
    }
    budget.spend(u64::try_from(keys.len().saturating_mul(searched.len())).unwrap_or(u64::MAX))?;
    let is_searched = |key: &Value| searched.iter().any(|other| other.equals(key) == Ok(true));
    let kept = list.iter().zip(keys.iter()).filter(|(_, key)| is_searched(key)).map(|(value, _)| value.clone());
    Ok(Value::list(kind, kept.collect()))
}

/// The only element, or null.
pub(super) fn one(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let kind = element_kind(arguments, 0);
    match arguments.first().and_then(Value::elements).map(|elements| &elements[..]) {
        Some([]) => Ok(Value::Null(kind)),
        Some([only]) => Ok(only.clone()),
        _ => refuse("a list, set or tuple with at most one element is required"),
    }
}

pub(super) fn reverse(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let reversed = elements(arguments, 0).iter().rev().cloned().collect();
    match arguments.first() {
        Some(Value::Tuple(_)) => Ok(Value::tuple(reversed)),
        Some(Value::List(kind, _) | Value::Set(kind, _)) => Ok(Value::list(kind.clone(), reversed)),
        _ => refuse("a list or tuple is required"),
    }
}

/// The elements from a start up to an end, which is not one of them.
pub(super) fn slice(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let Some(Value::List(_, list) | Value::Tuple(list)) = arguments.first() else {
        return refuse("a list or tuple is required");
    };
    let bounds = (usize::try_from(whole(arguments, 1)?), usize::try_from(whole(arguments, 2)?));
    let (Ok(start), Ok(end)) = bounds else { return refuse("an index is negative") };
    let Some(part) = list.get(start..end) else {
        return refuse(format!("the list with {} elements has no part from {start} to {end}", list.len()));
    };
    Ok(match arguments.first() {
        Some(Value::List(kind, _)) => Value::list(kind.clone(), part.to_vec()),
        _ => Value::tuple(part.to_vec()),
    })
}

/// Texts by their bytes in UTF-8.
pub(super) fn sort(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    if let Some(unknown) = unknown(arguments, Type::list(Type::String)) {
        return Ok(unknown);
    }
    match texts(arguments) {
        Ok(mut sorted) => {
            sorted.sort_unstable();
            Ok(Value::list(Type::String, sorted.into_iter().map(Value::text).collect()))
        }
        Err(at) => refuse(format!("the element {at} is null")),
    }
}

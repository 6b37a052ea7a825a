//! The one type that values of several types can be converted to, as far as that is plain: text for text, numbers and bools; a list for
//! lists and tuples, a map for maps and objects. Of tuples and objects of one form each part has a type of its own.
//!
//! Source: `cty/convert/unify.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Type;

/// How many different types are compared with each other.
const TYPES: usize = 256;

/// The type that values of these types can be converted to; `None` if there is none, or the tools find it by rules of their own.
pub fn unify<'a>(kinds: impl IntoIterator<Item = &'a Type>) -> Option<Type> {
    unify_all(&kinds.into_iter().collect())
}

fn unify_all(kinds: &BTreeSet<&Type>) -> Option<Type> {
    let mut typed = kinds.iter().copied().filter(|kind| **kind != Type::Dynamic);
    let first = typed.next().or(kinds.first().copied())?;
    if kinds.len() == 1 {
        return Some(first.clone());
    }
    if kinds.iter().all(|kind| kind.is_primitive() || **kind == Type::Dynamic) {
        return match typed.next() {
            None => Some(first.clone()),
            Some(_) => kinds.contains(&Type::String).then_some(Type::String),
        };
    }
    if kinds.len() > TYPES || kinds.contains(&Type::Dynamic) {
        return None;
    }
    let all = |is_wanted: fn(&Type) -> bool| kinds.iter().all(|kind| is_wanted(kind));
    if all(|kind| matches!(kind, Type::Set(_))) {
        unify_all(&kinds.iter().filter_map(|kind| kind.element()).collect()).map(Type::set)
    } else if all(|kind| matches!(kind, Type::List(_) | Type::Tuple(_))) {
        unify_tuples(kinds).or_else(|| unify_all(&kinds.iter().flat_map(|kind| parts(kind)).collect()).map(Type::list))
    } else if all(|kind| matches!(kind, Type::Map(_) | Type::Object(_))) {
        unify_objects(kinds).or_else(|| unify_all(&kinds.iter().flat_map(|kind| parts(kind)).collect()).map(Type::map))
    } else {
        None
    }
}

/// The types of the elements of a list, tuple, map or object.
fn parts(kind: &Type) -> Vec<&Type> {
    match kind {
        Type::Tuple(elements) => elements.iter().collect(),
        Type::Object(attributes) => attributes.values().collect(),
        kind => kind.element().into_iter().collect(),
    }
}

/// Tuples of one length as one of the same, if each element has a type in common.
fn unify_tuples(kinds: &BTreeSet<&Type>) -> Option<Type> {
    let tuple = |kind: &&Type| if let Type::Tuple(elements) = kind { Some(elements.clone()) } else { None };
    let tuples = kinds.iter().map(tuple).collect::<Option<Vec<_>>>()?;
    let length = tuples.first()?.len();
    let element = |at: usize| unify_all(&tuples.iter().filter_map(|elements| elements.get(at)).collect());
    let is_alike = tuples.iter().all(|elements| elements.len() == length);
    if is_alike { Some(Type::Tuple((0..length).map(element).collect::<Option<_>>()?)) } else { None }
}

/// Objects with the same attributes as one with them, if each attribute has a type in common.
fn unify_objects(kinds: &BTreeSet<&Type>) -> Option<Type> {
    let object = |kind: &&Type| if let Type::Object(attributes) = kind { Some(attributes.clone()) } else { None };
    let objects = kinds.iter().map(object).collect::<Option<Vec<_>>>()?;
    let first = objects.first()?;
    let attribute = |name: &Arc<str>| {
        Some((name.clone(), unify_all(&objects.iter().filter_map(|attributes| attributes.get(name)).collect())?))
    };
    let is_alike = objects.iter().all(|attributes| attributes.keys().eq(first.keys()));
    if is_alike { Some(Type::Object(Arc::new(first.keys().map(attribute).collect::<Option<_>>()?))) } else { None }
}

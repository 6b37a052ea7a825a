//! The one type that values of several types can be converted to.
//!
//! Source: `cty/convert/unify.go`, `sort_types.go`, `compare_types.go`.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::Type;
use super::convert::is_convertible;

/// How many different types are compared with each other.
const TYPES: usize = 256;

/// The type that values of these types can be converted to, if there is one.
///
/// [`Type::Dynamic`] where the tools wait for a type that they do not know yet, as that of `null` next to a list.
pub fn unify(kinds: &[Type]) -> Option<Type> {
    unify_all(kinds.iter())
}

pub(super) fn unify_all<'a>(kinds: impl Iterator<Item = &'a Type>) -> Option<Type> {
    let mut seen = BTreeSet::new();
    let kinds: Vec<&Type> = kinds.filter(|kind| seen.insert(*kind)).collect();
    match kinds[..] {
        [] => None,
        [kind] => Some(kind.clone()),
        _ if kinds.len() > TYPES => None,
        _ => match unify_alike(&kinds) {
            Alike::Unified(kind) => kind,
            Alike::No => preferred(&kinds),
        },
    }
}

/// What types of one form, such as lists, have in common.
enum Alike {
    Unified(Option<Type>),
    /// They are of different forms.
    No,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Dynamic,
    Primitive,
    List,
    Set,
    Map,
    Tuple,
    Object,
}

fn form(kind: &Type) -> Form {
    match kind {
        Type::Dynamic => Form::Dynamic,
        Type::Bool | Type::Number | Type::String => Form::Primitive,
        Type::List(_) => Form::List,
        Type::Set(_) => Form::Set,
        Type::Map(_) => Form::Map,
        Type::Tuple(_) => Form::Tuple,
        Type::Object(_) => Form::Object,
    }
}

fn unify_alike(kinds: &[&Type]) -> Alike {
    let has = |wanted: Form| kinds.iter().any(|kind| form(kind) == wanted);
    let only = |forms: &[Form]| kinds.iter().all(|kind| forms.contains(&form(kind)));
    let elements = || unify_all(kinds.iter().filter_map(|kind| kind.element()));
    let alike = [Form::Map, Form::List, Form::Set, Form::Object, Form::Tuple];
    // What becomes of them depends on a type that is not known yet.
    if has(Form::Dynamic) && alike.iter().any(|form| has(*form) && only(&[*form, Form::Dynamic])) {
        return Alike::Unified(Some(Type::Dynamic));
    }
    if only(&[Form::Map]) {
        Alike::Unified(elements().map(Type::map))
    } else if only(&[Form::List]) {
        Alike::Unified(elements().map(Type::list))
    } else if only(&[Form::Set]) {
        Alike::Unified(elements().map(Type::set))
    } else if only(&[Form::Object]) {
        Alike::Unified(unify_objects(kinds))
    } else if only(&[Form::Tuple]) {
        Alike::Unified(unify_tuples(kinds))
    } else if has(Form::Object) && has(Form::Tuple) {
        Alike::Unified(None)
    } else if has(Form::Map) && only(&[Form::Map, Form::Object, Form::Dynamic]) {
        in_disguise(kinds, Form::Object, attributes_as_map(kinds))
    } else if has(Form::List) && only(&[Form::List, Form::Tuple, Form::Dynamic]) {
        in_disguise(kinds, Form::Tuple, elements_as_list(kinds))
    } else {
        Alike::No
    }
}

/// Objects that are maps to their writers, or tuples that are lists, among such.
fn in_disguise(kinds: &[&Type], disguise: Form, collection: Option<Type>) -> Alike {
    let Some(collection) = collection else { return Alike::No };
    let shown = kinds.iter().map(|kind| if form(kind) == disguise { &collection } else { *kind });
    match unify_all(shown) {
        Some(kind) if kind.element().is_some() => Alike::Unified(Some(kind)),
        _ => Alike::No,
    }
}

fn unify_objects(kinds: &[&Type]) -> Option<Type> {
    let objects: Vec<_> = kinds
        .iter()
        .filter_map(|kind| if let Type::Object(attributes) = kind { Some(attributes) } else { None })
        .collect();
    let first = objects.first()?;
    if objects.iter().any(|attributes| attributes.keys().ne(first.keys())) {
        return attributes_as_map(kinds);
    }
    let attribute = |name: &Arc<str>| {
        let kind = unify_all(objects.iter().filter_map(|attributes| attributes.get(name)))?;
        Some((name.clone(), kind))
    };
    let unified = Type::Object(Arc::new(first.keys().map(attribute).collect::<Option<_>>()?));
    if all_convertible(kinds, &unified) { Some(unified) } else { attributes_as_map(kinds) }
}

fn unify_tuples(kinds: &[&Type]) -> Option<Type> {
    let tuples: Vec<_> =
        kinds.iter().filter_map(|kind| if let Type::Tuple(elements) = kind { Some(elements) } else { None }).collect();
    let first = tuples.first()?;
    if tuples.iter().any(|elements| elements.len() != first.len()) {
        return elements_as_list(kinds);
    }
    let element = |at: usize| unify_all(tuples.iter().filter_map(|elements| elements.get(at)));
    let unified = Type::Tuple((0..first.len()).map(element).collect::<Option<_>>()?);
    if all_convertible(kinds, &unified) { Some(unified) } else { elements_as_list(kinds) }
}

fn attributes_as_map(kinds: &[&Type]) -> Option<Type> {
    let attributes = kinds
        .iter()
        .filter_map(|kind| if let Type::Object(attributes) = kind { Some(attributes.values()) } else { None });
    let map = Type::map(unify_all(attributes.flatten())?);
    all_convertible(kinds, &map).then_some(map)
}

fn elements_as_list(kinds: &[&Type]) -> Option<Type> {
    let elements =
        kinds.iter().filter_map(|kind| if let Type::Tuple(elements) = kind { Some(elements.iter()) } else { None });
    let list = Type::list(unify_all(elements.flatten())?);
    all_convertible(kinds, &list).then_some(list)
}

fn all_convertible(kinds: &[&Type], to: &Type) -> bool {
    kinds.iter().all(|kind| *kind == to || is_convertible(kind, to))
}

/// The first of the types that the others can be converted to, the most general ones first.
fn preferred(kinds: &[&Type]) -> Option<Type> {
    let mut left: Vec<&Type> = kinds.to_vec();
    while !left.is_empty() {
        // Of those that no other one is preferred to, the first.
        let is_first = |kind: &&Type| left.iter().all(|other| compare(kind, other) != Ordering::Greater);
        let at = left.iter().position(is_first).unwrap_or(0);
        let kind = left.remove(at);
        if all_convertible(kinds, kind) {
            return Some(kind.clone());
        }
    }
    None
}

/// Which of two types is preferred: `Less` if it is the first.
#[expect(clippy::match_same_arms, reason = "the arms follow the order of the rules")]
fn compare(one: &Type, other: &Type) -> Ordering {
    use Ordering::{Equal, Greater, Less};
    match (one, other) {
        (Type::Dynamic, Type::Dynamic) => Equal,
        (_, Type::Dynamic) | (Type::String, Type::Bool | Type::Number) => Less,
        (Type::Dynamic, _) | (Type::Bool | Type::Number, Type::String) => Greater,
        (Type::List(one), Type::List(other))
        | (Type::Set(one), Type::Set(other))
        | (Type::Map(one), Type::Map(other)) => compare(one, other),
        (Type::Tuple(_) | Type::List(_), Type::Set(_))
        | (Type::List(_), Type::Tuple(_))
        | (Type::Map(_), Type::Object(_)) => Less,
        (Type::Set(_), Type::Tuple(_) | Type::List(_))
        | (Type::Tuple(_), Type::List(_))
        | (Type::Object(_), Type::Map(_)) => Greater,
        (Type::Object(one), Type::Object(other)) if one.keys().eq(other.keys()) => {
            compare_all(one.values().zip(other.values()))
        }
        (Type::Tuple(one), Type::Tuple(other)) if one.len() == other.len() => compare_all(one.iter().zip(other.iter())),
        _ => Equal,
    }
}

fn compare_all<'a>(pairs: impl Iterator<Item = (&'a Type, &'a Type)>) -> Ordering {
    let (mut has_less, mut has_greater) = (false, false);
    for (one, other) in pairs {
        let order = compare(one, other);
        has_less |= order == Ordering::Less;
        has_greater |= order == Ordering::Greater;
    }
    has_greater.cmp(&has_less)
}

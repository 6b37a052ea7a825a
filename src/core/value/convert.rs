//! Conversion of values to other types.
//!
//! Whether a type can be converted is known from the types; whether a value can, from its text: `"a"` is no number.
//!
//! Source: `cty/convert/conversion.go`, `conversion_collection.go`, `conversion_object.go`, `conversion_primitive.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Cause, Elements, Failure, Number, Type, Value, unify};

/// True if some values of a type can be converted to another one, as far as the types tell.
pub(super) fn is_convertible(from: &Type, to: &Type) -> bool {
    let element = |from: &Type, to: &Type| from == to || is_convertible(from, to);
    match (from, to) {
        (_, Type::Dynamic)
        | (Type::Dynamic, _)
        | (Type::Bool | Type::Number, Type::String)
        | (Type::String, Type::Bool | Type::Number) => true,
        (Type::Object(from), Type::Object(to)) => {
            to.iter().all(|(name, to)| from.get(name).is_some_and(|from| element(from, to)))
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| element(from, to))
        }
        (Type::List(from) | Type::Set(from), Type::List(to) | Type::Set(to)) | (Type::Map(from), Type::Map(to)) => {
            element(from, to)
        }
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => are_convertible(from.iter(), to),
        (Type::Object(from), Type::Map(to)) => are_convertible(from.values(), to),
        (Type::Map(from), Type::Object(to)) => to.values().all(|to| element(from, to)),
        _ => false,
    }
}

/// Whether elements of some types can become those of a collection.
fn are_convertible<'a>(from: impl Iterator<Item = &'a Type> + Clone, to: &Type) -> bool {
    let unified = match to {
        Type::Dynamic => unify(from.clone()),
        _ => Some(to.clone()),
    };
    let mut seen = None;
    unified.or_else(|| from.clone().next().is_none().then_some(Type::Dynamic)).is_some_and(|to| {
        from.filter(|from| seen.replace(*from) != Some(*from)).all(|from| *from == to || is_convertible(from, &to))
    })
}

impl Value {
    /// The value as one of another type. What is unknown in it stays so, and what the types of elements depend on makes all unknown.
    ///
    /// # Errors
    ///
    /// If it has no meaning there.
    pub fn convert(&self, to: &Type) -> Result<Self, Failure> {
        if let Self::Unknown(_) = self {
            return Ok(self.clone());
        }
        let from = self.kind();
        if from == *to {
            return Ok(self.clone());
        }
        if !is_convertible(&from, to) {
            return Err(mismatch(&from, to));
        }
        self.converted(to)
    }

    /// The value as one of a type that its type can be converted to.
    fn converted(&self, to: &Type) -> Result<Self, Failure> {
        match (self, to) {
            (_, Type::Dynamic) | (Self::Unknown(_), _) => Ok(self.clone()),
            (Self::Null(from), _) => Ok(Self::Null(fill_in(from, to))),
            (Self::Bool(value), Type::String) => Ok(Self::text(value.to_string())),
            (Self::Number(value), Type::String) => Ok(Self::text(value.to_string())),
            (Self::String(text), Type::Number) => Number::parse(text).map(Self::Number),
            (Self::String(text), Type::Bool) => match &**text {
                "true" | "1" => Ok(Self::Bool(true)),
                "false" | "0" => Ok(Self::Bool(false)),
                _ => Err(Cause::WrongText.refuses("a bool is required")),
            },
            (Self::Tuple(values), Type::Tuple(kinds)) => {
                let elements = values.iter().zip(kinds.iter()).map(|(value, kind)| value.converted(kind));
                Ok(Self::tuple(elements.collect::<Result<_, _>>()?))
            }
            (Self::Object(values) | Self::Map(_, values), Type::Object(kinds)) => to_object(values, kinds),
            (
                Self::List(_, values) | Self::Set(_, values) | Self::Tuple(values),
                Type::List(kind) | Type::Set(kind),
            ) => {
                let is_list = matches!(to, Type::List(_));
                Ok(match to_elements(self, values.iter(), kind, is_list)? {
                    Ok((elements, kind)) if is_list => Self::list(kind, elements),
                    Ok((elements, kind)) => Self::set(kind, elements),
                    Err(unknown) => unknown,
                })
            }
            (Self::Map(_, values) | Self::Object(values), Type::Map(kind)) => {
                Ok(match to_elements(self, values.values(), kind, true)? {
                    Ok((elements, kind)) => Self::map(kind, values.keys().cloned().zip(elements).collect()),
                    Err(unknown) => unknown,
                })
            }
            _ if self.kind() == *to => Ok(self.clone()),
            _ => Err(mismatch(&self.kind(), to)),
        }
    }
}

fn to_object(values: &Elements, kinds: &BTreeMap<Arc<str>, Type>) -> Result<Value, Failure> {
    let attribute = |(name, kind): (&Arc<str>, &Type)| {
        let missing = || Cause::WrongType.refuses(format!("attribute {name:?} is required"));
        Ok((name.clone(), values.get(name).ok_or_else(missing)?.converted(kind)?))
    };
    Ok(Value::object(kinds.iter().map(attribute).collect::<Result<_, Failure>>()?))
}

/// The elements of a collection as those of another one, and their type; else why that is unknown. Those of a set have the type, or
/// are not known to become a set.
fn to_elements<'a>(
    whole: &Value,
    values: impl Iterator<Item = &'a Value> + Clone,
    wanted: &Type,
    is_mixed: bool,
) -> Result<Result<(Vec<Value>, Type), Value>, Failure> {
    let kind = match (wanted, whole) {
        (Type::Dynamic, Value::List(kind, _) | Value::Set(kind, _) | Value::Map(kind, _)) => kind.clone(),
        (Type::Dynamic, _) => {
            if let Some(reason) = whole.unknown_part() {
                return Ok(Err(Value::from(reason)));
            }
            let kinds: Vec<Type> = values.clone().map(Value::kind).collect();
            unify(&kinds).unwrap_or(Type::Dynamic)
        }
        _ => wanted.clone(),
    };
    let elements = values.map(|value| value.converted(&kind)).collect::<Result<Vec<_>, _>>()?;
    // A type that has `any` in it may have become a different one for each of them. A map may have nulls without a type.
    let is_map = whole.attributes().is_some();
    let is_known = |value: &&Value| !matches!(value, Value::Unknown(_));
    let mut kinds = elements.iter().filter(is_known).map(Value::kind).filter(|kind| !is_map || *kind != Type::Dynamic);
    let Some(first) = kinds.next() else { return Ok(Ok((elements, kind))) };
    if kinds.all(|kind| kind == first) {
        let elements = if is_map { convert_all(&elements, &first)? } else { elements };
        return Ok(Ok((elements, first)));
    }
    let kinds: Vec<Type> = elements.iter().map(Value::kind).collect();
    let unified = unify(&kinds).filter(|kind| is_mixed && *kind != Type::Dynamic);
    let kind = unified.ok_or_else(|| Failure::unknown("elements whose types tflock cannot make one"))?;
    Ok(Ok((convert_all(&elements, &kind)?, kind)))
}

fn convert_all(elements: &[Value], kind: &Type) -> Result<Vec<Value>, Failure> {
    elements.iter().map(|value| value.converted(kind)).collect()
}

/// A wanted type, with the parts that may be anything from the type that a null had.
///
/// Source: `cty/convert/conversion_dynamic.go`, `dynamicReplace`.
fn fill_in(from: &Type, to: &Type) -> Type {
    match (from, to) {
        (_, Type::Dynamic) => from.clone(),
        (Type::List(from) | Type::Set(from), Type::List(to)) => Type::list(fill_in(from, to)),
        (Type::List(from) | Type::Set(from), Type::Set(to)) => Type::set(fill_in(from, to)),
        (Type::Map(from), Type::Map(to)) => Type::map(fill_in(from, to)),
        _ => to.clone(),
    }
}

fn mismatch(from: &Type, to: &Type) -> Failure {
    let is_collection = matches!(from, Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Tuple(_) | Type::Object(_));
    match to.element() {
        // Which type the elements have in common is for the tools to say.
        Some(Type::Dynamic) if is_collection => Failure::unknown(format!("a {from} as a {}", collection(to))),
        _ => Cause::WrongType.refuses(format!("a {} is required, and it is a {from}", collection(to))),
    }
}

fn collection(kind: &Type) -> String {
    kind.to_string().replace("dynamic", "values of a single type")
}

//! Conversion of values to other types.
//!
//! Whether a type can be converted is known from the types; whether a value can, from its text: `"a"` is no number.
//!
//! Source: `cty/convert/conversion.go`, `conversion_collection.go`, `conversion_object.go`, `conversion_primitive.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Elements, Number, Type, Unevaluated, Value, unify};

/// Which conversions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safety {
    /// Those that every value of the type allows.
    Safe,
    /// Those that some values of the type allow as well.
    Unsafe,
}

/// True if values of a type can be converted to another one, or some of them, as far as the types tell.
pub fn is_convertible(from: &Type, to: &Type, safety: Safety) -> bool {
    let element = |from: &Type, to: &Type| from == to || is_convertible(from, to, safety);
    match (from, to) {
        (_, Type::Dynamic) | (Type::Bool | Type::Number, Type::String) => true,
        (Type::Dynamic, _) | (Type::String, Type::Bool | Type::Number) => safety == Safety::Unsafe,
        (Type::Object(from), Type::Object(to)) => {
            to.iter().all(|(name, to)| from.get(name).is_some_and(|from| element(from, to)))
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| element(from, to))
        }
        (Type::List(_), Type::Set(_)) if safety == Safety::Safe => false,
        (Type::List(from) | Type::Set(from), Type::List(to) | Type::Set(to)) | (Type::Map(from), Type::Map(to)) => {
            element(from, to)
        }
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => are_convertible(from.iter(), to, safety),
        (Type::Object(from), Type::Map(to)) => are_convertible(from.values(), to, safety),
        (Type::Map(from), Type::Object(to)) => safety == Safety::Unsafe && to.values().all(|to| element(from, to)),
        _ => false,
    }
}

/// Whether elements of some types can become those of a collection.
fn are_convertible<'a>(from: impl Iterator<Item = &'a Type> + Clone, to: &Type, safety: Safety) -> bool {
    let unified = match to {
        Type::Dynamic => unify::unify_all(from.clone(), safety),
        _ => Some(to.clone()),
    };
    let mut seen = None;
    unified.or_else(|| from.clone().next().is_none().then_some(Type::Dynamic)).is_some_and(|to| {
        from.filter(|from| seen.replace(*from) != Some(*from))
            .all(|from| *from == to || is_convertible(from, &to, safety))
    })
}

impl Value {
    /// The value as one of another type.
    ///
    /// # Errors
    ///
    /// [`Unevaluated::Refused`] if it has no meaning there.
    pub fn convert(&self, to: &Type) -> Result<Self, Unevaluated> {
        let from = self.kind();
        if from == *to {
            return Ok(self.clone());
        }
        if !is_convertible(&from, to, Safety::Unsafe) {
            return Err(mismatch(&from, to));
        }
        self.converted(to)
    }

    /// The value as one of a type that its type can be converted to.
    pub(super) fn converted(&self, to: &Type) -> Result<Self, Unevaluated> {
        match (self, to) {
            (_, Type::Dynamic) => Ok(self.clone()),
            (Self::Unknown(from, reason), _) => Ok(Self::Unknown(fill_in(from, to), reason.clone())),
            (Self::Null(from), _) => Ok(Self::Null(fill_in(from, to))),
            (Self::Bool(value), Type::String) => Ok(Self::text(value.to_string())),
            (Self::Number(value), Type::String) => Ok(Self::text(value.to_string())),
            (Self::String(text), Type::Number) => Number::parse(text).map(Self::Number),
            (Self::String(text), Type::Bool) => match &**text {
                "true" | "1" => Ok(Self::Bool(true)),
                "false" | "0" => Ok(Self::Bool(false)),
                _ => Err(Unevaluated::refused("a bool is required")),
            },
            (Self::Tuple(values), Type::Tuple(kinds)) => {
                let elements = values.iter().zip(kinds.iter()).map(|(value, kind)| value.converted(kind));
                Ok(Self::Tuple(elements.collect::<Result<_, _>>()?))
            }
            (Self::Object(values) | Self::Map(_, values), Type::Object(kinds)) => to_object(values, kinds),
            (
                Self::List(_, values) | Self::Set(_, values) | Self::Tuple(values),
                Type::List(kind) | Type::Set(kind),
            ) => {
                let is_list = matches!(to, Type::List(_));
                let (elements, kind) = to_elements(self, values.iter(), kind, is_list)?;
                Ok(if is_list { Self::list(kind, elements) } else { Self::set(kind, elements) })
            }
            (Self::Map(_, values) | Self::Object(values), Type::Map(kind)) => {
                let (elements, kind) = to_elements(self, values.values(), kind, true)?;
                Ok(Self::Map(kind, Arc::new(values.keys().cloned().zip(elements).collect())))
            }
            _ if self.kind() == *to => Ok(self.clone()),
            _ => Err(mismatch(&self.kind(), to)),
        }
    }
}

fn to_object(values: &Elements, kinds: &BTreeMap<Arc<str>, Type>) -> Result<Value, Unevaluated> {
    let attribute = |(name, kind): (&Arc<str>, &Type)| {
        let value = values.get(name).ok_or_else(|| Unevaluated::refused(format!("attribute {name:?} is required")))?;
        Ok((name.clone(), value.converted(kind)?))
    };
    Ok(Value::Object(Arc::new(kinds.iter().map(attribute).collect::<Result<_, Unevaluated>>()?)))
}

/// The elements of a collection as those of another one, and their type. Those of a set have it, or are refused.
fn to_elements<'a>(
    whole: &Value,
    values: impl Iterator<Item = &'a Value> + Clone,
    wanted: &Type,
    is_mixed: bool,
) -> Result<(Vec<Value>, Type), Unevaluated> {
    let kind = match (wanted, whole) {
        (Type::Dynamic, Value::List(kind, _) | Value::Set(kind, _) | Value::Map(kind, _)) => kind.clone(),
        (Type::Dynamic, _) => {
            let kinds: Vec<Type> = values.clone().map(Value::kind).collect();
            unify(&kinds, Safety::Unsafe).unwrap_or(Type::Dynamic)
        }
        _ => wanted.clone(),
    };
    let elements = values.map(|value| value.converted(&kind)).collect::<Result<Vec<_>, _>>()?;
    // A type that has `any` in it may have become a different one for each of them. A map may have nulls without a type.
    let is_map = whole.attributes().is_some();
    let mut kinds = elements.iter().map(Value::kind).filter(|kind| !is_map || *kind != Type::Dynamic);
    let Some(first) = kinds.next() else { return Ok((elements, kind)) };
    if kinds.all(|kind| kind == first) {
        let elements = if is_map { convert_all(&elements, &first)? } else { elements };
        return Ok((elements, first));
    }
    let kinds: Vec<Type> = elements.iter().map(Value::kind).collect();
    let unified = unify(&kinds, Safety::Unsafe).filter(|kind| is_mixed && *kind != Type::Dynamic);
    let kind = unified.ok_or_else(|| Unevaluated::refused("its elements have no type in common"))?;
    Ok((convert_all(&elements, &kind)?, kind))
}

fn convert_all(elements: &[Value], kind: &Type) -> Result<Vec<Value>, Unevaluated> {
    elements.iter().map(|value| value.converted(kind)).collect()
}

/// A wanted type, with the parts that may be anything from the type that a value had.
///
/// Source: `cty/convert/conversion_dynamic.go`, `dynamicReplace`.
fn fill_in(from: &Type, to: &Type) -> Type {
    match (from, to) {
        (_, Type::Dynamic) => from.clone(),
        (Type::List(from) | Type::Set(from), Type::List(to)) => Type::list(fill_in(from, to)),
        (Type::List(from) | Type::Set(from), Type::Set(to)) => Type::set(fill_in(from, to)),
        (Type::Map(from), Type::Map(to)) => Type::map(fill_in(from, to)),
        (Type::Tuple(from), Type::Tuple(to)) => {
            Type::Tuple(from.iter().zip(to.iter()).map(|(from, to)| fill_in(from, to)).collect())
        }
        (Type::Object(from), Type::Object(to)) => {
            let filled = to
                .iter()
                .map(|(name, to)| (name.clone(), from.get(name).map_or_else(|| to.clone(), |from| fill_in(from, to))));
            Type::Object(Arc::new(filled.collect()))
        }
        _ => to.clone(),
    }
}

fn mismatch(from: &Type, to: &Type) -> Unevaluated {
    match to {
        Type::List(kind) | Type::Set(kind) | Type::Map(kind) if **kind == Type::Dynamic => {
            let to = to.to_string().replace("dynamic", "values of a single type");
            Unevaluated::refused(format!("a {from} cannot become a {to}"))
        }
        _ => Unevaluated::refused(format!("a {to} is required, and it is a {from}")),
    }
}

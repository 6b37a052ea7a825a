//! Functions over values of any type: conversions, and which of some values counts.
//!
//! Source: terraform `internal/lang/funcs/conversion.go`, `sensitive.go`, `collection.go`.

use super::{Kind, refuse};
use crate::value::{Budget, Safety, Type, Unevaluated, Value, unify};

/// `nonsensitive` of a value that is not sensitive, and `ephemeralasnull` of one that is not ephemeral: the value itself.
pub(super) fn same(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(arguments.first().cloned().unwrap_or(Value::Null(Type::Dynamic)))
}

/// Known values are never sensitive: those that are have no value here.
pub(super) fn is_sensitive(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(match arguments.first().and_then(Value::unknown_part) {
        Some(reason) => Value::Unknown(Type::Bool, reason.clone()),
        None => Value::Bool(false),
    })
}

/// The first value that is neither null nor empty text, as one of the type that all have in common.
pub(super) fn coalesce(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let kinds: Vec<Type> = arguments.iter().map(Value::kind).collect();
    let Some(kind) = unify(&kinds, Safety::Unsafe) else { return refuse("its arguments have no type in common") };
    for argument in arguments {
        let value = argument.convert(&kind)?;
        let is_empty = value.is_null() || kind == Type::String && value.as_text() == Some("");
        if !is_empty {
            return Ok(value);
        }
    }
    refuse("each argument is null or empty")
}

fn to(arguments: &[Value], kind: Kind) -> Result<Value, Unevaluated> {
    arguments.first().map_or_else(|| refuse("an argument is required"), |value| value.convert(&kind.get()))
}

pub(super) fn to_bool(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    to(arguments, Kind::Bool)
}

pub(super) fn to_list(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    to(arguments, Kind::List)
}

pub(super) fn to_map(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    match arguments.first() {
        Some(value) => value.convert(&Type::map(Type::Dynamic)),
        None => refuse("an argument is required"),
    }
}

pub(super) fn to_number(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    to(arguments, Kind::Number)
}

pub(super) fn to_set(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    to(arguments, Kind::Set)
}

pub(super) fn to_string(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    to(arguments, Kind::String)
}

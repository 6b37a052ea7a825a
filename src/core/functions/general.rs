//! Functions over values of any type: conversions, and which of some values counts.
//!
//! Source: terraform `internal/lang/funcs/conversion.go`, `collection.go`.

use super::{Kind, uncertain};
use crate::value::{Budget, Cause, Failure, Type, Value, unify};

/// The first value that is neither null nor empty text, as one of the type that all have in common.
pub(super) fn coalesce(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    for argument in arguments {
        budget.spend(argument.size())?;
    }
    let kinds: Vec<Type> = arguments.iter().map(Value::kind).filter(|kind| *kind != Type::Dynamic).collect();
    if kinds.iter().any(|kind| !kind.is_primitive() && *kind != kinds[0]) {
        return uncertain("lists, maps or objects of different types");
    }
    let Some(kind) = unify(&kinds) else { return uncertain("arguments without a type in common") };
    for argument in arguments {
        let value = argument.convert(&kind)?;
        let is_empty = value.is_null() || kind == Type::String && value.as_text() == Some("");
        if !is_empty {
            return Ok(value);
        }
    }
    Err(Cause::AllEmpty.refuses("each argument is null or empty"))
}

fn to(arguments: &[Value], kind: &Type) -> Result<Value, Failure> {
    arguments.first().map_or_else(|| uncertain("no argument"), |value| value.convert(kind))
}

pub(super) fn to_bool(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    to(arguments, &Type::Bool)
}

pub(super) fn to_list(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    to(arguments, &Kind::List.get())
}

pub(super) fn to_map(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    to(arguments, &Type::map(Type::Dynamic))
}

pub(super) fn to_number(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    to(arguments, &Type::Number)
}

pub(super) fn to_set(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    to(arguments, &Kind::Set.get())
}

pub(super) fn to_string(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    to(arguments, &Type::String)
}

//! Functions over sets.
//!
//! Source: `cty/function/stdlib/set.go`; `collection.go`, `SetProductFunc`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::refuse;
use crate::value::{Budget, Safety, Type, Unevaluated, Value, unify};

pub(super) fn unite(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    combine(arguments, budget, |_, _| true, true)
}

pub(super) fn intersect(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    combine(arguments, budget, |value, other| contains(other, value), false)
}

pub(super) fn subtract(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    combine(arguments, budget, |value, other| !contains(other, value), false)
}

fn contains(set: &[Value], wanted: &Value) -> bool {
    set.iter().any(|value| value.equals(wanted) == Ok(true))
}

/// What is kept of the first set with each of the others; and the others themselves, for a union.
fn combine(
    arguments: &[Value],
    budget: &Budget,
    is_kept: fn(&Value, &[Value]) -> bool,
    adds: bool,
) -> Result<Value, Unevaluated> {
    let kinds = arguments.iter().filter(|set| {
        set.elements().is_none_or(|elements| !elements.is_empty()) || set.kind() != Type::set(Type::Dynamic)
    });
    let kinds: Vec<Type> = kinds.filter_map(|set| set.kind().element().cloned()).collect();
    let kind = if kinds.is_empty() { Some(Type::Dynamic) } else { unify(&kinds, Safety::Unsafe) };
    let is_open = kinds.iter().any(|kind| *kind != Type::Dynamic);
    let Some(kind) = kind.filter(|kind| *kind != Type::Dynamic || !is_open) else {
        return refuse("the elements have no type in common");
    };
    let sets = arguments.iter().map(|set| set.convert(&Type::set(kind.clone()))).collect::<Result<Vec<_>, _>>()?;
    if let Some(Value::Unknown(_, reason)) = sets.iter().find(|set| matches!(set, Value::Unknown(..))) {
        return Ok(Value::Unknown(Type::set(kind), reason.clone()));
    }
    let mut sets = sets.iter().filter_map(Value::elements);
    let mut kept: Vec<Value> = sets.next().map_or_else(Vec::new, |elements| elements.to_vec());
    for set in sets {
        budget.spend_elements(set.len())?;
        if adds {
            kept.extend(set.iter().cloned());
        } else {
            budget.spend(u64::try_from(kept.len().saturating_mul(set.len())).unwrap_or(u64::MAX))?;
            kept.retain(|value| is_kept(value, set));
        }
    }
    Ok(Value::set(kind, kept))
}

/// Tuples of one element each of all arguments: a list if all of them are lists or tuples, else a set.
pub(super) fn product(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    if arguments.len() < 2 {
        return refuse("at least two arguments are required");
    }
    let kinds = arguments.iter().map(element_kind).collect::<Result<Vec<_>, _>>()?;
    let is_list = arguments.iter().all(|argument| !matches!(argument, Value::Set(..)));
    let factors = arguments.iter().zip(&kinds).map(|(argument, kind)| {
        let elements = argument.elements().map_or(&[][..], |elements| elements);
        elements.iter().map(|element| element.convert(kind)).collect::<Result<Vec<_>, _>>()
    });
    let factors = factors.collect::<Result<Vec<_>, _>>()?;
    let total = factors.iter().try_fold(1usize, |total, factor| total.checked_mul(factor.len()));
    budget.spend_elements(total.unwrap_or(usize::MAX).saturating_mul(factors.len() + 1))?;
    let mut tuples = vec![Vec::new()];
    for factor in &factors {
        let longer = |tuple: &Vec<Value>| {
            let tuple = tuple.clone();
            factor.iter().map(move |value| [&tuple[..], std::slice::from_ref(value)].concat())
        };
        tuples = tuples.iter().flat_map(longer).collect();
    }
    let tuples: Vec<Value> = tuples.into_iter().map(Value::tuple).collect();
    // Where the tools wait for a type they make tuples of different types, which are no list.
    let kind = tuples.first().map_or_else(|| Type::Tuple(kinds.into()), Value::kind);
    if tuples.iter().any(|tuple| tuple.kind() != kind) {
        return refuse("the elements of an argument have different types");
    }
    Ok(if is_list { Value::list(kind, tuples) } else { Value::set(kind, tuples) })
}

fn element_kind(argument: &Value) -> Result<Type, Unevaluated> {
    match argument {
        Value::List(kind, _) | Value::Set(kind, _) => Ok(kind.clone()),
        Value::Tuple(elements) if elements.is_empty() => Ok(Type::Dynamic),
        Value::Tuple(elements) => {
            let kinds: BTreeSet<Type> = elements.iter().map(Value::kind).collect();
            let kinds: Arc<[Type]> = kinds.into_iter().collect();
            unify(&kinds, Safety::Unsafe).map_or_else(|| refuse("the elements of a tuple have no type in common"), Ok)
        }
        _ => refuse(format!("sets or lists are required, and an argument is a {}", argument.kind())),
    }
}

//! Functions over numbers.
//!
//! Source: `cty/function/stdlib/number.go`, `sequence.go`.

use super::uncertain;
use crate::value::{Budget, Failure, Number, Type, Value};

/// How many numbers the tools let `range` make.
const MOST: usize = 1024;

fn number(arguments: &[Value], at: usize) -> Result<&Number, Failure> {
    match arguments.get(at) {
        Some(Value::Number(number)) => Ok(number),
        _ => uncertain("what is no number"),
    }
}

pub(super) fn max(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    first_of(arguments, |one, other| one > other)
}

pub(super) fn min(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    first_of(arguments, |one, other| one < other)
}

/// The first number that goes before all others.
fn first_of(arguments: &[Value], is_before: fn(&Number, &Number) -> bool) -> Result<Value, Failure> {
    let mut found = number(arguments, 0)?;
    for at in 1..arguments.len() {
        let other = number(arguments, at)?;
        if is_before(other, found) {
            found = other;
        }
    }
    Ok(found.clone().into())
}

/// The whole numbers from a start up to an end, which is not one of them.
pub(super) fn range(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let zero = Number::from(0);
    let (start, end) = match arguments.len() {
        1 => (&zero, number(arguments, 0)?),
        2 => (number(arguments, 0)?, number(arguments, 1)?),
        _ => return uncertain("a step"),
    };
    let mut numbers = Vec::new();
    let mut next = start.clone();
    if end < start {
        return uncertain("an end before the start");
    }
    while &next < end {
        if numbers.len() == MOST {
            return uncertain(format!("more than {MOST} numbers"));
        }
        budget.spend_elements(1)?;
        numbers.push(Value::Number(next.clone()));
        next = next.add(&Number::from(1))?;
    }
    Ok(Value::list(Type::Number, numbers))
}

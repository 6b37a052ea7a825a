//! Functions over numbers.
//!
//! Source: `cty/function/stdlib/number.go`, `sequence.go`; terraform `internal/lang/funcs/number.go`.

use num_bigint::BigInt;

use super::{elements, floats, refuse, text, whole};
use crate::value::{Budget, Number, Type, Unevaluated, Value};

fn number(arguments: &[Value], at: usize) -> Result<&Number, Unevaluated> {
    match arguments.get(at) {
        Some(Value::Number(number)) => Ok(number),
        _ => refuse("a number is required"),
    }
}

pub(super) fn abs(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(number(arguments, 0)?.abs().into())
}

pub(super) fn floor(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(number(arguments, 0)?.floor().into())
}

pub(super) fn ceil(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(number(arguments, 0)?.ceil().into())
}

/// -1, 0 or 1.
pub(super) fn signum(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let number = whole(arguments, 0)?;
    Ok(Number::from(number.signum()).into())
}

pub(super) fn max(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    first_of(arguments, |one, other| one > other)
}

pub(super) fn min(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    first_of(arguments, |one, other| one < other)
}

/// The first number that goes before all others.
fn first_of(arguments: &[Value], is_before: fn(&Number, &Number) -> bool) -> Result<Value, Unevaluated> {
    if arguments.is_empty() {
        return refuse("at least one number is required");
    }
    let mut found = number(arguments, 0)?;
    for at in 1..arguments.len() {
        let other = number(arguments, at)?;
        if is_before(other, found) {
            found = other;
        }
    }
    Ok(found.clone().into())
}

fn float(value: f64) -> Result<Value, Unevaluated> {
    Number::from_f64(value).map_or_else(|| refuse("the result is no number"), |number| Ok(number.into()))
}

/// The logarithm to a base, with 53 bits.
pub(super) fn log(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    float(floats::ln(number(arguments, 0)?.to_f64()) / floats::ln(number(arguments, 1)?.to_f64()))
}

/// A power, with 53 bits.
pub(super) fn pow(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    match floats::pow(number(arguments, 0)?.to_f64(), number(arguments, 1)?.to_f64()) {
        Some(power) => float(power),
        None => Err(Unevaluated::limit("a power with a fraction in its exponent")),
    }
}

/// A whole number from its digits in a base of 2 to 62: after the lower case letters come the upper case ones.
///
/// Source: Go's `math/big`, `Int.SetString`.
pub(super) fn parse_int(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    if !matches!(arguments.first(), Some(Value::String(_))) {
        return refuse("the first argument must be a string");
    }
    let (written, base) = (text(arguments, 0), whole(arguments, 1)?);
    let Some(radix) = u32::try_from(base).ok().filter(|base| (2..=62).contains(base)) else {
        return refuse("the base must be a whole number from 2 to 62");
    };
    budget.spend_text(written.len().saturating_mul(written.len() / 16 + 1))?;
    let (is_negative, digits) = match written.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let values: Option<Vec<u8>> = digits.iter().map(|byte| digit(*byte, radix)).collect();
    let Some(values) = values.filter(|values| !values.is_empty()) else {
        return refuse(format!("{written:?} is not a whole number in base {base}"));
    };
    let mut result = BigInt::from(0);
    for value in values {
        result = result * radix + value;
    }
    Ok(Number::whole(&if is_negative { -result } else { result }).into())
}

fn digit(byte: u8, radix: u32) -> Option<u8> {
    let value = match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'z' => byte - b'a' + 10,
        b'A'..=b'Z' if radix <= 36 => byte - b'A' + 10,
        b'A'..=b'Z' => byte - b'A' + 36,
        _ => return None,
    };
    Some(value).filter(|value| u32::from(*value) < radix)
}

/// The numbers from a start up to an end, which is not one of them; at most 1,024.
pub(super) fn range(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let (zero, one) = (Number::from(0), Number::from(1));
    let step = |is_down: bool| if is_down { one.negate() } else { one.clone() };
    let (start, end, step) = match arguments.len() {
        1 => (&zero, number(arguments, 0)?, step(number(arguments, 0)? < &zero)),
        2 => (number(arguments, 0)?, number(arguments, 1)?, step(number(arguments, 1)? < number(arguments, 0)?)),
        3 => (number(arguments, 0)?, number(arguments, 1)?, number(arguments, 2)?.clone()),
        _ => return refuse("one, two or three arguments are required"),
    };
    let is_down = step < zero;
    if step.is_zero() {
        return refuse("the step is zero");
    }
    if if is_down { end > start } else { end < start } {
        return refuse("the step leads away from the end");
    }
    let mut numbers = Vec::new();
    let mut next = start.clone();
    while if is_down { &next > end } else { &next < end } {
        if numbers.len() == 1024 {
            return refuse("there would be more than 1,024 numbers");
        }
        numbers.push(Value::Number(next.clone()));
        next = next.add(&step)?;
    }
    budget.spend_elements(numbers.len())?;
    Ok(Value::list(Type::Number, numbers))
}

/// The sum of a list, set or tuple.
pub(super) fn sum(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let values = elements(arguments, 0);
    if arguments.first().and_then(Value::elements).is_none() || values.is_empty() {
        return refuse("a list, set or tuple with at least one number is required");
    }
    let mut sum: Option<Number> = None;
    for value in values {
        match value.convert(&Type::Number)? {
            Value::Number(number) => sum = Some(sum.map_or_else(|| Ok(number.clone()), |sum| sum.add(&number))?),
            Value::Unknown(_, reason) => return Ok(Value::Unknown(Type::Number, reason)),
            _ => return refuse("an element is null"),
        }
    }
    Ok(sum.unwrap_or_else(|| Number::from(0)).into())
}

//! Operators, and the numbers they work on.

use super::super::syntax::{Expr, Node, Number, Operator};
use super::{Evaluator, NoValue, Value, no_value};

impl<'s> Evaluator<'s> {
    pub(super) fn operation(&mut self, node: &Node<'s>) -> Result<Value, NoValue> {
        let result = match &node.expr {
            Expr::Not(operand) => self.value(operand)?.truth().map(|value| Value::Bool(!value)),
            Expr::Negative(operand) => match self.value(operand)?.number() {
                Some(number) => return finite(calculate(Operator::Minus, Number::Whole(0), number), node.at),
                None => None,
            },
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                return binary(*operator, &left, &right, node.at);
            }
            _ => None,
        };
        result.map_or_else(|| no_value(node.at, "the operator does not take such a value"), Ok)
    }
}

fn binary(operator: Operator, left: &Value, right: &Value, at: usize) -> Result<Value, NoValue> {
    let mismatch = || no_value(at, "the operator does not take such values");
    match operator {
        Operator::Equal => return Ok(Value::Bool(left == right)),
        Operator::NotEqual => return Ok(Value::Bool(left != right)),
        Operator::And | Operator::Or => {
            let (Some(left), Some(right)) = (left.truth(), right.truth()) else {
                return mismatch();
            };
            return Ok(Value::Bool(if operator == Operator::And { left && right } else { left || right }));
        }
        _ => {}
    }
    let (Some(left), Some(right)) = (left.number(), right.number()) else {
        return mismatch();
    };
    let compared = || left.partial_cmp(&right);
    match operator {
        Operator::Less => Ok(Value::Bool(compared().is_some_and(std::cmp::Ordering::is_lt))),
        Operator::LessOrEqual => Ok(Value::Bool(compared().is_some_and(std::cmp::Ordering::is_le))),
        Operator::Greater => Ok(Value::Bool(compared().is_some_and(std::cmp::Ordering::is_gt))),
        Operator::GreaterOrEqual => Ok(Value::Bool(compared().is_some_and(std::cmp::Ordering::is_ge))),
        Operator::Divide | Operator::Remainder if right.float() == 0.0 => no_value(at, "a number is divided by zero"),
        _ => finite(calculate(operator, left, right), at),
    }
}

fn finite(number: Number, at: usize) -> Result<Value, NoValue> {
    if number.float().is_finite() { Ok(Value::Number(number)) } else { no_value(at, "the number is too large") }
}

/// Exact for whole numbers as long as the result is one and fits; the divisor is not zero.
fn calculate(operator: Operator, left: Number, right: Number) -> Number {
    if let (Number::Whole(a), Number::Whole(b)) = (left, right) {
        let exact = match operator {
            Operator::Plus => a.checked_add(b),
            Operator::Minus => a.checked_sub(b),
            Operator::Times => a.checked_mul(b),
            Operator::Remainder => a.checked_rem(b),
            _ => a.checked_div(b).filter(|quotient| quotient.checked_mul(b) == Some(a)),
        };
        if let Some(exact) = exact {
            return Number::Whole(exact);
        }
    }
    let (a, b) = (left.float(), right.float());
    Number::from(match operator {
        Operator::Plus => a + b,
        Operator::Minus => a - b,
        Operator::Times => a * b,
        Operator::Remainder => a % b,
        _ => a / b,
    })
}

impl Value {
    /// The value as a number, if it can be one.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => match text.parse() {
                Ok(whole) => Some(Number::Whole(whole)),
                Err(_) => text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Number::from),
            },
            _ => None,
        }
    }
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "only where the exact way was left")]
    fn float(self) -> f64 {
        match self {
            Number::Whole(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other).is_some_and(std::cmp::Ordering::is_eq)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(b)),
            _ => self.float().partial_cmp(&other.float()),
        }
    }
}

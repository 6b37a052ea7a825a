//! Operators and conditions.
//!
//! Source: `hclsyntax/expression_ops.go`; `hclsyntax/expression.go`, `ConditionalExpr`.

use std::sync::Arc;

use super::calls::refused;
use super::syntax::{BinaryOperator, Node};
use super::{Evaluated, Evaluation, Failure, Names};
use crate::value::{Cause, Known, Number, Type, Unevaluated, Value, unify};

impl Evaluation<'_> {
    /// The value of the branch that counts, with the type that both have in common.
    pub(super) fn conditional(&self, [condition, yes, no]: &[Node; 3], names: Names<'_>) -> Evaluated {
        let is_true = match known::<bool>(&self.value(condition, names)?, "a condition")? {
            Ok(is_true) => is_true,
            Err(reason) => return Ok(Value::Unknown(reason)),
        };
        let (taken, other) = if is_true { (yes, no) } else { (no, yes) };
        let taken = self.value(taken, names)?;
        let other = match self.value(other, names) {
            Ok(other) => other,
            Err(Failure::Refused(_)) => Value::unknown(Unevaluated::limit("a condition whose other result fails")),
            Err(failure) => return Err(failure),
        };
        match (&taken, other.unknown_part()) {
            (Value::Unknown(_), _) => return Ok(taken),
            // Whatever the other one is, text stays what it is, or the tool refuses both.
            (Value::String(_), Some(reason)) => {
                self.meter.meet(reason);
                return Ok(taken);
            }
            (_, Some(reason)) => return Ok(Value::Unknown(reason.clone())),
            (_, None) => {}
        }
        let (ours, theirs) = (self.meter.kind(&taken)?, self.meter.kind(&other)?);
        if ours == theirs || theirs == Type::Dynamic {
            return Ok(taken);
        }
        if ours == Type::Dynamic {
            return Ok(Value::Null(theirs));
        }
        if let Some(reason) = taken.unknown_part() {
            return Ok(Value::Unknown(reason.clone()));
        }
        self.meter.budget.spend(taken.size())?;
        match unify(&[ours, theirs]) {
            Some(kind) => taken.convert(&kind),
            None => Err(Failure::unknown("a condition with results of different types")),
        }
    }

    pub(super) fn not(&self, operand: &Node, names: Names<'_>) -> Evaluated {
        let operand = known::<bool>(&self.value(operand, names)?, "the operand of !")?;
        Ok(operand.map_or_else(Value::Unknown, |value| Value::Bool(!value)))
    }

    pub(super) fn negation(&self, operand: &Node, names: Names<'_>) -> Evaluated {
        let operand = known::<Number>(&self.value(operand, names)?, "the operand of -")?;
        Ok(operand.map_or_else(Value::Unknown, |value| Value::Number(value.negate())))
    }

    /// Operators of one precedence, from left to right.
    pub(super) fn operation(&self, first: &Node, others: &[(BinaryOperator, Node)], names: Names<'_>) -> Evaluated {
        let mut left = self.value(first, names);
        for (operator, right) in others {
            let right = self.value(right, names);
            left = match operator {
                BinaryOperator::Or => self.logical(left, right, true),
                BinaryOperator::And => self.logical(left, right, false),
                _ => self.binary(*operator, &left?, &right?),
            };
        }
        left
    }

    /// `||`, which `true` decides on either side, and `&&`, which `false` does. Whether an error or null on the other side counts
    /// depends on the version of the tool.
    fn logical(&self, left: Evaluated, right: Evaluated, decisive: bool) -> Evaluated {
        if [&left, &right].iter().any(|side| matches!(side, Ok(Value::Null(_)))) {
            return Err(Failure::unknown("null next to a logical operator"));
        }
        let side = |value: Evaluated| known::<bool>(&value?, "a side of a logical operator");
        match (side(left), side(right)) {
            (Ok(Ok(left)), Ok(Ok(right))) => Ok(Value::Bool(if decisive { left || right } else { left && right })),
            (Ok(Ok(value)), Ok(Err(reason))) | (Ok(Err(reason)), Ok(Ok(value))) if value == decisive => {
                self.meter.meet(&reason);
                Ok(Value::Bool(decisive))
            }
            (Err(failure @ Failure::Final(_)), _) | (_, Err(failure @ Failure::Final(_))) => Err(failure),
            (Ok(Ok(value)), Err(_)) | (Err(_), Ok(Ok(value))) if value == decisive => {
                Err(Failure::unknown("a logical operator of which one side fails and the other one decides"))
            }
            (Ok(Err(reason)), _) | (_, Ok(Err(reason))) => Ok(Value::Unknown(reason)),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
        }
    }

    fn binary(&self, operator: BinaryOperator, left: &Value, right: &Value) -> Evaluated {
        if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            self.meter.budget.spend(left.size().min(right.size()))?;
            let is_equal = left.equals(right);
            return Ok(is_equal
                .map_or_else(Value::Unknown, |is_equal| Value::Bool(is_equal == (operator == BinaryOperator::Equal))));
        }
        match (known::<Number>(left, "an operand")?, known::<Number>(right, "an operand")?) {
            (Ok(left), Ok(right)) => compute(operator, &left, &right),
            (Err(reason), _) | (_, Err(reason)) => Ok(Value::Unknown(reason)),
        }
    }
}

/// A value as a bool or a number that is needed here.
pub(super) fn known<T: Operand>(value: &Value, what: &str) -> Result<Known<T>, Failure> {
    if value.is_null() {
        return refused(Cause::Null, format!("{what} is null"));
    }
    match value.convert(&T::KIND)? {
        Value::Unknown(reason) => Ok(Err(reason)),
        value => T::of(value).map(Ok).ok_or_else(|| Failure::unknown(format!("{what} of the wrong type"))),
    }
}

/// What an operator takes.
pub(super) trait Operand: Sized {
    const KIND: Type;

    fn of(value: Value) -> Option<Self>;
}

impl Operand for bool {
    const KIND: Type = Type::Bool;

    fn of(value: Value) -> Option<Self> {
        if let Value::Bool(value) = value { Some(value) } else { None }
    }
}

impl Operand for Number {
    const KIND: Type = Type::Number;

    fn of(value: Value) -> Option<Self> {
        if let Value::Number(value) = value { Some(value) } else { None }
    }
}

impl Operand for Arc<str> {
    const KIND: Type = Type::String;

    fn of(value: Value) -> Option<Self> {
        if let Value::String(value) = value { Some(value) } else { None }
    }
}

fn compute(operator: BinaryOperator, left: &Number, right: &Number) -> Evaluated {
    Ok(match operator {
        BinaryOperator::Add => Value::Number(left.add(right)?),
        BinaryOperator::Subtract => Value::Number(left.subtract(right)?),
        BinaryOperator::Multiply => Value::Number(left.multiply(right)?),
        BinaryOperator::Divide => Value::Number(left.divide(right)?),
        BinaryOperator::Modulo => Value::Number(left.modulo(right)?),
        BinaryOperator::Greater => Value::Bool(left > right),
        BinaryOperator::GreaterOrEqual => Value::Bool(left >= right),
        BinaryOperator::Less => Value::Bool(left < right),
        BinaryOperator::LessOrEqual => Value::Bool(left <= right),
        BinaryOperator::Equal => Value::Bool(left == right),
        BinaryOperator::NotEqual => Value::Bool(left != right),
        // Those have no numbers.
        BinaryOperator::Or | BinaryOperator::And => return Err(Failure::unknown("a number as a bool")),
    })
}

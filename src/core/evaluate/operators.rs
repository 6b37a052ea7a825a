//! Operators and conditions.
//!
//! Source: `hclsyntax/expression_ops.go`; `hclsyntax/expression.go`, `ConditionalExpr`. Logical operators pass over the side that
//! does not decide, as Terraform 1.12 and later do.

use std::sync::Arc;

use super::syntax::{BinaryOperator, Node, NodeKind, Step};
use super::{Evaluated, Evaluation, Failure, Names, refused};
use crate::value::{Known, Number, Safety, Type, Unevaluated, Value, unify};

impl Evaluation<'_> {
    /// The value of the branch that counts, with the type that both have in common.
    pub(super) fn conditional(&self, [condition, yes, no]: &[Node; 3], names: Names<'_>) -> Evaluated {
        let (yes, no) = ((yes, self.attempt(yes, names)?), (no, self.attempt(no, names)?));
        let kind = self.common_kind(&yes, &no)?;
        let (taken, kind) = match (known::<bool>(&self.value(condition, names)?, "a condition")?, kind) {
            (Ok(is_true), Some(kind)) => (if is_true { yes.1 } else { no.1 }, kind),
            (Ok(is_true), None) => {
                // What is taken must have a value all the same.
                (if is_true { yes.1 } else { no.1 }).map_err(Failure::Error)?;
                let reason = Unevaluated::limit("a condition whose other result fails");
                return Ok(Value::unknown(Type::Dynamic, reason));
            }
            (Err(reason), kind) => return Ok(Value::Unknown(kind.unwrap_or(Type::Dynamic), reason)),
        };
        Ok(taken.map_err(Failure::Error)?.convert(&kind)?)
    }

    /// A value, or an error that does not count unless the value is needed.
    fn attempt(&self, node: &Node, names: Names<'_>) -> Result<Result<Value, Unevaluated>, Failure> {
        match self.value(node, names) {
            Ok(value) => Ok(Ok(value)),
            Err(Failure::Error(error)) => Ok(Err(error)),
            Err(failure) => Err(failure),
        }
    }

    /// The type of both results; `None` if one fails, and the tool has a type for it that is not known here.
    fn common_kind(&self, yes: &Attempt<'_>, no: &Attempt<'_>) -> Result<Option<Type>, Failure> {
        let kind = |(node, attempt): &Attempt<'_>| match attempt {
            Ok(value) => self.meter.kind(value).map(Some),
            Err(_) => Ok(failed_kind(node)),
        };
        let (Some(one), Some(other)) = (kind(yes)?, kind(no)?) else { return Ok(None) };
        match (&yes.1, &no.1) {
            (Ok(Value::Null(Type::Dynamic)), _) => Ok(Some(other)),
            (_, Ok(Value::Null(Type::Dynamic))) => Ok(Some(one)),
            _ if one == Type::Dynamic || other == Type::Dynamic => Ok(Some(Type::Dynamic)),
            _ if one == other => Ok(Some(one)),
            _ => match unify(&[one, other], Safety::Unsafe) {
                Some(kind) => Ok(Some(kind)),
                None => refused("the two results of a condition have no type in common"),
            },
        }
    }

    pub(super) fn not(&self, operand: &Node, names: Names<'_>) -> Evaluated {
        let operand = known::<bool>(&self.value(operand, names)?, "the operand of !")?;
        Ok(operand.map_or_else(|reason| Value::Unknown(Type::Bool, reason), |value| Value::Bool(!value)))
    }

    pub(super) fn negation(&self, operand: &Node, names: Names<'_>) -> Evaluated {
        let operand = known::<Number>(&self.value(operand, names)?, "the operand of -")?;
        Ok(operand.map_or_else(|reason| Value::Unknown(Type::Number, reason), |value| Value::Number(value.negate())))
    }

    /// Operators of one precedence, from left to right.
    pub(super) fn operation(&self, first: &Node, others: &[(BinaryOperator, Node)], names: Names<'_>) -> Evaluated {
        let mut left = self.value(first, names);
        for (operator, right) in others {
            left = match operator {
                BinaryOperator::Or => self.logical(left, right, names, true),
                BinaryOperator::And => self.logical(left, right, names, false),
                _ => left.and_then(|left| self.binary(*operator, &left, &self.value(right, names)?)),
            };
        }
        left
    }

    /// `||`, which `true` decides on either side, and `&&`, which `false` does. An error counts for a value that is unknown.
    fn logical(&self, left: Evaluated, right: &Node, names: Names<'_>, decisive: bool) -> Evaluated {
        let side = |value: Evaluated| match value {
            Ok(value) => Ok(known::<bool>(&value, "a side of a logical operator")?.map_err(Ok)),
            Err(Failure::Error(error)) => Ok(Err(Err(Failure::Error(error)))),
            Err(failure) => Err(failure),
        };
        let (left, right) = (side(left)?, side(self.value(right, names))?);
        match (left, right) {
            (Ok(value), _) | (_, Ok(value)) if value == decisive => Ok(Value::Bool(decisive)),
            (Err(reason), _) | (_, Err(reason)) => reason.map(|reason| Value::Unknown(Type::Bool, reason)),
            (Ok(_), Ok(value)) => Ok(Value::Bool(value)),
        }
    }

    fn binary(&self, operator: BinaryOperator, left: &Value, right: &Value) -> Evaluated {
        if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            self.meter.look_at(left)?;
            self.meter.look_at(right)?;
            let is_equal = left.equals(right);
            return Ok(is_equal.map_or_else(
                |reason| Value::Unknown(Type::Bool, reason),
                |is_equal| Value::Bool(is_equal == (operator == BinaryOperator::Equal)),
            ));
        }
        match (known::<Number>(left, "an operand")?, known::<Number>(right, "an operand")?) {
            (Ok(left), Ok(right)) => compute(operator, &left, &right),
            (Err(reason), _) | (_, Err(reason)) => Ok(Value::Unknown(kind_of(operator), reason)),
        }
    }
}

/// A value as a bool or a number that is needed here.
pub(super) fn known<T: Operand>(value: &Value, what: &str) -> Result<Known<T>, Failure> {
    if value.is_null() {
        return refused(format!("{what} is null"));
    }
    match value.convert(&T::KIND)? {
        Value::Unknown(_, reason) => Ok(Err(reason)),
        value => T::of(value).map(Ok).map_or_else(|| refused(format!("{what} has the wrong type")), Ok),
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

fn kind_of(operator: BinaryOperator) -> Type {
    match operator {
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo => Type::Number,
        _ => Type::Bool,
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
        BinaryOperator::Or | BinaryOperator::And => return refused("a number is used as a bool"),
    })
}

/// An expression with its value, or why it fails.
type Attempt<'a> = (&'a Node, Result<Value, Unevaluated>);

/// The type that the tools give to an expression that fails; `None` where that depends on its parts.
fn failed_kind(node: &Node) -> Option<Type> {
    match &node.kind {
        NodeKind::Template(_) | NodeKind::Join(_) => Some(Type::String),
        NodeKind::Not(_) => Some(Type::Bool),
        NodeKind::Negation(_) => Some(Type::Number),
        NodeKind::Operation(_, others) => others.last().map(|(operator, _)| match operator {
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo => Type::Number,
            _ => Type::Bool,
        }),
        NodeKind::Wrapped(inner) => failed_kind(inner),
        NodeKind::Traversal(_, steps) if steps.iter().any(|step| matches!(step, Step::Splat(_))) => None,
        NodeKind::Tuple(_) | NodeKind::Object(_) | NodeKind::For(_) | NodeKind::Conditional(_) => None,
        _ => Some(Type::Dynamic),
    }
}

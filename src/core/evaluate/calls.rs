//! Calls of functions, and those whose arguments may fail: `try` and `can`.
//!
//! Source: `hclsyntax/expression.go`, `FunctionCallExpr`; `ext/tryfunc`; terraform `internal/lang/funcs/conversion.go`, `ConvertFunc`.

use super::syntax::{Call, Node};
use super::{Evaluated, Evaluation, Failure, Names, TypeExpression};
use crate::functions::{Action, Function};
use crate::value::{Cause, Unevaluated, Value};

impl Evaluation<'_> {
    pub(super) fn call(&self, call: &Call, at: usize, names: Names<'_>) -> Evaluated {
        let name = &*call.name;
        let function = Function::find(name, self.scope.tools());
        match (function.map(|function| function.action), &call.arguments[..]) {
            (Some(Action::Try), arguments) if !call.is_expanded => return self.first_without_error(arguments, names),
            (Some(Action::Can), [argument]) if !call.is_expanded => {
                return Ok(match self.caught(argument, names)? {
                    Caught::Refused(_) => Value::Bool(false),
                    Caught::Value(_) => Value::Bool(true),
                    Caught::Unknown(reason) => Value::unknown(reason),
                });
            }
            (Some(Action::Convert), [value, kind]) if !call.is_expanded => return self.convert(value, kind, at, names),
            _ => {}
        }
        let mut arguments = call.arguments.iter().map(|node| self.value(node, names)).collect::<Result<Vec<_>, _>>()?;
        if call.is_expanded
            && let Some(last) = arguments.pop()
        {
            match (&last, last.elements()) {
                (_, Some(elements)) => {
                    self.meter.budget.spend_elements(elements.len())?;
                    arguments.extend(elements.iter().cloned());
                }
                (Value::Unknown(reason), None) => return Ok(Value::Unknown(reason.clone())),
                _ => return Ok(self.uncertain(format!("{name}() with ... after a value that is not a list"), at)),
            }
        }
        if let Some(value) = self.scope.call(name, &arguments, self.meter) {
            return Ok(self.placed(value?, at));
        }
        match function {
            Some(function) => Ok(self.placed(function.call(arguments, &self.meter.budget)?, at)),
            None => Ok(self.uncertain(format!("{name}()"), at)),
        }
    }

    /// What only the tool computes.
    fn uncertain(&self, what: String, at: usize) -> Value {
        self.placed(Value::unknown(Unevaluated::limit(what)), at)
    }

    fn first_without_error(&self, arguments: &[Node], names: Names<'_>) -> Evaluated {
        let mut last = Failure::unknown("try() without an argument");
        for argument in arguments {
            match self.caught(argument, names)? {
                Caught::Refused(failure) => last = failure,
                Caught::Value(value) => return Ok(value),
                Caught::Unknown(reason) => return Ok(Value::unknown(reason)),
            }
        }
        Err(last)
    }

    /// An argument whose failure is no error. If anything in it is unknown, so is whether it fails.
    fn caught(&self, argument: &Node, names: Names<'_>) -> Result<Caught, Failure> {
        let (value, met) = self.meter.watched(|| self.value(argument, names));
        Ok(match (value, met) {
            (Err(failure @ Failure::Final(_)), _) => return Err(failure),
            (_, Some(reason)) => Caught::Unknown(reason),
            (Err(failure), None) => Caught::Refused(failure),
            (Ok(value), None) => match value.unknown_part() {
                Some(reason) => Caught::Unknown(Unevaluated::clone(reason)),
                None => Caught::Value(value),
            },
        })
    }

    /// `convert(value, type)`.
    fn convert(&self, value: &Node, kind: &Node, at: usize, names: Names<'_>) -> Evaluated {
        let value = self.value(value, names)?;
        let Some(kind) = TypeExpression::of(kind).filter(|kind| !kind.has_optional()) else {
            return Ok(self.uncertain("convert() with this type".to_owned(), at));
        };
        if let Some(reason) = value.unknown_part() {
            return Ok(Value::Unknown(reason.clone()));
        }
        self.meter.budget.spend(value.size())?;
        value.convert(&kind.get())
    }
}

/// What becomes of an expression whose failure is no error.
enum Caught {
    Value(Value),
    Refused(Failure),
    Unknown(Unevaluated),
}

/// Shorthand for what an expression certainly refuses.
pub(super) fn refused<T>(cause: Cause, reason: impl Into<String>) -> Result<T, Failure> {
    Err(cause.refuses(reason))
}

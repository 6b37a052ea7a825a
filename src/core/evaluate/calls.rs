//! Calls of functions, and those whose arguments may fail: `try` and `can`.
//!
//! Source: `hclsyntax/expression.go`, `FunctionCallExpr`; `ext/tryfunc`.

use super::syntax::{Call, Node};
use super::{Evaluated, Evaluation, Failure, Names, refused};
use crate::functions::{Action, Function};
use crate::value::{Type, Unevaluated, Value};

impl Evaluation<'_> {
    pub(super) fn call(&self, call: &Call, at: usize, names: Names<'_>) -> Evaluated {
        let name = &*call.name;
        let function = Function::find(name, self.scope.tools());
        match function.map(|function| function.action) {
            Some(Action::Try) if !call.is_expanded => return self.first_without_error(&call.arguments, names),
            Some(Action::Can) if !call.is_expanded && call.arguments.len() == 1 => {
                return self.has_no_error(&call.arguments[0], names);
            }
            Some(Action::Render) if !call.is_expanded => return self.render(call, names),
            None if name.starts_with("provider::") => {
                let reason = Unevaluated::limit(format!("{name}(), a function of a provider"));
                return Ok(self.placed(Value::unknown(Type::Dynamic, reason), at));
            }
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
                (Value::Unknown(_, reason), None) => return Ok(Value::Unknown(Type::Dynamic, reason.clone())),
                _ => return refused(format!("the last argument of {name}() is not a list, a set or a tuple")),
            }
        }
        let value = match (self.scope.call(name, &arguments, self.meter), function) {
            (Some(value), _) => value?,
            (None, Some(function)) => function.call(arguments, &self.meter.budget)?,
            (None, None) => return refused(format!("there is no function {name}()")),
        };
        Ok(self.placed(value, at))
    }

    fn first_without_error(&self, arguments: &[Node], names: Names<'_>) -> Evaluated {
        let mut last = None;
        for argument in arguments {
            match self.value(argument, names) {
                Err(Failure::Error(error)) => last = Some(error),
                // What the tool computes may be an error.
                Ok(value) => {
                    let unknown = value.unknown_part().map(|reason| Value::Unknown(Type::Dynamic, reason.clone()));
                    return Ok(unknown.unwrap_or(value));
                }
                failure => return failure,
            }
        }
        Err(Failure::Error(last.unwrap_or_else(|| Unevaluated::refused("try() has no argument"))))
    }

    fn has_no_error(&self, argument: &Node, names: Names<'_>) -> Evaluated {
        match self.value(argument, names) {
            Err(Failure::Error(_)) => Ok(Value::Bool(false)),
            Ok(value) => Ok(match value.unknown_part() {
                Some(reason) => Value::Unknown(Type::Bool, reason.clone()),
                None => Value::Bool(true),
            }),
            failure => failure,
        }
    }
}

//! Parts of values: attributes, indexes and splats.
//!
//! Source: `ops.go`, `Index` and `GetAttr`; `hclsyntax/expression.go`, `SplatExpr`.

use super::calls::refused;
use super::syntax::Step;
use super::{Evaluated, Evaluation, Names};
use crate::value::{Cause, Failure, Type, Value};

impl Evaluation<'_> {
    /// What some steps lead to from a value.
    pub(super) fn steps(&self, value: Value, steps: &[Step], names: Names<'_>) -> Evaluated {
        let mut value = value;
        for step in steps {
            value = match step {
                Step::Name(name) => attribute(&value, name)?,
                Step::Index(key) => element(&value, &self.value(key, names)?)?,
                Step::Splat(further) => self.splat(&value, further, names)?,
            };
            if let Value::Unknown(reason) = &value {
                self.meter.meet(reason);
            }
        }
        Ok(value)
    }

    /// The same steps from each element. A value that is no list is one with a single element, and null is one without.
    fn splat(&self, value: &Value, steps: &[Step], names: Names<'_>) -> Evaluated {
        let alone = std::slice::from_ref(value);
        let elements = match value {
            Value::Unknown(_) => return Ok(value.clone()),
            Value::Null(Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
                return refused(Cause::Null, "a splat is applied to null");
            }
            Value::Null(_) => &[],
            _ => value.elements().map_or(alone, |elements| &**elements),
        };
        self.meter.budget.spend_elements(elements.len())?;
        let results = elements.iter().map(|element| {
            self.meter.enter()?;
            let result = self.steps(element.clone(), steps, names);
            self.meter.leave();
            result
        });
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let tuple = self.meter.made(Value::tuple(results))?;
        let (Value::List(..) | Value::Set(..)) = value else { return Ok(tuple) };
        let Type::Tuple(kinds) = self.meter.kind(&tuple)? else { return Ok(tuple) };
        let results = tuple.elements().map_or(&[][..], |elements| elements);
        match (tuple.unknown_part(), kinds.first()) {
            // What it has in place of elements decides the type.
            (Some(reason), _) => Ok(Value::Unknown(reason.clone())),
            (None, None) => Err(Failure::unknown("a splat of an empty list")),
            (None, Some(kind)) if kinds.iter().all(|other| other == kind) => {
                Ok(Value::list(kind.clone(), results.to_vec()))
            }
            _ => Ok(tuple),
        }
    }
}

/// A value in a message.
pub(super) fn described(value: &Value) -> String {
    let kind = match value {
        Value::Tuple(_) => Type::Tuple([].into()),
        Value::Object(_) => Type::Object(std::sync::Arc::default()),
        value => value.kind(),
    };
    format!("a value of type {kind}")
}

fn attribute(value: &Value, name: &str) -> Evaluated {
    match value {
        Value::Null(_) => return refused(Cause::Null, format!("the attribute {name:?} of null is used")),
        Value::Unknown(_) => return Ok(value.clone()),
        _ => {}
    }
    match value.attribute(name).cloned() {
        Some(found) => Ok(found),
        None => refused(Cause::MissingPart, format!("{} has no attribute {name:?}", described(value))),
    }
}

fn element(value: &Value, key: &Value) -> Evaluated {
    let kind = match (value, key) {
        (Value::Unknown(_), _) => return Ok(value.clone()),
        (_, Value::Unknown(_)) => return Ok(key.clone()),
        (Value::Null(_), _) => return refused(Cause::Null, "an element of null is used"),
        (_, Value::Null(_)) => return refused(Cause::Null, "a key is null"),
        (Value::List(..) | Value::Tuple(_), _) => Type::Number,
        (Value::Map(..) | Value::Object(_), _) => Type::String,
        _ => return refused(Cause::MissingPart, format!("{} has no elements with keys", described(value))),
    };
    let element = match key.convert(&kind)? {
        Value::Number(number) => {
            let elements = value.elements();
            number.to_usize().and_then(|at| elements.and_then(|elements| elements.get(at).cloned()))
        }
        Value::String(name) => value.attribute(&name).cloned(),
        _ => None,
    };
    match element {
        Some(element) => Ok(element),
        None => refused(Cause::MissingPart, format!("{} has no element with this key", described(value))),
    }
}

//! Parts of values: attributes, indexes and splats.
//!
//! Source: `ops.go`, `Index` and `GetAttr`; `hclsyntax/expression.go`, `SplatExpr`.

use super::syntax::Step;
use super::{Evaluated, Evaluation, Names, refused};
use crate::value::{Type, Unevaluated, Value};

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
        }
        Ok(value)
    }

    /// The same steps from each element. A value that is no list is one with a single element, and null is one without.
    fn splat(&self, value: &Value, steps: &[Step], names: Names<'_>) -> Evaluated {
        let alone = std::slice::from_ref(value);
        let elements = match value {
            Value::Unknown(_, reason) => return Ok(Value::Unknown(Type::Dynamic, reason.clone())),
            Value::Null(Type::List(_) | Type::Set(_) | Type::Tuple(_)) => return refused("a splat is applied to null"),
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
        let (Value::List(element, _) | Value::Set(element, _)) = value else { return Ok(Value::tuple(results)) };
        let kind = match results.first() {
            Some(first) => self.meter.kind(first)?,
            None => self.steps(Value::unknown(element.clone(), empty()), steps, names)?.kind(),
        };
        for result in &results {
            if self.meter.kind(result)? != kind {
                return Ok(Value::tuple(results));
            }
        }
        Ok(Value::list(kind, results))
    }
}

/// A value in a message.
pub(super) fn described(value: &Value) -> String {
    format!("a value of type {}", value.kind())
}

/// Stands for the elements of a list that has none.
fn empty() -> Unevaluated {
    Unevaluated::limit("an element of an empty list")
}

fn attribute(value: &Value, name: &str) -> Evaluated {
    let found = match value {
        Value::Null(_) => return refused(format!("the attribute {name:?} of null is used")),
        Value::Unknown(kind, reason) => {
            let kind = match kind {
                Type::Dynamic => Some(&Type::Dynamic),
                Type::Object(attributes) => attributes.get(name),
                Type::Map(element) => Some(&**element),
                _ => None,
            };
            kind.map(|kind| Value::Unknown(kind.clone(), reason.clone()))
        }
        _ => value.attributes().and_then(|attributes| attributes.get(name).cloned()),
    };
    match found {
        Some(found) => Ok(found),
        None => refused(format!("{} has no attribute {name:?}", described(value))),
    }
}

fn element(value: &Value, key: &Value) -> Evaluated {
    match (value, key) {
        (Value::Null(_), _) => return refused("an element of null is used"),
        (_, Value::Null(_)) => return refused("a key is null"),
        (Value::Unknown(Type::Object(_), _), Value::String(name)) => return attribute(value, name),
        (Value::Unknown(kind, reason), _) => {
            let element = kind.element().unwrap_or(&Type::Dynamic);
            return Ok(Value::Unknown(element.clone(), reason.clone()));
        }
        _ => {}
    }
    let kind = match value {
        Value::List(..) | Value::Tuple(_) => Type::Number,
        Value::Map(..) | Value::Object(_) => Type::String,
        _ => return refused(format!("{} has no elements with keys", described(value))),
    };
    let element = match key.convert(&kind)? {
        Value::Number(number) => {
            let elements = value.elements();
            number.to_usize().and_then(|at| elements.and_then(|elements| elements.get(at).cloned()))
        }
        Value::String(name) => value.attributes().and_then(|attributes| attributes.get(&*name).cloned()),
        Value::Unknown(_, reason) => {
            let kind = value.kind().element().cloned().unwrap_or(Type::Dynamic);
            Some(Value::Unknown(kind, reason))
        }
        _ => None,
    };
    match element {
        Some(element) => Ok(element),
        None => refused(format!("{} has no element with this key", described(value))),
    }
}

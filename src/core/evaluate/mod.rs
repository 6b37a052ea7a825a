//! Expressions and their values: what the tools compute from an expression, where it is written, and why there is no value.
//!
//! [`Expression`] keeps a text and its place, and is parsed when its value is needed: most of a configuration never is. What names
//! mean is the business of a [`Scope`], which looks a value up when an expression needs it. Everything is bounded by a [`Meter`].
//!
//! An evaluation has one of three outcomes: a value; *refused*, what the tool certainly refuses, by the table of causes ([`Cause`]);
//! *unknown*, all else. A value may be unknown in parts: it then says why, and a result that does not depend on them is known all the
//! same. Only what is refused makes `try` move on.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclsyntax/expression.go`, `expression_ops.go`, `expression_template.go`, `ops.go`.

mod access;
#[cfg(test)]
mod agreed_tests;
mod calls;
mod expression;
mod iterate;
mod memo;
mod meter;
#[cfg(test)]
mod monotone_tests;
mod operators;
mod parsed;
pub mod syntax;
mod template;
#[cfg(test)]
mod tests;
mod types;

use std::fmt;

use crate::finding::Location;
use crate::functions::Tools;
use crate::value::{Cause, Elements, Number, Type, Unevaluated, Value};
use calls::refused;
use syntax::{Node, NodeKind, Step};

pub use crate::value::Failure;
pub use expression::Expression;
pub use memo::Memo;
pub use meter::Meter;
pub use parsed::ParsedTexts;
pub use template::TemplateScope;
pub use types::TypeExpression;

/// What names and functions mean where an expression is.
pub trait Scope {
    /// The tool whose functions there are.
    fn tools(&self) -> Tools;

    /// The value of a reference, without what leads on from its member.
    ///
    /// # Errors
    ///
    /// What the tool refuses. A value that only it knows is no error, but unknown.
    fn lookup(&self, reference: &Reference<'_>, meter: &Meter) -> Evaluated;

    /// The result of a function that depends on where the expression is; `None` for all others, whose results depend on their
    /// arguments alone.
    fn call(&self, _name: &str, _arguments: &[Value], _meter: &Meter) -> Option<Evaluated> {
        None
    }
}

/// A value, or why there is none.
pub type Evaluated = Result<Value, Failure>;

/// True if nothing is gained by the place of the expression.
fn has_place(reason: &Unevaluated) -> bool {
    !matches!(reason, Unevaluated::Limit { place: None, .. } | Unevaluated::Refused { place: None, .. })
}

/// A reference to something outside of the expression.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    /// The name that it begins with, such as `local`.
    pub name: &'a str,
    steps: &'a [Step],
}

impl<'a> Reference<'a> {
    /// The name behind the first point: which local value, which variable.
    pub fn member(&self) -> Option<&'a str> {
        if let Some(Step::Name(name)) = self.steps.first() { Some(name) } else { None }
    }

    /// The two names behind the member, if there are such.
    pub fn names_behind(&self) -> Option<[&'a str; 2]> {
        match self.steps {
            [_, Step::Name(first), Step::Name(second), ..] => Some([first, second]),
            _ => None,
        }
    }
}

/// The names up to the first bracket, with points between them.
impl fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Name(name) => write!(f, ".{name}"),
            Step::Index(_) | Step::Splat(_) => f.write_str("[…]"),
        })
    }
}

/// The evaluation of one expression.
struct Evaluation<'a> {
    /// Where it is written; `None` if places do not matter.
    expression: Option<&'a Expression>,
    scope: &'a dyn Scope,
    meter: &'a Meter,
}

/// The names that `for` gives to a key and a value, the innermost first.
#[derive(Clone, Copy)]
struct Names<'a>(Option<&'a Binding<'a>>);

struct Binding<'a> {
    name: &'a str,
    value: Value,
    outer: Names<'a>,
}

impl Names<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        let mut next = self.0;
        while let Some(binding) = next {
            if binding.name == name {
                return Some(&binding.value);
            }
            next = binding.outer.0;
        }
        None
    }
}

impl Evaluation<'_> {
    fn value(&self, node: &Node, names: Names<'_>) -> Evaluated {
        let value = self.meter.enter().and_then(|()| {
            let value = self.of_kind(node, names);
            self.meter.leave();
            value
        });
        match value {
            // A part that is unknown was given its place where it was read.
            Ok(value) => {
                if let Value::Unknown(reason) = &value {
                    self.meter.meet(reason);
                }
                Ok(value)
            }
            Err(failure) => Err(self.failure_at(failure, node.at)),
        }
    }

    fn failure_at(&self, failure: Failure, at: usize) -> Failure {
        match (self.expression, &failure) {
            (None, _) => failure,
            (_, Failure::Final(reason)) if has_place(reason) => failure,
            (Some(expression), _) => failure.at(&self.located(expression, at)),
        }
    }

    /// The place of a byte, for which the lines of the text are counted. Without enough left for that nothing else is evaluated.
    fn located(&self, expression: &Expression, at: usize) -> Location {
        let paid = self.meter.budget.spend_text(expression.native_text().map_or(0, str::len));
        if paid.is_ok() { expression.locate(at) } else { expression.place.clone() }
    }

    fn of_kind(&self, node: &Node, names: Names<'_>) -> Evaluated {
        match &node.kind {
            NodeKind::Null => Ok(Value::Null(Type::Dynamic)),
            NodeKind::Bool(value) => Ok(Value::Bool(*value)),
            NodeKind::Number(text) => Number::parse(text).map(Value::Number),
            NodeKind::Text(text) => Ok(Value::text(text)),
            NodeKind::Template(parts) => self.template(parts, names),
            NodeKind::Wrapped(inner) => self.value(inner, names),
            NodeKind::Name(_) => self.reference(node, &[], names),
            NodeKind::Traversal(root, steps) => self.reference(root, steps, names),
            NodeKind::Call(call) => self.call(call, node.at, names),
            NodeKind::Conditional(parts) => self.conditional(parts, names),
            NodeKind::Negation(operand) => self.negation(operand, names),
            NodeKind::Not(operand) => self.not(operand, names),
            NodeKind::Operation(first, others) => self.operation(first, others, names),
            NodeKind::Tuple(items) => {
                self.meter.budget.spend_elements(items.len())?;
                let items = items.iter().map(|item| self.value(item, names)).collect::<Result<_, _>>()?;
                self.meter.made(Value::tuple(items))
            }
            NodeKind::Object(pairs) => self.object(pairs, names),
            NodeKind::For(each) => self.each(each, names),
            NodeKind::Join(each) => self.join(each, names),
        }
    }

    /// A term and the steps behind it.
    fn reference(&self, root: &Node, steps: &[Step], names: Names<'_>) -> Evaluated {
        let NodeKind::Name(name) = &root.kind else { return self.steps(self.value(root, names)?, steps, names) };
        if let Some(value) = names.get(name) {
            return self.steps(value.clone(), steps, names);
        }
        let reference = Reference { name, steps };
        let value = self.scope.lookup(&reference, self.meter)?;
        let further = usize::from(reference.member().is_some());
        self.steps(self.placed(value, root.at), &steps[further..], names)
    }

    /// A value that is unknown for a reason of this place.
    fn placed(&self, value: Value, at: usize) -> Value {
        match (value, self.expression) {
            (Value::Unknown(reason), Some(expression)) if !has_place(&reason) => {
                Value::unknown(Unevaluated::clone(&reason).at(&self.located(expression, at)))
            }
            (value, _) => value,
        }
    }

    fn template(&self, parts: &[Node], names: Names<'_>) -> Evaluated {
        let mut text = String::new();
        let mut unknown = None;
        for part in parts {
            let value = self.value(part, names)?;
            self.append(&value, &mut text, &mut unknown).map_err(|failure| self.failure_at(failure, part.at))?;
        }
        Ok(unknown.unwrap_or_else(|| Value::text(text)))
    }

    /// Appends a value to a text, which becomes unknown if the value is.
    fn append(&self, value: &Value, text: &mut String, unknown: &mut Option<Value>) -> Result<(), Failure> {
        if value.is_null() {
            return refused(Cause::Null, "a part of a string is null");
        }
        match value.convert(&Type::String)? {
            Value::String(part) => {
                self.meter.budget.spend_text(part.len())?;
                text.push_str(&part);
            }
            value => *unknown = unknown.take().or(Some(value)),
        }
        Ok(())
    }

    fn object(&self, pairs: &[(Node, Node)], names: Names<'_>) -> Evaluated {
        self.meter.budget.spend_elements(pairs.len())?;
        let mut attributes = Elements::new();
        let mut unknown = None;
        for (key, value) in pairs {
            if matches!(key.kind, NodeKind::Traversal(..)) && key.as_reference().is_some() {
                return Err(Failure::invalid("a key with points in it is neither in quotes nor in parentheses"));
            }
            let (key, value) = (self.value(key, names)?, self.value(value, names)?);
            if key.is_null() {
                return refused(Cause::Null, "a key of an object is null");
            }
            match key.convert(&Type::String)? {
                Value::String(key) => drop(attributes.insert(key, value)),
                Value::Unknown(reason) => unknown = unknown.or(Some(reason)),
                _ => {}
            }
        }
        match unknown {
            Some(reason) => Ok(Value::Unknown(reason)),
            None => self.meter.made(Value::object(attributes)),
        }
    }
}

//! Templates in files: what names mean in them.
//!
//! Source: terraform `internal/lang/funcs/filesystem.go`, `MakeTemplateFileFunc`.

use super::calls::refused;
use super::syntax::Node;
use super::{Evaluated, Failure, Meter, Reference, Scope};
use crate::functions::Tools;
use crate::value::{Cause, Unevaluated, Value};

/// What names mean in a template: the variables that are given to it, and the functions of where it is rendered.
pub struct TemplateScope<'a> {
    /// Where it is rendered.
    pub outer: &'a dyn Scope,
    /// An object or a map.
    pub variables: &'a Value,
}

impl Scope for TemplateScope<'_> {
    fn tools(&self) -> Tools {
        self.outer.tools()
    }

    fn lookup(&self, reference: &Reference<'_>, _: &Meter) -> Evaluated {
        let missing = || Failure::invalid(format!("the template has no variable for {reference}"));
        if let Value::Unknown(reason) = self.variables {
            return Ok(Value::from(reason));
        }
        let variable = self.variables.attributes().and_then(|all| all.get(reference.name)).ok_or_else(missing)?;
        match (reference.member(), variable) {
            (None, value) => Ok(value.clone()),
            (Some(_), Value::Unknown(reason)) => Ok(Value::from(reason)),
            (Some(name), value) => {
                let part = value.attribute(name).cloned();
                part.map_or_else(|| refused(Cause::MissingPart, format!("there is no {reference}")), Ok)
            }
        }
    }

    fn call(&self, name: &str, arguments: &[Value], meter: &Meter) -> Option<Evaluated> {
        match name {
            "templatefile" => Some(Err(Failure::unknown("templatefile() in a template"))),
            _ => self.outer.call(name, arguments, meter),
        }
    }
}

impl Node {
    /// The value of a template with its variables. What it lacks is no certain error of the call.
    ///
    /// # Errors
    ///
    /// What the tool refuses, and limits.
    pub fn render(&self, variables: &Value, outer: &dyn Scope, meter: &Meter) -> Evaluated {
        match self.evaluate(None, &TemplateScope { outer, variables }, meter) {
            Err(Failure::Final(Unevaluated::Refused { reason, .. })) => {
                Err(Failure::unknown(format!("a template where {reason}")))
            }
            value => value,
        }
    }
}

//! Templates that are values: what names mean in them, and the function that renders one.
//!
//! Source: terraform and opentofu `internal/lang/funcs/string.go`, `MakeTemplateStringFunc`; `descriptions.go`.

use super::syntax::{Call, Node, NodeKind};
use super::{Evaluated, Evaluation, Failure, Meter, Names, Reference, Scope, refused};
use crate::functions::Tools;
use crate::value::{Type, Unevaluated, Value};

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
        let missing = || Failure::refused(format!("the template has no variable for {reference}"));
        if let Value::Unknown(_, reason) = self.variables {
            return Ok(Value::from(reason));
        }
        let variable = self.variables.attributes().and_then(|all| all.get(reference.name)).ok_or_else(missing)?;
        match (reference.member(), variable) {
            (None, value) => Ok(value.clone()),
            (Some(_), Value::Unknown(_, reason)) => Ok(Value::from(reason)),
            (Some(name), value) => {
                let part = value.attributes().and_then(|all| all.get(name)).cloned();
                part.map_or_else(|| refused(format!("there is no {reference}")), Ok)
            }
        }
    }

    fn call(&self, name: &str, arguments: &[Value], meter: &Meter) -> Option<Evaluated> {
        match name {
            "templatefile" | "templatestring" => {
                Some(Err(Failure::refused(format!("{name}() is called in a template"))))
            }
            _ => self.outer.call(name, arguments, meter),
        }
    }
}

impl Node {
    /// The value of a template with its variables. What it lacks is an error of the call, which `try` passes over.
    ///
    /// # Errors
    ///
    /// What the tool refuses, and limits.
    pub fn render(&self, variables: &Value, outer: &dyn Scope, meter: &Meter) -> Evaluated {
        let value = self.evaluate(None, &TemplateScope { outer, variables }, meter);
        value.map_err(|failure| Unevaluated::from(failure).into())
    }
}

impl Evaluation<'_> {
    /// `templatestring`, whose template Terraform wants to be a reference: a literal one would be an expression already.
    pub(super) fn render(&self, call: &Call, names: Names<'_>) -> Evaluated {
        let [template, variables] = &call.arguments[..] else {
            return refused(format!("templatestring() takes 2 arguments, and {} are given", call.arguments.len()));
        };
        let wrong = |argument: &str, why: &str| {
            refused(format!("the argument \"{argument}\" of templatestring() is wrong: {why}"))
        };
        let is_terraform = self.scope.tools() == Tools::TERRAFORM;
        if is_terraform && template.as_reference().is_none() {
            return wrong("template", "it is not a reference to a string");
        }
        let (template, variables) = (self.value(template, names)?, self.value(variables, names)?);
        let text = match template {
            Value::String(text) => text,
            Value::Unknown(_, reason) => return Ok(Value::Unknown(Type::Dynamic, reason)),
            _ => return wrong("template", "it is not a string"),
        };
        match variables.attributes() {
            Some(all) if !all.keys().all(|name| is_name(name)) => return wrong("vars", "a key of it is not a name"),
            None if !matches!(variables, Value::Unknown(..)) => {
                return wrong("vars", "it is neither an object nor a map");
            }
            _ => {}
        }
        let parsed = Node::parse_template(&text, 0).map_err(|error| {
            Failure::Error(Unevaluated::refused(format!("the template of templatestring() is wrong: {}", error.kind)))
        })?;
        match parsed.render(&variables, self.scope, self.meter)? {
            Value::Null(_) => refused("the result of templatestring() is null"),
            value if is_terraform => Ok(value.convert(&Type::String)?),
            value => Ok(value),
        }
    }
}

fn is_name(text: &str) -> bool {
    let kind = Node::parse(text, 0..text.len()).map(|node| node.kind);
    matches!(kind, Ok(NodeKind::Name(_) | NodeKind::Null | NodeKind::Bool(_)))
}

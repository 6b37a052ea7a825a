//! What names mean in the expressions that the tools evaluate before they install anything: variables, local values, paths and the
//! workspace, in a module that is reached over calls whose arguments set its variables.
//!
//! A value is looked up when an expression needs it, and once in each module. Terraform looks only at variables that are declared
//! with `const = true`; OpenTofu looks at all.
//!
//! Source: opentofu `internal/configs/static_evaluator.go`, `static_scope.go`; `internal/command/meta.go`, `Workspace`. For Terraform
//! 1.15 and later, which variables count and when a value must be known.

#[cfg(test)]
mod properties_tests;
mod providers;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use super::module::{Module, Variable};
use super::side_files::{VariableValue, VariableValues};
use crate::dialect::Dialect;
use crate::evaluate::syntax::Node;
use crate::evaluate::{Evaluated, Expression, Failure, Memo, Meter, Reference, Scope, TypeExpression};
use crate::functions::Tools;
use crate::redact;
use crate::value::{Type, Unevaluated, Value};
pub use providers::ProviderProblem;

/// What names mean in one module, on one way to it.
#[derive(Debug)]
pub struct ModuleScope {
    pub module: Rc<Module>,
    /// Its directory, relative to the root module; `None` if only the tool knows it.
    directory: Option<String>,
    inputs: Inputs,
    /// The values that were looked up.
    known: Memo,
}

/// Where the variables of a module are set.
#[derive(Debug)]
pub enum Inputs {
    /// From outside: the root module.
    Root,
    /// By the call with this name.
    Call(Rc<ModuleScope>, String),
    /// Nowhere: the module of a run of a test.
    None,
}

/// What the configuration sees of its surroundings.
#[derive(Debug)]
pub struct Surroundings {
    pub dialect: Dialect,
    pub variables: VariableValues,
    /// The directory of the root module, absolute.
    pub directory: String,
    pub workspace: Result<String, &'static str>,
    /// How much may be computed for all modules together.
    pub meter: Meter,
}

impl Surroundings {
    /// Where no variable is set and no workspace was selected.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            variables: VariableValues::default(),
            directory: ".".to_owned(),
            workspace: Ok("default".to_owned()),
            meter: Meter::default(),
        }
    }
}

/// What an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The source of a module.
    Source,
    /// The version of a module, which has no paths in Terraform.
    Version,
    /// The source or version of a provider, which has no paths.
    Provider,
    /// A local value, which in Terraform may have parts that are known only later.
    Local,
}

impl ModuleScope {
    pub fn new(module: Rc<Module>, directory: Option<String>, inputs: Inputs) -> Self {
        Self { module, directory, inputs, known: Memo::default() }
    }

    /// The value of a string; `None` if it is null.
    pub fn evaluate(
        &self,
        expression: &Expression,
        purpose: Purpose,
        surroundings: &Surroundings,
    ) -> Result<Option<String>, Unevaluated> {
        let names = ModuleNames { scope: self, surroundings, purpose };
        string(&expression.evaluate(&names, &surroundings.meter)?)
    }

    /// The value of a variable of this module, where it is a string or can become one.
    pub fn variable(&self, name: &str, surroundings: &Surroundings) -> Result<Option<String>, Unevaluated> {
        let names = ModuleNames { scope: self, surroundings, purpose: Purpose::Source };
        string(&names.variable(name)?)
    }
}

fn string(value: &Value) -> Result<Option<String>, Unevaluated> {
    match value.convert(&Type::String) {
        Ok(Value::String(text)) => Ok(Some(text.to_string())),
        Ok(Value::Unknown(reason)) => Err(Unevaluated::clone(&reason)),
        Ok(Value::Null(_)) => Ok(None),
        _ => Err(Unevaluated::refused("it is not a string")),
    }
}

/// The words that begin the names of values.
const NAMES: [&str; 12] =
    ["count", "data", "each", "ephemeral", "local", "module", "path", "resource", "self", "terraform", "tofu", "var"];

struct ModuleNames<'a> {
    scope: &'a ModuleScope,
    surroundings: &'a Surroundings,
    purpose: Purpose,
}

impl Scope for ModuleNames<'_> {
    fn tools(&self) -> Tools {
        match self.surroundings.dialect {
            Dialect::Terraform => Tools::TERRAFORM,
            Dialect::OpenTofu => Tools::OPENTOFU,
        }
    }

    fn lookup(&self, reference: &Reference<'_>, _: &Meter) -> Evaluated {
        let is_tofu = self.surroundings.dialect == Dialect::OpenTofu;
        let has_paths = match self.purpose {
            Purpose::Source | Purpose::Local => true,
            Purpose::Version => is_tofu,
            Purpose::Provider => false,
        };
        match (reference.name, reference.member()) {
            ("var", Some(name)) => self.variable(name),
            ("local", Some(name)) => self.local(name),
            ("path", Some("root")) if has_paths => Ok(Value::text(".")),
            ("path", Some("module")) if has_paths => Ok(match &self.scope.directory {
                Some(directory) => Value::text(directory),
                None => unknown(Unevaluated::limit(format!("{reference} of a module that is not installed"))),
            }),
            ("path", Some("cwd")) if has_paths => Ok(Value::text(&self.surroundings.directory)),
            ("terraform" | "tofu", Some("workspace")) if is_tofu => match &self.surroundings.workspace {
                Ok(name) => Ok(Value::text(name)),
                Err(reason) => Err(Failure::invalid(*reason)),
            },
            _ if self.purpose == Purpose::Local && !is_tofu => {
                Ok(unknown(Unevaluated::limit(format!("{reference}, which is known only later"))))
            }
            (name, None) if !NAMES.contains(&name) => {
                Err(Failure::invalid(format!("put the text in quotes: {reference} names no value")))
            }
            _ => {
                let usable = match (is_tofu, has_paths) {
                    (true, _) => "variables, local values, paths and the workspace",
                    (false, true) => "variables, local values and paths",
                    (false, false) => "variables and local values",
                };
                Err(Failure::invalid(format!("it depends on {reference}, and it can use only {usable}")))
            }
        }
    }
}

impl ModuleNames<'_> {
    fn local(&self, name: &str) -> Evaluated {
        let key = format!("local.{name}");
        let Some(local) = self.scope.module.names.locals.get(name) else { return Err(undeclared(&key)) };
        let names = ModuleNames { purpose: Purpose::Local, ..*self };
        let meter = &self.surroundings.meter;
        // The tools evaluate a local value before what uses it, so nothing there passes over its errors.
        let value = self.scope.known.value(&key, meter, || local.evaluate(&names, meter));
        value.map_err(|failure| Failure::Final(failure.into()))
    }

    fn variable(&self, name: &str) -> Evaluated {
        let written = format!("var.{name}");
        let Some(variable) = self.scope.module.names.variables.get(name) else { return Err(undeclared(&written)) };
        let refused = |reason: &str| {
            let reason = format!("it depends on {written}, which {reason}");
            Ok(unknown(Unevaluated::refused(reason).at(&variable.place)))
        };
        if self.surroundings.dialect == Dialect::Terraform && variable.constant != Some(true) {
            return refused("is not declared with `const = true`");
        }
        for (is_set, word) in [(variable.sensitive, "is sensitive"), (variable.ephemeral, "is ephemeral")] {
            if is_set == Some(true) {
                return refused(word);
            }
        }
        self.scope.known.value(&written, &self.surroundings.meter, || self.converted(name, variable))
    }

    /// What a variable is set to, else its default, as a value of its type.
    fn converted(&self, name: &str, variable: &Variable) -> Evaluated {
        let kind = match variable.kind.as_ref() {
            None => Some(TypeExpression::Plain(Type::Dynamic)),
            Some(kind) => kind.text().and_then(TypeExpression::parse),
        };
        let Some(kind) = kind else {
            let what = format!("var.{name}, whose type cannot be read here");
            return Ok(unknown(Unevaluated::limit(what).at(&variable.place)));
        };
        let (value, place) = match self.set(name, variable, &kind)? {
            Some((value, place)) if !value.is_null() || variable.nullable != Some(false) => (value, place),
            _ => match &variable.default {
                Some(default) => (constant(default, &self.surroundings.meter)?, Some(default)),
                None => return self.unset(name, variable),
            },
        };
        kind.convert(&value, &self.surroundings.meter.budget).map_err(|failure| {
            let problem = match Unevaluated::from(failure) {
                Unevaluated::Refused { reason, .. } => {
                    Unevaluated::refused(format!("the value of var.{name} does not have its type: {reason}"))
                }
                problem => problem,
            };
            Failure::Final(place.into_iter().fold(problem, |problem, place| problem.at(&place.place)))
        })
    }

    /// What a variable is set to, and where.
    fn set<'a>(
        &'a self,
        name: &str,
        variable: &Variable,
        kind: &TypeExpression,
    ) -> Result<Option<(Value, Option<&'a Expression>)>, Failure> {
        let meter = &self.surroundings.meter;
        match &self.scope.inputs {
            Inputs::None => Ok(None),
            Inputs::Call(caller, call) => {
                let Some(input) = caller.module.calls.get(call).and_then(|call| call.inputs.get(name)) else {
                    return Ok(None);
                };
                let names = ModuleNames { scope: caller, purpose: Purpose::Source, ..*self };
                Ok(Some((input.evaluate(&names, meter)?, Some(input))))
            }
            Inputs::Root => match self.surroundings.variables.get(name) {
                Some(value @ (VariableValue::Text(text) | VariableValue::Environment(text))) => {
                    if matches!(value, VariableValue::Environment(_)) {
                        redact::remember_variable(name, text);
                    }
                    let is_plain =
                        variable.kind.is_none() || matches!(kind, TypeExpression::Plain(kind) if kind.is_primitive());
                    given(name, text, is_plain, meter).map(|value| Some((value, None)))
                }
                Some(VariableValue::Expression(value)) => Ok(Some((constant(value, meter)?, Some(value)))),
                None => Ok(None),
            },
        }
    }

    fn unset(&self, name: &str, variable: &Variable) -> Evaluated {
        let reason = match &self.scope.inputs {
            Inputs::Root => Unevaluated::Unset(name.to_owned()),
            Inputs::None => Unevaluated::limit(format!("var.{name} of a module that a test runs")),
            Inputs::Call(..) => {
                let reason = Unevaluated::refused(format!("it depends on var.{name}, which no caller sets"));
                return Err(Failure::Final(reason.at(&variable.place)));
            }
        };
        Ok(unknown(reason))
    }
}

/// What the environment or the command line sets a variable to: its text, or the expression in it.
fn given(name: &str, text: &str, is_plain: bool, meter: &Meter) -> Evaluated {
    if is_plain {
        return Ok(Value::text(text));
    }
    let value = Node::parse(text, 0..text.len()).ok().and_then(|node| node.constant(meter));
    value.ok_or_else(|| Failure::invalid(format!("what var.{name} is set to is not a constant expression")))
}

/// The value of an expression that has neither names nor functions: of a file of variables, or a default.
fn constant(expression: &Expression, meter: &Meter) -> Evaluated {
    let value = expression.parse().map_err(Failure::Final)?.constant(meter);
    let refused = || Unevaluated::refused("the value of a variable is not constant").at(&expression.place);
    value.ok_or_else(|| Failure::Final(refused()))
}

fn unknown(reason: Unevaluated) -> Value {
    Value::unknown(reason)
}

fn undeclared(written: &str) -> Failure {
    Failure::invalid(format!("it depends on {written}, which is not declared"))
}

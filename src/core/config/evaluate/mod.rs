//! The values of the sources of modules, as OpenTofu evaluates them before it installs any: from variables, local values,
//! the arguments of module calls, paths and the workspace. Functions, operators and conditions are left to the tool.
//!
//! A value is looked up when a string needs it, and only the part that it needs.
//!
//! Source: opentofu `internal/configs/static_evaluator.go`, `static_scope.go`; `internal/command/meta.go`, `Workspace`.
//!
//! Expressions that are read when their value is needed: most of a configuration is never evaluated.

#[cfg(test)]
mod tests;
mod types;

use std::cell::Cell;
use std::rc::Rc;

use super::module::{Location, Module, Variable};
use super::side_files::{VariableValue, VariableValues};
use super::value::{Node, PathStep, Value};
use crate::dialect::Dialect;
pub use crate::value::Unevaluated;
use types::{Scalar, Type};

/// What names mean in one module, on one way to it.
#[derive(Debug)]
pub struct ModuleScope {
    pub module: Rc<Module>,
    /// Its directory, relative to the root module; `None` if only the tool knows it.
    pub directory: Option<String>,
    pub inputs: Inputs,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The tool; Terraform looks only at variables that are `const`.
    pub dialect: Dialect,
    /// `None` if a file of variables has errors.
    pub variables: Option<VariableValues>,
    /// The directory of the root module, absolute.
    pub directory: String,
    pub workspace: Result<String, &'static str>,
}

impl Surroundings {
    /// Where no variable is set and no workspace was selected.
    pub fn new(dialect: Dialect) -> Self {
        let variables = Some(VariableValues::default());
        Self { dialect, variables, directory: ".".to_owned(), workspace: Ok("default".to_owned()) }
    }
}

/// How many references one value may need.
const REFERENCES: u32 = 1000;

/// How deep they may lead.
const DEPTH: u32 = 200;

impl ModuleScope {
    /// The value of a string.
    pub fn evaluate(&self, node: &Node, surroundings: &Surroundings) -> Result<String, Unevaluated> {
        let value = Evaluation::new(surroundings).value(Some(self), node, &[])?;
        value.into_text().ok_or_else(|| Unevaluated::refused("it is null"))
    }

    /// The value of a variable of this module, where it is a string or can become one.
    pub fn variable(&self, name: &str, surroundings: &Surroundings) -> Result<Option<String>, Unevaluated> {
        Evaluation::new(surroundings).variable(self, name, &[]).map(Scalar::into_text)
    }
}

struct Evaluation<'s> {
    surroundings: &'s Surroundings,
    left: Cell<u32>,
    depth: Cell<u32>,
}

/// `None` where only constants can be.
type ScopeRef<'a> = Option<&'a ModuleScope>;

impl<'s> Evaluation<'s> {
    fn new(surroundings: &'s Surroundings) -> Self {
        Self { surroundings, left: Cell::new(REFERENCES), depth: Cell::new(DEPTH) }
    }

    /// The part of a value that keys lead to.
    fn value(&self, scope: ScopeRef<'_>, node: &Node, keys: &[String]) -> Result<Scalar, Unevaluated> {
        match (&node.value, keys) {
            (Value::Reference(steps), _) => self.reference(scope, steps, keys),
            (Value::Unknown(what), _) => Err(Unevaluated::limit(*what)),
            (Value::List(items), [key, rest @ ..]) => match key.parse::<usize>().ok().and_then(|at| items.get(at)) {
                Some(item) => self.value(scope, item, rest),
                None => Err(absent(key)),
            },
            (Value::Object(pairs), [key, rest @ ..]) => {
                // Of two equal keys the last one counts.
                for (name, value) in pairs.iter().rev() {
                    if self.value(scope, name, &[])?.into_text().as_ref() == Some(key) {
                        return self.value(scope, value, rest);
                    }
                }
                Err(absent(key))
            }
            (Value::List(_) | Value::Object(_), []) => Err(Unevaluated::refused("it is not a string")),
            (_, [key, ..]) => Err(absent(key)),
            (Value::Null, []) => Ok(Scalar::Null),
            (Value::Bool(value), []) => Ok(Scalar::Bool(*value)),
            (Value::Number(text), []) => Ok(Scalar::Number(text.clone())),
            (Value::Text(text), []) => Ok(Scalar::Text(text.clone())),
            (Value::Template(parts), []) => {
                let mut text = String::new();
                for part in parts {
                    let part = self.value(scope, part, &[])?.into_text();
                    text += &part.ok_or_else(|| Unevaluated::refused("a part of it is null"))?;
                }
                Ok(Scalar::Text(text))
            }
        }
    }

    fn reference(&self, scope: ScopeRef<'_>, steps: &[PathStep], keys: &[String]) -> Result<Scalar, Unevaluated> {
        let Some(scope) = scope else { return Err(Unevaluated::refused("a constant refers to another value")) };
        let (left, depth) = (self.left.get().checked_sub(1), self.depth.get().checked_sub(1));
        let (Some(left), Some(depth)) = (left, depth) else {
            return Err(Unevaluated::limit("values that refer to each other too often"));
        };
        self.left.set(left);
        self.depth.set(depth);
        let value = self.referred(scope, steps, keys);
        self.depth.set(depth + 1);
        value
    }

    fn referred(&self, scope: &ModuleScope, steps: &[PathStep], keys: &[String]) -> Result<Scalar, Unevaluated> {
        let mut names = Vec::with_capacity(steps.len() + keys.len());
        for step in steps {
            names.push(match step {
                PathStep::Name(name) => name.clone(),
                PathStep::Index(key) => {
                    let key = self.value(Some(scope), key, &[])?.into_text();
                    key.ok_or_else(|| Unevaluated::refused("a key is null"))?
                }
            });
        }
        let written = names.join(".");
        names.extend_from_slice(keys);
        let is_tofu = self.surroundings.dialect == Dialect::OpenTofu;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names[..] {
            ["var", name, ..] => self.variable(scope, name, &owned(&names[2..])),
            ["local", name, ..] => {
                let Some(local) = scope.module.names.locals.get(name) else { return Err(undeclared(&written)) };
                let value = self.value(Some(scope), &local.read(), &owned(&names[2..]));
                value.map_err(|problem| problem.at(&local.place))
            }
            ["path", "root"] if is_tofu => Ok(Scalar::Text(".".to_owned())),
            ["path", "module"] if is_tofu => {
                let directory = scope.directory.clone().map(Scalar::Text);
                directory.ok_or_else(|| Unevaluated::limit(format!("{written} of a module that is not installed")))
            }
            ["path", "cwd"] if is_tofu => Ok(Scalar::Text(self.surroundings.directory.clone())),
            ["terraform" | "tofu", "workspace"] if is_tofu => {
                self.surroundings.workspace.clone().map(Scalar::Text).map_err(Unevaluated::refused)
            }
            _ if is_tofu => Err(Unevaluated::refused(format!(
                "it depends on {written}, and it can use only variables, local values, paths and the workspace"
            ))),
            _ => Err(Unevaluated::limit(written)),
        }
    }

    fn variable(&self, scope: &ModuleScope, name: &str, keys: &[String]) -> Result<Scalar, Unevaluated> {
        let written = format!("var.{name}");
        let Some(variable) = scope.module.names.variables.get(name) else { return Err(undeclared(&written)) };
        if self.surroundings.dialect == Dialect::Terraform && variable.constant != Some(true) {
            return Err(Unevaluated::limit(written));
        }
        for (is_set, word) in [(variable.sensitive, "sensitive"), (variable.ephemeral, "ephemeral")] {
            if is_set == Some(true) {
                return Err(
                    Unevaluated::refused(format!("it depends on {written}, which is {word}")).at(&variable.place)
                );
            }
        }
        let kind = variable.kind.as_ref().map_or(Type::Any, |kind| kind.text().map_or(Type::Unknown, Type::parse));
        let assigned = self.assigned(scope, name, variable, &kind)?;
        let part = kind.part(keys);
        if *part == Type::Unknown {
            return Err(Unevaluated::limit(format!("{written}, whose type cannot be read here")).at(&variable.place));
        }
        let value = self.value(assigned.scope, &assigned.node, keys).and_then(|value| {
            let refused = || Unevaluated::refused(format!("the value of {written} is not {}", part.name()));
            part.convert(value).ok_or_else(refused)
        });
        value.map_err(|problem| assigned.place.into_iter().fold(problem, Unevaluated::at))
    }

    /// What a variable is set to, else its default.
    fn assigned<'a>(
        &'a self,
        scope: &'a ModuleScope,
        name: &str,
        variable: &'a Variable,
        kind: &Type,
    ) -> Result<Assigned<'a>, Unevaluated> {
        let set = match &scope.inputs {
            Inputs::None => None,
            Inputs::Call(caller, call) => {
                let input = caller.module.calls.get(call).and_then(|call| call.inputs.get(name));
                if input.is_some() && self.surroundings.dialect == Dialect::Terraform {
                    return Err(Unevaluated::limit(format!("var.{name}")));
                }
                input.map(|input| Assigned { scope: Some(&**caller), ..Assigned::constant(input) })
            }
            Inputs::Root => {
                let values = self.surroundings.variables.as_ref();
                match values.ok_or_else(|| Unevaluated::Files(name.to_owned()))?.get(name) {
                    Some(VariableValue::Text(text)) => {
                        let is_plain = variable.kind.is_none() || kind.is_primitive();
                        Some(Assigned { scope: None, node: Node::given(text, is_plain), place: None })
                    }
                    Some(VariableValue::Expression(value)) => Some(Assigned::constant(value)),
                    None => None,
                }
            }
        };
        let takes_null = variable.nullable != Some(false);
        match (set, &variable.default, &scope.inputs) {
            (Some(set), _, _) if takes_null || self.value(set.scope, &set.node, &[]) != Ok(Scalar::Null) => Ok(set),
            (_, Some(default), _) => Ok(Assigned::constant(default)),
            (_, None, Inputs::Root) => Err(Unevaluated::Unset(name.to_owned())),
            (_, None, Inputs::None) => Err(Unevaluated::limit(format!("var.{name} of a module that a test runs"))),
            (_, None, Inputs::Call(..)) => {
                Err(Unevaluated::refused(format!("it depends on var.{name}, which no caller sets")).at(&variable.place))
            }
        }
    }
}

/// What a variable is set to.
struct Assigned<'a> {
    scope: ScopeRef<'a>,
    node: Node,
    place: Option<&'a Location>,
}

impl<'a> Assigned<'a> {
    fn constant(expression: &'a Expression) -> Self {
        Self { scope: None, node: expression.read(), place: Some(&expression.place) }
    }
}

fn owned(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn undeclared(written: &str) -> Unevaluated {
    Unevaluated::refused(format!("it depends on {written}, which is not declared"))
}

/// A part that is not written down: the tools may fill it in by the type.
fn absent(key: &str) -> Unevaluated {
    Unevaluated::limit(format!("the key {key:?} of a value that does not have it"))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    pub place: Location,
    pub(super) source: ExpressionSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExpressionSource {
    Native(String),
    /// A value of JSON whose strings are plain text.
    Plain(Node),
    /// A value of JSON whose strings are templates.
    Templates(Node),
}

impl Expression {
    pub(super) fn read(&self) -> Node {
        match &self.source {
            ExpressionSource::Native(text) => Node::native(text, 0..text.len()).unwrap_or_else(|_| Node::unreadable()),
            ExpressionSource::Plain(node) => node.clone(),
            ExpressionSource::Templates(node) => node.clone().with_templates(),
        }
    }

    /// Its text in a language for types, which is the content of a string in JSON.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.source {
            ExpressionSource::Native(text) => Some(text),
            ExpressionSource::Plain(node) | ExpressionSource::Templates(node) => node.text(),
        }
    }
}

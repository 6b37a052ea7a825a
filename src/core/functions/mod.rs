//! The functions of expressions: a table, and a small pure function over values for each row.
//!
//! A row says what a function takes and which tools have it, in their newest versions. What depends on files, the clock, chance or
//! keys is a row whose value is unknown. Nothing here knows a configuration.
//!
//! Source: terraform and opentofu `internal/lang/functions.go`; `github.com/zclconf/go-cty`, `cty/function`.

#![expect(clippy::unnecessary_wraps, reason = "the functions of a table have one type")]

mod cidr;
mod collections;
mod csv;
mod dates;
mod encodings;
mod floats;
mod format;
mod general;
mod hashes;
mod json;
mod lists;
mod maps;
mod numbers;
mod paths;
mod pattern;
mod regexes;
mod sets;
mod strings;
mod table;
#[cfg(test)]
mod tests;
mod titles;
mod yaml;

use std::sync::Arc;

use crate::value::{Budget, Type, Unevaluated, Value};

pub(crate) use maps::merge_deeply;
pub(crate) use paths::clean;
pub use table::TABLE;

/// The tools that have a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tools(u8);

impl Tools {
    /// Terraform.
    pub const TERRAFORM: Self = Self(1);
    /// OpenTofu.
    pub const OPENTOFU: Self = Self(2);
    /// Terragrunt, whose functions are those of Terraform 0.15.3 and some more.
    pub const TERRAGRUNT: Self = Self(4);
    /// All three.
    pub const ALL: Self = Self(7);
    /// Terraform and OpenTofu.
    pub const MODULES: Self = Self(3);

    /// True if one of them is one of the others.
    pub const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// A type that a parameter or a result has in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whatever is given.
    Any,
    /// True or false.
    Bool,
    /// A number.
    Number,
    /// Text.
    String,
    /// A list of values of a single type.
    List,
    /// A list of true and false.
    Bools,
    /// A list of texts.
    Strings,
    /// A set of values of a single type.
    Set,
    /// A map with lists of texts.
    ListsByKey,
}

impl Kind {
    /// The type.
    pub fn get(self) -> Type {
        match self {
            Self::Any => Type::Dynamic,
            Self::Bool => Type::Bool,
            Self::Number => Type::Number,
            Self::String => Type::String,
            Self::List => Type::list(Type::Dynamic),
            Self::Bools => Type::list(Type::Bool),
            Self::Strings => Type::list(Type::String),
            Self::Set => Type::set(Type::Dynamic),
            Self::ListsByKey => Type::map(Type::list(Type::String)),
        }
    }
}

/// What a function takes.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name in messages.
    pub name: &'static str,
    /// What arguments are converted to.
    pub kind: Kind,
    takes_null: bool,
    takes_untyped: bool,
    takes_unknown: bool,
}

impl Parameter {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, takes_null: false, takes_untyped: false, takes_unknown: false }
    }

    /// The same, where null is a value like others.
    const fn or_null(self) -> Self {
        Self { takes_null: true, takes_untyped: true, ..self }
    }

    /// The same, where only a null that has a type is a value: the tools wait for the type of another one, in vain.
    const fn or_typed_null(self) -> Self {
        Self { takes_null: true, ..self }
    }

    /// The same, where the function decides what becomes of an unknown value.
    const fn or_unknown(self) -> Self {
        Self { takes_unknown: true, ..self }
    }
}

/// A pure function over values of the types of its parameters.
pub type Body = fn(&[Value], &Budget) -> Result<Value, Unevaluated>;

/// How a call gets its value.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    /// By a pure function.
    Compute(Body),
    /// The value of the first argument that has one: `try`. The caller evaluates the arguments.
    Try,
    /// Whether the only argument has a value: `can`. The caller evaluates it.
    Can,
    /// The first argument as a template with the second for variables: `templatestring`. The caller renders it.
    Render,
    /// By the tool alone.
    Outside,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Its name in expressions.
    pub name: &'static str,
    /// What it takes first.
    pub parameters: &'static [Parameter],
    /// What it takes any number of after that.
    pub rest: Option<Parameter>,
    /// The type of its value, as far as it is always the same.
    pub returns: Kind,
    /// Who has it.
    pub tools: Tools,
    /// How a call gets its value.
    pub action: Action,
}

impl Function {
    /// The function of a tool with a name, which may be written `core::NAME` in modules.
    pub fn find(name: &str, tool: Tools) -> Option<&'static Self> {
        let name = match name.strip_prefix("core::") {
            Some(rest) if tool.intersects(Tools::MODULES) => rest,
            _ => name,
        };
        TABLE.iter().find(|function| function.name == name && function.tools.intersects(tool))
    }

    /// The value of a call with evaluated arguments.
    ///
    /// Unknown if an argument that decides is, and for functions that only the tool computes.
    ///
    /// # Errors
    ///
    /// [`Unevaluated::Refused`] where the tool refuses the call, [`Unevaluated::Limit`] where it takes too much to compute.
    ///
    /// Source: `cty/function/function.go`, `Call`; `hclsyntax/expression.go`, `FunctionCallExpr.Value`.
    pub fn call(&self, arguments: Vec<Value>, budget: &Budget) -> Result<Value, Unevaluated> {
        let name = self.name;
        self.check_count(arguments.len())?;
        let Action::Compute(body) = self.action else {
            return Ok(Value::unknown(self.returns.get(), Unevaluated::limit(format!("{name}()"))));
        };
        let mut unknown = None;
        let mut converted = Vec::with_capacity(arguments.len());
        for (at, argument) in arguments.into_iter().enumerate() {
            let Some(parameter) = self.parameters.get(at).or(self.rest.as_ref()) else { break };
            let value =
                if parameter.kind == Kind::Any { Ok(argument) } else { argument.convert(&parameter.kind.get()) };
            let value = value.map_err(|problem| self.in_argument(parameter, problem))?;
            if value.is_null() && !parameter.takes_null {
                return Err(Unevaluated::refused(format!("the argument {:?} of {name}() is null", parameter.name)));
            }
            let reason = match &value {
                Value::Unknown(_, reason) if !parameter.takes_unknown => Some(reason.clone()),
                Value::Null(Type::Dynamic) if !parameter.takes_untyped => {
                    Some(Arc::new(Unevaluated::limit(format!("a null without a type in {name}()"))))
                }
                _ => None,
            };
            if let Some(reason) = reason {
                // Where an argument could be of any type, the result could be, too.
                let kind = if value.kind() == Type::Dynamic { Type::Dynamic } else { self.returns.get() };
                unknown = unknown.or(Some(Value::Unknown(kind, reason)));
            }
            converted.push(value);
        }
        match unknown {
            Some(unknown) => Ok(unknown),
            None => body(&converted, budget).map_err(|problem| self.in_call(problem)),
        }
    }

    fn check_count(&self, given: usize) -> Result<(), Unevaluated> {
        let needed = self.parameters.len();
        if given < needed || given > needed && self.rest.is_none() {
            let least = if self.rest.is_some() { "at least " } else { "" };
            let noun = if needed == 1 { "argument" } else { "arguments" };
            let name = self.name;
            return Err(Unevaluated::refused(format!("{name}() takes {least}{needed} {noun}, and {given} are given")));
        }
        Ok(())
    }

    fn in_argument(&self, parameter: &Parameter, problem: Unevaluated) -> Unevaluated {
        match problem {
            Unevaluated::Refused { reason, place } => {
                let reason = format!("the argument {:?} of {}() is wrong: {reason}", parameter.name, self.name);
                Unevaluated::Refused { reason, place }
            }
            problem => problem,
        }
    }

    fn in_call(&self, problem: Unevaluated) -> Unevaluated {
        match problem {
            Unevaluated::Refused { reason, place } => {
                Unevaluated::Refused { reason: format!("{}() fails: {reason}", self.name), place }
            }
            problem => problem,
        }
    }
}

/// What a function refuses, in a few words.
fn refuse<T>(reason: impl Into<String>) -> Result<T, Unevaluated> {
    Err(Unevaluated::refused(reason))
}

/// The text of an argument that was converted to a string.
fn text(arguments: &[Value], at: usize) -> &str {
    arguments.get(at).and_then(Value::as_text).unwrap_or_default()
}

/// The elements of an argument that is a list, set or tuple.
fn elements(arguments: &[Value], at: usize) -> &[Value] {
    arguments.get(at).and_then(Value::elements).map_or(&[], |elements| elements)
}

/// An argument that is a whole number.
fn whole(arguments: &[Value], at: usize) -> Result<i64, Unevaluated> {
    match arguments.get(at) {
        Some(Value::Number(number)) => match number.to_i64() {
            Some(whole) => Ok(whole),
            None => refuse(format!("{number} is not a whole number of 64 bits")),
        },
        _ => refuse("a whole number is required"),
    }
}

//! The functions of expressions: a table, and a small pure function over values for each row.
//!
//! A row is here because sources and versions of real configurations use it, and its value on arguments for which all versions of
//! the tools agree; on others the value is unknown. So is that of a function without a row. What a call certainly refuses is a
//! [`Cause`]. Nothing here knows a configuration.
//!
//! Source: terraform and opentofu `internal/lang/functions.go`; `github.com/zclconf/go-cty`, `cty/function`.

#![expect(clippy::unnecessary_wraps, reason = "the functions of a table have one type")]

mod encodings;
mod format;
mod general;
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
mod yaml;

use crate::value::{Budget, Cause, Failure, Type, Unevaluated, Value};

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

/// A type that a parameter has in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whatever is given.
    Any,
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
}

impl Kind {
    /// The type.
    pub fn get(self) -> Type {
        match self {
            Self::Any => Type::Dynamic,
            Self::Number => Type::Number,
            Self::String => Type::String,
            Self::List => Type::list(Type::Dynamic),
            Self::Bools => Type::list(Type::Bool),
            Self::Strings => Type::list(Type::String),
            Self::Set => Type::set(Type::Dynamic),
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
}

impl Parameter {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, takes_null: false }
    }

    /// The same, where null is a value like others.
    const fn or_null(self) -> Self {
        Self { takes_null: true, ..self }
    }
}

/// A pure function over values of the types of its parameters.
pub type Body = fn(&[Value], &Budget) -> Result<Value, Failure>;

/// How a call gets its value.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    /// By a function of values that are known in all their parts.
    Compute(Body),
    /// By a function that does not look at what is in the elements of its first argument, which may be unknown.
    Select(Body),
    /// The value of the first argument that has one: `try`. The caller evaluates the arguments.
    Try,
    /// Whether the only argument has a value: `can`. The caller evaluates it.
    Can,
    /// The first argument as one of the type that the second one writes: `convert`. The caller reads the type.
    Convert,
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

    /// The value of a call with evaluated arguments: unknown if an argument that decides is, and where only the tool computes it.
    ///
    /// # Errors
    ///
    /// What the tool certainly refuses.
    ///
    /// Source: `cty/function/function.go`, `Call`; `hclsyntax/expression.go`, `FunctionCallExpr.Value`.
    pub fn call(&self, arguments: Vec<Value>, budget: &Budget) -> Result<Value, Failure> {
        match self.compute(arguments, budget) {
            Err(Failure::Final(reason)) => Ok(Value::unknown(self.in_call(reason))),
            result => result,
        }
    }

    fn compute(&self, arguments: Vec<Value>, budget: &Budget) -> Result<Value, Failure> {
        let name = self.name;
        let (Action::Compute(body) | Action::Select(body)) = self.action else { return uncertain("its arguments") };
        let is_select = matches!(self.action, Action::Select(_));
        if arguments.len() < self.parameters.len() || self.rest.is_none() && arguments.len() > self.parameters.len() {
            return uncertain(format!("{} arguments", arguments.len()));
        }
        let mut unknown = None;
        let mut converted = Vec::with_capacity(arguments.len());
        for (at, argument) in arguments.into_iter().enumerate() {
            let Some(parameter) = self.parameters.get(at).or(self.rest.as_ref()) else { break };
            let is_open = is_select && !matches!(argument, Value::Unknown(_));
            if let (false, Some(reason)) = (is_open, argument.unknown_part()) {
                unknown = unknown.or(Some(reason.clone()));
                continue;
            }
            if !is_select {
                budget.spend(argument.size())?;
            }
            let value =
                if parameter.kind == Kind::Any { Ok(argument) } else { argument.convert(&parameter.kind.get()) };
            let what = || format!("the argument {:?} of {name}()", parameter.name);
            let value = value.map_err(|failure| failure.within(&format!("{} is wrong", what())))?;
            if let Value::Unknown(reason) = value {
                unknown = unknown.or(Some(reason));
                continue;
            }
            if value.is_null() && !parameter.takes_null {
                return Err(Cause::Null.refuses(format!("{} is null", what())));
            }
            converted.push(value);
        }
        if let Some(reason) = unknown {
            return Ok(Value::Unknown(reason));
        }
        let value = body(&converted, budget).map_err(|failure| failure.within(&format!("{name}() fails")))?;
        if !is_select {
            budget.spend(value.size())?;
        }
        Ok(value)
    }

    /// Names the function in what is unknown without it, and in what it takes too much for.
    fn in_call(&self, reason: Unevaluated) -> Unevaluated {
        match reason {
            Unevaluated::Limit { what, place } => {
                Unevaluated::Limit { what: format!("{}() of {what}", self.name), place }
            }
            reason => reason,
        }
    }
}

/// For arguments on which the tools do not agree, or which they may refuse: in words, what they are.
fn uncertain<T>(what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::unknown(what))
}

/// The text of an argument that was converted to a string.
fn text(arguments: &[Value], at: usize) -> &str {
    arguments.get(at).and_then(Value::as_text).unwrap_or_default()
}

/// The same, of which all characters must be of ASCII: what is one character elsewhere depends on tables of Unicode.
fn ascii(arguments: &[Value], at: usize) -> Result<&str, Failure> {
    let text = text(arguments, at);
    if text.is_ascii() && !text.contains('\r') { Ok(text) } else { uncertain("text beyond ASCII") }
}

/// The elements of an argument that is a list, set or tuple.
fn elements(arguments: &[Value], at: usize) -> &[Value] {
    arguments.get(at).and_then(Value::elements).map_or(&[], |elements| elements)
}

/// An argument that is a whole number which is not negative.
fn natural(arguments: &[Value], at: usize) -> Result<usize, Failure> {
    match arguments.get(at) {
        Some(Value::Number(number)) => number.to_usize().map_or_else(|| uncertain(format!("the number {number}")), Ok),
        _ => uncertain("what is no number"),
    }
}

//! Values and types of expressions, as the tools compute with them: `cty`.
//!
//! A value is *unknown* where only the tool can compute it; it carries why, and its type as far as that is known. What reads only
//! other parts never notices. Values know nothing of syntax, files or tools.
//!
//! Source: `github.com/zclconf/go-cty`, `cty`.

mod budget;
mod convert;
mod decimal;
mod kind;
mod notation;
mod number;
mod set;
#[cfg(test)]
mod tests;
mod unify;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::hcl::normal;

pub use budget::{Budget, Unevaluated};
pub use convert::{Safety, is_convertible};
pub use kind::Type;
pub use notation::Notation;
pub use number::Number;
pub use set::quote;
pub use unify::unify;

/// The elements of a map or an object, by name.
pub type Elements = BTreeMap<Arc<str>, Value>;

/// A value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// No value, of a type; [`Type::Dynamic`] where it was written `null`.
    Null(Type),
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text in normal form C; [`Value::text`] makes it.
    String(Arc<str>),
    /// Elements of one type, in order.
    List(Type, Arc<[Value]>),
    /// Different known elements of one type, in the order in which the tools iterate over them; [`Value::set`] makes it.
    Set(Type, Arc<[Value]>),
    /// Elements of one type, by key.
    Map(Type, Arc<Elements>),
    /// Elements of types of their own, in order.
    Tuple(Arc<[Value]>),
    /// Attributes of types of their own.
    Object(Arc<Elements>),
    /// A value that only the tool can compute, and why.
    Unknown(Type, Arc<Unevaluated>),
}

/// An answer about values, or why it is unknown.
pub type Known<T> = Result<T, Arc<Unevaluated>>;

impl Value {
    /// A string, normalized as the tools normalize every string.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::String(normal(text.as_ref()).into())
    }

    /// A whole number that was counted, with the precision that the tools give to such.
    pub fn count(number: usize) -> Self {
        Self::Number(Number::from(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    /// An unknown value of a type.
    pub fn unknown(kind: Type, reason: Unevaluated) -> Self {
        Self::Unknown(kind, Arc::new(reason))
    }

    /// A set of values of one type. Unknown if an element is: which elements are equal is then unknown.
    pub fn set(kind: Type, elements: Vec<Self>) -> Self {
        match elements.iter().find_map(Self::unknown_part) {
            Some(reason) => Self::Unknown(Type::set(kind), reason.clone()),
            None => Self::Set(kind, set::arrange(elements)),
        }
    }

    /// A list of values of one type.
    pub fn list(kind: Type, elements: Vec<Self>) -> Self {
        Self::List(kind, elements.into())
    }

    /// A tuple.
    pub fn tuple(elements: Vec<Self>) -> Self {
        Self::Tuple(elements.into())
    }

    /// Its type.
    pub fn kind(&self) -> Type {
        match self {
            Self::Null(kind) | Self::Unknown(kind, _) => kind.clone(),
            Self::Bool(_) => Type::Bool,
            Self::Number(_) => Type::Number,
            Self::String(_) => Type::String,
            Self::List(kind, _) => Type::list(kind.clone()),
            Self::Set(kind, _) => Type::set(kind.clone()),
            Self::Map(kind, _) => Type::map(kind.clone()),
            Self::Tuple(elements) => Type::Tuple(elements.iter().map(Self::kind).collect()),
            Self::Object(attributes) => {
                Type::Object(Arc::new(attributes.iter().map(|(name, value)| (name.clone(), value.kind())).collect()))
            }
        }
    }

    /// True if it is null, known to be so.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null(_))
    }

    /// The text of a string that is known.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of a list, set or tuple, in order.
    pub fn elements(&self) -> Option<&Arc<[Self]>> {
        match self {
            Self::List(_, elements) | Self::Set(_, elements) | Self::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements of a map or object, by key.
    pub fn attributes(&self) -> Option<&Arc<Elements>> {
        match self {
            Self::Map(_, elements) | Self::Object(elements) => Some(elements),
            _ => None,
        }
    }

    /// Why a part of the value is unknown, if one is.
    pub fn unknown_part(&self) -> Option<&Arc<Unevaluated>> {
        match self {
            Self::Unknown(_, reason) => Some(reason),
            Self::List(_, elements) | Self::Tuple(elements) => elements.iter().find_map(Self::unknown_part),
            Self::Map(_, elements) | Self::Object(elements) => elements.values().find_map(Self::unknown_part),
            _ => None,
        }
    }

    /// Whether two values are equal, as `==` says. Nulls of all types are equal; else values of different types differ.
    ///
    /// Source: `cty/value_ops.go`, `Equals`.
    pub fn equals(&self, other: &Self) -> Known<bool> {
        match (self, other) {
            (Self::Unknown(_, reason), _) | (_, Self::Unknown(_, reason)) => Err(reason.clone()),
            (Self::Null(_), _) | (_, Self::Null(_)) => Ok(self.is_null() && other.is_null()),
            _ if self.kind() != other.kind() => Ok(false),
            _ => match (self.attributes(), other.attributes()) {
                (Some(ours), Some(theirs)) if ours.keys().ne(theirs.keys()) => Ok(false),
                (Some(ours), Some(theirs)) => all_equal(ours.values().zip(theirs.values())),
                _ => match (self.elements(), other.elements()) {
                    (Some(ours), Some(theirs)) if ours.len() != theirs.len() => Ok(false),
                    (Some(ours), Some(theirs)) => all_equal(ours.iter().zip(theirs.iter())),
                    _ => Ok(self == other),
                },
            },
        }
    }
}

/// One pair that differs decides, even if others are unknown.
fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Known<bool> {
    let mut result = Ok(true);
    for (one, other) in pairs {
        match one.equals(other) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(reason) => result = Err(reason),
        }
    }
    result
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

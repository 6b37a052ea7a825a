//! Values and types of expressions, as the tools compute with them: `cty`.
//!
//! A value is *unknown* where only the tool can compute it; it carries why. What reads only other parts never notices. Each value
//! carries its size, so that what goes through one can be paid for before it does. Values know nothing of syntax, files or tools.
//!
//! Source: `github.com/zclconf/go-cty`, `cty`.

mod budget;
mod convert;
mod decimal;
mod failure;
mod kind;
mod number;
mod set;
mod shared;
#[cfg(test)]
mod tests;
mod unify;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::hcl::normal;

pub use budget::{Budget, Unevaluated};
pub use failure::{Cause, CertainRefusal, Failure};
pub use kind::Type;
pub use number::Number;
pub use shared::SharedParts;
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
    List(Type, SharedParts<[Value]>),
    /// Different known elements of one type, in the order in which the tools iterate over them; [`Value::set`] makes it.
    Set(Type, SharedParts<[Value]>),
    /// Elements of one type, by key.
    Map(Type, SharedParts<Elements>),
    /// Elements of types of their own, in order.
    Tuple(SharedParts<[Value]>),
    /// Attributes of types of their own.
    Object(SharedParts<Elements>),
    /// A value that only the tool can compute, and why.
    Unknown(Arc<Unevaluated>),
}

/// An answer about values, or why it is unknown.
pub type Known<T> = Result<T, Arc<Unevaluated>>;

impl Value {
    /// The name of what stands for all attributes that an object may have besides. With a name behind it, it says that the object does
    /// not have that one. No other key begins so.
    const OPEN: &str = "\u{0}";

    /// An object that may have further attributes, but for some that it certainly does not have.
    pub fn open_object<'n>(attributes: Elements, others: &Self, absent: impl IntoIterator<Item = &'n str>) -> Self {
        let marks = absent.into_iter().chain([""]).map(|name| Arc::from(format!("{}{name}", Self::OPEN)));
        let marked: Elements = attributes.into_iter().chain(marks.map(|mark| (mark, others.clone()))).collect();
        Self::Object(marked.into())
    }

    /// An attribute, or what stands for it.
    pub fn attribute(&self, name: &str) -> Option<&Self> {
        let attributes = self.attributes()?;
        let is_absent = || attributes.contains_key(&*format!("{}{name}", Self::OPEN));
        attributes.get(name).or_else(|| attributes.get(Self::OPEN).filter(|_| !is_absent()))
    }

    /// True for an object that may have further attributes.
    pub fn is_open(&self) -> bool {
        self.attributes().is_some_and(|attributes| attributes.contains_key(Self::OPEN))
    }

    /// A string, normalized as the tools normalize every string.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::String(normal(text.as_ref()).into())
    }

    /// A whole number that was counted, with the precision that the tools give to such.
    pub fn count(number: usize) -> Self {
        Self::Number(Number::from(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    /// A value that is unknown.
    pub fn unknown(reason: Unevaluated) -> Self {
        Self::Unknown(Arc::new(reason))
    }

    /// A set of values of one type. Unknown if an element is, since which ones are equal is then unknown, and if the tools have an
    /// order of their own for values of the type.
    pub fn set(kind: Type, elements: Vec<Self>) -> Self {
        match elements.iter().find_map(Self::unknown_part).cloned() {
            Some(reason) => Self::Unknown(reason),
            None => match set::arrange(elements) {
                Some(elements) => Self::Set(kind, elements),
                None => Self::unknown(Unevaluated::limit("a set of lists, maps or objects")),
            },
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

    /// A map of values of one type.
    pub fn map(kind: Type, elements: Elements) -> Self {
        if has_mark(&elements) { marked() } else { Self::Map(kind, elements.into()) }
    }

    /// An object.
    pub fn object(attributes: Elements) -> Self {
        if has_mark(&attributes) { marked() } else { Self::Object(attributes.into()) }
    }

    /// What it costs to go through all of it.
    pub fn size(&self) -> u64 {
        match self {
            Self::List(_, elements) | Self::Set(_, elements) | Self::Tuple(elements) => elements.size(),
            Self::Map(_, elements) | Self::Object(elements) => elements.size(),
            Self::String(text) => budget::length(text.len()).saturating_add(Budget::ELEMENT),
            Self::Null(_) | Self::Bool(_) | Self::Number(_) | Self::Unknown(_) => Budget::ELEMENT,
        }
    }

    /// Its type, which for what is unknown is [`Type::Dynamic`]. That of a tuple or an object is as large as the value.
    pub fn kind(&self) -> Type {
        match self {
            Self::Null(kind) => kind.clone(),
            Self::Unknown(_) => Type::Dynamic,
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
    pub fn elements(&self) -> Option<&SharedParts<[Self]>> {
        match self {
            Self::List(_, elements) | Self::Set(_, elements) | Self::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements of a map or object, by key.
    pub fn attributes(&self) -> Option<&SharedParts<Elements>> {
        match self {
            Self::Map(_, elements) | Self::Object(elements) => Some(elements),
            _ => None,
        }
    }

    /// Why a part of the value is unknown, if one is.
    pub fn unknown_part(&self) -> Option<&Arc<Unevaluated>> {
        match self {
            Self::Unknown(reason) => Some(reason),
            Self::List(_, elements) | Self::Tuple(elements) => elements.unknown_part(),
            Self::Map(_, elements) | Self::Object(elements) => elements.unknown_part(),
            _ => None,
        }
    }

    /// Whether two values are equal, as `==` says. Nulls of all types are equal; else values of different types differ.
    ///
    /// Source: `cty/value_ops.go`, `Equals`.
    pub fn equals(&self, other: &Self) -> Known<bool> {
        match (self, other) {
            (Self::Unknown(reason), _) | (_, Self::Unknown(reason)) => Err(reason.clone()),
            (Self::Null(_), _) | (_, Self::Null(_)) => Ok(self.is_null() && other.is_null()),
            (Self::Tuple(ours), Self::Tuple(theirs)) if ours.len() == theirs.len() => {
                all_equal(ours.iter().zip(theirs.iter()))
            }
            (Self::Object(ours), Self::Object(theirs)) if ours.keys().eq(theirs.keys()) => {
                all_equal(ours.values().zip(theirs.values()))
            }
            (Self::List(kind, ours), Self::List(other, theirs)) if kind == other && ours.len() == theirs.len() => {
                all_equal(ours.iter().zip(theirs.iter()))
            }
            (Self::Map(kind, ours), Self::Map(other, theirs)) if kind == other && ours.keys().eq(theirs.keys()) => {
                all_equal(ours.values().zip(theirs.values()))
            }
            _ => match self.unknown_part().or(other.unknown_part()) {
                // The type of what is unknown decides the types of lists and maps around it.
                Some(reason) => Err(reason.clone()),
                None => Ok(self == other),
            },
        }
    }
}

/// True for elements of which a key would be taken for what stands for others. It is the first one, as keys are sorted.
fn has_mark(elements: &Elements) -> bool {
    elements.keys().next().is_some_and(|key| key.starts_with(Value::OPEN))
}

fn marked() -> Value {
    Value::unknown(Unevaluated::limit("a key that begins with the character U+0000"))
}

/// Whether the parts of two values are equal, of which one that differs decides. The type of an untyped null within is one that the
/// tools wait for.
fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Known<bool> {
    let mut result = Ok(true);
    for (one, other) in pairs {
        let is_untyped = |value: &Value| matches!(value, Value::Null(Type::Dynamic));
        let equal = if is_untyped(one) || is_untyped(other) {
            Err(Arc::new(Unevaluated::limit("a null without a type in ==")))
        } else {
            one.equals(other)
        };
        match equal {
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

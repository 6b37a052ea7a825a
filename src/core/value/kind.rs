//! Types of values.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// Any type: what is not known yet, and `null` without a type.
    Dynamic,
    /// True or false.
    Bool,
    /// A number.
    Number,
    /// Text.
    String,
    /// Elements of one type, in order.
    List(Arc<Type>),
    /// Different elements of one type.
    Set(Arc<Type>),
    /// Elements of one type, by key.
    Map(Arc<Type>),
    /// Elements of types of their own, in order.
    Tuple(Arc<[Type]>),
    /// Attributes of types of their own.
    Object(Arc<BTreeMap<Arc<str>, Type>>),
}

impl Type {
    /// A list of elements of a type.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// A set of elements of a type.
    pub fn set(element: Self) -> Self {
        Self::Set(Arc::new(element))
    }

    /// A map with elements of a type.
    pub fn map(element: Self) -> Self {
        Self::Map(Arc::new(element))
    }

    /// True for bool, number and string.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::String)
    }

    /// The type of the elements of a list, set or map.
    pub fn element(&self) -> Option<&Self> {
        match self {
            Self::List(element) | Self::Set(element) | Self::Map(element) => Some(element),
            _ => None,
        }
    }
}

/// As messages of the tools name it.
///
/// Source: `FriendlyName` of each type in `cty`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic => f.write_str("dynamic"),
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::List(element) => write!(f, "list of {element}"),
            Self::Set(element) => write!(f, "set of {element}"),
            Self::Map(element) => write!(f, "map of {element}"),
            Self::Tuple(_) => f.write_str("tuple"),
            Self::Object(_) => f.write_str("object"),
        }
    }
}

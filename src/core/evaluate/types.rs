//! Types as expressions write them: of variables, with the attributes that values of them may lack, and of `convert`.
//!
//! Source: `ext/typeexpr` of both tools, `get_type.go`, `defaults.go`; `internal/configs/named_values.go`, `decodeTypeExpression`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Meter;
use super::syntax::{Call, Node, NodeKind};
use crate::value::{Budget, Elements, Failure, Type, Value};

/// A type, as an expression writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeExpression {
    /// A type in which nothing may be absent.
    Plain(Type),
    /// A list of elements of a type.
    List(Box<TypeExpression>),
    /// A set of those.
    Set(Box<TypeExpression>),
    /// A map of those.
    Map(Box<TypeExpression>),
    /// A tuple.
    Tuple(Vec<TypeExpression>),
    /// An object.
    Object(BTreeMap<Arc<str>, Attribute>),
}

/// An attribute of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    kind: TypeExpression,
    /// What counts where it is absent or null: `optional(…)`.
    default: Option<Value>,
    is_optional: bool,
}

impl TypeExpression {
    /// Reads the expression of a type; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let node = Node::parse(text, 0..text.len()).ok()?;
        // Of old a type could be in quotes.
        match node.as_text() {
            Some("string" | "list" | "map") => Self::parse(text.trim_matches('"')),
            Some(_) => None,
            None => Self::of(&node),
        }
    }

    /// Reads a part of an expression as a type; `None` if it is none.
    pub(super) fn of(node: &Node) -> Option<Self> {
        Some(match &node.kind {
            NodeKind::Name(name) => Self::Plain(match name.as_str() {
                "any" => Type::Dynamic,
                "bool" => Type::Bool,
                "number" => Type::Number,
                "string" => Type::String,
                "list" => Type::list(Type::Dynamic),
                "map" => Type::map(Type::Dynamic),
                _ => return None,
            }),
            NodeKind::Call(Call { name, arguments, is_expanded: false }) => match (name.as_str(), &arguments[..]) {
                ("list", [element]) => Self::List(Box::new(Self::of(element)?)),
                ("set", [element]) => Self::Set(Box::new(Self::of(element)?)),
                ("map", [element]) => Self::Map(Box::new(Self::of(element)?)),
                ("tuple", [Node { kind: NodeKind::Tuple(elements), .. }]) => {
                    Self::Tuple(elements.iter().map(Self::of).collect::<Option<_>>()?)
                }
                ("object", [Node { kind: NodeKind::Object(pairs), .. }]) => {
                    let attributes =
                        pairs.iter().map(|(key, value)| Some((key.as_text()?.into(), Attribute::of(value)?)));
                    Self::Object(attributes.collect::<Option<_>>()?)
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The type of its values.
    pub fn get(&self) -> Type {
        match self {
            Self::Plain(kind) => kind.clone(),
            Self::List(element) => Type::list(element.get()),
            Self::Set(element) => Type::set(element.get()),
            Self::Map(element) => Type::map(element.get()),
            Self::Tuple(elements) => Type::Tuple(elements.iter().map(Self::get).collect()),
            Self::Object(attributes) => {
                let kinds = attributes.iter().map(|(name, attribute)| (name.clone(), attribute.kind.get()));
                Type::Object(Arc::new(kinds.collect()))
            }
        }
    }

    /// True if something in it may be absent.
    pub(super) fn has_optional(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_optional(),
            Self::Tuple(elements) => elements.iter().any(Self::has_optional),
            Self::Object(all) => all.values().any(|attribute| attribute.is_optional || attribute.kind.has_optional()),
        }
    }

    /// A value as one of this type.
    ///
    /// # Errors
    ///
    /// If it has no meaning there, or takes too much.
    pub fn convert(&self, value: &Value, budget: &Budget) -> Result<Value, Failure> {
        let filled = self.filled(value, budget)?;
        budget.spend(filled.size())?;
        filled.convert(&self.get())
    }

    /// A value with what it lacks, as far as it may lack it.
    fn filled(&self, value: &Value, budget: &Budget) -> Result<Value, Failure> {
        budget.spend_elements(1)?;
        let fill_all = |element: &Self, values: &[Value]| {
            values.iter().map(|value| element.filled(value, budget)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match (self, value.elements(), value.attributes()) {
            (Self::List(element) | Self::Set(element), Some(elements), _) => Value::tuple(fill_all(element, elements)?),
            (Self::Tuple(kinds), Some(elements), _) if elements.len() == kinds.len() => {
                let filled = kinds.iter().zip(elements.iter()).map(|(kind, value)| kind.filled(value, budget));
                Value::tuple(filled.collect::<Result<_, _>>()?)
            }
            (Self::Map(element), _, Some(elements)) => {
                let filled = elements.iter().map(|(key, value)| Ok((key.clone(), element.filled(value, budget)?)));
                Value::object(filled.collect::<Result<_, Failure>>()?)
            }
            (Self::Object(attributes), _, Some(given)) => {
                budget.spend_elements(attributes.len())?;
                let mut filled = Elements::new();
                for (name, attribute) in attributes {
                    if let Some(value) = attribute.filled(given.get(name), budget)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Value::object(filled)
            }
            _ => value.clone(),
        })
    }
}

impl Attribute {
    fn of(node: &Node) -> Option<Self> {
        let NodeKind::Call(Call { name, arguments, .. }) = &node.kind else {
            return Some(Self { kind: TypeExpression::of(node)?, default: None, is_optional: false });
        };
        match (name.as_str(), &arguments[..]) {
            ("optional", [kind]) => Some(Self { kind: TypeExpression::of(kind)?, default: None, is_optional: true }),
            ("optional", [kind, default]) => {
                let (kind, default) = (TypeExpression::of(kind)?, default.constant(&Meter::default())?);
                Some(Self { default: Some(kind.convert(&default, &Budget::default()).ok()?), kind, is_optional: true })
            }
            _ => Some(Self { kind: TypeExpression::of(node)?, default: None, is_optional: false }),
        }
    }

    fn filled(&self, given: Option<&Value>, budget: &Budget) -> Result<Option<Value>, Failure> {
        Ok(match (given, &self.default) {
            (None | Some(Value::Null(_)), Some(default)) => {
                budget.spend(default.size())?;
                Some(default.clone())
            }
            (Some(value), _) => Some(self.kind.filled(value, budget)?),
            (None, None) => self.is_optional.then(|| Value::Null(self.kind.get())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Unevaluated;

    fn converted(kind: &str, value: &str) -> Result<Value, String> {
        let value = Node::parse(value, 0..value.len()).unwrap().constant(&Meter::default()).unwrap();
        TypeExpression::parse(kind)
            .expect(kind)
            .convert(&value, &Budget::default())
            .map_err(|failure| Unevaluated::from(failure).to_string())
    }

    #[test]
    fn values_are_converted_as_the_tools_do() {
        for (kind, value, expected) in [
            ("bool", "\"1\"", "true"),
            ("number", "\"01\"", "1"),
            ("string", "2.50", "\"2.5\""),
            ("string", "null", "null"),
            ("any", "\"01\"", "\"01\""),
            (
                "object({ a = string, b = optional(number, \"3\"), c = optional(bool) })",
                "{ a = 1, x = 2 }",
                "{ a = \"1\", b = 3, c = null }",
            ),
            (
                "list(object({ s = string, o = optional(string, \"x\") }))",
                "[{ s = 1 }, { s = 2, o = null }]",
                "[{ s = \"1\", o = \"x\" }, { s = \"2\", o = \"x\" }]",
            ),
            (
                "map(object({ o = optional(object({ p = optional(number, 1) }), {}) }))",
                "{ a = {} }",
                "{ a = { o = { p = 1 } } }",
            ),
            ("tuple([string, object({ a = optional(string, \"d\") })])", "[1, {}]", "[\"1\", { a = \"d\" }]"),
        ] {
            let wanted = converted("any", expected).unwrap();
            let wanted = wanted.convert(&TypeExpression::parse(kind).unwrap().get()).unwrap();
            assert_eq!(converted(kind, value), Ok(wanted), "{kind} {value}");
        }
        for (kind, value) in
            [("bool", "1"), ("number", "true"), ("list(string)", "\"a\""), ("object({ a = string })", "{}")]
        {
            assert!(converted(kind, value).is_err(), "{kind} {value}");
        }
    }

    #[test]
    fn types_are_read() {
        for kind in ["string", "\"list\"", "set(any)", "map(list(string))", "object({ \"a\" = any })"] {
            assert!(TypeExpression::parse(kind).is_some(), "{kind}");
        }
        for kind in [
            "strnig",
            "list",
            "optional(string)",
            "list(a, b)",
            "object({ a = optional(string, f()) })",
            "1",
            "\"object\"",
        ] {
            assert_eq!(TypeExpression::parse(kind).is_some(), kind == "list", "{kind}");
        }
    }
}

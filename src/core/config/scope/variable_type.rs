//! Types of variables, with the attributes that values of them may lack.
//!
//! Source: `ext/typeexpr` of both tools, `get_type.go`, `defaults.go`; `internal/configs/named_values.go`, `decodeVariableType`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::evaluate::Meter;
use crate::evaluate::syntax::{Call, Node, NodeKind};
use crate::value::{Elements, Type, Unevaluated, Value};

/// The type of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum VariableType {
    /// A type in which nothing may be absent.
    Plain(Type),
    List(Box<VariableType>),
    Set(Box<VariableType>),
    Map(Box<VariableType>),
    Tuple(Vec<VariableType>),
    Object(BTreeMap<Arc<str>, Attribute>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attribute {
    kind: VariableType,
    /// What counts where it is absent or null: `optional(…)`.
    default: Option<Value>,
    is_optional: bool,
}

impl VariableType {
    /// Reads the expression of a type; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let node = Node::parse(text, 0..text.len()).ok()?;
        // Of old a type could be in quotes.
        match node.as_text() {
            Some("string" | "list" | "map") => Self::parse(text.trim_matches('"')),
            Some(_) => None,
            None => Self::of(&node),
        }
    }

    fn of(node: &Node) -> Option<Self> {
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
    pub(super) fn get(&self) -> Type {
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

    /// A value as one of this type.
    pub(super) fn convert(&self, value: &Value) -> Result<Value, Unevaluated> {
        self.filled(value).convert(&self.get())
    }

    /// A value with what it lacks, as far as it may lack it.
    fn filled(&self, value: &Value) -> Value {
        match self {
            Self::Plain(_) => value.clone(),
            Self::List(element) | Self::Set(element) => match value.elements() {
                Some(elements) => Value::tuple(elements.iter().map(|value| element.filled(value)).collect()),
                None => value.clone(),
            },
            Self::Tuple(kinds) => match value.elements() {
                Some(elements) if elements.len() == kinds.len() => {
                    Value::tuple(kinds.iter().zip(elements.iter()).map(|(kind, value)| kind.filled(value)).collect())
                }
                _ => value.clone(),
            },
            Self::Map(element) => match value.attributes() {
                Some(elements) => {
                    let filled = elements.iter().map(|(key, value)| (key.clone(), element.filled(value)));
                    Value::Object(Arc::new(filled.collect()))
                }
                None => value.clone(),
            },
            Self::Object(attributes) => match value.attributes() {
                Some(given) => {
                    let filled = attributes.iter().filter_map(|(name, attribute)| {
                        attribute.filled(given.get(name)).map(|value| (name.clone(), value))
                    });
                    Value::Object(Arc::new(filled.collect::<Elements>()))
                }
                None => value.clone(),
            },
        }
    }
}

impl Attribute {
    fn of(node: &Node) -> Option<Self> {
        let NodeKind::Call(Call { name, arguments, .. }) = &node.kind else {
            return Some(Self { kind: VariableType::of(node)?, default: None, is_optional: false });
        };
        match (name.as_str(), &arguments[..]) {
            ("optional", [kind]) => Some(Self { kind: VariableType::of(kind)?, default: None, is_optional: true }),
            ("optional", [kind, default]) => {
                let (kind, default) = (VariableType::of(kind)?, default.constant(&Meter::default())?);
                Some(Self { default: Some(kind.convert(&default).ok()?), kind, is_optional: true })
            }
            _ => Some(Self { kind: VariableType::of(node)?, default: None, is_optional: false }),
        }
    }

    fn filled(&self, given: Option<&Value>) -> Option<Value> {
        match (given, &self.default) {
            (None | Some(Value::Null(_)), Some(default)) => Some(default.clone()),
            (Some(value), _) => Some(self.kind.filled(value)),
            (None, None) => self.is_optional.then(|| Value::Null(self.kind.get())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(kind: &str, value: &str) -> Result<Value, String> {
        let value = Node::parse(value, 0..value.len()).unwrap().constant(&Meter::default()).unwrap();
        VariableType::parse(kind).expect(kind).convert(&value).map_err(|problem| problem.to_string())
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
            let wanted = wanted.convert(&VariableType::parse(kind).unwrap().get()).unwrap();
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
            assert!(VariableType::parse(kind).is_some(), "{kind}");
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
            assert_eq!(VariableType::parse(kind).is_some(), kind == "list", "{kind}");
        }
    }
}

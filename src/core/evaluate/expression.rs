//! An expression as written, with its place: read when its value is needed.

use std::sync::Arc;

use super::syntax::{DEPTH, Node, NodeKind, PARTS, SyntaxErrorKind};
use super::{Evaluated, Evaluation, Failure, Meter, Names, Reference, Scope};
use crate::finding::{LineIndex, Location};
use crate::functions::Tools;
use crate::value::{Unevaluated, Value};

/// An expression as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// Where it begins.
    pub place: Location,
    source: ExpressionSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ExpressionSource {
    Native(String),
    /// A value of JSON whose strings are plain text.
    Plain(Node),
    /// A value of JSON whose strings are templates.
    Templates(Node),
}

impl Expression {
    /// One in native syntax.
    pub fn native(place: Location, text: &str) -> Self {
        Self { place, source: ExpressionSource::Native(text.to_owned()) }
    }

    /// A value of JSON whose strings are plain text.
    pub fn plain(place: Location, value: Node) -> Self {
        Self { place, source: ExpressionSource::Plain(value) }
    }

    /// A value that was evaluated; of an unknown part nothing but null is left.
    pub fn constant(place: Location, value: &Value) -> Self {
        Self { place, source: ExpressionSource::Plain(Node::of_value(value)) }
    }

    /// A value of JSON whose strings are templates.
    pub fn templates(place: Location, value: Node) -> Self {
        Self { place, source: ExpressionSource::Templates(value) }
    }

    /// The text of one in native syntax.
    pub(crate) fn native_text(&self) -> Option<&str> {
        if let ExpressionSource::Native(text) = &self.source { Some(text) } else { None }
    }

    /// Its text in a language of its own, such as that of types, which in JSON is the content of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.source {
            ExpressionSource::Native(text) => Some(text),
            ExpressionSource::Plain(node) | ExpressionSource::Templates(node) => node.as_text(),
        }
    }

    /// The expression as a tree, whose places are for [`Expression::locate`].
    ///
    /// # Errors
    ///
    /// What the tools refuse, and what is beyond a limit.
    pub fn parse(&self) -> Result<Node, Unevaluated> {
        let node = match &self.source {
            ExpressionSource::Native(text) => Node::parse(text, 0..text.len()),
            ExpressionSource::Plain(node) => Ok(node.clone()),
            ExpressionSource::Templates(node) => with_templates(node),
        };
        node.map_err(|error| {
            let reason = match error.kind {
                SyntaxErrorKind::Invalid => Unevaluated::refused("it cannot be read as an expression"),
                SyntaxErrorKind::TooDeep => {
                    Unevaluated::limit(format!("an expression nested more than {DEPTH} levels deep"))
                }
                SyntaxErrorKind::TooLarge => Unevaluated::limit(format!("an expression of more than {PARTS} parts")),
            };
            reason.at(&self.locate(error.at))
        })
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// What the tool refuses, and limits.
    pub fn evaluate(&self, scope: &dyn Scope, meter: &Meter) -> Evaluated {
        let node = self.parse().map_err(Failure::Final)?;
        Evaluation { expression: Some(self), scope, meter }.value(&node, Names(None))
    }

    /// The place of a byte of the text. Values of JSON are at one place, the beginning.
    pub fn locate(&self, at: usize) -> Location {
        let ExpressionSource::Native(text) = &self.source else { return self.place.clone() };
        let mut place = self.place.clone();
        let within = LineIndex::new(text).position(at);
        place.position.column =
            if within.line == 1 { place.position.column + within.column - 1 } else { within.column };
        place.position.line += within.line - 1;
        place
    }
}

impl Node {
    /// The expression of a value.
    fn of_value(value: &Value) -> Self {
        let named = |(name, value): (&Arc<str>, &Value)| {
            (Self { at: 0, kind: NodeKind::Text(name.to_string()) }, Self::of_value(value))
        };
        let kind = match value {
            Value::Bool(value) => NodeKind::Bool(*value),
            Value::Number(number) => NodeKind::Number(number.to_string().into()),
            Value::String(text) => NodeKind::Text(text.to_string()),
            Value::List(_, elements) | Value::Set(_, elements) | Value::Tuple(elements) => {
                NodeKind::Tuple(elements.iter().map(Self::of_value).collect())
            }
            Value::Map(_, elements) | Value::Object(elements) => NodeKind::Object(elements.iter().map(named).collect()),
            Value::Null(_) | Value::Unknown(_) => NodeKind::Null,
        };
        Self { at: 0, kind }
    }

    /// The value of a part of an expression; without the expression, errors have no place.
    ///
    /// # Errors
    ///
    /// What the tool refuses, and limits.
    pub fn evaluate(&self, within: Option<&Expression>, scope: &dyn Scope, meter: &Meter) -> Evaluated {
        Evaluation { expression: within, scope, meter }.value(self, Names(None))
    }

    /// The value of an expression where neither names nor functions may be; `None` if it has no such value.
    ///
    /// Source: `hcl.Expression.Value` without an evaluation context.
    pub fn constant(&self, meter: &Meter) -> Option<Value> {
        if let NodeKind::Text(text) = &self.kind {
            return Some(Value::text(text));
        }
        if self.contains(&|kind| matches!(kind, NodeKind::Call(_))) {
            return None;
        }
        let evaluation = Evaluation { expression: None, scope: &Nothing, meter };
        evaluation.value(self, Names(None)).ok().filter(|value| value.unknown_part().is_none())
    }
}

/// Where there are no names.
struct Nothing;

impl Scope for Nothing {
    fn tools(&self) -> Tools {
        Tools::MODULES
    }

    fn lookup(&self, _: &Reference<'_>, _: &Meter) -> Evaluated {
        Err(Failure::invalid("there are no names here"))
    }
}

fn with_templates(node: &Node) -> Result<Node, super::syntax::SyntaxError> {
    let kind = match &node.kind {
        NodeKind::Text(text) => return Node::parse_template(text, node.at),
        NodeKind::Tuple(items) => NodeKind::Tuple(items.iter().map(with_templates).collect::<Result<_, _>>()?),
        NodeKind::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| Ok((with_templates(key)?, with_templates(value)?)));
            NodeKind::Object(pairs.collect::<Result<_, _>>()?)
        }
        kind => kind.clone(),
    };
    Ok(Node { at: node.at, kind })
}

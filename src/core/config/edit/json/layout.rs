//! How a JSON text is laid out, and new values in the same way.

use super::super::lines::{indent, line_break};
use super::{members, objects};
use crate::config::json::{JsonNode, JsonValue};

/// How a text is laid out.
#[derive(Debug)]
pub(super) struct Style {
    pub(super) line_break: &'static str,
    pub(super) unit: String,
    /// What stands between a key and its value.
    pub(super) colon: String,
    /// What stands behind a comma on one line.
    pub(super) space: &'static str,
    /// What stands within the braces of an object on one line.
    pub(super) padding: &'static str,
}

/// A value to be written.
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Object(Vec<(&'static str, Value)>),
    Named(String, Box<Value>),
}

impl Default for Style {
    fn default() -> Self {
        Self { line_break: "\n", unit: "  ".to_owned(), colon: ": ".to_owned(), space: " ", padding: " " }
    }
}

impl Style {
    pub(super) fn of(text: &str, root: &JsonNode<'_>) -> Self {
        let root = objects(root).into_iter().next();
        let first = root.and_then(|root| members(root).first().map(|first| (root, first)));
        let Some((root, first)) = first else {
            return Self { line_break: line_break(text), ..Self::default() };
        };
        let unit = match indent(text, first.at).strip_prefix(indent(text, root.at)) {
            Some(unit) if !unit.is_empty() => unit,
            _ => "  ",
        };
        let head = &text[first.at..first.value.at];
        let colon = head.rfind('"').map_or(": ", |end| &head[end + 1..]);
        let colon = if colon.contains('\n') { ": " } else { colon };
        let space = if colon.ends_with(' ') { " " } else { "" };
        let padding = padding(text, root).unwrap_or(space);
        Self { line_break: line_break(text), unit: unit.to_owned(), colon: colon.to_owned(), space, padding }
    }

    /// A value, over lines if an indentation is given.
    pub(super) fn render(&self, value: &Value, indent: Option<&str>) -> String {
        let inner = indent.map(|indent| format!("{indent}{}", self.unit));
        let member =
            |key: &str, value: &Value| format!("{}{}{}", quoted(key), self.colon, self.render(value, inner.as_deref()));
        let members: Vec<String> = match value {
            Value::Text(text) => return quoted(text),
            Value::Object(members) => members.iter().map(|(key, value)| member(key, value)).collect(),
            Value::Named(key, value) => vec![member(key, value)],
        };
        if let (Some(inner), Some(outer)) = (&inner, indent) {
            let line_break = format!("{}{inner}", self.line_break);
            let members = members.join(&format!(",{line_break}"));
            return format!("{{{line_break}{members}{}{outer}}}", self.line_break);
        }
        let Self { space, padding, .. } = self;
        format!("{{{padding}{}{padding}}}", members.join(&format!(",{space}")))
    }
}

/// What stands within the braces of the first object that is on one line.
fn padding(text: &str, node: &JsonNode<'_>) -> Option<&'static str> {
    let inner = match &node.value {
        JsonValue::Object(members) => {
            if let Some(first) = members.first()
                && !text[node.at..node.end].contains('\n')
            {
                return Some(if first.at == node.at + 1 { "" } else { " " });
            }
            members.iter().map(|member| &member.value).collect()
        }
        JsonValue::Array(items) => items.iter().collect::<Vec<_>>(),
        _ => return None,
    };
    inner.into_iter().find_map(|node| padding(text, node))
}

/// A JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

//! Values, as far as requirements need them: constants, references, and templates of both.
//!
//! Source: for what counts as constant, `hcl.Expression.Value` without an evaluation context.

use std::ops::Range;

use hcl::edit::expr::{Expression, ObjectKey, TraversalOperator};
use hcl::edit::template::Element;
use hcl::edit::{Ident, Span};

use super::error::ConfigErrorKind;
use crate::hcl::normal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) at: usize,
    pub(super) value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// As the tools turn it into a string.
    Number(String),
    Text(String),
    /// A string with references in it.
    Template(Vec<Part>),
    Reference(Vec<Step>),
    List(Vec<Node>),
    Object(Vec<(Node, Node)>),
    /// Anything that only the tools can evaluate.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// `${var.x}`: the names.
    Reference(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Name(String),
    Index,
}

impl Node {
    pub(super) fn native(text: &str, range: Range<usize>) -> Result<Self, (usize, ConfigErrorKind)> {
        let at = range.start;
        let slice = &text[range];
        if let Some(plain) = plain_string(slice) {
            return Ok(Self { at, value: Value::Text(plain) });
        }
        match slice.parse::<Expression>() {
            Ok(expression) => Ok(convert(&expression, at, at)),
            Err(error) => Err((at + error.location().offset().min(slice.len()), ConfigErrorKind::Expression)),
        }
    }

    /// Reads a string of JSON as the expression in it, as the tools do for references.
    pub(super) fn reference_in_text(text: &str, at: usize) -> Self {
        let value = text.parse::<Expression>().map_or(Value::Unknown, |expression| convert(&expression, at, at).value);
        Self { at, value }.into_reference()
    }

    /// Reads a string of JSON as a template, as OpenTofu does for the sources of modules.
    pub(super) fn template_in_text(text: &str, at: usize) -> Self {
        let value = match text.parse::<hcl::edit::template::Template>() {
            Ok(template) => join(template.iter(), at),
            Err(_) => Value::Unknown,
        };
        Self { at, value }
    }

    /// The value where only a reference can appear: the words for constants are names like any other there.
    pub(super) fn into_reference(self) -> Self {
        let word = match self.value {
            Value::Null => "null",
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            _ => return self,
        };
        Self { value: Value::Reference(vec![Step::Name(word.to_owned())]), ..self }
    }

    pub(super) fn names(&self) -> Option<Vec<&str>> {
        let Value::Reference(steps) = &self.value else { return None };
        steps.iter().map(|step| if let Step::Name(name) = step { Some(name.as_str()) } else { None }).collect()
    }
}

/// The fast way for nearly all strings: nothing to unescape, nothing to interpolate.
fn plain_string(slice: &str) -> Option<String> {
    let inner = slice.strip_prefix('"')?.strip_suffix('"')?;
    let plain = |byte: u8| !matches!(byte, b'"' | b'\\' | b'$' | b'%') && byte.is_ascii() && !byte.is_ascii_control();
    inner.bytes().all(plain).then(|| inner.to_owned())
}

fn convert(expression: &Expression, base: usize, fallback: usize) -> Node {
    let at = expression.span().map_or(fallback, |span| base + span.start);
    let value = match expression {
        Expression::Null(_) => Value::Null,
        Expression::Bool(value) => Value::Bool(*value.value()),
        Expression::Number(number) => Value::Number(number_text(&number.value().to_string())),
        Expression::String(text) => Value::Text(normal(text).into_owned()),
        Expression::StringTemplate(template) => join(template.iter(), at),
        Expression::HeredocTemplate(heredoc) => {
            let mut heredoc = heredoc.clone();
            heredoc.dedent();
            join(heredoc.template.iter(), at)
        }
        Expression::Parenthesis(inner) => return convert(inner.inner(), base, at),
        Expression::Variable(name) => Value::Reference(vec![Step::Name(name.as_str().to_owned())]),
        // After a dot there are names: a word that is a constant alone is a name here.
        Expression::Traversal(traversal) => match convert(&traversal.expr, base, at).into_reference().value {
            Value::Reference(mut steps) => {
                steps.extend(traversal.operators.iter().map(|operator| step(operator.value())));
                Value::Reference(steps)
            }
            _ => Value::Unknown,
        },
        Expression::Array(items) => Value::List(items.iter().map(|item| convert(item, base, at)).collect()),
        Expression::Object(object) => {
            let pairs = object.iter().map(|(key, value)| (convert_key(key, base, at), convert(value.expr(), base, at)));
            Value::Object(pairs.collect())
        }
        _ => Value::Unknown,
    };
    Node { at, value }
}

fn convert_key(key: &ObjectKey, base: usize, fallback: usize) -> Node {
    match key {
        ObjectKey::Ident(name) => Node {
            at: name.span().map_or(fallback, |span| base + span.start),
            value: Value::Text(Ident::as_str(name).to_owned()),
        },
        ObjectKey::Expression(expression) => convert(expression, base, fallback),
    }
}

fn step(operator: &TraversalOperator) -> Step {
    match operator {
        TraversalOperator::GetAttr(name) => Step::Name(name.as_str().to_owned()),
        _ => Step::Index,
    }
}

/// The value of a template: the bare value if it is nothing but one interpolation.
fn join<'a>(elements: impl Iterator<Item = &'a Element>, at: usize) -> Value {
    let mut parts = Vec::new();
    let mut single = None;
    for (count, element) in elements.enumerate() {
        let value = match element {
            Element::Literal(text) => Value::Text(normal(text.value()).into_owned()),
            Element::Interpolation(interpolation) => {
                let inner = convert(&interpolation.expr, at, at).value;
                single = (count == 0).then(|| inner.clone());
                inner
            }
            Element::Directive(_) => return Value::Unknown,
        };
        if count > 0 {
            single = None;
        }
        match value {
            Value::Text(text) | Value::Number(text) => parts.push(Part::Text(text)),
            Value::Bool(value) => parts.push(Part::Text(value.to_string())),
            Value::Template(inner) => parts.extend(inner),
            Value::Reference(steps) => {
                let name = |step| if let Step::Name(name) = step { Some(name) } else { None };
                let Some(names) = steps.into_iter().map(name).collect() else { return Value::Unknown };
                parts.push(Part::Reference(names));
            }
            _ if single.is_some() => {}
            _ => return Value::Unknown,
        }
    }
    // A reference in a string stays one in a string: the tools do not take it for the bare reference.
    if let Some(value) = single.filter(|value| !matches!(value, Value::Reference(_))) {
        return value;
    }
    match text_of(&parts) {
        Some(text) => Value::Text(text),
        None => Value::Template(parts),
    }
}

fn text_of(parts: &[Part]) -> Option<String> {
    parts.iter().map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect()
}

/// A number as the tools turn it into a string: without what does not change its value, `2.0` as `2`.
pub(super) fn number_text(written: &str) -> String {
    match (written.parse::<u64>(), written.parse::<f64>()) {
        (Ok(number), _) => number.to_string(),
        (_, Ok(number)) => number.to_string(),
        _ => written.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Node::native(text, 0..text.len()).unwrap().value
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn constants_have_values() {
        assert_eq!(value("\"a\""), text("a"));
        assert_eq!(value("\"a\\\"\\u00e9$${\""), text("a\"é${"));
        assert_eq!(value("\"e\u{301}\""), text("é"));
        assert_eq!(value("\"~> ${1}.0\""), text("~> 1.0"));
        assert_eq!(value("\"${\"x\"}\""), text("x"));
        assert_eq!(value("(\"x\")"), text("x"));
        assert_eq!(value("<<-EOT\n    1.0\n    EOT"), text("1.0\n"));
        assert_eq!(value("2.0"), Value::Number("2".into()));
        assert_eq!(value("1.10"), Value::Number("1.1".into()));
        assert_eq!(value("\"${2.5}\""), Value::Number("2.5".into()));
        assert_eq!((value("null"), value("true")), (Value::Null, Value::Bool(true)));
    }

    #[test]
    fn references_keep_their_steps() {
        let names = |text: &str| Node::native(text, 0..text.len()).unwrap().names().map(|names| names.join("/"));
        assert_eq!(names("a"), Some("a".into()));
        assert_eq!(names("a.b.c"), Some("a/b/c".into()));
        assert_eq!((names("null.x"), names("null")), (Some("null/x".into()), None));
        assert_eq!(names("a.b[0]"), None);
        assert_eq!(names("f(a)"), None);
    }

    #[test]
    fn templates_keep_their_references() {
        let reference = Part::Reference(vec!["var".into(), "x".into()]);
        assert_eq!(value("\"a/${var.x}\""), Value::Template(vec![Part::Text("a/".into()), reference]));
        assert_eq!(value("\"a/${f(1)}\""), Value::Unknown);
        assert_eq!(value("\"${f(1)}\""), Value::Unknown);
    }

    #[test]
    fn objects_take_names_and_strings_as_keys() {
        let Value::Object(pairs) = value("{ a = 1, \"b\" : 2\n (\"c\") = 3 }") else { panic!() };
        let keys: Vec<_> = pairs.into_iter().map(|(key, _)| (key.at, key.value)).collect();
        assert_eq!(keys, [(2, text("a")), (9, text("b")), (19, text("c"))]);
    }

    #[test]
    fn errors_have_their_place() {
        assert_eq!(Node::native("x = { a = }", 4..11).unwrap_err().0, 10);
    }
}

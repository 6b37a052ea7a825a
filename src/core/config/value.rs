//! Values, as far as requirements need them: constants, references, and templates of both. What is not constant is
//! the business of `evaluate.rs`.
//!
//! Source: for what counts as constant, `hcl.Expression.Value` without an evaluation context.

use std::ops::Range;

use hcl_edit::expr::{Expression, ObjectKey, TraversalOperator};
use hcl_edit::template::Element;
use hcl_edit::{Ident, Span};

use super::ConfigErrorKind;
use crate::hcl::normal;

/// A value as written, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
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
    /// A string in parts that are not all constant.
    Template(Vec<Node>),
    Reference(Vec<PathStep>),
    List(Vec<Node>),
    Object(Vec<(Node, Node)>),
    /// Anything that only the tools can evaluate, and what it is.
    Unknown(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Name(String),
    /// `[...]`: what is in the brackets.
    Index(Node),
}

/// What no reader here can make sense of, although the tools may.
const UNREADABLE: &str = "an expression that cannot be read here";

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
        let expression = text.parse::<Expression>();
        let value = expression.map_or(Value::Unknown(UNREADABLE), |expression| convert(&expression, at, at).value);
        Self { at, value }.into_reference()
    }

    /// Reads a string of JSON as a template, as OpenTofu does for the sources of modules.
    pub(super) fn template_in_text(text: &str, at: usize) -> Self {
        let value = match text.parse::<hcl_edit::template::Template>() {
            Ok(template) => join(template.iter(), at, at),
            Err(_) => Value::Unknown(UNREADABLE),
        };
        Self { at, value }
    }

    /// Reads all strings in a value of JSON as templates, as the tools do where they evaluate.
    pub(super) fn with_templates(self) -> Self {
        let value = match self.value {
            Value::Text(text) => return Self::template_in_text(&text, self.at),
            Value::List(items) => Value::List(items.into_iter().map(Self::with_templates).collect()),
            Value::Object(pairs) => {
                let pairs = pairs.into_iter().map(|(key, value)| (key.with_templates(), value.with_templates()));
                Value::Object(pairs.collect())
            }
            value => value,
        };
        Self { value, ..self }
    }

    /// What the environment or the command line sets a variable to: its text, or the expression in it.
    pub(super) fn given(text: &str, is_plain: bool) -> Self {
        if is_plain {
            return Self { at: 0, value: Value::Text(text.to_owned()) };
        }
        Self::native(text, 0..text.len()).unwrap_or_else(|_| Self::unreadable())
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub(super) fn unreadable() -> Self {
        Self { at: 0, value: Value::Unknown(UNREADABLE) }
    }

    /// The value where only a reference can appear: the words for constants are names like any other there.
    pub(super) fn into_reference(self) -> Self {
        let word = match self.value {
            Value::Null => "null",
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            _ => return self,
        };
        Self { value: Value::Reference(vec![PathStep::Name(word.to_owned())]), ..self }
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
        Expression::StringTemplate(template) => join(template.iter(), base, at),
        Expression::HeredocTemplate(heredoc) => {
            let mut heredoc = heredoc.clone();
            heredoc.dedent();
            join(heredoc.template.iter(), base, at)
        }
        Expression::Parenthesis(inner) => return convert(inner.inner(), base, at),
        Expression::Variable(name) => Value::Reference(vec![PathStep::Name(name.as_str().to_owned())]),
        // After a dot there are names: a word that is a constant alone is a name here.
        Expression::Traversal(traversal) => match convert(&traversal.expr, base, at).into_reference().value {
            Value::Reference(mut steps) => {
                let further = traversal.operators.iter().map(|operator| step(operator.value(), base, at));
                match further.collect::<Option<Vec<PathStep>>>() {
                    Some(further) => {
                        steps.extend(further);
                        Value::Reference(steps)
                    }
                    None => Value::Unknown("a splat expression"),
                }
            }
            value @ Value::Unknown(_) => value,
            _ => Value::Unknown("a part of a constant"),
        },
        Expression::Array(items) => Value::List(items.iter().map(|item| convert(item, base, at)).collect()),
        Expression::Object(object) => {
            let pairs = object.iter().map(|(key, value)| (convert_key(key, base, at), convert(value.expr(), base, at)));
            Value::Object(pairs.collect())
        }
        Expression::FuncCall(_) => Value::Unknown("a function call"),
        Expression::Conditional(_) => Value::Unknown("a conditional expression"),
        Expression::ForExpr(_) => Value::Unknown("a `for` expression"),
        Expression::UnaryOp(_) | Expression::BinaryOp(_) => Value::Unknown("an operator"),
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

/// `None` for splats.
fn step(operator: &TraversalOperator, base: usize, at: usize) -> Option<PathStep> {
    match operator {
        TraversalOperator::GetAttr(name) => Some(PathStep::Name(name.as_str().to_owned())),
        TraversalOperator::Index(key) => Some(PathStep::Index(convert(key, base, at))),
        TraversalOperator::LegacyIndex(index) => {
            Some(PathStep::Index(Node { at, value: Value::Number(index.value().to_string()) }))
        }
        TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => None,
    }
}

/// The value of a template: the bare value if it is nothing but one interpolation.
fn join<'a>(elements: impl Iterator<Item = &'a Element>, base: usize, at: usize) -> Value {
    let mut parts: Vec<Node> = Vec::new();
    let mut literals_only = true;
    // `~}` strips the white space that begins the literal after it.
    let mut strips = false;
    for element in elements {
        let part = match element {
            Element::Literal(text) => {
                let text = if strips { text.value().trim_start() } else { text.value() };
                Node { at, value: Value::Text(normal(text).into_owned()) }
            }
            Element::Interpolation(interpolation) => {
                literals_only = false;
                if interpolation.strip.strip_start()
                    && let Some(Node { value: Value::Text(before), .. }) = parts.last_mut()
                {
                    before.truncate(before.trim_end().len());
                }
                convert(&interpolation.expr, base, at)
            }
            Element::Directive(_) => return Value::Unknown("a template directive"),
        };
        strips = matches!(element, Element::Interpolation(inner) if inner.strip.strip_end());
        parts.push(part);
    }
    // A reference in a string stays one in a string: the tools do not take it for the bare reference.
    if let [Node { value, .. }] = &parts[..]
        && !literals_only
        && !matches!(value, Value::Reference(_))
    {
        return value.clone();
    }
    match text_of(&parts) {
        Some(text) => Value::Text(text),
        None => Value::Template(parts),
    }
}

fn text_of(parts: &[Node]) -> Option<String> {
    let mut whole = String::new();
    for part in parts {
        match &part.value {
            Value::Text(text) | Value::Number(text) => whole.push_str(text),
            Value::Bool(value) => whole.push_str(if *value { "true" } else { "false" }),
            _ => return None,
        }
    }
    Some(whole)
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

    /// The names of a reference that has nothing else.
    fn names(node: &Node) -> Option<String> {
        let Value::Reference(steps) = &node.value else { return None };
        let name = |step: &PathStep| if let PathStep::Name(name) = step { Some(name.clone()) } else { None };
        Some(steps.iter().map(name).collect::<Option<Vec<_>>>()?.join("/"))
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
        let names = |text: &str| names(&Node::native(text, 0..text.len()).unwrap());
        assert_eq!(names("a"), Some("a".into()));
        assert_eq!(names("a.b.c"), Some("a/b/c".into()));
        assert_eq!((names("null.x"), names("null")), (Some("null/x".into()), None));
        assert_eq!(names("a.b[0]"), None);
        assert_eq!(names("f(a)"), None);
    }

    #[test]
    fn templates_keep_their_references() {
        let Value::Template(parts) = value("\"a/${var.x}\"") else { panic!() };
        assert_eq!((parts.len(), parts[1].at, names(&parts[1])), (2, 5, Some("var/x".into())));
        assert!(matches!(value("\"a/${f(1)}\""), Value::Template(_)));
        assert_eq!(value("\"${f(1)}\""), Value::Unknown("a function call"));
        assert_eq!(value("f(1)[0].x"), Value::Unknown("a function call"));
        assert_eq!(value("a[*].x"), Value::Unknown("a splat expression"));
        assert_eq!(value("\"%{ if true }a%{ endif }\""), Value::Unknown("a template directive"));
    }

    #[test]
    fn markers_strip_the_white_space_next_to_them() {
        for (written, expected) in [
            ("\"a ${~ 1 ~} \\t b\"", "a1b"),
            ("\"a ${~ 1 } b\"", "a1 b"),
            ("\"a ${ 1 ~}${ 2 } b\"", "a 12 b"),
            ("\" ${~ \" x \" ~} \"", " x "),
            ("<<EOT\na\n${~ 1 ~}\n b\nEOT", "a1b\n"),
        ] {
            assert_eq!(value(written), text(expected), "{written}");
        }
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

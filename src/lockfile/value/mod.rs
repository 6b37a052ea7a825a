//! The values of constant expressions.
//!
//! A lock file holds literal strings and nothing else, unless a person wrote it; the tools then compute whatever needs
//! neither variables nor functions, and so must we. What an expression may cost is limited.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclsyntax/expression.go`, and the conversions of `zclconf/go-cty`.

mod arithmetic;
mod repeat;

use std::collections::BTreeMap;

use icu_normalizer::ComposingNormalizerBorrowed;

use super::syntax::{Expr, Node, Number};

/// What all expressions of one file may cost together, about one for each step and each 16 bytes of text.
const BUDGET: usize = 2_000_000;

/// What an expression is worth.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoValue {
    pub(super) at: usize,
    /// None if the reason was told when the expression was read.
    pub(super) message: Option<String>,
}

fn no_value<T>(at: usize, message: impl Into<String>) -> Result<T, NoValue> {
    Err(NoValue { at, message: Some(message.into()) })
}

/// Computes the values of the expressions of one file.
#[derive(Debug)]
pub(super) struct Evaluator<'s> {
    names: Vec<(&'s str, Value)>,
    each: Vec<Value>,
    left: usize,
}

impl<'s> Evaluator<'s> {
    pub(super) fn new() -> Self {
        Self { names: Vec::new(), each: Vec::new(), left: BUDGET }
    }

    /// The value as a string, to which numbers and truth values are converted; None for null.
    pub(super) fn text(&mut self, node: &Node<'s>) -> Result<Option<String>, NoValue> {
        if let Expr::Text(text) = &node.expr {
            return Ok(Some(normal(text)));
        }
        match self.value(node)? {
            Value::Null => Ok(None),
            value => match value.into_text() {
                Some(text) => Ok(Some(text)),
                None => no_value(node.at, "a string is wanted here"),
            },
        }
    }

    fn value(&mut self, node: &Node<'s>) -> Result<Value, NoValue> {
        self.pay(1, node.at)?;
        Ok(match &node.expr {
            Expr::Null => Value::Null,
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => {
                self.pay(text.len() / 16, node.at)?;
                Value::Text(normal(text))
            }
            Expr::Template(parts) => self.template(node.at, parts)?,
            Expr::Wrapped(inner) | Expr::Parentheses(inner) => self.value(inner)?,
            Expr::Tuple(items) => Value::List(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?),
            Expr::Object(items) => self.object(items)?,
            Expr::Variable(name) => self.variable(name, node.at)?,
            Expr::Call => return no_value(node.at, "functions cannot be called in a lock file"),
            Expr::Each => self.each.last().cloned().unwrap_or(Value::Null),
            Expr::Attribute(source, name) => {
                let source = self.value(source)?;
                source.attribute(name).map_or_else(|| no_value(node.at, format!("there is no `{name}` in this")), Ok)?
            }
            Expr::Index(source, key) => {
                let (source, key) = (self.value(source)?, self.value(key)?);
                source.index(&key).map_or_else(|| no_value(node.at, "there is no such item"), Ok)?
            }
            Expr::Splat(source, each) => self.splat(source, each)?,
            Expr::Negative(_) | Expr::Not(_) | Expr::Binary(..) => self.operation(node)?,
            Expr::Conditional(parts) => self.conditional(parts)?,
            Expr::For(parts) => self.repeat(node.at, parts)?,
            Expr::Joined(inner) => match self.value(inner)? {
                Value::List(items) => self.join(node.at, items)?,
                _ => Value::Null,
            },
            Expr::Broken => return Err(NoValue { at: node.at, message: None }),
        })
    }

    fn pay(&mut self, cost: usize, at: usize) -> Result<(), NoValue> {
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => no_value(at, "the expressions of this file are too elaborate for a lock file"),
        }
    }

    fn variable(&mut self, name: &str, at: usize) -> Result<Value, NoValue> {
        match self.names.iter().rev().find(|(known, _)| *known == name) {
            Some((_, value)) => {
                let value = value.clone();
                self.pay(value.weight(), at)?;
                Ok(value)
            }
            None => no_value(at, format!("variables such as `{name}` cannot be used in a lock file")),
        }
    }

    fn template(&mut self, at: usize, parts: &[Node<'s>]) -> Result<Value, NoValue> {
        let values: Vec<Value> = parts.iter().map(|part| self.value(part)).collect::<Result<_, _>>()?;
        self.join(at, values)
    }

    fn join(&mut self, at: usize, values: Vec<Value>) -> Result<Value, NoValue> {
        let mut result = String::new();
        for value in values {
            match value.into_text() {
                Some(text) => result.push_str(&text),
                None => return no_value(at, "a template takes strings, numbers and truth values"),
            }
        }
        self.pay(result.len() / 16, at)?;
        Ok(Value::Text(normal(&result)))
    }

    fn object(&mut self, items: &[(Node<'s>, Node<'s>)]) -> Result<Value, NoValue> {
        let mut object = BTreeMap::new();
        for (key, value) in items {
            // A bare word is a key and not a variable; in parentheses it is one.
            let name = match &key.expr {
                Expr::Variable(name) => Some((*name).to_owned()),
                _ => self.value(key)?.into_text(),
            };
            let Some(name) = name else {
                return no_value(key.at, "a key is a string");
            };
            object.insert(name, self.value(value)?);
        }
        Ok(Value::Object(object))
    }

    fn splat(&mut self, source: &Node<'s>, each: &Node<'s>) -> Result<Value, NoValue> {
        let items = match self.value(source)? {
            Value::Null => Vec::new(),
            Value::List(items) => items,
            other => vec![other],
        };
        let mut results = Vec::with_capacity(items.len());
        for item in items {
            self.pay(item.weight(), source.at)?;
            self.each.push(item);
            let result = self.value(each);
            self.each.pop();
            results.push(result?);
        }
        Ok(Value::List(results))
    }

    /// Both values are computed for the sake of their type; what is wrong with the one not taken does not count.
    fn conditional(&mut self, parts: &[Node<'s>; 3]) -> Result<Value, NoValue> {
        let [condition, yes, no] = parts;
        let Some(which) = self.value(condition)?.truth() else {
            return no_value(condition.at, "a condition is true or false");
        };
        let (yes, no) = (self.value(yes), self.value(no));
        let (taken, other) = if which { (yes?, no) } else { (no?, yes) };
        match other {
            Ok(other) if !taken.goes_with(&other) => {
                no_value(parts[1].at, "the two values of a conditional are of different types")
            }
            Ok(Value::Text(_)) => Ok(match taken.clone().into_text() {
                Some(text) => Value::Text(text),
                None => taken,
            }),
            _ => Ok(taken),
        }
    }
}

impl Value {
    /// The value as a string, if it can be one.
    fn into_text(self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(Number::Whole(value)) => Some(value.to_string()),
            Value::Number(Number::Float(value)) => Some(value.to_string()),
            Value::Null | Value::List(_) | Value::Object(_) => None,
        }
    }

    /// The value as a truth value, if it can be one.
    fn truth(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            Value::Text(text) => match text.as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// True if there is a type for both.
    fn goes_with(&self, other: &Value) -> bool {
        let text = |value: &Value| matches!(value, Value::Text(_) | Value::Bool(_) | Value::Number(_));
        match (self, other) {
            (Value::Null, _) | (_, Value::Null) => true,
            (Value::Text(_), value) | (value, Value::Text(_)) => text(value),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    fn attribute(&self, name: &str) -> Option<Value> {
        match self {
            Value::Object(object) => object.get(name).cloned(),
            _ => None,
        }
    }

    fn index(&self, key: &Value) -> Option<Value> {
        match (self, key) {
            (Value::List(items), key) => match key.number()? {
                Number::Whole(at) => items.get(usize::try_from(at).ok()?).cloned(),
                Number::Float(_) => None,
            },
            (Value::Object(object), key) => object.get(&key.clone().into_text()?).cloned(),
            _ => None,
        }
    }

    /// What it costs to have another one.
    fn weight(&self) -> usize {
        1 + match self {
            Value::Text(text) => text.len() / 16,
            Value::List(items) => items.iter().map(Value::weight).sum(),
            Value::Object(object) => object.values().map(Value::weight).sum(),
            _ => 0,
        }
    }
}

/// The normal form in which strings are compared and written: NFC.
pub(super) fn normal(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::syntax::{Source, parse};
    use super::*;

    fn text(expression: &str) -> Result<Option<String>, String> {
        let text = format!("x = {expression}\n");
        let source = Source::new(text.as_bytes()).unwrap();
        let tree = parse(&source);
        assert_eq!(tree.problems, [], "{expression}");
        let value = Evaluator::new().text(&tree.body.attributes[0].value);
        value.map_err(|none| none.message.unwrap_or_default())
    }

    fn is(expression: &str, expected: &str) {
        assert_eq!(text(expression), Ok(Some(expected.to_owned())), "{expression}");
    }

    #[test]
    fn templates() {
        is(r#""1.2.${3}""#, "1.2.3");
        is(r#""${"1.2"}.${1 + 2}""#, "1.2.3");
        is(r#""%{ if 1 < 2 }a%{ else }b%{ endif }c""#, "ac");
        is(r#""%{ for x in [1, 2] }<${x}>%{ endfor }""#, "<1><2>");
        is(r#""a  ${~ "b" ~}  c""#, "abc");
        is("\"$${x} %%{y} $ % $$${z}\"", "${x} %{y} $ % $${z}");
        is("\"e\u{301}\\u00e9\\U0001f600\"", "\u{e9}\u{e9}\u{1f600}");
        is("<<-EOT\n    a\n      b\n\n    EOT\n", "a\n  b\n\n");
        is("<<EOT\n $${a}\nEOT\n", " ${a}\n");
    }

    #[test]
    fn operators() {
        is("1 + 2 * 3 - -4", "11");
        is("(1 + 2) * 3 % 4", "1");
        is("7 / 2", "3.5");
        is("\"2\" * 3", "6");
        is("!false && 1 <= 1 || false", "true");
        is("1.0 == 1 ? \"y\" : 0", "y");
        is("true ? 1 : \"x\"", "1");
        is("false ? foo : 1", "1");
        is("true ? \"a\" : null", "a");
        is("null == null", "true");
        is("170141183460469231731687303715884105727 + 0", "170141183460469231731687303715884105727");
        assert_eq!(text("null"), Ok(None));
    }

    #[test]
    fn collections() {
        is(r#"["a", "b"][1]"#, "b");
        is(r#"{ a = "x", "b" = "y" }.b"#, "y");
        is(r#"{ (1 + 1) = "x" }["2"]"#, "x");
        is(r#"([{ a = "x" }, { a = "y" }][*].a)[1]"#, "y");
        is(r#"[{ a = "x" }, { a = "y" }].*.a[1]"#, "y");
    }

    #[test]
    fn repetitions() {
        is(r#"[for i, v in ["a", "b"] : "${i}${v}" if i > 0][0]"#, "1b");
        is("{for k, v in { a = 1, b = 2 } : v => k}[\"2\"]", "b");
        is("{for v in [1, 2, 3] : v % 2 => v...}[\"1\"][1]", "3");
    }

    #[test]
    fn no_values() {
        let reason = |expression| text(expression).unwrap_err();
        assert!(reason("1 % 0").contains("divided"));
        assert!(reason("1 / 0").contains("divided"));
        assert!(reason("1e308 * 1e308").contains("large"));
        assert!(reason("foo.bar").contains("`foo`"));
        assert!(reason("upper(\"x\")").contains("functions"));
        assert!(reason("[1][1]").contains("item"));
        assert!(reason("\"a${[]}\"").contains("template"));
        assert!(reason("[]").contains("string"));
        assert!(reason("true ? 1 : false").contains("types"));
        assert!(reason("true ? foo : 1").contains("`foo`"));
    }

    #[test]
    fn elaborate_expressions_are_given_up() {
        let mut expression = "\"xxxxxxxxxxxxxxxx\"".to_owned();
        for _ in 0..40 {
            expression = format!("[for a in [{expression}] : \"${{a}}${{a}}\"][0]");
        }
        assert!(text(&expression).unwrap_err().contains("elaborate"));
    }
}

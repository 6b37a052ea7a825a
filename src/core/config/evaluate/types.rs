//! Types of variables, as far as they change a value that becomes part of a string.
//!
//! Source: opentofu `internal/configs/named_values.go`, `decodeVariableType`; `github.com/zclconf/go-cty`, `cty/convert`.

use std::collections::BTreeMap;

use hcl_edit::expr::{Expression, FuncCall, ObjectKey};

/// A value that can be part of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    /// As the tools turn it into a string.
    Number(String),
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Any,
    Bool,
    Number,
    Text,
    List(Box<Type>),
    Map(Box<Type>),
    Object(BTreeMap<String, Type>),
    Tuple(Vec<Type>),
    /// A type that cannot be read here.
    Unknown,
}

impl Type {
    pub(super) fn parse(text: &str) -> Self {
        text.parse::<Expression>().map_or(Self::Unknown, |expression| Self::of(&expression))
    }

    fn of(expression: &Expression) -> Self {
        match expression {
            Expression::Variable(name) => match name.as_str() {
                "any" => Self::Any,
                "bool" => Self::Bool,
                "number" => Self::Number,
                "string" => Self::Text,
                "list" => Self::List(Box::new(Self::Any)),
                "map" => Self::Map(Box::new(Self::Any)),
                _ => Self::Unknown,
            },
            Expression::FuncCall(call) => Self::of_call(call),
            _ => Self::Unknown,
        }
    }

    fn of_call(call: &FuncCall) -> Self {
        let Some(first) = call.args.iter().next() else { return Self::Unknown };
        match (call.name.name.as_str(), first) {
            ("list", element) => Self::List(Box::new(Self::of(element))),
            ("map", element) => Self::Map(Box::new(Self::of(element))),
            ("optional", inner) => Self::of(inner),
            ("object", Expression::Object(attributes)) => {
                let name = |key: &ObjectKey| match key {
                    ObjectKey::Ident(name) => Some(name.as_str().to_owned()),
                    ObjectKey::Expression(key) => key.as_str().map(str::to_owned),
                };
                let attribute = attributes.iter().map(|(key, value)| Some((name(key)?, Self::of(value.expr()))));
                attribute.collect::<Option<_>>().map_or(Self::Unknown, Self::Object)
            }
            ("tuple", Expression::Array(elements)) => Self::Tuple(elements.iter().map(Self::of).collect()),
            _ => Self::Unknown,
        }
    }

    /// True if values in the environment and on the command line are plain text, and no expressions.
    pub(super) fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::Text)
    }

    /// The type of a part of a value, by the keys that lead to it.
    pub(super) fn part(&self, keys: &[String]) -> &Self {
        let Some((key, rest)) = keys.split_first() else { return self };
        match self {
            Self::Any => self,
            Self::List(element) | Self::Map(element) => element.part(rest),
            Self::Object(attributes) => attributes.get(key).map_or(&Self::Unknown, |inner| inner.part(rest)),
            Self::Tuple(elements) => {
                let element = key.parse::<usize>().ok().and_then(|at| elements.get(at));
                element.map_or(&Self::Unknown, |inner| inner.part(rest))
            }
            _ => &Self::Unknown,
        }
    }

    /// What it is called where a value is not of it; `None` for types of which no scalar can be.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Bool => "a bool",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Object(_) => "an object",
            Self::Tuple(_) => "a tuple",
            Self::Unknown => "of a type that cannot be read here",
        }
    }

    /// The value as one of this type; `None` if it cannot be one.
    pub(super) fn convert(&self, value: Scalar) -> Option<Scalar> {
        match (self, value) {
            (Self::Any, value) => Some(value),
            (_, Scalar::Null) => Some(Scalar::Null),
            (Self::Text, value) => Some(Scalar::Text(value.into_text()?)),
            (Self::Number, Scalar::Number(text) | Scalar::Text(text)) => decimal(&text).map(Scalar::Number),
            (Self::Bool, Scalar::Bool(value)) => Some(Scalar::Bool(value)),
            (Self::Bool, Scalar::Text(text)) => match text.as_str() {
                "true" | "1" => Some(Scalar::Bool(true)),
                "false" | "0" => Some(Scalar::Bool(false)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Scalar {
    /// The value in a string; `None` for null.
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(text) | Self::Text(text) => Some(text),
        }
    }
}

/// The most zeros that an exponent may add.
const ZEROS: i64 = 1000;

/// A number without what does not change its value: `01` as `1`, `1e3` as `1000`, `2.50` as `2.5`.
///
/// Source: Go's `big.ParseFloat` and `Float.Text` with `f`.
fn decimal(text: &str) -> Option<String> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text.strip_prefix('+').unwrap_or(text)), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent: i64 = exponent.parse().ok().filter(|exponent: &i64| exponent.abs() <= ZEROS)?;
    // Where the point is, from the beginning of the digits.
    let point = i64::try_from(whole.len()).ok()? + exponent;
    let before = usize::try_from(-point).unwrap_or_default();
    let padded = format!("{}{digits}", "0".repeat(before));
    let point = usize::try_from(point).unwrap_or_default();
    let padded = format!("{padded:0<point$}");
    let (whole, fraction) = padded.split_at(point);
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let number = if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
    Some(if number == "0" { number } else { format!("{sign}{number}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_one_form() {
        for (text, expected) in [
            ("01", "1"),
            ("1", "1"),
            ("1e3", "1000"),
            ("1.50", "1.5"),
            ("-01.0", "-1"),
            ("+7", "7"),
            (".5", "0.5"),
            ("5.", "5"),
            ("12.5e-3", "0.0125"),
            ("12.5E1", "125"),
            ("000", "0"),
            ("-0", "0"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(decimal(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", ".", "a", "1 ", "0x10", "1_000", "--1", "1e", "1e99999999999", "1e9999"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_converted_as_the_tools_do() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let number = |text: &str| Scalar::Number(text.to_owned());
        for (kind, value, expected) in [
            ("bool", text("1"), Some(Scalar::Bool(true))),
            ("bool", text("false"), Some(Scalar::Bool(false))),
            ("bool", text("yes"), None),
            ("bool", number("1"), None),
            ("number", text("01"), Some(number("1"))),
            ("number", Scalar::Bool(true), None),
            ("string", number("1"), Some(text("1"))),
            ("string", Scalar::Bool(true), Some(text("true"))),
            ("any", text("01"), Some(text("01"))),
            ("string", Scalar::Null, Some(Scalar::Null)),
            ("list(string)", text("a"), None),
        ] {
            assert_eq!(Type::parse(kind).convert(value.clone()), expected, "{kind} {value:?}");
        }
    }

    #[test]
    fn parts_have_types() {
        let part = |kind: &str, keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            Type::parse(kind).part(&keys).clone()
        };
        assert_eq!(part("map(number)", &["a"]), Type::Number);
        assert_eq!(part("list(map(bool))", &["0", "x"]), Type::Bool);
        assert_eq!(part("object({ a = string, \"b\" = optional(number, 1) })", &["b"]), Type::Number);
        assert_eq!(part("tuple([string, bool])", &["1"]), Type::Bool);
        assert_eq!(part("any", &["a", "b"]), Type::Any);
        assert_eq!((part("set(string)", &[]), part("strnig", &[])), (Type::Unknown, Type::Unknown));
    }
}

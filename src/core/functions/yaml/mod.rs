//! YAML.
//!
//! The tools read YAML 1.1 with a scanner of their own. What a reader of YAML 1.2 may take for something else is unknown here, and so
//! is what it refuses: tabs, directives, tags, points in time, merged mappings, numbers that are not decimal.
//!
//! Source: `github.com/zclconf/go-cty-yaml`.

mod write;

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};

use super::{text, uncertain};
use crate::value::{Budget, Elements, Failure, Number, Type, Value};

pub(super) use write::encode;

/// How deep values may be nested.
const DEPTH: usize = 100;

/// What it costs to read a byte.
const PARSING: usize = 16;

/// The value of the only document: objects, tuples, and what they are made of.
pub(super) fn decode(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let source = text(arguments, 0);
    budget.spend_text(source.len().saturating_mul(PARSING))?;
    let Some(source) = without_tabs(source) else { return uncertain("YAML with a tab that may be an error") };
    if source.contains(|c: char| c.is_control() && c != '\n') || source.lines().any(|line| line.starts_with('%')) {
        return uncertain("YAML with control characters or directives");
    }
    let mut reader = YamlReader { parser: Parser::new_from_str(&source), anchors: HashMap::new(), budget };
    reader.document()
}

/// The text with a space in place of tabs behind `key:`, which the tools take for white space; `None` with other tabs.
fn without_tabs(source: &str) -> Option<Cow<'_, str>> {
    if !source.contains('\t') {
        return Some(Cow::Borrowed(source));
    }
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain = |line: &str| {
        let Some((key, value)) = line.split_once(":\t") else { return (!line.contains('\t')).then(|| line.to_owned()) };
        let value = value.trim_start_matches('\t');
        let is_plain =
            key.trim_start_matches(' ').chars().all(is_key) && value.chars().all(is_key) && !value.is_empty();
        is_plain.then(|| format!("{key}: {value}"))
    };
    let has_blocks = source.contains(['|', '>', '"', '\'']);
    let lines: Option<Vec<String>> = source.split('\n').map(plain).collect();
    lines.filter(|_| !has_blocks).map(|lines| Cow::Owned(lines.join("\n")))
}

struct YamlReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Value>,
    budget: &'a Budget,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<Event<'a>, Failure> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(problem)) => uncertain(format!("YAML with this problem: {}", problem.info().to_lowercase())),
            None => Ok(Event::StreamEnd),
        }
    }

    fn document(&mut self) -> Result<Value, Failure> {
        self.next()?;
        let Event::DocumentStart(_) = self.next()? else { return uncertain("YAML without a document") };
        let first = self.next()?;
        let value = self.value(first, 0)?;
        self.next()?;
        match self.next()? {
            Event::StreamEnd => Ok(value),
            _ => uncertain("YAML with several documents"),
        }
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Value, Failure> {
        self.budget.spend_elements(1)?;
        if depth == DEPTH {
            return Err(Failure::unknown(format!("YAML that is nested more than {DEPTH} deep")));
        }
        let (value, anchor) = match event {
            Event::Alias(anchor) => {
                let Some(value) = self.anchors.get(&anchor).cloned() else {
                    return uncertain("YAML with an alias that contains itself");
                };
                // What reads the value goes through all of it, as often as it is there.
                self.budget.spend(value.size())?;
                return Ok(value);
            }
            Event::Scalar(_, _, _, Some(tag))
            | Event::SequenceStart(_, Some(tag))
            | Event::MappingStart(_, Some(tag)) => {
                return Err(Failure::unknown(format!("the YAML tag {:?}", tag.to_string())));
            }
            Event::Scalar(text, ScalarStyle::Plain, anchor, None) => (resolve(&text)?, anchor),
            Event::Scalar(text, _, anchor, None) => {
                self.budget.spend_text(text.len())?;
                (Value::text(text), anchor)
            }
            Event::SequenceStart(anchor, None) => (self.sequence(depth)?, anchor),
            Event::MappingStart(anchor, None) => (self.mapping(depth)?, anchor),
            _ => return uncertain("YAML without a value"),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn sequence(&mut self, depth: usize) -> Result<Value, Failure> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::tuple(elements)),
                event => elements.push(self.value(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, Failure> {
        let mut attributes = Elements::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Value::object(attributes)),
                Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<" => {
                    return Err(Failure::unknown("a merged mapping of YAML"));
                }
                event => self.value(event, depth + 1)?,
            };
            let Value::String(key) = key else { return uncertain("YAML with a key that is no text") };
            let event = self.next()?;
            if attributes.insert(key, self.value(event, depth + 1)?).is_some() {
                return uncertain("YAML with two equal keys");
            }
        }
    }
}

/// What text without quotes means.
///
/// Source: `resolve.go`.
fn resolve(text: &str) -> Result<Value, Failure> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::Bool(false));
        }
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null(Type::Dynamic)),
        _ => {}
    }
    let begins_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '<' | '='));
    match is_decimal(text) {
        true => Ok(Number::parse(text)?.into()),
        // A version such as 1.2.3 is text for every reader, and so is a path.
        false if begins_number && !is_dotted(text) && !text.contains('/') => {
            uncertain(format!("{text:?} in YAML, which may be a number or a point in time"))
        }
        false => Ok(Value::text(text)),
    }
}

/// True for numbers with points between them, at least three, and what follows the last one.
fn is_dotted(text: &str) -> bool {
    text.split('.').count() > 2 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, power) =
        unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(digits, power)| (digits, Some(power)));
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    let is_mantissa = match fraction {
        None => is_number(whole),
        Some(fraction) if whole.is_empty() => is_number(fraction),
        Some(fraction) => is_number(whole) && (fraction.is_empty() || is_number(fraction)),
    };
    is_mantissa && power.is_none_or(|power| is_number(power.strip_prefix(['-', '+']).unwrap_or(power)))
}

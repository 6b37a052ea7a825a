//! YAML.
//!
//! The tools read YAML 1.1 with a scanner of their own. What a reader of YAML 1.2 may take for something else is unknown here: points
//! in time, merged mappings, and tags.
//!
//! Source: `github.com/zclconf/go-cty-yaml`.

mod write;

use std::collections::HashMap;
use std::sync::Arc;

use num_bigint::BigInt;
use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};

use super::{refuse, text};
use crate::value::{Budget, Elements, Number, Type, Unevaluated, Value};

pub(super) use write::encode;

/// How deep values may be nested.
const DEPTH: usize = 100;

/// The value of the only document: objects, tuples, and what they are made of.
pub(super) fn decode(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let source = text(arguments, 0);
    budget.spend_text(source.len())?;
    if source.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
        return refuse("it is not YAML: it has control characters");
    }
    let mut reader = YamlReader { parser: Parser::new_from_str(source), anchors: HashMap::new(), nodes: 0, budget };
    match reader.document() {
        // The reason is that of the whole call, since what surrounds it may depend on it as well.
        Err(reason @ Unevaluated::Limit { .. }) => Ok(Value::unknown(Type::Dynamic, reason)),
        result => result,
    }
}

struct YamlReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// With the number of their nodes.
    anchors: HashMap<usize, (Value, usize)>,
    nodes: usize,
    budget: &'a Budget,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<Event<'a>, Unevaluated> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(problem)) => refuse(format!("it is not YAML: {}", problem.info().to_lowercase())),
            None => Ok(Event::StreamEnd),
        }
    }

    fn document(&mut self) -> Result<Value, Unevaluated> {
        self.next()?;
        let Event::DocumentStart(_) = self.next()? else { return refuse("there is no document") };
        let first = self.next()?;
        let value = self.value(first, 0)?;
        self.next()?;
        match self.next()? {
            Event::StreamEnd => Ok(value),
            _ => refuse("there is more than one document"),
        }
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Value, Unevaluated> {
        self.budget.spend_elements(1)?;
        if depth == DEPTH {
            return Err(Unevaluated::limit(format!("YAML that is nested more than {DEPTH} deep")));
        }
        let before = self.nodes;
        self.nodes = self.nodes.saturating_add(1);
        let (value, anchor) = match event {
            Event::Alias(anchor) => {
                let Some((value, nodes)) = self.anchors.get(&anchor).cloned() else {
                    return refuse("an alias contains itself");
                };
                // What reads the value goes through all of it, as often as it is there.
                self.budget.spend_elements(nodes)?;
                self.nodes = self.nodes.saturating_add(nodes);
                return Ok(value);
            }
            Event::Scalar(_, _, _, Some(tag))
            | Event::SequenceStart(_, Some(tag))
            | Event::MappingStart(_, Some(tag)) => {
                return Err(Unevaluated::limit(format!("the YAML tag {:?}", tag.to_string())));
            }
            Event::Scalar(text, ScalarStyle::Plain, anchor, None) => (resolve(&text)?, anchor),
            Event::Scalar(text, _, anchor, None) => (Value::text(text), anchor),
            Event::SequenceStart(anchor, None) => (self.sequence(depth)?, anchor),
            Event::MappingStart(anchor, None) => (self.mapping(depth)?, anchor),
            _ => return refuse("a value is missing"),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), self.nodes - before));
        }
        Ok(value)
    }

    fn sequence(&mut self, depth: usize) -> Result<Value, Unevaluated> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::tuple(elements)),
                event => elements.push(self.value(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, Unevaluated> {
        let mut attributes = Elements::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Value::Object(Arc::new(attributes))),
                Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<" => {
                    return Err(Unevaluated::limit("a merged mapping of YAML"));
                }
                event => self.value(event, depth + 1)?,
            };
            let Value::String(key) = key.convert(&Type::String)? else { return refuse("a key is null") };
            let event = self.next()?;
            attributes.insert(key, self.value(event, depth + 1)?);
        }
    }
}

/// What text without quotes means.
///
/// Source: `resolve.go`.
fn resolve(text: &str) -> Result<Value, Unevaluated> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::Bool(false));
        }
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null(Type::Dynamic)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Ok(Number::infinity(false).into()),
        "-.inf" | "-.Inf" | "-.INF" => return Ok(Number::infinity(true).into()),
        ".nan" | ".NaN" | ".NAN" => return refuse("it has a number that is none"),
        _ => {}
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 4 && text.as_bytes().get(4) == Some(&b'-') {
        return Err(Unevaluated::limit(format!("{text:?} in YAML, which may be a point in time")));
    }
    if let Some(number) = hexadecimal(text) {
        return Ok(number.into());
    }
    if !is_decimal(text) {
        return Ok(Value::text(text));
    }
    Ok(Number::parse(text)?.into())
}

/// `0x1f` or `0o17`, which have no sign.
fn hexadecimal(text: &str) -> Option<Number> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text.strip_prefix("0o")?, 8),
    };
    let is_number = digits.bytes().all(|byte| char::from(byte).is_digit(radix));
    BigInt::parse_bytes(digits.as_bytes(), radix).filter(|_| is_number).map(|number| Number::whole(&number))
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

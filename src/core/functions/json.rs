//! JSON.
//!
//! Source: `cty/json`; Go's `encoding/json`.

use std::fmt::Write as _;

use super::{text, uncertain};
use crate::value::{Budget, Cause, Elements, Failure, Number, Type, Value};

/// How deep values may be nested.
const DEPTH: usize = 100;

/// A value as JSON without white space.
pub(super) fn encode(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let Some(value) = arguments.first() else { return uncertain("no argument") };
    let mut json = String::new();
    push(value, &mut json, budget)?;
    Ok(Value::text(json))
}

fn push(value: &Value, json: &mut String, budget: &Budget) -> Result<(), Failure> {
    budget.spend(8)?;
    match value {
        Value::Null(_) | Value::Unknown(_) => json.push_str("null"),
        Value::Bool(value) => json.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => json.push_str(&number.to_string()),
        Value::String(text) => {
            // An escape has six characters.
            budget.spend_text(text.len().saturating_mul(6))?;
            push_string(text, json);
        }
        _ => {
            if let Some(attributes) = value.attributes() {
                for (at, (name, value)) in attributes.iter().enumerate() {
                    json.push(if at == 0 { '{' } else { ',' });
                    push_string(name, json);
                    json.push(':');
                    push(value, json, budget)?;
                }
                json.push_str(if attributes.is_empty() { "{}" } else { "}" });
            } else {
                let elements = value.elements().map_or(&[][..], |elements| elements);
                for (at, value) in elements.iter().enumerate() {
                    json.push(if at == 0 { '[' } else { ',' });
                    push(value, json, budget)?;
                }
                json.push_str(if elements.is_empty() { "[]" } else { "]" });
            }
        }
    }
    Ok(())
}

/// A string between quotes, with what HTML takes for markup escaped.
fn push_string(text: &str, json: &mut String) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '\0'..' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
}

/// The value that JSON means: objects, tuples, and what they are made of.
pub(super) fn decode(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let mut reader = JsonReader { text: text(arguments, 0), at: 0, budget };
    budget.spend_text(reader.text.len())?;
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < reader.text.len() { reader.refuse("more follows the value") } else { Ok(value) }
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    budget: &'a Budget,
}

impl<'a> JsonReader<'a> {
    fn refuse<T>(&self, what: &str) -> Result<T, Failure> {
        Err(Cause::WrongJson.refuses(format!("{what}, at byte {} of the JSON", self.at)))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// True if a token comes next, which is then read.
    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        let is_next = self.text[self.at..].starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Value, Failure> {
        self.budget.spend_elements(1)?;
        if depth == DEPTH {
            return Err(Failure::unknown(format!("JSON that is nested more than {DEPTH} deep")));
        }
        self.skip_space();
        match self.peek() {
            Some(b'"') => Ok(Value::text(self.string()?)),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.accept("null") => Ok(Value::Null(Type::Dynamic)),
            _ if self.accept("true") => Ok(Value::Bool(true)),
            _ if self.accept("false") => Ok(Value::Bool(false)),
            _ => self.refuse("a value is missing"),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Failure> {
        let mut attributes = Elements::new();
        self.at += 1;
        if self.accept("}") {
            return Ok(Value::object(Elements::new()));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return self.refuse("a name is missing");
            }
            let Value::String(name) = Value::text(self.string()?) else { return self.refuse("a name is missing") };
            if !self.accept(":") {
                return self.refuse("a colon is missing");
            }
            attributes.insert(name, self.value(depth + 1)?);
            if self.accept("}") {
                return Ok(Value::object(attributes));
            }
            if !self.accept(",") {
                return self.refuse("a comma is missing");
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Failure> {
        let mut elements = Vec::new();
        self.at += 1;
        if self.accept("]") {
            return Ok(Value::tuple(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if self.accept("]") {
                return Ok(Value::tuple(elements));
            }
            if !self.accept(",") {
                return self.refuse("a comma is missing");
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let is_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        let mut is_right = whole == 1 || whole > 1 && !is_zero;
        if self.peek() == Some(b'.') {
            self.at += 1;
            is_right &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            is_right &= self.digits() > 0;
        }
        if is_right { Ok(Number::parse(&self.text[start..self.at])?.into()) } else { self.refuse("a number is wrong") }
    }

    /// The content of a string that starts here.
    fn string(&mut self) -> Result<String, Failure> {
        self.at += 1;
        let mut content = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else { return self.refuse("a string does not end") };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(content),
                '\\' => content.push(self.escape()?),
                '\0'..' ' => return self.refuse("a control character is in a string"),
                c => content.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Failure> {
        let escape = self.peek();
        self.at += usize::from(escape.is_some_and(|byte| byte.is_ascii()));
        Ok(match escape {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.unit()?;
                let before = self.at;
                // A surrogate without its partner is no character.
                if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let second = self.unit()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    self.at = before;
                }
                char::from_u32(first).unwrap_or('\u{fffd}')
            }
            _ => return self.refuse("an escape is wrong"),
        })
    }

    fn unit(&mut self) -> Result<u32, Failure> {
        let digits: Option<&'a str> = self.text.get(self.at..self.at + 4);
        let code = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(code) = code.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return self.refuse("an escape is wrong");
        };
        self.at += 4;
        Ok(code)
    }
}

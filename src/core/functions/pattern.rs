//! Regular expressions of RE2, as far as Go and the crate `regex` mean the same: characters, classes, groups, alternatives and
//! repetitions. `\d`, `\w` and `\s` mean ASCII, as they do in Go. Everything else is unknown, whether Go refuses it or not.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};

use super::uncertain;
use crate::value::{Budget, Failure};

/// How long an expression may be.
const LENGTH: usize = 1024;

/// How much memory a compiled expression may take.
const SIZE: usize = 1 << 18;

pub(super) fn compile(pattern: &str, budget: &Budget) -> Result<Regex, Failure> {
    if pattern.len() > LENGTH {
        return uncertain(format!("a regular expression of more than {LENGTH} bytes"));
    }
    budget.spend_text(pattern.len() * 1024 + SIZE / 8)?;
    let translated = Translation { rest: pattern, out: String::new() }.run();
    let compiled = translated.and_then(|text| RegexBuilder::new(&text).size_limit(SIZE).nest_limit(100).build().ok());
    compiled.map_or_else(|| uncertain(format!("the regular expression {pattern:?}")), Ok)
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
}

impl Translation<'_> {
    /// The expression for the crate; `None` for one that is not plain.
    fn run(mut self) -> Option<String> {
        let mut can_repeat = false;
        while let Some(c) = self.next() {
            can_repeat = match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '*' | '+' | '?' if can_repeat => self.repetition(&c.to_string()),
                '{' if can_repeat => {
                    let (numbers, rest) = self.rest.split_once('}')?;
                    let is_number = |text: &str| text.parse::<u16>().is_ok_and(|number| number <= 1000);
                    let (least, most) = numbers.split_once(',').unwrap_or((numbers, numbers));
                    let is_plain = is_number(least) && (most.is_empty() || is_number(most)) && !numbers.contains('+');
                    self.rest = rest;
                    is_plain.then(|| self.repetition(&format!("{{{numbers}}}")))?
                }
                '(' => {
                    let open = ["?:", "?P<"].into_iter().find(|open| self.rest.starts_with(open)).unwrap_or("");
                    self.rest = &self.rest[open.len()..];
                    self.out.push('(');
                    self.out.push_str(open);
                    let is_name = self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                    if open == "?P<" && !is_name || self.rest.starts_with(['?', '*']) {
                        return None;
                    }
                    if open == "?P<" {
                        let (name, rest) = self.rest.split_once('>')?;
                        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                        self.out.push_str(&is_name.then(|| format!("{name}>"))?);
                        self.rest = rest;
                    }
                    false
                }
                '|' | '^' | '$' => {
                    self.out.push(c);
                    false
                }
                ')' | '.' => {
                    self.out.push(c);
                    true
                }
                ']' | '}' | '{' | '*' | '+' | '?' => return None,
                c => {
                    self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
                    true
                }
            };
        }
        Some(self.out)
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// A repetition of what can be repeated; its result cannot.
    fn repetition(&mut self, operator: &str) -> bool {
        self.out.push_str(operator);
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.out.push('?');
            self.rest = rest;
        }
        false
    }

    fn push_code(&mut self, c: char) {
        let _ = write!(self.out, "\\x{{{:x}}}", u32::from(c));
    }

    /// What is behind a backslash: a class of ASCII, or a character that has no meaning of its own.
    fn escape(&mut self) -> Option<bool> {
        let c = self.next()?;
        match c {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("[0-9A-Za-z_]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            's' => self.out.push_str("[\\t\\n\\f\\r ]"),
            'S' => self.out.push_str("[^\\t\\n\\f\\r ]"),
            'n' | 'r' | 't' => self.out.extend(['\\', c]),
            c if c.is_ascii_punctuation() => self.push_code(c),
            _ => return None,
        }
        Some(true)
    }

    /// What is in brackets: characters, ranges and escapes.
    fn class(&mut self) -> Option<bool> {
        self.out.push('[');
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.out.push('^');
            self.rest = rest;
        }
        let (mut is_first, mut ends_range) = (true, false);
        loop {
            let is_after_range = std::mem::take(&mut ends_range);
            match self.next()? {
                ']' if !is_first => break,
                '\\' => drop(self.escape()?),
                '-' if is_first || self.rest.starts_with(']') => self.out.push_str("\\-"),
                '-' => {
                    // A range, whose ends are letters or digits.
                    let (from, to) = (self.out.chars().last()?, self.rest.chars().next()?);
                    if is_after_range || !from.is_ascii_alphanumeric() || !to.is_ascii_alphanumeric() {
                        return None;
                    }
                    self.out.extend(['-', to]);
                    self.rest = &self.rest[1..];
                    ends_range = true;
                }
                ']' | '[' => return None,
                c if c.is_ascii_alphanumeric() || !c.is_ascii() => self.out.push(c),
                c => self.push_code(c),
            }
            is_first = false;
        }
        self.out.push(']');
        Some(true)
    }
}

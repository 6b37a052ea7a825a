//! Regular expressions of RE2, as Go reads them, for the crate `regex`.
//!
//! The crate finds the same matches. These differ, and are translated: `\d`, `\w`, `\s` and `\b` mean ASCII; `[` is a plain character
//! between brackets, and there are no operators on classes; `\Q` quotes; `\C` and octal escapes exist; a brace that is no
//! repetition is a character; a repetition of a repetition is refused, and so is one of more than 1,000. Not translated, and so
//! without a value here: `\B`, and names of classes in `\p` that the crate does not have.
//!
//! Source: Go's `regexp/syntax/parse.go`.

use regex::{Regex, RegexBuilder};

use super::refuse;
use crate::value::{Budget, Unevaluated};

/// How long an expression may be.
const LENGTH: usize = 16_384;

/// How much memory a compiled expression may take.
const SIZE: usize = 4 << 20;

pub(super) fn compile(pattern: &str, budget: &Budget) -> Result<Regex, Unevaluated> {
    if pattern.len() > LENGTH {
        return Err(Unevaluated::limit(format!("a regular expression of more than {LENGTH} bytes")));
    }
    budget.spend_text(pattern.len() * 256)?;
    let translated = Translation { rest: pattern, out: String::new(), can_repeat: false, depth: 0 }.run()?;
    let compiled = RegexBuilder::new(&translated).size_limit(SIZE).nest_limit(200).build();
    compiled.or_else(|problem| match problem {
        regex::Error::Syntax(_) if !pattern.contains("\\p") && !pattern.contains("\\P") => {
            refuse(format!("{pattern:?} is not a regular expression"))
        }
        _ => Err(Unevaluated::limit(format!("the regular expression {pattern:?}"))),
    })
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
    /// True after what can be repeated.
    can_repeat: bool,
    depth: usize,
}

impl Translation<'_> {
    fn run(mut self) -> Result<String, Unevaluated> {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '*' | '+' | '?' => self.repeat(c.encode_utf8(&mut [0; 4]))?,
                '{' => self.brace()?,
                '(' => self.group()?,
                ')' if self.depth == 0 => return refuse("a parenthesis is closed that is not open"),
                ')' => {
                    self.depth -= 1;
                    self.push(")");
                }
                '|' => {
                    self.out.push('|');
                    self.can_repeat = false;
                }
                _ => self.literal(c),
            }
        }
        if self.depth > 0 { refuse("a parenthesis is not closed") } else { Ok(self.out) }
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.can_repeat = true;
    }

    /// A character outside of brackets, which may have a meaning.
    fn literal(&mut self, c: char) {
        match c {
            '}' | ']' | '&' | '~' | '-' | '#' => {
                self.out.push('\\');
                self.out.push(c);
            }
            _ => self.out.push(c),
        }
        self.can_repeat = true;
    }

    fn repeat(&mut self, operator: &str) -> Result<(), Unevaluated> {
        if !self.can_repeat {
            return refuse("a repetition has nothing to repeat");
        }
        self.out.push_str(operator);
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.out.push('?');
            self.rest = rest;
        }
        self.can_repeat = false;
        Ok(())
    }

    /// A repetition with numbers, or a brace.
    fn brace(&mut self) -> Result<(), Unevaluated> {
        let numbers = self.rest.split_once('}').map(|(numbers, _)| numbers);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let bounds = numbers.and_then(|numbers| match numbers.split_once(',') {
            None => is_number(numbers).then_some((numbers, numbers)),
            Some((least, most)) => (is_number(least) && (most.is_empty() || is_number(most))).then_some((least, most)),
        });
        let (Some(numbers), Some((least, most))) = (numbers, bounds) else {
            self.push("\\{");
            return Ok(());
        };
        let value = |text: &str| if text.is_empty() { Ok(1000) } else { text.parse::<u32>() };
        match (value(least), value(most)) {
            (Ok(least), Ok(most)) if least <= most && most <= 1000 => {}
            _ => return refuse("a repetition has wrong numbers"),
        }
        self.rest = &self.rest[numbers.len() + 1..];
        self.repeat(&format!("{{{numbers}}}"))
    }

    fn group(&mut self) -> Result<(), Unevaluated> {
        self.can_repeat = false;
        if !self.rest.starts_with('?') {
            self.depth += 1;
            self.out.push('(');
            return Ok(());
        }
        if self.rest.starts_with("?P<") || self.rest.starts_with("?<") {
            let name = self.rest.split_once('>').and_then(|(start, _)| start.split_once('<')).map(|(_, name)| name);
            let is_name =
                |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let Some(name) = name.filter(is_name) else { return refuse("a group has a wrong name") };
            // The crate wants a letter first; the caller knows groups by their order too.
            if name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(Unevaluated::limit(format!("the group {name:?} of a regular expression")));
            }
            self.depth += 1;
            self.out.extend(["(?P<", name, ">"]);
            self.rest = self.rest.split_once('>').map_or("", |(_, rest)| rest);
            return Ok(());
        }
        let Some(end) = self.rest.find([':', ')']) else { return refuse("a group is not closed") };
        let flags = &self.rest[1..end];
        let (set, unset) = flags.split_once('-').map_or((flags, None), |(set, unset)| (set, Some(unset)));
        let are_flags = |flags: &str| flags.chars().all(|c| matches!(c, 'i' | 'm' | 's' | 'U'));
        if !are_flags(set) || unset.is_some_and(|unset| unset.is_empty() || !are_flags(unset)) {
            return refuse("a group has unknown flags");
        }
        let is_open = self.rest[end..].starts_with(':');
        if flags.is_empty() && !is_open {
            return refuse("a group has no flags");
        }
        self.depth += usize::from(is_open);
        self.out.push('(');
        self.out.push_str(&self.rest[..=end]);
        self.rest = &self.rest[end + 1..];
        Ok(())
    }

    fn class(&mut self) -> Result<(), Unevaluated> {
        self.out.push('[');
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.out.push('^');
            self.rest = rest;
        }
        let mut is_first = true;
        loop {
            let Some(c) = self.next() else { return refuse("a bracket is not closed") };
            match c {
                ']' if !is_first => break,
                '\\' => self.escape(true)?,
                '[' if self.rest.starts_with(':') && self.rest.contains(":]") => {
                    let end = self.rest.find(":]").map_or(0, |end| end + 2);
                    let name = self.rest[1..end - 2].trim_start_matches('^');
                    if !matches!(
                        name,
                        "alnum"
                            | "alpha"
                            | "ascii"
                            | "blank"
                            | "cntrl"
                            | "digit"
                            | "graph"
                            | "lower"
                            | "print"
                            | "punct"
                            | "space"
                            | "upper"
                            | "word"
                            | "xdigit"
                    ) {
                        return refuse("a class has an unknown name");
                    }
                    self.out.push('[');
                    self.out.push_str(&self.rest[..end]);
                    self.rest = &self.rest[end..];
                }
                // A dash is plain at either end only, or after a class.
                '-' if is_first || self.rest.starts_with(']') => self.out.push_str("\\-"),
                '-' => self.out.push('-'),
                '[' | ']' | '&' | '~' | '^' | '#' => self.out.extend(['\\', c]),
                c => self.out.push(c),
            }
            is_first = false;
        }
        self.push("]");
        Ok(())
    }

    fn escape(&mut self, is_in_class: bool) -> Result<(), Unevaluated> {
        let Some(c) = self.next() else { return refuse("a backslash is at the end") };
        match c {
            'd' | 'w' | 's' | 'D' | 'W' | 'S' => {
                let members = match c.to_ascii_lowercase() {
                    'd' => "0-9",
                    'w' => "0-9A-Za-z_",
                    _ => "\\t\\n\\f\\r ",
                };
                let negation = if c.is_ascii_uppercase() { "^" } else { "" };
                self.push(&format!("[{negation}{members}]"));
            }
            'b' if !is_in_class => self.push("(?-u:\\b)"),
            'B' if !is_in_class => return Err(Unevaluated::limit("\\B in a regular expression")),
            'C' => return Err(Unevaluated::limit("\\C in a regular expression")),
            'A' | 'z' if !is_in_class => self.push(if c == 'A' { "\\A" } else { "\\z" }),
            'Q' if !is_in_class => {
                let (quoted, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
                self.rest = rest;
                for c in quoted.chars() {
                    self.push(&regex::escape(&c.to_string()));
                }
            }
            'E' if !is_in_class => {}
            'a' | 'f' | 't' | 'n' | 'r' | 'v' => self.push(&format!("\\{c}")),
            'p' | 'P' => {
                let (open, length) = if self.rest.starts_with('{') {
                    ("", self.rest.find('}').map_or(0, |end| end + 1))
                } else {
                    ("", 1)
                };
                let Some(name) = self.rest.get(..length).filter(|name| !name.is_empty()) else {
                    return refuse("a class has no name");
                };
                self.push(&format!("\\{c}{open}{name}"));
                self.rest = &self.rest[length..];
            }
            'x' => self.hexadecimal()?,
            '0'..='7' => {
                let more = self.rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                // A digit other than zero alone would refer to a group.
                if c != '0' && more == 0 {
                    return refuse("a regular expression refers to a group");
                }
                let digits = format!("{c}{}", &self.rest[..more]);
                self.rest = &self.rest[more..];
                self.push(&format!("\\x{{{:x}}}", u32::from_str_radix(&digits, 8).unwrap_or(0)));
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => self.push(&format!("\\x{{{:x}}}", u32::from(c))),
            _ => return refuse(format!("a regular expression has the unknown escape \\{c}")),
        }
        Ok(())
    }

    fn hexadecimal(&mut self) -> Result<(), Unevaluated> {
        let digits = match self.rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}').map(|(digits, _)| (digits, digits.len() + 2)),
            None => self.rest.get(..2).map(|digits| (digits, 2)),
        };
        let code = digits.and_then(|(digits, _)| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        let (Some(code), Some((_, length))) = (code, digits) else { return refuse("an escape is wrong") };
        self.rest = &self.rest[length..];
        self.push(&format!("\\x{{{:x}}}", u32::from(code)));
        Ok(())
    }
}

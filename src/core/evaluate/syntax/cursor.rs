//! A place in a text that is read as an expression: white space, names, and what is counted against the limits.

use std::ops::Range;

use super::{DEPTH, Node, NodeKind, PARTS, SyntaxError, SyntaxErrorKind};
use crate::hcl::scan;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    /// The place of all parts, if they have none of their own.
    fixed: Option<usize>,
    /// True where a line ends nothing: between brackets.
    pub(super) skips_lines: bool,
    depth: usize,
    parts: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, range: Range<usize>) -> Self {
        Self { text, at: range.start, end: range.end, fixed: None, skips_lines: false, depth: 0, parts: 0 }
    }

    pub(super) fn placed(text: &'a str, at: usize) -> Self {
        Self { fixed: Some(at), ..Self::new(text, 0..text.len()) }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest().as_bytes().first().copied()
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The place of what comes next.
    pub(super) fn place(&self) -> usize {
        self.fixed.unwrap_or(self.at)
    }

    pub(super) fn error<T>(&self, kind: SyntaxErrorKind) -> Parsed<T> {
        Err(SyntaxError { at: self.place(), kind })
    }

    pub(super) fn invalid<T>(&self) -> Parsed<T> {
        self.error(SyntaxErrorKind::Invalid)
    }

    pub(super) fn node(&mut self, at: usize, kind: NodeKind) -> Parsed<Node> {
        self.parts += 1;
        if self.parts > PARTS { self.error(SyntaxErrorKind::TooLarge) } else { Ok(Node { at, kind }) }
    }

    /// Reads something one level deeper, with or without line breaks as white space.
    pub(super) fn nested<T>(&mut self, skips_lines: bool, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH {
            return self.error(SyntaxErrorKind::TooDeep);
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.skips_lines, skips_lines);
        let result = read(self);
        self.skips_lines = outer;
        self.depth -= 1;
        result
    }

    /// Skips white space and comments. The line break behind a comment counts as one.
    pub(super) fn skip_blank(&mut self) -> Parsed<()> {
        loop {
            let rest = self.rest();
            self.at += match rest.as_bytes() {
                [b' ' | b'\t', ..] => 1,
                [b'\n', ..] if self.skips_lines => 1,
                [b'\r', b'\n', ..] if self.skips_lines => 2,
                [b'#', ..] | [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => match rest.find("*/") {
                    Some(length) => length + 2,
                    None => return self.invalid(),
                },
                _ => return Ok(()),
            };
        }
    }

    /// Skips white space, and a token if it comes next.
    pub(super) fn take(&mut self, token: &str) -> Parsed<bool> {
        self.skip_blank()?;
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        Ok(is_next)
    }

    pub(super) fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.take(token)? { Ok(()) } else { self.invalid() }
    }

    /// The name that comes next, if one does, which stays.
    pub(super) fn peek_name(&self) -> Option<&'a str> {
        let rest = self.rest();
        let length = scan::name_length(rest);
        (length > 0).then(|| &rest[..length])
    }

    pub(super) fn name(&mut self) -> Parsed<String> {
        self.skip_blank()?;
        match self.peek_name() {
            Some(name) => {
                self.at += name.len();
                Ok(name.to_owned())
            }
            None => self.invalid(),
        }
    }

    /// Skips a word if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> Parsed<bool> {
        self.skip_blank()?;
        let is_next = self.peek_name() == Some(word);
        self.at += if is_next { word.len() } else { 0 };
        Ok(is_next)
    }
}

//! The language that lock files are written in: text to tree, with all that is wrong on the way.
//!
//! HCL native syntax, read as the tools read it: where they find an error, and where they go on behind it, is part of
//! what users see, and no other parser does the same. `hcl-edit` stops at its first error, takes a line end in a string,
//! no byte order mark and no byte that is not UTF-8, and its evaluation ends the program on `1 % 0`.
//! The folder knows nothing of providers.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclsyntax/spec.md` and `parser.go`.

mod body;
mod collection;
mod cursor;
mod expr;
mod literal;
mod scan;
mod template;
mod token;
mod tree;

use std::borrow::Cow;

pub(super) use token::Operator;
pub(super) use tree::{Attribute, Block, Body, Expr, For, Label, Node, Number};

use cursor::Cursor;
use token::{Kind, Token};

/// More bytes that are not UTF-8 than any comment has.
const MOST_BAD_BYTES: usize = 100_000;

/// How deep expressions and blocks may nest: far more than anybody writes, and little enough for any stack.
const DEEPEST: u16 = 150;

/// Something wrong at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) message: String,
}

/// A text with a stand-in for each byte that is not UTF-8, which may be so in comments; all offsets are as in the bytes.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    not_utf8: Vec<usize>,
}

impl<'a> Source<'a> {
    /// Reads bytes; None if this is no text at all.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Some(Self { text: Cow::Borrowed(text), not_utf8: Vec::new() });
        }
        let mut text = String::with_capacity(bytes.len());
        let mut not_utf8 = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for _ in chunk.invalid() {
                not_utf8.push(text.len());
                text.push('?');
            }
            if not_utf8.len() > MOST_BAD_BYTES {
                return None;
            }
        }
        Some(Self { text: Cow::Owned(text), not_utf8 })
    }
}

/// A text as a tree.
#[derive(Debug)]
pub(super) struct Tree<'s> {
    pub(super) body: Body<'s>,
    /// In no order.
    pub(super) problems: Vec<Problem>,
    /// The offsets of all comments.
    pub(super) comments: Vec<usize>,
}

/// Reads a text; what cannot be read is left out of the tree and told in `problems`.
pub(super) fn parse<'s>(source: &'s Source<'_>) -> Tree<'s> {
    let (tokens, complaints) = scan::scan(source);
    let comments = tokens
        .iter()
        .filter(|token| matches!(token.kind, Kind::Comment | Kind::LineComment))
        .map(|token| token.start())
        .collect();
    let mut parser =
        Parser { text: &source.text, cursor: Cursor::new(tokens), recovering: false, problems: Vec::new(), depth: 0 };
    let body = parser.body(Kind::End);
    let mut problems = complaints;
    problems.append(&mut parser.problems);
    Tree { body, problems, comments }
}

/// The state of reading one text.
struct Parser<'s> {
    text: &'s str,
    cursor: Cursor,
    /// True from the first error on which reading may be out of step: then some errors are not worth telling.
    recovering: bool,
    problems: Vec<Problem>,
    depth: u16,
}

impl<'s> Parser<'s> {
    fn peek(&self) -> Kind {
        self.cursor.peek().kind
    }

    fn read(&mut self) -> Token {
        self.cursor.read()
    }

    fn text_of(&self, token: Token) -> &'s str {
        &self.text[token.span()]
    }

    fn is_keyword(&self, token: Token, word: &str) -> bool {
        token.kind == Kind::Ident && self.text_of(token) == word
    }

    fn problem(&mut self, at: usize, message: impl Into<String>) {
        self.problems.push(Problem { at, message: message.into() });
    }

    /// A problem that is told only if reading is in step.
    fn problem_in_step(&mut self, at: usize, message: impl Into<String>) {
        if !self.recovering {
            self.problem(at, message);
        }
    }

    fn recover_past(&mut self, end: Kind) -> Token {
        self.recovering = true;
        self.cursor.skip_past(end)
    }

    fn recover_item(&mut self) {
        self.recovering = true;
        self.cursor.skip_item();
    }

    /// True if reading is out of step because of something since there were so many problems.
    fn lost_since(&self, problems: usize) -> bool {
        self.recovering && self.problems.len() > problems
    }

    /// Gives up a text that nests too deeply.
    fn too_deep(&mut self, at: usize) {
        self.problem_in_step(at, format!("nested more than {DEEPEST} levels deep"));
        self.recovering = true;
        self.cursor.abandon();
    }
}

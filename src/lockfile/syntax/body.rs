//! Bodies: arguments and blocks, line by line.

use std::borrow::Cow;

use super::token::{Kind, Token};
use super::tree::{Attribute, Block, Body, Label};
use super::{DEEPEST, Parser};

const ITEM_WANTED: &str = "an argument or a block is wanted here";
const UNCLOSED: &str = "the block has no closing brace";
const ONE_LINE: &str = "a block on one line holds one argument and ends on that line";

impl<'s> Parser<'s> {
    /// Reads items up to a closing brace, or up to the end of the text.
    pub(super) fn body(&mut self, end: Kind) -> Body<'s> {
        let opener = self.cursor.previous();
        let mut body = Body { at: opener.start(), ..Body::default() };
        loop {
            let next = self.cursor.peek();
            match next.kind {
                kind if kind == end => {
                    self.read();
                    return body;
                }
                Kind::Newline => {
                    self.read();
                }
                Kind::Ident => self.item(&mut body),
                _ => {
                    self.read();
                    match next.kind {
                        Kind::OpenQuote => self.problem_in_step(next.start(), "names of arguments are not quoted"),
                        Kind::End => self.problem_in_step(opener.start(), UNCLOSED),
                        _ => self.problem_in_step(next.start(), ITEM_WANTED),
                    }
                    self.recover_past(end);
                    return body;
                }
            }
        }
    }

    fn item(&mut self, body: &mut Body<'s>) {
        let name = self.read();
        match self.peek() {
            Kind::Equal => {
                let attribute = self.attribute(name, false);
                match body.attributes.iter().find(|earlier| earlier.name == attribute.name) {
                    Some(_) => self.problem(attribute.at, format!("argument `{}` is set twice", attribute.name)),
                    None => body.attributes.push(attribute),
                }
            }
            Kind::OpenQuote | Kind::OpenBrace | Kind::Ident => {
                let block = self.block(name);
                body.blocks.push(block);
            }
            _ => {
                self.recover_item();
                self.problem(name.start(), ITEM_WANTED);
            }
        }
    }

    fn attribute(&mut self, name: Token, one_line: bool) -> Attribute<'s> {
        self.read();
        let before = self.problems.len();
        let value = self.expression();
        if self.lost_since(before) {
            self.recover_item();
        } else if !one_line {
            self.line_end("an argument");
        }
        Attribute { name: self.text_of(name), at: name.start(), value }
    }

    fn line_end(&mut self, item: &str) {
        let next = self.cursor.peek();
        match next.kind {
            Kind::Newline | Kind::End => {
                self.read();
                return;
            }
            Kind::Comma => self.problem_in_step(next.start(), "arguments end with a line end, not with a comma"),
            _ => self.problem_in_step(next.start(), format!("a line end is missing after {item}")),
        }
        self.recover_item();
    }

    fn block(&mut self, keyword: Token) -> Block<'s> {
        let mut block = Block {
            keyword: self.text_of(keyword),
            at: keyword.start(),
            labels: Vec::new(),
            open: keyword.start(),
            body: Body { at: keyword.start(), ..Body::default() },
        };
        while let Some(label) = self.label() {
            block.labels.push(label);
        }
        let open = self.cursor.peek();
        if open.kind != Kind::OpenBrace {
            self.header_cut_short(open);
            self.recover_item();
            return block;
        }
        self.read();
        block.open = open.start();
        self.depth += 1;
        if self.depth > DEEPEST {
            self.too_deep(open.start());
        }
        block.body = match self.peek() {
            Kind::Newline | Kind::End | Kind::CloseBrace => self.body(Kind::CloseBrace),
            _ => self.body_on_one_line(open),
        };
        self.depth -= 1;
        self.line_end("a block");
        block
    }

    fn label(&mut self) -> Option<Label<'s>> {
        let token = self.cursor.peek();
        let text = match token.kind {
            Kind::OpenQuote => self.quoted_label(),
            Kind::Ident => Cow::Borrowed(self.text_of(self.cursor.peek())),
            _ => return None,
        };
        if token.kind == Kind::Ident {
            self.read();
        }
        Some(Label { text, at: token.start() })
    }

    fn header_cut_short(&mut self, token: Token) {
        let at = token.start();
        match token.kind {
            Kind::Equal => self.problem(at, "an equals sign makes an argument, which has no labels"),
            Kind::Newline => self.problem(at, "the opening brace of a block belongs on the line of its keyword"),
            _ => self.problem_in_step(at, "a label in quotes or an opening brace is wanted here"),
        }
    }

    fn body_on_one_line(&mut self, open: Token) -> Body<'s> {
        let name = self.read();
        let body = match (name.kind, self.peek()) {
            (Kind::Ident, Kind::Equal) => {
                let attribute = self.attribute(name, true);
                Body { at: attribute.at, attributes: vec![attribute], blocks: Vec::new() }
            }
            (kind, next) => {
                self.recover_item();
                let nested = kind == Kind::Ident && matches!(next, Kind::OpenQuote | Kind::OpenBrace | Kind::Ident);
                self.problem(name.start(), if nested { ONE_LINE } else { ITEM_WANTED });
                Body { at: open.start(), ..Body::default() }
            }
        };
        let next = self.cursor.peek();
        match next.kind {
            Kind::CloseBrace => {
                self.read();
                return body;
            }
            Kind::Comma | Kind::Newline => self.problem(next.start(), ONE_LINE),
            Kind::End => self.problem_in_step(open.start(), UNCLOSED),
            _ => self.problem_in_step(next.start(), ONE_LINE),
        }
        self.recover_past(Kind::CloseBrace);
        body
    }

    /// Reads a label in quotes, in which there are escapes but no template sequences.
    fn quoted_label(&mut self) -> Cow<'s, str> {
        let open = self.read();
        let mut text = Cow::Borrowed("");
        loop {
            let token = self.read();
            match token.kind {
                Kind::CloseQuote => return text,
                Kind::Literal => {
                    let piece = self.unescape(token);
                    if text.is_empty() { text = piece } else { text.to_mut().push_str(&piece) }
                }
                Kind::OpenInterpolation | Kind::OpenDirective => {
                    self.problem(token.start(), "template sequences cannot stand in a label");
                    text.to_mut().push_str("${ … }");
                    self.recover_past(Kind::CloseSequence);
                }
                Kind::End => {
                    self.problem(token.start(), "the string has no closing quote");
                    return text;
                }
                _ => {
                    self.problem(token.start(), "this cannot stand in a label");
                    self.recover_past(Kind::CloseQuote);
                    return text;
                }
            }
            debug_assert!(token.start() > open.start());
        }
    }
}

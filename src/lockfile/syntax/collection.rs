//! What stands in brackets: tuples, objects, `for` expressions, the arguments of calls.

use super::Parser;
use super::token::{Kind, Token};
use super::tree::{Expr, For, Node};

impl<'s> Parser<'s> {
    /// Reads `[A, B, …]` or `[for …]`.
    pub(super) fn tuple(&mut self) -> Node<'s> {
        let open = self.read();
        self.cursor.push_line_ends(false);
        let node = if self.is_keyword(self.cursor.peek(), "for") {
            self.for_expression(open)
        } else {
            let items = self.tuple_items(open);
            Node::above(open.start(), Node::deepest(&items), Expr::Tuple(items))
        };
        self.cursor.pop_line_ends();
        node
    }

    fn tuple_items(&mut self, open: Token) -> Vec<Node<'s>> {
        let mut items = Vec::new();
        loop {
            if self.peek() == Kind::CloseBracket {
                self.read();
                return items;
            }
            let before = self.problems.len();
            items.push(self.expression());
            if self.lost_since(before) {
                self.recover_past(Kind::CloseBracket);
                return items;
            }
            let next = self.cursor.peek();
            match next.kind {
                Kind::Comma => {
                    self.read();
                }
                Kind::CloseBracket => {}
                kind => {
                    match kind {
                        Kind::End => self.problem_in_step(open.start(), "the list has no closing bracket"),
                        _ => self.problem_in_step(next.start(), "a comma is missing between the items of the list"),
                    }
                    self.recover_past(Kind::CloseBracket);
                    return items;
                }
            }
        }
    }

    /// Reads `{ KEY = VALUE … }` or `{for …}`.
    pub(super) fn object(&mut self) -> Node<'s> {
        let open = self.read();
        self.cursor.push_line_ends(false);
        let is_for = self.is_keyword(self.cursor.peek(), "for");
        self.cursor.pop_line_ends();
        if is_for {
            self.cursor.push_line_ends(false);
            let node = self.for_expression(open);
            self.cursor.pop_line_ends();
            return node;
        }
        self.cursor.push_line_ends(true);
        let items = self.object_items(open);
        self.cursor.pop_line_ends();
        let below = Node::deepest(items.iter().flat_map(|(key, value)| [key, value]));
        Node::above(open.start(), below, Expr::Object(items))
    }

    fn object_items(&mut self, open: Token) -> Vec<(Node<'s>, Node<'s>)> {
        let mut items = Vec::new();
        loop {
            match self.peek() {
                Kind::Newline => {
                    self.read();
                    continue;
                }
                Kind::CloseBrace => {
                    self.read();
                    return items;
                }
                _ => {}
            }
            let before = self.problems.len();
            let key = self.expression();
            if self.lost_since(before) || !self.expect(&[Kind::Equal, Kind::Colon], open, "a value") {
                self.recover_past(Kind::CloseBrace);
                return items;
            }
            let value = self.expression();
            items.push((key, value));
            if self.lost_since(before) {
                self.recover_past(Kind::CloseBrace);
                return items;
            }
            if self.peek() != Kind::CloseBrace && !self.expect(&[Kind::Comma, Kind::Newline], open, "a separator") {
                self.recover_past(Kind::CloseBrace);
                return items;
            }
        }
    }

    /// Reads one of some tokens, or complains.
    fn expect(&mut self, kinds: &[Kind], open: Token, what: &str) -> bool {
        let next = self.cursor.peek();
        if kinds.contains(&next.kind) {
            self.read();
            return true;
        }
        match next.kind {
            Kind::End => self.problem_in_step(open.start(), "the object has no closing brace"),
            _ => self.problem_in_step(next.start(), format!("{what} is missing in the object")),
        }
        false
    }

    /// Reads a `for` expression behind its bracket, up to the closing one.
    fn for_expression(&mut self, open: Token) -> Node<'s> {
        let close = open.kind.opposite().unwrap_or(Kind::CloseBracket);
        let before = self.problems.len();
        let parsed = self.for_parts(open);
        match parsed {
            Some(parts) if !self.lost_since(before) => {
                let deep = [Some(&parts.collection), parts.result_key.as_ref(), Some(&parts.result)];
                let below = Node::deepest(deep.into_iter().flatten().chain(&parts.condition));
                Node::above(open.start(), below, Expr::For(Box::new(parts)))
            }
            _ => {
                self.recover_past(close);
                Node::broken(open.start())
            }
        }
    }

    fn for_parts(&mut self, open: Token) -> Option<For<'s>> {
        let object = open.kind == Kind::OpenBrace;
        self.read();
        let (key, value) = self.for_names()?;
        self.for_keyword("in")?;
        let before = self.problems.len();
        let collection = self.expression();
        if self.lost_since(before) {
            return None;
        }
        self.for_token(Kind::Colon, "a colon")?;
        let mut result = self.expression();
        let mut result_key = None;
        if self.peek() == Kind::FatArrow {
            self.read();
            result_key = Some(std::mem::replace(&mut result, self.expression()));
        }
        if self.lost_since(before) {
            return None;
        }
        let ellipsis = self.cursor.peek();
        let grouped = ellipsis.kind == Kind::Ellipsis;
        if grouped {
            self.read();
        }
        let mut condition = None;
        if self.is_keyword(self.cursor.peek(), "if") {
            self.read();
            condition = Some(self.expression());
            if self.lost_since(before) {
                return None;
            }
        }
        self.for_token(open.kind.opposite()?, "the end")?;
        match (&result_key, object) {
            (Some(key), false) => self.problem(key.at, "a `for` in brackets has no keys"),
            (None, true) => self.problem(result.at, "a `for` in braces needs a key"),
            _ if grouped && !object => self.problem(ellipsis.start(), "a `for` in brackets does not group"),
            _ => {}
        }
        Some(For { key, value, collection, result_key, result, condition, grouped })
    }

    /// Reads one or two names.
    pub(super) fn for_names(&mut self) -> Option<(Option<&'s str>, &'s str)> {
        let first = self.for_name()?;
        if self.peek() != Kind::Comma {
            return Some((None, first));
        }
        self.read();
        Some((Some(first), self.for_name()?))
    }

    fn for_name(&mut self) -> Option<&'s str> {
        let token = self.cursor.peek();
        if token.kind != Kind::Ident {
            self.problem_in_step(token.start(), "a `for` needs the name of a variable here");
            return None;
        }
        self.read();
        Some(self.text_of(token))
    }

    pub(super) fn for_keyword(&mut self, word: &str) -> Option<()> {
        let token = self.cursor.peek();
        if !self.is_keyword(token, word) {
            self.problem_in_step(token.start(), format!("a `for` needs `{word}` here"));
            return None;
        }
        self.read();
        Some(())
    }

    fn for_token(&mut self, kind: Kind, what: &str) -> Option<()> {
        let token = self.cursor.peek();
        if token.kind != kind {
            self.problem_in_step(token.start(), format!("{what} of the `for` is wanted here"));
            return None;
        }
        self.read();
        Some(())
    }

    /// Reads a call, of which nothing is kept: there are no functions.
    pub(super) fn call(&mut self, name: Token) -> Node<'s> {
        let call = Node::leaf(name.start(), Expr::Call);
        let mut open = self.read();
        while open.kind == Kind::DoubleColon {
            let next = self.read();
            if next.kind != Kind::Ident {
                self.problem(next.start(), "the name of a function is wanted here");
                self.recovering = true;
                self.cursor.skip_pair(Kind::OpenParen);
                return Self::missing(name);
            }
            open = self.read();
        }
        if open.kind != Kind::OpenParen {
            self.problem(open.start(), "the arguments of the function are wanted here");
            self.recovering = true;
            self.cursor.skip_pair(Kind::OpenParen);
            return Self::missing(name);
        }
        self.cursor.push_line_ends(false);
        self.arguments(name);
        self.cursor.pop_line_ends();
        call
    }

    fn arguments(&mut self, name: Token) {
        while self.peek() != Kind::CloseParen {
            let before = self.problems.len();
            self.expression();
            if self.lost_since(before) {
                self.recover_past(Kind::CloseParen);
                return;
            }
            let separator = self.read();
            match separator.kind {
                Kind::CloseParen => return,
                Kind::Comma => {}
                Kind::Ellipsis if self.peek() == Kind::CloseParen => {}
                Kind::End => {
                    self.problem(name.start(), "the call has no closing parenthesis");
                    return;
                }
                Kind::Ellipsis => {
                    self.problem_in_step(separator.start(), "`...` stands behind the last argument only");
                    self.recover_past(Kind::CloseParen);
                    return;
                }
                _ => {
                    self.problem(separator.start(), "a comma is missing between the arguments");
                    self.recover_past(Kind::CloseParen);
                    return;
                }
            }
        }
        self.read();
    }
}

//! Expressions: terms, operators, conditionals, and what follows a term.

use super::token::{Kind, Operator, Token};
use super::tree::{Expr, Node};
use super::{DEEPEST, Parser};

impl<'s> Parser<'s> {
    /// Reads an expression; always gives a node, which is broken if there is none.
    pub(super) fn expression(&mut self) -> Node<'s> {
        let start = self.cursor.peek();
        self.depth += 1;
        let node = if self.depth > DEEPEST {
            self.too_deep(start.start());
            Self::missing(start)
        } else {
            self.conditional()
        };
        self.depth -= 1;
        if node.depth > DEEPEST {
            self.too_deep(start.start());
            return Self::missing(start);
        }
        node
    }

    fn conditional(&mut self) -> Node<'s> {
        let before = self.problems.len();
        let condition = self.binary(1);
        if self.lost_since(before) || self.peek() != Kind::Question {
            return condition;
        }
        self.read();
        let yes = self.expression();
        if self.lost_since(before) {
            return condition;
        }
        let colon = self.cursor.peek();
        if colon.kind != Kind::Colon {
            self.problem(colon.start(), "the conditional lacks a colon and a second value");
            return condition;
        }
        self.read();
        let no = self.expression();
        if self.lost_since(before) {
            return condition;
        }
        let parts = [condition, yes, no];
        Node::above(parts[0].at, Node::deepest(&parts), Expr::Conditional(Box::new(parts)))
    }

    /// Reads operands and operators that bind at least as strongly as a level.
    fn binary(&mut self, level: u8) -> Node<'s> {
        let before = self.problems.len();
        let mut left = self.term_with_traversals();
        while let Some(operator) = self.operator(level) {
            if self.lost_since(before) {
                break;
            }
            self.read();
            let right = self.binary(operator.level() + 1);
            if self.lost_since(before) {
                break;
            }
            left = self.joined(operator, left, right);
        }
        left
    }

    fn operator(&self, level: u8) -> Option<Operator> {
        match self.peek() {
            Kind::Operator(operator) if operator.level() >= level => Some(operator),
            _ => None,
        }
    }

    fn joined(&mut self, operator: Operator, left: Node<'s>, right: Node<'s>) -> Node<'s> {
        let (at, below) = (left.at, left.depth.max(right.depth));
        self.checked(Node::above(at, below, Expr::Binary(operator, Box::new(left), Box::new(right))))
    }

    /// Gives up what grew too deep, so that nobody has to walk it.
    fn checked(&mut self, node: Node<'s>) -> Node<'s> {
        if node.depth <= DEEPEST {
            return node;
        }
        self.too_deep(node.at);
        Node::broken(node.at)
    }

    fn term_with_traversals(&mut self) -> Node<'s> {
        let term = self.term();
        self.traversals(term)
    }

    /// Reads `.name`, `[key]`, `.*` and `[*]` behind a term.
    fn traversals(&mut self, mut node: Node<'s>) -> Node<'s> {
        loop {
            node = match self.peek() {
                Kind::Dot => self.after_dot(node),
                Kind::OpenBracket => self.after_bracket(node),
                _ => return node,
            };
            node = self.checked(node);
        }
    }

    fn after_dot(&mut self, source: Node<'s>) -> Node<'s> {
        self.read();
        let token = self.cursor.peek();
        match token.kind {
            Kind::Ident | Kind::Number => self.step(source),
            Kind::Operator(Operator::Times) => {
                self.read();
                let mut each = Node::leaf(token.start(), Expr::Each);
                while self.peek() == Kind::Dot && each.depth <= DEEPEST {
                    self.read();
                    let next = self.cursor.peek();
                    if !matches!(next.kind, Kind::Ident | Kind::Number) {
                        self.problem_in_step(next.start(), "the name of an attribute is wanted here");
                        self.recovering = true;
                        break;
                    }
                    each = self.step(each);
                }
                splat(source, each)
            }
            _ => {
                self.problem(token.start(), "the name of an attribute is wanted here");
                self.recovering = true;
                Node::above(source.at, source.depth, Expr::Broken)
            }
        }
    }

    /// Reads the name of an attribute, or a number that stands for an index.
    fn step(&mut self, source: Node<'s>) -> Node<'s> {
        let token = self.read();
        let (at, below) = (source.at, source.depth);
        if token.kind == Kind::Ident {
            return Node::above(at, below, Expr::Attribute(Box::new(source), self.text_of(token)));
        }
        if self.text_of(token).contains('.') {
            self.problem(token.start(), "two indexes in a row are written in brackets");
            return Node::broken(at);
        }
        let index = match self.number(token) {
            Some(number) => Node::leaf(token.start(), Expr::Number(number)),
            None => Self::missing(token),
        };
        Node::above(at, below, Expr::Index(Box::new(source), Box::new(index)))
    }

    fn after_bracket(&mut self, source: Node<'s>) -> Node<'s> {
        let open = self.read();
        if self.peek() == Kind::Operator(Operator::Times) {
            self.read();
            let close = self.read();
            if close.kind != Kind::CloseBracket && !self.recovering {
                self.problem(close.start(), "the star of a splat is followed by a closing bracket");
                self.recover_past(Kind::CloseBracket);
            }
            self.depth += 1;
            let each = if self.depth > DEEPEST {
                self.too_deep(open.start());
                Self::missing(open)
            } else {
                self.traversals(Node::leaf(open.start(), Expr::Each))
            };
            self.depth -= 1;
            return splat(source, each);
        }
        self.cursor.push_line_ends(false);
        let before = self.problems.len();
        let key = self.expression();
        if self.lost_since(before) {
            self.recover_past(Kind::CloseBracket);
        } else {
            let close = self.read();
            if close.kind != Kind::CloseBracket && !self.recovering {
                self.problem(close.start(), "the index lacks its closing bracket");
                self.recover_past(Kind::CloseBracket);
            }
        }
        self.cursor.pop_line_ends();
        Node::above(source.at, source.depth.max(key.depth), Expr::Index(Box::new(source), Box::new(key)))
    }

    fn term(&mut self) -> Node<'s> {
        let start = self.cursor.peek();
        match start.kind {
            Kind::OpenParen => self.parentheses(),
            Kind::Number => {
                self.read();
                let number = self.number(start);
                number.map_or_else(|| Self::missing(start), |number| Node::leaf(start.start(), Expr::Number(number)))
            }
            Kind::Ident => self.name(),
            Kind::OpenQuote | Kind::OpenHeredoc => self.template(),
            Kind::Operator(Operator::Minus) => self.prefixed(start, Expr::Negative),
            Kind::Bang => self.prefixed(start, Expr::Not),
            Kind::OpenBracket => self.tuple(),
            Kind::OpenBrace => self.object(),
            kind => {
                let message = if kind == Kind::End { "the value is missing" } else { "this is no value" };
                self.problem_in_step(start.start(), message);
                self.recovering = true;
                Self::missing(start)
            }
        }
    }

    fn prefixed(&mut self, sign: Token, expr: fn(Box<Node<'s>>) -> Expr<'s>) -> Node<'s> {
        self.read();
        self.depth += 1;
        let node = if self.depth > DEEPEST {
            self.too_deep(sign.start());
            Self::missing(sign)
        } else {
            let operand = self.term_with_traversals();
            Node::above(sign.start(), operand.depth, expr(Box::new(operand)))
        };
        self.depth -= 1;
        self.checked(node)
    }

    fn parentheses(&mut self) -> Node<'s> {
        let open = self.read();
        self.cursor.push_line_ends(false);
        let before = self.problems.len();
        let inner = self.expression();
        if self.problems.len() > before {
            self.recover_past(Kind::CloseParen);
            self.cursor.pop_line_ends();
            return inner;
        }
        let close = self.cursor.peek();
        if close.kind != Kind::CloseParen {
            self.problem(close.start(), "a closing parenthesis is missing");
            self.recovering = true;
        }
        self.read();
        self.cursor.pop_line_ends();
        Node::above(open.start(), inner.depth, Expr::Parentheses(Box::new(inner)))
    }

    fn name(&mut self) -> Node<'s> {
        let token = self.read();
        if matches!(self.peek(), Kind::OpenParen | Kind::DoubleColon) {
            return self.call(token);
        }
        let expr = match self.text_of(token) {
            "true" => Expr::Bool(true),
            "false" => Expr::Bool(false),
            "null" => Expr::Null,
            name => Expr::Variable(name),
        };
        Node::leaf(token.start(), expr)
    }
}

fn splat<'s>(source: Node<'s>, each: Node<'s>) -> Node<'s> {
    Node::above(source.at, source.depth.max(each.depth), Expr::Splat(Box::new(source), Box::new(each)))
}

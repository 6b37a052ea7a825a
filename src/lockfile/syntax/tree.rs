//! The tree of a text: bodies, blocks, arguments, expressions.

use std::borrow::Cow;

use super::Operator;

/// The content of a file or block.
#[derive(Debug, Default)]
pub(in crate::lockfile) struct Body<'s> {
    /// Each name once: the first one.
    pub(in crate::lockfile) attributes: Vec<Attribute<'s>>,
    pub(in crate::lockfile) blocks: Vec<Block<'s>>,
    /// Where something missing is missed.
    pub(in crate::lockfile) at: usize,
}

/// `NAME = VALUE`.
#[derive(Debug)]
pub(in crate::lockfile) struct Attribute<'s> {
    pub(in crate::lockfile) name: &'s str,
    pub(in crate::lockfile) at: usize,
    pub(in crate::lockfile) value: Node<'s>,
}

/// `KEYWORD LABEL… { BODY }`.
#[derive(Debug)]
pub(in crate::lockfile) struct Block<'s> {
    pub(in crate::lockfile) keyword: &'s str,
    pub(in crate::lockfile) at: usize,
    pub(in crate::lockfile) labels: Vec<Label<'s>>,
    /// The brace, or the keyword if there is none.
    pub(in crate::lockfile) open: usize,
    pub(in crate::lockfile) body: Body<'s>,
}

/// A label, quoted or not.
#[derive(Debug)]
pub(in crate::lockfile) struct Label<'s> {
    pub(in crate::lockfile) text: Cow<'s, str>,
    pub(in crate::lockfile) at: usize,
}

/// An expression with its place.
#[derive(Debug)]
pub(in crate::lockfile) struct Node<'s> {
    pub(in crate::lockfile) at: usize,
    /// Levels below, for the sake of the stack.
    pub(super) depth: u16,
    pub(in crate::lockfile) expr: Expr<'s>,
}

/// An expression.
#[derive(Debug)]
pub(in crate::lockfile) enum Expr<'s> {
    Null,
    Bool(bool),
    Number(Number),
    /// A string or heredoc without template sequences.
    Text(Cow<'s, str>),
    /// Text and values in turn.
    Template(Vec<Node<'s>>),
    /// A template that is one value, which keeps its type.
    Wrapped(Box<Node<'s>>),
    Parentheses(Box<Node<'s>>),
    Tuple(Vec<Node<'s>>),
    Object(Vec<(Node<'s>, Node<'s>)>),
    Variable(&'s str),
    Call,
    /// What a splat is applied to, one after the other.
    Each,
    Attribute(Box<Node<'s>>, &'s str),
    Index(Box<Node<'s>>, Box<Node<'s>>),
    Splat(Box<Node<'s>>, Box<Node<'s>>),
    Negative(Box<Node<'s>>),
    Not(Box<Node<'s>>),
    Binary(Operator, Box<Node<'s>>, Box<Node<'s>>),
    Conditional(Box<[Node<'s>; 3]>),
    For(Box<For<'s>>),
    /// The texts of a `%{ for }`, joined.
    Joined(Box<Node<'s>>),
    /// What could not be read, and is told already.
    Broken,
}

/// `[for KEY, VALUE in COLLECTION : RESULT if CONDITION]`, or with braces and `RESULT_KEY => RESULT`.
#[derive(Debug)]
pub(in crate::lockfile) struct For<'s> {
    pub(in crate::lockfile) key: Option<&'s str>,
    pub(in crate::lockfile) value: &'s str,
    pub(in crate::lockfile) collection: Node<'s>,
    pub(in crate::lockfile) result_key: Option<Node<'s>>,
    pub(in crate::lockfile) result: Node<'s>,
    pub(in crate::lockfile) condition: Option<Node<'s>>,
    pub(in crate::lockfile) grouped: bool,
}

/// A number: exact while it is whole and not too large.
#[derive(Debug, Clone, Copy)]
pub(in crate::lockfile) enum Number {
    Whole(i128),
    Float(f64),
}

impl<'s> Node<'s> {
    /// A node without others below.
    pub(super) fn leaf(at: usize, expr: Expr<'s>) -> Self {
        Self { at, depth: 1, expr }
    }

    /// A node above others, of which the deepest has this depth.
    pub(super) fn above(at: usize, below: u16, expr: Expr<'s>) -> Self {
        Self { at, depth: below.saturating_add(1), expr }
    }

    pub(super) fn broken(at: usize) -> Self {
        Self::leaf(at, Expr::Broken)
    }

    /// The depth of the deepest of some nodes.
    pub(super) fn deepest<'n>(nodes: impl IntoIterator<Item = &'n Node<'s>>) -> u16
    where
        's: 'n,
    {
        nodes.into_iter().map(|node| node.depth).max().unwrap_or(0)
    }
}

//! Expressions of the language of the tools, as trees with places.
//!
//! Texts come from outside: the depth of a tree and the number of its parts are bounded, so a tree is small and can be walked by
//! recursion. What follows a term (`.a[0][*]`) and a chain of equal operators are lists, however long.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclsyntax/parser.go`, `spec.md`.

mod cursor;
mod parse;
mod template;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::hcl;
use cursor::Cursor;

/// How deep expressions may be nested.
pub const DEPTH: usize = 100;

/// How many parts an expression may have.
pub const PARTS: usize = 200_000;

/// An expression, and the byte of the text where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The byte.
    pub at: usize,
    /// What it is.
    pub kind: NodeKind,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written.
    Number(Box<str>),
    /// A string without interpolation, normalized.
    Text(String),
    /// A string in parts: [`NodeKind::Text`] and what is interpolated.
    Template(Vec<Node>),
    /// The value of another expression: a string that is nothing but an interpolation, or a key in parentheses.
    Wrapped(Box<Node>),
    /// A name alone.
    Name(String),
    /// A term, and the way to a part of it.
    Traversal(Box<Node>, Vec<Step>),
    /// The call of a function.
    Call(Call),
    /// `condition ? yes : no`, or the directive `if` of a template.
    Conditional(Box<[Node; 3]>),
    /// `-value`.
    Negation(Box<Node>),
    /// `!value`.
    Not(Box<Node>),
    /// Operators of one precedence, which are applied from left to right.
    Operation(Box<Node>, Vec<(BinaryOperator, Node)>),
    /// `[…]`.
    Tuple(Vec<Node>),
    /// `{…}`: keys and values, in order; the last of equal keys counts.
    Object(Vec<(Node, Node)>),
    /// A `for` expression.
    For(Box<For>),
    /// The directive `for` of a template: the strings of a [`NodeKind::For`], joined.
    Join(Box<For>),
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `.name`.
    Name(String),
    /// `[key]`, and `.0`.
    Index(Node),
    /// `[*]` and `.*`: the steps that lead on from each element.
    Splat(Vec<Step>),
}

/// The call of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name, with the parts of its namespace: `provider::local::name`.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Node>,
    /// True if the last argument has the elements of a list for arguments: `f(list...)`.
    pub is_expanded: bool,
}

/// A `for` expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct For {
    /// The name of the key, if one is given.
    pub key_name: Option<String>,
    /// The name of the value.
    pub value_name: String,
    /// What is iterated over.
    pub collection: Node,
    /// The key of an element of the result, if that is an object.
    pub key: Option<Node>,
    /// An element of the result.
    pub value: Node,
    /// Which elements count, if not all do.
    pub condition: Option<Node>,
    /// True if elements with the same key make a list: `...`.
    pub is_grouped: bool,
}

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the operators say it")]
pub enum BinaryOperator {
    Or,
    And,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// Why a text is not an expression, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// The byte of the text.
    pub at: usize,
    /// Why.
    pub kind: SyntaxErrorKind,
}

/// Why a text is not an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxErrorKind {
    /// It is not one of the language.
    #[error("this value cannot be read as an expression")]
    Invalid,
    /// It is nested too deeply.
    #[error("this expression is nested more than {DEPTH} levels deep")]
    TooDeep,
    /// It has too many parts.
    #[error("this expression has more than {PARTS} parts")]
    TooLarge,
}

impl Node {
    /// Reads a range of a text as an expression. Places are bytes of the text.
    ///
    /// # Errors
    ///
    /// What the tools refuse, and what is beyond a limit.
    pub fn parse(text: &str, range: Range<usize>) -> Result<Self, SyntaxError> {
        parse::whole(&mut Cursor::new(text, range))
    }

    /// Reads a text as a template, which a string of JSON is; all of it has the place of the string, whose escapes are undone.
    ///
    /// # Errors
    ///
    /// What the tools refuse, and what is beyond a limit.
    pub fn parse_template(text: &str, at: usize) -> Result<Self, SyntaxError> {
        if text.contains("${") || text.contains("%{") {
            return template::bare(&mut Cursor::placed(text, at));
        }
        Ok(Self { at, kind: NodeKind::Text(hcl::normal(text).into_owned()) })
    }

    /// Reads a text as an expression that has the place of a string of JSON.
    ///
    /// # Errors
    ///
    /// What the tools refuse, and what is beyond a limit.
    pub fn parse_placed(text: &str, at: usize) -> Result<Self, SyntaxError> {
        parse::whole(&mut Cursor::placed(text, at))
    }

    /// The string, if it is one without interpolation.
    pub fn as_text(&self) -> Option<&str> {
        if let NodeKind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// The name and the steps of a reference. The words for constants are names like any other where only a reference can be.
    ///
    /// Source: `hcl.AbsTraversalForExpr`.
    pub fn as_reference(&self) -> Option<(&str, &[Step])> {
        match &self.kind {
            NodeKind::Null => Some(("null", &[])),
            NodeKind::Bool(true) => Some(("true", &[])),
            NodeKind::Bool(false) => Some(("false", &[])),
            NodeKind::Name(name) => Some((name, &[])),
            NodeKind::Traversal(root, steps) => match root.as_reference()? {
                (name, []) => Some((name, steps)),
                _ => None,
            },
            _ => None,
        }
    }

    /// True if each name in it passes, with the steps behind it, or is one of the `for` expression around it. `bound` are those names.
    pub fn uses_only(&self, bound: &[&str], passes: &dyn Fn(&str, &[Step]) -> bool) -> bool {
        let uses_only = |node: &Self| node.uses_only(bound, passes);
        match &self.kind {
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Text(_) => true,
            NodeKind::Name(name) => bound.contains(&&**name) || passes(name, &[]),
            NodeKind::Template(nodes) | NodeKind::Tuple(nodes) => nodes.iter().all(uses_only),
            NodeKind::Wrapped(node) | NodeKind::Negation(node) | NodeKind::Not(node) => uses_only(node),
            NodeKind::Traversal(root, steps) => {
                let is_root_sound = match &root.kind {
                    NodeKind::Name(name) => bound.contains(&&**name) || passes(name, steps),
                    _ => uses_only(root),
                };
                is_root_sound && steps.iter().all(|step| step.uses_only(bound, passes))
            }
            NodeKind::Call(call) => call.arguments.iter().all(uses_only),
            NodeKind::Conditional(nodes) => nodes.iter().all(uses_only),
            NodeKind::Operation(first, others) => uses_only(first) && others.iter().all(|(_, node)| uses_only(node)),
            // A name alone is a key as it is written.
            NodeKind::Object(pairs) => pairs
                .iter()
                .all(|(key, value)| (matches!(key.kind, NodeKind::Name(_)) || uses_only(key)) && uses_only(value)),
            NodeKind::For(each) | NodeKind::Join(each) => {
                let names = each.key_name.iter().chain([&each.value_name]).map(String::as_str);
                let inner: Vec<&str> = bound.iter().copied().chain(names).collect();
                let mut parts = each.key.iter().chain([&each.value]).chain(&each.condition);
                uses_only(&each.collection) && parts.all(|node| node.uses_only(&inner, passes))
            }
        }
    }

    /// True if it is of a kind, or something in it is.
    pub fn contains(&self, is_wanted: &dyn Fn(&NodeKind) -> bool) -> bool {
        let has = |node: &Self| node.contains(is_wanted);
        is_wanted(&self.kind)
            || match &self.kind {
                NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Text(_) | NodeKind::Name(_) => {
                    false
                }
                NodeKind::Template(nodes) | NodeKind::Tuple(nodes) => nodes.iter().any(has),
                NodeKind::Wrapped(node) | NodeKind::Negation(node) | NodeKind::Not(node) => has(node),
                NodeKind::Traversal(root, steps) => has(root) || steps.iter().any(|step| step.contains(is_wanted)),
                NodeKind::Call(call) => call.arguments.iter().any(has),
                NodeKind::Conditional(nodes) => nodes.iter().any(has),
                NodeKind::Operation(first, others) => has(first) || others.iter().any(|(_, node)| has(node)),
                NodeKind::Object(pairs) => pairs.iter().any(|(key, value)| has(key) || has(value)),
                NodeKind::For(each) | NodeKind::Join(each) => {
                    let parts = [&each.collection, &each.value].into_iter();
                    parts.chain(&each.key).chain(&each.condition).any(has)
                }
            }
    }
}

impl Step {
    fn uses_only(&self, bound: &[&str], passes: &dyn Fn(&str, &[Self]) -> bool) -> bool {
        match self {
            Self::Name(_) => true,
            Self::Index(key) => key.uses_only(bound, passes),
            Self::Splat(steps) => steps.iter().all(|step| step.uses_only(bound, passes)),
        }
    }

    fn contains(&self, is_wanted: &dyn Fn(&NodeKind) -> bool) -> bool {
        match self {
            Self::Name(_) => false,
            Self::Index(key) => key.contains(is_wanted),
            Self::Splat(steps) => steps.iter().any(|step| step.contains(is_wanted)),
        }
    }
}

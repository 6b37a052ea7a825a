//! Strings and heredocs: text with values and directives in it.

use std::borrow::Cow;

use super::literal::doubled_sign;
use super::token::{Kind, Token};
use super::tree::{Expr, For, Node};
use super::{DEEPEST, Parser};

/// A template before it is put together.
enum Piece<'s> {
    Text(Cow<'s, str>),
    Value(Node<'s>),
    Open(Directive<'s>),
    Else,
    Close(&'static str),
}

/// A directive that has an end.
enum Directive<'s> {
    If(Node<'s>),
    For(Option<&'s str>, &'s str, Node<'s>),
}

/// A directive whose end is still to come.
struct Unfinished<'s> {
    directive: Directive<'s>,
    at: usize,
    /// What stands before `else`, if that has come.
    yes: Option<Node<'s>>,
    nodes: Vec<Node<'s>>,
}

impl<'s> Parser<'s> {
    /// Reads a string or heredoc.
    pub(super) fn template(&mut self) -> Node<'s> {
        let open = self.read();
        let heredoc = open.kind == Kind::OpenHeredoc;
        let end = if heredoc { Kind::CloseHeredoc } else { Kind::CloseQuote };
        let mut pieces = self.pieces(end);
        if heredoc && self.text_of(open).starts_with("<<-") {
            unindent(&mut pieces);
        }
        let node = self.assemble(open.start(), pieces);
        self.checked_template(node)
    }

    fn checked_template(&mut self, node: Node<'s>) -> Node<'s> {
        if node.depth > DEEPEST {
            self.too_deep(node.at);
            return Node::broken(node.at);
        }
        node
    }

    fn pieces(&mut self, end: Kind) -> Vec<(usize, Piece<'s>)> {
        let mut pieces: Vec<(usize, Piece<'s>)> = Vec::new();
        let mut trim_next = false;
        loop {
            let token = self.read();
            let trim = std::mem::take(&mut trim_next);
            match token.kind {
                kind if kind == end => return pieces,
                Kind::Literal => {
                    let text =
                        if end == Kind::CloseQuote { self.unescape(token) } else { heredoc_text(self.text_of(token)) };
                    pieces.push((token.start(), Piece::Text(if trim { map(text, str::trim_start) } else { text })));
                }
                Kind::OpenInterpolation | Kind::OpenDirective => {
                    if self.text_of(token).ends_with('~') {
                        trim_last(&mut pieces);
                    }
                    self.cursor.push_line_ends(false);
                    let piece = if token.kind == Kind::OpenInterpolation {
                        Some(Piece::Value(self.expression()))
                    } else {
                        self.directive()
                    };
                    if let Some(piece) = piece {
                        pieces.push((token.start(), piece));
                        trim_next = self.close_sequence();
                    } else {
                        self.recover_past(Kind::CloseSequence);
                    }
                    self.cursor.pop_line_ends();
                }
                _ => {
                    self.problem_in_step(token.start(), "the string is not closed");
                    self.recover_past(end);
                    return pieces;
                }
            }
        }
    }

    /// Reads the end of `${…}` or `%{…}`; true if white space behind it is to be trimmed.
    fn close_sequence(&mut self) -> bool {
        let close = self.cursor.peek();
        if close.kind == Kind::CloseSequence {
            self.read();
            return self.text_of(close).starts_with('~');
        }
        self.problem_in_step(close.start(), "the template sequence is not closed");
        self.recover_past(Kind::CloseSequence);
        false
    }

    fn directive(&mut self) -> Option<Piece<'s>> {
        let keyword = self.cursor.peek();
        if keyword.kind != Kind::Ident {
            self.problem_in_step(keyword.start(), "a template directive begins with a keyword");
            return None;
        }
        self.read();
        match self.text_of(keyword) {
            "if" => Some(Piece::Open(Directive::If(self.expression()))),
            "else" => Some(Piece::Else),
            "endif" => Some(Piece::Close("endif")),
            "for" => {
                let (key, value) = self.for_names()?;
                self.for_keyword("in")?;
                Some(Piece::Open(Directive::For(key, value, self.expression())))
            }
            "endfor" => Some(Piece::Close("endfor")),
            other => {
                self.problem_in_step(keyword.start(), format!("there is no template directive `{other}`"));
                None
            }
        }
    }

    fn assemble(&mut self, at: usize, pieces: Vec<(usize, Piece<'s>)>) -> Node<'s> {
        let single = matches!(pieces[..], [(_, Piece::Value(_))]);
        let mut nodes: Vec<Node<'s>> = Vec::new();
        let mut open: Vec<Unfinished<'s>> = Vec::new();
        for (at, piece) in pieces {
            let target = open.last_mut().map_or(&mut nodes, |unfinished| &mut unfinished.nodes);
            match piece {
                Piece::Text(text) => push_text(target, at, text),
                Piece::Value(node) => target.push(node),
                Piece::Open(_) if open.len() >= usize::from(DEEPEST) => self.too_deep(at),
                Piece::Open(directive) => open.push(Unfinished { directive, at, yes: None, nodes: Vec::new() }),
                Piece::Else | Piece::Close(_) => {
                    if let Err(name) = close(&mut open, &mut nodes, &piece) {
                        self.problem(at, format!("`{name}` stands alone in its template"));
                        return Node::broken(at);
                    }
                }
            }
        }
        if let Some(unfinished) = open.pop() {
            self.problem(unfinished.at, "the template directive has no end");
            return Node::broken(at);
        }
        match (single, nodes.pop()) {
            (_, None) => Node::leaf(at, Expr::Text(Cow::Borrowed(""))),
            (true, Some(node)) => Node::above(at, node.depth, Expr::Wrapped(Box::new(node))),
            (false, Some(Node { expr: Expr::Text(text), .. })) if nodes.is_empty() => Node::leaf(at, Expr::Text(text)),
            (false, Some(node)) => {
                nodes.push(node);
                template_of(at, nodes)
            }
        }
    }

    /// An expression that is not there, at the place of a token.
    pub(super) fn missing(token: Token) -> Node<'s> {
        Node::broken(token.start())
    }
}

fn template_of(at: usize, nodes: Vec<Node<'_>>) -> Node<'_> {
    Node::above(at, Node::deepest(&nodes), Expr::Template(nodes))
}

/// Adds text, to the last node if that is text too.
fn push_text<'s>(nodes: &mut Vec<Node<'s>>, at: usize, text: Cow<'s, str>) {
    if let Some(Node { expr: Expr::Text(last), .. }) = nodes.last_mut() {
        last.to_mut().push_str(&text);
    } else {
        nodes.push(Node::leaf(at, Expr::Text(text)));
    }
}

/// Ends the innermost directive, or its first half; gives the name of what does not fit.
fn close<'s>(open: &mut Vec<Unfinished<'s>>, root: &mut Vec<Node<'s>>, piece: &Piece<'s>) -> Result<(), &'static str> {
    let name = if let Piece::Close(name) = piece { *name } else { "else" };
    let Some(mut top) = open.pop() else {
        return Err(name);
    };
    let at = top.at;
    let content = template_of(at, std::mem::take(&mut top.nodes));
    let node = match (top.directive, name, top.yes) {
        (directive @ Directive::If(_), "else", None) => {
            open.push(Unfinished { directive, at, yes: Some(content), nodes: Vec::new() });
            return Ok(());
        }
        (Directive::If(condition), "endif", yes) => {
            let parts = match yes {
                Some(yes) => [condition, yes, content],
                None => [condition, content, Node::leaf(at, Expr::Text(Cow::Borrowed("")))],
            };
            Node::above(at, Node::deepest(&parts), Expr::Conditional(Box::new(parts)))
        }
        (Directive::For(key, value, collection), "endfor", _) => repeated(at, (key, value), collection, content),
        _ => return Err(name),
    };
    open.last_mut().map_or(root, |unfinished| &mut unfinished.nodes).push(node);
    Ok(())
}

fn repeated<'s>(at: usize, names: (Option<&'s str>, &'s str), collection: Node<'s>, result: Node<'s>) -> Node<'s> {
    let (key, value) = names;
    let below = collection.depth.max(result.depth);
    let parts = For { key, value, collection, result_key: None, result, condition: None, grouped: false };
    let all = Node::above(at, below, Expr::For(Box::new(parts)));
    Node::above(at, all.depth, Expr::Joined(Box::new(all)))
}

/// Resolves `$${` and `%%{`, the only escapes of heredocs.
fn heredoc_text(text: &str) -> Cow<'_, str> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(sign) = rest.find(['$', '%']) {
        result.push_str(&rest[..sign]);
        rest = &rest[sign..];
        rest = &rest[doubled_sign(rest, &mut result)..];
    }
    if result.is_empty() {
        return Cow::Borrowed(text);
    }
    result.push_str(rest);
    Cow::Owned(result)
}

fn map(text: Cow<'_, str>, shorten: fn(&str) -> &str) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(shorten(text)),
        Cow::Owned(text) => Cow::Owned(shorten(&text).to_owned()),
    }
}

fn trim_last(pieces: &mut [(usize, Piece<'_>)]) {
    if let Some((_, Piece::Text(text))) = pieces.last_mut() {
        *text = map(std::mem::take(text), str::trim_end);
    }
}

/// Takes from all lines of a `<<-` heredoc the white space that the least indented of them has.
///
/// Lines of nothing but white space do not count; neither does what values are replaced by.
fn unindent(pieces: &mut [(usize, Piece<'_>)]) {
    let mut least = usize::MAX;
    let mut starts = Vec::new();
    let mut at_line_start = true;
    for (index, (_, piece)) in pieces.iter().enumerate() {
        let Piece::Text(text) = piece else {
            if at_line_start {
                least = 0;
            }
            at_line_start = false;
            continue;
        };
        let rest = text.trim_start();
        if at_line_start && !(rest.is_empty() && text.ends_with('\n')) {
            least = least.min(text[..text.len() - rest.len()].chars().count());
            starts.push(index);
        }
        at_line_start = text.ends_with('\n');
    }
    for index in starts {
        if let (_, Piece::Text(text)) = &mut pieces[index] {
            let cut = text.char_indices().nth(least).map_or(text.len(), |(at, _)| at);
            *text = Cow::Owned(text[cut..].to_owned());
        }
    }
}

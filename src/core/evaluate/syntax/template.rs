//! Templates: strings in quotes, heredocs, strings of JSON, and files. Literals and sequences come first, as the scanner of the tools
//! finds them, since strip marks and the indentation of heredocs work on those; then directives are closed.
//!
//! Source: `hclsyntax/parser_template.go`, `scan_string_lit.rl`.

use unicode_segmentation::UnicodeSegmentation;

use super::cursor::{Cursor, Parsed};
use super::parse::{expression, for_names};
use super::{For, Node, NodeKind};
use crate::hcl::{ends_heredoc, is_plain, normal};

/// Something in a template.
enum TemplatePiece {
    Literal(String),
    Interpolation(Node),
    If(Node),
    For(ForNames),
    Else,
    EndIf,
    EndFor,
}

/// The names of a key and a value, and what is iterated over.
type ForNames = (Option<String>, String, Node);

/// A template that is being read.
#[derive(Default)]
struct TemplatePieces {
    all: Vec<(usize, TemplatePiece)>,
    /// True after `~}`: the next literal loses the white space at its beginning.
    strips: bool,
}

impl TemplatePieces {
    /// Adds the literal of so many bytes that comes next.
    fn literal(&mut self, cursor: &mut Cursor<'_>, bytes: usize, text: &str) {
        let text = if self.strips { text.trim_start() } else { text };
        self.strips = false;
        self.all.push((cursor.place(), TemplatePiece::Literal(normal(text).into_owned())));
        cursor.advance(bytes);
    }

    /// Takes from each line as many characters of white space as the line with the fewest begins with.
    ///
    /// Source: `flushHeredocTemplateParts`; a line without text does not count, and one that begins with a sequence has none.
    fn flush(&mut self) {
        let mut fewest = usize::MAX;
        let mut leading = Vec::new();
        let mut begins_line = true;
        for (_, piece) in &mut self.all {
            let TemplatePiece::Literal(text) = piece else {
                fewest = if begins_line { 0 } else { fewest };
                begins_line = false;
                continue;
            };
            let (is_first, ends_line) = (begins_line, text.ends_with('\n'));
            begins_line = ends_line;
            let space = &text[..text.len() - text.trim_start().len()];
            if is_first && !(ends_line && space.len() == text.len()) {
                fewest = fewest.min(space.graphemes(true).count());
                leading.push(text);
            }
        }
        for text in leading {
            *text = text.graphemes(true).skip(fewest).collect();
        }
    }

    /// Reads `${…}` or `%{…}`, which must come next.
    fn sequence(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        if !cursor.rest().starts_with("${") && !cursor.rest().starts_with("%{") {
            return cursor.invalid();
        }
        let (at, is_interpolation) = (cursor.place(), cursor.peek() == Some(b'$'));
        cursor.advance(2);
        if cursor.peek() == Some(b'~') {
            cursor.advance(1);
            if let Some((_, TemplatePiece::Literal(before))) = self.all.last_mut() {
                before.truncate(before.trim_end().len());
            }
        }
        let piece =
            if is_interpolation { TemplatePiece::Interpolation(expression(cursor, true)?) } else { directive(cursor)? };
        self.all.push((at, piece));
        self.strips = cursor.take("~")?;
        if cursor.peek() != Some(b'}') {
            return cursor.invalid();
        }
        cursor.advance(1);
        Ok(())
    }

    /// The tree.
    fn finish(self, cursor: &mut Cursor<'_>, at: usize) -> Parsed<Node> {
        let is_alone = matches!(self.all[..], [(_, TemplatePiece::Interpolation(_))]);
        let mut pieces = self.all.into_iter();
        let (mut node, end) = branch(cursor, &mut pieces, at)?;
        match &mut node.kind {
            _ if end.is_some() => cursor.invalid(),
            NodeKind::Template(parts) if is_alone => Ok(parts.remove(0)),
            _ => Ok(Node { at, ..node }),
        }
    }
}

type Following = std::vec::IntoIter<(usize, TemplatePiece)>;

/// A string up to the end, or to a directive that closes or divides another one. Strings next to each other are one.
fn branch(cursor: &mut Cursor<'_>, pieces: &mut Following, at: usize) -> Parsed<(Node, Option<TemplatePiece>)> {
    let mut parts: Vec<Node> = Vec::new();
    let mut end = None;
    while let Some((at, piece)) = pieces.next() {
        let kind = match piece {
            TemplatePiece::Literal(text) => match parts.last_mut() {
                Some(Node { kind: NodeKind::Text(before), .. }) => {
                    before.push_str(&text);
                    continue;
                }
                _ => NodeKind::Text(text),
            },
            TemplatePiece::Interpolation(node) => NodeKind::Wrapped(Box::new(node)),
            TemplatePiece::If(condition) => cursor.nested(true, |cursor| if_directive(cursor, pieces, condition))?,
            TemplatePiece::For(names) => cursor.nested(true, |cursor| for_directive(cursor, pieces, at, names))?,
            closing => {
                end = Some(closing);
                break;
            }
        };
        parts.push(cursor.node(at, kind)?);
    }
    let node = match &mut parts[..] {
        [] => Node { at, kind: NodeKind::Text(String::new()) },
        [Node { at, kind: NodeKind::Text(text) }] => Node { at: *at, kind: NodeKind::Text(std::mem::take(text)) },
        _ => cursor.node(at, NodeKind::Template(parts))?,
    };
    Ok((node, end))
}

fn if_directive(cursor: &mut Cursor<'_>, pieces: &mut Following, condition: Node) -> Parsed<NodeKind> {
    let at = condition.at;
    let (yes, end) = branch(cursor, pieces, at)?;
    let no = match end {
        Some(TemplatePiece::EndIf) => Node { at, kind: NodeKind::Text(String::new()) },
        Some(TemplatePiece::Else) => match branch(cursor, pieces, at)? {
            (no, Some(TemplatePiece::EndIf)) => no,
            _ => return cursor.invalid(),
        },
        _ => return cursor.invalid(),
    };
    Ok(NodeKind::Conditional(Box::new([condition, yes, no])))
}

fn for_directive(cursor: &mut Cursor<'_>, pieces: &mut Following, at: usize, names: ForNames) -> Parsed<NodeKind> {
    let (key_name, value_name, collection) = names;
    let (value, Some(TemplatePiece::EndFor)) = branch(cursor, pieces, at)? else { return cursor.invalid() };
    let each = For { key_name, value_name, collection, key: None, value, condition: None, is_grouped: false };
    Ok(NodeKind::Join(Box::new(each)))
}

fn directive(cursor: &mut Cursor<'_>) -> Parsed<TemplatePiece> {
    cursor.skips_lines = true;
    Ok(match cursor.name()?.as_str() {
        "if" => TemplatePiece::If(expression(cursor, true)?),
        "for" => TemplatePiece::For(for_names(cursor)?),
        "else" => TemplatePiece::Else,
        "endif" => TemplatePiece::EndIf,
        "endfor" => TemplatePiece::EndFor,
        _ => return cursor.invalid(),
    })
}

/// How a template is written, which decides where it ends and what its literals are.
#[derive(Clone, Copy)]
enum TemplateForm<'a> {
    /// Between quotes, with escapes.
    Quoted,
    /// Up to the line with the marker alone.
    Heredoc(&'a str),
    /// To the end of the text: a string of JSON, or a file.
    Bare,
}

impl TemplateForm<'_> {
    /// The bytes of what ends the template, if that comes next.
    fn end(self, rest: &str, begins_line: bool) -> Option<usize> {
        match self {
            Self::Quoted => rest.starts_with('"').then_some(1),
            Self::Heredoc(marker) => {
                let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
                (begins_line && ends_heredoc(line, marker)).then(|| line.trim_end_matches('\r').len())
            }
            Self::Bare => rest.is_empty().then_some(0),
        }
    }

    /// The bytes of the literal that comes next. One of several lines is one literal for each of them.
    fn literal(self, rest: &str) -> usize {
        match self {
            Self::Quoted => until_quote(rest),
            Self::Heredoc(_) | Self::Bare => {
                let line = rest.find('\n').map_or(rest, |end| &rest[..=end]);
                until_sequence(line)
            }
        }
    }

    fn unescape(self, text: &str) -> Option<String> {
        match self {
            Self::Quoted => unescape(text),
            Self::Heredoc(_) | Self::Bare => Some(unescape_signs(text)),
        }
    }
}

/// Reads a template up to its end.
fn template(cursor: &mut Cursor<'_>, form: TemplateForm<'_>) -> Parsed<TemplatePieces> {
    let mut pieces = TemplatePieces::default();
    let mut begins_line = true;
    loop {
        if let Some(length) = form.end(cursor.rest(), begins_line) {
            cursor.advance(length);
            return Ok(pieces);
        }
        let literal = &cursor.rest()[..form.literal(cursor.rest())];
        begins_line = literal.ends_with('\n');
        if literal.is_empty() {
            pieces.sequence(cursor)?;
        } else if let Some(text) = form.unescape(literal) {
            pieces.literal(cursor, literal.len(), &text);
        } else {
            return cursor.invalid();
        }
    }
}

/// A string of JSON, or a file.
pub(super) fn bare(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let at = cursor.place();
    template(cursor, TemplateForm::Bare)?.finish(cursor, at)
}

/// A string in quotes.
pub(super) fn quoted(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let at = cursor.place();
    cursor.advance(1);
    // The fast way for nearly all strings: nothing to unescape, nothing to interpolate.
    let plain = cursor.rest().split_once('"').map(|(text, _)| text).filter(|text| is_plain(text));
    if let Some(text) = plain {
        cursor.advance(text.len() + 1);
        return cursor.node(at, NodeKind::Text(text.to_owned()));
    }
    template(cursor, TemplateForm::Quoted)?.finish(cursor, at)
}

/// A heredoc.
pub(super) fn heredoc(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let at = cursor.place();
    cursor.advance(2);
    let is_flush = cursor.peek() == Some(b'-');
    cursor.advance(usize::from(is_flush));
    let Some(marker) = cursor.peek_name() else { return cursor.invalid() };
    cursor.advance(marker.len());
    cursor.advance(usize::from(cursor.peek() == Some(b'\r')));
    if cursor.peek() != Some(b'\n') {
        return cursor.invalid();
    }
    cursor.advance(1);
    let mut pieces = template(cursor, TemplateForm::Heredoc(marker))?;
    if is_flush {
        pieces.flush();
    }
    pieces.finish(cursor, at)
}

/// The bytes before `${` or `%{`.
fn until_sequence(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'$', b'%', &bytes[at..]) {
        at += found;
        match &bytes[at..] {
            [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..] => at += 3,
            [_, b'{', ..] => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The same, or the bytes before the quote at the end.
fn until_quote(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, &bytes[at + 1..]) {
            // A string in quotes has one line.
            (b'"' | b'\n', _) | (b'$' | b'%', [b'{', ..]) => break,
            (b'\\', [_, ..]) => at += 2,
            (b'$', [b'$', b'{', ..]) | (b'%', [b'%', b'{', ..]) => at += 3,
            _ => at += 1,
        }
    }
    at.min(bytes.len())
}

fn unescape_signs(text: &str) -> String {
    text.replace("$${", "${").replace("%%{", "%{")
}

/// What is between quotes, without its escapes; `None` if one is none of the language.
fn unescape(text: &str) -> Option<String> {
    let mut whole = String::with_capacity(text.len());
    let mut parts = text.split('\\');
    whole.push_str(&unescape_signs(parts.next()?));
    while let Some(part) = parts.next() {
        let Some(letter) = part.chars().next() else {
            // Of two backslashes the second one has nothing before it.
            whole.push('\\');
            whole.push_str(&unescape_signs(parts.next()?));
            continue;
        };
        let digits = match letter {
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let code = part.get(1..=digits)?;
        whole.push(match letter {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '"' => '"',
            'u' | 'U' if code.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                char::from_u32(u32::from_str_radix(code, 16).ok()?).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return None,
        });
        whole.push_str(&unescape_signs(&part[1 + digits..]));
    }
    Some(whole)
}

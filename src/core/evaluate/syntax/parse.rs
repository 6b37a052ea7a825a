//! Expressions: by the precedence of their operators, then term by term.

use super::cursor::{Cursor, Parsed};
use super::{BinaryOperator, Call, For, Node, NodeKind, Step, template};

/// Reads all that is left.
pub(super) fn whole(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let node = expression(cursor, false)?;
    cursor.skips_lines = true;
    cursor.skip_blank()?;
    if cursor.peek().is_none() { Ok(node) } else { cursor.invalid() }
}

/// Reads an expression; between brackets line breaks are white space.
pub(super) fn expression(cursor: &mut Cursor<'_>, skips_lines: bool) -> Parsed<Node> {
    cursor.nested(skips_lines, conditional)
}

fn conditional(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let condition = operation(cursor, PRECEDENCES)?;
    if !cursor.take("?")? {
        return Ok(condition);
    }
    let (at, skips_lines) = (condition.at, cursor.skips_lines);
    let yes = expression(cursor, skips_lines)?;
    cursor.expect(":")?;
    let no = expression(cursor, skips_lines)?;
    cursor.node(at, NodeKind::Conditional(Box::new([condition, yes, no])))
}

type Precedence = &'static [(&'static str, BinaryOperator)];

/// Those that bind least come first; of tokens that begin alike the longer one does.
const PRECEDENCES: &[Precedence] = &[
    &[("||", BinaryOperator::Or)],
    &[("&&", BinaryOperator::And)],
    &[("==", BinaryOperator::Equal), ("!=", BinaryOperator::NotEqual)],
    &[
        (">=", BinaryOperator::GreaterOrEqual),
        ("<=", BinaryOperator::LessOrEqual),
        (">", BinaryOperator::Greater),
        ("<", BinaryOperator::Less),
    ],
    &[("+", BinaryOperator::Add), ("-", BinaryOperator::Subtract)],
    &[("*", BinaryOperator::Multiply), ("/", BinaryOperator::Divide), ("%", BinaryOperator::Modulo)],
];

fn operation(cursor: &mut Cursor<'_>, precedences: &[Precedence]) -> Parsed<Node> {
    let mut node = traversal(cursor)?;
    for (level, own) in precedences.iter().enumerate().rev() {
        cursor.skip_blank()?;
        // Nearly all values stand alone.
        if !cursor.peek().is_some_and(|byte| b"|&=!<>+-*/%".contains(&byte)) {
            break;
        }
        let mut others = Vec::new();
        while let Some(operator) = operator(cursor, own)? {
            others.push((operator, operation(cursor, &precedences[level + 1..])?));
        }
        if !others.is_empty() {
            let at = node.at;
            node = cursor.node(at, NodeKind::Operation(Box::new(node), others))?;
        }
    }
    Ok(node)
}

fn operator(cursor: &mut Cursor<'_>, own: Precedence) -> Parsed<Option<BinaryOperator>> {
    cursor.skip_blank()?;
    let found = own.iter().find(|(token, _)| cursor.rest().starts_with(token));
    if let Some((token, _)) = found {
        cursor.advance(token.len());
    }
    Ok(found.map(|(_, operator)| *operator))
}

fn traversal(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let root = term(cursor)?;
    let at = root.at;
    let mut steps = Vec::new();
    while let Some(step) = step(cursor)? {
        steps.push(step);
    }
    if steps.is_empty() { Ok(root) } else { cursor.node(at, NodeKind::Traversal(Box::new(root), steps)) }
}

fn step(cursor: &mut Cursor<'_>) -> Parsed<Option<Step>> {
    cursor.skip_blank()?;
    match cursor.peek() {
        Some(b'.') if !cursor.rest().starts_with("...") => {}
        Some(b'[') => {
            cursor.advance(1);
            return cursor.nested(true, bracketed).map(Some);
        }
        _ => return Ok(None),
    }
    if let Some(step) = attribute(cursor)? {
        return Ok(Some(step));
    }
    cursor.expect("*")?;
    // Only names and numbers belong to the elements here; a bracket is one of the whole result.
    let mut steps = Vec::new();
    loop {
        cursor.skip_blank()?;
        if cursor.peek() != Some(b'.') || cursor.rest().starts_with("...") {
            return Ok(Some(Step::Splat(steps)));
        }
        match attribute(cursor)? {
            Some(step) => steps.push(step),
            None => return cursor.invalid(),
        }
    }
}

/// `.name` or `.0`; of anything else only the point is read.
fn attribute(cursor: &mut Cursor<'_>) -> Parsed<Option<Step>> {
    cursor.advance(1);
    cursor.skip_blank()?;
    if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        let index = number(cursor)?;
        let is_whole = matches!(&index.kind, NodeKind::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit()));
        return if is_whole { Ok(Some(Step::Index(index))) } else { cursor.invalid() };
    }
    if cursor.peek_name().is_some() { cursor.name().map(|name| Some(Step::Name(name))) } else { Ok(None) }
}

/// What is in brackets behind a term, with the bracket at its end.
fn bracketed(cursor: &mut Cursor<'_>) -> Parsed<Step> {
    if !cursor.take("*")? {
        let key = expression(cursor, true)?;
        cursor.expect("]")?;
        return Ok(Step::Index(key));
    }
    cursor.expect("]")?;
    let mut steps = Vec::new();
    while let Some(step) = step(cursor)? {
        steps.push(step);
    }
    Ok(Step::Splat(steps))
}

fn term(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    cursor.skip_blank()?;
    let (at, skips_lines) = (cursor.place(), cursor.skips_lines);
    match cursor.peek() {
        Some(b'"') => cursor.nested(true, template::quoted),
        Some(b'0'..=b'9') => number(cursor),
        Some(b'(') => {
            cursor.advance(1);
            let inner = expression(cursor, true)?;
            cursor.expect(")")?;
            Ok(inner)
        }
        Some(sign @ (b'-' | b'!')) => {
            cursor.advance(1);
            let operand = Box::new(cursor.nested(skips_lines, traversal)?);
            cursor.node(at, if sign == b'-' { NodeKind::Negation(operand) } else { NodeKind::Not(operand) })
        }
        Some(b'[') => {
            cursor.advance(1);
            cursor.nested(true, tuple)
        }
        Some(b'{') => {
            cursor.advance(1);
            cursor.nested(true, braces)
        }
        Some(b'<') if cursor.rest().starts_with("<<") => cursor.nested(true, template::heredoc),
        _ => word(cursor),
    }
}

/// A number as written: its sign is an operator.
fn number(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let (at, bytes) = (cursor.place(), cursor.rest().as_bytes());
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(length) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = if length + 1 + sign <= bytes.len() { digits(length + 1 + sign) } else { 0 };
        length += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    let text = cursor.rest()[..length].into();
    cursor.advance(length);
    cursor.node(at, NodeKind::Number(text))
}

/// A constant, a name, or the call of a function.
fn word(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let at = cursor.place();
    let mut name = cursor.name()?;
    while cursor.take("::")? {
        name += "::";
        name += &cursor.name()?;
    }
    if cursor.take("(")? {
        return cursor.nested(true, |cursor| arguments(cursor, at, name));
    }
    let kind = match name.as_str() {
        "null" => NodeKind::Null,
        "true" => NodeKind::Bool(true),
        "false" => NodeKind::Bool(false),
        _ if name.contains(':') => return cursor.invalid(),
        _ => NodeKind::Name(name),
    };
    cursor.node(at, kind)
}

fn arguments(cursor: &mut Cursor<'_>, at: usize, name: String) -> Parsed<Node> {
    let mut call = Call { name, arguments: Vec::new(), is_expanded: false };
    while !cursor.take(")")? {
        call.arguments.push(expression(cursor, true)?);
        if cursor.take("...")? {
            call.is_expanded = true;
            cursor.expect(")")?;
            break;
        }
        if !cursor.take(",")? {
            cursor.expect(")")?;
            break;
        }
    }
    cursor.node(at, NodeKind::Call(call))
}

fn tuple(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let at = cursor.place().saturating_sub(1);
    if cursor.take_word("for")? {
        let each = for_parts(cursor, false)?;
        cursor.expect("]")?;
        return cursor.node(at, NodeKind::For(Box::new(each)));
    }
    let mut items = Vec::new();
    while !cursor.take("]")? {
        items.push(expression(cursor, true)?);
        if !cursor.take(",")? {
            cursor.expect("]")?;
            break;
        }
    }
    cursor.node(at, NodeKind::Tuple(items))
}

fn braces(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let at = cursor.place().saturating_sub(1);
    if cursor.take_word("for")? {
        let each = for_parts(cursor, true)?;
        cursor.expect("}")?;
        return cursor.node(at, NodeKind::For(Box::new(each)));
    }
    let mut pairs = Vec::new();
    while !cursor.take("}")? {
        pairs.push((key(cursor)?, value_of_key(cursor)?));
        // A comma or the end of the line, or the end of all.
        cursor.skips_lines = false;
        cursor.skip_blank()?;
        let goes_on = matches!(cursor.peek(), Some(b',' | b'\n' | b'}')) || cursor.rest().starts_with("\r\n");
        cursor.advance(usize::from(cursor.peek() == Some(b',')));
        cursor.skips_lines = true;
        if !goes_on {
            return cursor.invalid();
        }
    }
    cursor.node(at, NodeKind::Object(pairs))
}

/// A key: a name alone is a string, and so are the words for constants.
///
/// Source: `ObjectConsKeyExpr`. A reference in parentheses is one that is evaluated.
fn key(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    let is_free = cursor.peek() == Some(b'(');
    let key = expression(cursor, false)?;
    match key.as_reference() {
        Some((name, [])) if !is_free => Ok(Node { at: key.at, kind: NodeKind::Text(name.to_owned()) }),
        Some(_) if is_free => Ok(Node { at: key.at, kind: NodeKind::Wrapped(Box::new(key)) }),
        _ => Ok(key),
    }
}

fn value_of_key(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    cursor.skips_lines = false;
    if !cursor.take("=")? {
        cursor.expect(":")?;
    }
    expression(cursor, false)
}

/// What is behind the word `for`, up to the bracket at the end.
fn for_parts(cursor: &mut Cursor<'_>, makes_object: bool) -> Parsed<For> {
    let (key_name, value_name, collection) = for_names(cursor)?;
    cursor.expect(":")?;
    let first = expression(cursor, true)?;
    let (key, value) = if makes_object {
        cursor.expect("=>")?;
        (Some(first), expression(cursor, true)?)
    } else {
        (None, first)
    };
    let is_grouped = makes_object && cursor.take("...")?;
    let condition = if cursor.take_word("if")? { Some(expression(cursor, true)?) } else { None };
    Ok(For { key_name, value_name, collection, key, value, condition, is_grouped })
}

/// `[key,] value in collection`.
pub(super) fn for_names(cursor: &mut Cursor<'_>) -> Parsed<(Option<String>, String, Node)> {
    let first = cursor.name()?;
    let (key_name, value_name) = if cursor.take(",")? { (Some(first), cursor.name()?) } else { (None, first) };
    if !cursor.take_word("in")? {
        return cursor.invalid();
    }
    Ok((key_name, value_name, expression(cursor, true)?))
}

//! Upper and lower case, one code point at a time: `ß` has no upper case letter for Go.
//!
//! Source: Go's `strings`, `ToUpper`, `ToLower`, `Title`; `unicode.To`.

use super::text;
use crate::value::{Budget, Unevaluated, Value};

pub(super) fn upper(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(text(arguments, 0).chars().map(upper_case).collect::<String>()))
}

pub(super) fn lower(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(text(arguments, 0).chars().map(lower_case).collect::<String>()))
}

/// With the first letter of each word in title case.
pub(super) fn title(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let mut before = ' ';
    let titled = text(arguments, 0).chars().map(|c| {
        let starts_word = is_separator(before);
        before = c;
        if starts_word { title_case(c) } else { c }
    });
    Ok(Value::text(titled.collect::<String>()))
}

/// Source: Go's `strings`, `isSeparator`.
fn is_separator(c: char) -> bool {
    if c.is_ascii() { !c.is_ascii_alphanumeric() && c != '_' } else { c.is_whitespace() }
}

fn upper_case(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        // Letters with an iota below: their capital is one code point.
        _ => match u32::from(c) {
            code @ (0x1f80..=0x1faf) => char::from_u32(code | 8).unwrap_or(c),
            0x1fb3 => '\u{1fbc}',
            0x1fc3 => '\u{1fcc}',
            0x1ff3 => '\u{1ffc}',
            _ => c,
        },
    }
}

fn lower_case(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn title_case(c: char) -> char {
    match u32::from(c) {
        0x1c4..=0x1c6 => '\u{1c5}',
        0x1c7..=0x1c9 => '\u{1c8}',
        0x1ca..=0x1cc => '\u{1cb}',
        0x1f1..=0x1f3 => '\u{1f2}',
        // Georgian letters have capitals, and no title case.
        0x10d0..=0x10ff => c,
        _ => upper_case(c),
    }
}

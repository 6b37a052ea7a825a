//! Lines of a native text: where they begin and end, how they are indented, and which comments belong to what.

use std::ops::Range;

/// The default step of indentation, that of `terraform fmt`.
pub(super) const UNIT: &str = "  ";

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The line break that a text uses, by its first one.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Where the line with a byte begins, behind a byte order mark.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind('\n') {
        Some(before) => before + 1,
        None if text.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len().min(at),
        None => 0,
    }
}

/// The white space that the line with a byte begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at.max(line_start(text, at))];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation: what the inner indentation has more than the outer one, if it has.
pub(super) fn unit<'a>(outer: &str, inner: &'a str) -> &'a str {
    match inner.strip_prefix(outer) {
        Some(more) if !more.is_empty() => more,
        _ if inner.contains('\t') => "\t",
        _ => UNIT,
    }
}

/// The end of a line, behind its line break, from a byte where neither a string nor a comment is open.
///
/// Comments are skipped, and with them the lines that they span.
pub(super) fn line_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => return at + 1,
            b'#' => at = rest_of_line(text, at),
            b'/' if bytes[at..].starts_with(b"//") => at = rest_of_line(text, at),
            b'/' if bytes[at..].starts_with(b"/*") => at = comment_end(text, at),
            _ => at += 1,
        }
    }
    at
}

fn rest_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length)
}

fn comment_end(text: &str, at: usize) -> usize {
    text.get(at + 2..).and_then(|rest| rest.find("*/")).map_or(text.len(), |length| at + 2 + length + 2)
}

/// The start of the comments directly above an item, without a blank line in between; else the item's line.
///
/// `floor` is the beginning of a line between which and the item there are only comments and white space.
pub(super) fn comments_above(text: &str, floor: usize, item: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut start, mut at, mut has_comment) = (floor, floor, false);
    while at < item {
        match bytes[at] {
            b'\n' => {
                at += 1;
                if !has_comment {
                    start = at;
                }
                has_comment = false;
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                at = comment_end(text, at);
                has_comment = true;
            }
            b'#' | b'/' => {
                at = rest_of_line(text, at);
                has_comment = true;
            }
            _ => at += 1,
        }
    }
    start.min(item)
}

/// The blank line that begins at a byte, if one does.
pub(super) fn blank_line_at(text: &str, at: usize) -> Option<Range<usize>> {
    let end = at + text[at..].find('\n')? + 1;
    text[at..end].trim().is_empty().then_some(at..end)
}

/// The blank line that ends at a byte, if one does.
pub(super) fn blank_line_before(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text[..at].strip_suffix('\n')?;
    let start = line_start(text, before.len());
    text[start..at].trim().is_empty().then_some(start..at)
}

/// A quoted string of HCL with the given value; It is valid JSON too if it contains neither `${` nor `%{`.
pub(super) fn quoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ => text.push(character),
        }
    }
    text.push('"');
    text.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_ends_beyond_their_comments() {
        assert_eq!(line_end("a = 1 # x\nb", 5), 10);
        assert_eq!(line_end("a = 1 /* x\n y */ // z\nb", 5), 22);
        assert_eq!(line_end("a = 1", 5), 5);
        assert_eq!(line_end("a /*", 1), 4);
    }

    #[test]
    fn comments_belong_to_what_follows_directly() {
        let above = |text: &str| comments_above(text, 0, text.find("item").unwrap());
        assert_eq!(above("# a\n# b\n  item"), 0);
        assert_eq!(above("# a\n\n# b\n  item"), 5);
        assert_eq!(above("# a\n\n  item"), 5);
        assert_eq!(above("/* a\n\n b */\n item"), 0);
        assert_eq!(above("\n/* a\n */ item"), 1);
    }

    #[test]
    fn blank_lines() {
        assert_eq!(blank_line_at("a\n \nb", 2), Some(2..4));
        assert_eq!(blank_line_at("a\n \nb", 0), None);
        assert_eq!(blank_line_at("a", 1), None);
        assert_eq!(blank_line_before("a\n\r\nb", 4), Some(2..4));
        assert_eq!(blank_line_before("a\nb", 2), None);
    }

    #[test]
    fn indentation() {
        assert_eq!(indent("a\n\t b", 4), "\t ");
        assert_eq!(indent("\u{feff}  a", 5), "  ");
        assert_eq!(unit("  ", "      "), "    ");
        assert_eq!(unit("\t", "\t\t"), "\t");
        assert_eq!(unit("  ", "  "), "  ");
    }
}

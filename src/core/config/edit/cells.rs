//! The parts of a line that `terraform fmt` aligns: what comes before an equals sign, what after, and a comment.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclwrite/format.go`, `linesForFormat`.

use std::ops::Range;

use crate::hcl::ends_heredoc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The line without its line break.
    pub(super) range: Range<usize>,
    /// Its first equals sign that has something before it.
    pub(super) equals: Option<usize>,
    /// True if the equals sign is followed by a whole expression, as far as brackets show.
    pub(super) whole: bool,
    /// A comment up to the end of the line that has something before it.
    pub(super) comment: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
enum Frame {
    Bracket,
    Interpolation,
    Quote,
}

/// The lines of a range, which begins in code. Lines that a heredoc or a comment reaches over have no parts.
pub(super) fn lines(text: &str, range: Range<usize>) -> Vec<Line> {
    let bytes = &text.as_bytes()[..range.end];
    let mut reader = Reader { text, bytes, at: range.start, frames: Vec::new(), lines: Vec::new(), line: fresh(0) };
    reader.line = fresh(range.start);
    while let Some(byte) = bytes.get(reader.at) {
        if reader.frames.last() == Some(&Frame::Quote) { reader.quoted(*byte) } else { reader.code(*byte) }
    }
    reader.end_line();
    reader.lines
}

#[derive(Debug)]
struct Open {
    start: usize,
    has_code: bool,
    equals: Option<usize>,
    brackets: i32,
    comment: Option<usize>,
    opaque: bool,
}

fn fresh(start: usize) -> Open {
    Open { start, has_code: false, equals: None, brackets: 0, comment: None, opaque: false }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    frames: Vec<Frame>,
    lines: Vec<Line>,
    line: Open,
}

impl Reader<'_> {
    /// Ends the line before the line break at which the reader is.
    fn end_line(&mut self) {
        let line = std::mem::replace(&mut self.line, fresh(self.at + 1));
        let mut end = self.at;
        if end > line.start && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        let seen = !line.opaque;
        self.lines.push(Line {
            range: line.start..end,
            equals: line.equals.filter(|_| seen),
            whole: line.brackets == 0,
            comment: line.comment.filter(|_| seen),
        });
        self.at += 1;
    }

    fn code(&mut self, byte: u8) {
        let rest = &self.bytes[self.at..];
        match byte {
            b'\n' => return self.end_line(),
            b' ' | b'\t' | b'\r' => return self.at += 1,
            b'#' => return self.comment(),
            b'/' if rest.starts_with(b"//") => return self.comment(),
            b'/' if rest.starts_with(b"/*") => return self.inline_comment(),
            b'"' => self.frames.push(Frame::Quote),
            b'(' | b'[' | b'{' => self.open(Frame::Bracket),
            b')' | b']' | b'}' => {
                self.frames.pop();
                self.line.brackets -= i32::from(self.line.equals.is_some());
            }
            b'<' if rest.starts_with(b"<<") && self.heredoc() => return,
            b'=' | b'!' | b'<' | b'>' => return self.operator(byte),
            _ => {}
        }
        self.line.has_code = true;
        self.at += 1;
    }

    fn operator(&mut self, byte: u8) {
        let double = matches!((byte, self.bytes.get(self.at + 1)), (_, Some(b'=')) | (b'=', Some(b'>')));
        if byte == b'=' && !double && self.line.has_code {
            self.line.equals.get_or_insert(self.at);
        }
        self.line.has_code = true;
        self.at += 1 + usize::from(double);
    }

    fn quoted(&mut self, byte: u8) {
        let rest = &self.bytes[self.at..];
        match byte {
            b'"' | b'\n' => {
                self.frames.pop();
                if byte == b'\n' {
                    return;
                }
            }
            b'\\' => self.at += usize::from(rest.get(1).is_some_and(|next| *next != b'\n')),
            b'$' | b'%' if rest.get(1) == Some(&byte) && rest.get(2) == Some(&b'{') => self.at += 2,
            b'$' | b'%' if rest.get(1) == Some(&b'{') => {
                self.at += 1;
                self.open(Frame::Interpolation);
            }
            _ => {}
        }
        self.at += 1;
    }

    fn open(&mut self, frame: Frame) {
        self.frames.push(frame);
        self.line.brackets += i32::from(self.line.equals.is_some());
    }

    fn comment(&mut self) {
        if self.line.has_code {
            self.line.comment = Some(self.at);
        }
        self.at = memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |length| self.at + length);
    }

    fn inline_comment(&mut self) {
        let end = self.text[self.at + 2..self.bytes.len()].find("*/").map(|length| self.at + 2 + length + 2);
        self.skip_over(end.unwrap_or(self.bytes.len()));
        self.line.has_code = true;
    }

    /// Skips a heredoc, if one begins here.
    fn heredoc(&mut self) -> bool {
        let rest = &self.text[self.at..self.bytes.len()];
        let name = rest[2..].strip_prefix('-').unwrap_or(&rest[2..]);
        let Some((first, _)) = name.split_once('\n') else { return false };
        let marker = first.trim_end_matches('\r');
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
        if marker.is_empty() || !marker.chars().all(is_name) {
            return false;
        }
        let mut end = self.at + (rest.len() - name.len()) + first.len() + 1;
        for line in self.text[end..self.bytes.len()].split_inclusive('\n') {
            if ends_heredoc(line, marker) {
                end += line.trim_end().len();
                break;
            }
            end += line.len();
        }
        self.skip_over(end);
        self.line.has_code = true;
        true
    }

    /// Goes on to a byte. Lines that end before it have no parts, and neither has the one that it is on then.
    fn skip_over(&mut self, end: usize) {
        let end = end.min(self.bytes.len());
        while let Some(length) = memchr::memchr(b'\n', &self.bytes[self.at..end]) {
            self.at += length;
            self.line.opaque = true;
            self.end_line();
            self.line.opaque = true;
        }
        self.at = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The parts of each line, `|` between them.
    fn parts(text: &str) -> Vec<String> {
        let show = |line: Line| {
            let mut shown = text[line.range.clone()].to_owned();
            if let Some(at) = line.comment {
                shown.insert(at - line.range.start, '|');
            }
            if let Some(at) = line.equals {
                shown.insert(at - line.range.start, if line.whole { '|' } else { '!' });
            }
            shown
        };
        lines(text, 0..text.len()).into_iter().map(show).collect()
    }

    #[test]
    fn parts_of_lines() {
        assert_eq!(parts("a = 1 # x\nb {\r\n}"), ["a |= 1 |# x", "b {", "}"]);
        assert_eq!(parts("a = { b = 1 }"), ["a |= { b = 1 }"]);
        assert_eq!(parts("a = { # x\n} // y"), ["a != { |# x", "} |// y"]);
        assert_eq!(parts("a = \"# ${\"}\"} \\\" =\" # x"), ["a |= \"# ${\"}\"} \\\" =\" |# x"]);
        assert_eq!(parts("# a = 1\n = 2"), ["# a = 1", " = 2"]);
        assert_eq!(parts("a == b\nc >= d = 1\ne => f"), ["a == b", "c >= d |= 1", "e => f"]);
        assert_eq!(parts("/* a\n = */ b = 1\nc = 2"), ["/* a", " = */ b = 1", "c |= 2"]);
        assert_eq!(parts("a = <<-E\n b = 1 # c\n E\nd = 1"), ["a = <<-E", " b = 1 # c", " E", "d |= 1"]);
        assert_eq!(parts("a = 1 << 2 # c"), ["a |= 1 << 2 |# c"]);
    }

    proptest! {
        #[test]
        fn each_line_comes_once(text in "[a=<#/*\"${}\\\\\n\r é-]{0,40}") {
            let found = lines(&text, 0..text.len());
            prop_assert_eq!(found.len(), 1 + text.matches('\n').count());
        }
    }
}

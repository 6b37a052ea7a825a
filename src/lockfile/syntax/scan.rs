//! Text to tokens, and the complaints about characters that mean nothing.
//!
//! The language has no regular tokens: what a character means depends on the brackets, quotes and heredocs around it.
//! The scanner keeps a stack of them.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclsyntax/scan_tokens.rl` and `token.go`.

use icu_properties::CodePointSetData;
use icu_properties::props::{IdContinue, IdStart};

use super::token::{Kind, Operator, Token};
use super::{Problem, Source};

/// More tokens than any lock file below the limit of its size needs.
const MOST_TOKENS: usize = 4_000_000;

/// More complaints about single characters than anybody reads.
const MOST_COMPLAINTS: usize = 1000;

/// What the innermost open thing is.
enum Mode<'a> {
    /// Outside of strings; the depth of braces at which a template sequence ends, if in one.
    Code {
        sequence: Option<usize>,
    },
    Quoted,
    Heredoc {
        marker: &'a str,
        at_line_start: bool,
    },
}

/// Cuts a text into tokens, the last of which is [`Kind::End`].
pub(super) fn scan(source: &Source<'_>) -> (Vec<Token>, Vec<Problem>) {
    let mut scanner = Scanner {
        text: &source.text,
        not_utf8: &source.not_utf8,
        at: 0,
        braces: 0,
        no_more_comments: false,
        modes: vec![Mode::Code { sequence: None }],
        tokens: Vec::new(),
        complaints: Complaints::default(),
    };
    while scanner.at < scanner.text.len() && scanner.tokens.len() < MOST_TOKENS {
        scanner.step();
    }
    if scanner.at < scanner.text.len() {
        let message = format!("more than {MOST_TOKENS} tokens; this is no dependency lock file");
        scanner.complaints.problems.push(Problem { at: scanner.at, message });
    }
    let end = scanner.text.len();
    scanner.tokens.push(Token::new(Kind::End, end..end));
    (scanner.tokens, scanner.complaints.problems)
}

struct Scanner<'s> {
    text: &'s str,
    /// Offsets of bytes that are not UTF-8, where the text has a stand-in.
    not_utf8: &'s [usize],
    at: usize,
    braces: usize,
    /// True once a `/*` was seen that nothing closes.
    no_more_comments: bool,
    modes: Vec<Mode<'s>>,
    tokens: Vec<Token>,
    complaints: Complaints,
}

impl<'s> Scanner<'s> {
    fn step(&mut self) {
        while self.not_utf8.first().is_some_and(|at| *at < self.at) {
            self.not_utf8 = &self.not_utf8[1..];
        }
        match self.modes.last() {
            Some(Mode::Quoted) => self.quoted(),
            Some(Mode::Heredoc { marker, at_line_start }) => {
                let (marker, at_line_start) = (*marker, *at_line_start);
                self.heredoc(marker, at_line_start);
            }
            Some(Mode::Code { .. }) | None => self.code(),
        }
    }

    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let span = self.at..self.at + length;
        self.complaints.look_at(kind, span.start, &self.text[span.clone()]);
        self.at = span.end;
        self.tokens.push(Token::new(kind, span));
    }

    /// Takes the byte here if it is not UTF-8.
    fn bad_byte(&mut self) -> bool {
        let bad = self.not_utf8.first() == Some(&self.at);
        if bad {
            self.push(Kind::NotUtf8, 1);
        }
        bad
    }

    fn code(&mut self) {
        if self.bad_byte() {
            return;
        }
        let rest = self.rest();
        let bytes = rest.as_bytes();
        match bytes[0] {
            b' ' | b'\t' => self.at += 1,
            b'\n' => self.push(Kind::Newline, 1),
            b'\r' if bytes.get(1) == Some(&b'\n') => self.push(Kind::Newline, 2),
            b'"' => {
                self.push(Kind::OpenQuote, 1);
                self.modes.push(Mode::Quoted);
            }
            b'0'..=b'9' => self.push(Kind::Number, number_length(bytes)),
            b'#' => self.line_comment(),
            b'/' if bytes.get(1) == Some(&b'/') => self.line_comment(),
            b'{' => {
                self.braces += 1;
                self.push(Kind::OpenBrace, 1);
            }
            b'}' => self.close_brace(1),
            b'~' if bytes.get(1) == Some(&b'}') => self.close_brace(2),
            b'/' if bytes.get(1) == Some(&b'*') && !self.no_more_comments => self.block_comment(),
            b'<' if bytes.get(1) == Some(&b'<') && heredoc_marker(rest).is_some() => self.open_heredoc(),
            _ => match identifier_length(rest) {
                0 => {
                    let (kind, length) = symbol(bytes);
                    let length = length.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
                    self.push(kind, length);
                }
                length => self.push(Kind::Ident, length),
            },
        }
    }

    /// A comment may hold any bytes.
    fn line_comment(&mut self) {
        match memchr::memchr(b'\n', self.rest().as_bytes()) {
            Some(end) => self.push(Kind::LineComment, end + 1),
            None => self.push(Kind::Comment, self.rest().len()),
        }
    }

    /// One that is never closed is no comment but a division.
    fn block_comment(&mut self) {
        match self.rest()[2..].find("*/") {
            Some(end) => self.push(Kind::Comment, end + 4),
            None => self.no_more_comments = true,
        }
    }

    fn close_brace(&mut self, length: usize) {
        let here = matches!(self.modes.last(), Some(Mode::Code { sequence: Some(depth) }) if *depth == self.braces);
        if here {
            self.modes.pop();
        }
        self.braces = self.braces.saturating_sub(1);
        self.push(if here || length == 2 { Kind::CloseSequence } else { Kind::CloseBrace }, length);
    }

    fn open_heredoc(&mut self) {
        if let Some((marker, length)) = heredoc_marker(self.rest()) {
            self.push(Kind::OpenHeredoc, length);
            self.modes.push(Mode::Heredoc { marker, at_line_start: true });
        }
    }

    fn open_sequence(&mut self, directive: bool) {
        let length = if self.rest().as_bytes().get(2) == Some(&b'~') { 3 } else { 2 };
        self.push(if directive { Kind::OpenDirective } else { Kind::OpenInterpolation }, length);
        self.braces += 1;
        if let Some(Mode::Heredoc { at_line_start, .. }) = self.modes.last_mut() {
            *at_line_start = false;
        }
        self.modes.push(Mode::Code { sequence: Some(self.braces) });
    }

    fn quoted(&mut self) {
        if self.bad_byte() {
            return;
        }
        let bytes = self.rest().as_bytes();
        match bytes[0] {
            b'"' => {
                self.push(Kind::CloseQuote, 1);
                self.modes.pop();
            }
            b'\r' | b'\n' => {
                let length = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
                self.push(Kind::QuotedNewline, length);
            }
            sign @ (b'$' | b'%') if bytes.get(1) == Some(&b'{') => self.open_sequence(sign == b'%'),
            _ => match self.literal_length(true) {
                0 => self.push(Kind::Invalid, 1),
                length => self.push(Kind::Literal, length),
            },
        }
    }

    fn heredoc(&mut self, marker: &str, at_line_start: bool) {
        if self.bad_byte() {
            return;
        }
        let rest = self.rest();
        let bytes = rest.as_bytes();
        if matches!(bytes[0], b'$' | b'%') && bytes.get(1) == Some(&b'{') {
            return self.open_sequence(bytes[0] == b'%');
        }
        let length = self.literal_length(false);
        let line_end = rest[length..].bytes().next() == Some(b'\n');
        if line_end && at_line_start && rest[..length].trim() == marker {
            self.push(Kind::CloseHeredoc, rest[..length].trim_end_matches('\r').len());
            self.modes.pop();
            return;
        }
        if let Some(Mode::Heredoc { at_line_start, .. }) = self.modes.last_mut() {
            *at_line_start = line_end;
        }
        // A carriage return without a line feed means nothing, not even here.
        if length == 0 && !line_end {
            return self.push(Kind::Invalid, 1);
        }
        self.push(Kind::Literal, length + usize::from(line_end));
    }

    /// How far literal text reaches: to the end of the string or line, or to a template sequence.
    fn literal_length(&self, quoted: bool) -> usize {
        let bytes = self.rest().as_bytes();
        let limit = self.not_utf8.first().map_or(bytes.len(), |bad| (bad - self.at).min(bytes.len()));
        let mut at = 0;
        while at < limit {
            match bytes[at] {
                b'\n' => return at,
                b'\r' if quoted || bytes.get(at + 1) != Some(&b'\n') => return at,
                b'"' if quoted => return at,
                b'\\' if quoted => match bytes.get(at + 1) {
                    None | Some(b'\r' | b'\n') => return at,
                    Some(next) => at += 1 + utf8_length(*next),
                },
                sign @ (b'$' | b'%') => match bytes.get(at + 1) {
                    Some(b'{') => return at,
                    Some(next) if *next == sign && bytes.get(at + 2) == Some(&b'{') => at += 3,
                    _ => at += 1,
                },
                _ => at += 1,
            }
        }
        at.min(limit)
    }
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// A run of digits, dots and exponents that does not end in a dot; whether it is a number is asked later.
fn number_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    loop {
        at += match (bytes.get(at), bytes.get(at + 1), bytes.get(at + 2)) {
            (Some(b'0'..=b'9' | b'.'), _, _) => 1,
            (Some(b'e' | b'E'), Some(b'0'..=b'9'), _) => 2,
            (Some(b'e' | b'E'), Some(b'+' | b'-'), Some(b'0'..=b'9')) => 3,
            _ => break,
        };
    }
    bytes[..at].iter().rposition(|byte| *byte != b'.').map_or(1, |last| last + 1)
}

fn identifier_length(text: &str) -> usize {
    let starts = |c: char| c == '_' || if c.is_ascii() { c.is_ascii_alphabetic() } else { is_id_start(c) };
    let goes_on = |c: char| {
        if c.is_ascii() { c.is_ascii_alphanumeric() || matches!(c, '_' | '-') } else { is_id_continue(c) }
    };
    if text.starts_with(starts) { text.find(|c| !goes_on(c)).unwrap_or(text.len()) } else { 0 }
}

fn is_id_start(c: char) -> bool {
    CodePointSetData::new::<IdStart>().contains(c)
}

fn is_id_continue(c: char) -> bool {
    CodePointSetData::new::<IdContinue>().contains(c)
}

/// The marker of `<<EOT` or `<<-EOT` and the length of the introduction with its line end.
fn heredoc_marker(text: &str) -> Option<(&str, usize)> {
    let dash = usize::from(text[2..].starts_with('-'));
    let name = &text[2 + dash..];
    let length = identifier_length(name);
    let line_end = if name[length..].starts_with("\r\n") { 2 } else { usize::from(name[length..].starts_with('\n')) };
    (length > 0 && line_end > 0).then(|| (&name[..length], 2 + dash + length + line_end))
}

/// Everything else; without a length for a character that is not part of the language.
fn symbol(bytes: &[u8]) -> (Kind, Option<usize>) {
    use Kind::Operator as Op;
    let (kind, length) = match (bytes[0], bytes.get(1), bytes.get(2)) {
        (b'=', Some(b'='), _) => (Op(Operator::Equal), 2),
        (b'=', Some(b'>'), _) => (Kind::FatArrow, 2),
        (b'=', ..) => (Kind::Equal, 1),
        (b'!', Some(b'='), _) => (Op(Operator::NotEqual), 2),
        (b'!', ..) => (Kind::Bang, 1),
        (b'<', Some(b'='), _) => (Op(Operator::LessOrEqual), 2),
        (b'<', ..) => (Op(Operator::Less), 1),
        (b'>', Some(b'='), _) => (Op(Operator::GreaterOrEqual), 2),
        (b'>', ..) => (Op(Operator::Greater), 1),
        (b'&', Some(b'&'), _) => (Op(Operator::And), 2),
        (b'|', Some(b'|'), _) => (Op(Operator::Or), 2),
        (b'+', ..) => (Op(Operator::Plus), 1),
        (b'-', ..) => (Op(Operator::Minus), 1),
        (b'*', ..) => (Op(Operator::Times), 1),
        (b'/', ..) => (Op(Operator::Divide), 1),
        (b'%', ..) => (Op(Operator::Remainder), 1),
        (b'.', Some(b'.'), Some(b'.')) => (Kind::Ellipsis, 3),
        (b'.', ..) => (Kind::Dot, 1),
        (b':', Some(b':'), _) => (Kind::DoubleColon, 2),
        (b':', ..) => (Kind::Colon, 1),
        (b',', ..) => (Kind::Comma, 1),
        (b'?', ..) => (Kind::Question, 1),
        (b'[', ..) => (Kind::OpenBracket, 1),
        (b']', ..) => (Kind::CloseBracket, 1),
        (b'(', ..) => (Kind::OpenParen, 1),
        (b')', ..) => (Kind::CloseParen, 1),
        _ => return (Kind::Invalid, None),
    };
    (kind, Some(length))
}

/// What is said about characters without meaning: a little less than there is to say.
#[derive(Default)]
struct Complaints {
    problems: Vec<Problem>,
    bitwise: usize,
    quotes: usize,
    backticks: usize,
    semicolons: usize,
    encoding: usize,
}

impl Complaints {
    fn look_at(&mut self, kind: Kind, at: usize, text: &str) {
        let message = match kind {
            Kind::NotUtf8 => first(&mut self.encoding, 1).then(|| "not UTF-8".to_owned()),
            Kind::QuotedNewline => Some("a quoted string cannot go over several lines".to_owned()),
            Kind::Invalid => self.character(text),
            _ => None,
        };
        if let Some(message) = message
            && self.problems.len() < MOST_COMPLAINTS
        {
            self.problems.push(Problem { at, message });
        }
    }

    fn character(&mut self, text: &str) -> Option<String> {
        let wanted = match text {
            "&" | "|" | "^" | "~" => first(&mut self.bitwise, 4),
            ";" => first(&mut self.semicolons, 1),
            "'" => every_other(&mut self.quotes),
            "`" => every_other(&mut self.backticks),
            _ => true,
        };
        wanted.then(|| match text {
            "'" => "strings are enclosed in double quotes".to_owned(),
            ";" => "arguments end with a line end, not with a semicolon".to_owned(),
            _ => format!("invalid character {text:?}"),
        })
    }
}

fn first(count: &mut usize, most: usize) -> bool {
    *count += 1;
    *count <= most
}

/// The first and the third: what opens, not what closes.
fn every_other(count: &mut usize) -> bool {
    let told = count.is_multiple_of(2);
    *count = (*count + 1).min(3);
    told
}

//! A scanner for the outline of native syntax: the blocks and arguments of a body, and their places.
//!
//! It checks structure everywhere (brackets, strings, heredocs, comments, block headers) and looks into nothing: values
//! and nested bodies come out as byte ranges. A nested body can be scanned again by its range. Parsing every expression
//! with a general parser costs twenty times as much, and few of them matter here.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclsyntax/scan_tokens.rl` and `hclsyntax/parser.go`.
//!
//! Block headers: labels up to the opening brace.

mod expression;
#[cfg(test)]
mod peer_tests;
#[cfg(test)]
mod tests;

use std::ops::Range;

use icu_properties::CodePointSetData;
use icu_properties::props::{IdContinue, IdStart};

use expression::Frame;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline<'a> {
    /// The arguments, in order, duplicates kept.
    pub arguments: Vec<ArgumentSpan<'a>>,
    /// The blocks, in order.
    pub blocks: Vec<BlockSpan<'a>>,
    /// All comments, at any depth, in order; those up to the end of a line without its line feed.
    pub comments: Vec<Range<usize>>,
}

/// `name = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentSpan<'a> {
    pub name: &'a str,
    pub at: usize,
    /// The value without surrounding white space and comments.
    pub value: Range<usize>,
}

/// `kind "label" { … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSpan<'a> {
    pub kind: &'a str,
    pub at: usize,
    pub labels: Vec<LabelSpan<'a>>,
    pub body: Range<usize>,
    /// The value of the argument `provider` of the body itself: of most blocks nothing else matters.
    pub provider: Option<Range<usize>>,
}

/// A label, quoted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSpan<'a> {
    /// The text between the quotes, escapes as written.
    pub raw: &'a str,
    /// Where it begins, with its quote.
    pub at: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanError {
    pub at: usize,
    pub kind: StructureError,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    #[error("unclosed block")]
    UnclosedBlock,
    #[error("unclosed {0:?}")]
    UnclosedBracket(char),
    #[error("unexpected closing bracket {0:?}")]
    UnexpectedBracket(char),
    #[error("this string is not terminated")]
    UnterminatedString,
    #[error("a quoted string must not span lines; use a heredoc or the escape sequence \\n")]
    NewlineInString,
    #[error("this heredoc has no end marker")]
    UnterminatedHeredoc,
    /// A `/*` without `*/`.
    #[error("this comment is not terminated")]
    UnterminatedComment,
    #[error("an argument or block definition is required here")]
    NotAnItem,
    #[error("argument names must not be quoted")]
    QuotedName,
    /// A character that never appears in code outside of strings and comments.
    #[error("the character {0:?} cannot appear here")]
    Character(char),
    /// Neither `=` nor labels and `{` after a name.
    #[error("to set an argument, use the equals sign; to open a block, use \"{{\" on the same line as its header")]
    Header,
    /// `${` in a label.
    #[error("template sequences are not allowed in a block label")]
    TemplateInLabel,
    /// `provider` twice in one body; of other arguments no count is kept here.
    #[error("the argument \"provider\" is set twice")]
    Redefined,
    /// Nothing after `=`.
    #[error("an expression is required after the equals sign")]
    MissingValue,
    #[error("{0} must end with a newline")]
    MissingNewline(&'static str),
    /// `a { b {} }`, or two arguments.
    #[error("a block on a single line can contain only one argument")]
    SingleLineBlock,
    /// The general parser compares each key of a map with all before it.
    #[error("the maps of this file have more than {MOST_MEMBERS} entries")]
    TooManyMembers,
}

/// How many entries the maps of a document have at most that the general parser reads.
pub const MOST_MEMBERS: usize = 4_000;

/// Finds the arguments and blocks of a body: a whole file, or what is between two braces.
///
/// Offsets are those of the whole text. A byte order mark at its start is skipped.
pub fn outline(text: &str, body: Range<usize>) -> Result<Outline<'_>, ScanError> {
    scan(text, body, None)
}

/// The same of a whole text that the general parser is going to read: it has at most [`MOST_MEMBERS`] entries of maps.
pub fn outline_for_parser(text: &str) -> Result<Outline<'_>, ScanError> {
    scan(text, 0..text.len(), Some(MOST_MEMBERS))
}

fn scan(text: &str, body: Range<usize>, members_left: Option<usize>) -> Result<Outline<'_>, ScanError> {
    let mut scanner = Scanner { members_left, ..Scanner::new(text, body) };
    scanner.body()?;
    Ok(scanner.outline)
}

/// A piece of text that is not code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    pub range: Range<usize>,
    /// False for the text of a string or label between its interpolations, and for a whole heredoc.
    pub is_comment: bool,
}

/// What is not code in a body, in order, up to the first mistake in it.
pub fn hidden(text: &str, body: Range<usize>) -> Vec<Hidden> {
    let mut scanner = Scanner { texts: Some(Vec::new()), ..Scanner::new(text, body) };
    // What is behind a mistake is not known to be anything but code.
    let _ = scanner.body();
    let texts = scanner.texts.unwrap_or_default().into_iter().map(|range| Hidden { range, is_comment: false });
    let comments = scanner.outline.comments.into_iter().map(|range| Hidden { range, is_comment: true });
    let mut all: Vec<Hidden> = texts.chain(comments).collect();
    all.sort_by_key(|piece| piece.range.start);
    // Heredocs are hidden as a whole, so pieces within their interpolations are left out.
    let mut end = 0;
    all.retain(|piece| {
        let is_outside = piece.range.start >= end;
        end = end.max(piece.range.end);
        is_outside
    });
    all
}

struct Scanner<'a> {
    text: &'a str,
    /// The text up to the end of the body.
    bytes: &'a [u8],
    at: usize,
    open: Vec<usize>,
    /// What is open within the current expression.
    frames: Vec<Frame>,
    /// How many signs may follow that are before the values of maps; `None` if they are not counted.
    members_left: Option<usize>,
    /// Heredocs and the text of strings; `None` if they are not collected.
    texts: Option<Vec<Range<usize>>>,
    outline: Outline<'a>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, body: Range<usize>) -> Self {
        let mark = if body.start == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self {
            text,
            bytes: &text.as_bytes()[..body.end],
            at: body.start + mark,
            open: Vec::new(),
            frames: Vec::new(),
            members_left: None,
            texts: None,
            outline: Outline::default(),
        }
    }

    fn hide(&mut self, range: Range<usize>) {
        if let (Some(texts), false) = (&mut self.texts, range.is_empty()) {
            texts.push(range);
        }
    }

    fn body(&mut self) -> Result<(), ScanError> {
        loop {
            self.skip_blank(true)?;
            let Some(byte) = self.peek() else {
                return match self.open.pop() {
                    None => Ok(()),
                    Some(header) => Err(error(header, StructureError::UnclosedBlock)),
                };
            };
            match byte {
                b'}' => self.close_block()?,
                b'"' => return Err(error(self.at, StructureError::QuotedName)),
                _ if starts_name(byte) => self.item()?,
                _ if is_foreign(byte) => return Err(error(self.at, StructureError::Character(char::from(byte)))),
                b')' | b']' => return Err(error(self.at, StructureError::UnexpectedBracket(char::from(byte)))),
                _ => return Err(error(self.at, StructureError::NotAnItem)),
            }
        }
    }

    fn item(&mut self) -> Result<(), ScanError> {
        let at = self.at;
        let name = self.name()?;
        self.skip_blank(false)?;
        if self.at_assignment() {
            self.argument(at, name)?;
            return self.end_of("an argument definition");
        }
        let labels = self.labels()?;
        let body = self.at..self.at;
        if self.open.is_empty() {
            self.outline.blocks.push(BlockSpan { kind: name, at, labels, body, provider: None });
        }
        self.open.push(at);
        self.skip_blank(false)?;
        match self.peek() {
            None | Some(b'\n' | b'}' | b'#') => Ok(()),
            Some(b'/') if self.bytes[self.at..].starts_with(b"//") => Ok(()),
            _ => self.single_argument(),
        }
    }

    fn single_argument(&mut self) -> Result<(), ScanError> {
        let at = self.at;
        let wrong = |at| Err(error(at, StructureError::SingleLineBlock));
        if !self.peek().is_some_and(starts_name) {
            return wrong(at);
        }
        let name = self.name()?;
        self.skip_blank(false)?;
        if !self.at_assignment() {
            return wrong(at);
        }
        self.argument(at, name)?;
        self.skip_blank(false)?;
        match self.peek() {
            Some(b'}') => self.close_block(),
            _ => wrong(self.at),
        }
    }

    fn close_block(&mut self) -> Result<(), ScanError> {
        let end = self.at;
        self.at += 1;
        if self.open.pop().is_none() {
            return Err(error(end, StructureError::UnexpectedBracket('}')));
        }
        if self.open.is_empty()
            && let Some(block) = self.outline.blocks.last_mut()
        {
            block.body.end = end;
        }
        self.end_of("a block definition")
    }

    /// `= value`; what is recorded depends on the depth.
    fn argument(&mut self, at: usize, name: &'a str) -> Result<(), ScanError> {
        self.at += 1;
        let value = self.expression()?;
        if value.is_empty() {
            return Err(error(value.start, StructureError::MissingValue));
        }
        match self.open.len() {
            0 => self.outline.arguments.push(ArgumentSpan { name, at, value }),
            1 if name == "provider" => {
                if let Some(block) = self.outline.blocks.last_mut()
                    && block.provider.replace(value).is_some()
                {
                    return Err(error(at, StructureError::Redefined));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn at_assignment(&self) -> bool {
        self.peek() == Some(b'=') && self.bytes.get(self.at + 1) != Some(&b'=')
    }

    /// White space and comments up to the end of a line, which must be all that is left on it.
    fn end_of(&mut self, what: &'static str) -> Result<(), ScanError> {
        self.skip_blank(false)?;
        match self.peek() {
            None | Some(b'\n' | b'#') => Ok(()),
            Some(b'/') if self.bytes[self.at..].starts_with(b"//") => Ok(()),
            Some(_) => Err(error(self.at, StructureError::MissingNewline(what))),
        }
    }

    /// Skips white space and `/* */`, and with `lines` also line breaks and comments that end with one.
    fn skip_blank(&mut self, lines: bool) -> Result<(), ScanError> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\r' if self.before_line_feed(self.at) => self.at += 1,
                b'\r' => return Err(error(self.at, StructureError::Character('\r'))),
                b'\n' if lines => self.at += 1,
                b'#' if lines => self.skip_line(),
                b'/' if lines && self.bytes[self.at..].starts_with(b"//") => self.skip_line(),
                b'/' if self.bytes[self.at..].starts_with(b"/*") => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn skip_line(&mut self) {
        let start = self.at;
        self.at = memchr::memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |length| start + length);
        self.outline.comments.push(start..self.at);
    }

    fn skip_comment(&mut self) -> Result<(), ScanError> {
        let Some(length) = memchr::memmem::find(&self.bytes[self.at + 2..], b"*/") else {
            return Err(error(self.at, StructureError::UnterminatedComment));
        };
        let start = self.at;
        self.at += 2 + length + 2;
        self.outline.comments.push(start..self.at);
        Ok(())
    }

    fn name(&mut self) -> Result<&'a str, ScanError> {
        let start = self.at;
        while self.peek().is_some_and(continues_name) {
            self.at += 1;
        }
        let name = &self.text[start..self.at];
        if name.is_ascii() {
            return Ok(name);
        }
        match name.char_indices().find(|(at, letter)| !letter.is_ascii() && !is_letter(*letter, *at > 0)) {
            Some((at, foreign)) => Err(error(start + at, StructureError::Character(foreign))),
            None => Ok(name),
        }
    }

    fn before_line_feed(&self, at: usize) -> bool {
        self.bytes.get(at + 1) == Some(&b'\n')
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

fn error(at: usize, kind: StructureError) -> ScanError {
    ScanError { at, kind }
}

/// Quotes of other languages, semicolons and control characters.
const fn is_foreign(byte: u8) -> bool {
    matches!(byte, b'\'' | b'`' | b';' | b'\\' | 0..=8 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f)
}

/// True for a character beyond ASCII that a name can begin with, or go on with.
fn is_letter(character: char, is_inside: bool) -> bool {
    if is_inside {
        CodePointSetData::new::<IdContinue>().contains(character)
    } else {
        CodePointSetData::new::<IdStart>().contains(character)
    }
}

/// What is no letter beyond ASCII is found when the name is at hand.
fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit() || byte == b'-'
}

/// The bytes of the name that a text begins with; 0 if it begins with none.
pub fn name_length(text: &str) -> usize {
    let goes_on = |(at, letter): &(usize, char)| match u8::try_from(*letter) {
        Ok(byte) if *at > 0 && byte.is_ascii() => continues_name(byte),
        Ok(byte) if byte.is_ascii() => starts_name(byte),
        _ => is_letter(*letter, *at > 0),
    };
    text.char_indices().take_while(goes_on).map(|(at, letter)| at + letter.len_utf8()).last().unwrap_or_default()
}

impl<'a> Scanner<'a> {
    /// Reads labels up to the brace that opens the body, and that brace.
    fn labels(&mut self) -> Result<Vec<LabelSpan<'a>>, ScanError> {
        let mut labels = Vec::new();
        loop {
            self.skip_blank(false)?;
            let at = self.at;
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    return Ok(labels);
                }
                Some(b'"') => labels.push(LabelSpan { raw: self.quoted_label()?, at }),
                Some(byte) if starts_name(byte) => labels.push(LabelSpan { raw: self.name()?, at }),
                _ => return Err(error(at, StructureError::Header)),
            }
        }
    }

    fn quoted_label(&mut self) -> Result<&'a str, ScanError> {
        let open = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.hide(open + 1..self.at);
                    self.at += 1;
                    return Ok(&self.text[open + 1..self.at - 1]);
                }
                b'\\' => self.skip_escape(),
                b'\r' | b'\n' => return Err(error(open, StructureError::NewlineInString)),
                b'$' | b'%' => {
                    if self.template_begins() {
                        return Err(error(self.at, StructureError::TemplateInLabel));
                    }
                    self.skip_template_sign();
                }
                _ => self.at += 1,
            }
        }
        Err(error(open, StructureError::UnterminatedString))
    }
}

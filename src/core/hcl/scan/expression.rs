//! Expressions: finding their end, nothing else.
//!
//! What is open (brackets, strings, heredocs, interpolations) is on a stack of our own, so no text can exhaust
//! the one of the thread.

use std::ops::Range;

use super::{ScanError, Scanner, StructureError, continues_name, error, is_foreign, starts_name};
use crate::hcl::ends_heredoc;

/// Something open within an expression, with the byte that opened it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Frame {
    /// `(`, `[` or `{`.
    Bracket(usize),
    /// `${` or `%{`.
    Interpolation(usize),
    /// `"`.
    Quote(usize),
    /// `<<`.
    Heredoc { at: usize, marker: Range<usize>, line_start: bool },
}

/// The bytes that mean something in code; all others are skipped.
const CODE: [bool; 256] = foreign(table(b"\"#/<()[]{}\r\n"));
/// The same where entries of maps are counted.
const CODE_WITH_MEMBERS: [bool; 256] = foreign(table(b"\"#/<()[]{}\r\n=:"));
/// The bytes that mean something in a quoted string.
const QUOTED: [bool; 256] = table(b"\"\\$%\r\n");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

#[derive(PartialEq, Eq)]
enum ScanStep {
    Code,
    Comment,
    End,
}

const fn foreign(mut table: [bool; 256]) -> [bool; 256] {
    let mut byte = 0u8;
    while byte < 0x80 {
        table[byte as usize] |= is_foreign(byte);
        byte += 1;
    }
    table
}

impl Scanner<'_> {
    /// Skips white space and one expression; gives its range without white space and comments at either end.
    pub(super) fn expression(&mut self) -> Result<Range<usize>, ScanError> {
        self.skip_blank(false)?;
        let start = self.at;
        let mut end = start;
        self.frames.clear();
        loop {
            let before = self.at;
            match self.frames.last() {
                Some(Frame::Quote(_)) => self.quoted()?,
                Some(Frame::Heredoc { .. }) => self.heredoc()?,
                Some(Frame::Bracket(_) | Frame::Interpolation(_)) | None => match self.code()? {
                    ScanStep::Code => {}
                    ScanStep::Comment => continue,
                    ScanStep::End => return Ok(start..end),
                },
            }
            if self.frames.is_empty() {
                end = end.max(self.end_without_blank(before));
            }
        }
    }

    /// The end of the last byte before here that is no white space, but not before `floor`.
    fn end_without_blank(&self, floor: usize) -> usize {
        let mut end = self.at;
        while end > floor && matches!(self.bytes[end - 1], b' ' | b'\t' | b'\r') {
            end -= 1;
        }
        // A step of nothing but white space moves no end.
        if end == floor { 0 } else { end }
    }

    fn code(&mut self) -> Result<ScanStep, ScanError> {
        let at = self.at;
        self.skip_plain(if self.members_left.is_none() { &CODE } else { &CODE_WITH_MEMBERS });
        if self.at > at {
            // Between brackets commas separate; between arguments they are a mistake of many.
            if self.frames.is_empty()
                && let Some(comma) = memchr::memchr(b',', &self.bytes[at..self.at])
            {
                return Err(error(at + comma, StructureError::MissingNewline("an argument definition")));
            }
            return Ok(ScanStep::Code);
        }
        let Some(byte) = self.peek() else { return self.end_of_text() };
        let outermost = self.frames.is_empty();
        match byte {
            b'\n' | b'#' | b'}' if outermost => return Ok(ScanStep::End),
            b'#' => {
                self.skip_line();
                return Ok(ScanStep::Comment);
            }
            b'/' => match self.bytes.get(at + 1) {
                Some(b'/') if outermost => return Ok(ScanStep::End),
                Some(b'/') => {
                    self.skip_line();
                    return Ok(ScanStep::Comment);
                }
                Some(b'*') => {
                    self.skip_comment()?;
                    return Ok(ScanStep::Comment);
                }
                _ => self.at += 1,
            },
            b'=' | b':' => self.count_member()?,
            b'"' => self.enter(Frame::Quote(at), 1),
            b'(' | b'[' | b'{' => self.enter(Frame::Bracket(at), 1),
            b'<' => self.less_than(),
            b')' | b']' | b'}' => self.close_bracket(byte)?,
            b'\n' => self.at += 1,
            b'\r' if self.before_line_feed(at) => self.at += 1,
            _ => return Err(error(at, StructureError::Character(char::from(byte)))),
        }
        Ok(ScanStep::Code)
    }

    fn count_member(&mut self) -> Result<(), ScanError> {
        if let Some(left) = self.members_left.as_mut().filter(|_| !self.frames.is_empty()) {
            *left = left.checked_sub(1).ok_or_else(|| error(self.at, StructureError::TooManyMembers))?;
        }
        self.at += 1;
        Ok(())
    }

    fn end_of_text(&self) -> Result<ScanStep, ScanError> {
        match self.frames.last() {
            None => Ok(ScanStep::End),
            Some(Frame::Bracket(at) | Frame::Interpolation(at)) => {
                Err(error(*at, StructureError::UnclosedBracket(char::from(self.bytes[*at]))))
            }
            Some(Frame::Quote(at)) => Err(error(*at, StructureError::UnterminatedString)),
            Some(Frame::Heredoc { at, .. }) => Err(error(*at, StructureError::UnterminatedHeredoc)),
        }
    }

    fn skip_plain(&mut self, special: &[bool; 256]) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| special[usize::from(*byte)]).unwrap_or(rest.len());
    }

    fn enter(&mut self, frame: Frame, length: usize) {
        self.frames.push(frame);
        self.at += length;
    }

    fn close_bracket(&mut self, byte: u8) -> Result<(), ScanError> {
        let opened = match self.frames.last() {
            Some(Frame::Bracket(at)) => match self.bytes[*at] {
                b'(' => b')',
                b'[' => b']',
                _ => b'}',
            },
            Some(Frame::Interpolation(_)) => b'}',
            _ => 0,
        };
        if byte != opened {
            return Err(error(self.at, StructureError::UnexpectedBracket(char::from(byte))));
        }
        self.frames.pop();
        self.at += 1;
        Ok(())
    }

    /// `<<EOT` and a line break begin a heredoc; any other `<` is an operator.
    fn less_than(&mut self) {
        let at = self.at;
        let rest = &self.bytes[at..];
        let dash = usize::from(rest.starts_with(b"<<-"));
        let name = 2 + dash;
        let length = match rest.get(name) {
            Some(byte) if rest.starts_with(b"<<") && starts_name(*byte) => {
                rest[name..].iter().position(|byte| !continues_name(*byte)).unwrap_or(rest.len() - name)
            }
            _ => 0,
        };
        let behind = name + length;
        let line_break = match rest.get(behind..) {
            Some([b'\n', ..]) => 1,
            Some([b'\r', b'\n', ..]) => 2,
            _ => 0,
        };
        if length == 0 || line_break == 0 {
            self.at += 1;
            return;
        }
        let marker = at + name..at + behind;
        self.enter(Frame::Heredoc { at, marker, line_start: true }, behind + line_break);
    }

    fn quoted(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        self.skip_plain(&QUOTED);
        let at = self.at;
        self.hide(start..at);
        match self.peek() {
            None => return self.end_of_text().map(|_| ()),
            Some(b'"') => {
                self.frames.pop();
                self.at += 1;
            }
            Some(b'\r' | b'\n') => return Err(error(at, StructureError::NewlineInString)),
            Some(_) if self.template_begins() => self.enter(Frame::Interpolation(at), 2),
            Some(byte) => {
                match byte {
                    b'\\' => self.skip_escape(),
                    _ => self.skip_template_sign(),
                }
                self.hide(at..self.at);
            }
        }
        Ok(())
    }

    /// One line of a heredoc, or the part of it up to an interpolation.
    fn heredoc(&mut self) -> Result<(), ScanError> {
        let Some(length) = memchr::memchr(b'\n', &self.bytes[self.at..]) else {
            return self.last_line_of_heredoc();
        };
        let line_end = self.at + length;
        self.check_carriage_returns(line_end)?;
        if let Some(Frame::Heredoc { at, marker, line_start }) = self.frames.last_mut() {
            // A line begins behind a line feed, so it is no part of a character.
            if *line_start && ends_heredoc(&self.text[self.at..line_end], &self.text[marker.clone()]) {
                let start = *at;
                self.at = line_end - usize::from(self.bytes[..line_end].ends_with(b"\r"));
                self.frames.pop();
                self.hide(start..self.at);
                return Ok(());
            }
            *line_start = true;
        }
        self.heredoc_text(line_end + 1);
        Ok(())
    }

    /// Refuses carriage returns that no line feed follows: the language has no such character.
    fn check_carriage_returns(&self, end: usize) -> Result<(), ScanError> {
        let mut places = memchr::memchr_iter(b'\r', &self.bytes[self.at..end]).map(|at| self.at + at);
        match places.find(|at| !self.before_line_feed(*at)) {
            Some(at) => Err(error(at, StructureError::Character('\r'))),
            None => Ok(()),
        }
    }

    /// An end marker needs a line break behind it, so what can follow here is an interpolation or an error.
    fn last_line_of_heredoc(&mut self) -> Result<(), ScanError> {
        self.heredoc_text(self.bytes.len());
        if self.peek().is_none() { self.end_of_text().map(|_| ()) } else { Ok(()) }
    }

    fn heredoc_text(&mut self, end: usize) {
        while self.at < end {
            let Some(length) = memchr::memchr2(b'$', b'%', &self.bytes[self.at..end]) else { break };
            self.at += length;
            if self.template_begins() {
                if let Some(Frame::Heredoc { line_start, .. }) = self.frames.last_mut() {
                    *line_start = false;
                }
                return self.enter(Frame::Interpolation(self.at), 2);
            }
            self.skip_template_sign();
        }
        self.at = self.at.max(end);
    }

    /// Skips a backslash and what it is before, unless that is a line break.
    pub(super) fn skip_escape(&mut self) {
        self.at += if matches!(self.bytes.get(self.at + 1), None | Some(b'\r' | b'\n')) { 1 } else { 2 };
    }

    /// True at `${` and `%{`.
    pub(super) fn template_begins(&self) -> bool {
        matches!(self.bytes.get(self.at..self.at + 2), Some([b'$' | b'%', b'{']))
    }

    /// Skips a `$` or `%` that begins no template, or the whole of `$${` and `%%{`.
    pub(super) fn skip_template_sign(&mut self) {
        self.at += match self.bytes.get(self.at..self.at + 3) {
            Some([b'$', b'$', b'{'] | [b'%', b'%', b'{']) => 3,
            _ => 1,
        };
    }
}

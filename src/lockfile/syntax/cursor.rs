//! Reading tokens, and finding back into step after an error.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclsyntax/peeker.go` and the recovery in `parser.go`: which errors are told
//! after the first depends on where reading goes on.

use super::token::{Kind, Token};

/// The place in a list of tokens, which ends in [`Kind::End`].
pub(super) struct Cursor {
    tokens: Vec<Token>,
    next: usize,
    /// Whether line ends count, by the brackets around; the innermost last.
    line_ends: Vec<bool>,
}

impl Cursor {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, next: 0, line_ends: vec![true] }
    }

    /// The next token that counts.
    pub(super) fn peek(&self) -> Token {
        self.look().0
    }

    /// The next token that counts; goes past it.
    pub(super) fn read(&mut self) -> Token {
        let (token, next) = self.look();
        self.next = next;
        token
    }

    /// The token just passed, or the first one.
    pub(super) fn previous(&self) -> Token {
        self.tokens[self.next.saturating_sub(1).min(self.tokens.len() - 1)]
    }

    /// Does something with line ends counting or not.
    pub(super) fn push_line_ends(&mut self, count: bool) {
        self.line_ends.push(count);
    }

    pub(super) fn pop_line_ends(&mut self) {
        self.line_ends.pop();
    }

    /// Gives up the rest of the text.
    pub(super) fn abandon(&mut self) {
        self.next = self.tokens.len() - 1;
    }

    fn look(&self) -> (Token, usize) {
        let line_ends = self.line_ends.last().copied().unwrap_or(true);
        for (at, token) in self.tokens.iter().enumerate().skip(self.next) {
            match token.kind {
                Kind::LineComment if line_ends => return (Token::new(Kind::Newline, token.span()), at + 1),
                Kind::Comment | Kind::LineComment => {}
                Kind::Newline if !line_ends => {}
                _ => return (*token, at + 1),
            }
        }
        (self.tokens[self.tokens.len() - 1], self.tokens.len())
    }

    /// Goes past the next token of a kind that closes something, counting what is opened on the way.
    pub(super) fn skip_past(&mut self, end: Kind) -> Token {
        let start = end.opposite();
        let mut nested = 0;
        loop {
            let token = self.read();
            let kind = match token.kind {
                Kind::OpenDirective if end == Kind::CloseSequence => Kind::OpenInterpolation,
                kind => kind,
            };
            if kind == Kind::End {
                return token;
            }
            if kind == end {
                if nested == 0 {
                    return token;
                }
                nested -= 1;
            } else if Some(kind) == start {
                nested += 1;
            }
        }
    }

    /// Goes past the next pair that is opened by a kind, and what is in it.
    pub(super) fn skip_pair(&mut self, start: Kind) {
        while !matches!(self.read().kind, kind if kind == start || kind == Kind::End) {}
        if let Some(end) = start.opposite() {
            self.skip_past(end);
        }
    }

    /// Goes past the end of the line, or of the last line if something is opened on it.
    pub(super) fn skip_item(&mut self) {
        let mut open: Vec<Kind> = Vec::new();
        loop {
            let token = self.read();
            match token.kind {
                Kind::End => return,
                Kind::Newline if open.is_empty() => return,
                kind if kind.opens() => open.push(kind),
                kind => {
                    if let Some(opener) = kind.opposite() {
                        close(&mut open, opener);
                    }
                }
            }
        }
    }
}

/// Closes the innermost open thing of a kind and all in it; all there are if there is none.
fn close(open: &mut Vec<Kind>, opener: Kind) {
    while let Some(kind) = open.pop() {
        let directive = opener == Kind::OpenInterpolation && kind == Kind::OpenDirective;
        if kind == opener || directive {
            return;
        }
    }
}

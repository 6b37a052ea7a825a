//! Tokens: what the scanner cuts a text into.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ident,
    Number,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    OpenQuote,
    CloseQuote,
    /// `<<EOT` with its line end.
    OpenHeredoc,
    CloseHeredoc,
    /// Text between quotes or in a heredoc, escapes unresolved.
    Literal,
    /// `${` or `${~`.
    OpenInterpolation,
    /// `%{` or `%{~`.
    OpenDirective,
    /// `}` or `~}` behind one of these.
    CloseSequence,
    Equal,
    Dot,
    Comma,
    Question,
    Colon,
    DoubleColon,
    Ellipsis,
    FatArrow,
    Bang,
    /// One with two operands; `-` and `*` are also used otherwise.
    Operator(Operator),
    /// A comment within a line.
    Comment,
    /// A comment with the line end behind it.
    LineComment,
    Newline,
    /// A line end inside quotes.
    QuotedNewline,
    /// A character without meaning in the language.
    Invalid,
    /// Bytes that are not UTF-8.
    NotUtf8,
    End,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lockfile) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
}

impl Operator {
    /// How strongly it binds, from 1.
    pub(super) fn level(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::Equal | Operator::NotEqual => 3,
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => 4,
            Operator::Plus | Operator::Minus => 5,
            Operator::Times | Operator::Divide | Operator::Remainder => 6,
        }
    }
}

impl Kind {
    /// The other one of a pair of brackets, quotes or markers.
    pub(super) fn opposite(self) -> Option<Kind> {
        Some(match self {
            Kind::OpenBrace => Kind::CloseBrace,
            Kind::OpenBracket => Kind::CloseBracket,
            Kind::OpenParen => Kind::CloseParen,
            Kind::OpenQuote => Kind::CloseQuote,
            Kind::OpenHeredoc => Kind::CloseHeredoc,
            Kind::OpenInterpolation | Kind::OpenDirective => Kind::CloseSequence,
            Kind::CloseBrace => Kind::OpenBrace,
            Kind::CloseBracket => Kind::OpenBracket,
            Kind::CloseParen => Kind::OpenParen,
            Kind::CloseQuote => Kind::OpenQuote,
            Kind::CloseHeredoc => Kind::OpenHeredoc,
            Kind::CloseSequence => Kind::OpenInterpolation,
            _ => return None,
        })
    }

    /// True for the first of a pair.
    pub(super) fn opens(self) -> bool {
        matches!(
            self,
            Kind::OpenBrace
                | Kind::OpenBracket
                | Kind::OpenParen
                | Kind::OpenQuote
                | Kind::OpenHeredoc
                | Kind::OpenInterpolation
                | Kind::OpenDirective
        )
    }
}

/// A piece of the text; offsets fit, since texts are limited to 16 MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    start: u32,
    end: u32,
}

impl Token {
    pub(super) fn new(kind: Kind, span: Range<usize>) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { kind, start: narrow(span.start), end: narrow(span.end) }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn span(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

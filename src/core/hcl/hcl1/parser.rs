//! Tokens to items.
//!
//! Text to tokens.

use std::borrow::Cow;

use super::{Hcl1Error, Hcl1Value, Item, MAX_DEPTH, Object, position};

pub(super) fn parse(text: &str) -> Result<Object, Hcl1Error> {
    if let Some(at) = text.find('\0') {
        return Err(Hcl1Error { position: position(text, at), message: illegal('\0') });
    }
    let parsed = Parser::new(text).and_then(|mut parser| parser.items(&Token::End, 0));
    parsed.map_err(|(at, message)| Hcl1Error { position: position(text, at), message })
}

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    at: usize,
    token: Token,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Faulty<Self> {
        let mut lexer = Lexer::new(text);
        let (at, token) = lexer.token()?;
        Ok(Self { text, lexer, at, token })
    }

    /// The token at hand, replaced by the next one.
    fn next(&mut self) -> Faulty<Token> {
        let (at, token) = self.lexer.token()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn expected<T>(&self, expected: &'static str) -> Faulty<T> {
        Err((self.at, format!("expected {expected}, got {}", self.token.shown()).into()))
    }

    /// Items up to a closing token, which is taken. A comma behind an item is allowed.
    fn items(&mut self, close: &Token, depth: usize) -> Faulty<Object> {
        let mut items = Vec::new();
        while self.token != *close {
            items.push(self.item(depth)?);
            if self.token == Token::Sign(',') {
                self.next()?;
            }
        }
        if *close != Token::End {
            self.next()?;
        }
        Ok(Object { items })
    }

    fn item(&mut self, depth: usize) -> Faulty<Item> {
        let place = position(self.text, self.at);
        let mut keys = Vec::new();
        while matches!(self.token, Token::Word(_) | Token::Text(_)) {
            if let Token::Word(key) | Token::Text(key) = self.next()? {
                keys.push(key);
            }
        }
        let assigned = self.token == Token::Sign('=');
        match (keys.len(), &self.token) {
            (0, _) => self.expected("a name"),
            (1, Token::Sign('=')) => {
                self.next()?;
                Ok(Item { keys, assigned, value: self.value(depth)?, position: place })
            }
            (_, Token::Sign('=')) => self.expected("'{' after a name with labels"),
            (_, Token::Sign('{')) => Ok(Item { keys, assigned, value: self.value(depth)?, position: place }),
            _ => self.expected("'=' or '{' after a name"),
        }
    }

    fn value(&mut self, depth: usize) -> Faulty<Hcl1Value> {
        if depth >= MAX_DEPTH {
            return Err((self.at, format!("more than {MAX_DEPTH} nested braces or brackets").into()));
        }
        let at = self.at;
        match self.next()? {
            Token::Text(text) | Token::Heredoc(text) => Ok(Hcl1Value::String(text)),
            Token::Number(number) => Ok(Hcl1Value::Number(number)),
            Token::Bool(value) => Ok(Hcl1Value::Bool(value)),
            Token::Sign('{') => Ok(Hcl1Value::Object(self.items(&Token::Sign('}'), depth + 1)?)),
            Token::Sign('[') => Ok(Hcl1Value::List(self.list(depth + 1)?)),
            other => Err((at, format!("expected a value, got {}", other.shown()).into())),
        }
    }

    fn list(&mut self, depth: usize) -> Faulty<Vec<Hcl1Value>> {
        let mut list = Vec::new();
        let mut separated = true;
        loop {
            match self.token {
                Token::Sign(']') => {
                    self.next()?;
                    return Ok(list);
                }
                Token::Sign(',') => {
                    self.next()?;
                    separated = true;
                }
                _ if separated || self.token == Token::Sign('[') => {
                    list.push(self.value(depth)?);
                    separated = false;
                }
                _ => return self.expected("',' or ']'"),
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A bare word that is neither `true` nor `false`.
    Word(String),
    Text(String),
    /// A heredoc; not a key.
    Heredoc(String),
    Number(String),
    /// `true` or `false`.
    Bool(bool),
    /// One of `{}[],=`.
    Sign(char),
    End,
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Token::Word(word) => format!("{word:?}"),
            Token::Text(_) => "a string".to_owned(),
            Token::Heredoc(_) => "a heredoc".to_owned(),
            Token::Number(number) => number.clone(),
            Token::Bool(value) => value.to_string(),
            Token::Sign(sign) => format!("{sign:?}"),
            Token::End => "the end of the file".to_owned(),
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

type Faulty<T> = Result<T, (usize, Cow<'static, str>)>;

fn illegal(character: char) -> Cow<'static, str> {
    format!("illegal character {character:?}").into()
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn token(&mut self) -> Faulty<(usize, Token)> {
        self.skip_blank()?;
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok((start, Token::End)) };
        let token = match first {
            '"' => Token::Text(self.string()?),
            '<' if self.rest().starts_with("<<") => Token::Heredoc(self.heredoc()?),
            '{' | '}' | '[' | ']' | ',' | '=' => {
                self.at += 1;
                Token::Sign(first)
            }
            '-' | '.' | '0'..='9' => self.number()?,
            letter if is_letter(letter) => self.word(),
            other => return Err((start, illegal(other))),
        };
        Ok((start, token))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn skip_blank(&mut self) -> Faulty<()> {
        loop {
            self.take(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            let rest = self.rest();
            if rest.starts_with('#') || rest.starts_with("//") {
                self.take(|c| c != '\n');
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let length = comment.find("*/").ok_or((self.at, "comment is not terminated".into()))?;
                self.at += length + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Token {
        match self.take(|c| is_letter(c) || is_digit(c) || matches!(c, '-' | '.')) {
            "true" => Token::Bool(true),
            "false" => Token::Bool(false),
            word => Token::Word(word.to_owned()),
        }
    }

    fn number(&mut self) -> Faulty<Token> {
        let start = self.at;
        let mut after_exponent = false;
        let text = &self.text[start..];
        let hexadecimal =
            text.trim_start_matches('-').starts_with("0x") || text.trim_start_matches('-').starts_with("0X");
        for (offset, c) in text.char_indices() {
            let sign = matches!(c, '-' | '+') && (offset == 0 || after_exponent);
            if !(sign || c.is_ascii_alphanumeric() || c == '.') {
                break;
            }
            after_exponent = !hexadecimal && matches!(c, 'e' | 'E');
            self.at = start + offset + 1;
        }
        let taken = &self.text[start..self.at];
        if !is_number(taken) {
            return Err((start, format!("expected a number, got {taken:?}").into()));
        }
        Ok(Token::Number(taken.to_owned()))
    }

    /// A quoted string. Inside `${…}` quotes and line breaks are allowed and nothing is unescaped.
    fn string(&mut self) -> Faulty<String> {
        let open = self.at;
        let mut value = String::new();
        let mut braces = 0_usize;
        let mut chars = self.text[open + 1..].char_indices().peekable();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' if braces == 0 => {
                    self.at = open + 1 + offset + 1;
                    return Ok(value);
                }
                '\n' if braces == 0 => break,
                '\\' if braces == 0 => {
                    let escape = &self.text[open + 1 + offset + 1..];
                    let (char, length) =
                        unescape(escape).ok_or((open + 1 + offset, "illegal escape sequence in a string".into()))?;
                    value.push(char);
                    for _ in 0..escape[..length].chars().count() {
                        chars.next();
                    }
                    continue;
                }
                '$' if braces == 0 && chars.peek().is_some_and(|(_, next)| *next == '{') => {
                    chars.next();
                    value.push_str("${");
                    braces = 1;
                    continue;
                }
                '{' if braces > 0 => braces += 1,
                '}' if braces > 0 => braces -= 1,
                _ => {}
            }
            value.push(c);
        }
        Err((open, "string is not terminated".into()))
    }

    /// `<<NAME`, lines, `NAME`, which may be indented; with `<<-` its indent is cut off all lines that have it.
    fn heredoc(&mut self) -> Faulty<String> {
        let open = self.at;
        self.at += 2;
        let indented = self.rest().starts_with('-');
        self.at += usize::from(indented);
        let name = self.take(|c| is_letter(c) || is_digit(c));
        let unterminated = (open, "heredoc is not terminated".into());
        let Some((behind, body)) = self.rest().split_once('\n') else { return Err(unterminated) };
        if name.is_empty() || !matches!(behind, "" | "\r") {
            return Err((open, "heredoc has no name".into()));
        }
        self.at += behind.len() + 1;
        let mut lines = Vec::new();
        for line in body.split_inclusive('\n') {
            let Some(text) = line.strip_suffix('\n') else { break };
            self.at += line.len();
            let candidate = text.strip_suffix('\r').unwrap_or(text);
            if candidate.trim_start_matches([' ', '\t']) == name {
                let indent = if indented { &candidate[..candidate.len() - name.len()] } else { "" };
                return Ok(lines.iter().map(|line: &&str| line.strip_prefix(indent).unwrap_or(line)).collect());
            }
            lines.push(line);
        }
        Err(unterminated)
    }
}

fn is_letter(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_digit(c: char) -> bool {
    c.is_numeric()
}

/// Decimal with fraction and exponent, or `0x…`; a leading zero is octal in HCL 1 and changes nothing here.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    // Rust reads words such as `inf` and signs that HCL does not have.
    unsigned.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'))
        && (unsigned.starts_with(|c: char| c.is_ascii_digit()) || (text == unsigned && text.starts_with('.')))
        && unsigned.parse::<f64>().is_ok()
}

/// The character behind a backslash, and how many bytes of it were read.
fn unescape(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    let coded = |digits: usize, start: usize, radix: u32| {
        let digits = text.get(start..start + digits).filter(|d| d.chars().all(|c| c.is_digit(radix)))?;
        Some((char::from_u32(u32::from_str_radix(digits, radix).ok()?)?, start + digits.len()))
    };
    let plain = |c| Some((c, 1));
    match first {
        'a' => plain('\u{7}'),
        'b' => plain('\u{8}'),
        'f' => plain('\u{c}'),
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        'v' => plain('\u{b}'),
        '\\' | '"' => plain(first),
        'x' => coded(2, 1, 16),
        'u' => coded(4, 1, 16),
        'U' => coded(8, 1, 16),
        '0'..='7' => coded(3, 0, 8),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

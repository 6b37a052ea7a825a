//! Literals: escapes in strings, and numbers.

use std::borrow::Cow;

use super::Parser;
use super::token::Token;
use super::tree::Number;

impl<'s> Parser<'s> {
    /// Resolves the escapes of a literal between quotes.
    pub(super) fn unescape(&mut self, token: Token) -> Cow<'s, str> {
        let text = self.text_of(token);
        if !text.contains(['\\', '$', '%']) {
            return Cow::Borrowed(text);
        }
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(special) = rest.find(['\\', '$', '%']) {
            result.push_str(&rest[..special]);
            rest = &rest[special..];
            let length = if rest.starts_with('\\') {
                let at = token.start() + text.len() - rest.len();
                self.escape(rest, at, &mut result)
            } else {
                doubled_sign(rest, &mut result)
            };
            rest = &rest[length..];
        }
        result.push_str(rest);
        Cow::Owned(result)
    }

    /// Reads one escape; gives its length.
    fn escape(&mut self, text: &str, at: usize, result: &mut String) -> usize {
        let Some(selector) = text[1..].chars().next() else {
            return text.len();
        };
        let wanted = match selector {
            'n' => return simple('\n', result),
            'r' => return simple('\r', result),
            't' => return simple('\t', result),
            '"' | '\\' => return simple(selector, result),
            'u' => 4,
            'U' => 8,
            _ => {
                self.problem(at, format!("`\\{}` is no escape sequence", selector.escape_debug()));
                result.push(selector);
                return 1 + selector.len_utf8();
            }
        };
        let digits = text[2..].bytes().take(wanted).take_while(u8::is_ascii_hexdigit).count();
        if digits < wanted {
            self.problem(at, format!("`\\{selector}` is followed by {wanted} hexadecimal digits"));
            return 2 + digits;
        }
        match u32::from_str_radix(&text[2..2 + digits], 16).ok().and_then(char::from_u32) {
            Some(character) => result.push(character),
            None => self.problem(at, format!("`{}` is no character", &text[..2 + digits])),
        }
        2 + digits
    }

    /// The value of a number.
    pub(super) fn number(&mut self, token: Token) -> Option<Number> {
        let text = self.text_of(token);
        let value = if well_formed(text) { read_number(text) } else { None };
        if value.is_none() {
            self.problem(token.start(), format!("{text} is not a number"));
        }
        value
    }
}

fn simple(character: char, result: &mut String) -> usize {
    result.push(character);
    2
}

/// Reads `$${` and `%%{`, or a sign alone.
pub(super) fn doubled_sign(text: &str, result: &mut String) -> usize {
    let doubled = text.starts_with("$${") || text.starts_with("%%{");
    result.push_str(if doubled { &text[1..3] } else { &text[..1] });
    if doubled { 3 } else { 1 }
}

/// `1`, `1.5`, `1.5e-3`.
fn well_formed(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(fraction) && digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
}

fn read_number(text: &str) -> Option<Number> {
    if let Ok(whole) = text.parse() {
        return Some(Number::Whole(whole));
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Number::from)
}

impl From<f64> for Number {
    /// Whole numbers that the format holds exactly become whole.
    fn from(value: f64) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "whole and small enough to be exact")]
        if value.fract() == 0.0 && value.abs() <= EXACT { Self::Whole(value as i128) } else { Self::Float(value) }
    }
}

//! How numbers are written.
//!
//! Source: Go's `math/big/ftoa.go`.

use std::fmt;

use super::Number;

/// The form of a decimal number: Go's verbs `e`, `f` and `g`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// One digit before the point, and an exponent: `1.5e+03`.
    Exponent,
    /// Without an exponent: `1500`.
    Fixed,
    /// What is shorter.
    General,
}

impl Number {
    /// The number in a form; without a number of digits as many as are needed to tell it from its neighbours.
    pub fn write(&self, notation: Notation, digits: Option<i64>) -> String {
        if self.is_infinite() {
            return if self.signum() < 0 { "-Inf" } else { "+Inf" }.to_owned();
        }
        let sign = if self.is_negative { "-" } else { "" };
        let written = match notation {
            Notation::Exponent => {
                let (found, point) = self.digits(digits, |digits, _| digits + 1);
                exponent(&found, point, digits.unwrap_or_else(|| length(&found) - 1))
            }
            Notation::Fixed => {
                let (found, point) = self.digits(digits, |digits, point| digits + point);
                fixed(&found, point, digits.unwrap_or_else(|| (length(&found) - point).max(0)))
            }
            Notation::General => self.general(digits),
        };
        format!("{sign}{written}")
    }

    fn digits(&self, wanted: Option<i64>, count: impl FnOnce(i64, i64) -> i64) -> (Vec<u8>, i64) {
        match wanted {
            _ if self.is_zero() => (Vec::new(), 0),
            Some(wanted) => self.rounded_digits(|point| count(wanted, point)),
            None => self.shortest_digits(),
        }
    }

    fn general(&self, wanted: Option<i64>) -> String {
        let wanted = wanted.map(|digits| digits.max(1));
        let (found, point) = self.digits(wanted, |digits, _| digits);
        let limit = match wanted {
            None => 6,
            Some(wanted) if wanted > length(&found) && length(&found) >= point => length(&found),
            Some(wanted) => wanted,
        };
        if point - 1 < -4 || point > limit {
            let wanted = wanted.unwrap_or_else(|| length(&found)).min(length(&found));
            exponent(&found, point, wanted - 1)
        } else {
            fixed(&found, point, (length(&found) - point).max(0))
        }
    }
}

fn length(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}

/// The digits from one place to another, zeros where there are none.
fn padded(digits: &[u8], from: i64, to: i64) -> String {
    let digit =
        |at: i64| usize::try_from(at).ok().and_then(|at| digits.get(at)).map_or('0', |digit| char::from(*digit));
    (from..to).map(digit).collect()
}

fn fixed(digits: &[u8], point: i64, decimals: i64) -> String {
    let whole = if point > 0 { padded(digits, 0, point) } else { "0".to_owned() };
    if decimals > 0 { format!("{whole}.{}", padded(digits, point, point + decimals)) } else { whole }
}

fn exponent(digits: &[u8], point: i64, decimals: i64) -> String {
    let power = if digits.is_empty() { 0 } else { point - 1 };
    let sign = if power < 0 { '-' } else { '+' };
    let fraction = if decimals > 0 { format!(".{}", padded(digits, 1, 1 + decimals)) } else { String::new() };
    format!("{}{fraction}e{sign}{:02}", padded(digits, 0, 1), power.abs())
}

/// As the tools turn it into a string: without an exponent.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.write(Notation::Fixed, None))
    }
}

//! Numbers from decimal text, and as such.
//!
//! Source: Go's `math/big`, `ParseFloat`, `roundShortest`.

use std::fmt;

use num_bigint::BigUint;

use super::number::{Exact, TEXT_BITS};
use super::{Cause, Failure, Number};

/// How many digits a number may be written with.
const DIGITS: usize = 1000;

/// Beyond the whole numbers that are written without a look at their precision.
const SMALL: u64 = 1 << 52;

/// The largest exponent of ten.
const POWER: i64 = 1000;

impl Number {
    /// A decimal number: digits with at most one point, and an exponent of ten.
    ///
    /// # Errors
    ///
    /// If it is none. What is too large, or is a number for the tools by rules of their own, such as `inf` and `1p3`, is unknown.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let (is_negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let refused = || match rest.to_ascii_lowercase().as_str() {
            own if own.starts_with("inf") || own.contains('p') => Failure::unknown(format!("{text:?} as a number")),
            _ => Cause::WrongText.refuses("a number is required"),
        };
        let at = rest.find(['e', 'E']).unwrap_or(rest.len());
        let (digits, power) = (&rest[..at], rest.get(at + 1..));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refused());
        }
        let power = power.map_or(Ok(0), |text| parse_power(text).ok_or_else(refused))?;
        let limit = || Failure::unknown(format!("a number with more than {POWER} digits"));
        if all.len() > DIGITS || power.abs() > POWER {
            return Err(limit());
        }
        let mantissa = BigUint::parse_bytes(all.as_bytes(), 10).ok_or_else(refused)?;
        let power = power - i64::try_from(fraction.len()).map_err(|_| limit())?;
        let exact = Exact { is_negative, mantissa, exponent: power, is_inexact: false };
        let factor = power_of_five(power.unsigned_abs(), TEXT_BITS + 64);
        Ok(match power {
            ..0 => exact.quotient(&factor, TEXT_BITS),
            0 => exact.round(TEXT_BITS),
            1.. => Exact { mantissa: exact.mantissa * &factor.mantissa, exponent: power + factor.exponent, ..exact }
                .round(TEXT_BITS),
        })
    }

    /// The shortest digits that mean this number in its precision, and the place of the point after the first of them.
    fn shortest_digits(&self) -> (Vec<u8>, i64) {
        let bits = self.mantissa.bits();
        // The last bit is now half of what two numbers of this precision differ by.
        let shift = self.precision + 1 - bits;
        let (mantissa, exponent) = (&self.mantissa << shift, self.exponent - shift.cast_signed());
        let is_even = !mantissa.bit(1);
        let (digits, point) = decimal(&mantissa, exponent);
        let (lower, _) = decimal(&(&mantissa - 1u32), exponent);
        let (upper, _) = decimal(&(&mantissa + 1u32), exponent);
        let digit = |digits: &[u8], at: usize| digits.get(at).copied().unwrap_or(b'0');
        for (at, &own) in digits.iter().enumerate() {
            let (low, high) = (digit(&lower, at), digit(&upper, at));
            let may_cut = low != own || is_even && at + 1 == lower.len();
            let may_raise = own != high && (is_even || own + 1 < high || at + 1 < upper.len());
            if may_raise && (!may_cut || is_nearer_above(&digits, at + 1)) {
                return raise(&digits[..=at], point);
            }
            if may_cut {
                return (digits[..=at].to_vec(), point);
            }
        }
        (digits, point)
    }
}

/// True if the number is rounded up where the digits end before a place; half is rounded to an even digit.
fn is_nearer_above(digits: &[u8], end: usize) -> bool {
    match digits.get(end) {
        Some(b'5') if end + 1 == digits.len() => end > 0 && digits[end - 1] % 2 == 1,
        Some(next) => *next >= b'5',
        None => false,
    }
}

fn parse_power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(i64::MAX))
}

/// A power of five, rounded where Go rounds it.
///
/// Source: Go's `math/big/floatconv.go`, `pow5`.
fn power_of_five(mut power: u64, precision: u64) -> Number {
    const TABLE: u64 = 27;
    let start = BigUint::from(5u32).pow(u32::try_from(power.min(TABLE)).unwrap_or(0));
    let number =
        |mantissa| Exact { is_negative: false, mantissa, exponent: 0, is_inexact: false }.round(precision + 64);
    let (mut result, mut factor) = (number(start), number(BigUint::from(5u32)));
    power = power.saturating_sub(TABLE);
    while power > 0 {
        if power & 1 == 1 {
            result = result.product(&factor, precision);
        }
        factor = factor.product(&factor, precision + 64);
        power >>= 1;
    }
    result
}

/// The digits of `mantissa * 2^exponent` without zeros at the end, and where the point is.
fn decimal(mantissa: &BigUint, exponent: i64) -> (Vec<u8>, i64) {
    let shift = exponent.unsigned_abs();
    let whole = if exponent >= 0 {
        mantissa << shift
    } else {
        mantissa * BigUint::from(5u32).pow(u32::try_from(shift).unwrap_or(u32::MAX))
    };
    let mut digits = whole.to_string().into_bytes();
    let point = i64::try_from(digits.len()).unwrap_or(i64::MAX) + exponent.min(0);
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits, point)
}

/// The next larger number of so many digits.
fn raise(digits: &[u8], point: i64) -> (Vec<u8>, i64) {
    match digits.iter().rposition(|digit| *digit < b'9') {
        Some(at) => {
            let mut digits = digits[..=at].to_vec();
            digits[at] += 1;
            (digits, point)
        }
        None => (vec![b'1'], point + 1),
    }
}

/// As the tools turn it into a string: without an exponent.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whole numbers of fewer bits than the precision have no shorter digits than their own.
        let is_small =
            |whole: &i64| *whole != 0 && whole.unsigned_abs() < SMALL && self.precision > SMALL.ilog2().into();
        if let Some(whole) = self.to_i64().filter(is_small) {
            return write!(f, "{whole}");
        }
        let (digits, point) = if self.is_zero() { (Vec::new(), 0) } else { self.shortest_digits() };
        let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let digit =
            |at: i64| usize::try_from(at).ok().and_then(|at| digits.get(at)).map_or('0', |one| char::from(*one));
        f.write_str(if self.is_negative { "-" } else { "" })?;
        f.write_str(&if point > 0 { (0..point).map(digit).collect() } else { "0".to_owned() })?;
        if length > point {
            f.write_str(".")?;
            f.write_str(&(point..length).map(digit).collect::<String>())?;
        }
        Ok(())
    }
}

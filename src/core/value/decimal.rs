//! Numbers from decimal text, and their digits.
//!
//! Source: Go's `math/big`, `ParseFloat`, `roundShortest`.

use num_bigint::BigUint;

use super::number::{Exact, TEXT_BITS};
use super::{Number, Unevaluated};

/// How many digits a number may be written with.
const DIGITS: usize = 40_000;

/// The largest exponent of ten.
const POWER: i64 = 39_000;

impl Number {
    /// A decimal number: digits with at most one point, and an exponent of ten (`e`) or two (`p`); `inf` for an infinity.
    ///
    /// # Errors
    ///
    /// [`Unevaluated::Refused`] if it is none, [`Unevaluated::Limit`] if it has too many digits.
    pub fn parse(text: &str) -> Result<Self, Unevaluated> {
        let (is_negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if matches!(rest, "Inf" | "inf") {
            return Ok(Self::infinity(is_negative));
        }
        let refused = || Unevaluated::refused("a number is required");
        let at = rest.find(['e', 'E', 'p', 'P']).unwrap_or(rest.len());
        let (digits, power) = (&rest[..at], rest.get(at + 1..));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refused());
        }
        let is_binary = rest[at..].starts_with(['p', 'P']);
        let power = power.map_or(Ok(0), |text| parse_power(text).ok_or_else(refused))?;
        let limit = || Unevaluated::limit(format!("a number with more than {POWER} digits"));
        if all.len() > DIGITS || power.abs() > POWER {
            return Err(limit());
        }
        let mantissa = BigUint::parse_bytes(all.as_bytes(), 10).ok_or_else(refused)?;
        let fraction = i64::try_from(fraction.len()).map_err(|_| limit())?;
        let (fives, twos) =
            if is_binary { (-fraction, power - fraction) } else { (power - fraction, power - fraction) };
        let exact = Exact { is_negative, mantissa, exponent: twos, is_inexact: false };
        let factor = power_of_five(fives.unsigned_abs(), TEXT_BITS + 64);
        Ok(match fives {
            ..0 => exact.quotient(&factor, TEXT_BITS),
            0 => exact.round(TEXT_BITS),
            1.. => Exact { mantissa: exact.mantissa * &factor.mantissa, exponent: twos + factor.exponent, ..exact }
                .round(TEXT_BITS),
        })
    }

    /// The digits up to a place after the point, or so many of them, rounded, and the place of the point.
    pub(super) fn rounded_digits(&self, count: impl FnOnce(i64) -> i64) -> (Vec<u8>, i64) {
        let (digits, point) = decimal(&self.mantissa, self.exponent);
        let Ok(end) = usize::try_from(count(point)) else { return (Vec::new(), 0) };
        if end >= digits.len() {
            return (digits, point);
        }
        if is_nearer_above(&digits, end) {
            return raise(&digits[..end], point);
        }
        let kept = digits[..end].iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
        (digits[..kept].to_vec(), if kept == 0 { 0 } else { point })
    }

    /// The shortest digits that mean this number in its precision, and the place of the point after the first of them.
    pub(super) fn shortest_digits(&self) -> (Vec<u8>, i64) {
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

//! Numbers: binary floating point with 512 bits, as the tools compute.
//!
//! A number that was written or read from text has 512 bits, one that was counted 64. Results of operators have the larger precision
//! of the operands; it decides how many digits a number has as text. What the tools make an infinity is unknown here.
//!
//! Source: Go's `math/big`, `Float`; `cty/value_ops.go`.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

use super::Unevaluated;

/// A number: `mantissa * 2^exponent`.
#[derive(Debug, Clone)]
pub struct Number {
    pub(super) is_negative: bool,
    /// Odd, or zero.
    pub(super) mantissa: BigUint,
    pub(super) exponent: i64,
    /// In bits.
    pub(super) precision: u64,
}

/// The precision of numbers from text.
pub(super) const TEXT_BITS: u64 = 512;

/// How far the binary exponents of numbers may be from zero; the tools allow 2^31, which takes them minutes to print.
const EXPONENTS: i64 = 1 << 12;

/// A number before rounding; `is_inexact` if a little was cut off.
pub(super) struct Exact {
    pub is_negative: bool,
    pub mantissa: BigUint,
    pub exponent: i64,
    pub is_inexact: bool,
}

impl Exact {
    /// Rounds to the nearest number, half to even.
    pub(super) fn round(mut self, precision: u64) -> Number {
        let extra = self.mantissa.bits().saturating_sub(precision);
        if extra > 0 {
            let half = self.mantissa.bit(extra - 1);
            let is_above = self.is_inexact || self.mantissa.trailing_zeros().is_some_and(|zeros| zeros < extra - 1);
            self.mantissa >>= extra;
            if half && (is_above || self.mantissa.bit(0)) {
                self.mantissa += 1u32;
            }
            self.exponent += extra.cast_signed();
        }
        let zeros = self.mantissa.trailing_zeros();
        self.mantissa >>= zeros.unwrap_or(0);
        let exponent = zeros.map_or(0, |zeros| self.exponent + zeros.cast_signed());
        Number { is_negative: self.is_negative, mantissa: self.mantissa, exponent, precision }
    }
}

impl Number {
    fn of_integer(value: &BigInt, precision: u64) -> Self {
        let is_negative = value.sign() == Sign::Minus;
        Exact { is_negative, mantissa: value.magnitude().clone(), exponent: 0, is_inexact: false }.round(precision)
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i64 {
        match (self.is_zero(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// True for zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa == BigUint::ZERO
    }

    /// The whole number towards zero, and whether that is all of it.
    fn truncate(&self) -> (BigInt, bool) {
        let shift = self.exponent.unsigned_abs();
        let is_whole = self.exponent >= 0;
        let magnitude = if is_whole { &self.mantissa << shift } else { &self.mantissa >> shift };
        let sign = if self.is_negative { Sign::Minus } else { Sign::Plus };
        (BigInt::from_biguint(sign, magnitude), is_whole)
    }

    /// The number if it is whole and fits.
    pub fn to_i64(&self) -> Option<i64> {
        if self.exponent > 64 {
            return None;
        }
        let (whole, is_whole) = self.truncate();
        if is_whole { whole.try_into().ok() } else { None }
    }

    /// The number if it is whole, not negative and fits.
    pub fn to_usize(&self) -> Option<usize> {
        usize::try_from(self.to_i64()?).ok()
    }

    /// The negative number.
    #[must_use]
    pub fn negate(&self) -> Self {
        Self { is_negative: !self.is_negative, ..self.clone() }
    }

    fn bounded(self) -> Result<Self, Unevaluated> {
        let size = self.exponent + self.mantissa.bits().cast_signed();
        let is_far = size.abs() > EXPONENTS || self.exponent.abs() > EXPONENTS + 1024;
        if is_far { Err(Unevaluated::limit("a number with more than 1,000 digits")) } else { Ok(self) }
    }

    /// The sum.
    ///
    /// # Errors
    ///
    /// [`Unevaluated`] if it is too large.
    pub fn add(&self, other: &Self) -> Result<Self, Unevaluated> {
        let exponent = self.exponent.min(other.exponent);
        let sum = self.aligned(exponent) + other.aligned(exponent);
        let is_negative = sum.sign() == Sign::Minus;
        let exact = Exact { is_negative, mantissa: sum.into_parts().1, exponent, is_inexact: false };
        exact.round(self.precision.max(other.precision)).bounded()
    }

    fn aligned(&self, exponent: i64) -> BigInt {
        let sign = if self.is_negative { Sign::Minus } else { Sign::Plus };
        BigInt::from_biguint(sign, &self.mantissa << (self.exponent - exponent).unsigned_abs())
    }

    /// The difference.
    ///
    /// # Errors
    ///
    /// [`Unevaluated`] if it is too large.
    pub fn subtract(&self, other: &Self) -> Result<Self, Unevaluated> {
        self.add(&other.negate())
    }

    /// The product, with the precision that it needs up to 512 bits, else the larger of the factors'.
    ///
    /// # Errors
    ///
    /// [`Unevaluated`] if it is too large.
    pub fn multiply(&self, other: &Self) -> Result<Self, Unevaluated> {
        let mut product = self.product(other, TEXT_BITS);
        product.precision = self.precision.max(other.precision).max(product.mantissa.bits());
        product.bounded()
    }

    pub(super) fn product(&self, other: &Self, precision: u64) -> Self {
        let (mantissa, exponent) = (&self.mantissa * &other.mantissa, self.exponent + other.exponent);
        let is_negative = self.is_negative != other.is_negative;
        Exact { is_negative, mantissa, exponent, is_inexact: false }.round(precision)
    }

    /// The quotient.
    ///
    /// # Errors
    ///
    /// [`Unevaluated`] if it is too large.
    pub fn divide(&self, other: &Self) -> Result<Self, Unevaluated> {
        if other.is_zero() {
            return Err(Unevaluated::limit("a division by zero"));
        }
        Exact::from(self).quotient(other, self.precision.max(other.precision)).bounded()
    }

    /// The remainder of a division that is rounded towards zero.
    ///
    /// # Errors
    ///
    /// [`Unevaluated`] if the numbers are too far apart.
    ///
    /// Source: `cty/value_ops.go`, `Modulo`.
    pub fn modulo(&self, other: &Self) -> Result<Self, Unevaluated> {
        let quotient = self.divide(other)?;
        let (whole, _) = quotient.truncate();
        let whole = Self::of_integer(&whole, whole.bits().max(64));
        self.subtract(&other.multiply(&whole)?)
    }
}

impl Exact {
    /// The quotient of this and a number that is not zero, rounded.
    pub(super) fn quotient(self, other: &Number, precision: u64) -> Number {
        let shift = (precision + 2 + other.mantissa.bits()).saturating_sub(self.mantissa.bits());
        let dividend = self.mantissa << shift;
        let mantissa = &dividend / &other.mantissa;
        let is_inexact = self.is_inexact || &mantissa * &other.mantissa != dividend;
        let exponent = self.exponent - other.exponent - shift.cast_signed();
        // The bit below stands for what was cut off, where the quotient has exactly the wanted bits.
        let exact = Self { is_negative: self.is_negative != other.is_negative, mantissa, exponent, is_inexact };
        exact.round(precision)
    }
}

impl From<&Number> for Exact {
    fn from(number: &Number) -> Self {
        Self {
            is_negative: number.is_negative,
            mantissa: number.mantissa.clone(),
            exponent: number.exponent,
            is_inexact: false,
        }
    }
}

/// A number that was counted: 64 bits.
impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::of_integer(&value.into(), 64)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By value; the precision does not count.
impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.signum().cmp(&other.signum());
        if order != Ordering::Equal || self.is_zero() {
            return order;
        }
        let size = |number: &Self| number.exponent + number.mantissa.bits().cast_signed();
        let order = size(self).cmp(&size(other)).then_with(|| {
            let exponent = self.exponent.min(other.exponent);
            self.aligned(exponent).magnitude().cmp(other.aligned(exponent).magnitude())
        });
        if self.is_negative { order.reverse() } else { order }
    }
}

//! Numbers: binary floating point with 512 bits, as the tools compute.
//!
//! A number that was written or read from text has 512 bits, one that was counted 64, one from a function of mathematics 53. Results
//! of operators have the larger precision of the operands; it decides how many digits a number has as text.
//!
//! Source: Go's `math/big`, `Float`; `cty/value_ops.go`.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

use super::Unevaluated;

/// A number: `mantissa * 2^exponent`, or an infinity.
#[derive(Debug, Clone)]
pub struct Number {
    pub(super) is_negative: bool,
    /// Odd, or zero.
    pub(super) mantissa: BigUint,
    pub(super) exponent: i64,
    /// In bits.
    pub(super) precision: u64,
    is_infinite: bool,
}

/// The precision of numbers from text.
pub(super) const TEXT_BITS: u64 = 512;

/// How far the binary exponents of numbers may be from zero; the tools allow 2^31, which takes them minutes to print.
const EXPONENTS: i64 = 1 << 17;

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
        Number { is_negative: self.is_negative, mantissa: self.mantissa, exponent, precision, is_infinite: false }
    }
}

impl Number {
    /// An infinity, which some functions return.
    pub fn infinity(is_negative: bool) -> Self {
        Self { is_negative, mantissa: BigUint::ZERO, exponent: 0, precision: 53, is_infinite: true }
    }

    /// A number that was computed with 53 bits; `None` if it is none.
    pub fn from_f64(value: f64) -> Option<Self> {
        if value.is_infinite() {
            return Some(Self::infinity(value < 0.0));
        }
        if value.is_nan() {
            return None;
        }
        let bits = value.to_bits();
        let (fraction, power) = (bits & ((1 << 52) - 1), (bits >> 52) & 0x7ff);
        let mantissa = if power == 0 { fraction } else { fraction | (1 << 52) };
        let exponent = power.max(1).cast_signed() - 1075;
        Some(
            Exact { is_negative: value.is_sign_negative(), mantissa: mantissa.into(), exponent, is_inexact: false }
                .round(53),
        )
    }

    /// The nearest number with 53 bits, or an infinity.
    pub fn to_f64(&self) -> f64 {
        let sign = if self.is_negative { -1.0 } else { 1.0 };
        if self.is_infinite {
            return sign * f64::INFINITY;
        }
        let size = self.exponent + self.mantissa.bits().cast_signed();
        let bits = (size + 1074).clamp(0, 53).unsigned_abs();
        if self.mantissa == BigUint::ZERO || size < -1074 {
            return sign * 0.0;
        }
        let exact = Exact { mantissa: self.mantissa.clone(), ..Exact::from(self) };
        // With no bits left the number is between zero and the smallest one: at least half of that, but for the very half.
        if bits == 0 {
            return if self.mantissa == BigUint::from(1u32) { sign * 0.0 } else { sign * f64::from_bits(1) };
        }
        let rounded = exact.round(bits);
        let (digits, mut exponent) = (rounded.mantissa.iter_u64_digits().next().unwrap_or(0), rounded.exponent);
        #[expect(clippy::cast_precision_loss, reason = "it has at most 53 bits")]
        let mut value = digits as f64;
        // Each step is exact, since the result is a number of 53 bits or fewer.
        while exponent != 0 {
            let step = exponent.clamp(-1000, 1000);
            value *= 2f64.powi(i32::try_from(step).unwrap_or(0));
            exponent -= step;
        }
        sign * value
    }

    /// A whole number that was read from text of some base.
    pub fn whole(value: &BigInt) -> Self {
        Self::of_integer(value, TEXT_BITS.max(value.bits()))
    }

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
        !self.is_infinite && self.mantissa == BigUint::ZERO
    }

    /// True for the two infinities.
    pub fn is_infinite(&self) -> bool {
        self.is_infinite
    }

    /// The whole number towards zero, and whether that is all of it; `None` for infinities.
    pub fn truncate(&self) -> Option<(BigInt, bool)> {
        if self.is_infinite {
            return None;
        }
        let shift = self.exponent.unsigned_abs();
        let is_whole = self.exponent >= 0;
        let magnitude = if is_whole { &self.mantissa << shift } else { &self.mantissa >> shift };
        let sign = if self.is_negative { Sign::Minus } else { Sign::Plus };
        Some((BigInt::from_biguint(sign, magnitude), is_whole))
    }

    /// The number if it is whole and fits.
    pub fn to_i64(&self) -> Option<i64> {
        if self.exponent > 64 {
            return None;
        }
        let (whole, is_whole) = self.truncate()?;
        if is_whole { whole.try_into().ok() } else { None }
    }

    /// The number if it is whole, not negative and fits.
    pub fn to_usize(&self) -> Option<usize> {
        usize::try_from(self.to_i64()?).ok()
    }

    /// The nearest whole number that is not above it.
    #[must_use]
    pub fn floor(&self) -> Self {
        match self.truncate() {
            Some((whole, false)) => {
                let whole = if self.is_negative { whole - 1 } else { whole };
                Self::of_integer(&whole, whole.bits().max(64))
            }
            _ => self.clone(),
        }
    }

    /// The nearest whole number that is not below it.
    #[must_use]
    pub fn ceil(&self) -> Self {
        let floor = self.negate().floor().negate();
        // Zero has no sign here.
        if floor.is_zero() { floor.abs() } else { floor }
    }

    /// The negative number.
    #[must_use]
    pub fn negate(&self) -> Self {
        Self { is_negative: !self.is_negative, ..self.clone() }
    }

    /// The number without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self { is_negative: false, ..self.clone() }
    }

    fn bounded(self) -> Result<Self, Unevaluated> {
        let size = self.exponent + self.mantissa.bits().cast_signed();
        let is_far = size.abs() > EXPONENTS || self.exponent.abs() > EXPONENTS + 1024;
        if is_far { Err(Unevaluated::limit("a number with more than 39,000 digits")) } else { Ok(self) }
    }

    /// The sum.
    ///
    /// # Errors
    ///
    /// [`Unevaluated`] if it is too large, or none.
    pub fn add(&self, other: &Self) -> Result<Self, Unevaluated> {
        if self.is_infinite || other.is_infinite {
            let is_number = !(self.is_infinite && other.is_infinite && self.is_negative != other.is_negative);
            let infinite = if self.is_infinite { self } else { other };
            return is_number.then(|| infinite.clone()).ok_or_else(no_number);
        }
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
    /// [`Unevaluated`] if it is too large, or none.
    pub fn subtract(&self, other: &Self) -> Result<Self, Unevaluated> {
        self.add(&other.negate())
    }

    /// The product, with the precision that it needs up to 512 bits, else the larger of the factors'.
    ///
    /// # Errors
    ///
    /// [`Unevaluated`] if it is too large, or none.
    pub fn multiply(&self, other: &Self) -> Result<Self, Unevaluated> {
        let is_negative = self.is_negative != other.is_negative;
        if self.is_infinite || other.is_infinite {
            let is_number = !self.is_zero() && !other.is_zero();
            return is_number.then(|| Self::infinity(is_negative)).ok_or_else(no_number);
        }
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
    /// [`Unevaluated`] if it is too large, or none.
    pub fn divide(&self, other: &Self) -> Result<Self, Unevaluated> {
        let is_negative = self.is_negative != other.is_negative;
        if other.is_infinite || self.is_infinite || other.is_zero() {
            let is_number = self.is_infinite != other.is_infinite || (other.is_zero() && !self.is_zero());
            let result = if other.is_infinite { Self::from(0) } else { Self::infinity(is_negative) };
            return is_number.then_some(result).ok_or_else(no_number);
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
        if self.is_infinite || other.is_infinite {
            return self.multiply(other);
        }
        if other.is_zero() {
            return Ok(self.clone());
        }
        let quotient = self.divide(other)?;
        let Some((whole, _)) = quotient.truncate() else { return Err(no_number()) };
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

fn no_number() -> Unevaluated {
    Unevaluated::refused("it calculates with infinities what is no number")
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
        let order =
            self.is_infinite.cmp(&other.is_infinite).then_with(|| size(self).cmp(&size(other))).then_with(|| {
                let exponent = self.exponent.min(other.exponent);
                self.aligned(exponent).magnitude().cmp(other.aligned(exponent).magnitude())
            });
        if self.is_negative { order.reverse() } else { order }
    }
}

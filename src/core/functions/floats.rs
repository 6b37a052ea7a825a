//! Logarithms and powers with 53 bits, to the last bit as Go computes them.
//!
//! Source: Go's `math/log.go`, `math/pow.go`.

#![expect(clippy::float_cmp, reason = "Go compares with the very values")]

/// The natural logarithm.
pub(super) fn ln(x: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const ODD: [f64; 4] =
        [6.666_666_666_666_735e-1, 2.857_142_874_366_239e-1, 1.818_357_216_161_805e-1, 1.479_819_860_511_658_6e-1];
    const EVEN: [f64; 3] = [3.999_999_999_940_942e-1, 2.222_219_843_214_978_4e-1, 1.531_383_769_920_937_3e-1];
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut fraction, mut power) = split(x);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        power -= 1;
    }
    let (f, k) = (fraction - 1.0, f64::from(power));
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let t1 = s2 * (ODD[0] + s4 * (ODD[1] + s4 * (ODD[2] + s4 * ODD[3])));
    let t2 = s4 * (EVEN[0] + s4 * (EVEN[1] + s4 * EVEN[2]));
    let half = 0.5 * f * f;
    k * LN2_HIGH - ((half - (s * (half + (t1 + t2)) + k * LN2_LOW)) - f)
}

/// A power; `None` where the exponent has a fraction other than a half, which Go computes in assembly.
pub(super) fn pow(x: f64, y: f64) -> Option<f64> {
    if y == 0.0 || x == 1.0 {
        return Some(1.0);
    }
    if y == 1.0 || x.is_nan() || y.is_nan() {
        return Some(if y.is_nan() { y } else { x });
    }
    if x == 0.0 || x.is_infinite() || y.is_infinite() {
        // These have exact results, the same everywhere.
        return Some(x.powf(y));
    }
    if y.abs() == 0.5 {
        return Some(if y < 0.0 { 1.0 / x.sqrt() } else { x.sqrt() });
    }
    if y.fract() != 0.0 {
        return if x < 0.0 { Some(f64::NAN) } else { None };
    }
    if y.abs() >= 2f64.powi(63) {
        let is_small = (x.abs() < 1.0) == (y > 0.0);
        return Some(if x == -1.0 {
            1.0
        } else if is_small {
            0.0
        } else {
            f64::INFINITY
        });
    }
    let (mut result, mut result_power) = (1.0, 0i64);
    let (mut factor, power) = split(x);
    let mut factor_power = i64::from(power);
    #[expect(clippy::cast_possible_truncation, reason = "it is below 2^63")]
    let mut left = y.abs() as i64;
    while left != 0 {
        if factor_power.abs() > 1 << 12 {
            // Whatever follows overflows.
            result_power += factor_power;
            break;
        }
        if left & 1 == 1 {
            result *= factor;
            result_power += factor_power;
        }
        factor *= factor;
        factor_power <<= 1;
        if factor < 0.5 {
            factor += factor;
            factor_power -= 1;
        }
        left >>= 1;
    }
    if y < 0.0 {
        (result, result_power) = (1.0 / result, -result_power);
    }
    Some(scale(result, result_power))
}

/// A fraction from a half to one, and the power of two that it is multiplied with.
fn split(x: f64) -> (f64, i32) {
    let (x, extra) = if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(52), -52) } else { (x, 0) };
    let bits = x.to_bits();
    let power = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0) - 1022;
    (f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52)), power + extra)
}

/// `fraction * 2^power`, rounded once.
fn scale(fraction: f64, power: i64) -> f64 {
    let (fraction, own) = split(fraction);
    let power = power + i64::from(own);
    match power {
        ..-1080 => 0.0f64.copysign(fraction),
        1025.. => f64::INFINITY.copysign(fraction),
        -1080..=-1000 => fraction * 2f64.powi(i32::try_from(power + 100).unwrap_or(0)) * 2f64.powi(-100),
        _ => fraction * 2.0 * 2f64.powi(i32::try_from(power - 1).unwrap_or(0)),
    }
}

//! Exponentials and logarithms out of additions, multiplications, divisions and bits: those of a system's library
//! differ from machine to machine in the last bit.

/// Added to a number below 2^22, this leaves the number, rounded, in the low bits of the sum: 1.5 * 2^23.
const ROUNDS: f32 = 12_582_912.0;
/// A float of these bits and a small number `n` in the lowest is 2^23 + `n`.
const TWO_23: u32 = 0x4b00_0000;
/// The bits of a mantissa.
const MANTISSA: u32 = 0x007f_ffff;

/// e to the power of `x`, for `x` of at most 88; 0 below -87. Relative error: under 3e-7.
pub fn exp(x: f32) -> f32 {
    // Two parts of ln 2, of which the first has few bits: its multiples by whole numbers are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    if x < -87.0 {
        return 0.0;
    }
    let shifted = x * std::f32::consts::LOG2_E + ROUNDS;
    let whole = shifted - ROUNDS;
    let rest = x - whole * LN_2[0] - whole * LN_2[1];
    // Taylor's series: |rest| is at most ln 2 / 2, where the first term left out is below 4e-9.
    let mut sum = 1.0 / 5040.0;
    for divisor in [720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = sum * rest + 1.0 / divisor;
    }
    let exponent = shifted.to_bits().wrapping_sub(ROUNDS.to_bits()).wrapping_add(127);
    sum * f32::from_bits(exponent << 23)
}

/// The natural logarithm of a positive, normal number. Error: under 3e-7, absolute up to 1 and relative beyond.
pub fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let mut exponent = f32::from_bits(TWO_23 | (bits >> 23)) - f32::from_bits(TWO_23) - 127.0;
    let mut mantissa = f32::from_bits((bits & MANTISSA) | 1f32.to_bits());
    if mantissa > std::f32::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), the argument being at most 0.172.
    let argument = (mantissa - 1.0) / (mantissa + 1.0);
    let square = argument * argument;
    let mut sum = 1.0 / 11.0;
    for divisor in [9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * square + 1.0 / divisor;
    }
    2.0 * argument * sum + exponent * std::f32::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::{exp, ln};

    #[test]
    fn exponentials_are_those_of_double_precision() {
        let mut x = -87.0_f32;
        while x < 88.0 {
            let right = f64::from(x).exp();
            assert!((f64::from(exp(x)) / right - 1.0).abs() < 3e-7, "{x}");
            x += 0.000_713;
        }
        assert_eq!([exp(0.0), exp(-87.1), exp(-1e9)].map(f32::to_bits), [1.0, 0.0, 0.0].map(f32::to_bits));
    }

    #[test]
    fn logarithms_are_those_of_double_precision() {
        let mut x = f32::MIN_POSITIVE;
        while x < 1e38 {
            let right = f64::from(x).ln();
            assert!((f64::from(ln(x)) - right).abs() < 3e-7 * right.abs().max(1.0), "{x}");
            x *= 1.000_37;
        }
        assert_eq!(ln(1.0).to_bits(), 0);
    }
}

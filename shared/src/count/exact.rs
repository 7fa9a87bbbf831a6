//! Exact counts. Nothing in this workspace that is reported as a count passes through a float.

use std::{fmt, iter::Sum, str::FromStr};

use num_bigint::BigUint;
use serde::{Deserialize, Serialize, de};

/// Longest text that [`Exact`] reads: text comes from outside, and parsing takes time quadratic in its length.
const MAX_TEXT: usize = 4096;

/// An exact, non-negative count.
///
/// Kernels add up in `u64` or `u128` with checked arithmetic and hand their sums over to this type, which has no
/// upper bound: 3x4 sudoku already has more than 2^128 grids. Sums and products cannot overflow; differences and
/// quotients that do not exist are `None`.
///
/// Serialised as a decimal string, since JSON readers turn long numbers into floats.
///
/// ```
/// use shared::count::Exact;
///
/// let grids: Exact = "6,670,903,752,021,072,936,960".parse().unwrap();
/// assert_eq!(grids.to_string(), "6670903752021072936960");
/// assert_eq!(grids.grouped(), "6,670,903,752,021,072,936,960");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exact(BigUint);

/// Text that is no count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a count: digits are expected, with `,` or `_` between them where wanted")]
pub struct ParseExactError {
    /// The beginning of what was given.
    pub shown: String,
}

impl Exact {
    /// The sum of two counts.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self(&self.0 + &other.0)
    }

    /// The product of two counts.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self(&self.0 * &other.0)
    }

    /// `self` to the power `exponent`.
    #[must_use]
    pub fn power(&self, exponent: u32) -> Self {
        Self(self.0.pow(exponent))
    }

    /// The difference, or `None` when it would be negative.
    #[must_use]
    pub fn checked_minus(&self, other: &Self) -> Option<Self> {
        (self >= other).then(|| Self(&self.0 - &other.0))
    }

    /// The quotient, or `None` when `divisor` is zero or does not divide `self`.
    #[must_use]
    pub fn divided_exactly(&self, divisor: &Self) -> Option<Self> {
        let (quotient, remainder) = self.divided(divisor)?;
        remainder.is_zero().then_some(quotient)
    }

    /// Quotient and remainder, or `None` when `divisor` is zero.
    #[must_use]
    pub fn divided(&self, divisor: &Self) -> Option<(Self, Self)> {
        (!divisor.is_zero()).then(|| (Self(&self.0 / &divisor.0), Self(&self.0 % &divisor.0)))
    }

    /// Whether this is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0 == BigUint::ZERO
    }

    /// The count as a machine word, or `None` when it needs more than 128 bits.
    #[must_use]
    pub fn to_u128(&self) -> Option<u128> {
        u128::try_from(&self.0).ok()
    }

    /// Decimal digits with a comma between groups of three.
    #[must_use]
    pub fn grouped(&self) -> String {
        let digits = self.to_string();
        let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped
    }

    /// `n!`.
    #[must_use]
    pub fn factorial(n: u64) -> Self {
        Self((1..=n).map(BigUint::from).product())
    }

    /// `self / divisor` rounded to `significant` decimal digits, halves up, as in `0.99793` or `1.2074e-6`; `None`
    /// when `divisor` is zero. Computed in integers throughout.
    ///
    /// ```
    /// use shared::count::Exact;
    ///
    /// assert_eq!(Exact::from(2u64).ratio(&Exact::from(3u64), 4).unwrap(), "0.6667");
    /// ```
    #[must_use]
    pub fn ratio(&self, divisor: &Self, significant: u32) -> Option<String> {
        if self.is_zero() && !divisor.is_zero() {
            return Some("0".to_owned());
        }
        let (digits, exponent) = self.rounded_ratio(divisor, significant)?;
        Some(place_point(&digits, exponent))
    }

    /// The count in scientific notation, rounded to `significant` digits, halves up: `1.53e31`. A count with no more
    /// digits than that is written out.
    ///
    /// # Panics
    ///
    /// Never: 1 is not zero.
    #[must_use]
    pub fn scientific(&self, significant: u32) -> String {
        let digits = self.to_string();
        if digits.len() as u64 <= significant.into() {
            return digits;
        }
        let (digits, exponent) = self.rounded_ratio(&Self::from(1u64), significant).expect("1 is not zero");
        mantissa(&digits, exponent)
    }

    /// The first `significant` digits of a ratio that is not 0, rounded, and the power of ten of the first.
    fn rounded_ratio(&self, divisor: &Self, significant: u32) -> Option<(String, i64)> {
        if divisor.is_zero() {
            return None;
        }
        // The exponent e with 10^e <= self / divisor < 10^(e + 1), from the lengths and one comparison.
        let decimals = |count: &Self| i64::try_from(count.to_string().len()).expect("a length fits");
        let mut exponent = decimals(self) - decimals(divisor);
        let scaled = |shift: i64, count: &Self| {
            let power = u32::try_from(shift.max(0)).expect("counts have fewer than 2^32 digits");
            Self(&count.0 * BigUint::from(10u32).pow(power))
        };
        if scaled(-exponent, self) < scaled(exponent, divisor) {
            exponent -= 1;
        }
        let shift = i64::from(significant.max(1)) - 1 - exponent;
        let divisor = scaled(-shift, divisor);
        let (mut quotient, remainder) = scaled(shift, self).divided(&divisor)?;
        if remainder.plus(&remainder) >= divisor {
            quotient = quotient.plus(&Self::from(1u64));
        }
        let mut digits = quotient.to_string();
        if digits.len() as u64 > significant.max(1).into() {
            // 9.99 became 10.0.
            digits.pop();
            exponent += 1;
        }
        Some((digits, exponent))
    }
}

/// Writes `digits`, the first of which counts 10^exponent, as a decimal fraction or in scientific notation.
fn place_point(digits: &str, exponent: i64) -> String {
    match usize::try_from(exponent) {
        Ok(whole) if whole + 1 == digits.len() => digits.to_owned(),
        Ok(whole) if whole + 1 < digits.len() => format!("{}.{}", &digits[..=whole], &digits[whole + 1..]),
        Err(_) if exponent >= -4 => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
            format!("0.{}{digits}", "0".repeat(zeros))
        }
        _ => mantissa(digits, exponent),
    }
}

fn mantissa(digits: &str, exponent: i64) -> String {
    match digits.split_at(1) {
        (first, "") => format!("{first}e{exponent}"),
        (first, rest) => format!("{first}.{rest}e{exponent}"),
    }
}

impl From<u64> for Exact {
    fn from(count: u64) -> Self {
        Self(count.into())
    }
}

impl From<u128> for Exact {
    fn from(count: u128) -> Self {
        Self(count.into())
    }
}

impl Sum for Exact {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        Self(counts.map(|count| count.0).sum())
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Exact {
    type Err = ParseExactError;

    /// Reads decimal digits, with `,` or `_` allowed between two of them, as papers print them.
    fn from_str(text: &str) -> Result<Self, ParseExactError> {
        let error = || ParseExactError { shown: text.chars().take(40).collect() };
        let bytes = text.as_bytes();
        let separator = |byte: &u8| matches!(byte, b',' | b'_');
        let misplaced = bytes.first().is_none_or(separator)
            || bytes.last().is_none_or(separator)
            || bytes.windows(2).any(|pair| pair.iter().all(separator));
        if misplaced || bytes.len() > MAX_TEXT {
            return Err(error());
        }
        let digits: Vec<u8> = bytes.iter().copied().filter(|byte| !separator(byte)).collect();
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(error());
        }
        BigUint::parse_bytes(&digits, 10).map(Self).ok_or_else(error)
    }
}

impl Serialize for Exact {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    #[test]
    fn reads_and_writes_separators() {
        assert_eq!(exact("1_234,567"), Exact::from(1_234_567u64));
        assert_eq!(exact("999").grouped(), "999");
        assert_eq!(exact("1000").grouped(), "1,000");
        for wrong in ["", ",1", "1_", "1,,2", "-1", "+1", "1.5", "1e3", "0x10", "ten", "1 000"] {
            assert!(wrong.parse::<Exact>().is_err(), "{wrong}");
        }
        assert!("1".repeat(MAX_TEXT + 1).parse::<Exact>().is_err());
    }

    #[test]
    fn serialises_as_a_string() {
        let grids = exact("6670903752021072936960");
        assert_eq!(serde_json::to_string(&grids).unwrap(), "\"6670903752021072936960\"");
        assert_eq!(serde_json::from_str::<Exact>("\"6670903752021072936960\"").unwrap(), grids);
        assert!(serde_json::from_str::<Exact>("6670903752021072936960").is_err());
    }

    #[test]
    fn impossible_results_are_none() {
        let (two, three) = (Exact::from(2u64), Exact::from(3u64));
        assert_eq!(two.checked_minus(&three), None);
        assert_eq!(three.divided_exactly(&two), None);
        assert_eq!(three.divided(&Exact::default()), None);
        assert_eq!(three.ratio(&Exact::default(), 3), None);
        assert_eq!(exact("340282366920938463463374607431768211456").to_u128(), None);
    }

    #[test]
    fn ratios_are_rounded() {
        let ratio = |a: u64, b: u64, digits| Exact::from(a).ratio(&Exact::from(b), digits).unwrap();
        assert_eq!(ratio(1, 3, 5), "0.33333");
        assert_eq!(ratio(999_999, 1_000_000, 3), "1.00");
        assert_eq!(ratio(1, 1, 3), "1.00");
        assert_eq!(ratio(100, 1, 3), "100");
        assert_eq!(ratio(12_350, 1, 3), "1.24e4");
        assert_eq!(ratio(12_345, 1, 3), "1.23e4");
        assert_eq!(ratio(1, 80_000, 3), "1.25e-5");
        assert_eq!(ratio(1, 8_000, 3), "0.000125");
        assert_eq!(ratio(0, 5, 3), "0");
        assert_eq!(ratio(10, 1, 1), "1e1");
        assert_eq!(Exact::from(99_960u64).scientific(3), "1.00e5");
        assert_eq!(Exact::from(123u64).scientific(3), "123");
    }

    proptest! {
        #[test]
        fn agrees_with_u128(a in any::<u64>(), b in any::<u64>()) {
            let (big_a, big_b) = (Exact::from(a), Exact::from(b));
            prop_assert_eq!(big_a.plus(&big_b).to_u128(), Some(u128::from(a) + u128::from(b)));
            prop_assert_eq!(big_a.times(&big_b).to_u128(), Some(u128::from(a) * u128::from(b)));
            prop_assert_eq!(big_a.checked_minus(&big_b), a.checked_sub(b).map(Exact::from));
            prop_assert_eq!(big_a.grouped().parse::<Exact>(), Ok(big_a));
        }

        #[test]
        fn ratio_brackets_the_quotient(a in 1u64..1_000_000_000, b in 1u64..1_000) {
            let text = Exact::from(a * 1_000).ratio(&Exact::from(b), 30).unwrap();
            let whole: u64 = text.split('.').next().unwrap().parse().unwrap();
            prop_assert_eq!(whole, a * 1_000 / b);
        }
    }
}

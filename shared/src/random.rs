//! Random numbers that are the same everywhere.

/// Split-mix (G. L. Steele, D. Lea & C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014):
/// small, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// A number below `end`, or 0 if there is none. The bias of `end` in 2^64 is far below every error.
    pub fn below(&mut self, end: usize) -> usize {
        let product = u128::from(self.word()) * end as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// A number from 0 up to but not including 1, in steps of 2^-53.
    #[allow(clippy::cast_precision_loss, reason = "53 bits are exact")]
    pub fn fraction(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Any order of the items, all equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (2..=items.len()).rev() {
            items.swap(end - 1, self.below(end));
        }
    }
}

/// Scatters the bits of a word.
pub const fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_split_mix() {
        // The first outputs for seed 1234567, as given with Vigna's reference implementation (splitmix64.c).
        let mut random = Random::new(1_234_567);
        assert_eq!(random.word(), 6_457_827_717_110_365_317);
        assert_eq!(random.word(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_order_comes() {
        let mut random = Random::new(5);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut items = [1, 2, 3, 4];
            random.shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 24);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.fraction())));
    }
}

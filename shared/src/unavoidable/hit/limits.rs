//! How many clues two bands may have.
//!
//! A puzzle is looked for where its *third* band, the one with the most clues, is left out; of bands with equally many
//! the one of the least rank. So each puzzle comes up exactly once, and the two bands that are searched first have few
//! clues: at most two thirds of all, 10 of 16. Each of them has at most as many as the third, or fewer where it would
//! have been the third itself (`strict`).

use super::{
    lists::Word,
    pair::{FIRST, in_bands},
};

/// The limits for one choice of the third band.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Clues of the whole puzzle.
    pub clues: u32,
    /// Clues that the third band has at least.
    pub least: u32,
    /// 1 for a band that must have fewer clues than the third, else 0.
    pub strict: [u32; 2],
}

impl Limits {
    /// The most clues that the two bands may have together when they have at least `a` and `b`; `None` when there is no
    /// way.
    #[inline(always)]
    pub(super) fn most(&self, a: u32, b: u32) -> Option<u32> {
        let third = self.least.max(a + self.strict[0]).max(b + self.strict[1]);
        self.clues.checked_sub(third).filter(|&most| a + b <= most)
    }

    /// The cells that may take another clue, of those alive.
    #[inline(always)]
    pub(super) fn living(&self, chosen: Word, alive: Word) -> Word {
        let [a, b] = in_bands(chosen);
        let first = if self.most(a + 1, b).is_some() { FIRST } else { 0 };
        let second = if self.most(a, b + 1).is_some() { !FIRST } else { 0 };
        alive & (first | second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every division of some clues among three bands is allowed for exactly one third band.
    #[test]
    fn every_division_has_one_third_band() {
        let ranks = [1u32, 2, 0];
        for clues in 0..20u32 {
            for first in 0..=clues {
                for second in 0..=clues - first {
                    let bands = [first, second, clues - first - second];
                    let allowed = (0..3usize).filter(|&third| {
                        let [a, b] = [(third + 1) % 3, (third + 2) % 3];
                        let strict = [a, b].map(|band| u32::from(ranks[band] < ranks[third]));
                        let limits = Limits { clues, least: 0, strict };
                        limits.most(bands[a], bands[b]).is_some_and(|most| most >= bands[a] + bands[b])
                    });
                    assert_eq!(allowed.count(), 1, "{bands:?}");
                }
            }
        }
    }
}

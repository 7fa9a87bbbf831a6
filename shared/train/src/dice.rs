//! Random numbers, as a painter of patches wants them.

use shared::random::Random;

/// Numbers of a seed, the same on every machine.
pub struct Dice(Random);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    /// A number between these, all equally likely.
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.0.fraction() as f32
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f32) -> bool {
        self.range(0.0, 1.0) < probability
    }

    /// A number around 0 with about this deviation, never beyond 3.5 times it: the sum of four equal ones.
    pub fn around(&mut self, deviation: f32) -> f32 {
        let sum = (0..4).map(|_| self.range(-1.0, 1.0)).sum::<f32>();
        sum * deviation * 0.866
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

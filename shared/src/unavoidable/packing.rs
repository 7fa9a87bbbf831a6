//! The largest number of pairwise disjoint sets among some: the MCN of a grid, a lower bound on the clues of its puzzles.
//!
//! Branch and bound as for the largest clique (Tomita & Seki 2003), on the graph of sets that do not meet. Sets that
//! share a cell cannot be together, so a few cells that hit all candidates bound what can still be added; candidates are
//! tried from the last of these cells on, and not at all when so few cells are left that the best is not beaten.
//!
//! Cost: under a millisecond for the 300 sets of a usual 9x9 grid.

use super::CellSet;

/// Places in `sets` of as many pairwise disjoint sets as there can be.
pub fn most_disjoint(sets: &[CellSet]) -> Vec<usize> {
    let words = sets.len().div_ceil(64);
    let row = |set: &CellSet| {
        let mut row = vec![0u64; words];
        for (place, _) in sets.iter().enumerate().filter(|(_, other)| !other.meets(*set)) {
            row[place / 64] |= 1 << (place % 64);
        }
        row
    };
    let mut search =
        Search { sets, apart: sets.iter().map(row).collect(), chosen: Vec::new(), best: Vec::new() };
    let mut all = vec![u64::MAX; words];
    if let Some(last) = all.last_mut() {
        *last >>= (64 - sets.len() % 64) % 64;
    }
    search.extend(&all);
    search.best
}

struct Search<'a> {
    sets: &'a [CellSet],
    /// For each set those that do not meet it.
    apart: Vec<Vec<u64>>,
    chosen: Vec<usize>,
    best: Vec<usize>,
}

impl Search<'_> {
    /// Adds what is best of the candidates, all disjoint from what is chosen.
    fn extend(&mut self, candidates: &[u64]) {
        let order = self.hit(candidates);
        if order.is_empty() && self.chosen.len() > self.best.len() {
            self.best.clone_from(&self.chosen);
        }
        let mut left = candidates.to_vec();
        for &(place, hits) in order.iter().rev() {
            if self.chosen.len() + hits <= self.best.len() {
                return;
            }
            self.chosen.push(place);
            let next: Vec<u64> = left.iter().zip(&self.apart[place]).map(|(a, b)| a & b).collect();
            self.extend(&next);
            self.chosen.pop();
            left[place / 64] &= !(1 << (place % 64));
        }
    }

    /// The candidates in the order in which cells hit them, most first, each with the number of cells needed up to it.
    fn hit(&self, candidates: &[u64]) -> Vec<(usize, usize)> {
        let mut rest: Vec<usize> = members(candidates).collect();
        let mut order = Vec::with_capacity(rest.len());
        let mut hits = 0;
        while !rest.is_empty() {
            let mut degrees = [0u32; 128];
            for &place in &rest {
                self.sets[place].iter().for_each(|cell| degrees[cell] += 1);
            }
            let cell = (0..128).max_by_key(|&cell| degrees[cell]).unwrap_or(0);
            hits += 1;
            // A set without cells is disjoint from everything: it counts by itself.
            let alone = (degrees[cell] == 0).then(|| rest[0]);
            rest.retain(|&place| {
                let hit = self.sets[place].contains(cell) || Some(place) == alone;
                if hit {
                    order.push((place, hits));
                }
                !hit
            });
        }
        order
    }
}

/// The bits set in words.
fn members(words: &[u64]) -> impl Iterator<Item = usize> {
    words
        .iter()
        .enumerate()
        .flat_map(|(number, &word)| CellSet(u128::from(word)).iter().map(move |bit| 64 * number + bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Every subset.
    fn slow(sets: &[CellSet]) -> usize {
        let Some((first, others)) = sets.split_first() else { return 0 };
        let apart: Vec<CellSet> = others.iter().copied().filter(|other| !other.meets(*first)).collect();
        slow(others).max(1 + slow(&apart))
    }

    #[test]
    fn as_many_as_trying_every_subset_finds() {
        for seed in 0..300 {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let (number, size) = (rng.random_range(0..20), rng.random_range(1..5));
            let set = |rng: &mut ChaCha8Rng| (0..size).map(|_| rng.random_range(0..20)).collect();
            let sets: Vec<CellSet> = (0..number).map(|_| set(rng)).collect();
            let best = most_disjoint(&sets);
            assert_eq!(best.len(), slow(&sets), "seed {seed}");
            let cells: usize = best.iter().map(|&place| sets[place].len()).sum();
            let all = best.iter().fold(CellSet::EMPTY, |all, &place| all.union(sets[place]));
            assert_eq!(all.len(), cells, "seed {seed}");
        }
    }
}

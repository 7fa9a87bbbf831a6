//! The largest number of pairwise disjoint sets among some: the MCN of a grid, a lower bound on the clues of its puzzles.
//!
//! Branch and bound as for the largest clique (Tomita & Seki 2003), on the graph of sets that do not meet. Sets that
//! share a cell cannot be together, so as many sets can be added at most as there are cells that hit all candidates. The
//! cells are taken greedily; the candidates left when as many are taken as are missing to the best are tried in turn.
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
    search.chosen = greedy(sets);
    search.best = std::mem::take(&mut search.chosen);
    search.extend(&all);
    search.best
}

/// Disjoint sets, smaller ones first: seldom the most, but a beginning.
fn greedy(sets: &[CellSet]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..sets.len()).collect();
    places.sort_by_key(|&place| sets[place].len());
    let mut union = CellSet::EMPTY;
    places.retain(|&place| {
        let apart = !sets[place].meets(union);
        if apart {
            union = union.union(sets[place]);
        }
        apart
    });
    places
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
        if self.chosen.len() > self.best.len() {
            self.best.clone_from(&self.chosen);
        }
        let mut left = candidates.to_vec();
        // What is hit by as many cells as are missing to the best does not beat it by itself: one of the others has to
        // be chosen.
        for place in self.unhit(candidates, self.best.len() - self.chosen.len()) {
            self.chosen.push(place);
            let next: Vec<u64> = left.iter().zip(&self.apart[place]).map(|(a, b)| a & b).collect();
            self.extend(&next);
            self.chosen.pop();
            left[place / 64] &= !(1 << (place % 64));
        }
    }

    /// The candidates that are left when so many cells have hit as many as they can.
    fn unhit(&self, candidates: &[u64], cells: usize) -> Vec<usize> {
        let mut rest: Vec<usize> = members(candidates).collect();
        let mut degrees = [0u32; 128];
        for &place in &rest {
            self.sets[place].iter().for_each(|cell| degrees[cell] += 1);
        }
        for _ in 0..cells {
            let cell = (0..128).max_by_key(|&cell| degrees[cell]).unwrap_or(0);
            if degrees[cell] == 0 {
                break;
            }
            rest.retain(|&place| {
                let hit = self.sets[place].contains(cell);
                if hit {
                    self.sets[place].iter().for_each(|cell| degrees[cell] -= 1);
                }
                !hit
            });
        }
        rest
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

//! A population of puzzles with weights, and how it goes on by one clue.

use super::{super::CellSet, unique::Unique};
use crate::random::Random;

/// A puzzle on the way, with one solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Particle {
    /// The number of its grid.
    pub grid: usize,
    pub clues: CellSet,
    /// Clues that could go when it was looked last. A clue that could not go then cannot go now.
    pub may_go: CellSet,
    pub weight: f64,
}

impl Particle {
    fn without(&self, cell: usize, weight: f64) -> Self {
        let cell = CellSet::single(cell);
        let (clues, may_go) = (self.clues.without(cell), self.may_go.without(cell));
        Self { clues, may_go, weight, ..*self }
    }
}

/// Particles that are looked at together: their puzzles take a megabyte.
const TOGETHER: usize = 1024;

/// Finds for each particle the clues that can go. Nothing when it is stopped on the way.
pub(super) fn look(
    particles: &mut [Particle],
    unique: &mut Unique<'_>,
    stopped: &dyn Fn() -> bool,
) -> Option<()> {
    for some in particles.chunks_mut(TOGETHER) {
        if stopped() {
            return None;
        }
        look_at(some, unique);
    }
    Some(())
}

fn look_at(particles: &mut [Particle], unique: &mut Unique<'_>) {
    let without = |particle: &Particle, cell| (particle.grid, particle.clues.without(CellSet::single(cell)));
    let one = |particle: &Particle| {
        let particle = *particle;
        particle.may_go.iter().map(move |cell| without(&particle, cell))
    };
    let asked: Vec<_> = particles.iter().flat_map(one).collect();
    let mut told = unique.tell(&asked).into_iter();
    for particle in particles {
        let can = |_: &usize| told.next().unwrap_or(false);
        particle.may_go = particle.may_go.iter().filter(can).collect();
    }
}

/// Particles with fewer clues that can go are nearer to their end, and most of what they stand for is decided sooner:
/// each such clue makes a particle this much less worth following. Any value is right; this one was measured.
const LESS_WORTH: f64 = 0.8;

/// Leaves `size` copies of particles, each without one of its clues that can go. `removed` is the number of cells that
/// are empty then.
///
/// Systematic resampling: `size` points at equal distances, the first one random, on a line that particles share in
/// proportion to what they are worth; each gets as many copies as it has points, which is its share times `size` on
/// average, and its weight is divided by that. Copies take different clues away as long as there are any: each copy by
/// itself takes a random one, and no more is needed for the mean.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
pub(super) fn step(
    particles: &[Particle],
    removed: usize,
    size: usize,
    random: &mut Random,
) -> Vec<Particle> {
    let worth: Vec<f64> = particles.iter().map(worth).collect();
    let share = worth.iter().sum::<f64>() / size as f64;
    let first = random.fraction();
    let (mut end, mut points) = (0.0, 0);
    let mut copies = Vec::with_capacity(size);
    for (particle, worth) in particles.iter().zip(worth) {
        end += worth;
        let mut cells: Vec<usize> = particle.may_go.iter().collect();
        random.shuffle(&mut cells);
        let weight = particle.weight * (cells.len() as f64 / removed as f64) * (share / worth);
        for &cell in cells.iter().cycle() {
            if points == size || (first + points as f64) * share >= end {
                break;
            }
            points += 1;
            copies.push(particle.without(cell, weight));
        }
    }
    copies
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn worth(particle: &Particle) -> f64 {
    let can_go = particle.may_go.len();
    // Multiplied one by one: `powi` may be rounded differently elsewhere.
    let less = (0..can_go).fold(1.0, |worth, _| worth * LESS_WORTH);
    particle.weight * can_go as f64 * less
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies times their weights are, on average over seeds, what the particles stood for.
    #[test]
    fn copies_stand_for_what_was_there() {
        const SEEDS: u64 = 40_000;
        let particle = |grid: usize, clues: usize, weight: f64| {
            let clues = CellSet::below(clues);
            Particle { grid, clues, may_go: clues, weight }
        };
        // One that gets several copies of some cells, one that seldom gets any.
        let particles = [particle(0, 2, 3.0), particle(1, 5, 0.1), particle(2, 20, 1.0), particle(3, 3, 1.0)];
        let mut sums = [[0.0; 20]; 4];
        for seed in 0..SEEDS {
            let copies = step(&particles, 4, 8, &mut Random::new(seed));
            assert_eq!(copies.len(), 8);
            for copy in copies {
                let gone = particles[copy.grid].clues.without(copy.clues);
                assert!(gone.len() == 1 && copy.may_go == copy.clues);
                sums[copy.grid][gone.iter().next().unwrap()] += copy.weight / 40_000.0;
            }
        }
        for (particle, sums) in particles.iter().zip(sums) {
            for cell in particle.clues.iter() {
                let ratio = sums[cell] / (particle.weight / 4.0);
                assert!((ratio - 1.0).abs() < 0.15, "{particle:?} without {cell}: {ratio}");
            }
        }
    }
}

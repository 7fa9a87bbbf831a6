//! Random boards with one solution, made as the tests of the general solver make theirs.

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use shared::{
    grid::Shape,
    random::Random,
    solve::general::{Question, solve},
};

#[path = "../../../../shared/src/solve/general/made.rs"]
mod made;

/// A puzzle with one solution and `clues` digits, or as few more as it takes.
pub fn puzzle(shape: Shape, clues: usize, random: &mut Random) -> Vec<u8> {
    let rng = &mut ChaCha8Rng::seed_from_u64(random.word());
    let grid = made::grid(shape, rng);
    made::minimal(shape, &grid, clues, rng)
}

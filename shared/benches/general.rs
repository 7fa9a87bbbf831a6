//! How long the general solver takes for a puzzle, by shape and density, up to two solutions and on one core, and how
//! many puzzles it finishes under a cap.
//!
//! `NONET_BENCH_PLAIN=1` adds the plain reference solver for shapes up to 9x9. `NONET_BENCH_ONLY=4x4` measures one shape.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::Shape,
    solve::{
        general::{Question, solve},
        reference,
    },
};

#[path = "../src/solve/general/made.rs"]
mod made;

//! The course of a training.

use std::time::Instant;

use rayon::prelude::*;
use shared::{
    photo::net::{Weights, layer::LANES},
    random::Random,
};

use crate::{
    adam::Adam,
    dice::Dice,
    model::{Pass, Sample, each},
    real::varied,
    scene::{self, Sources},
};

/// Groups of [`LANES`] samples from which a step is taken.
const GROUPS: usize = 8;
/// Steps during which the rate rises from 0.
const WARM: usize = 200;

/// What a training is made with.
pub struct Plan<'a> {
    pub sources: Sources<'a>,
    /// Real patches, and the part of the samples that is made of them.
    pub real: &'a [Sample],
    pub real_share: f32,
    /// Samples in all.
    pub samples: usize,
    pub seed: u64,
    /// The highest rate: it falls along half a cosine.
    pub rate: f32,
}

/// Samples of a seed: real ones that are varied, and painted ones.
fn group(plan: &Plan, seed: u64) -> Vec<Sample> {
    let mut dice = Dice::new(seed);
    let sample = |_| {
        let real = !plan.real.is_empty() && dice.chance(plan.real_share);
        if real { varied(dice.pick(plan.real), &mut dice) } else { scene::patch(&plan.sources, &mut dice) }
    };
    (0..LANES).map(sample).collect()
}

/// The seed of a group, scattered: seeds that differ by multiples of what [`Random`] steps by give the same numbers.
fn seed(plan: &Plan, group: usize) -> u64 {
    Random::new((plan.seed << 40).wrapping_add(group as u64)).word()
}

/// Trains, and calls `after` now and then with the share that is done and the weights.
pub fn train(plan: &Plan, weights: &mut Weights, mut after: impl FnMut(f32, &Weights)) {
    let steps = plan.samples / (GROUPS * LANES);
    let mut adam = Adam::new();
    let (mut loss, start) = (0.0, Instant::now());
    for step in 0..steps {
        let parts: Vec<(Weights, f32)> = (0..GROUPS)
            .into_par_iter()
            .map_init(Pass::new, |pass, number| {
                let samples = group(plan, seed(plan, step * GROUPS + number));
                let mut gradient = Weights::zeros();
                let loss = pass.learn(weights, &samples, &mut gradient);
                (gradient, loss)
            })
            .collect();
        // Added up in one order, so that a seed gives the same weights again.
        let mut gradient = Weights::zeros();
        for (part, part_loss) in parts {
            let mut part = part;
            each(&mut gradient).zip(each(&mut part)).for_each(|(sum, part)| *sum += *part);
            loss += part_loss;
        }
        each(&mut gradient).for_each(|slope| *slope /= (GROUPS * LANES) as f32);
        let done = step as f32 / steps as f32;
        let fallen = 0.5 + 0.5 * (std::f32::consts::PI * done).cos();
        let rate = plan.rate * (fallen + 0.002) * ((step + 1) as f32 / WARM as f32).min(1.0);
        adam.step(weights, &mut gradient, rate, 0.005);
        let every = (steps / 200).clamp(50, 2000);
        if (step + 1) % every == 0 {
            let mean = loss / (every * GROUPS * LANES) as f32;
            let speed = ((step + 1) * GROUPS * LANES) as f64 / start.elapsed().as_secs_f64();
            println!("{:5.1} %  loss {mean:.4}  {speed:.0} samples/s", 100.0 * done);
            loss = 0.0;
        }
        if (step + 1) % (steps / 10).max(1) == 0 {
            after(done, weights);
        }
    }
}

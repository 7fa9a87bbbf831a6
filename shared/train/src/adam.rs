//! Adam: steps that are as long as the gradient is steady.

use shared::photo::net::{LAYERS, Weights};

use crate::{dice::Dice, model::each};

/// How much of the mean of the gradient, and of its square, is kept at a step.
const KEPT: [f32; 2] = [0.9, 0.999];

/// The means of the gradient and of its square, and the steps done.
pub struct Adam {
    mean: Weights,
    square: Weights,
    steps: i32,
}

impl Adam {
    pub fn new() -> Self {
        Self { mean: Weights::zeros(), square: Weights::zeros(), steps: 0 }
    }

    /// A step down the gradient of a batch; `decay` is the part of the weights that is taken off at a rate of 1.
    pub fn step(&mut self, weights: &mut Weights, gradient: &mut Weights, rate: f32, decay: f32) {
        self.steps += 1;
        let [mean_part, square_part] = KEPT.map(|kept| 1.0 - kept.powi(self.steps));
        let all = each(weights).zip(each(gradient)).zip(each(&mut self.mean)).zip(each(&mut self.square));
        for (((weight, gradient), mean), square) in all {
            *mean = KEPT[0] * *mean + (1.0 - KEPT[0]) * *gradient;
            *square = KEPT[1] * *square + (1.0 - KEPT[1]) * *gradient * *gradient;
            let slope = (*mean / mean_part) / ((*square / square_part).sqrt() + 1e-8);
            *weight -= rate * (slope + decay * *weight);
        }
    }
}

/// Weights to begin with: random, such that numbers keep their size from layer to layer; biases of 0.
pub fn initial(seed: u64) -> Weights {
    let mut dice = Dice::new(seed);
    let mut weights = Weights::zeros();
    for (layer, weights) in LAYERS.iter().zip(&mut weights.weights) {
        // Uniform numbers up to a have a variance of a^2 / 3; 2 / (numbers that come in) is wanted.
        let most = (6.0 / (layer.window * layer.run()) as f32).sqrt();
        weights.iter_mut().for_each(|weight| *weight = dice.range(-most, most));
    }
    weights
}

//! The loss of the net and its gradient.

use shared::photo::{
    classify::{CLASSES, Patch},
    net::{
        LAYERS, Weights,
        layer::{self, LANES, Lanes, Layer},
        log_probabilities,
    },
};

use crate::backward;

/// Weight that the labels give to all classes together, so that the net does not strive for certainty.
pub const SMOOTHING: f32 = 0.02;

/// A patch and its class.
#[derive(Clone)]
pub struct Sample {
    pub patch: Patch,
    pub label: usize,
}

/// What a pass through the net leaves: for each layer the sums before pooling, its output and the gradients of both.
pub struct Pass {
    input: Vec<Lanes>,
    sums: Vec<Vec<Lanes>>,
    outputs: Vec<Vec<Lanes>>,
    sum_gradients: Vec<Vec<Lanes>>,
    gradients: Vec<Vec<Lanes>>,
    room: Vec<Lanes>,
}

impl Pass {
    pub fn new() -> Self {
        let lanes = |length: fn(&Layer) -> usize| -> Vec<Vec<Lanes>> {
            LAYERS.iter().map(|layer| vec![Lanes::ZERO; length(layer)]).collect()
        };
        let unpooled = |layer: &Layer| layer.unpooled() * layer.unpooled() * layer.outs;
        Self {
            input: vec![Lanes::ZERO; LAYERS[0].input()],
            sums: lanes(unpooled),
            outputs: lanes(Layer::output),
            sum_gradients: lanes(unpooled),
            gradients: lanes(Layer::output),
            room: Vec::new(),
        }
    }

    /// Adds the gradient of the loss of [`LANES`] samples to `gradient`, and gives the loss: the sum over the samples.
    pub fn learn(&mut self, weights: &Weights, samples: &[Sample], gradient: &mut Weights) -> f32 {
        assert_eq!(samples.len(), LANES);
        for (lane, sample) in samples.iter().enumerate() {
            for (input, &level) in self.input.iter_mut().zip(&sample.patch) {
                input.0[lane] = f32::from(level) * (1.0 / 255.0);
            }
        }
        self.forward(weights);
        let loss = self.loss(samples);
        self.backward(weights, gradient);
        loss
    }

    fn forward(&mut self, weights: &Weights) {
        for (number, layer) in LAYERS.iter().enumerate() {
            let (before, after) = self.outputs.split_at_mut(number);
            let input = before.last().unwrap_or(&self.input);
            let unpooled = Layer { pool: 1, rectified: false, ..*layer };
            let sums = &mut self.sums[number];
            layer::forward(&unpooled, &weights.weights[number], &weights.biases[number], input, sums);
            backward::pool(layer, sums, &mut after[0]);
        }
    }

    /// The loss, and its gradient into that of the scores.
    fn loss(&mut self, samples: &[Sample]) -> f32 {
        let scores = &self.outputs[LAYERS.len() - 1];
        let gradient = &mut self.gradients[LAYERS.len() - 1];
        gradient.fill(Lanes::ZERO);
        let mut loss = 0.0;
        for (lane, sample) in samples.iter().enumerate() {
            let logs = log_probabilities(&std::array::from_fn(|class| scores[class].0[lane]), 1.0);
            for (class, log) in logs.iter().enumerate() {
                let mut wanted = SMOOTHING / CLASSES as f32;
                if class == sample.label {
                    wanted += 1.0 - SMOOTHING;
                }
                loss -= wanted * log;
                gradient[class].0[lane] = log.exp() - wanted;
            }
        }
        loss
    }

    fn backward(&mut self, weights: &Weights, gradient: &mut Weights) {
        for (number, layer) in LAYERS.iter().enumerate().rev() {
            let input = if number == 0 { &self.input } else { &self.outputs[number - 1] };
            let (below, here) = self.gradients.split_at_mut(number);
            let sums = &mut self.sum_gradients[number];
            backward::unpool(layer, &self.sums[number], &self.outputs[number], &here[0], sums);
            let add_to = [&mut gradient.weights[number], &mut gradient.biases[number]].map(Vec::as_mut_slice);
            backward::weights(layer, input, sums, &mut self.room, add_to);
            if let Some(below) = below.last_mut() {
                backward::input(layer, &weights.weights[number], sums, below);
            }
        }
    }
}

/// A number for each weight of the net.
pub fn each(weights: &mut Weights) -> impl Iterator<Item = &mut f32> {
    weights.weights.iter_mut().chain(&mut weights.biases).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adam::initial, dice::Dice};

    /// The gradient is that of differences, up to what 32 bits allow and a kink may cost.
    #[test]
    fn gradients_are_those_of_differences() {
        let mut dice = Dice::new(1);
        let samples: Vec<Sample> = (0..LANES)
            .map(|lane| Sample {
                patch: std::array::from_fn(|_| dice.below(256) as u8),
                label: lane % CLASSES,
            })
            .collect();
        let weights = initial(2);
        let mut pass = Pass::new();
        let mut gradient = Weights::zeros();
        pass.learn(&weights, &samples, &mut gradient);
        let (mut along, mut squares) = (0.0, 0.0);
        // Along random directions, one for each layer and one for all: any wrong layer shows.
        for chosen in 0..=LAYERS.len() {
            let mut direction = Weights::zeros();
            for number in (0..LAYERS.len()).filter(|&number| chosen == LAYERS.len() || chosen == number) {
                let scale = 1e-3 / (LAYERS[number].run() as f32).sqrt();
                let both = [&mut direction.weights[number], &mut direction.biases[number]];
                both.into_iter().flatten().for_each(|entry| *entry = scale * dice.range(-1.0, 1.0));
            }
            let mut expected = 0.0;
            for (by, slope) in each(&mut direction.clone()).zip(each(&mut gradient.clone())) {
                expected += f64::from(*by) * f64::from(*slope);
            }
            let mut loss = |sign: f32| {
                let mut moved = weights.clone();
                each(&mut moved).zip(each(&mut direction)).for_each(|(weight, by)| *weight += sign * *by);
                f64::from(pass.learn(&moved, &samples, &mut Weights::zeros()))
            };
            let found = (loss(1.0) - loss(-1.0)) / 2.0;
            assert!((found - expected).abs() < 0.05 * expected.abs() + 2e-4, "{chosen}: {found} {expected}");
            along += (found - expected).powi(2);
            squares += expected.powi(2);
        }
        assert!(along < 0.01 * squares, "{along} {squares}");
    }
}

//! The net of the classifier: its layers, its weights and what comes out.
//!
//! Three convolutions and two dense layers, about 60,000 weights and 0.7 million products for a patch. The trainer
//! (package `train`) works with the same layers.

pub mod layer;
pub mod math;

use super::classify::{CLASSES, LogProbabilities, Patch, SIDE};
use layer::{LANES, Lanes, Layer};

const fn layer(side: usize, ins: usize, outs: usize, window: usize, pool: usize) -> Layer {
    Layer { side, ins, outs, window, pool, rectified: true }
}

/// The layers, from the patch to the scores of the classes.
pub const LAYERS: [Layer; 5] = [
    layer(SIDE, 1, 12, 5, 2),
    layer(12, 12, 32, 3, 2),
    layer(5, 32, 64, 3, 1),
    layer(3, 64, 64, 3, 1),
    Layer { rectified: false, ..layer(1, 64, SCORES, 1, 1) },
];

/// Scores that come out: one for each class, filled up to whole blocks.
pub const SCORES: usize = CLASSES.next_multiple_of(layer::BLOCK);

/// The first bytes of a file of weights. Another set of layers needs another one.
const MAGIC: &[u8; 8] = b"nonetd01";

/// Weights and biases of all layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// What scores are multiplied with so that they are calibrated: 1 divided by the temperature.
    pub sharpness: f32,
    /// The weights of each layer in the order of [`Layer::weights`].
    pub weights: [Vec<f32>; LAYERS.len()],
    /// The biases of each layer.
    pub biases: [Vec<f32>; LAYERS.len()],
}

impl Weights {
    /// Weights that are all 0.
    pub fn zeros() -> Self {
        let vectors = |length: fn(&Layer) -> usize| std::array::from_fn(|i| vec![0.0; length(&LAYERS[i])]);
        Self { sharpness: 1.0, weights: vectors(Layer::weights), biases: vectors(|layer| layer.outs) }
    }

    /// The vectors of weights and biases, layer by layer: the order of the file.
    fn vectors(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        self.weights.iter_mut().zip(&mut self.biases).flat_map(|(weights, biases)| [weights, biases])
    }

    /// Reads what [`Self::to_bytes`] wrote; `None` when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.strip_prefix(MAGIC)?.as_chunks::<4>() else { return None };
        let mut numbers = numbers.iter().map(|&number| f32::from_le_bytes(number));
        let mut read = Self::zeros();
        read.sharpness = numbers.next()?;
        for vector in read.vectors() {
            for number in vector {
                *number = numbers.next()?;
            }
        }
        numbers.next().is_none().then_some(read)
    }

    /// Bytes from which they can be read again: eight that name the layers, then little-endian numbers.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.sharpness.to_le_bytes());
        for (weights, biases) in self.weights.iter().zip(&self.biases) {
            bytes.extend(weights.iter().chain(biases).flat_map(|number| number.to_le_bytes()));
        }
        bytes
    }
}

/// The numbers between the layers, for [`LANES`] patches.
pub struct Activations(Vec<Vec<Lanes>>);

impl Activations {
    /// Room for all layers.
    pub fn new() -> Self {
        let outputs = LAYERS.iter().map(Layer::output);
        Self([LAYERS[0].input()].into_iter().chain(outputs).map(|length| vec![Lanes::ZERO; length]).collect())
    }

    /// Lays patches into the lanes; lanes without a patch are left as they are.
    ///
    /// # Panics
    ///
    /// When there are more than [`LANES`].
    pub fn fill(&mut self, patches: &[Patch]) {
        assert!(patches.len() <= LANES);
        for (lane, patch) in patches.iter().enumerate() {
            for (input, &level) in self.0[0].iter_mut().zip(patch) {
                input.0[lane] = f32::from(level) * (1.0 / 255.0);
            }
        }
    }

    /// Runs through all layers, and gives the scores.
    pub fn run(&mut self, weights: &Weights) -> &[Lanes] {
        for (number, layer) in LAYERS.iter().enumerate() {
            let (before, after) = self.0.split_at_mut(number + 1);
            let (input, output) = (&before[number], &mut after[0]);
            layer::forward(layer, &weights.weights[number], &weights.biases[number], input, output);
        }
        &self.0[LAYERS.len()]
    }
}

impl Default for Activations {
    fn default() -> Self {
        Self::new()
    }
}

/// The logarithms of probabilities that scores stand for.
pub fn log_probabilities(scores: &[f32; CLASSES], sharpness: f32) -> LogProbabilities {
    let scores = scores.map(|score| score * sharpness);
    let highest = scores.iter().fold(f32::MIN, |high, &score| if score > high { score } else { high });
    let sum = scores.iter().fold(0.0, |sum, &score| sum + math::exp(score - highest));
    let shift = highest + math::ln(sum);
    scores.map(|score| score - shift)
}

#[cfg(test)]
mod tests;

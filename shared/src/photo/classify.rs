//! What the patch of a cell shows.

use super::net::{self, Activations, Weights, layer::LANES};

/// Pixels along a side of a patch.
pub const SIDE: usize = 28;

/// A cell, cut out of a photograph and made comparable: 0 is paper, 255 as dark as the ink of its grid or darker. It
/// shows the whole cell, and some of its border lines: what is outside the cell by a tenth of its side is there too.
pub type Patch = [u8; SIDE * SIDE];

/// What a patch may show: nothing that counts, a digit from 1 to 9, or small candidates.
pub const CLASSES: usize = 11;

/// The class of a cell without anything in it, line fragments, dust and pictures behind the digits aside.
pub const NOTHING: usize = 0;

/// The class of small digits that somebody noted as candidates: one or several, well below half a cell high each.
pub const CANDIDATES: usize = 10;

/// The logarithm of the probability of each class.
pub type LogProbabilities = [f32; CLASSES];

/// A net with its weights. Its answers are the same bits on every machine.
#[derive(Clone, Debug)]
pub struct Classifier {
    weights: Weights,
}

impl Classifier {
    /// The classifier with the weights that come with the program (see the README of the trainer).
    ///
    /// # Panics
    ///
    /// When they are of other layers, which a test finds.
    pub fn new() -> Self {
        let weights = Weights::from_bytes(include_bytes!("net/weights.bin"));
        Self { weights: weights.expect("the weights are those of the layers") }
    }

    /// A classifier with other weights.
    pub fn with(weights: Weights) -> Self {
        Self { weights }
    }

    /// What each patch shows, calibrated: of the patches with a probability of 0.9 nine tenths are right. Natural
    /// logarithms, all finite. Time: below 0.1 ms for a patch on one core.
    pub fn classify(&self, patches: &[Patch]) -> Vec<LogProbabilities> {
        let mut activations = Activations::new();
        let mut found = Vec::with_capacity(patches.len());
        for together in patches.chunks(LANES) {
            activations.fill(together);
            let scores = activations.run(&self.weights);
            found.extend((0..together.len()).map(|lane| {
                let scores = std::array::from_fn(|class| scores[class].0[lane]);
                net::log_probabilities(&scores, self.weights.sharpness)
            }));
        }
        found
    }
}

impl Default for Classifier {
    fn default() -> Self {
        Self::new()
    }
}

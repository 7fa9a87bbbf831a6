//! What the patch of a cell shows.

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

/// Placeholder until the net is there.
#[derive(Debug, Default)]
pub struct Classifier;
impl Classifier {
    /// None.
    pub fn classify(&self, patches: &[Patch]) -> Vec<LogProbabilities> {
        patches.iter().map(|_| [-2.4; CLASSES]).collect()
    }
}

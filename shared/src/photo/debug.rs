//! What the steps of a reading make of a photograph, for somebody who wants to look.

use super::Colour;

/// Takes a picture of each step.
pub trait Sink {
    /// Takes the picture of a step. Steps have short names of small letters, digits and hyphens, which may come several
    /// times: one for each lattice that is tried, say.
    fn picture(&mut self, step: &str, picture: &Colour);
}

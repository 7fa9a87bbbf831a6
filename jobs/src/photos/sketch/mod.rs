//! Pages with boards as newspapers, books and programs show them, drawn from a seed: what tests of the reading look at.

mod boards;
mod scenes;
mod tests;

pub(super) use tests::photo;

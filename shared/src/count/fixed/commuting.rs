//! What commutes with a symmetry, as it acts on cells and on their orbits.

use std::collections::HashSet;

use super::{
    mask::{Mask, Mixed},
    orbits::CellOrbits,
};
use crate::symmetry::Symmetry;

/// An element of the centralizer.
pub(super) struct Commuting {
    /// Where each cell goes.
    pub(super) cells: Vec<u8>,
    /// Where each orbit of cells goes, by their bits in a mask.
    orbits: Vec<u8>,
}

impl Commuting {
    /// All that `generators` generate; orbits have their bits as `place` says. Shapes have at most 256 cells here.
    pub(super) fn generated(orbits: &CellOrbits, place: &[usize], generators: &[Symmetry]) -> Vec<Self> {
        let small = |number: usize| u8::try_from(number).expect("at most 256 cells");
        let generators: Vec<Vec<u8>> =
            generators.iter().map(|by| by.cells().into_iter().map(small).collect()).collect();
        let identity: Vec<u8> = (0..=u8::MAX).take(orbits.place.len()).collect();
        let mut known = HashSet::from([identity.clone()]);
        let mut group = vec![identity];
        let mut next = 0;
        while next < group.len() {
            for by in &generators {
                let product: Vec<u8> = group[next].iter().map(|&cell| by[usize::from(cell)]).collect();
                if known.insert(product.clone()) {
                    group.push(product);
                }
            }
            next += 1;
        }
        let on_orbits = |cells: &[u8]| orbits.action(place, |cell| usize::from(cells[cell]));
        group.into_iter().map(|cells| Self { orbits: on_orbits(&cells), cells }).collect()
    }

    /// The image of a set of orbits.
    pub(super) fn image<M: Mask>(&self, set: M) -> M {
        set.members().fold(M::EMPTY, |image, member| image | M::bit(self.orbits[member].into()))
    }

    /// Whether a set of orbits goes to itself.
    pub(super) fn keeps<M: Mask>(&self, set: M) -> bool {
        set.members().all(|member| M::bit(self.orbits[member].into()) & set != M::EMPTY)
    }
}

/// Of `choices`, one of each set that `group` takes to each other, and how many of `choices` are in that set.
/// `image` gives the image of a choice; among the images may be some that are no choices (`is_choice` tells).
pub(super) fn up_to<T: Copy + Eq + std::hash::Hash>(
    group: &[&Commuting],
    choices: impl IntoIterator<Item = T>,
    image: impl Fn(&Commuting, T) -> T,
    is_choice: impl Fn(T) -> bool,
) -> Vec<(T, u64)> {
    let mut seen: HashSet<T, Mixed> = HashSet::default();
    let mut representatives = Vec::new();
    for choice in choices {
        let before = seen.len();
        if !seen.contains(&choice) {
            seen.extend(group.iter().map(|by| image(by, choice)).filter(|&image| is_choice(image)));
            representatives.push((choice, (seen.len() - before) as u64));
        }
    }
    representatives
}

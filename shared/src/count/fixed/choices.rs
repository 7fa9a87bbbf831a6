//! Choices of blocks up to what commutes with the symmetry.
//!
//! A group that keeps what is chosen so far takes covers to covers. So of the blocks that can be chosen next only one
//! of each of the group's orbits is followed up, times the number of its images among the choices; and for the choice
//! after that the group is the stabilizer of the block. Schreier's lemma gives generators of it: for every block x
//! of the orbit with a way t(x) to it, and every generator g, the element t(x) g t(xg)^-1. Any part of them will do:
//! a smaller group only leaves more choices.

use std::collections::{HashMap, HashSet};

use super::{
    blocks::Block,
    mask::{Mask, Mixed},
    orbits::CellOrbits,
};
use crate::symmetry::Symmetry;

/// Where each orbit of cells goes, by their bits in a mask.
pub(super) type Action = Vec<u8>;

/// Blocks of an orbit up to which a stabilizer is looked for.
const MOST_BLOCKS: usize = 1 << 18;
/// Generators of a stabilizer that are enough.
const ENOUGH: usize = 256;

/// A choice that stands for others.
#[derive(Clone, Debug)]
pub(super) struct Choice<M> {
    pub(super) block: Block<M>,
    /// How many choices leave as many covers as this one.
    pub(super) alike: u64,
    /// Generators of a group that keeps the block, and all that the group keeps that it was chosen up to.
    pub(super) stabilizer: Vec<Action>,
}

/// What symmetries that commute with the one whose orbits these are do to the orbits, which have their bits by `place`.
pub(super) fn actions(orbits: &CellOrbits, place: &[usize], commuting: &[Symmetry]) -> Vec<Action> {
    commuting.iter().map(|by| orbits.action(place, |cell| by.source(cell))).collect()
}

/// Of `blocks`, which are all choices there are and have the same first orbit of cells, one for each orbit of the group
/// that `generators` generate.
/// Their stabilizers are looked for when `with_stabilizers` says so.
pub(super) fn up_to<M: Mask>(
    generators: &[Action],
    blocks: &[Block<M>],
    with_stabilizers: bool,
) -> Vec<Choice<M>> {
    if generators.is_empty() {
        let alone = |block: &Block<M>| Choice { block: *block, alike: 1, stabilizer: Vec::new() };
        return blocks.iter().map(alone).collect();
    }
    let mut seen: HashSet<M, Mixed> = HashSet::default();
    let mut choices = Vec::new();
    for block in blocks {
        if !seen.contains(&block.mask) {
            choices.push(orbit(generators, *block, &mut seen, with_stabilizers));
        }
    }
    choices
}

/// Goes through the orbit of a block.
fn orbit<M: Mask>(
    generators: &[Action],
    block: Block<M>,
    seen: &mut HashSet<M, Mixed>,
    with_stabilizer: bool,
) -> Choice<M> {
    // The block without cells is the only choice when all is covered.
    let first = if block.mask == M::EMPTY { M::EMPTY } else { M::bit(block.mask.first()) };
    let mut orbit = vec![block.mask];
    // For each block of the orbit its number, and what takes the first one to it; as long as they are not too many.
    let mut numbers: HashMap<M, usize, Mixed> = HashMap::default();
    numbers.insert(block.mask, 0);
    let identity: Action = (0..=u8::MAX).take(M::BITS).collect();
    let mut ways: Vec<Action> = with_stabilizer.then_some(identity).into_iter().collect();
    let mut stabilizer: HashSet<Action> = HashSet::new();
    let mut alike = 0;
    let mut next = 0;
    seen.insert(block.mask);
    while let Some(&mask) = orbit.get(next) {
        alike += u64::from(mask & first == first);
        for by in generators {
            let image = image(by, mask);
            let way = ways.get(next).filter(|_| stabilizer.len() < ENOUGH).map(|way| then(way, by));
            if seen.insert(image) {
                if orbit.len() < MOST_BLOCKS && ways.len() == orbit.len() {
                    numbers.insert(image, orbit.len());
                    ways.extend(way);
                }
                orbit.push(image);
            } else if let (Some(way), Some(&number)) = (way, numbers.get(&image)) {
                let element = then(&way, &inverse(&ways[number]));
                if element.iter().zip(0..).any(|(&to, from)| to != from) {
                    stabilizer.insert(element);
                }
            }
        }
        next += 1;
    }
    let mut stabilizer: Vec<Action> = stabilizer.into_iter().collect();
    // The order of a set is not the same everywhere.
    stabilizer.sort_unstable();
    Choice { block, alike, stabilizer }
}

fn image<M: Mask>(by: &Action, set: M) -> M {
    set.members().fold(M::EMPTY, |image, member| image | M::bit(by[member].into()))
}

fn then(first: &Action, next: &Action) -> Action {
    first.iter().map(|&orbit| next.get(usize::from(orbit)).copied().unwrap_or(orbit)).collect()
}

fn inverse(action: &Action) -> Action {
    let mut inverse = action.clone();
    for (&to, from) in action.iter().zip(0..) {
        inverse[usize::from(to)] = from;
    }
    inverse
}

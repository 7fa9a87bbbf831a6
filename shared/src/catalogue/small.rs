//! Every grid of a small shape: 288 of 2x2 and 28,200,960 of 2x3.
//!
//! Digits can be renamed so that the first row is 1, 2, 3, ...; the grids of that form are listed: 12 and 39,168. The
//! symmetries of the shape fall on this list (an image is renamed to have that form), and its orbits are the
//! essentially different grids: 2 and 49 (OEIS A291188; transposition counts where boxes are square). The symmetries that take
//! a grid to itself, up to renaming, are its automorphisms.

use std::collections::{BTreeSet, HashSet};

use crate::{
    grid::Shape,
    symmetry::{Symmetry, SymmetryGroup},
    unavoidable::{CellSet, CompleteGrid},
};

/// The grids of a small shape up to renaming digits, and their classes.
#[derive(Clone, Debug)]
pub struct SmallGrids {
    shape: Shape,
    /// Digits row by row, the first row ascending; in lexicographic order.
    grids: Vec<Vec<u8>>,
    classes: Vec<GridClass>,
    /// For each cell of an image the cell it comes from.
    symmetries: Vec<Vec<usize>>,
}

/// Grids that are alike under the symmetries of their shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridClass {
    /// The first of them in the list.
    pub first: usize,
    /// How many there are, up to renaming digits.
    pub grids: u64,
    /// The symmetries that take the first to itself, up to renaming: for each cell the cell that it goes to.
    pub automorphisms: Vec<Vec<usize>>,
}

impl GridClass {
    /// How many automorphisms of the first grid take a puzzle of it to itself, if the puzzle comes first among its
    /// images (so that of puzzles that are alike one is told apart).
    pub fn first_of_its_kind(&self, clues: CellSet) -> Option<u64> {
        let mut same = 0;
        for goes_to in &self.automorphisms {
            let image: CellSet = clues.iter().map(|cell| goes_to[cell]).collect();
            if image < clues {
                return None;
            }
            same += u64::from(image == clues);
        }
        Some(same)
    }
}

impl SmallGrids {
    /// The grids of 2x2, 2x3 or 3x2; `None` for other shapes, which have too many. Cost: 0.2 s for 2x3.
    pub fn new(shape: Shape) -> Option<Self> {
        if ![Shape::FOUR, Shape::SIX, Shape::SIX.transposed()].contains(&shape) {
            return None;
        }
        let side = shape.side();
        let mut cells = vec![0; side * side];
        cells.iter_mut().zip(1..).take(side).for_each(|(cell, digit)| *cell = digit);
        let mut grids = Vec::new();
        fill(shape, &mut cells, side, &mut grids);
        let symmetries = symmetries(shape);
        let classes = classes(shape, &grids, &symmetries);
        Some(Self { shape, grids, classes, symmetries })
    }

    /// Number of grids up to renaming digits.
    pub fn len(&self) -> usize {
        self.grids.len()
    }

    /// Never: there are grids.
    pub fn is_empty(&self) -> bool {
        self.grids.is_empty()
    }

    /// All grids up to renaming digits, row by row.
    pub fn all(&self) -> &[Vec<u8>] {
        &self.grids
    }

    /// A grid of the list.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    pub fn grid(&self, number: usize) -> CompleteGrid {
        CompleteGrid::new(self.shape, &self.grids[number]).expect("every cell was filled by the rules")
    }

    /// The essentially different grids, by the first of each in the list.
    pub fn classes(&self) -> &[GridClass] {
        &self.classes
    }

    /// The puzzles that are like one of a grid, up to renaming digits: the number of their grid, and their clues.
    ///
    /// # Panics
    ///
    /// When there are not so many grids.
    pub fn alike(&self, number: usize, clues: CellSet) -> BTreeSet<(usize, CellSet)> {
        let grid = &self.grids[number];
        let image = |sources: &Vec<usize>| {
            let cells = renamed(self.shape.side(), sources.iter().map(|&source| grid[source]).collect());
            let place = self.grids.binary_search(&cells).expect("an image of a grid is a grid");
            (place, (0..cells.len()).filter(|&cell| clues.contains(sources[cell])).collect())
        };
        self.symmetries.iter().map(image).collect()
    }

    /// The number of ways to rename digits.
    pub fn renamings(&self) -> u64 {
        (1..=self.shape.side() as u64).product()
    }
}

/// Fills the cells from `cell` on in every way.
fn fill(shape: Shape, cells: &mut Vec<u8>, cell: usize, found: &mut Vec<Vec<u8>>) {
    let side = shape.side();
    if cell == cells.len() {
        found.push(cells.clone());
        return;
    }
    let number = |cell: usize| (cell / side, cell % side);
    let own = |(row, column): (usize, usize)| (row / shape.rows(), column / shape.columns());
    let here = number(cell);
    for digit in (1..).take(side) {
        let clash = |(other, &given): (usize, &u8)| {
            let there = number(other);
            given == digit && (there.0 == here.0 || there.1 == here.1 || own(there) == own(here))
        };
        if !cells[..cell].iter().enumerate().any(clash) {
            cells[cell] = digit;
            fill(shape, cells, cell + 1, found);
        }
    }
    cells[cell] = 0;
}

/// The orbits of the list. Every symmetry is applied to the first grid of each, so that no more than the list is
/// needed.
fn classes(shape: Shape, grids: &[Vec<u8>], symmetries: &[Vec<usize>]) -> Vec<GridClass> {
    let mut done = vec![false; grids.len()];
    let mut classes = Vec::new();
    for first in 0..grids.len() {
        if done[first] {
            continue;
        }
        let grid = &grids[first];
        let mut orbit = BTreeSet::new();
        let mut automorphisms = Vec::new();
        for sources in symmetries {
            let image = renamed(shape.side(), sources.iter().map(|&source| grid[source]).collect());
            let place = grids.binary_search(&image).expect("an image of a grid is a grid");
            if place == first {
                automorphisms.push(inverse(sources));
            }
            done[place] = true;
            orbit.insert(place);
        }
        classes.push(GridClass { first, grids: orbit.len() as u64, automorphisms });
    }
    classes
}

/// From where each cell comes from to where it goes.
fn inverse(sources: &[usize]) -> Vec<usize> {
    let mut goes_to = vec![0; sources.len()];
    sources.iter().enumerate().for_each(|(cell, &source)| goes_to[source] = cell);
    goes_to
}

/// A grid with its digits renamed so that the first row ascends.
fn renamed(side: usize, mut cells: Vec<u8>) -> Vec<u8> {
    let mut names = vec![0; side + 1];
    cells[..side].iter().zip(1..).for_each(|(&digit, name)| names[usize::from(digit)] = name);
    cells.iter_mut().for_each(|cell| *cell = names[usize::from(*cell)]);
    cells
}

/// All symmetries of a small shape, as the cells that those of the image come from.
fn symmetries(shape: Shape) -> Vec<Vec<usize>> {
    let generators = SymmetryGroup::new(shape, shape.rows() == shape.columns()).generators();
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    let mut open = vec![Symmetry::identity(shape)];
    while let Some(symmetry) = open.pop() {
        if seen.insert(symmetry.cells()) {
            open.extend(generators.iter().map(|generator| symmetry.then(generator)));
        }
    }
    let mut all: Vec<Vec<usize>> = seen.into_iter().collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_is_known() {
        for (shape, grids, different, order) in [
            (Shape::FOUR, 12, 2, 128),
            (Shape::SIX, 39_168, 49, 3456),
            (Shape::SIX.transposed(), 39_168, 49, 3456),
        ] {
            let small = SmallGrids::new(shape).unwrap();
            assert_eq!((small.len(), small.classes().len()), (grids, different), "{shape}");
            assert!(small.all().is_sorted());
            assert_eq!(small.classes().iter().map(|class| class.grids).sum::<u64>(), grids as u64);
            for class in small.classes() {
                assert_eq!(class.grids * class.automorphisms.len() as u64, order, "orbit and stabiliser");
            }
        }
        assert!(SmallGrids::new(Shape::NINE).is_none());
        assert_eq!(SmallGrids::new(Shape::SIX).unwrap().renamings(), 720);
    }
}

//! Every minimal puzzle of 4x4 or 6x6.
//!
//! The minimal puzzles of a grid are the minimal hitting sets of its minimal unavoidable sets
//! ([`shared::unavoidable`]). A puzzle has one grid, so that those of all grids are counted grid by grid, and grids that
//! are alike have as many: a unit is one of the essentially different grids. Two of its puzzles are alike when an
//! automorphism of the grid takes one to the other; the part of the unit lists the first of each kind.

use std::sync::OnceLock;

use shared::{
    catalogue::small::SmallGrids,
    grid::{Shape, notation::text},
    unavoidable::{CellSet, all_unavoidable_sets, hitting_sets_by_size, minimal_hitting_sets},
};

use super::{
    List, output,
    partial::{Counted, OfGrid},
};
use crate::{
    kind::{BadSettings, UnitContext, UnitError},
    parts::PartsDigest,
};

/// See the module.
pub struct Every {
    pub shape: Shape,
    /// Whether puzzles with one solution are counted too.
    pub valid: bool,
    pub list: List,
    grids: OnceLock<SmallGrids>,
}

impl Every {
    pub fn new(shape: Shape, valid: bool, list: List) -> Result<Self, BadSettings> {
        if shape == Shape::NINE {
            let many = "9x9 has some 3.1e37 minimal puzzles: they cannot be listed. --sample 1000 estimates";
            return Err(BadSettings(format!("--shape 3x3: {many} how many there are by number of clues")));
        }
        if ![Shape::FOUR, Shape::SIX, Shape::SIX.transposed()].contains(&shape) {
            return Err(BadSettings(format!(
                "--shape {shape}: shapes are 2x2, 2x3 and 3x2, and 3x3 with --sample"
            )));
        }
        let small = shape == Shape::FOUR;
        if list != List::Different && !small {
            let hint = "leave out --list: each that is listed tells for how many it stands";
            return Err(BadSettings(format!("{shape} has too many puzzles for this list; {hint}")));
        }
        Ok(Self { shape, valid: valid || always_valid(shape), list, grids: OnceLock::new() })
    }

    /// The essentially different grids.
    pub fn units(&self) -> u64 {
        if self.shape == Shape::FOUR { 2 } else { 49 }
    }

    pub fn unit_name(&self, unit: u64) -> String {
        let first = self.grids().classes()[place(unit)].first;
        format!("grid {}", text(self.shape, &self.grids().all()[first]))
    }

    pub fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Counted, UnitError> {
        let class = &self.grids().classes()[place(unit)];
        let cells = self.cells();
        let sets = all_unavoidable_sets(&self.grids().grid(class.first), self.grids());
        let mut of_grid = OfGrid::new(cells);
        let mut different = Vec::new();
        minimal_hitting_sets(&sets, CellSet::below(cells), &mut |clues| {
            of_grid.minimal[clues.len()] += 1;
            if class.first_of_its_kind(clues).is_some() {
                of_grid.different[clues.len()] += 1;
                different.push(clues);
            }
        });
        if self.valid {
            let counted = hitting_sets_by_size(&sets, cells, &|| context.stopped());
            of_grid.valid = counted.ok_or(UnitError::Stopped)?;
        }
        different.sort_unstable_by_key(|clues| (clues.len(), *clues));
        let part = output::encode(&different);
        let parts = PartsDigest::of(unit, &part);
        context.put_part(unit, part)?;
        Ok(Counted { grids: [(unit, of_grid)].into(), parts })
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.shape.side() * self.shape.side()
    }

    /// All grids: made when they are needed.
    pub fn grids(&self) -> &SmallGrids {
        self.grids.get_or_init(|| SmallGrids::new(self.shape).expect("the shape is small"))
    }
}

/// Whether puzzles with one solution are counted without being asked for: where that takes no time.
pub fn always_valid(shape: Shape) -> bool {
    shape == Shape::FOUR
}

/// A unit as a place in a list.
pub fn place(unit: u64) -> usize {
    usize::try_from(unit).expect("at most 49 units")
}

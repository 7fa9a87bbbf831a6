//! The template orbits of every block, and what the centralizer does to them.

use std::{collections::HashMap, ops::Range};

use super::{blocks::placed, commuting::Commuting, orbits::CellOrbits, templates::each_template_orbit};

/// Template orbits by the orbits of cells that they cover.
pub(super) struct TemplateLists {
    of_block: HashMap<u64, Range<usize>>,
    lists: Vec<TemplateOrbit>,
    /// The numbers of template orbits, by the template with the least cell.
    numbers: HashMap<u128, usize>,
}

/// The cells of the templates, each with the number of the one it belongs to.
pub(super) struct TemplateOrbit {
    pub(super) cells: Vec<(u8, u8)>,
    /// How many templates there are.
    pub(super) period: u8,
}

impl TemplateLists {
    /// All template orbits; orbits of cells have their bits as `place` says. Shapes have at most 128 cells here.
    pub(super) fn new(orbits: &CellOrbits, place: &[usize]) -> Self {
        let mut found: Vec<(u64, TemplateOrbit)> = Vec::new();
        each_template_orbit(orbits, &mut |mask: u64, pieces, period| {
            found.push((placed(mask, place), TemplateOrbit::new(orbits, pieces, period)));
        });
        found.sort_by_key(|(mask, _)| *mask);
        let mut of_block = HashMap::new();
        let mut start = 0;
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            of_block.insert(same[0].0, start..start + same.len());
            start += same.len();
        }
        let lists: Vec<TemplateOrbit> = found.into_iter().map(|(_, orbit)| orbit).collect();
        let numbers =
            (0..).zip(&lists).map(|(number, list)| (with_least_cell(&list.cells), number)).collect();
        Self { of_block, lists, numbers }
    }

    /// The template orbits that cover just these orbits of cells.
    pub(super) fn of_block(&self, block: u64) -> Range<usize> {
        self.of_block[&block].clone()
    }

    /// A template orbit.
    pub(super) fn get(&self, number: usize) -> &TemplateOrbit {
        &self.lists[number]
    }

    /// The image of a template orbit.
    pub(super) fn image(&self, by: &Commuting, number: usize) -> usize {
        let image = |&(cell, template): &(u8, u8)| (by.cells[usize::from(cell)], template);
        let cells: Vec<(u8, u8)> = self.lists[number].cells.iter().map(image).collect();
        self.numbers[&with_least_cell(&cells)]
    }
}

impl TemplateOrbit {
    /// From the pieces of one of its templates.
    fn new(orbits: &CellOrbits, pieces: &[(usize, usize)], period: usize) -> Self {
        let small = |number: usize| u8::try_from(number).expect("at most 128 cells");
        let mut cells = Vec::new();
        for &(orbit, place) in pieces {
            for (step, &cell) in orbits.cycles[orbit].iter().enumerate() {
                // The template k steps on has what is k places further in every orbit of cells.
                let template = (step + period - place % period) % period;
                cells.push((small(usize::from(cell)), small(template)));
            }
        }
        Self { cells, period: small(period) }
    }
}

/// The cells of the template that has the least of all cells, as a set.
fn with_least_cell(cells: &[(u8, u8)]) -> u128 {
    let least = cells.iter().min().map_or(0, |&(_, template)| template);
    cells.iter().filter(|&&(_, template)| template == least).fold(0, |set, &(cell, _)| set | 1 << cell)
}

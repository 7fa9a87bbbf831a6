//! The grids that a symmetry fixes, one by one, up to its centralizer.
//!
//! What commutes with g takes grids that g fixes to grids that g fixes. So of the first choices (see `cover`) that the
//! centralizer takes to each other only one is followed up, and each of its grids stands for as many as there are
//! such choices. The same goes for the second choice with those of the centralizer that keep the first, and so on,
//! until nothing is left that keeps all choices. Every fixed grid has an image under the centralizer among those that
//! are listed, and their weights add up to the number of fixed grids.
//!
//! The choices are blocks first, an exact cover by them, and then for every block one of its template orbits. Each
//! template of an orbit gets a digit.

use super::{
    blocks::{Block, Blocks, List},
    commuting::{Commuting, up_to},
    mask::Mask,
    orbits::CellOrbits,
    template_lists::TemplateLists,
};
use crate::symmetry::ConjugacyClass;

/// The grids that the representative of a class fixes, up to relabelling and its centralizer.
///
/// ```
/// use shared::{count::FixedListing, grid::Shape, symmetry::conjugacy_classes};
///
/// let classes = conjugacy_classes(Shape::FOUR, true);
/// let reflection = classes.iter().find(|class| class.name() == "diagonal reflection").unwrap();
/// let mut sum = 0;
/// FixedListing::new(reflection).unwrap().each((0, 1), &mut |grid, weight| {
///     assert_eq!(grid.len(), 16);
///     sum += weight;
///     true
/// });
/// assert_eq!(sum, 2);
/// ```
pub struct FixedListing {
    blocks: Blocks<u64>,
    templates: TemplateLists,
    group: Vec<Commuting>,
    starts: Vec<Start>,
}

/// A first and a second choice.
struct Start {
    first: Block<u64>,
    /// Empty when the first choice covers all.
    second: Block<u64>,
    /// Pairs of choices that it stands for.
    weight: u64,
}

/// Takes a grid (digits from 1) and its weight, and says whether to go on.
type Take<'a> = &'a mut dyn FnMut(&[u8], u64) -> bool;

impl FixedListing {
    /// Prepares the list; milliseconds for 3x3. `None` when the grid has more than 128 cells or the representative more
    /// than 64 orbits of them, as the identity of 3x3 has: there are too many grids to list, then.
    #[must_use]
    pub fn new(class: &ConjugacyClass) -> Option<Self> {
        let orbits = CellOrbits::new(&class.representative);
        if orbits.len() > u64::BITS as usize || orbits.place.len() > u128::BITS as usize {
            return None;
        }
        let centralizer = class.centralizer();
        let blocks = Blocks::new(&orbits);
        let templates = TemplateLists::new(&orbits, &blocks.place);
        let group = Commuting::generated(&orbits, &blocks.place, &centralizer);
        let starts = starts(&blocks, &group.iter().collect::<Vec<_>>());
        Some(Self { blocks, templates, group, starts })
    }

    /// Calls `take` with the grids of one slice (digits 1 to the side, row by row; digits are named as it comes) and
    /// with how many fixed grids each stands for. The slice has the pairs of a first and a second choice whose number
    /// is `slice` modulo `slices`; all slices together make the list. False when `take` said no, which ended it.
    pub fn each(&self, (slice, slices): (u64, u64), take: Take<'_>) -> bool {
        let side = self.blocks.side;
        let mut walk = Walk {
            listing: self,
            spare: Vec::new(),
            chosen: Vec::new(),
            grid: vec![0; (side * side) as usize],
            take,
        };
        let all: Vec<&Commuting> = self.group.iter().collect();
        let mut inside = List::default();
        (0..).zip(&self.starts).filter(|(number, _)| number % slices == slice).all(|(_, start)| {
            let Start { first, second, weight } = start;
            let open = self.blocks.all ^ first.mask ^ second.mask;
            inside.fill(&self.blocks.list, open);
            walk.chosen.clear();
            walk.chosen.extend([first.mask, second.mask].into_iter().filter(|&mask| mask != 0));
            let group = keeping(&keeping(&all, first.mask), second.mask);
            walk.choose(&inside, &group, open, side - first.period - second.period, *weight)
        })
    }
}

/// Those of a group that keep a block.
fn keeping<'a>(group: &[&'a Commuting], block: u64) -> Vec<&'a Commuting> {
    group.iter().copied().filter(|by| by.keeps(block)).collect()
}

/// Of `blocks`, which all have the same least orbit of cells, those that differ for a group, and how many each stands for.
fn blocks_up_to(group: &[&Commuting], blocks: &[Block<u64>]) -> Vec<(Block<u64>, u64)> {
    let image = |by: &Commuting, block: Block<u64>| Block { mask: by.image(block.mask), ..block };
    let first = blocks.first().map_or(0, |block| block.mask & block.mask.wrapping_neg());
    up_to(group, blocks.iter().copied(), image, |block| block.mask & first == first)
}

/// Pairs of a first and a second choice, up to a group.
fn starts(blocks: &Blocks<u64>, group: &[&Commuting]) -> Vec<Start> {
    let mut starts = Vec::new();
    let mut inside = List::default();
    for (first, alike) in blocks_up_to(group, blocks.list.starting(0)) {
        let left = blocks.all ^ first.mask;
        inside.fill(&blocks.list, left);
        let seconds = blocks_up_to(&keeping(group, first.mask), &inside.seconds(left));
        let start = |(second, more)| Start { first, second, weight: alike * more };
        starts.extend(seconds.into_iter().map(start));
    }
    starts
}

struct Walk<'a> {
    listing: &'a FixedListing,
    /// Emptied lists, to be filled again.
    spare: Vec<List<u64>>,
    /// Blocks.
    chosen: Vec<u64>,
    grid: Vec<u8>,
    take: Take<'a>,
}

impl Walk<'_> {
    /// Goes through the covers of `open`, which takes `size` templates, by blocks of `list`, up to a group that keeps
    /// what is chosen. Each stands for `weight` covers.
    fn choose(&mut self, list: &List<u64>, group: &[&Commuting], open: u64, size: u32, weight: u64) -> bool {
        let Blocks { weights, least, .. } = &self.listing.blocks;
        if open == 0 {
            return self.fill(0, 1, group, weight);
        }
        if size < 2 * least {
            // What keeps all other blocks keeps the last one.
            return weights.get(open) == 0 || self.with(open, |walk| walk.fill(0, 1, group, weight));
        }
        let mut inside = self.spare.pop().unwrap_or_default();
        inside.fill(list, open);
        let blocks = inside.starting(open.first());
        let mut follow = |block: &Block<u64>, group: &[&Commuting], weight| {
            let (open, size) = (open ^ block.mask, size - block.period);
            self.with(block.mask, |walk| walk.choose(&inside, group, open, size, weight))
        };
        let go_on = if let [_] = group {
            blocks.iter().all(|block| follow(block, group, weight))
        } else {
            let choices = blocks_up_to(group, blocks);
            choices.iter().all(|(block, alike)| follow(block, &keeping(group, block.mask), weight * alike))
        };
        self.spare.push(inside);
        go_on
    }

    fn with(&mut self, block: u64, then: impl FnOnce(&mut Self) -> bool) -> bool {
        self.chosen.push(block);
        let go_on = then(self);
        self.chosen.pop();
        go_on
    }

    /// Fills the chosen blocks from number `depth` on in every way, up to a group that keeps what is chosen and filled.
    /// The next digit is `next`.
    fn fill(&mut self, depth: usize, next: u8, group: &[&Commuting], weight: u64) -> bool {
        let Some(&block) = self.chosen.get(depth) else {
            return (self.take)(&self.grid, weight);
        };
        let templates = &self.listing.templates;
        let numbers = templates.of_block(block);
        if group.len() == 1 || numbers.len() == 1 {
            return numbers.into_iter().all(|number| self.write(depth, next, number, group, weight));
        }
        let image = |by: &Commuting, number| templates.image(by, number);
        up_to(group, numbers, image, |_| true).into_iter().all(|(number, alike)| {
            let kept: Vec<_> =
                group.iter().copied().filter(|by| templates.image(by, number) == number).collect();
            self.write(depth, next, number, &kept, weight * alike)
        })
    }

    /// Gives digits to the templates of an orbit, and goes on to the next block.
    fn write(&mut self, depth: usize, next: u8, number: usize, group: &[&Commuting], weight: u64) -> bool {
        let orbit = self.listing.templates.get(number);
        for &(cell, template) in &orbit.cells {
            self.grid[usize::from(cell)] = next + template;
        }
        self.fill(depth + 1, next + orbit.period, group, weight)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{grid::Shape, symmetry::conjugacy_classes};

    /// Renames digits as they first occur.
    fn renamed(grid: &[u8]) -> Vec<u8> {
        let mut names = [0; 26];
        let mut next = 0;
        let name = |&digit: &u8| {
            let name = &mut names[usize::from(digit)];
            if *name == 0 {
                next += 1;
                *name = next;
            }
            *name
        };
        grid.iter().map(name).collect()
    }

    /// All grids of a shape up to renaming.
    fn all_grids(shape: Shape) -> Vec<Vec<u8>> {
        fn go(shape: Shape, grid: &mut Vec<u8>, all: &mut Vec<Vec<u8>>) {
            let n = shape.side();
            if grid.len() == n * n {
                all.push(grid.clone());
                return;
            }
            let most = grid.iter().max().map_or(1, |most| most + 1).min(u8::try_from(n).unwrap());
            for digit in 1..=most {
                let here = super::super::orbits::units_of(shape, grid.len());
                let clash = (0..grid.len()).any(|cell| {
                    grid[cell] == digit && super::super::orbits::units_of(shape, cell) & here != 0
                });
                if !clash {
                    grid.push(digit);
                    go(shape, grid, all);
                    grid.pop();
                }
            }
        }
        let mut all = Vec::new();
        go(shape, &mut Vec::new(), &mut all);
        all
    }

    #[test]
    fn every_fixed_grid_has_an_image_in_the_list_and_weights_add_up() {
        for (rows, columns) in [(2, 2), (2, 3), (3, 2)] {
            let shape = Shape::new(rows, columns).unwrap();
            let all = all_grids(shape);
            for class in conjugacy_classes(shape, true) {
                let g = &class.representative;
                let fixed: Vec<_> = all.iter().filter(|grid| renamed(&g.apply(grid)) == **grid).collect();
                let mut listed: HashMap<Vec<u8>, u64> = HashMap::new();
                let listing = FixedListing::new(&class).unwrap();
                for slice in 0..3 {
                    assert!(listing.each((slice, 3), &mut |grid, weight| {
                        assert!(listed.insert(renamed(grid), weight).is_none(), "a grid twice");
                        true
                    }));
                }
                assert_eq!(listed.values().sum::<u64>(), fixed.len() as u64, "{shape} {}", class.name());
                let elements = closure(&class.centralizer(), g);
                for grid in fixed {
                    let mut images = elements.iter().map(|c| renamed(&c.apply(grid)));
                    assert!(images.any(|image| listed.contains_key(&image)), "{shape} {}", class.name());
                }
            }
        }
    }

    /// All elements that some generate.
    fn closure(
        generators: &[crate::symmetry::Symmetry],
        g: &crate::symmetry::Symmetry,
    ) -> Vec<crate::symmetry::Symmetry> {
        let mut all = std::collections::HashSet::from([g.then(&g.inverse())]);
        let mut open: Vec<_> = all.iter().cloned().collect();
        while let Some(next) = open.pop() {
            for by in generators {
                let product = next.then(by);
                if all.insert(product.clone()) {
                    open.push(product);
                }
            }
        }
        all.into_iter().collect()
    }

    #[test]
    fn a_list_can_be_ended() {
        let class = &conjugacy_classes(Shape::FOUR, true)[0];
        let mut taken = 0;
        let mut take = |_: &[u8], _| {
            taken += 1;
            taken < 3
        };
        assert!(!FixedListing::new(class).unwrap().each((0, 1), &mut take));
        assert_eq!(taken, 3);
    }
}

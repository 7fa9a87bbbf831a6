//! What a symmetry does to the cells, and which cells can belong to one template at all.
//!
//! Let g be a symmetry and x a grid that g takes to itself up to relabelling: g permutes the nine templates of x (the
//! places of its digits). A template T that comes back after l steps is taken to itself by `g^l`, and T, gT, ...,
//! `g^(l-1) T` have no cell in common. So T is made of orbits of `g^l`, and of a g-orbit of cells it takes exactly one
//! such piece: two pieces would make T meet one of its images. Hence l divides the length of every g-orbit of cells
//! that T meets, and the cells of a piece share no row, column or box.
//!
//! That is the quick test: a class is dead when some g-orbit of cells has no l at all for which its pieces have their
//! cells in distinct units and every unit meets some such piece. It is read off the cells; no template is looked at.

use crate::{grid::Shape, symmetry::Symmetry};

/// The orbits of a symmetry on the cells.
pub(super) struct CellOrbits {
    shape: Shape,
    /// Order of the symmetry.
    pub(super) order: u64,
    /// The cells of each orbit, each followed by the cell it comes from; least cell first; ordered by it.
    pub(super) cycles: Vec<Vec<u16>>,
    /// For each cell, its orbit and its place there.
    pub(super) place: Vec<(u16, u16)>,
}

impl CellOrbits {
    /// The orbits of `symmetry`.
    pub(super) fn new(symmetry: &Symmetry) -> Self {
        let shape = symmetry.shape();
        let cells = shape.side() * shape.side();
        let mut orbits =
            Self { shape, order: symmetry.order(), cycles: Vec::new(), place: vec![(u16::MAX, 0); cells] };
        for start in 0..cells {
            let mut cycle = Vec::new();
            let mut cell = start;
            while orbits.place[cell].0 == u16::MAX {
                orbits.place[cell] = (small(orbits.cycles.len()), small(cycle.len()));
                cycle.push(small(cell));
                cell = symmetry.source(cell);
            }
            if !cycle.is_empty() {
                orbits.cycles.push(cycle);
            }
        }
        orbits
    }

    /// The shape of the grids.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of orbits.
    pub(super) fn len(&self) -> usize {
        self.cycles.len()
    }

    /// Where each orbit goes, by their bits in a mask (`place`), when cells go where `to` says.
    pub(super) fn action(&self, place: &[usize], to: impl Fn(usize) -> usize) -> Vec<u8> {
        let mut action = vec![0; self.len()];
        for (orbit, cycle) in self.cycles.iter().enumerate() {
            let image = self.place[to(usize::from(cycle[0]))].0;
            action[place[orbit]] =
                u8::try_from(place[usize::from(image)]).expect("orbits are bits of a mask");
        }
        action
    }

    /// The numbers of steps after which a template may come back: divisors of the order, ascending.
    pub(super) fn periods(&self) -> impl Iterator<Item = usize> {
        let order = usize::try_from(self.order).expect("orders are small");
        (1..=order.min(self.shape.side())).filter(move |period| order.is_multiple_of(*period))
    }

    /// The units of the piece of orbit `orbit` that holds its cell number `place`, when a template of period `period`
    /// takes pieces of `period`-th cells; `None` when it cannot.
    pub(super) fn piece(&self, orbit: usize, place: usize, period: usize) -> Option<u128> {
        let cycle = &self.cycles[orbit];
        if !cycle.len().is_multiple_of(period) {
            return None;
        }
        let mut units = 0;
        for cell in cycle[place % period..].iter().step_by(period) {
            let more = units_of(self.shape, usize::from(*cell));
            if units & more != 0 {
                return None;
            }
            units |= more;
        }
        Some(units)
    }

    /// The quick test: whether each orbit can be covered by some template, of a period for which there can be templates
    /// at all, that is, pieces in every row, column and box.
    pub(super) fn may_be_covered(&self) -> bool {
        let all_units = (1u128 << (3 * self.shape.side())) - 1;
        let pieces = |period| (0..self.len()).map(move |orbit| self.piece(orbit, 0, period));
        let possible = |period: &usize| {
            // A piece and its images meet the same number of units, but not the same units: take all of them.
            let met = (0..self.len()).flat_map(|orbit| (0..*period).map(move |place| (orbit, place)));
            let met = met.filter_map(|(orbit, place)| self.piece(orbit, place, *period));
            met.fold(0, |all, units| all | units) == all_units
        };
        let mut covered = vec![false; self.len()];
        for period in self.periods().filter(possible) {
            for (covered, piece) in covered.iter_mut().zip(pieces(period)) {
                *covered |= piece.is_some();
            }
        }
        covered.into_iter().all(|covered| covered)
    }
}

/// Row, column and box of a cell as three bits of `3 * side`.
pub(super) fn units_of(shape: Shape, cell: usize) -> u128 {
    let n = shape.side();
    let (row, column) = (cell / n, cell % n);
    let boxed = row / shape.rows() * shape.rows() + column / shape.columns();
    1 << row | 1 << (n + column) | 1 << (2 * n + boxed)
}

fn small(number: usize) -> u16 {
    u16::try_from(number).expect("at most 625 cells")
}

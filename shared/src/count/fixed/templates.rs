//! Orbits of templates whose members are disjoint.
//!
//! For each period l (see `orbits.rs`) the templates of period l are put together row by row from pieces. Each orbit
//! {T, gT, ..., `g^(l-1) T`} has l members; it is found once, as the member that holds the least cell of the least
//! orbit of cells they meet. Row 1 is met, so that cell lies in row 1, and the search starts there.

use super::{mask::Mask, orbits::CellOrbits};

/// What a search step can add: a piece of an orbit.
struct Piece<M> {
    orbit: usize,
    /// The place of its first cell in the orbit.
    place: usize,
    bit: M,
    units: u128,
}

/// Takes the orbits of cells that a template orbit covers, and the pieces of one of its templates.
type Found<'a, M> = &'a mut dyn FnMut(M, &[(usize, usize)]);

/// Finds the template orbits of one period.
struct Finder<'a, M> {
    side: usize,
    /// For each row, the pieces that meet it.
    rows: Vec<Vec<Piece<M>>>,
    found: Found<'a, M>,
    /// Orbit and place of the pieces taken.
    taken: Vec<(usize, usize)>,
}

/// Calls `found` with every orbit of templates whose members are disjoint: the orbits of cells it covers, and the
/// pieces (orbit, place of the first cell) of one of its templates, of which the period is the third argument.
pub(super) fn each_template_orbit<M: Mask>(
    orbits: &CellOrbits,
    found: &mut impl FnMut(M, &[(usize, usize)], usize),
) {
    let side = orbits.shape().side();
    for period in orbits.periods() {
        let rows: Vec<Vec<Piece<M>>> = (0..side).map(|row| pieces(orbits, row, period)).collect();
        if rows.iter().any(Vec::is_empty) {
            continue;
        }
        let starts: Vec<usize> = (0..rows[0].len()).filter(|&i| rows[0][i].place == 0).collect();
        let mut found = |mask, taken: &[(usize, usize)]| found(mask, taken, period);
        let mut finder = Finder { side, rows, found: &mut found, taken: Vec::new() };
        for start in starts {
            finder.start(start);
        }
    }
}

/// The pieces that meet a row, each once.
fn pieces<M: Mask>(orbits: &CellOrbits, row: usize, period: usize) -> Vec<Piece<M>> {
    let side = orbits.shape().side();
    let mut list = Vec::new();
    for &(orbit, place) in &orbits.place[row * side..(row + 1) * side] {
        let (orbit, place) = (usize::from(orbit), usize::from(place) % period);
        // A piece that meets the row twice has two cells in one unit and is none.
        if let Some(units) = orbits.piece(orbit, place, period) {
            list.push(Piece { orbit, place, bit: M::bit(orbit), units });
        }
    }
    list
}

impl<M: Mask> Finder<'_, M> {
    fn start(&mut self, start: usize) {
        let first = &self.rows[0][start];
        let (units, bit) = (first.units, first.bit);
        self.taken.push((first.orbit, first.place));
        // Lower orbits are not met: they would be the least.
        self.extend(units, bit, M::below(first.orbit));
        self.taken.pop();
    }

    fn extend(&mut self, units: u128, mask: M, barred: M) {
        let row = units.trailing_ones() as usize;
        if row >= self.side {
            return (self.found)(mask, &self.taken);
        }
        for number in 0..self.rows[row].len() {
            let piece = &self.rows[row][number];
            if piece.units & units == 0 && piece.bit & (mask | barred) == M::EMPTY {
                let (more, bit) = (piece.units, piece.bit);
                self.taken.push((piece.orbit, piece.place));
                self.extend(units | more, mask | bit, barred);
                self.taken.pop();
            }
        }
    }
}

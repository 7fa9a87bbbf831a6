//! The obviously right canonicalisation: every cell symmetry of a shape, one after the other.
//!
//! The slow ancestor that the fast ones are held against, and quick enough for small shapes: 4x4 has 128 cell
//! symmetries and 2x3 has 3,456. For 3x3 (3,359,232) it takes a fraction of a second.

use std::cmp::Ordering;

use crate::grid::Shape;

/// A least image, and how many cell symmetries attain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The least image, row by row; 0 is empty.
    pub cells: Vec<u8>,
    /// Cell symmetries that take the input to itself up to renaming digits.
    pub automorphisms: u64,
}

/// The least image of `cells` (row by row; 0 is empty) under all cell symmetries of `shape` and all renamings of
/// digits. Transposition counts as a symmetry where boxes are square.
///
/// For a given cell symmetry the best renaming is to name digits 1, 2, ... as they first occur. An image is abandoned
/// at its first cell that exceeds the best so far.
///
/// ```
/// use shared::{grid::Shape, symmetry::minlex::brute};
///
/// let grid = [2, 1, 4, 3, 4, 3, 2, 1, 1, 2, 3, 4, 3, 4, 1, 2];
/// let form = brute::canonical("2x2".parse::<Shape>().unwrap(), &grid);
/// assert_eq!(form.cells, [1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1]);
/// assert_eq!(form.automorphisms, 32);
/// ```
///
/// # Panics
///
/// When there are not `side * side` cells, or a cell exceeds the side.
pub fn canonical(shape: Shape, cells: &[u8]) -> Form {
    let n = shape.side();
    assert_eq!(cells.len(), n * n, "a {shape} grid has {} cells", n * n);
    assert!(cells.iter().all(|&digit| usize::from(digit) <= n), "digits are at most {n}");
    let rows = line_orders(shape.columns(), shape.rows());
    let columns = line_orders(shape.rows(), shape.columns());
    let mut best = Form { cells: vec![u8::MAX; n * n], automorphisms: 0 };
    let mut try_all = |cells: &[u8]| {
        for rows in &rows {
            for columns in &columns {
                improve(&mut best, cells, rows, columns);
            }
        }
    };
    try_all(cells);
    if shape.rows() == shape.columns() {
        let transposed: Vec<u8> = (0..n * n).map(|cell| cells[cell % n * n + cell / n]).collect();
        try_all(&transposed);
    }
    best
}

/// The orders of lines in `chutes` chutes of `lines` lines: lines change places in their chute, chutes as a whole.
pub fn line_orders(chutes: usize, lines: usize) -> Vec<Vec<usize>> {
    let inside = orders(lines);
    let mut all: Vec<Vec<usize>> = Vec::new();
    for chute_order in orders(chutes) {
        let mut partial = vec![Vec::new()];
        for chute in chute_order {
            let extended = |start: &Vec<usize>| {
                let start = start.clone();
                inside
                    .iter()
                    .map(move |order| {
                        [&start[..], &order.iter().map(|l| chute * lines + l).collect::<Vec<_>>()].concat()
                    })
                    .collect::<Vec<_>>()
            };
            partial = partial.iter().flat_map(extended).collect();
        }
        all.append(&mut partial);
    }
    all
}

/// All orders of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(n - 1);
    let inserted = |at: usize| {
        shorter.iter().map(move |order| [&order[..at], &[n - 1], &order[at..]].concat()).collect::<Vec<_>>()
    };
    (0..n).flat_map(inserted).collect()
}

/// Compares the image under one symmetry with the best so far, and keeps it if it is less.
fn improve(best: &mut Form, cells: &[u8], rows: &[usize], columns: &[usize]) {
    let n = rows.len();
    let mut name = [0u8; 1 + crate::grid::shape::MAX_SIDE as usize];
    let mut names = 0;
    let mut order = Ordering::Equal;
    for (i, &row) in rows.iter().enumerate() {
        for (j, &column) in columns.iter().enumerate() {
            let digit = usize::from(cells[row * n + column]);
            if digit != 0 && name[digit] == 0 {
                names += 1;
                name[digit] = names;
            }
            let cell = &mut best.cells[i * n + j];
            if order.is_eq() {
                order = name[digit].cmp(cell);
            }
            match order {
                Ordering::Less => *cell = name[digit],
                Ordering::Equal => {}
                Ordering::Greater => return,
            }
        }
    }
    best.automorphisms = if order.is_lt() { 1 } else { best.automorphisms + 1 };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// All grids of a shape, by filling cell after cell.
    fn all_grids(shape: Shape) -> Vec<Vec<u8>> {
        let n = shape.side();
        let mut grids = vec![Vec::new()];
        for cell in 0..n * n {
            let place =
                |cell: usize| (cell / n, cell % n, cell / n / shape.rows(), cell % n / shape.columns());
            let free = |grid: &[u8], digit: u8| {
                let (r, c, band, stack) = place(cell);
                grid.iter().enumerate().all(|(other, &d)| {
                    let (row, column, its_band, its_stack) = place(other);
                    d != digit || (row != r && column != c && (its_band, its_stack) != (band, stack))
                })
            };
            let extended = |grid: Vec<u8>| -> Vec<Vec<u8>> {
                (1..=u8::try_from(n).unwrap())
                    .filter(|&digit| free(&grid, digit))
                    .map(|digit| [&grid[..], &[digit]].concat())
                    .collect()
            };
            grids = grids.into_iter().flat_map(extended).collect();
        }
        grids
    }

    #[test]
    fn the_288_grids_of_4x4_are_of_two_classes() {
        let shape = Shape::new(2, 2).unwrap();
        let mut classes: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
        for grid in all_grids(shape) {
            let form = canonical(shape, &grid);
            let class = classes.entry(form.cells).or_insert((0, form.automorphisms));
            class.0 += 1;
            assert_eq!(class.1, form.automorphisms);
        }
        // Orbit and stabiliser: 128 cell symmetries times 24 renamings.
        assert!(classes.values().all(|(grids, automorphisms)| grids * automorphisms == 128 * 24));
        assert_eq!(classes.values().map(|class| class.0).collect::<Vec<_>>(), [96, 192]);
    }

    #[test]
    fn groups_are_of_the_known_orders() {
        let empty =
            |r, c| canonical(Shape::new(r, c).unwrap(), &vec![0; usize::from(r * c * r * c)]).automorphisms;
        assert_eq!([empty(2, 2), empty(2, 3), empty(3, 2), empty(3, 3)], [128, 3_456, 3_456, 3_359_232]);
    }
}

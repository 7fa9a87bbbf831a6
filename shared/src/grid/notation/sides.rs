//! The shape told by the number of cells.

use crate::grid::Shape;

/// Shapes that are told by their size; of each size the flatter boxes, as they are usually printed.
const SHAPES: [(u8, u8); 10] =
    [(2, 2), (2, 3), (2, 4), (3, 3), (2, 5), (3, 4), (3, 5), (4, 4), (4, 5), (5, 5)];

/// Rows of a grid at most.
pub const MOST_ROWS: usize = 25;

/// The shape of grids of a side: the given one, if it has this side.
pub fn of_side(side: usize, shape: Option<Shape>) -> Option<Shape> {
    if let Some(shape) = shape {
        return (shape.side() == side).then_some(shape);
    }
    let (rows, columns) =
        SHAPES.into_iter().find(|&(rows, columns)| usize::from(rows) * usize::from(columns) == side)?;
    Shape::new(rows, columns).ok()
}

/// The shape of grids of a number of cells: the given one, if it has as many.
pub fn of_cells(cells: usize, shape: Option<Shape>) -> Option<Shape> {
    let side = cells.isqrt();
    if side * side == cells { of_side(side, shape) } else { None }
}

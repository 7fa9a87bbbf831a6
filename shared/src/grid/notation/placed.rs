//! Drawings in which an empty cell is blank: cells are told by where they stand.

use super::{
    Puzzle,
    error::{NotationError, Place},
    list,
    sides::of_side,
};
use crate::grid::Shape;

/// Where the cells of a part of a row are.
#[derive(Clone, Copy, Debug)]
struct Columns {
    /// Of the first cell.
    start: usize,
    /// Of each cell.
    width: usize,
    /// From one to the next.
    step: usize,
}

/// Reads rows, given by what is between upright strokes: each box's, or each cell's. `None` if there is no way to have
/// as many cells in a row as there are rows.
pub fn read(rows: &[Vec<&[u8]>], shape: Option<Shape>) -> Option<Result<Puzzle, NotationError>> {
    let side = rows.len();
    let usual = of_side(side, shape)?;
    let groups = rows.first()?.len();
    if groups < 2 || !side.is_multiple_of(groups) || rows.iter().any(|row| row.len() != groups) {
        return None;
    }
    let cells = side / groups;
    let parts = || rows.iter().flatten().copied();
    if cells == 1 {
        let tokens: Vec<&[u8]> = parts().map(<[u8]>::trim_ascii).collect();
        let single = tokens.iter().all(|token| !token.contains(&b' '));
        return single.then(|| finish(&tokens, usual));
    }
    let drawn = Shape::new(groups.try_into().ok()?, cells.try_into().ok()?).ok()?;
    // Here a row alone tells little, so the boxes should be the usual ones.
    if drawn != usual {
        return None;
    }
    let width = parts().next()?.len();
    if parts().any(|part| part.len() != width) {
        return None;
    }
    let columns = columns(width, cells).into_iter().find(|columns| parts().all(|part| columns.fit(part)))?;
    let tokens: Vec<&[u8]> = parts().flat_map(|part| columns.of(part, cells)).collect();
    Some(finish(&tokens, usual))
}

fn finish(tokens: &[&[u8]], shape: Shape) -> Result<Puzzle, NotationError> {
    list::read(tokens, shape, &|at| Place::At { row: at / shape.side() + 1, column: at % shape.side() + 1 })
}

/// How a part of a width can hold cells.
fn columns(width: usize, cells: usize) -> Vec<Columns> {
    let ways = [
        (cells, Columns { start: 0, width: 1, step: 1 }),
        (2 * cells + 1, Columns { start: 1, width: 1, step: 2 }),
        (2 * cells - 1, Columns { start: 0, width: 1, step: 2 }),
        (2 * cells, Columns { start: 1, width: 1, step: 2 }),
        (2 * cells, Columns { start: 0, width: 1, step: 2 }),
        (3 * cells, Columns { start: 1, width: 1, step: 3 }),
        (3 * cells + 1, Columns { start: 1, width: 2, step: 3 }),
        (3 * cells - 1, Columns { start: 0, width: 2, step: 3 }),
    ];
    ways.into_iter().filter(|(of, _)| *of == width).map(|(_, columns)| columns).collect()
}

impl Columns {
    /// Whether there is nothing beside the cells.
    fn fit(self, part: &[u8]) -> bool {
        let beside = |at: usize| at < self.start || (at - self.start) % self.step >= self.width;
        part.iter().enumerate().all(|(at, byte)| byte.is_ascii_whitespace() || !beside(at))
    }

    fn of(self, part: &[u8], cells: usize) -> impl Iterator<Item = &[u8]> {
        (0..cells).map(move |cell| {
            let start = self.start + cell * self.step;
            part.get(start..part.len().min(start + self.width)).unwrap_or_default().trim_ascii()
        })
    }
}

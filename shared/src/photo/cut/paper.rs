//! The paper below what is written in a cell.
//!
//! Bright pixels grow over strokes, and shrink again (a closing, J. Serra, *Image Analysis and Mathematical Morphology*,
//! 1982): what is narrower than a stroke of a broad pen disappears, and the edge of a shadow stays where it is.

use super::super::classify::SIDE;

/// Half the width of what disappears, in pixels of a patch.
const RADIUS: usize = 6;

type Levels = [f32; SIDE * SIDE];
type Rows = [[f32; SIDE]; SIDE];

/// The level of the paper at each place of a patch.
pub(super) fn under(levels: &Levels) -> Levels {
    let rows: Rows = std::array::from_fn(|y| std::array::from_fn(|x| levels[y * SIDE + x]));
    // Single bright pixels are noise.
    let smooth = both_ways(&rows, |rows| mean(rows, 1));
    let grown = both_ways(&smooth, |rows| down(rows, RADIUS, |a, b| if b > a { b } else { a }));
    let shrunk = both_ways(&grown, |rows| down(rows, RADIUS, |a, b| if b < a { b } else { a }));
    let paper = both_ways(&shrunk, |rows| mean(rows, 2));
    std::array::from_fn(|at| paper[at / SIDE][at % SIDE])
}

/// Down the columns, and then along the rows.
fn both_ways(rows: &Rows, of: impl Fn(&Rows) -> Rows) -> Rows {
    turned(&of(&turned(&of(rows))))
}

fn turned(rows: &Rows) -> Rows {
    std::array::from_fn(|y| std::array::from_fn(|x| rows[x][y]))
}

/// For each place what is made of those up to `radius` above and below it.
fn down(rows: &Rows, radius: usize, of: impl Fn(f32, f32) -> f32) -> Rows {
    std::array::from_fn(|y| {
        let around = near(y, radius);
        let mut row = rows[around.start];
        for other in &rows[around.start + 1..around.end] {
            row.iter_mut().zip(other).for_each(|(level, &other)| *level = of(*level, other));
        }
        row
    })
}

fn mean(rows: &Rows, radius: usize) -> Rows {
    let sums = down(rows, radius, |a, b| a + b);
    std::array::from_fn(|y| sums[y].map(|sum| sum / near(y, radius).len() as f32))
}

fn near(y: usize, radius: usize) -> std::ops::Range<usize> {
    y.saturating_sub(radius)..(y + radius + 1).min(SIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_disappear_and_the_edge_of_a_shadow_stays() {
        let paper = |x: usize| if x < 15 { 200.0 } else { 90.0 };
        let stroke = |x: usize, y: usize| (4..10).contains(&x) || (12..16).contains(&y);
        let levels: Levels = std::array::from_fn(|at| {
            let (x, y) = (at % SIDE, at / SIDE);
            if stroke(x, y) { 0.3 * paper(x) } else { paper(x) }
        });
        let found = under(&levels);
        for (at, level) in found.into_iter().enumerate() {
            let x = at % SIDE;
            // The edge is as sharp as the means leave it.
            if !(11..19).contains(&x) {
                assert!((level - paper(x)).abs() < 1.0, "{x} {} {level}", at / SIDE);
            }
        }
    }
}

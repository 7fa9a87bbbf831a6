//! Digits as Europeans write them, drawn stroke by stroke: the 1 with a long upstroke, the 7 with a bar, the open 4 and
//! the straight 9 are rare in the handwriting that is freely to be had.

use crate::{dice::Dice, glyph::Glyph};

/// Pixels from the top to the bottom of a digit.
const HEIGHT: f32 = 40.0;
/// Pixels around it, for thick pens.
const MARGIN: f32 = 8.0;

type Point = [f32; 2];

/// A stroke through points of a unit square, the origin at its top left: round or with corners.
struct Stroke(bool, &'static [Point]);

const fn round(points: &'static [Point]) -> Stroke {
    Stroke(true, points)
}

const fn sharp(points: &'static [Point]) -> Stroke {
    Stroke(false, points)
}

/// The ways to write each digit.
const WAYS: [&[&[Stroke]]; 9] = [
    &[
        &[sharp(&[[0.5, 0.0], [0.5, 1.0]])],
        &[sharp(&[[0.2, 0.3], [0.55, 0.0], [0.55, 1.0]])],
        &[sharp(&[[0.05, 0.55], [0.6, 0.0], [0.55, 1.0]])],
        &[sharp(&[[0.0, 0.75], [0.6, 0.0], [0.6, 1.0]])],
        &[sharp(&[[0.2, 0.25], [0.5, 0.0], [0.5, 1.0]]), sharp(&[[0.2, 1.0], [0.8, 1.0]])],
    ],
    &[
        &[
            round(&[[0.1, 0.25], [0.3, 0.02], [0.7, 0.02], [0.88, 0.27], [0.6, 0.6], [0.08, 1.0]]),
            sharp(&[[0.08, 1.0], [0.95, 0.98]]),
        ],
        &[round(&[
            [0.1, 0.2],
            [0.5, 0.0],
            [0.85, 0.25],
            [0.5, 0.65],
            [0.15, 0.95],
            [0.1, 0.8],
            [0.4, 0.85],
            [0.95, 0.98],
        ])],
        &[round(&[[0.1, 0.1], [0.6, 0.0], [0.8, 0.3], [0.1, 1.0]]), sharp(&[[0.1, 1.0], [0.9, 1.0]])],
    ],
    &[
        &[
            round(&[[0.1, 0.15], [0.5, 0.0], [0.85, 0.2], [0.7, 0.42], [0.4, 0.47]]),
            round(&[[0.4, 0.47], [0.8, 0.55], [0.88, 0.78], [0.5, 1.0], [0.05, 0.85]]),
        ],
        &[
            sharp(&[[0.1, 0.02], [0.85, 0.02], [0.4, 0.42]]),
            round(&[[0.4, 0.42], [0.8, 0.5], [0.88, 0.75], [0.5, 1.0], [0.05, 0.88]]),
        ],
    ],
    &[
        &[sharp(&[[0.3, 0.0], [0.08, 0.6], [0.95, 0.6]]), sharp(&[[0.72, 0.3], [0.66, 1.0]])],
        &[sharp(&[[0.2, 0.0], [0.15, 0.55], [0.85, 0.5]]), sharp(&[[0.82, 0.0], [0.78, 1.0]])],
        &[sharp(&[[0.65, 0.0], [0.05, 0.7], [0.95, 0.7]]), sharp(&[[0.6, 0.45], [0.6, 1.0]])],
        &[sharp(&[[0.7, 1.0], [0.7, 0.0], [0.05, 0.68], [0.98, 0.68]])],
    ],
    &[
        &[
            sharp(&[[0.88, 0.02], [0.25, 0.02], [0.2, 0.42]]),
            round(&[[0.2, 0.42], [0.6, 0.36], [0.9, 0.65], [0.6, 0.98], [0.08, 0.9]]),
        ],
        &[
            round(&[[0.25, 0.1], [0.2, 0.42], [0.6, 0.36], [0.9, 0.65], [0.6, 0.98], [0.08, 0.9]]),
            sharp(&[[0.25, 0.05], [0.95, 0.0]]),
        ],
        &[round(&[[0.95, 0.0], [0.35, 0.05], [0.2, 0.4], [0.75, 0.55], [0.75, 0.9], [0.05, 0.98]])],
    ],
    &[
        &[round(&[
            [0.75, 0.0],
            [0.3, 0.3],
            [0.12, 0.7],
            [0.45, 1.0],
            [0.85, 0.75],
            [0.5, 0.5],
            [0.15, 0.72],
        ])],
        &[round(&[
            [0.4, 0.0],
            [0.15, 0.5],
            [0.2, 0.92],
            [0.6, 0.98],
            [0.75, 0.7],
            [0.45, 0.55],
            [0.18, 0.75],
        ])],
        &[round(&[[0.9, 0.1], [0.5, 0.05], [0.1, 0.6], [0.5, 1.0], [0.9, 0.75], [0.5, 0.5], [0.15, 0.7]])],
    ],
    &[
        &[sharp(&[[0.1, 0.05], [0.9, 0.05], [0.4, 1.0]])],
        &[sharp(&[[0.1, 0.05], [0.9, 0.03], [0.4, 1.0]]), sharp(&[[0.28, 0.5], [0.9, 0.45]])],
        &[sharp(&[[0.08, 0.2], [0.1, 0.03], [0.9, 0.03], [0.45, 1.0]]), sharp(&[[0.3, 0.55], [0.85, 0.5]])],
        &[round(&[[0.05, 0.12], [0.3, 0.02], [0.6, 0.1], [0.9, 0.0], [0.55, 0.5], [0.45, 1.0]])],
    ],
    &[
        &[round(&[
            [0.5, 0.48],
            [0.15, 0.25],
            [0.5, 0.0],
            [0.85, 0.25],
            [0.5, 0.48],
            [0.1, 0.75],
            [0.5, 1.0],
            [0.9, 0.75],
            [0.5, 0.48],
        ])],
        &[round(&[
            [0.85, 0.15],
            [0.5, 0.0],
            [0.15, 0.22],
            [0.5, 0.5],
            [0.88, 0.78],
            [0.5, 1.0],
            [0.12, 0.78],
            [0.5, 0.5],
            [0.8, 0.25],
            [0.8, 0.1],
        ])],
        &[
            round(&[[0.5, 0.0], [0.2, 0.22], [0.5, 0.45], [0.8, 0.22], [0.5, 0.0]]),
            round(&[[0.5, 0.45], [0.1, 0.72], [0.5, 1.0], [0.9, 0.72], [0.5, 0.45]]),
        ],
    ],
    &[
        &[
            round(&[[0.85, 0.22], [0.5, 0.0], [0.15, 0.25], [0.45, 0.5], [0.85, 0.25]]),
            sharp(&[[0.86, 0.1], [0.82, 1.0]]),
        ],
        &[
            round(&[[0.8, 0.15], [0.45, 0.0], [0.15, 0.28], [0.5, 0.5], [0.85, 0.25]]),
            sharp(&[[0.85, 0.2], [0.55, 1.0]]),
        ],
        &[round(&[
            [0.85, 0.25],
            [0.5, 0.0],
            [0.15, 0.27],
            [0.5, 0.52],
            [0.85, 0.25],
            [0.85, 0.7],
            [0.5, 1.0],
            [0.1, 0.9],
        ])],
        &[round(&[
            [0.85, 0.1],
            [0.4, 0.02],
            [0.2, 0.35],
            [0.6, 0.48],
            [0.85, 0.15],
            [0.75, 0.6],
            [0.35, 1.0],
        ])],
    ],
];

/// A way to write a digit, all equally likely.
fn way(digit: usize, dice: &mut Dice) -> &'static [Stroke] {
    WAYS[digit - 1][dice.below(WAYS[digit - 1].len())]
}

/// Writes a digit from 1 to 9 with a pen.
pub fn write(digit: usize, dice: &mut Dice) -> Option<Glyph> {
    let wide = dice.range(0.45, 0.85) * HEIGHT;
    let shake = dice.range(0.01, 0.06);
    let pen = dice.range(0.8, 3.6);
    let mut segments = Vec::new();
    for Stroke(rounded, points) in way(digit, dice) {
        let points: Vec<Point> = points
            .iter()
            .map(|&[x, y]| {
                [(x + dice.around(shake)) * wide + MARGIN, (y + dice.around(shake)) * HEIGHT + MARGIN]
            })
            .collect();
        let line = if *rounded { curve(&points) } else { bent(&points, dice) };
        segments.extend(line.windows(2).map(|pair| [pair[0], pair[1]]));
    }
    let [width, height] = [wide, HEIGHT].map(|side| (side + 2.0 * MARGIN) as usize);
    let mut ink = vec![0; width * height];
    for segment in segments {
        stamp(&mut ink, width, segment, pen);
    }
    Glyph::cropped(width, &ink)
}

/// The points of a curve through points (Catmull and Rom's).
fn curve(points: &[Point]) -> Vec<Point> {
    const STEPS: usize = 6;
    let at = |index: usize| points[index.clamp(1, points.len()) - 1];
    let mut line = Vec::new();
    for piece in 1..points.len() {
        let near = [at(piece - 1), at(piece), at(piece + 1), at(piece + 2)];
        for step in 0..STEPS {
            let part = step as f32 / STEPS as f32;
            line.push([0, 1].map(|axis| {
                let [before, from, to, after] = near.map(|point| point[axis]);
                let cubic = 3.0 * (from - to) + after - before;
                let square = 2.0 * before - 5.0 * from + 4.0 * to - after;
                from + 0.5 * part * (to - before + part * (square + part * cubic))
            }));
        }
    }
    line.push(at(points.len()));
    line
}

/// The points of lines that hands draw: a little bent between the corners.
fn bent(points: &[Point], dice: &mut Dice) -> Vec<Point> {
    let mut line = vec![points[0]];
    for pair in points.windows(2) {
        let [[ax, ay], [bx, by]] = [pair[0], pair[1]];
        let bend = dice.around(0.05);
        let middle = [ax.midpoint(bx) - bend * (by - ay), ay.midpoint(by) + bend * (bx - ax)];
        let part = curve(&[pair[0], middle, pair[1]]);
        line.extend(&part[1..]);
    }
    line
}

/// Draws a piece of a line with a round pen of this radius.
fn stamp(ink: &mut [u8], width: usize, [from, to]: [Point; 2], pen: f32) {
    let height = ink.len() / width;
    let reach = |axis: usize, limit: usize| {
        let low = (from[axis].min(to[axis]) - pen - 1.0).max(0.0) as usize;
        let high = (from[axis].max(to[axis]) + pen + 2.0).max(0.0) as usize;
        low..high.min(limit)
    };
    let along = [to[0] - from[0], to[1] - from[1]];
    let square = (along[0] * along[0] + along[1] * along[1]).max(1e-6);
    for y in reach(1, height) {
        for x in reach(0, width) {
            let here = [x as f32 + 0.5 - from[0], y as f32 + 0.5 - from[1]];
            let part = ((here[0] * along[0] + here[1] * along[1]) / square).clamp(0.0, 1.0);
            let distance = (here[0] - part * along[0]).hypot(here[1] - part * along[1]);
            let level = ((pen + 0.5 - distance).clamp(0.0, 1.0) * 255.0) as u8;
            let pixel = &mut ink[y * width + x];
            *pixel = level.max(*pixel);
        }
    }
}

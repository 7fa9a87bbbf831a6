//! What the compression of photographs leaves: blocks whose fine detail is rounded.

use crate::{canvas::Canvas, dice::Dice};

/// Pixels along a side of a block.
const BLOCK: usize = 8;

/// The cosine of a frequency at a pixel, such that the transform keeps lengths.
fn cosines() -> [[f32; BLOCK]; BLOCK] {
    std::array::from_fn(|frequency| {
        let scale = if frequency == 0 { 0.125_f32.sqrt() } else { 0.5 };
        std::array::from_fn(|at| {
            let angle = (2 * at + 1) as f32 * frequency as f32 * std::f32::consts::PI / 16.0;
            scale * angle.cos()
        })
    })
}

/// Rounds the cosines of each block to multiples of `step`, coarser ones for finer detail. The blocks begin anywhere.
pub fn compress(canvas: &mut Canvas, step: f32, dice: &mut Dice) {
    let cosines = cosines();
    let shift = [dice.below(BLOCK), dice.below(BLOCK)];
    let side = canvas.side;
    let starts =
        |shift: usize| (0..side + shift).step_by(BLOCK).map(move |start| start as i32 - shift as i32);
    for top in starts(shift[1]) {
        for left in starts(shift[0]) {
            let limit = |at: i32| at.clamp(0, side as i32 - 1) as usize;
            let place = |at: usize| [left + (at % BLOCK) as i32, top + (at / BLOCK) as i32];
            let mut block: [f32; BLOCK * BLOCK] = std::array::from_fn(|at| {
                let [x, y] = place(at).map(limit);
                canvas.ink[y * side + x]
            });
            transform(&mut block, |frequency, at| cosines[frequency][at]);
            for (at, value) in block.iter_mut().enumerate() {
                let step = step * (1.0 + 0.5 * (at % BLOCK + at / BLOCK) as f32);
                *value = (*value / step).round() * step;
            }
            transform(&mut block, |at, frequency| cosines[frequency][at]);
            for (at, &value) in block.iter().enumerate() {
                let [x, y] = place(at);
                if [x, y].iter().all(|at| (0..side as i32).contains(at)) {
                    canvas.ink[y as usize * side + x as usize] = value;
                }
            }
        }
    }
}

/// Applies a matrix to the rows and the columns of a block.
fn transform(block: &mut [f32; BLOCK * BLOCK], matrix: impl Fn(usize, usize) -> f32) {
    for _ in 0..2 {
        let before = *block;
        // Written transposed, so that the second round takes the columns.
        for row in 0..BLOCK {
            for to in 0..BLOCK {
                let from = &before[row * BLOCK..][..BLOCK];
                block[to * BLOCK + row] =
                    from.iter().enumerate().map(|(at, value)| matrix(to, at) * value).sum();
            }
        }
    }
}

//! What else is in a cell: its lines, its ground, dust and strokes that mean nothing.

use crate::{
    canvas::Canvas,
    dice::Dice,
    scene::{CELL, FINE},
};

/// Paints a line from a point of the canvas to another, as thick as this; shorter than that thickness it is a dot.
fn line(canvas: &mut Canvas, [from, to]: [[f32; 2]; 2], thick: f32, level: f32) {
    let along = [to[0] - from[0], to[1] - from[1]];
    let square = (along[0] * along[0] + along[1] * along[1]).max(1e-6);
    let span = |axis: usize| {
        let low = (from[axis].min(to[axis]) - thick - 1.0).max(0.0) as usize;
        let high = (from[axis].max(to[axis]) + thick + 2.0).max(0.0) as usize;
        low..high.min(FINE)
    };
    for y in span(1) {
        for x in span(0) {
            let here = [x as f32 + 0.5 - from[0], y as f32 + 0.5 - from[1]];
            let part = ((here[0] * along[0] + here[1] * along[1]) / square).clamp(0.0, 1.0);
            let distance = (here[0] - part * along[0]).hypot(here[1] - part * along[1]);
            let ink = (thick / 2.0 + 0.5 - distance).clamp(0.0, thick.min(1.0));
            if ink > 0.0 {
                canvas.lay(y * FINE + x, ink * level);
            }
        }
    }
}

/// The lines of the cell: thin or thick, faint, missing, double, broken, or not quite where they should be.
pub fn lines(canvas: &mut Canvas, dice: &mut Dice) {
    let level = if dice.chance(0.7) { dice.range(0.7, 1.0) } else { dice.range(0.2, 0.8) };
    let thin = dice.range(0.5, 3.0);
    let turn = dice.around(0.025);
    let shift = if dice.chance(0.7) { 0.5 } else { 1.4 };
    for edge in 0..4 {
        if dice.chance(0.06) {
            continue;
        }
        let thick = if dice.chance(0.3) { dice.range(2.0, 6.5) } else { thin };
        let level = if dice.chance(0.1) { level * dice.range(0.3, 1.0) } else { level };
        let off = CELL / 2.0 + dice.around(shift);
        let slope = turn + dice.around(0.015);
        let (broken, double) = (dice.chance(0.03), dice.chance(0.03));
        let end = FINE as f32;
        let sign = if edge < 2 { -1.0 } else { 1.0 };
        let point = |part: f32, off: f32| {
            let along = part * end;
            let across = end / 2.0 + sign * off + slope * (along - end / 2.0);
            if edge % 2 == 0 { [along, across] } else { [end - across, along] }
        };
        if broken {
            let dash = dice.range(0.05, 0.15);
            let mut at = dice.range(-0.1, 0.0);
            while at < 1.0 {
                line(canvas, [point(at, off), point(at + 0.5 * dash, off)], thick, level);
                at += dash;
            }
        } else {
            line(canvas, [point(-0.1, off), point(1.1, off)], thick, level);
        }
        if double {
            let off = off + dice.pick(&[-1.0, 1.0]) * (thick + dice.range(1.0, 3.0));
            line(canvas, [point(-0.1, off), point(1.1, off)], thin, level);
        }
        // A frame against a dark table.
        if dice.chance(0.01) {
            line(canvas, [point(-0.1, off + 5.0), point(1.1, off + 5.0)], 9.0, dice.range(0.3, 1.0));
        }
    }
}

/// Where the page was folded: a soft stripe from edge to edge, light or dark.
fn fold(canvas: &mut Canvas, dice: &mut Dice) {
    let middle = FINE as f32 / 2.0;
    let (at, slope) = (dice.range(0.05, 0.95) * FINE as f32, dice.around(0.08));
    let (wide, strength) = (dice.range(0.8, 5.0), dice.range(0.05, 0.8));
    let (upright, shaded) = (dice.chance(0.5), dice.chance(0.4));
    for place in 0..canvas.ink.len() {
        let [x, y] = [place % FINE, place / FINE].map(|at| at as f32);
        let (across, along) = if upright { (x, y) } else { (y, x) };
        let off = (across - at - slope * (along - middle)) / wide;
        // One side of a fold may lie in the shade, and that ends softly.
        let wider = if shaded && off > 0.0 { 0.3 } else { 1.0 };
        canvas.lay(place, strength * (-(off * wider) * (off * wider)).exp());
    }
}

/// Paper that is not white everywhere: shade, colour, pictures behind the digits, screens of dots.
pub fn ground(canvas: &mut Canvas, dice: &mut Dice) {
    if dice.chance(0.3) {
        let slopes = [dice.around(0.06), dice.around(0.06)];
        let middle = FINE as f32 / 2.0;
        for at in 0..canvas.ink.len() {
            let [x, y] = [at % FINE, at / FINE].map(|at| at as f32 / middle - 1.0);
            canvas.ink[at] += (slopes[0] * x + slopes[1] * y).max(0.0);
        }
    }
    if dice.chance(0.1) {
        let colour = dice.range(0.03, 0.35);
        // The cell alone, or its block as well.
        let inset = if dice.chance(0.5) { dice.range(3.0, 8.0) as usize } else { 0 };
        for at in 0..canvas.ink.len() {
            if [at % FINE, at / FINE].iter().all(|&at| at >= inset && at < FINE - inset) {
                canvas.lay(at, colour);
            }
        }
    }
    if dice.chance(0.05) {
        fold(canvas, dice);
    }
    if dice.chance(0.06) {
        let strength = dice.range(0.05, 0.3);
        canvas.noise(0.0, strength, dice);
        canvas.ink.iter_mut().for_each(|ink| *ink = ink.clamp(0.0, 0.5));
    }
    if dice.chance(0.03) {
        let [period, strength] = [dice.range(2.5, 7.0), dice.range(0.05, 0.3)];
        let turn = std::f32::consts::TAU / period;
        for at in 0..canvas.ink.len() {
            let [x, y] = [at % FINE, at / FINE].map(|at| (at as f32 * turn).cos());
            canvas.lay(at, strength * (0.5 + 0.5 * x * y));
        }
    }
}

/// Specks.
pub fn dust(canvas: &mut Canvas, dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        let at = [dice.range(0.0, FINE as f32), dice.range(0.0, FINE as f32)];
        let to = [at[0] + dice.around(1.0), at[1] + dice.around(1.0)];
        line(canvas, [at, to], dice.range(0.8, 3.5), dice.range(0.2, 0.9));
    }
}

/// Marks that are no digits.
pub fn nothing(canvas: &mut Canvas, dice: &mut Dice) {
    let end = FINE as f32;
    if dice.chance(0.08) {
        // A short stroke, as a pencil leaves that was tried or slipped.
        let at = [dice.range(0.15, 0.85) * end, dice.range(0.15, 0.85) * end];
        let reach = dice.range(2.0, 9.0);
        let to = [at[0] + dice.around(1.0) * reach * 0.6, at[1] + dice.around(0.5) * reach * 0.6];
        line(canvas, [at, to], dice.range(0.8, 2.5), dice.range(0.15, 0.7));
    }
    if dice.chance(0.03) {
        // The diagonal of a sudoku that has them.
        let slips = [dice.around(1.0), dice.around(1.0)];
        let ends = [[0.0, slips[0]], [end, end + slips[1]]];
        let ends = if dice.chance(0.5) { ends } else { ends.map(|[x, y]| [end - x, y]) };
        line(canvas, ends, dice.range(0.8, 2.5), dice.range(0.2, 0.9));
    }
    if dice.chance(0.04) {
        // What an eraser leaves: a cloud.
        let at = [dice.range(0.3, 0.7) * end, dice.range(0.3, 0.7) * end];
        for _ in 0..6 {
            let near = at.map(|at| at + dice.around(5.0));
            let to = near.map(|at| at + dice.around(4.0));
            line(canvas, [near, to], dice.range(4.0, 9.0), dice.range(0.02, 0.07));
        }
    }
    if dice.chance(0.03) {
        // A dot in the middle of the cell, or a dash.
        let at = [dice.range(0.4, 0.6) * end, dice.range(0.4, 0.6) * end];
        let to = [at[0] + dice.range(0.0, 6.0), at[1] + dice.around(0.5)];
        line(canvas, [at, to], dice.range(1.5, 4.0), dice.range(0.3, 1.0));
    }
}

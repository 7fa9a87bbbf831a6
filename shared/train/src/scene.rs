//! Patches as a photograph would give them.

use shared::photo::classify::{CANDIDATES, NOTHING, SIDE};

use crate::{
    canvas::{Canvas, Pose},
    dice::Dice,
    fonts::Family,
    glyph::Glyph,
    hand::Hands,
    jpeg, marks,
    model::Sample,
    strokes,
};

/// Pixels along a side of the canvas on which a patch is painted.
pub const FINE: usize = 2 * SIDE;
/// The length of a cell's side on it: a patch shows a tenth of it more on every side.
pub const CELL: f32 = FINE as f32 / 1.2;

/// How many patches of a hundred show nothing, and how many candidates; the rest is digits, all equally often.
const OF_A_HUNDRED: [usize; 2] = [21, 15];

/// Where digits come from.
pub struct Sources<'a> {
    pub fonts: &'a [Family],
    pub hands: &'a Hands,
    /// Of a hundred digits, those out of fonts and out of `hands`; the rest is drawn.
    pub mixture: [usize; 2],
}

/// What wrote a digit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Font,
    Hand,
    Strokes,
}

/// Tools, with the same font for all digits of a patch.
struct Writer<'a> {
    sources: &'a Sources<'a>,
    tool: Tool,
    family: usize,
    font: usize,
}

impl<'a> Writer<'a> {
    fn new(sources: &'a Sources<'a>, dice: &mut Dice) -> Self {
        let of_hundred = dice.below(100);
        let [fonts, hands] = sources.mixture;
        let tool = if of_hundred < fonts {
            Tool::Font
        } else if of_hundred < fonts + hands {
            Tool::Hand
        } else {
            Tool::Strokes
        };
        let family = dice.below(sources.fonts.len());
        let font = sources.fonts.get(family).map_or(0, |family| dice.below(family.len()));
        Self { sources, tool, family, font }
    }

    fn glyph(&self, digit: usize, dice: &mut Dice) -> Glyph {
        match self.tool {
            Tool::Font => self.sources.fonts[self.family][self.font][digit - 1].clone(),
            Tool::Hand => dice.pick(&self.sources.hands[digit - 1]).clone(),
            // Another try where a pen left nothing.
            Tool::Strokes => strokes::write(digit, dice).unwrap_or_else(|| self.glyph(digit, dice)),
        }
    }
}

/// A patch and what it shows.
pub fn patch(sources: &Sources, dice: &mut Dice) -> Sample {
    let of_hundred = dice.below(100);
    let label = if of_hundred < OF_A_HUNDRED[0] {
        NOTHING
    } else if of_hundred < OF_A_HUNDRED[0] + OF_A_HUNDRED[1] {
        CANDIDATES
    } else {
        1 + dice.below(9)
    };
    let mut canvas = Canvas::new(FINE);
    marks::ground(&mut canvas, dice);
    marks::lines(&mut canvas, dice);
    others(&mut canvas, sources, dice);
    match label {
        NOTHING => marks::nothing(&mut canvas, dice),
        CANDIDATES => candidates(&mut canvas, sources, dice),
        digit => big(&mut canvas, digit, sources, dice),
    }
    if dice.chance(0.12) {
        marks::dust(&mut canvas, dice);
    }
    Sample { patch: photograph(canvas, dice), label }
}

/// The ink of a pen or a press: mostly full.
fn level(dice: &mut Dice) -> f32 {
    if dice.chance(0.55) { dice.range(0.75, 1.1) } else { dice.range(0.28, 0.85) }.min(1.0)
}

/// A digit that fills its cell.
fn big(canvas: &mut Canvas, digit: usize, sources: &Sources, dice: &mut Dice) {
    let writer = Writer::new(sources, dice);
    let glyph = writer.glyph(digit, dice);
    let printed = writer.tool == Tool::Font;
    let height = match (printed, dice.chance(0.75)) {
        (true, true) => dice.range(0.42, 0.72),
        (true, false) => dice.range(0.32, 0.8),
        (false, true) => dice.range(0.38, 0.8),
        (false, false) => dice.range(0.27, 1.0),
    };
    // Wide digits stay inside their cell, as far as hands see to that.
    let most = if printed { 0.8 } else { 1.0 };
    let height = height.min(most * glyph.height as f32 / glyph.width as f32);
    // Small digits of a hand stand anywhere in their cell.
    let off = if printed { 0.055 } else { 0.075 + 0.25 * (0.5 - height).max(0.0) };
    let off = [dice.around(off), dice.around(off)];
    let mut pose = pose(off, height, printed, dice);
    pose.level = level(dice);
    canvas.paint(&glyph, &pose);
    // Candidates that were noted before, and left.
    if dice.chance(0.03) {
        let corner = [dice.pick(&[-0.36, 0.36]), dice.pick(&[-0.38, 0.38])].map(|at| at + dice.around(0.02));
        let small = writer.glyph(1 + dice.below(9), dice);
        let height = dice.range(0.14, 0.22);
        let mut pose = self::pose(corner, height, printed, dice);
        pose.level = dice.range(0.3, 0.8);
        canvas.paint(&small, &pose);
    }
}

/// A pose of what stands `off` the middle, in parts of the cell as the height is.
fn pose(off: [f32; 2], height: f32, printed: bool, dice: &mut Dice) -> Pose {
    let middle = FINE as f32 / 2.0;
    let shear = if printed { 0.05 } else { 0.14 };
    let perspective = if dice.chance(0.3) { 0.006 } else { 0.001 };
    Pose {
        centre: off.map(|off| middle + off * CELL),
        height: height * CELL,
        stretch: 1.0 + dice.around(if printed { 0.06 } else { 0.1 }),
        turn: dice.around(if printed { 0.06 } else { 0.09 }),
        shear: dice.around(shear),
        perspective: [dice.around(perspective), dice.around(perspective)],
        mirrored: false,
        level: 1.0,
        growth: match dice.below(20) {
            0..=4 => dice.range(-0.5, 0.9),
            // Bold, and blotted.
            5 | 6 => dice.range(0.8, 1.8),
            _ => 0.0,
        },
    }
}

/// Small digits. One that stands alone is the smaller, and not in the middle: else it is a small digit, and no
/// candidate.
fn candidates(canvas: &mut Canvas, sources: &Sources, dice: &mut Dice) {
    let writer = Writer::new(sources, dice);
    let printed = writer.tool == Tool::Font;
    let level = dice.range(0.5, 1.0);
    let pressed = if dice.chance(0.5) { dice.range(0.0, 0.6) } else { 0.0 };
    let most = if dice.chance(0.25) { 7 } else { 4 };
    let number = 1 + dice.below(most);
    // Large ones stand side by side, and nine have to fit above each other.
    let (style, height) = match number {
        1 => (8 + dice.below(2), dice.range(0.14, 0.25)),
        _ if dice.chance(0.25) => (5 + dice.below(3), dice.range(0.3, 0.46)),
        _ => (dice.below(8), dice.range(0.16, 0.32)),
    };
    let step = dice.range(0.24, 0.32);
    let (mut across, row) = (dice.range(-0.5, -0.2), dice.range(-0.4, -0.2) + 0.3 * (height - 0.3).max(0.0));
    for _ in 0..number {
        let digit = 1 + dice.below(9);
        let glyph = writer.glyph(digit, dice);
        let high = height * (1.0 + dice.around(0.08));
        let at = match style {
            // Each where it stands among nine.
            0..=4 => [((digit - 1) % 3) as f32 - 1.0, ((digit - 1) / 3) as f32 - 1.0].map(|at| at * step),
            // One beside the other, at the top or elsewhere.
            5..=7 => {
                let width = high * glyph.width as f32 / glyph.height as f32;
                across += width + dice.range(0.03, 0.1);
                if across > 0.5 {
                    break;
                }
                [across - width / 2.0, if style == 7 { row + 0.45 } else { row }]
            }
            8 => [dice.range(-0.36, 0.36), dice.range(-0.38, -0.25)],
            _ => [*dice.pick(&[-0.32, 0.32]), *dice.pick(&[-0.32, 0.32])],
        };
        let at = at.map(|at| at + dice.around(0.025));
        let mut pose = pose(at, high, printed, dice);
        pose.level = level * dice.range(0.8, 1.0);
        pose.growth = pressed;
        canvas.paint(&glyph, &pose);
    }
}

/// Digits that are not this cell's: of the next one, and of the other side of the paper.
fn others(canvas: &mut Canvas, sources: &Sources, dice: &mut Dice) {
    if dice.chance(0.08) {
        let writer = Writer::new(sources, dice);
        let glyph = writer.glyph(1 + dice.below(9), dice);
        let side = *dice.pick(&[-1.0, 1.0]) * dice.range(0.86, 1.05);
        let off = if dice.chance(0.5) { [side, dice.around(0.1)] } else { [dice.around(0.1), side] };
        let height = dice.range(0.5, 0.85);
        let mut pose = pose(off, height, false, dice);
        pose.level = level(dice);
        canvas.paint(&glyph, &pose);
    }
    if dice.chance(0.18) {
        let writer = Writer::new(sources, dice);
        // Through the paper it is mirrored; what was rubbed out is not, and stands in the middle.
        let erased = dice.chance(0.5);
        for _ in 0..=dice.below(3) {
            let glyph = writer.glyph(1 + dice.below(9), dice);
            let reach = if erased { 0.25 } else { 0.6 };
            let off = [dice.range(-reach, reach), dice.range(-reach, reach)];
            let height = dice.range(0.25, 0.8);
            let mut pose = pose(off, height, false, dice);
            pose.mirrored = !erased && dice.chance(0.7);
            pose.level = dice.range(0.04, 0.19);
            canvas.paint(&glyph, &pose);
            if erased && dice.chance(0.8) {
                break;
            }
        }
    }
}

/// What lens, sensor and file make of a canvas, and the pipeline of that.
fn photograph(mut canvas: Canvas, dice: &mut Dice) -> [u8; SIDE * SIDE] {
    // Blur is measured in the pixels of a patch, two of the canvas each.
    let blur = if dice.chance(0.75) { dice.range(0.2, 1.4) } else { dice.range(1.0, 2.8) };
    canvas.blur([blur, blur * dice.range(0.75, 1.33)]);
    if dice.chance(0.1) {
        canvas.smear(dice.range(1.0, 6.0), dice.range(0.0, std::f32::consts::PI));
    }
    let pixels = if dice.chance(0.2) { dice.range(16.0, 28.0) } else { dice.range(26.0, FINE as f32) };
    let mut seen = canvas.resized(pixels as usize);
    let noise = if dice.chance(0.8) { dice.range(0.0, 0.03) } else { dice.range(0.02, 0.08) };
    let coarse = if dice.chance(0.3) { dice.range(0.0, 0.05) } else { 0.0 };
    seen.noise(noise, coarse, dice);
    if dice.chance(0.2) {
        let step = dice.range(0.02, 0.2);
        jpeg::compress(&mut seen, step, dice);
    }
    if dice.chance(0.15) {
        // What a telephone does to look sharp.
        let mut soft = seen.clone();
        soft.blur([1.0, 1.0]);
        let by = dice.range(0.3, 1.2);
        seen.ink.iter_mut().zip(&soft.ink).for_each(|(ink, soft)| *ink += by * (*ink - soft));
    }
    let seen = seen.resized(SIDE);
    // Paper and ink are not always found exactly.
    let gain = if dice.chance(0.5) { dice.range(0.9, 1.25) } else { dice.range(0.7, 1.8) };
    let zero = if dice.chance(0.5) { dice.around(0.02) } else { dice.around(0.06) };
    let power = dice.range(0.8, 1.3);
    std::array::from_fn(|at| {
        let ink = (seen.ink[at].max(0.0).powf(power) * gain + zero).clamp(0.0, 1.0);
        (ink * 255.0).round() as u8
    })
}

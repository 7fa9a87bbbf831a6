//! A square picture of ink, and what paper, lens and camera do to it.

use crate::{dice::Dice, glyph::Glyph};

/// Ink of 0 (none) to 1 and more (full), row by row.
#[derive(Clone)]
pub struct Canvas {
    pub side: usize,
    pub ink: Vec<f32>,
}

/// How a glyph is put on a canvas. Lengths are in pixels of the canvas.
#[derive(Clone, Copy)]
pub struct Pose {
    pub centre: [f32; 2],
    pub height: f32,
    /// Factor of the width.
    pub stretch: f32,
    /// Angle, in radians.
    pub turn: f32,
    pub shear: f32,
    /// Change of size along x and y, for each pixel.
    pub perspective: [f32; 2],
    pub mirrored: bool,
    /// Ink of the full levels.
    pub level: f32,
    /// Pixels of the canvas by which strokes grow, or shrink when negative.
    pub growth: f32,
}

impl Canvas {
    pub fn new(side: usize) -> Self {
        Self { side, ink: vec![0.0; side * side] }
    }

    /// Lays ink over that of a pixel.
    pub fn lay(&mut self, at: usize, ink: f32) {
        self.ink[at] = 1.0 - (1.0 - self.ink[at]) * (1.0 - ink);
    }

    /// Paints a glyph.
    pub fn paint(&mut self, glyph: &Glyph, pose: &Pose) {
        let small;
        let glyph = if (glyph.height as f32) > 1.6 * pose.height {
            small = glyph.halved();
            &small
        } else {
            glyph
        };
        let scale = glyph.height as f32 / pose.height;
        let (sin, cos) = pose.turn.sin_cos();
        let half = [glyph.width as f32 / 2.0, glyph.height as f32 / 2.0];
        let reach = half[0].hypot(half[1]) / scale * 1.5 * pose.stretch.max(1.0) + 2.0;
        let side = self.side;
        let span = |centre: f32| {
            let low = (centre - reach).max(0.0) as usize;
            low..((centre + reach).max(0.0) as usize).min(side)
        };
        let grow = pose.growth.abs() * scale;
        for y in span(pose.centre[1]) {
            for x in span(pose.centre[0]) {
                let [dx, dy] = [x as f32 + 0.5 - pose.centre[0], y as f32 + 0.5 - pose.centre[1]];
                let depth = (1.0 + pose.perspective[0] * dx + pose.perspective[1] * dy) * scale;
                let [dx, dy] = [(cos * dx + sin * dy) * depth, (cos * dy - sin * dx) * depth];
                let dx = (dx + pose.shear * dy) / pose.stretch;
                let dx = if pose.mirrored { -dx } else { dx };
                let [u, v] = [half[0] + dx, half[1] + dy];
                let mut ink = glyph.at(u, v);
                if grow > 0.05 {
                    for [by_x, by_y] in [[grow, 0.0], [-grow, 0.0], [0.0, grow], [0.0, -grow]] {
                        let other = glyph.at(u + by_x, v + by_y);
                        ink = if pose.growth > 0.0 { ink.max(other) } else { ink.min(other) };
                    }
                }
                if ink > 0.0 {
                    self.lay(y * side + x, ink * pose.level);
                }
            }
        }
    }

    /// The same picture with another number of pixels: means of areas, or points in between when it grows.
    pub fn resized(&self, side: usize) -> Self {
        let step = self.side as f32 / side as f32;
        // For each pixel along an axis: the first that it is made of, and the parts.
        let parts: Vec<(usize, Vec<f32>)> = (0..side)
            .map(|at| {
                let (low, high) = if step > 1.0 {
                    (at as f32 * step, (at + 1) as f32 * step)
                } else {
                    let centre = (at as f32 + 0.5) * step;
                    (centre - 0.5, centre + 0.5)
                };
                let first = low.max(0.0) as usize;
                let last = (high.ceil() as usize).clamp(first + 1, self.side);
                let overlap = |pixel: usize| (high.min(pixel as f32 + 1.0) - low.max(pixel as f32)).max(0.0);
                let parts: Vec<f32> = (first..last).map(overlap).collect();
                let sum = parts.iter().sum::<f32>().max(1e-6);
                (first, parts.into_iter().map(|part| part / sum).collect())
            })
            .collect();
        let mut rows = vec![0.0; side * self.side];
        for (row, (first, weights)) in rows.chunks_exact_mut(self.side).zip(&parts) {
            for (weight, from) in weights.iter().zip(self.ink[first * self.side..].chunks_exact(self.side)) {
                row.iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
            }
        }
        let mut ink = Vec::with_capacity(side * side);
        for row in rows.chunks_exact(self.side) {
            ink.extend(parts.iter().map(|(first, weights)| {
                weights.iter().zip(&row[*first..]).map(|(weight, from)| weight * from).sum::<f32>()
            }));
        }
        Self { side, ink }
    }

    /// Blurs along x and y with Gaussian bells of these deviations.
    pub fn blur(&mut self, deviations: [f32; 2]) {
        for (axis, deviation) in deviations.into_iter().enumerate() {
            let reach = (deviation * 2.5).ceil() as usize;
            if reach == 0 || deviation < 0.15 {
                continue;
            }
            let bell = |at: usize| {
                let distance = (at as f32 - reach as f32) / deviation;
                (-0.5 * distance * distance).exp()
            };
            let sum = (0..=2 * reach).map(bell).sum::<f32>();
            self.sweep(axis, reach, &(0..=2 * reach).map(|at| bell(at) / sum).collect::<Vec<_>>());
        }
    }

    /// Means along an axis, with these weights around each pixel; the edges go on as they end.
    fn sweep(&mut self, axis: usize, reach: usize, weights: &[f32]) {
        let (step, across) = if axis == 0 { (1, self.side) } else { (self.side, 1) };
        let mut line = vec![0.0; self.side + 2 * reach];
        for start in (0..self.side).map(|number| number * across) {
            for (at, pixel) in line.iter_mut().enumerate() {
                *pixel = self.ink[start + at.saturating_sub(reach).min(self.side - 1) * step];
            }
            for at in 0..self.side {
                let sum = weights.iter().zip(&line[at..]).map(|(weight, pixel)| weight * pixel).sum();
                self.ink[start + at * step] = sum;
            }
        }
    }

    /// Smears along a direction, as a hand that moves does.
    pub fn smear(&mut self, length: f32, angle: f32) {
        let (sin, cos) = angle.sin_cos();
        let before = self.ink.clone();
        let limit = self.side as i32 - 1;
        let taps = 5;
        for (at, pixel) in self.ink.iter_mut().enumerate() {
            let mut sum = 0.0;
            for tap in 0..taps {
                let by = length * (tap as f32 / (taps - 1) as f32 - 0.5);
                let x = ((at % self.side) as f32 + by * cos).round() as i32;
                let y = ((at / self.side) as f32 + by * sin).round() as i32;
                sum += before[(y.clamp(0, limit) * self.side as i32 + x.clamp(0, limit)) as usize];
            }
            *pixel = sum / taps as f32;
        }
    }

    /// Adds noise of each pixel, and a coarser one.
    pub fn noise(&mut self, fine: f32, coarse: f32, dice: &mut Dice) {
        self.ink.iter_mut().for_each(|pixel| *pixel += dice.range(-1.7, 1.7) * fine);
        if coarse > 0.0 {
            let mut blobs = Canvas::new(2 + dice.below(6));
            blobs.ink.iter_mut().for_each(|pixel| *pixel = dice.around(coarse));
            let blobs = blobs.resized(self.side);
            self.ink.iter_mut().zip(&blobs.ink).for_each(|(pixel, blob)| *pixel += blob);
        }
    }
}

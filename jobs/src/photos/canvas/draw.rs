//! Strokes with soft edges, filled quadrangles and text.

use shared::photo::reading::Point;

use super::{Canvas, Rgb, coordinate, glyphs, whole};

/// Four corners: top left, top right, bottom right, bottom left.
pub type Quad = [Point; 4];

/// How wide a character is, with the gap behind it, for its height.
const PITCH: f32 = 0.95;

/// How wide a character is for its height.
const WIDTH: f32 = 4.0 / 6.0;

impl Canvas {
    /// Draws a stroke as wide as twice the radius, with round ends.
    pub fn stroke(&mut self, from: Point, to: Point, radius: f32, colour: Rgb) {
        let reach = radius + 1.0;
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let square = dx * dx + dy * dy;
        let columns = span(from.x.min(to.x) - reach, from.x.max(to.x) + reach, self.width);
        for y in span(from.y.min(to.y) - reach, from.y.max(to.y) + reach, self.height) {
            for x in columns.clone() {
                let (px, py) = (coordinate(x) - from.x, coordinate(y) - from.y);
                let along = if square > 0.0 { ((px * dx + py * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
                let (ex, ey) = (px - along * dx, py - along * dy);
                let distance = (ex * ex + ey * ey).sqrt();
                self.blend(x, y, (radius + 0.5 - distance).clamp(0.0, 1.0), colour);
            }
        }
    }

    /// Draws the outline of a quadrangle.
    pub fn outline(&mut self, quad: &Quad, radius: f32, colour: Rgb) {
        (0..4).for_each(|corner| self.stroke(quad[corner], quad[(corner + 1) % 4], radius, colour));
    }

    /// Fills a convex quadrangle, `share` of it colour and the rest what was there.
    pub fn fill(&mut self, quad: &Quad, share: f32, colour: Rgb) {
        let ends = |part: fn(&Point) -> f32| {
            let all = quad.iter().map(part);
            (all.clone().fold(f32::INFINITY, f32::min), all.fold(f32::NEG_INFINITY, f32::max))
        };
        let ((left, right), (top, bottom)) = (ends(|point| point.x), ends(|point| point.y));
        let columns = span(left, right, self.width);
        for y in span(top, bottom, self.height) {
            for x in columns.clone() {
                let side = |corner: usize| {
                    let (a, b) = (quad[corner], quad[(corner + 1) % 4]);
                    (b.x - a.x) * (coordinate(y) - a.y) - (b.y - a.y) * (coordinate(x) - a.x)
                };
                let sides = [side(0), side(1), side(2), side(3)];
                if sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0) {
                    self.blend(x, y, share, colour);
                }
            }
        }
    }

    /// Draws a character into a quadrangle, as tall as that and in the middle of it.
    pub fn character(&mut self, character: char, quad: &Quad, radius: f32, colour: Rgb) {
        for stroke in glyphs::strokes(character) {
            for line in stroke.windows(2) {
                let [from, to] = [line[0], line[1]].map(|(x, y)| within(quad, x / 4.0, y / 6.0));
                self.stroke(from, to, radius, colour);
            }
        }
    }

    /// Writes a line of text from its top left corner.
    pub fn text(&mut self, text: &str, at: Point, height: f32, radius: f32, colour: Rgb) {
        let mut x = at.x;
        for character in text.chars() {
            let (left, right) = (x, x + height * WIDTH);
            let corner = |x, y| Point { x, y };
            let (top, bottom) = (at.y, at.y + height);
            let quad = [corner(left, top), corner(right, top), corner(right, bottom), corner(left, bottom)];
            self.character(character, &quad, radius, colour);
            x += height * PITCH;
        }
    }

    fn blend(&mut self, x: usize, y: usize, share: f32, colour: Rgb) {
        // A share that is no number counts as none: corners may come from anywhere.
        if share.is_nan() || share <= 0.0 {
            return;
        }
        let pixel = &mut self.pixels[y * self.width + x];
        for (old, new) in pixel.iter_mut().zip(colour) {
            let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * share;
            *old = u8::try_from(whole(mixed + 0.5)).unwrap_or(u8::MAX);
        }
    }
}

/// A place in a quadrangle, from 0 at the left and the top to 1.
#[must_use]
pub fn within(quad: &Quad, x: f32, y: f32) -> Point {
    let between =
        |a: Point, b: Point, share: f32| Point { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
    between(between(quad[0], quad[1], x), between(quad[3], quad[2], x), y)
}

/// The pixels from one coordinate to another, as far as there are such.
fn span(from: f32, to: f32, end: usize) -> std::ops::Range<usize> {
    let first = whole(from.max(0.0)).min(end);
    let last = if to < 0.0 { 0 } else { whole(to).saturating_add(1).min(end) };
    first..last.max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Rgb = [0, 0, 0];
    const PAPER: Rgb = [255, 255, 255];

    fn at(x: f32, y: f32) -> Point {
        Point { x, y }
    }

    #[test]
    fn strokes_are_as_wide_as_they_should_be_and_stay_inside() {
        let mut canvas = Canvas::filled(20, 10, PAPER);
        canvas.stroke(at(-50.0, 5.0), at(12.0, 5.0), 1.0, INK);
        let column: Vec<u8> = (3..8).map(|y| canvas.at(6, y)[0]).collect();
        assert_eq!(column, [255, 128, 0, 128, 255], "half of the pixels at the edge");
        assert_eq!((canvas.at(12, 5), canvas.at(15, 5)), (INK, PAPER));
        // Nothing of what is outside, or is no place at all, is drawn.
        let before = canvas.clone();
        canvas.stroke(at(-9.0, -9.0), at(-5.0, -5.0), 1.0, INK);
        canvas.stroke(at(f32::NAN, 1.0), at(2.0, f32::INFINITY), 1.0, INK);
        assert_eq!(canvas.at(6, 5), before.at(6, 5));
    }

    #[test]
    fn quadrangles_are_filled_whichever_way_they_turn() {
        let quad = [at(2.0, 2.0), at(9.0, 3.0), at(8.0, 8.0), at(1.0, 7.0)];
        let mut turned = quad;
        turned.reverse();
        let filled = |quad: &Quad| {
            let mut canvas = Canvas::filled(12, 12, PAPER);
            canvas.fill(quad, 1.0, INK);
            canvas
        };
        assert_eq!(filled(&quad), filled(&turned));
        let canvas = filled(&quad);
        assert_eq!((canvas.at(5, 5), canvas.at(0, 0), canvas.at(9, 8)), (INK, PAPER, PAPER));
        let mut half = Canvas::filled(12, 12, PAPER);
        half.fill(&quad, 0.5, INK);
        assert_eq!(half.at(5, 5), [128; 3]);
    }
}

//! Pictures that are drawn on: what was read is shown on photographs, and test pictures are made from nothing.
//!
//! Only sums, products, quotients and roots, in one order: thumbnails are parts of results, which are the same bytes
//! on every machine.

mod draw;
mod encode;
mod glyphs;

use shared::photo::{Colour, Gray, reading::Point};

pub use draw::{Quad, within};

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// A picture to draw on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
}

impl Canvas {
    /// A canvas of one colour.
    #[must_use]
    pub fn filled(width: usize, height: usize, colour: Rgb) -> Self {
        Self { width, height, pixels: vec![colour; width * height] }
    }

    /// Pixels in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// The pixel of a column and a row.
    #[must_use]
    pub fn at(&self, x: usize, y: usize) -> Rgb {
        self.pixels[y * self.width + x]
    }

    /// All pixels, row by row, to be written to.
    pub fn pixels_mut(&mut self) -> &mut [Rgb] {
        &mut self.pixels
    }

    /// A part of it, made as small as the longer edge says, each pixel the mean of those it stands for. `from` and `to`
    /// are corners of the part, as far as they are inside.
    #[must_use]
    pub fn cut(&self, from: Point, to: Point, long_edge: usize) -> Cut {
        let inside = |at: f32, end: usize| {
            let at = at.max(0.0).min(coordinate(end));
            whole(at)
        };
        let (left, top) = (inside(from.x, self.width), inside(from.y, self.height));
        let (right, bottom) = (inside(to.x, self.width), inside(to.y, self.height));
        let (wide, high) = (right.saturating_sub(left).max(1), bottom.saturating_sub(top).max(1));
        let (left, top) = (left.min(self.width.saturating_sub(1)), top.min(self.height.saturating_sub(1)));
        let longer = wide.max(high);
        let scaled = |edge: usize| {
            if longer <= long_edge { edge } else { (edge * long_edge / longer).max(1) }
        };
        let (width, height) = (scaled(wide), scaled(high));
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let rows = top + y * high / height..top + (y + 1) * high / height;
            for x in 0..width {
                let columns = left + x * wide / width..left + (x + 1) * wide / width;
                pixels.push(self.mean(columns, rows.clone()));
            }
        }
        let scale = coordinate(width) / coordinate(wide);
        let picture = Self { width, height, pixels };
        Cut { picture, scale, left: coordinate(left), top: coordinate(top) }
    }

    fn mean(&self, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> Rgb {
        let (mut sums, mut count) = ([0u64; 3], 0u64);
        for y in rows.start..rows.end.max(rows.start + 1).min(self.height) {
            for x in columns.start..columns.end.max(columns.start + 1).min(self.width) {
                let pixel = self.at(x, y);
                (0..3).for_each(|part| sums[part] += u64::from(pixel[part]));
                count += 1;
            }
        }
        sums.map(|sum| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX))
    }
}

/// A part of a picture.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The part.
    pub picture: Canvas,
    /// Its pixels for a pixel of the whole.
    scale: f32,
    left: f32,
    top: f32,
}

impl Cut {
    /// Where a place of the whole is on the part.
    #[must_use]
    pub fn place(&self, point: Point) -> Point {
        let place = |at: f32, start: f32| (at + 0.5 - start) * self.scale - 0.5;
        Point { x: place(point.x, self.left), y: place(point.y, self.top) }
    }
}

impl From<&Gray> for Canvas {
    fn from(gray: &Gray) -> Self {
        let pixels = gray.pixels().iter().map(|&level| [level; 3]).collect();
        Self { width: gray.width(), height: gray.height(), pixels }
    }
}

impl From<&Colour> for Canvas {
    fn from(colour: &Colour) -> Self {
        Self {
            width: colour.width(),
            height: colour.height(),
            pixels: colour.pixels().as_chunks().0.to_vec(),
        }
    }
}

/// A number of pixels as a coordinate.
#[allow(clippy::cast_precision_loss, reason = "no picture is so large")]
pub(in super::super) fn coordinate(pixels: usize) -> f32 {
    pixels as f32
}

/// The whole pixels of a coordinate that is not negative.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no picture is so large, and `as` stops at 0"
)]
pub(in super::super) fn whole(at: f32) -> usize {
    at as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_the_mean_of_what_it_stands_for_and_knows_its_place() {
        let mut canvas = Canvas::filled(40, 20, [0, 0, 0]);
        // Columns 20 and beyond are white.
        for (at, pixel) in canvas.pixels_mut().iter_mut().enumerate() {
            *pixel = if at % 40 >= 20 { [255; 3] } else { [0, 0, 0] };
        }
        let cut = canvas.cut(Point { x: 10.0, y: 0.0 }, Point { x: 31.0, y: 20.0 }, 7);
        assert_eq!((cut.picture.width(), cut.picture.height()), (7, 6));
        // Three columns a pixel: 10 to 12, ..., 19 to 21 is two thirds white.
        let row: Vec<u8> = (0..7).map(|x| cut.picture.at(x, 0)[0]).collect();
        assert_eq!(row, [0, 0, 0, 170, 255, 255, 255]);
        let place = cut.place(Point { x: 20.0, y: 9.5 });
        assert!((place.x - 3.0).abs() < 0.01, "{place:?}");
        // What lies outside is left out, and something is always left.
        let all = canvas.cut(Point { x: -9.0, y: -9.0 }, Point { x: 999.0, y: 999.0 }, 100);
        assert_eq!(all.picture, canvas);
        let none = canvas.cut(Point { x: 900.0, y: 900.0 }, Point { x: 999.0, y: 999.0 }, 100);
        assert_eq!((none.picture.width(), none.picture.height()), (1, 1));
    }
}

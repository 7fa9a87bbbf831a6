//! Makes pictures smaller: each new pixel is the mean of the rectangle that it covers, rounded to the nearest.
//!
//! Whole numbers only. Rows and columns are measured in parts: an old row has as many as there are new rows, a new row as
//! many as there are old ones, so that both end on whole parts. Where the factor is whole this is the plain box filter.
//! Rows are added up first, which a compiler makes fast, and columns only where a new row is complete.

use super::limits::{MAX_EDGE, MAX_PIXELS};

/// The size that a picture gets whose longer edge may be `edge`: never larger than it is, no edge less than 1.
pub fn target(width: usize, height: usize, edge: usize) -> (usize, usize) {
    let longer = width.max(height);
    if longer <= edge {
        return (width, height);
    }
    let scaled = |length: usize| ((length * edge * 2 + longer) / (longer * 2)).max(1);
    (scaled(width), scaled(height))
}

/// The old columns under a new one.
#[derive(Clone, Copy)]
struct Span {
    first: usize,
    last: usize,
    /// Parts of the first and of the last that are covered; of those between all are.
    first_parts: u32,
    last_parts: u32,
}

/// A picture of `C` bytes a pixel that is made smaller row by row. Holds four bytes a column and the new picture.
pub struct Shrink<const C: usize> {
    old_height: u32,
    new_width: u32,
    new_height: u32,
    /// For each byte of a row, the sum over what was added of the new row so far.
    sums: Vec<u32>,
    /// Parts that the new row still lacks.
    lacking: u32,
    spans: Vec<Span>,
    /// Parts times parts in a new pixel.
    area: u64,
    /// `2^64 / area`, rounded up.
    reciprocal: u64,
    pixels: Vec<u8>,
}

impl<const C: usize> Shrink<C> {
    /// From a size to one that is not larger in width nor height, both within the limits.
    ///
    /// # Panics
    ///
    /// When they are not.
    pub fn new(old: (usize, usize), new: (usize, usize)) -> Self {
        assert!(
            0 < new.0 && new.0 <= old.0 && 0 < new.1 && new.1 <= old.1,
            "{old:?} to {new:?} is no shrinking"
        );
        let parts = |length: usize| u32::try_from(length).ok().filter(|length| *length <= MAX_EDGE);
        let sizes =
            [old.0, old.1, new.0, new.1].map(|length| parts(length).expect("edges are within the limits"));
        let [old_width, old_height, new_width, new_height] = sizes;
        let area = u64::from(old_width) * u64::from(old_height);
        assert!(area <= MAX_PIXELS, "pictures are within the limits");
        let spans = (0..new_width).map(|x| span(x, old_width, new_width)).collect();
        Self {
            old_height,
            new_width,
            new_height,
            sums: vec![0; old.0 * C],
            lacking: old_height,
            spans,
            area,
            reciprocal: u64::MAX / area + 1,
            pixels: Vec::with_capacity(new.0 * new.1 * C),
        }
    }

    /// Adds the next row.
    pub fn push(&mut self, row: &[u8]) {
        let mut parts = self.new_height;
        if parts >= self.lacking {
            add(&mut self.sums, row, self.lacking);
            parts -= self.lacking;
            self.finish_row();
        }
        if parts > 0 {
            add(&mut self.sums, row, parts);
            self.lacking -= parts;
        }
    }

    /// The new picture, when all rows were pushed.
    pub fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// Writes a new row and begins the next.
    fn finish_row(&mut self) {
        for span in &self.spans {
            for channel in 0..C {
                let sum = |x: usize| u64::from(self.sums[x * C + channel]);
                let mut total = sum(span.first) * u64::from(span.first_parts);
                if span.last > span.first {
                    let between: u64 = (span.first + 1..span.last).map(sum).sum();
                    total +=
                        between * u64::from(self.new_width) + sum(span.last) * u64::from(span.last_parts);
                }
                self.pixels.push(self.mean(total));
            }
        }
        self.sums.fill(0);
        self.lacking = self.old_height;
    }

    /// A total over the area, rounded. A division, by way of its reciprocal: exact, since the total is at most 255.5 times
    /// the area and the area at most [`MAX_PIXELS`], so that the reciprocal's error comes to less than one area.
    fn mean(&self, total: u64) -> u8 {
        let quotient = (u128::from(total + self.area / 2) * u128::from(self.reciprocal)) >> 64;
        u8::try_from(quotient).unwrap_or(u8::MAX)
    }
}

/// The old columns under the new column `x`.
fn span(x: u32, old: u32, new: u32) -> Span {
    let (begin, end) = (u64::from(x) * u64::from(old), u64::from(x + 1) * u64::from(old));
    let new = u64::from(new);
    let (first, last) = (begin / new, (end - 1) / new);
    let small = |parts: u64| u32::try_from(parts).expect("no more than the new width");
    let index = |column: u64| usize::try_from(column).expect("less than the old width");
    Span {
        first: index(first),
        last: index(last),
        first_parts: small(end.min((first + 1) * new) - begin),
        last_parts: small(end - last * new),
    }
}

/// Adds a row to sums, so many times. No sum gets larger than 255 times [`MAX_EDGE`].
#[multiversion::multiversion(targets("x86_64+avx+avx2+bmi1+bmi2"))]
fn add(sums: &mut [u32], row: &[u8], times: u32) {
    for (sum, &value) in sums.iter_mut().zip(row) {
        *sum += u32::from(value) * times;
    }
}

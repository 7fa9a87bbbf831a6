//! Light and dark: what is ink, whatever the light.

use super::Gray;

/// Sums over rectangles of a picture that start at its first pixel.
pub(super) struct Sums {
    width: usize,
    /// One more row and column than the picture, which are zero.
    sums: Vec<u32>,
}

impl Sums {
    pub(super) fn of(picture: &Gray) -> Self {
        let width = picture.width() + 1;
        let mut sums = vec![0u32; width * (picture.height() + 1)];
        for y in 0..picture.height() {
            let (above, below) = sums[y * width..].split_at_mut(width);
            let mut row = 0;
            for (x, &pixel) in picture.row(y).iter().enumerate() {
                row += u32::from(pixel);
                below[x + 1] = above[x + 1].wrapping_add(row);
            }
        }
        Self { width, sums }
    }

    /// The sum over columns and rows from the first to before the second.
    #[inline]
    pub(super) fn sum(&self, columns: (usize, usize), rows: (usize, usize)) -> u32 {
        let at = |x: usize, y: usize| self.sums[y * self.width + x];
        let (all, left) = (at(columns.1, rows.1), at(columns.0, rows.1));
        let (above, both) = (at(columns.1, rows.0), at(columns.0, rows.0));
        all.wrapping_sub(left).wrapping_sub(above).wrapping_add(both)
    }
}

/// Half the width of the neighbourhood that a pixel is compared with, as a part of the longer edge.
const NEIGHBOURHOOD: usize = 40;

/// Which pixels are darker than their neighbourhood by `percent` of its mean.
pub(super) fn ink(picture: &Gray, sums: &Sums, percent: u32) -> Vec<bool> {
    let (width, height) = (picture.width(), picture.height());
    let radius = (width.max(height) / NEIGHBOURHOOD).max(4);
    let mut ink = Vec::with_capacity(width * height);
    for y in 0..height {
        let rows = (y.saturating_sub(radius), (y + radius + 1).min(height));
        for (x, &pixel) in picture.row(y).iter().enumerate() {
            let columns = (x.saturating_sub(radius), (x + radius + 1).min(width));
            let area = u32::try_from((columns.1 - columns.0) * (rows.1 - rows.0)).unwrap_or(u32::MAX);
            let limit = u64::from(sums.sum(columns, rows)) * u64::from(100 - percent);
            ink.push(u64::from(pixel) * u64::from(area) * 100 < limit);
        }
    }
    ink
}

/// Half as large, each pixel the mean of four. An odd row or column at the end is left out.
pub(super) fn halved(picture: &Gray) -> Gray {
    let (width, height) = (picture.width() / 2, picture.height() / 2);
    let mut half = Gray::filled(width, height, 0);
    for (y, row) in half.pixels_mut().chunks_exact_mut(width.max(1)).enumerate() {
        let (above, below) = (picture.row(2 * y), picture.row(2 * y + 1));
        for ((pixel, above), below) in row.iter_mut().zip(above.chunks_exact(2)).zip(below.chunks_exact(2)) {
            let sum: u16 = above.iter().chain(below).map(|&pixel| u16::from(pixel)).sum();
            *pixel = u8::try_from((sum + 2) / 4).unwrap_or(u8::MAX);
        }
    }
    half
}

/// Black for white.
pub(super) fn inverted(picture: &Gray) -> Gray {
    let mut inverted = picture.clone();
    inverted.pixels_mut().iter_mut().for_each(|pixel| *pixel = 255 - *pixel);
    inverted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(width: usize, height: usize) -> Gray {
        let mut random = crate::random::Random::new(width as u64);
        let pixels = (0..width * height).map(|_| (random.word() >> 56) as u8).collect();
        Gray::new(width, height, pixels).unwrap()
    }

    #[test]
    fn sums_are_those_of_the_pixels() {
        let picture = example(13, 7);
        let sums = Sums::of(&picture);
        for (columns, rows) in [((0, 13), (0, 7)), ((3, 4), (2, 3)), ((5, 5), (0, 7)), ((2, 11), (1, 6))] {
            let slow: u32 = (rows.0..rows.1)
                .flat_map(|y| (columns.0..columns.1).map(move |x| (x, y)))
                .map(|(x, y)| u32::from(picture.at(x, y)))
                .sum();
            assert_eq!(sums.sum(columns, rows), slow);
        }
    }

    #[test]
    fn ink_is_darker_than_what_is_around() {
        let mut picture = Gray::filled(60, 40, 200);
        picture.pixels_mut()[20 * 60 + 30] = 100;
        picture.pixels_mut()[10 * 60 + 3] = 195;
        let ink = ink(&picture, &Sums::of(&picture), 10);
        assert_eq!(ink.iter().position(|&ink| ink), Some(20 * 60 + 30));
        assert_eq!(ink.iter().filter(|&&ink| ink).count(), 1);
    }

    #[test]
    fn halves_are_means() {
        let picture = Gray::new(3, 2, vec![10, 20, 99, 30, 41, 99]).unwrap();
        assert_eq!(halved(&picture), Gray::new(1, 1, vec![25]).unwrap());
    }
}

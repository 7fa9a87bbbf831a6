//! Turns and mirrors pictures as EXIF says.

/// How a stored picture is to be shown: mirrored along its diagonal first, then left to right, then upside down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    diagonal: bool,
    left_right: bool,
    upside_down: bool,
}

impl Turn {
    /// The turn that EXIF numbers from 1 to 8; none for other numbers, which are broken EXIF and no broken picture.
    pub fn from_exif(orientation: u8) -> Self {
        let (diagonal, left_right, upside_down) = match orientation {
            2 => (false, true, false),
            3 => (false, true, true),
            4 => (false, false, true),
            5 => (true, false, false),
            6 => (true, true, false),
            7 => (true, true, true),
            8 => (true, false, true),
            _ => (false, false, false),
        };
        Self { diagonal, left_right, upside_down }
    }

    /// The turn that a block of EXIF data asks for, with or without the name before it that JPEG demands.
    pub fn from_exif_block(block: &[u8]) -> Self {
        let tiff = block.strip_prefix(b"Exif\0\0").unwrap_or(block);
        image::metadata::Orientation::from_exif_chunk(tiff)
            .map_or_else(Self::default, |orientation| Self::from_exif(orientation.to_exif()))
    }

    /// The size of a picture after it.
    pub fn size<T>(self, (width, height): (T, T)) -> (T, T) {
        if self.diagonal { (height, width) } else { (width, height) }
    }

    /// A picture of `C` bytes a pixel after it. Costs some milliseconds for a picture of two megapixels.
    pub fn apply<const C: usize>(self, (width, height): (usize, usize), pixels: Vec<u8>) -> Vec<u8> {
        let mut pixels = if self.diagonal { transposed::<C>((width, height), &pixels) } else { pixels };
        let (width, height) = self.size((width, height));
        if self.left_right {
            for row in pixels.chunks_exact_mut(width * C) {
                row.as_chunks_mut::<C>().0.reverse();
            }
        }
        if self.upside_down {
            for y in 0..height / 2 {
                let (above, below) = pixels.split_at_mut((height - 1 - y) * width * C);
                above[y * width * C..(y + 1) * width * C].swap_with_slice(&mut below[..width * C]);
            }
        }
        pixels
    }
}

/// Columns as rows.
fn transposed<const C: usize>((width, height): (usize, usize), pixels: &[u8]) -> Vec<u8> {
    // Squares that stay in the cache while they are written across.
    const SQUARE: usize = 32;
    let mut turned = vec![0; pixels.len()];
    let (from, _) = pixels.as_chunks::<C>();
    let (to, _) = turned.as_chunks_mut::<C>();
    for top in (0..height).step_by(SQUARE) {
        for left in (0..width).step_by(SQUARE) {
            for y in top..height.min(top + SQUARE) {
                for x in left..width.min(left + SQUARE) {
                    to[x * height + y] = from[y * width + x];
                }
            }
        }
    }
    turned
}

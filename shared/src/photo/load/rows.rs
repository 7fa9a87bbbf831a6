//! Rows as decoders leave them, to grey or to RGB of eight bits.

use super::{budget::Reserved, turn::Turn};

/// What a decoder found.
pub struct Stored {
    /// Pixels in a row, as stored.
    pub width: u32,
    /// Rows, as stored.
    pub height: u32,
    /// How it is to be shown.
    pub turn: Turn,
    /// What a pixel is made of.
    pub samples: Samples,
    /// Whether samples have 16 bits, in the machine's byte order, and not 8.
    pub wide: bool,
    /// The rows, one after the other, each of [`Stored::row_bytes`].
    pub bytes: Vec<u8>,
    /// Until the rows are gone.
    pub _memory: Reserved,
}

/// What a pixel is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Samples {
    /// A level, white being the most.
    Grey,
    /// A level and how much it covers.
    GreyAlpha,
    /// Red, green, blue.
    Rgb,
    /// The same and how much they cover.
    Rgba,
    /// Ink: cyan, magenta, yellow, black.
    Cmyk,
    /// An index into colours, of 1, 2, 4 or 8 bits, packed from the left; each row begins with a byte of its own.
    Index {
        /// Bits of an index.
        bits: usize,
        /// The colours; what points behind them is black.
        colours: Vec<[u8; 3]>,
    },
}

impl Stored {
    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        let width = self.width as usize;
        let samples = match &self.samples {
            Samples::Index { bits, .. } => return (width * bits).div_ceil(8),
            Samples::Grey => 1,
            Samples::GreyAlpha => 2,
            Samples::Rgb => 3,
            Samples::Rgba | Samples::Cmyk => 4,
        };
        width * samples * if self.wide { 2 } else { 1 }
    }

    /// Whether rows are already what [`Stored::convert`] makes of them for `C`.
    pub fn is_ready<const C: usize>(&self) -> bool {
        !self.wide && matches!((C, &self.samples), (1, Samples::Grey) | (3, Samples::Rgb))
    }

    /// A row to grey (`C` is 1) or to RGB (`C` is 3) of eight bits, on white paper where something covers it in part.
    pub fn convert<const C: usize>(&self, row: &[u8], out: &mut [u8]) {
        let out = out.as_chunks_mut::<C>().0;
        match &self.samples {
            Samples::Grey => each(row, self.wide, out, |[level]| [level; 3]),
            Samples::GreyAlpha => each(row, self.wide, out, |[level, alpha]| on_white([level; 3], alpha)),
            Samples::Rgb => each(row, self.wide, out, |rgb| rgb),
            Samples::Rgba => each(row, self.wide, out, |[r, g, b, alpha]| on_white([r, g, b], alpha)),
            Samples::Cmyk => each(row, self.wide, out, |[c, m, y, k]| [c, m, y].map(|ink| product(!ink, !k))),
            Samples::Index { bits, colours } => {
                let mask = (1_usize << bits) - 1;
                for (x, pixel) in out.iter_mut().enumerate() {
                    let shift = 8 - bits - x * bits % 8;
                    let index = usize::from(row[x * bits / 8]) >> shift & mask;
                    *pixel = made(colours.get(index).copied().unwrap_or([0; 3]));
                }
            }
        }
    }
}

/// Converts pixels of `N` samples.
fn each<const N: usize, const C: usize>(
    row: &[u8],
    wide: bool,
    out: &mut [[u8; C]],
    rgb: impl Fn([u8; N]) -> [u8; 3],
) {
    if wide {
        let (samples, _) = row.as_chunks::<2>();
        for (pixel, to) in samples.as_chunks::<N>().0.iter().zip(out) {
            *to = made(rgb(pixel.map(|sample| narrow(u16::from_ne_bytes(sample)))));
        }
    } else {
        for (pixel, to) in row.as_chunks::<N>().0.iter().zip(out) {
            *to = made(rgb(*pixel));
        }
    }
}

/// A colour as `C` bytes.
fn made<const C: usize>(rgb: [u8; 3]) -> [u8; C] {
    if C == 1 { [luma(rgb); C] } else { std::array::from_fn(|channel| rgb[channel]) }
}

/// How bright a colour is, by the weights that JPEG has too (ITU-R BT.601), in parts of 65536.
fn luma([r, g, b]: [u8; 3]) -> u8 {
    let sum = 19_595 * u32::from(r) + 38_470 * u32::from(g) + 7_471 * u32::from(b);
    byte((sum + 0x8000) >> 16)
}

/// A colour that covers white in part.
fn on_white(rgb: [u8; 3], alpha: u8) -> [u8; 3] {
    // Rounded once, of a sum that is at most 255 * 255.
    rgb.map(|level| byte((u32::from(level) * u32::from(alpha) + 255 * u32::from(!alpha) + 127) / 255))
}

/// A product of parts of 255.
fn product(a: u8, b: u8) -> u8 {
    byte((u32::from(a) * u32::from(b) + 127) / 255)
}

/// 16 bits to 8, rounded.
pub fn narrow(sample: u16) -> u8 {
    byte((u32::from(sample) + 128) / 257)
}

fn byte(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

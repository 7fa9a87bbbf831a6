//! Pictures, grey and in colours.

/// A grey picture, row by row: 0 is black, 255 white.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gray {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Gray {
    /// A picture of these pixels; `None` when there are not as many as its size says.
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Option<Self> {
        (width.checked_mul(height)? == pixels.len()).then_some(Self { width, height, pixels })
    }

    /// A picture of one level.
    ///
    /// # Panics
    ///
    /// When it has more pixels than memory.
    pub fn filled(width: usize, height: usize, level: u8) -> Self {
        Self { width, height, pixels: vec![level; width * height] }
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The same, to be written to.
    pub fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// A row of pixels.
    pub fn row(&self, y: usize) -> &[u8] {
        &self.pixels[y * self.width..(y + 1) * self.width]
    }

    /// The pixel of a column and a row.
    pub fn at(&self, x: usize, y: usize) -> u8 {
        self.pixels[y * self.width + x]
    }
}

/// A picture in colours, row by row: red, green, blue, a byte each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colour {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Colour {
    /// A picture of these pixels; `None` when there are not three bytes for each.
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Option<Self> {
        (width.checked_mul(height)?.checked_mul(3)? == pixels.len()).then_some(Self { width, height, pixels })
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All bytes, row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The same, to be written to.
    pub fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// The pixel of a column and a row.
    pub fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let begin = (y * self.width + x) * 3;
        [self.pixels[begin], self.pixels[begin + 1], self.pixels[begin + 2]]
    }
}

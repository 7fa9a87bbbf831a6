//! Pictures of single digits, cropped to their ink, from which patches are painted.

/// The ink of a digit: 0 none, 255 full.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Glyph {
    pub width: usize,
    pub height: usize,
    pub ink: Vec<u8>,
}

impl Glyph {
    /// Crops a picture to its ink; `None` when it has none.
    pub fn cropped(width: usize, ink: &[u8]) -> Option<Self> {
        let inked = |&(_, &level): &(usize, &u8)| level > 40;
        let all = || ink.iter().enumerate().filter(inked).map(|(at, _)| at);
        let [top, bottom] = [all().min()? / width, all().max()? / width];
        let [left, right] = [all().map(|at| at % width).min()?, all().map(|at| at % width).max()?];
        let rows = ink.chunks_exact(width).skip(top).take(bottom - top + 1);
        let ink = rows.flat_map(|row| &row[left..=right]).copied().collect();
        Some(Self { width: right - left + 1, height: bottom - top + 1, ink })
    }

    /// The picture at half the size, for what is painted small.
    pub fn halved(&self) -> Self {
        let [width, height] = [self.width, self.height].map(|side| side.div_ceil(2));
        let level = |x: usize, y: usize| {
            let inside = x < self.width && y < self.height;
            if inside { u32::from(self.ink[y * self.width + x]) } else { 0 }
        };
        let mut ink = Vec::with_capacity(width * height);
        for at in 0..width * height {
            let [x, y] = [at % width * 2, at / width * 2];
            ink.push(((level(x, y) + level(x + 1, y) + level(x, y + 1) + level(x + 1, y + 1)) / 4) as u8);
        }
        Self { width, height, ink }
    }

    /// The ink at a point, 0 to 1, between the pixels' centres in proportion; 0 outside.
    #[inline]
    pub fn at(&self, x: f32, y: f32) -> f32 {
        let [x, y] = [x - 0.5, y - 0.5];
        if x <= -1.0 || y <= -1.0 || x >= self.width as f32 || y >= self.height as f32 {
            return 0.0;
        }
        let [left, top] = [x.floor(), y.floor()];
        let [part_x, part_y] = [x - left, y - top];
        let level = |x: i32, y: i32| {
            let inside = x >= 0 && y >= 0 && (x as usize) < self.width && (y as usize) < self.height;
            if inside { f32::from(self.ink[y as usize * self.width + x as usize]) } else { 0.0 }
        };
        let [column, row] = [left as i32, top as i32];
        let line = |row: i32| level(column, row) * (1.0 - part_x) + level(column + 1, row) * part_x;
        (line(row) * (1.0 - part_y) + line(row + 1) * part_y) / 255.0
    }
}

//! A picture of patches, to look at.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use shared::photo::classify::{CLASSES, SIDE};

use crate::{
    dice::Dice,
    scene::{self, Sources},
};

/// Patches in a row, one row for each class; written light as paper is.
const COLUMNS: usize = 40;

/// Writes the first patches of each class.
pub fn write(file: &Path, sources: &Sources, seed: u64) -> Result<()> {
    const ROWS: usize = 2;
    let mut dice = Dice::new(seed);
    let mut found = [const { Vec::new() }; CLASSES];
    while found.iter().any(|patches| patches.len() < ROWS * COLUMNS) {
        let sample = scene::patch(sources, &mut dice);
        found[sample.label].push(sample.patch);
    }
    let step = SIDE + 1;
    let [width, height] = [COLUMNS * step, CLASSES * ROWS * step];
    let mut picture = vec![128; width * height];
    for (class, patches) in found.iter().enumerate() {
        for (number, patch) in patches[..ROWS * COLUMNS].iter().enumerate() {
            let start = ((class * ROWS + number / COLUMNS) * width + number % COLUMNS) * step;
            for (y, row) in patch.chunks_exact(SIDE).enumerate() {
                for (x, &level) in row.iter().enumerate() {
                    picture[start + y * width + x] = 255 - level;
                }
            }
        }
    }
    let mut bytes = format!("P5\n{width} {height}\n255\n").into_bytes();
    bytes.extend(picture);
    fs::write(file, bytes).with_context(|| format!("writing {}", file.display()))
}

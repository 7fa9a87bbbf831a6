//! Digits that people wrote: files of the MNIST format.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

use crate::glyph::Glyph;

/// Glyphs by digit, 1 to 9.
pub type Hands = [Vec<Glyph>; 9];

/// The glyphs of `NAME-images-idx3-ubyte` and `NAME-labels-idx1-ubyte` in a folder; zeros are left out.
pub fn load(folder: &Path, name: &str) -> Result<Hands> {
    let read = |end: &str| {
        let file = folder.join(format!("{name}-{end}"));
        fs::read(&file).with_context(|| format!("reading {}", file.display()))
    };
    let (images, labels) = (read("images-idx3-ubyte")?, read("labels-idx1-ubyte")?);
    ensure!(images.starts_with(&[0, 0, 8, 3]) && labels.starts_with(&[0, 0, 8, 1]), "no files of MNIST");
    let side = |at: usize| usize::from(images[at + 3]);
    let (height, width) = (side(8), side(12));
    ensure!(images.len() == 16 + (labels.len() - 8) * width * height, "other images than labels");
    let mut hands = Hands::default();
    for (image, &label) in images[16..].chunks_exact(width * height).zip(&labels[8..]) {
        if let (1..=9, Some(glyph)) = (label, Glyph::cropped(width, image)) {
            hands[usize::from(label) - 1].push(glyph);
        }
    }
    Ok(hands)
}

//! Digits out of font files.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use ab_glyph::{Font, FontVec, point};
use anyhow::{Context, Result};

use crate::glyph::Glyph;

/// Pixels of the digit 1 of a font, from top to bottom.
const HEIGHT: f32 = 44.0;

/// Every so many families are held out.
const HELD: u64 = 8;

/// Parts of the names of files that have something else where other fonts have digits.
const SYMBOLS: [&str; 4] = ["dingbat", "symbol", "d050000l", "emoji"];

/// The digits 1 to 9 of a font.
pub type Digits = [Glyph; 9];

/// The fonts of a family: files whose names are the same up to a hyphen.
pub type Family = Vec<Digits>;

/// Families to train on, and families that are held out.
pub struct Fonts {
    pub train: Vec<Family>,
    pub held: Vec<Family>,
}

/// The fonts below these folders that have all nine digits. Fonts with the same digits are taken once.
pub fn load(folders: &[PathBuf]) -> Result<Fonts> {
    let mut files = Vec::new();
    folders.iter().try_for_each(|folder| find(folder, &mut files))?;
    // By name, so that the order does not depend on where the folders are.
    files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
    let mut families = BTreeMap::<String, Family>::new();
    let mut seen = HashSet::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        if SYMBOLS.iter().any(|symbol| name.contains(symbol)) {
            continue;
        }
        let Some(digits) = fs::read(&file).ok().and_then(digits) else { continue };
        let family = name.split(['-', '_']).next().unwrap_or_default().to_owned();
        if seen.insert(digits.clone()) {
            families.entry(family).or_default().push(digits);
        }
    }
    let (mut train, mut held) = (Vec::new(), Vec::new());
    for (name, family) in families {
        // FNV-1a: the choice stays when families join.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        if (hash >> 20).is_multiple_of(HELD) { held.push(family) } else { train.push(family) }
    }
    Ok(Fonts { train, held })
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|end| ["ttf", "otf"].iter().any(|&font| end == font)) {
            files.push(path);
        }
    }
    Ok(())
}

/// The digits of a font; `None` when one is missing, empty, or two are the same, as in fonts of symbols.
fn digits(bytes: Vec<u8>) -> Option<Digits> {
    let font = FontVec::try_from_vec(bytes).ok()?;
    let one = font.outline(font.glyph_id('1'))?.bounds.height();
    // Outlines are in font units, scales in pixels of the font's height.
    let scale = HEIGHT / one.abs() * font.height_unscaled();
    let mut digits = Vec::new();
    for digit in '1'..='9' {
        let id = font.glyph_id(digit);
        if id.0 == 0 {
            return None;
        }
        let outline = font.outline_glyph(id.with_scale_and_position(scale, point(0.0, 0.0)))?;
        let bounds = outline.px_bounds();
        let [width, height] = [bounds.width(), bounds.height()].map(|side| side.ceil() as usize);
        // Old-style digits are of several heights, but not of any.
        if !(8..150).contains(&height) || !(3..200).contains(&width) {
            return None;
        }
        let mut ink = vec![0; width * height];
        outline.draw(|x, y, level| {
            if let Some(pixel) = ink.get_mut(y as usize * width + x as usize) {
                *pixel = (level.clamp(0.0, 1.0) * 255.0) as u8;
            }
        });
        digits.push(Glyph::cropped(width, &ink)?);
    }
    let different: HashSet<_> = digits.iter().collect();
    if different.len() < 9 {
        return None;
    }
    digits.try_into().ok()
}

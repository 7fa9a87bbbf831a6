//! Labelled patches out of photographs: files of records, a byte for the class and 784 for the patch each.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use shared::photo::classify::{CLASSES, Patch, SIDE};

use crate::{canvas::Canvas, dice::Dice, model::Sample};

/// Bytes of a record.
const RECORD: usize = 1 + SIDE * SIDE;

/// The records of all files `*.patches` of a folder, in the order of their names.
pub fn load(folder: &Path) -> Result<Vec<Sample>> {
    let reading = || format!("reading {}", folder.display());
    let entries = fs::read_dir(folder).with_context(reading)?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "patches"));
    files.sort();
    let mut samples = Vec::new();
    for file in files {
        let bytes = fs::read(&file).with_context(reading)?;
        samples.extend(records(&bytes).with_context(|| format!("in {}", file.display()))?);
    }
    Ok(samples)
}

/// The records of samples.
pub fn to_bytes<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<u8> {
    samples.flat_map(|sample| std::iter::once(sample.label as u8).chain(sample.patch)).collect()
}

/// The samples of a file.
fn records(bytes: &[u8]) -> Result<Vec<Sample>> {
    ensure!(bytes.len().is_multiple_of(RECORD), "no whole records of {RECORD} bytes");
    let record = |record: &[u8]| {
        let (label, patch) = (usize::from(record[0]), Patch::try_from(&record[1..])?);
        ensure!(label < CLASSES, "there is no class {label}");
        Ok(Sample { patch, label })
    };
    bytes.chunks_exact(RECORD).map(record).collect()
}

/// A sample that is a little different: moved, lighter or darker, softer, with noise.
pub fn varied(sample: &Sample, dice: &mut Dice) -> Sample {
    let mut canvas = Canvas::new(SIDE);
    let [dx, dy] = [dice.around(0.8), dice.around(0.8)];
    let scale = 1.0 + dice.around(0.03);
    let middle = SIDE as f32 / 2.0;
    let level = |x: f32, y: f32| {
        let most = (SIDE - 1) as f32;
        let [x, y] = [x, y].map(|at| at.clamp(0.0, most));
        let [left, top] = [x.floor(), y.floor()];
        let at = |x: f32, y: f32| f32::from(sample.patch[y.min(most) as usize * SIDE + x.min(most) as usize]);
        let line = |y: f32| at(left, y) + (x - left) * (at(left + 1.0, y) - at(left, y));
        (line(top) + (y - top) * (line(top + 1.0) - line(top))) / 255.0
    };
    for at in 0..canvas.ink.len() {
        let [x, y] = [at % SIDE, at / SIDE].map(|at| (at as f32 - middle) * scale + middle);
        canvas.ink[at] = level(x + dx, y + dy);
    }
    if dice.chance(0.2) {
        let blur = dice.range(0.3, 0.9);
        canvas.blur([blur, blur]);
    }
    if dice.chance(0.5) {
        canvas.noise(dice.range(0.0, 0.03), 0.0, dice);
    }
    let [gain, zero] = [dice.range(0.85, 1.2), dice.around(0.02)];
    let byte = |at: usize| ((canvas.ink[at] * gain + zero).clamp(0.0, 1.0) * 255.0).round() as u8;
    Sample { patch: std::array::from_fn(byte), label: sample.label }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_and_broken_ones_refused() {
        let mut bytes = vec![7; RECORD];
        bytes.extend(vec![10; RECORD]);
        let read = records(&bytes).unwrap();
        assert_eq!(read.iter().map(|sample| sample.label).collect::<Vec<_>>(), [7, 10]);
        assert_eq!(read[1].patch, [10; SIDE * SIDE]);
        assert_eq!(to_bytes(read.iter()), bytes);
        assert!(records(&bytes[1..]).is_err());
        assert!(records(&vec![11; RECORD]).is_err());
        assert_eq!(varied(&read[0], &mut Dice::new(1)).label, 7);
    }
}

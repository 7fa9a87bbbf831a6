//! Cells of photographs with what is on them, to train on.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
};

use shared::photo::{
    Lines,
    classify::{CANDIDATES, Classifier, LogProbabilities, NOTHING, Patch},
    lines,
    load::load,
};

use super::{
    super::{each::each, exit::Failure},
    bytes_of,
    manifest::Entry,
};

/// Of 81 cells, those that have to look like what is on them: fewer, and the grid was found in another place.
const LEAST_RIGHT: usize = 54;

/// Writes a file for each source, and tells what is in it.
pub fn write(
    entries: &[Entry],
    (threads, stop): (usize, &(dyn Fn() -> bool + Sync)),
    classifier: &Classifier,
    folder: &Path,
) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    let with_board: Vec<Entry> = entries.iter().filter(|entry| entry.board.is_some()).cloned().collect();
    let all = each(&with_board, threads, stop, |entry| records(entry, classifier));
    let mut files = BTreeMap::new();
    let mut told = String::new();
    for (entry, records) in with_board.iter().zip(all) {
        let Some(records) = records? else {
            told += &format!("{}: left out, not found where it is\n", entry.file);
            continue;
        };
        let name = entry.source.replace(['/', '\\'], "_");
        let (file, photos) = match files.entry(name) {
            std::collections::btree_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                let path = folder.join(format!("{}.patches", new.key()));
                new.insert((BufWriter::new(File::create(path).map_err(failed)?), 0))
            }
        };
        file.write_all(&records).map_err(failed)?;
        *photos += 1;
    }
    for (name, (mut file, photos)) in files {
        file.flush().map_err(failed)?;
        told += &format!("{name}: cells of {photos} photographs\n");
    }
    Ok(told)
}

/// The cells of a photograph, a byte for what is on each and its pixels after it, as it stands upright; nothing if the
/// grid was not found.
fn records(entry: &Entry, classifier: &Classifier) -> Result<Option<Vec<u8>>, Failure> {
    let named = |error| Failure::failed(format!("{}: {error}", entry.file));
    let picture = load(&bytes_of(&entry.path)?).map_err(named)?.gray;
    let labels = labels(entry);
    let mut best: Option<(f32, Lines)> = None;
    for found in lines(&picture).into_iter().filter(|found| found.side == 9) {
        let mut found = found;
        for _ in 0..4 {
            let seen = classifier.classify(&found.patches);
            let likely = likelihood(&seen, &labels);
            let right = seen.iter().zip(&labels).filter(|(seen, label)| looks_like(seen, **label)).count();
            if right >= LEAST_RIGHT && best.as_ref().is_none_or(|(most, _)| likely > *most) {
                best = Some((likely, found.clone()));
            }
            found = found.turned();
        }
    }
    Ok(best.map(|(_, found)| {
        let one = |(label, patch): (u8, Patch)| std::iter::once(label).chain(patch);
        labels.into_iter().zip(found.patches).flat_map(one).collect()
    }))
}

/// What is on each cell, as a class.
fn labels(entry: &Entry) -> Vec<u8> {
    let board = entry.board.as_deref().unwrap_or_default();
    let label = |(at, &value): (usize, &u8)| match value {
        0 if entry.candidates.contains(at) => class(CANDIDATES),
        0 => class(NOTHING),
        digit => digit,
    };
    board.iter().enumerate().map(label).collect()
}

fn class(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// How likely labels are, as a logarithm; single cells that look like anything else do not decide.
fn likelihood(seen: &[LogProbabilities], labels: &[u8]) -> f32 {
    seen.iter().zip(labels).map(|(seen, &label)| seen[usize::from(label)].max(-5.0)).sum()
}

/// Whether a cell looks like its label. Candidates are often overlooked, which is no matter here.
fn looks_like(seen: &LogProbabilities, label: u8) -> bool {
    let digit = |class: usize| if class == CANDIDATES { NOTHING } else { class };
    let best = (0..seen.len()).reduce(|a, b| if seen[b] > seen[a] { b } else { a });
    best.map(digit) == Some(digit(usize::from(label)))
}

#[cfg(test)]
mod tests {
    use jobs::photos::drawn;
    use shared::{photo::classify::SIDE, unavoidable::CellSet};

    use super::*;

    const PUZZLE: &str = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";

    #[test]
    fn cells_are_written_with_what_is_on_them_and_what_is_elsewhere_is_left_out() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("page.png");
        fs::write(&path, drawn::puzzle(PUZZLE).png().expect("a picture")).expect("a file");
        let digits: Vec<u8> = PUZZLE.bytes().map(|byte| byte - b'0').collect();
        let entry = |source: &str, board: Vec<u8>| Entry {
            line: 2,
            file: source.into(),
            path: path.clone(),
            source: source.into(),
            board: Some(board),
            candidates: CellSet::single(2),
        };
        let other: Vec<u8> = digits.iter().map(|digit| (digit + 3) % 10).collect();
        let entries = [entry("a/b", digits.clone()), entry("other", other), entry("a/b", digits.clone())];
        let out = dir.path().join("out");
        let told = write(&entries, (2, &|| false), &Classifier::new(), &out).expect("written");
        assert_eq!(told, "other: left out, not found where it is\na_b: cells of 2 photographs\n");
        let bytes = fs::read(out.join("a_b.patches")).expect("a file");
        let records: Vec<&[u8]> = bytes.chunks(1 + SIDE * SIDE).collect();
        assert_eq!(records.len(), 2 * 81);
        let mut labels = digits;
        labels[2] = class(CANDIDATES);
        let inked = |record: &[u8]| {
            let middle = (8..20).flat_map(|y| &record[1 + y * SIDE + 8..1 + y * SIDE + 20]);
            middle.filter(|&&pixel| pixel > 128).count()
        };
        for (number, record) in records.into_iter().enumerate() {
            let digit = labels[number % 81];
            assert_eq!(record[0], digit, "cell {number}");
            assert_eq!(inked(record) > 6, (1..=9).contains(&digit), "cell {number}: {}", inked(record));
        }
    }
}

//! Some puzzles of a corpus, evenly spread over it.

use shared::{
    grid::{Shape, notation::Puzzle},
    solve::reference,
};

use super::{Corpus, Entries, Lines, entry::Entry, layouts_of};
use crate::{
    input::{Source, Surroundings},
    kind::{BadSettings, UnitContext},
};

/// Puzzles of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// In the order of the corpus.
    pub puzzles: Vec<Puzzle>,
    /// As many there are: puzzles without pencil marks whose clues do not clash.
    pub of: u64,
    /// Lines that are no such puzzles.
    pub others: u64,
}

/// Reads a corpus and keeps `most` of its puzzles: each so manyth. With a shape, only puzzles of it are read.
///
/// Cost: the whole corpus is read, a piece at a time, and some `2 * most` puzzles are held.
///
/// # Errors
///
/// When something cannot be read.
pub fn sample(
    sources: Vec<Source>,
    shape: Option<Shape>,
    most: usize,
    around: &Surroundings<'_>,
) -> Result<Sample, BadSettings> {
    let files = Source::files(Source::look_up(sources, around)?)?;
    let context = UnitContext::free().with_storage(&around.storage);
    let layouts = layouts_of(&files, &context)?;
    let corpus = Corpus::new(files, layouts);
    corpus.check().map_err(BadSettings)?;
    let mut thinning = Thinning { most: most.max(1), every: 1, seen: 0, kept: Vec::new() };
    let mut others = 0;
    for unit in 0..corpus.units() {
        let piece = corpus.piece(unit);
        let lines = Lines::read(piece.bytes, |bytes| piece.file.read(bytes, &context))
            .map_err(|error| BadSettings(error.to_string()))?;
        let Entries { list, nines, .. } = Entries::read(&lines, piece.layout, shape);
        let mut nines = nines.into_iter();
        for (_, entry) in list {
            match puzzle(entry, &mut nines) {
                Some(puzzle) => thinning.take(puzzle),
                None => others += 1,
            }
        }
    }
    let of = thinning.seen;
    Ok(Sample { puzzles: thinning.end(), of, others })
}

fn puzzle(entry: Entry, nines: &mut impl Iterator<Item = [u8; 81]>) -> Option<Puzzle> {
    let puzzle = match entry {
        Entry::Unreadable(_) => return None,
        Entry::Nine => Puzzle { shape: Shape::NINE, cells: nines.next()?.to_vec(), candidates: None },
        Entry::Other(puzzle) => *puzzle,
    };
    let clashes = reference::check(puzzle.shape, &puzzle.cells).is_err();
    (!clashes && puzzle.candidates.is_none()).then_some(puzzle)
}

/// Keeps each so manyth of a stream of unknown length, and fewer of them the longer it becomes.
struct Thinning {
    most: usize,
    /// One of so many is kept.
    every: u64,
    seen: u64,
    kept: Vec<Puzzle>,
}

impl Thinning {
    fn take(&mut self, puzzle: Puzzle) {
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(puzzle);
        }
        self.seen += 1;
        if self.kept.len() > 2 * self.most {
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every *= 2;
        }
    }

    fn end(self) -> Vec<Puzzle> {
        let (kept, most) = (self.kept.len(), self.most);
        if kept <= most {
            return self.kept;
        }
        let mut puzzles: Vec<_> = self.kept.into_iter().map(Some).collect();
        (0..most).filter_map(|number| puzzles[number * kept / most].take()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_the_corpus_and_says_what_it_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("puzzles");
        for (puzzles, most) in [(0, 5), (1, 5), (5, 5), (6, 5), (11, 5), (1000, 7), (1000, 1)] {
            // Numbered by their clues, as base 9 numbers in cells that see each other nowhere.
            let line = |number: usize| {
                let mut cells = [0; 81];
                [0, 12, 24, 28].iter().zip([1, 9, 81, 729]).for_each(|(&cell, weight)| {
                    cells[cell] = number / weight % 9 + 1;
                });
                cells.map(|digit| digit.to_string()).concat() + "\n"
            };
            let text: String = (0..puzzles).map(line).collect();
            std::fs::write(&file, text + "55" + &".".repeat(79) + "\nnothing\n").unwrap();
            let sources = || vec![Source::typed(file.to_str().unwrap()).unwrap()];
            let found = sample(sources(), None, most, &Surroundings::local()).unwrap();
            assert_eq!((found.of, found.others), (puzzles as u64, 2));
            assert_eq!(found.puzzles.len(), most.min(puzzles), "{puzzles} {most}");
            let number = |puzzle: &Puzzle| {
                let digit = |cell: usize| usize::from(puzzle.cells[cell]) - 1;
                digit(0) + 9 * digit(12) + 81 * digit(24) + 729 * digit(28)
            };
            let numbers: Vec<usize> = found.puzzles.iter().map(number).collect();
            let gap = puzzles.div_ceil(most);
            assert!(numbers.first().is_none_or(|&first| first == 0), "{numbers:?}");
            assert!(numbers.is_sorted_by(|a, b| a < b && b - a <= 2 * gap), "{numbers:?}");
            assert!(numbers.last().is_none_or(|&last| puzzles - last <= 3 * gap), "{numbers:?}");
            let none = sample(sources(), Some(Shape::FOUR), most, &Surroundings::local()).unwrap();
            assert_eq!((none.of, none.puzzles.len()), (0, 0));
        }
    }
}

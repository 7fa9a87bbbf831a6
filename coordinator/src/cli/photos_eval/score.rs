//! How well a photograph was read, and how well many were.

use std::{collections::BTreeMap, time::Duration};

use jobs::photos::record::{Board, Record, text};
use shared::unavoidable::CellSet;

use super::manifest::Entry;

/// Cells of a board.
const CELLS: usize = 81;

/// How well a photograph was read.
#[derive(Clone, Debug)]
pub struct Score {
    pub file: String,
    pub source: String,
    /// What is on it; nothing if there is no sudoku.
    pub truth: Option<Vec<u8>>,
    /// The board that was read, the one that agrees best if there are several; nothing if the photograph was refused.
    pub read: Option<Read>,
    /// Why it could not be read at all.
    pub unreadable: Option<String>,
    pub took: Duration,
}

/// A board that was read.
#[derive(Clone, Debug)]
pub struct Read {
    pub cells: Vec<u8>,
    pub flagged: CellSet,
}

impl Score {
    /// Compares what is on a photograph with what was read.
    pub fn of(entry: &Entry, record: Result<Record, String>, took: Duration) -> Self {
        let (boards, unreadable) = match record {
            Ok(record) if record.boards.is_empty() && record.outcome.word() == "unreadable" => {
                (vec![], record.outcome.reason().map(str::to_owned))
            }
            Ok(record) => (record.boards, None),
            Err(why) => (vec![], Some(why)),
        };
        let truth = entry.board.clone();
        let agreeing = |board: &Board| match &truth {
            Some(truth) if board.cells.len() == CELLS => right(truth, &board.cells),
            _ => 0,
        };
        // Of equals the first, which is the largest.
        let best = boards.iter().rev().max_by_key(|board| agreeing(board));
        let read = best.map(|board| Read { cells: board.cells.clone(), flagged: board.flagged });
        let (file, source) = (entry.file.clone(), entry.source.clone());
        Self { file, source, truth, read, unreadable, took }
    }

    /// The cells that are wrong; all of them if the board has another shape.
    pub fn wrong(&self) -> CellSet {
        match (&self.truth, &self.read) {
            (Some(truth), Some(read)) if read.cells.len() == CELLS => {
                (0..CELLS).filter(|&cell| truth[cell] != read.cells[cell]).collect()
            }
            (Some(_), Some(_)) => CellSet::below(CELLS),
            _ => CellSet::EMPTY,
        }
    }

    /// Wrong cells that nobody would look at.
    pub fn unflagged(&self) -> CellSet {
        self.read.as_ref().map_or(CellSet::EMPTY, |read| self.wrong().without(read.flagged))
    }

    /// What was read, in one line.
    pub fn read_text(&self) -> String {
        self.read.as_ref().map(|read| text(&read.cells)).unwrap_or_default()
    }
}

fn right(truth: &[u8], read: &[u8]) -> usize {
    truth.iter().zip(read).filter(|(truth, read)| truth == read).count()
}

/// How well many photographs were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Those with a sudoku.
    pub photos: usize,
    /// Of these, those with a board that was read.
    pub found: usize,
    /// Those that were refused.
    pub refused: usize,
    /// Those that could not be read at all.
    pub unreadable: usize,
    /// Cells that are right, of 81 a photograph.
    pub right: usize,
    /// Boards that are right.
    pub exact: usize,
    /// Cells that are wrong, on boards that were read.
    pub wrong: usize,
    /// Those of them that are not doubtful.
    pub unflagged: usize,
    /// Photographs with such.
    pub photos_unflagged: usize,
    /// Doubtful cells.
    pub flagged: usize,
    /// Photographs without a sudoku.
    pub others: usize,
    /// Those of them that were refused, or are unreadable.
    pub others_refused: usize,
    /// Those of them on which a board was read.
    pub others_read: usize,
    /// Time of all, in microseconds.
    pub took_us: u128,
}

impl Sum {
    /// Sums of each source, by name.
    pub fn by_source(scores: &[Score]) -> BTreeMap<&str, Self> {
        let mut sums = BTreeMap::<&str, Self>::new();
        scores.iter().for_each(|score| sums.entry(&score.source).or_default().add(score));
        sums
    }

    /// The sum of all.
    pub fn of_all(scores: &[Score]) -> Self {
        let mut sum = Self::default();
        scores.iter().for_each(|score| sum.add(score));
        sum
    }

    fn add(&mut self, score: &Score) {
        self.took_us += score.took.as_micros();
        if score.truth.is_none() {
            self.others += 1;
            self.others_read += usize::from(score.read.is_some());
            self.others_refused += usize::from(score.read.is_none());
            return;
        }
        self.photos += 1;
        let Some(read) = &score.read else {
            self.unreadable += usize::from(score.unreadable.is_some());
            self.refused += usize::from(score.unreadable.is_none());
            return;
        };
        let (wrong, unflagged) = (score.wrong().len(), score.unflagged().len());
        self.found += 1;
        self.right += CELLS - wrong;
        self.exact += usize::from(wrong == 0);
        self.wrong += wrong;
        self.unflagged += unflagged;
        self.photos_unflagged += usize::from(unflagged > 0);
        self.flagged += read.flagged.len();
    }

    /// All photographs.
    pub fn all(&self) -> usize {
        self.photos + self.others
    }

    /// The share of cells that are right, in percent.
    pub fn right_percent(&self) -> f64 {
        100.0 * ratio(self.right, self.photos * CELLS)
    }

    /// Wrong cells that are not doubtful, for a thousand photographs.
    pub fn unflagged_per_thousand(&self) -> f64 {
        1000.0 * ratio(self.unflagged, self.photos)
    }

    /// The share of photographs without a sudoku that were refused, in percent.
    pub fn others_refused_percent(&self) -> f64 {
        100.0 * ratio(self.others_refused, self.others)
    }

    /// Milliseconds a photograph, on the thread that read it.
    #[allow(clippy::cast_precision_loss, reason = "for reading")]
    pub fn ms_per_photo(&self) -> f64 {
        self.took_us as f64 / 1000.0 / self.all().max(1) as f64
    }
}

#[allow(clippy::cast_precision_loss, reason = "for reading")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use jobs::photos::record::{Outcome, Verdict};
    use shared::grid::Shape;

    use super::*;

    fn entry(source: &str, board: Option<u8>) -> Entry {
        let board = board.map(|digit| vec![digit; CELLS]);
        let (file, path, candidates) = ("a.jpg".into(), "a.jpg".into(), CellSet::EMPTY);
        Entry { line: 2, file, path, source: source.into(), board, candidates }
    }

    fn board(cells: Vec<u8>, flagged: &[usize]) -> Board {
        Board {
            shape: Shape::NINE,
            cells,
            confidence: vec![1000; CELLS],
            flagged: flagged.iter().copied().collect(),
            candidates: CellSet::EMPTY,
            corners: Default::default(),
            verdict: Verdict::Multiple,
            problem: String::new(),
            solution: None,
        }
    }

    fn record(boards: Vec<Board>, outcome: Outcome) -> Record {
        Record { file: "a.jpg".into(), outcome, boards, thumbnail: vec![] }
    }

    #[test]
    fn cells_are_counted_once_and_the_board_that_agrees_best_counts() {
        let mut near = vec![3; CELLS];
        (near[5], near[6]) = (4, 0);
        let seen = record(vec![board(vec![1; CELLS], &[]), board(near, &[5, 7])], Outcome::Read);
        let refused = || Ok(record(vec![], Outcome::Refused("no".into())));
        let ms = Duration::from_millis;
        let scores = [
            Score::of(&entry("a", Some(3)), Ok(seen.clone()), ms(10)),
            Score::of(
                &entry("a", Some(1)),
                Ok(record(vec![board(vec![1; CELLS], &[2])], Outcome::Read)),
                ms(20),
            ),
            Score::of(&entry("b", Some(1)), refused(), ms(30)),
            Score::of(&entry("b", Some(1)), Err("gone".into()), ms(0)),
            Score::of(&entry("b", None), refused(), ms(5)),
            Score::of(&entry("b", None), Ok(seen), ms(5)),
        ];
        assert_eq!(scores[0].wrong(), [5, 6].into_iter().collect());
        assert_eq!(scores[0].unflagged(), CellSet::single(6));
        let sums = Sum::by_source(&scores);
        let expected = Sum {
            photos: 2,
            found: 2,
            right: 79 + 81,
            exact: 1,
            wrong: 2,
            unflagged: 1,
            photos_unflagged: 1,
            flagged: 3,
            took_us: 30_000,
            ..Sum::default()
        };
        assert_eq!(sums["a"], expected);
        let b = &sums["b"];
        assert_eq!((b.photos, b.refused, b.unreadable, b.found, b.right), (2, 1, 1, 0, 0));
        assert_eq!((b.others, b.others_refused, b.others_read), (2, 1, 1));
        let all = Sum::of_all(&scores);
        assert_eq!((all.all(), all.photos, all.right), (6, 4, 160));
        assert!(
            (all.unflagged_per_thousand() - 250.0).abs() < 1e-9
                && (all.ms_per_photo() - 70.0 / 6.0).abs() < 1e-9
        );
    }

    #[test]
    fn a_board_of_another_shape_is_wrong_altogether() {
        let other = Board { shape: Shape::SIX, cells: vec![3; 36], ..board(vec![], &[]) };
        let score = Score::of(&entry("a", Some(3)), Ok(record(vec![other], Outcome::Read)), Duration::ZERO);
        assert_eq!((score.wrong().len(), score.unflagged().len()), (81, 81));
    }
}

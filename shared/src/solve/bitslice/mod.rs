//! Sudokus of side 9 in bulk: one puzzle in each bit of a vector.
//!
//! Every candidate of a grid is a vector whose bits belong to as many puzzles, its *lanes*: 512 with AVX-512, 256 with
//! AVX2, 128 elsewhere. What one puzzle does is done for all of them by the same few logical instructions; there
//! are no shifts and no masks, and nothing depends on what is in a lane. The parts:
//!
//! - `sweep`: what the nine digits rule out, each in its own cells; `cells`: naked singles and triads of three digits;
//! - `choice`: where to branch, for all lanes at once;
//! - `record`, `transpose`: lanes taken out of vectors and put back, when some are done or have to branch;
//! - `parse`, `planes`, `waiting`: puzzles into lanes; `lanes`, `turn`: branches put off, solutions taken down;
//! - `batch`: the loop over it all;
//! - `word`, `x86`, `bytes`, `kernels`: the same code for each instruction set, chosen at run time.

// What is not inlined into a kernel is compiled without its instruction set.
#![allow(clippy::inline_always)]
// Loops over cells, digits and chutes index several arrays at once, in orders that no iterator has.
#![allow(clippy::needless_range_loop)]
// The operands of logical functions have no other names.
#![allow(clippy::many_single_char_names)]

mod batch;
#[cfg(target_arch = "x86_64")]
mod bytes;
mod cells;
mod choice;
mod kernels;
mod lanes;
mod parse;
mod planes;
mod record;
mod state;
mod sweep;
mod transpose;
mod turn;
mod waiting;
mod word;
#[cfg(target_arch = "x86_64")]
mod x86;

use batch::Batch;
pub use batch::Work;

/// What there is to say about a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Number of solutions, or the limit if there are at least as many.
    pub solutions: u32,
    /// Branchings made. Depends on the level and on the other puzzles of the batch: to be looked at, not recorded.
    pub guesses: u32,
    /// Whether a digit is given twice in a row, column or box, or a cell holds more than 9. Then there are no
    /// solutions.
    pub invalid: bool,
    /// The solution if there is one and only one (as far as `limit` tells), else all 0.
    pub solution: [u8; 81],
}

impl Default for Answer {
    fn default() -> Self {
        Self { solutions: 0, guesses: 0, invalid: false, solution: [0; 81] }
    }
}

/// The instruction sets there are kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Anything.
    Portable,
    /// x86-64 with AVX2, BMI1 and BMI2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Level {
    /// All levels, slowest first.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        let avx2 = std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("popcnt")
            && std::is_x86_feature_detected!("lzcnt");
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = false;
        #[cfg(target_arch = "x86_64")]
        let avx512 = avx2
            && std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl");
        #[cfg(not(target_arch = "x86_64"))]
        let avx512 = false;
        match self {
            Self::Portable => true,
            Self::Avx2 => avx2,
            Self::Avx512 => avx512,
        }
    }

    /// The fastest level of this machine.
    pub fn best() -> Self {
        let available = Self::ALL.into_iter().rev().find(|level| level.is_available());
        available.unwrap_or(Self::Portable)
    }
}

/// A solver of batches.
///
/// Keeps some megabytes between calls: worth keeping alive, one for each thread.
///
/// ```
/// use shared::{grid::notation::nine, solve::bitslice::Engine};
///
/// let text = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";
/// let puzzle = nine(text.as_bytes()).unwrap();
/// let mut answers = Vec::new();
/// Engine::default().solve(&[puzzle, [0; 81]], 1000, &mut answers);
/// assert_eq!(answers[0].solutions, 1);
/// assert_eq!(answers[0].solution[..9], [6, 9, 3, 7, 8, 4, 5, 1, 2]);
/// assert_eq!(answers[1].solutions, 1000);
/// ```
pub struct Engine {
    level: Level,
    batch: Batches,
}

enum Batches {
    Portable(Batch<kernels::Plain>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Batch<kernels::Avx2>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Batch<kernels::Avx512>),
}

impl Engine {
    /// An engine of a level, or of the portable one if this machine does not have it.
    pub fn new(level: Level) -> Self {
        let batch = match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if level.is_available() => Batches::Avx2(Batch::new()),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if level.is_available() => Batches::Avx512(Batch::new()),
            _ => Batches::Portable(Batch::new()),
        };
        let level = match batch {
            Batches::Portable(_) => Level::Portable,
            #[cfg(target_arch = "x86_64")]
            _ => level,
        };
        Self { level, batch }
    }

    /// The level it runs on.
    pub fn level(&self) -> Level {
        self.level
    }

    /// What was done since the engine was made.
    pub fn work(&self) -> Work {
        match &self.batch {
            Batches::Portable(batch) => batch.work(),
            #[cfg(target_arch = "x86_64")]
            Batches::Avx2(batch) => batch.work(),
            #[cfg(target_arch = "x86_64")]
            Batches::Avx512(batch) => batch.work(),
        }
    }

    /// Counts the solutions of puzzles (row by row, 0 is empty) up to `limit`, and writes an answer for each to
    /// `answers`, whose memory is used again.
    ///
    /// But for the guesses, answers depend on nothing but the puzzle and the limit, if this is 2 or more. With limit
    /// 1 the solution of a puzzle with several is one of them, which one depends on level and batch. With limit
    /// 0 only clashes are found.
    ///
    /// Cost: see the benchmark `solve`; best with thousands of puzzles a call, as lanes run empty at its end.
    pub fn solve(&mut self, puzzles: &[[u8; 81]], limit: u32, answers: &mut Vec<Answer>) {
        // What is there already is overwritten one by one, when it is in the cache anyway.
        answers.resize(puzzles.len(), Answer::default());
        // Lanes know their puzzle by a number of 32 bits.
        for (puzzles, answers) in puzzles.chunks(1 << 30).zip(answers.chunks_mut(1 << 30)) {
            match &mut self.batch {
                Batches::Portable(batch) => batch.solve(puzzles, limit, answers),
                #[cfg(target_arch = "x86_64")]
                Batches::Avx2(batch) => batch.solve(puzzles, limit, answers),
                #[cfg(target_arch = "x86_64")]
                Batches::Avx512(batch) => batch.solve(puzzles, limit, answers),
            }
        }
    }
}

impl Default for Engine {
    /// An engine of the best level.
    fn default() -> Self {
        Self::new(Level::best())
    }
}

#[cfg(test)]
mod tests {
    use super::{kernels::Kernels, *};
    use crate::grid::notation::nine;

    /// Answers of a batch.
    fn answers<K: Kernels>(puzzles: &[[u8; 81]], limit: u32) -> Vec<Answer> {
        let mut answers = vec![Answer::default(); puzzles.len()];
        Batch::<K>::new().solve(puzzles, limit, &mut answers);
        answers.iter_mut().for_each(|answer| answer.guesses = 0);
        answers
    }

    #[test]
    fn nothing_depends_on_the_number_of_lanes() {
        let text = include_str!("../../../testdata/solve.txt");
        let cells = |text: &str| nine(text.as_bytes()).unwrap();
        let known = text.lines().filter(|line| !line.starts_with('#'));
        let mut puzzles: Vec<[u8; 81]> = known.map(|line| cells(line.split_once(':').unwrap().0)).collect();
        puzzles.extend([[0; 81], [3; 81], [200; 81]]);
        // More than there are lanes, and with all kinds side by side.
        let puzzles: Vec<[u8; 81]> = (0..1500).map(|i| puzzles[i * 7 % puzzles.len()]).collect();
        for limit in [0, 2, 30] {
            let expected = answers::<kernels::Plain>(&puzzles, limit);
            assert_eq!(answers::<kernels::Narrow>(&puzzles, limit), expected);
            assert_eq!(answers::<kernels::Wide>(&puzzles, limit), expected);
        }
    }
}

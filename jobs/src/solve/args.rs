//! The arguments of the kind.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use shared::grid::{Shape, notation::Layout};

use super::method::Method;
use crate::input::Source;

/// Arguments of the kind.
#[derive(Clone, Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolveArgs {
    /// Puzzles: files, folders, URLs (s3, gs, az, abfss, http, https, file; with / at the end all below), or - for
    /// standard input; also packed with gzip or zstd. From 4x4 to 25x25, one a line (81 characters, . 0 * _ - x or ? for an
    /// empty cell, names and ratings behind), CSV, .sdm, .sdk, .ss, .opensudoku, drawings, pencil marks: how a file holds
    /// its puzzles is told by its beginning
    #[arg(required = true, value_name = "CORPUS", value_parser = Source::typed)]
    pub corpora: Vec<Source>,
    /// How each file holds its puzzles; filled in when the job is submitted.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<Layout>,
    /// Stop counting the solutions of a puzzle at N
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MOST_LIMIT))]
    pub limit: u32,
    /// Read puzzles of this shape only, rows by columns of a box, like 3x3 or 2x5 [default: by the number of cells]
    #[arg(long, value_name = "RxC")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// What to tell of each puzzle, in this order. Those beside the default ones take longer to find out
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...", default_values_t = Column::USUAL)]
    pub columns: Vec<Column>,
    /// How to solve. The methods beside the first are for learning and comparing; the last four only look for one
    /// solution: a puzzle is then `solved` or `unsolved`
    #[arg(long, default_value_t, value_name = "METHOD", value_parser = Method::parser())]
    pub method: Method,
    /// Where the methods that begin anywhere begin
    #[arg(long, default_value_t = USUAL_SEED, value_name = "N")]
    pub seed: u64,
    /// Give up a puzzle after N guesses (nodes or iterations of other methods); it is then `unsolved`. 9x9 puzzles in
    /// bulk are solved all the way [default: 1000000; 20000000 for other searches and annealing, 20000 for projections]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<u64>,
}

/// Solutions that are counted at most.
pub const MOST_LIMIT: i64 = 1_000_000;

/// Where methods that begin anywhere begin, unless something else is asked for.
pub const USUAL_SEED: u64 = 1;

/// What is told of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Column {
    /// The puzzle in one line
    Puzzle,
    /// unique, multiple, none, invalid (clues clash), unreadable (no puzzle), unsolved (given up), solved (by a method that
    /// looks no further)
    Verdict,
    /// How many solutions there are, >=N where the count ended at the limit
    Solutions,
    /// The only solution, or the one that was found
    Solution,
    /// What is wrong with the line, or why there cannot be one solution
    Problem,
    /// How many cells are given
    Clues,
    /// The weakest techniques that solve it: naked singles, hidden singles, locked candidates, preemptive sets (naked and
    /// hidden, of any size), search
    Level,
    /// How many assumptions within each other a search needs, on top of all these techniques
    Depth,
    /// Digits that the method tried; for bitslice those of fewest
    Nodes,
    /// Those of them tried where there was a choice
    Guesses,
    /// Steps of a method that does not search
    Iterations,
    /// Whether no clue can be left out
    Minimal,
    /// The clues of which each one can be left out
    Redundant,
    /// The lexicographically least of all puzzles that look like this one
    Minlex,
    /// A name for all puzzles that look like this one: the hash of the minlex form
    Group,
    /// How many symmetries take the puzzle to itself
    Automorphisms,
}

impl Column {
    /// Those that are told unless others are asked for.
    pub const USUAL: [Self; 5] =
        [Self::Puzzle, Self::Verdict, Self::Solutions, Self::Solution, Self::Problem];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Puzzle => "puzzle",
            Self::Verdict => "verdict",
            Self::Solutions => "solutions",
            Self::Solution => "solution",
            Self::Problem => "problem",
            Self::Clues => "clues",
            Self::Level => "level",
            Self::Depth => "depth",
            Self::Nodes => "nodes",
            Self::Guesses => "guesses",
            Self::Iterations => "iterations",
            Self::Minimal => "minimal",
            Self::Redundant => "redundant",
            Self::Minlex => "minlex",
            Self::Group => "group",
            Self::Automorphisms => "automorphisms",
        }
    }
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What has to be found out beside the solutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
pub struct Asked {
    /// Which clues can be left out.
    pub redundant: bool,
    /// The minlex form.
    pub form: bool,
    /// The level.
    pub level: bool,
    /// What it took to solve.
    pub effort: bool,
}

impl Asked {
    /// By columns.
    pub fn of(columns: &[Column]) -> Self {
        let any = |these: &[Column]| columns.iter().any(|column| these.contains(column));
        Self {
            redundant: any(&[Column::Minimal, Column::Redundant]),
            form: any(&[Column::Minlex, Column::Group, Column::Automorphisms]),
            level: any(&[Column::Level, Column::Depth]),
            effort: any(&[Column::Nodes, Column::Guesses, Column::Iterations]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_name_on_the_command_line_in_settings_and_in_outputs() {
        for &column in Column::value_variants() {
            let typed = column.to_possible_value().expect("not hidden");
            assert_eq!(typed.get_name(), column.name());
            assert_eq!(serde_json::to_value(column).expect("a word"), column.name());
        }
    }
}

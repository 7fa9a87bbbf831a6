//! Corpora of puzzles, solved in bulk.
//!
//! A unit is a range of bytes of a file; the lines that begin in it are its puzzles. They are solved side by side by
//! [`shared::solve::bitslice`] (9x9) or one by one by [`shared::solve::reference`] (other shapes). A unit's part has
//! a row for every line with a puzzle, or with something that was to be one, in the order of the file.

mod corpus;
mod lines;
mod output;
mod partial;
mod puzzle;
mod report;
mod rows;

use std::{cell::RefCell, io, ops::Range};

use serde::{Deserialize, Serialize};
use shared::{
    grid::Shape,
    solve::{
        bitslice::{Answer, Engine},
        reference,
    },
};

use crate::{
    input::{Source, Surroundings},
    kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError},
    parts::{Finished, Form, OutputError, PartsDigest, each_rendered},
};
use corpus::Corpus;
use lines::Lines;
use partial::{ClueCounts, Tally};
use puzzle::Entry;
use rows::Row;

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolveArgs {
    /// Puzzles: files, folders, URLs (s3, gs, az, abfss, http, https, file; with / at the end all below), or - for
    /// standard input; also packed with gzip or zstd. One a line: 81, 36 or 16 characters, . 0 * _ or x for an empty cell; what follows
    /// (names, ratings, other columns) is left alone. A first line with names of columns is skipped
    #[arg(required = true, value_name = "CORPUS", value_parser = Source::typed)]
    corpora: Vec<Source>,
    /// Stop counting the solutions of a puzzle at N
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MOST_LIMIT))]
    limit: u32,
}

/// Solutions that are counted at most.
const MOST_LIMIT: i64 = 1_000_000;

/// See the module.
pub struct Solve {
    corpus: Corpus,
    limit: u32,
}

/// Puzzles that the engine is given at once.
const BATCH: usize = 1 << 14;

impl JobKind for Solve {
    const NAME: &'static str = "solve";
    const ABOUT: &'static str = "Solves corpora of puzzles and tells which have one solution";
    const EXAMPLES: &'static str = "Examples:\n  nonet run solve puzzles.txt -o solved.csv\n  \
        nonet run solve corpus/ --limit 1000 --format json";
    const REVISION: u32 = 3;
    const OUTPUT: Option<&'static str> = Some(
        "a row for each line (the puzzle, the verdict, the number of solutions, the only solution, the problem)",
    );
    const FORMS: &'static [Form] = &[Form::Csv, Form::JsonLines];

    type Args = SolveArgs;
    type Partial = Tally;

    fn prepare(args: SolveArgs, around: &Surroundings<'_>) -> Result<SolveArgs, BadSettings> {
        Ok(SolveArgs { corpora: Source::look_up(args.corpora, around)?, ..args })
    }

    fn new(args: SolveArgs) -> Result<Self, BadSettings> {
        if !(2..=MOST_LIMIT).contains(&i64::from(args.limit)) {
            return Err(BadSettings(format!("--limit {}: from 2 to {MOST_LIMIT}", args.limit)));
        }
        let corpus = Corpus::new(Source::files(args.corpora)?);
        corpus.check().map_err(BadSettings)?;
        Ok(Self { corpus, limit: args.limit })
    }

    fn units(&self) -> u64 {
        self.corpus.units()
    }

    fn unit_name(&self, unit: u64) -> String {
        let piece = self.corpus.piece(unit);
        format!("{}, bytes {} to {}", piece.file.at, piece.bytes.start, piece.bytes.end)
    }

    fn empty(&self) -> Tally {
        Tally::default()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Tally, UnitError> {
        let piece = self.corpus.piece(unit);
        let lines = Lines::read(piece.bytes, |bytes| piece.file.read(bytes, context))?;
        let entries = entries(&lines);
        let (mut part, mut tally) = (Vec::new(), Tally::default());
        let mut answers = Vec::new();
        let mut clues = ClueCounts::default();
        for batch in entries.chunks(BATCH) {
            if context.stopped() {
                return Err(UnitError::Stopped);
            }
            self.solve(batch, &mut answers);
            let mut solved = answers.iter();
            for (number, entry) in batch {
                if let Some(row) = self.row(entry, &mut solved) {
                    tally.take(unit, *number, &row, &mut clues);
                    row.write(&mut part);
                }
            }
        }
        tally.end(unit, lines_of(&entries), &clues, PartsDigest::of(unit, &part));
        context.put_part(unit, part)?;
        Ok(tally)
    }

    fn check(&self, range: Range<u64>, partial: &Tally) -> Result<(), BadPartial> {
        partial.check(range, self.corpus.units())
    }

    fn merge(&self, into: &mut Tally, from: Tally) -> Result<(), BadPartial> {
        *into = into.plus(&from)?;
        Ok(())
    }

    fn assemble(&self, finished: &Finished<'_>, out: &mut dyn io::Write) -> Result<(), OutputError> {
        if finished.form == Form::Csv {
            out.write_all(output::HEADER)?;
        }
        let render = |unit, part: Vec<u8>| output::render(finished.form, self.limit, unit, &part);
        each_rendered(self.units(), finished, render, |text| Ok(out.write_all(&text)?))
    }

    fn report(&self, partial: &Tally, progress: &Progress) -> Result<Report, BadPartial> {
        Ok(report::report(self, partial, progress))
    }
}

/// Lines with their numbers in the unit, from 1, read.
fn entries(lines: &Lines) -> Vec<(u32, Entry)> {
    let mut entries = Vec::new();
    let mut number = 0;
    lines.each(|line| {
        number += 1;
        let first = lines.from_the_beginning && number == 1;
        entries.push((number, Entry::read(line, first)));
    });
    entries
}

/// How many lines a unit has.
fn lines_of(entries: &[(u32, Entry)]) -> u32 {
    entries.last().map_or(0, |(number, _)| *number)
}

impl Solve {
    /// Solves the 9x9 puzzles of a batch, in order.
    fn solve(&self, batch: &[(u32, Entry)], answers: &mut Vec<Answer>) {
        thread_local! {
            // Its memory is used again from unit to unit.
            static ENGINE: RefCell<Engine> = RefCell::default();
        }
        let nines = batch.iter().filter_map(|(_, entry)| match entry {
            Entry::Nine(cells) => Some(*cells),
            _ => None,
        });
        let puzzles: Vec<[u8; 81]> = nines.collect();
        ENGINE.with_borrow_mut(|engine| engine.solve(&puzzles, self.limit, answers));
    }

    /// The row of a line, if it has one. `solved` gives the answer to the next 9x9 puzzle.
    fn row<'a>(&self, entry: &'a Entry, solved: &mut std::slice::Iter<'a, Answer>) -> Option<Row<'a>> {
        match entry {
            Entry::Nothing => None,
            Entry::Unreadable(why) => Some(Row::unreadable(why)),
            Entry::Nine(cells) => {
                let answer = solved.next().expect("an answer for each puzzle");
                if answer.invalid {
                    return Some(self.by_reference(Shape::NINE, cells));
                }
                let solution = &answer.solution[..];
                Some(Row::solved(Shape::NINE, &cells[..], answer.solutions.into(), solution))
            }
            Entry::Other(shape, cells) => Some(self.by_reference(*shape, cells)),
        }
    }

    fn by_reference<'a>(&self, shape: Shape, cells: &'a [u8]) -> Row<'a> {
        match reference::solve(shape, cells, self.limit.into()) {
            Err(error) => Row::invalid(shape, cells, &error.to_string()),
            Ok(found) => Row::solved(shape, cells, found.solutions, found.first.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests;

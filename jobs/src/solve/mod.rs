//! Corpora of puzzles, solved in bulk.
//!
//! A unit is a range of bytes of a file; the lines that begin in it are its puzzles. They are solved side by side by
//! [`shared::solve::bitslice`] (9x9) or one by one by [`shared::solve::general`] (other shapes, and pencil marks). A
//! unit's part has a row for every puzzle, and for what was to be one, in the order of the file.

mod args;
mod corpus;
mod entry;
mod found;
mod lines;
mod method;
mod more;
mod output;
mod packing;
mod parquet;
mod partial;
mod plots;
mod report;
mod rows;
mod sample;
mod value;

use std::{io, ops::Range};

use shared::grid::notation::{HEAD_BYTES, Layout};

use crate::{
    input::{File, Source, Surroundings},
    kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError},
    parts::{Finished, Form, OutputError, PartsDigest, each_rendered},
};
pub use args::SolveArgs;
use args::{Asked, MOST_LIMIT, USUAL_SEED};
use corpus::Corpus;
use entry::Entries;
use found::{BATCH, Solver};
use lines::Lines;
pub use method::Method;
use output::Table;
use partial::{ClueCounts, Tally};
pub use sample::{Sample, sample};

/// See the module.
pub struct Solve {
    args: SolveArgs,
    corpus: Corpus,
}

impl Solve {
    /// After how much a puzzle is given up.
    fn cap(&self) -> u64 {
        self.args.cap.unwrap_or(self.args.method.usual_cap())
    }
}

impl JobKind for Solve {
    const NAME: &'static str = "solve";
    const ABOUT: &'static str = "Solves corpora of puzzles and tells which have one solution";
    const EXAMPLES: &'static str = "Examples:\n  nonet run solve puzzles.txt -o solved.csv\n  \
        nonet run solve corpus/ --limit 1000 --format json\n  \
        nonet run solve puzzles.txt --format html > report.html\n  \
        nonet run solve puzzles.csv --columns puzzle,clues,minimal,redundant,minlex -o known.jsonl\n  \
        nonet run solve puzzles.txt --method dlx --columns puzzle,level,nodes,guesses -o nodes.csv";
    const REVISION: u32 = 5;
    const OUTPUT: Option<&'static str> =
        Some("a row for each puzzle, or what was to be one, with the columns of --columns");
    const FORMS: &'static [Form] = &[Form::Csv, Form::JsonLines, Form::Parquet];

    type Args = SolveArgs;
    type Partial = Tally;

    fn prepare(args: SolveArgs, around: &Surroundings<'_>) -> Result<SolveArgs, BadSettings> {
        let corpora = Source::look_up(args.corpora, around)?;
        let context = UnitContext::free().with_storage(&around.storage);
        let layouts = layouts_of(&Source::files(corpora.clone())?, &context)?;
        // A seed that changes nothing must not make another job.
        let seed = if args.method.proves() { USUAL_SEED } else { args.seed };
        Ok(SolveArgs { corpora, layouts, seed, ..args })
    }

    fn new(mut args: SolveArgs) -> Result<Self, BadSettings> {
        let bad = |what: String| Err(BadSettings(what));
        if !(2..=MOST_LIMIT).contains(&i64::from(args.limit)) {
            return bad(format!("--limit {}: from 2 to {MOST_LIMIT}", args.limit));
        }
        if args.cap == Some(0) {
            return bad("--cap 0: at least 1".into());
        }
        if let Some(twice) =
            (1..args.columns.len()).find(|&at| args.columns[..at].contains(&args.columns[at]))
        {
            return bad(format!("--columns: {} is given twice", args.columns[twice]));
        }
        if args.columns.is_empty() {
            return bad("--columns: at least one is needed".into());
        }
        let corpus =
            Corpus::new(Source::files(std::mem::take(&mut args.corpora))?, std::mem::take(&mut args.layouts));
        corpus.check().map_err(BadSettings)?;
        Ok(Self { args, corpus })
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
        let entries = Entries::read(&lines, piece.layout, self.args.shape);
        let asked = Asked::of(&self.args.columns);
        let (limit, cap) = (self.args.limit, self.cap());
        let solver = Solver { limit, method: self.args.method, seed: self.args.seed, cap, asked, context };
        let (mut part, mut tally) = (Vec::new(), Tally::default());
        let mut clues = ClueCounts::default();
        for batch in entries.batches(BATCH) {
            if context.stopped() {
                return Err(UnitError::Stopped);
            }
            solver.solve(&batch, |line, row| {
                tally.take(unit, line, row, &mut clues);
                row.write(asked, &mut part);
            })?;
        }
        tally.end(unit, entries.lines, &clues, PartsDigest::of(unit, &part));
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

    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        let table = Table { columns: &self.args.columns, limit: self.args.limit };
        let units = self.units();
        match finished.form {
            Form::Csv | Form::Drawn => {
                out.write_all(table.header().as_bytes())?;
                let text = |unit, part: Vec<u8>| table.text(unit, &part, Table::csv);
                each_rendered(units, finished, text, |text| Ok(out.write_all(&text)?))
            }
            Form::JsonLines => {
                let text = |unit, part: Vec<u8>| table.text(unit, &part, Table::json);
                each_rendered(units, finished, text, |text| Ok(out.write_all(&text)?))
            }
            Form::Parquet => {
                let mut writer = parquet::Writer::new(&table, out)?;
                let fields = |unit, part: Vec<u8>| table.fields(unit, &part);
                each_rendered(units, finished, fields, |rows| writer.put(rows))?;
                writer.end()
            }
        }
    }

    fn report(&self, partial: &Tally, progress: &Progress) -> Result<Report, BadPartial> {
        Ok(report::report(self, partial, progress))
    }
}

/// How each file holds its puzzles, by its beginning.
fn layouts_of(files: &[File], context: &UnitContext<'_>) -> Result<Vec<Layout>, BadSettings> {
    let layout = |file: &File| {
        let head = file.read(0..HEAD_BYTES as u64, context).map_err(|error| error.to_string())?;
        Layout::detect(&head).map_err(|error| format!("{}: {error}", file.at))
    };
    files.iter().map(layout).collect::<Result<_, String>>().map_err(BadSettings)
}

#[cfg(test)]
mod tests;

//! Minimal puzzles: no clue can go without a second solution.
//!
//! Of 4x4 and 6x6 `every` one is counted and listed; of 9x9, which has some 3.1e37, a `sample` tells how many there are
//! by number of clues, and how well that is known.

mod every;
mod output;
mod partial;
mod report;
mod sample;
mod sample_report;

use std::{io, ops::Range};

use serde::{Deserialize, Serialize};
use shared::{grid::Shape, unavoidable::sample::Estimate};

use crate::{
    input::Surroundings,
    kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError},
    parts::{Finished, Form, OutputError},
};
use every::Every;
use partial::{Counted, Partial};
use sample::Sample;

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimalArgs {
    /// Boxes of R rows by C columns: 2x2, 2x3 or 3x2; 3x3 with --sample [default: 2x2, or 3x3 with --sample]
    #[arg(long, value_name = "RxC")]
    shape: Option<Shape>,
    /// Count the puzzles that have one solution too, minimal or not (2x3: half a minute more for each of 49 grids; 2x2:
    /// always)
    #[arg(long)]
    #[serde(default)]
    valid: bool,
    /// Which puzzles the output lists
    #[arg(long, value_enum, default_value_t = List::Different)]
    #[serde(default)]
    list: List,
    /// Estimate how many minimal puzzles 9x9 has by number of clues, from N independent populations of puzzles: some 200
    /// leave an error of 2 or 3 %, four times as many half of it
    #[arg(long, value_name = "N", conflicts_with_all = ["valid", "list"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sample: Option<u64>,
    /// Where the random numbers of the sample begin: other seeds give independent estimates [default: 1]
    #[arg(long, value_name = "N", requires = "sample")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Clues that the puzzles of the sample begin with, 28 to 60. Minimal puzzles with more are not seen: of
    /// 32 clues surely less than one in a million; more clues take more time [default: 32]
    #[arg(long, value_name = "K", requires = "sample")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most_clues: Option<u32>,
}

/// Which puzzles of many that are alike are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum List {
    /// One of those that are alike under the symmetries of the shape and renaming digits
    #[default]
    Different,
    /// One of those that are alike under renaming digits: of 2x2 only
    Relabelling,
    /// All: of 2x2 only
    All,
}

/// See the module.
pub enum Minimal {
    /// Counts and lists.
    Every(Every),
    /// Estimates.
    Sample(Sample),
}

impl JobKind for Minimal {
    const NAME: &'static str = "minimal";
    const ABOUT: &'static str =
        "Counts and lists every minimal puzzle of 4x4 or 6x6, or estimates those of 9x9";
    const EXAMPLES: &'static str = "Examples:\n  nonet run minimal --shape 2x2 -o different.csv\n  \
        nonet run minimal --shape 2x2 -o drawn.txt         # the same as drawn grids\n  \
        nonet run minimal --shape 2x2 --list all -o all.csv\n  \
        nonet run minimal --shape 2x3 --format html > minimal.html\n  \
        nonet run minimal --sample 200                     # about 3.1e37 of 9x9, by number of clues";
    const REVISION: u32 = 4;
    const OUTPUT: Option<&'static str> = Some(
        "the puzzles (see --list): CSV, or drawn grids where the name ends in .txt; with --sample the estimates as CSV",
    );
    const FORMS: &'static [Form] = &[Form::Csv, Form::Drawn];

    type Args = MinimalArgs;
    type Partial = Partial;

    /// What is left out is written down: the same job has one name.
    fn prepare(args: MinimalArgs, _: &Surroundings<'_>) -> Result<MinimalArgs, BadSettings> {
        Ok(if args.sample.is_none() {
            let shape = args.shape.unwrap_or(Shape::FOUR);
            MinimalArgs { shape: Some(shape), valid: args.valid || every::always_valid(shape), ..args }
        } else {
            MinimalArgs {
                shape: args.shape.or(Some(Shape::NINE)),
                seed: args.seed.or(Some(sample::SEED)),
                most_clues: args.most_clues.or(Some(sample::usual_clues())),
                ..args
            }
        })
    }

    fn new(args: MinimalArgs) -> Result<Self, BadSettings> {
        let MinimalArgs { shape, valid, list, sample, seed, most_clues } = args;
        let Some(populations) = sample else {
            if seed.is_some() || most_clues.is_some() {
                return Err(BadSettings("--seed and --most-clues are of --sample".into()));
            }
            return Every::new(shape.unwrap_or(Shape::FOUR), valid, list).map(Self::Every);
        };
        if valid || list != List::Different {
            return Err(BadSettings("a sample lists no puzzles: leave out --valid and --list".into()));
        }
        Sample::new(shape, populations, seed, most_clues).map(Self::Sample)
    }

    fn units(&self) -> u64 {
        match self {
            Self::Every(job) => job.units(),
            Self::Sample(job) => job.populations,
        }
    }

    fn unit_name(&self, unit: u64) -> String {
        match self {
            Self::Every(job) => job.unit_name(unit),
            Self::Sample(_) => format!("population {unit}"),
        }
    }

    fn empty(&self) -> Partial {
        match self {
            Self::Every(_) => Partial::Counted(Counted::default()),
            Self::Sample(_) => Partial::Estimated(Estimate::default()),
        }
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Partial, UnitError> {
        match self {
            Self::Every(job) => job.run_unit(unit, context).map(Partial::Counted),
            Self::Sample(job) => job.run_unit(unit, context).map(Partial::Estimated),
        }
    }

    fn check(&self, range: Range<u64>, partial: &Partial) -> Result<(), BadPartial> {
        match (self, partial) {
            (Self::Every(job), Partial::Counted(counted)) => counted.check(job, &range),
            (Self::Sample(job), Partial::Estimated(estimate)) => job.check(&range, estimate),
            _ => Err(of_another_kind()),
        }
    }

    fn merge(&self, into: &mut Partial, from: Partial) -> Result<(), BadPartial> {
        match (into, from) {
            (Partial::Counted(into), Partial::Counted(from)) => into.take(from),
            (Partial::Estimated(into), Partial::Estimated(from)) => {
                *into = std::mem::take(into).merge(&from);
                Ok(())
            }
            _ => Err(of_another_kind()),
        }
    }

    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        match self {
            Self::Every(job) => output::assemble(job, finished, out),
            Self::Sample(_) => sample_report::assemble(finished.report, out),
        }
    }

    fn report(&self, partial: &Partial, progress: &Progress) -> Result<Report, BadPartial> {
        match (self, partial) {
            (Self::Every(job), Partial::Counted(counted)) => Ok(report::report(job, counted, progress)),
            (Self::Sample(job), Partial::Estimated(estimate)) => {
                Ok(sample_report::report(job, estimate, progress))
            }
            _ => Err(of_another_kind()),
        }
    }
}

fn of_another_kind() -> BadPartial {
    BadPartial("counts and estimates are not of the same job".into())
}

#[cfg(test)]
mod tests;

//! Work units that do nothing, to measure and test the machinery itself.
//!
//! A partial holds how many units it covers and the sum of their numbers, so that a lost or doubled unit shows in
//! the total: `0 + 1 + ... + (n - 1) = n (n - 1) / 2`.

use std::{
    io,
    ops::Range,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    kind::{BadPartial, BadSettings, JobKind, Needed, Progress, Report, UnitContext, UnitError},
    parts::{Finished, OutputError},
};

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoopArgs {
    /// Work units in the job
    #[arg(long, default_value_t = 100_000)]
    units: u64,
    /// Microseconds of computing per unit
    #[arg(long, default_value_t = 0)]
    unit_us: u64,
    /// A unit that returns an error wherever it runs (may be repeated)
    #[arg(long, value_name = "UNIT")]
    fail: Vec<u64>,
    /// A unit that panics wherever it runs (may be repeated)
    #[arg(long, value_name = "UNIT")]
    panic: Vec<u64>,
    /// A name that makes this job another one
    #[arg(long, default_value = "")]
    label: String,
    /// Write each unit's number as its part of the output
    #[arg(long)]
    #[serde(default)]
    parts: bool,
    /// Put so many zeros before the number in a part
    #[arg(long, value_name = "BYTES", requires = "parts")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zeros: Option<usize>,
    /// Settings of another job of this kind, as JSON, that this one needs
    #[arg(long, value_name = "JSON")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    needs: Option<String>,
    /// Units go on although they are told to stop
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deaf: bool,
}

/// Zeros in a part at most.
const MOST_ZEROS: usize = 64 << 20;

/// See the module.
pub struct Noop(NoopArgs);

/// Units covered, and the sum of their numbers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    units: u64,
    sum: u128,
}

impl JobKind for Noop {
    const NAME: &'static str = "noop";
    const ABOUT: &'static str = "Work units that do nothing: measures and tests the machinery";
    const EXAMPLES: &'static str = "Example:\n  nonet run noop --units 1000000";
    const REVISION: u32 = 1;
    const HIDDEN: bool = true;
    const OUTPUT: Option<&'static str> = Some("the numbers of all units, one a line");

    type Args = NoopArgs;
    type Partial = Tally;

    fn new(args: NoopArgs) -> Result<Self, BadSettings> {
        if args.units == 0 {
            return Err(BadSettings("--units 0: a job needs at least one work unit".into()));
        }
        if args.zeros > Some(MOST_ZEROS) {
            return Err(BadSettings(format!("--zeros: at most {MOST_ZEROS}")));
        }
        Ok(Self(args))
    }

    fn units(&self) -> u64 {
        self.0.units
    }

    fn needs(&self) -> Vec<Needed> {
        let settings = self.0.needs.iter().cloned();
        settings.map(|settings| Needed { kind: Self::NAME, settings }).collect()
    }

    fn unit_name(&self, unit: u64) -> String {
        format!("no-op {unit}")
    }

    fn empty(&self) -> Tally {
        Tally::default()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Tally, UnitError> {
        if self.0.fail.contains(&unit) {
            return Err(UnitError::Failed(format!("unit {unit} was asked to fail")));
        }
        assert!(!self.0.panic.contains(&unit), "unit {unit} was asked to panic");
        let end = Duration::from_micros(self.0.unit_us);
        let start = Instant::now();
        while !end.is_zero() && start.elapsed() < end {
            if !self.0.deaf && context.stopped() {
                return Err(UnitError::Stopped);
            }
            std::hint::spin_loop();
        }
        if self.0.parts {
            let zeros = "0".repeat(self.0.zeros.unwrap_or(0));
            context.put_part(unit, format!("{zeros}{unit}\n").into_bytes())?;
        }
        Ok(Tally { units: 1, sum: unit.into() })
    }

    fn check(&self, range: Range<u64>, partial: &Tally) -> Result<(), BadPartial> {
        let expected =
            Tally { units: range.end - range.start, sum: sum_below(range.end) - sum_below(range.start) };
        if *partial == expected {
            return Ok(());
        }
        Err(BadPartial(format!("units {range:?} give {expected:?}, not {partial:?}")))
    }

    fn merge(&self, into: &mut Tally, from: Tally) -> Result<(), BadPartial> {
        let units = into.units.checked_add(from.units).filter(|&units| units <= self.0.units);
        let units = units.ok_or_else(|| BadPartial("more units than the job has".into()))?;
        let sum = into.sum.checked_add(from.sum).ok_or_else(|| BadPartial("sum exceeds 128 bits".into()))?;
        *into = Tally { units, sum };
        Ok(())
    }

    /// A tally has no digest of parts: checking one must not cost more the more units it has.
    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        (0..self.0.units).try_for_each(|unit| Ok(out.write_all(&finished.parts.get(unit)?)?))
    }

    fn report(&self, partial: &Tally, progress: &Progress) -> Result<Report, BadPartial> {
        let Tally { units, sum } = *partial;
        let n = self.0.units;
        let expected = sum_below(n);
        let wrong = progress.complete() && (units != self.0.units || sum != expected);
        Ok(Report {
            json: serde_json::json!({
                "units": units.to_string(),
                "sum": sum.to_string(),
                "needed": progress.needed.iter().flatten().map(|report| &report.json).collect::<Vec<_>>(),
            }),
            table: format!("{units} of {} units, sum of their numbers {sum}\n", self.0.units),
            csv: format!("units,sum\n{units},{sum}\n"),
            alarm: wrong
                .then(|| format!("{units} units with sum {sum}, but {n} with sum {expected} were planned")),
            plots: Vec::new(),
        })
    }
}

/// `0 + 1 + ... + (n - 1)`, which fits in 128 bits for every `n`.
fn sum_below(n: u64) -> u128 {
    u128::from(n) * u128::from(n.saturating_sub(1)) / 2
}

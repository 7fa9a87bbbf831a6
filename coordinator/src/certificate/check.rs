//! Checking a certificate: that it is whole, that its ranges cover the job and add up to its report, and, if wanted, that
//! some of them yield the same when they are computed again.

use std::{io::BufRead, ops::Range, sync::Arc};

use jobs::{NeededReport, PartSink, Progress, Report, UnitContext, UnitError, input::Storage};
use worker::bridge::guarded;

use super::{FORMAT, ReadLines, Record};
use crate::{
    engine::{Folded, Opened, SharedJob, reopen},
    ledger::Chain,
    scheduler::{Digest, RangeSet, hex},
};

/// What is wrong with a certificate.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(String);

/// A certificate that is whole, and says what its ranges say.
#[derive(Debug)]
pub struct Checked {
    /// Version of the program that wrote it.
    pub program: String,
    /// Last value of the chain, in hexadecimal.
    pub chain: String,
    /// The jobs, the certified one last.
    pub jobs: Vec<Section>,
    /// All ranges, in the order of the file.
    pub ranges: Vec<RangeOfJob>,
}

/// A job of a certificate.
#[derive(Clone)]
pub struct Section {
    /// Kind in the registry.
    pub kind: String,
    /// Hash of kind, revision and settings, in hexadecimal.
    pub name: String,
    /// Settings as JSON.
    pub settings: String,
    /// Work units.
    pub units: u64,
    /// Those that were given up.
    pub quarantined: Vec<u64>,
    /// Its report.
    pub report: Report,
    job: SharedJob,
}

impl std::fmt::Debug for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} job {}", self.kind, self.name)
    }
}

/// A range of one of the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeOfJob {
    /// Which of the jobs.
    pub job: usize,
    /// Its work units.
    pub units: Range<u64>,
    /// blake3 of what they yielded.
    pub digest: [u8; 32],
    /// Who computed it; `several` if it was added up from ranges of different workers.
    pub worker: String,
    /// Other workers that got the same.
    pub also: Vec<String>,
}

/// What to do where a certificate is of another program.
const CURE: &str = "check it with the program that made it";

/// Ranges that are added up.
pub(super) struct Sum {
    opened: Opened,
    units: u64,
    folded: Folded,
}

impl Sum {
    /// Nothing yet of a job (kind, revision, settings), if this program would make the same of it.
    pub fn of(job: (&str, u32, &str), units: u64) -> Result<Self, String> {
        let opened = reopen(job, units, CURE)?;
        let folded = Folded::nothing(Arc::clone(&opened.job));
        Ok(Self { opened, units, folded })
    }

    /// The names of the jobs that it needs.
    pub fn needs(&self) -> Vec<[u8; 16]> {
        self.opened.needs.iter().map(|need| need.name).collect()
    }

    /// Adds what a range has yielded.
    pub fn add(
        &mut self,
        range: Range<u64>,
        digest: &[u8; 32],
        partial: &[u8],
        busy_us: u64,
    ) -> Result<(), String> {
        if blake3::hash(partial).as_bytes() != digest {
            return Err("the digest is not that of what it yielded".into());
        }
        if range.is_empty() || range.end > self.units {
            return Err(format!("there are no such work units among {}", self.units));
        }
        guarded(|| self.opened.job.check(range.clone(), partial))?.map_err(|error| error.to_string())?;
        self.folded.add(range, partial, busy_us)
    }

    /// Those of the units that were once given up that are in no range: the result of one may have come in later.
    pub fn not_done(&self, given_up: &[u64]) -> Vec<u64> {
        let is_done = |unit: u64| self.folded.done.intersects(&(unit..unit.saturating_add(1)));
        given_up.iter().copied().filter(|&unit| !is_done(unit)).collect()
    }

    /// The report of all ranges: every work unit is in one of them, or was given up.
    pub fn report(&self, quarantined: &[u64], needed: Vec<Option<NeededReport>>) -> Result<Report, String> {
        let given_up: RangeSet = quarantined.iter().map(|&unit| unit..unit.saturating_add(1)).collect();
        if let Some(unit) = quarantined.iter().find(|&&unit| unit >= self.units) {
            return Err(format!("work unit {unit} of {} was given up", self.units));
        }
        if let Some(both) = given_up.iter().find(|range| self.folded.done.intersects(range)) {
            return Err(format!("work units {both:?} are given up, and done"));
        }
        let done = self.folded.done.units();
        let missing = self.units - done - given_up.units();
        if missing > 0 {
            return Err(format!("{missing} of {} work units are in no range", self.units));
        }
        let (quarantined, busy_us) = (given_up.iter().collect(), self.folded.busy_us);
        let progress = Progress { units: self.units, done, busy_us, quarantined, needed };
        let bytes = self.folded.sum.bytes().map_err(|error| error.to_string())?;
        guarded(|| self.opened.job.report(&bytes, &progress))?.map_err(|error| error.to_string())
    }
}

/// A job of which not all lines were read.
struct Open {
    kind: String,
    name: String,
    sum: Sum,
}

/// Reads a whole certificate.
///
/// Costs one reading; memory for each range some 100 bytes.
///
/// # Errors
///
/// What is wrong, and in which line.
pub fn check(input: impl BufRead) -> Result<Checked, CheckError> {
    let mut lines = ReadLines { input, chain: Chain::default(), number: 0 };
    let first = lines.next::<Record>().map_err(CheckError)?;
    let Some(Record::Certificate { format, program, job, .. }) = first else {
        return Err(CheckError("this is no certificate: it does not begin like one".into()));
    };
    if format != FORMAT {
        return Err(CheckError(format!("its format is {format}, this program reads {FORMAT}")));
    }
    let mut checked = Checked { program, chain: String::new(), jobs: Vec::new(), ranges: Vec::new() };
    let mut open: Option<Open> = None;
    while let Some(record) = lines.next::<Record>().map_err(CheckError)? {
        let line = lines.number;
        open = step(&mut checked, open, record).map_err(|why| CheckError(format!("line {line}: {why}")))?;
    }
    if open.is_some() || checked.jobs.last().is_none_or(|last| last.name != job) {
        return Err(CheckError("it breaks off before the report of the job that it certifies".into()));
    }
    checked.chain = hex(&lines.chain);
    Ok(checked)
}

/// Takes a record: a job opens, its ranges follow, its report closes it.
fn step(checked: &mut Checked, open: Option<Open>, record: Record) -> Result<Option<Open>, String> {
    match (open, record) {
        (None, Record::Job { name, kind, revision, settings, units, .. }) => {
            if hex(&jobs::job_name(&kind, revision, &settings)) != name {
                return Err("the name of the job is not that of its settings".into());
            }
            let sum = Sum::of((&kind, revision, &settings), units)?;
            Ok(Some(Open { kind, name, sum }))
        }
        (Some(mut open), Record::Range { start, end, digest, partial, worker, busy_us, also, .. }) => {
            let digest: [u8; 32] = bytes(&digest)?.try_into().map_err(|_| "a digest has 32 bytes")?;
            open.sum.add(start..end, &digest, &bytes(&partial)?, busy_us)?;
            let job = checked.jobs.len();
            checked.ranges.push(RangeOfJob { job, units: start..end, digest, worker, also });
            Ok(Some(open))
        }
        (Some(Open { kind, name, sum }), Record::Report { quarantined, report }) => {
            let ours = sum.report(&quarantined, needed(checked, &sum)?)?;
            if ours.json != report {
                return Err("the report is not what the ranges add up to".into());
            }
            let Sum { opened: Opened { job, settings, .. }, units, .. } = sum;
            checked.jobs.push(Section { kind, name, settings, units, quarantined, report: ours, job });
            Ok(None)
        }
        _ => Err("a record that does not belong here".into()),
    }
}

/// The reports of the jobs that one needs: they come before it.
fn needed(checked: &Checked, sum: &Sum) -> Result<Vec<Option<NeededReport>>, String> {
    let one = |need: [u8; 16]| {
        let name = hex(&need);
        let section = checked.jobs.iter().find(|section| section.name == name);
        let section = section.ok_or_else(|| format!("job {name}, which it needs, is missing"))?;
        let complete = section.quarantined.is_empty() && section.report.alarm.is_none();
        Ok(Some(NeededReport { complete, json: section.report.json.clone() }))
    };
    sum.needs().into_iter().map(one).collect()
}

/// The bytes of small hexadecimal digits.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err("no hexadecimal digit".to_owned()),
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err("half a byte".into()) };
    pairs.iter().map(|&[high, low]| Ok(digit(high)? << 4 | digit(low)?)).collect()
}

/// What a range yielded when it was computed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recomputed {
    /// The same.
    Same,
    /// Something else, with this digest: one of the two is wrong.
    Different(Digest),
    /// It was not computed to its end.
    Stopped,
    /// It cannot be computed here, for example as a file is missing.
    Failed(String),
}

/// Computes a range of a certificate again. The job's files are read from `storage`; parts that its units make are thrown
/// away.
pub fn recompute(
    checked: &Checked,
    range: &RangeOfJob,
    storage: &Arc<dyn Storage>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Recomputed {
    let Some(section) = checked.jobs.get(range.job) else {
        return Recomputed::Failed("there is no such job in the certificate".into());
    };
    recompute_range(&section.job, &range.units, &range.digest, storage, stop)
}

/// Computes a range of a job again, and compares. Parts that its units make are thrown away.
pub(crate) fn recompute_range(
    job: &SharedJob,
    units: &Range<u64>,
    digest: &Digest,
    storage: &Arc<dyn Storage>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Recomputed {
    let context = UnitContext::new(stop, None).with_parts(Some(&Nowhere)).with_storage(storage);
    let mut sum = Arc::clone(job).accumulator();
    for unit in units.clone() {
        match guarded(|| sum.run_unit(unit, &context)) {
            Ok(Ok(())) => {}
            Ok(Err(UnitError::Stopped)) => return Recomputed::Stopped,
            Ok(Err(UnitError::Failed(why))) | Err(why) => {
                return Recomputed::Failed(format!("work unit {unit}: {why}"));
            }
        }
    }
    match sum.bytes() {
        Ok(bytes) if blake3::hash(&bytes).as_bytes() == digest => Recomputed::Same,
        Ok(bytes) => Recomputed::Different(*blake3::hash(&bytes).as_bytes()),
        Err(error) => Recomputed::Failed(error.to_string()),
    }
}

struct Nowhere;

impl PartSink for Nowhere {
    fn put(&self, _: u64, _: Vec<u8>) -> Result<(), String> {
        Ok(())
    }
}

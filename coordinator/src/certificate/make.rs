//! From the journal to a certificate.

use std::io::{self, Write};

use jobs::NeededReport;

use super::{FORMAT, Lines, Record, check::Sum};
use crate::{
    ledger::{Chain, CommitRecord, JobState, JobSummary, LedgerError, Reading},
    scheduler::{JobId, WorkerId, hex},
};

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The ledger does not read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// There is no such job, or it is not finished.
    #[error("{0}")]
    Job(String),
    /// It cannot be written.
    #[error("the certificate cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// What was certified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Kind of the job.
    pub kind: String,
    /// Ranges, those of needed jobs included.
    pub ranges: u64,
    /// Last value of the chain, in hexadecimal: it stands for the whole file.
    pub chain: String,
}

/// Writes the certificate of a job of a ledger: the one whose name or run begins with `wanted`, or the only
/// one of a kind of that name.
///
/// Costs one reading of the commits for the job and each that it needs.
///
/// # Errors
///
/// When there is no such job, it is not finished, what it has yielded does not add up, or `out` fails.
pub fn make(ledger: &dyn Reading, wanted: &str, out: &mut dyn Write) -> Result<Made, MakeError> {
    let jobs = ledger.jobs()?;
    let job = one_job(&jobs, wanted).map_err(MakeError::Job)?;
    let mut lines = Lines { out, chain: Chain::default() };
    lines.put(&Record::Certificate {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").into(),
        ledger: hex(&ledger.ledger_id()),
        job: hex(&job.record.name),
    })?;
    let mut maker = Maker { ledger, jobs: &jobs, lines, ranges: 0 };
    maker.section(job)?;
    maker.lines.out.flush()?;
    let chain = hex(&maker.lines.chain);
    Ok(Made { kind: job.record.kind.clone(), ranges: maker.ranges, chain })
}

/// The one job that is meant.
pub(crate) fn one_job<'a>(jobs: &'a [JobSummary], wanted: &str) -> Result<&'a JobSummary, String> {
    let is_meant = |job: &&JobSummary| {
        let record = &job.record;
        record.kind == wanted || [&record.name, &record.id.0].iter().any(|id| hex(*id).starts_with(wanted))
    };
    let meant: Vec<&JobSummary> = jobs.iter().filter(is_meant).collect();
    match meant.as_slice() {
        [job] if !wanted.is_empty() => Ok(job),
        [] => Err(format!("the ledger has no job {wanted:?}: `nonet ledger check` lists those that it has")),
        many => {
            let names: Vec<String> = many.iter().take(5).map(|job| hex(&job.record.name)).collect();
            Err(format!("{wanted:?} is one of {} jobs: {}", many.len(), names.join(", ")))
        }
    }
}

struct Maker<'a> {
    ledger: &'a dyn Reading,
    jobs: &'a [JobSummary],
    lines: Lines<'a>,
    ranges: u64,
}

impl Maker<'_> {
    /// Writes a job after those that it needs, and gives its report to those that need it.
    fn section(&mut self, job: &JobSummary) -> Result<NeededReport, MakeError> {
        let record = &job.record;
        let name = hex(&record.name);
        if job.state != JobState::Finished {
            let state = format!("{:?}", job.state).to_lowercase();
            return Err(MakeError::Job(format!(
                "the {} job {name} is {state}: certificates are of finished jobs",
                record.kind
            )));
        }
        let wrong = |why: String| MakeError::Job(format!("the {} job {name}: {why}", record.kind));
        let mut sum =
            Sum::of((&record.kind, record.revision, &record.settings), record.units).map_err(wrong)?;
        let mut needed = Vec::new();
        for need in sum.needs() {
            let found = self.jobs.iter().find(|job| job.record.name == need);
            let found = found
                .ok_or_else(|| wrong(format!("job {}, which it needs, is not in the ledger", hex(&need))))?;
            needed.push(Some(self.section(found)?));
        }
        self.lines.put(&Record::Job {
            name: name.clone(),
            run: hex(&record.id.0),
            kind: record.kind.clone(),
            revision: record.revision,
            settings: record.settings.clone(),
            units: record.units,
            created_unix_ms: record.created_unix_ms,
        })?;
        self.commits(record.id, &mut |commit| {
            sum.add(commit.range.clone(), &commit.digest, &commit.partial, commit.busy_us)
        })?;
        // The ledger keeps the mark of a unit that was given up, also when a result of it has come in later.
        let quarantined = sum.not_done(&job.quarantined);
        let report = sum.report(&quarantined, needed).map_err(wrong)?;
        let complete = quarantined.is_empty() && report.alarm.is_none();
        self.lines.put(&Record::Report { quarantined, report: report.json.clone() })?;
        Ok(NeededReport { complete, json: report.json })
    }

    fn commits(
        &mut self,
        job: JobId,
        add: &mut dyn FnMut(&CommitRecord) -> Result<(), String>,
    ) -> Result<(), MakeError> {
        let (mut failed, ledger) = (None, self.ledger);
        let read = ledger.commits(job, &mut |commit, by| {
            let put = add(commit)
                .map_err(|why| MakeError::Job(format!("range {:?}: {why}", commit.range)))
                .and_then(|()| self.range(commit, by));
            put.map_err(|error| {
                let text = error.to_string();
                failed = Some(error);
                LedgerError::inconsistent(text)
            })
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(read?),
        }
    }

    fn range(&mut self, commit: &CommitRecord, by: &[WorkerId]) -> Result<(), MakeError> {
        self.ranges += 1;
        Ok(self.lines.put(&Record::Range {
            start: commit.range.start,
            end: commit.range.end,
            digest: hex(&commit.digest),
            partial: hex(&commit.partial),
            worker: commit.worker.text(),
            busy_us: commit.busy_us,
            at_unix_ms: commit.at_unix_ms,
            also: by.iter().filter(|by| **by != commit.worker).map(|by| by.text()).collect(),
        })?)
    }
}

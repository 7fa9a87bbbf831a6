//! One storm: before, during, after.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jobs::Accumulator;
use proto::v1::{JobStatus, State, SubmitRequest};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::{
    runtime::Handle,
    time::{Instant, sleep, timeout},
};
use worker::{credentials::Credentials, dial::Dial};

use super::{
    stage::{LedgerPlace, Size, Stage},
    strikes::{Strikes, Struck},
};
use crate::{
    cli::exit::Failure,
    client::{Client, ClientError},
    ledger::{
        self, CheckReport, JournalReading, LedgerError, Reading,
        etcd::{EtcdReading, Wire},
    },
    scheduler::hex,
};

/// How long a coordinator may take to answer, and a job to end after the storm.
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long one question may take before it is asked again.
const ANSWER: Duration = Duration::from_secs(5);

/// What all storms have in common.
pub struct Storm {
    pub request: SubmitRequest,
    pub size: Size,
    pub length: Duration,
    /// A folder for each below it.
    pub dir: PathBuf,
    /// Whether these are kept though nothing went wrong.
    pub keep: bool,
}

/// What the job yields without a storm.
pub struct Reference {
    pub units: u64,
    /// blake3 of the sum of all commits.
    pub digest: String,
}

/// What was found after a storm.
pub struct Outcome {
    pub struck: Struck,
    pub seconds: f64,
    /// Units that no commit has.
    pub lost: u64,
    /// Commits of units that another one has too.
    pub doubled: u64,
    /// Whether the sum of the commits is that of the reference.
    pub same: bool,
    pub commits: u64,
    /// What else the check of the ledger found.
    pub faults: Vec<String>,
}

impl Outcome {
    /// Whether nothing at all is wrong.
    pub fn is_good(&self) -> bool {
        self.lost == 0 && self.doubled == 0 && self.same && self.faults.is_empty()
    }
}

impl Storm {
    /// Runs the job in a calm.
    pub async fn reference(&self) -> Result<Reference, Failure> {
        let dir = self.dir.join("calm");
        let outcome = self.calm(&dir).await;
        self.tidy(&dir, outcome.is_ok());
        outcome
    }

    async fn calm(&self, dir: &Path) -> Result<Reference, Failure> {
        make(dir)?;
        let mut stage = Stage::set(dir, self.size).await.map_err(failed)?;
        stage.start().map_err(failed)?;
        let user = User::new(&stage)?;
        let job = user.submit(&self.request).await?;
        user.until_it_rests(&job).await?;
        let found = self.look(&stage, &job).await?;
        drop(stage);
        Ok(Reference { units: job.units, digest: found.digest })
    }

    /// Runs the job in a storm.
    pub async fn weather(&self, seed: u64, reference: &Reference) -> Result<Outcome, Failure> {
        let dir = self.dir.join(format!("storm-{seed}"));
        let outcome = self.weather_in(&dir, seed, reference).await;
        let good = outcome.as_ref().is_ok_and(Outcome::is_good);
        self.tidy(&dir, good);
        outcome.map_err(|failure| Failure::failed(format!("{} (see {})", failure.text(), dir.display())))
    }

    async fn weather_in(&self, dir: &Path, seed: u64, reference: &Reference) -> Result<Outcome, Failure> {
        make(dir)?;
        let mut stage = Stage::set(dir, self.size).await.map_err(failed)?;
        stage.start().map_err(failed)?;
        let user = User::new(&stage)?;
        let job = user.submit(&self.request).await?;
        let begun = Instant::now();
        let mut strikes = Strikes::new(&mut stage, ChaCha8Rng::seed_from_u64(seed));
        let raged = tokio::select! {
            raged = strikes.rage(begun + self.length) => raged,
            ended = user.until_it_rests(&job) => ended.map_err(|e| io::Error::other(e.text().to_owned())),
        };
        let struck = strikes.struck;
        raged.map_err(failed)?;
        stage.calm().map_err(failed)?;
        user.until_it_rests(&job).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let Found { digest, report } = self.look(&stage, &job).await?;
        let checked = report.jobs.first();
        let (lost, doubled) = checked.map_or((job.units, 0), |checked| {
            (checked.units - checked.committed_units, checked.duplicates + checked.overlaps)
        });
        let commits = checked.map_or(0, |checked| checked.commits);
        let faults = report.findings.clone();
        Ok(Outcome { struck, seconds, lost, doubled, same: digest == reference.digest, commits, faults })
    }

    /// Reads the ledger beside the coordinator that has it.
    async fn look(&self, stage: &Stage, job: &JobStatus) -> Result<Found, Failure> {
        let (place, request) = (stage.ledger.clone(), self.request.clone());
        let name = job.name.clone();
        let looked = tokio::task::spawn_blocking(move || match place {
            LedgerPlace::Folder(dir) => {
                let report = ledger::check(&dir)?;
                Found::of(&JournalReading::open(&dir)?, report, &name, &request)
            }
            LedgerPlace::Etcd(address) => {
                let reading = EtcdReading::open(Wire::new(address, None), Handle::current())?;
                Found::of(&reading, reading.check()?, &name, &request)
            }
        });
        Ok(looked.await.map_err(|e| Failure::failed(e.to_string()))??)
    }

    fn tidy(&self, dir: &Path, good: bool) {
        if good && !self.keep {
            drop(fs::remove_dir_all(dir));
            // Only when it is empty.
            drop(fs::remove_dir(&self.dir));
        }
    }
}

/// What a ledger says of the job.
struct Found {
    digest: String,
    report: CheckReport,
}

impl Found {
    fn of(
        reading: &dyn Reading,
        report: CheckReport,
        name: &str,
        request: &SubmitRequest,
    ) -> Result<Self, LedgerError> {
        let none = || LedgerError::inconsistent(format!("the ledger has no job {name}"));
        let job = reading.jobs()?.into_iter().find(|job| hex(&job.record.name) == name).ok_or_else(none)?;
        let run = hex(&job.record.id.0);
        let wrong = |e: &dyn std::fmt::Display| LedgerError::inconsistent(e.to_string());
        let kind = jobs::find(&request.kind).ok_or_else(none)?;
        let mut sum: Box<dyn Accumulator> =
            kind.open(&job.record.settings).map_err(|e| wrong(&e))?.accumulator();
        reading
            .commits(job.record.id, &mut |commit, _| sum.absorb(&commit.partial).map_err(|e| wrong(&e)))?;
        let digest = blake3::hash(&sum.bytes().map_err(|e| wrong(&e))?).to_hex().to_string();
        let jobs = report.jobs.into_iter().filter(|job| job.job == run).collect();
        Ok(Self { digest, report: CheckReport { jobs, ..report } })
    }
}

/// Somebody who asks the coordinators, whatever state they are in.
struct User(Arc<Dial>);

impl User {
    fn new(stage: &Stage) -> Result<Self, Failure> {
        // Its networks are on this machine, whatever their addresses look like.
        let credentials = Credentials { allow_plaintext: true, ..Credentials::default() };
        Ok(Self(Arc::new(Dial::tcp(&stage.coordinators, credentials)?)))
    }

    async fn submit(&self, request: &SubmitRequest) -> Result<JobStatus, Failure> {
        let until = Instant::now() + PATIENCE;
        loop {
            let submitted =
                timeout(ANSWER, async { Client::connect(&self.0).await?.submit(request.clone()).await });
            match submitted.await {
                Ok(Ok((job, _))) => return Ok(job),
                Ok(Err(error @ ClientError::Invalid(_))) => return Err(error.into()),
                Ok(Err(error)) if Instant::now() >= until => return Err(error.into()),
                _ if Instant::now() >= until => return Err(Failure::failed("no coordinator answers".into())),
                _ => sleep(LOOK_EVERY).await,
            }
        }
    }

    /// Waits until the job is finished. During a storm the questions fail as they may; the patience counts from the last answer.
    async fn until_it_rests(&self, job: &JobStatus) -> Result<(), Failure> {
        let mut heard = Instant::now();
        let mut last = (0, heard);
        loop {
            let asked = async { Client::connect(&self.0).await?.status(&job.name).await };
            if let Ok(Ok(status)) = timeout(ANSWER, asked).await {
                heard = Instant::now();
                if status.done != last.0 {
                    last = (status.done, heard);
                }
                match status.state() {
                    State::Finished => return Ok(()),
                    State::Running => {}
                    other => return Err(Failure::failed(format!("the job is {other:?}: {}", status.detail))),
                }
            }
            if heard.elapsed() > PATIENCE || last.1.elapsed() > PATIENCE {
                return Err(Failure::failed(format!(
                    "nothing moves: {} of {} units are done",
                    last.0, job.units
                )));
            }
            sleep(LOOK_EVERY).await;
        }
    }
}

fn make(dir: &Path) -> Result<(), Failure> {
    fs::create_dir_all(dir).map_err(|e| Failure::failed(format!("cannot create {}: {e}", dir.display())))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: io::Error) -> Failure {
    Failure::failed(error.to_string())
}

//! The engine: one task that owns the scheduler and everything that happens around it.
//!
//! Sessions, users and the ledger's thread send [`Input`]s; the engine feeds the scheduler, carries out its commands,
//! and never waits for a disk or a peer. What a peer does not take in time costs that peer its connection.

mod acts;
mod admin;
mod core;
mod departed;
mod doubts;
mod farm;
mod folded;
mod hello;
mod intake;
mod job_entry;
mod leaving;
mod needs;
mod opening;
mod past;
mod recall;
mod replicas;
mod replies;
mod requirements;
mod sessions;
mod status;
mod traced;
mod verify;
mod view;
mod writer;

use std::sync::Arc;

use jobs::Report;
use proto::{
    Message,
    v1::{
        self, Action, FromWorker, Hello, JobStatus, ReleaseReply, SubmitRequest, ToWorker, VerifyRequest,
        WorkersReply,
    },
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

pub(crate) use self::{
    core::unix_ms,
    departed::{Departed, How},
    folded::{Folded, merging},
    opening::{Opened, reopen},
    recall::choose,
    verify::Verifying,
    view::{CrewView, JobsView, PictureView, Seen, Wanted},
    writer::Sample,
};

use crate::{
    ledger::{Actor, Ledger, LedgerError, MAX_REPLICAS},
    metrics::Farm,
    scheduler::{JobId, Policy, Requirement, SessionId},
    telemetry::Telemetry,
};

/// How an engine is to behave.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Rules of the scheduler.
    pub policy: Policy,
    /// How often workers are asked to speak.
    pub heartbeat_ms: u32,
    /// Whether unfinished jobs of the ledger go on by themselves, or only when submitted again.
    pub start_unfinished: bool,
}

/// Something that cannot be done, in words for the one who asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such job or worker.
    #[error("{0}")]
    NotFound(String),
    /// The request is wrong.
    #[error("{0}")]
    Invalid(String),
    /// The request is right, the state of things is not.
    #[error("{0}")]
    NotNow(String),
    /// The same worker has a newer connection.
    #[error("the same worker connected again")]
    Superseded,
    /// The engine has failed or is stopping.
    #[error("{0}")]
    Failed(String),
}

/// The way to a worker. An error is the last word.
pub type Outgoing = mpsc::Sender<Result<ToWorker, Refusal>>;

type Answer<T> = oneshot::Sender<Result<T, Refusal>>;

/// How a job is to be computed: nothing that its result depends on.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub weight: u32,
    pub replicas: u32,
    pub requirements: Vec<Requirement>,
}

/// A job to be taken in.
pub(crate) struct Submission {
    pub opened: opening::Opened,
    pub terms: Terms,
    /// The requirements, if a job that is there already is to have them.
    pub requires: Option<Vec<Requirement>>,
    pub fresh: bool,
    pub by: Actor,
}

/// What users ask.
pub(crate) enum Ask {
    Submit(Submission, Answer<(JobStatus, bool)>),
    List(Answer<Vec<JobStatus>>),
    Status(String, Answer<JobStatus>),
    Result(String, Answer<(JobStatus, Report)>),
    Control(String, Action, Actor, Answer<JobStatus>),
    Workers(Answer<WorkersReply>),
    Drain(String, Actor, Answer<String>),
    Release(String, u32, Actor, Answer<ReleaseReply>),
    Acts(usize, Answer<Vec<v1::Act>>),
    Farm(Answer<Farm>),
    Readmit(String, Actor, Answer<String>),
    Verify(VerifyRequest, Actor, Answer<Verifying>),
    VerifyStop(JobId, u64),
    Pulse(Answer<()>),
    ViewJobs(view::Wanted, Answer<JobsView>),
    ViewCrew(view::Wanted, Answer<CrewView>),
    Picture(String, Answer<PictureView>),
}

/// A welcomed worker.
#[derive(Clone, Copy, Debug)]
pub struct Welcomed {
    /// Its session.
    pub session: SessionId,
    /// The ledger it works for.
    pub ledger_id: [u8; 16],
    /// How often it should speak.
    pub heartbeat_ms: u32,
    /// The protocol that is spoken from here on.
    pub protocol: u32,
}

/// What reaches the engine.
pub(crate) enum Input {
    Hello(Hello, Outgoing, Answer<Welcomed>),
    /// The permit stands for the bytes of the message until it is dealt with.
    FromWorker(SessionId, FromWorker, OwnedSemaphorePermit),
    Gone(SessionId),
    Ask(Ask),
}

const MAX_WEIGHT: u32 = 1_000_000;
/// Inputs that wait before their senders do.
const INPUTS: usize = 4096;
/// Submissions that are being read at a time: plans take time and memory.
const OPENING: usize = 2;
/// Size of all messages of workers that wait, in KiB.
const INPUT_KIB: u32 = 64 << 10;

/// The outside of an engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inputs: mpsc::Sender<Input>,
    room: Arc<Semaphore>,
    opening: Arc<Semaphore>,
    changed: watch::Receiver<u64>,
    telemetry: Telemetry,
}

/// A running engine.
pub struct EngineTask {
    /// How to talk to it.
    pub engine: Engine,
    /// Ends after `stop`, or with an error when the ledger fails. What was appended by then is durable.
    pub task: JoinHandle<Result<(), LedgerError>>,
    /// Ends it. Handles may outlive the engine; whoever asks then is told so.
    pub stop: CancellationToken,
}

impl Engine {
    /// Starts an engine over `ledger` that nobody observes.
    ///
    /// # Errors
    ///
    /// As [`Engine::start_observed`].
    pub fn start(ledger: Box<dyn Ledger>, config: EngineConfig) -> Result<EngineTask, LedgerError> {
        Self::start_observed(ledger, config, Telemetry::default())
    }

    /// Starts an engine over `ledger`. What it does is told to `telemetry`.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read or the system gives no thread.
    pub fn start_observed(
        ledger: Box<dyn Ledger>,
        config: EngineConfig,
        telemetry: Telemetry,
    ) -> Result<EngineTask, LedgerError> {
        let (inputs, queue) = mpsc::channel(INPUTS);
        let (change, changed) = watch::channel(0);
        let core = core::Core::new(ledger, config, change, telemetry.clone())?;
        let stop = CancellationToken::new();
        let task = tokio::spawn(core.run(queue, stop.clone()));
        Ok(EngineTask {
            engine: Self {
                inputs,
                room: Arc::new(Semaphore::new(INPUT_KIB as usize)),
                opening: Arc::new(Semaphore::new(OPENING)),
                changed,
                telemetry,
            },
            task,
            stop,
        })
    }

    async fn ask<T>(&self, question: impl FnOnce(Answer<T>) -> Input) -> Result<T, Refusal> {
        let gone = || Refusal::Failed("the coordinator is stopping".into());
        let (answer, hear) = oneshot::channel();
        self.inputs.send(question(answer)).await.map_err(|_| gone())?;
        hear.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Takes a job in, and those that it needs. True when it was there already.
    ///
    /// # Errors
    ///
    /// When it is no job, there are too many, or one that it needs was cancelled.
    pub async fn submit(&self, request: SubmitRequest, by: Actor) -> Result<(JobStatus, bool), Refusal> {
        let SubmitRequest { kind, revision, settings, weight, fresh, replicas, requirements } = request;
        if weight > MAX_WEIGHT {
            return Err(Refusal::Invalid(format!("weight {weight}: expected 1 to {MAX_WEIGHT}")));
        }
        if replicas > MAX_REPLICAS {
            return Err(Refusal::Invalid(format!("--replicas {replicas}: expected 1 to {MAX_REPLICAS}")));
        }
        let requires = requirements::requested(&requirements)?;
        let failed = |e: &dyn std::fmt::Display| Refusal::Failed(format!("the job could not be opened: {e}"));
        let turn = Arc::clone(&self.opening).acquire_owned().await.map_err(|e| failed(&e))?;
        let opened = tokio::task::spawn_blocking(move || {
            let opened = opening::open(&kind, revision, &settings);
            drop(turn);
            opened
        });
        let opened = opened.await.map_err(|e| failed(&e))??;
        let requirements = requires.clone().unwrap_or_default();
        let terms = Terms { weight: weight.max(1), replicas: replicas.max(1), requirements };
        let submission = Submission { opened, terms, requires, fresh, by };
        self.ask(|answer| Input::Ask(Ask::Submit(submission, answer))).await
    }

    /// All jobs, in the order of submission.
    ///
    /// # Errors
    ///
    /// When the engine is stopping.
    pub async fn list(&self) -> Result<Vec<JobStatus>, Refusal> {
        self.ask(|answer| Input::Ask(Ask::List(answer))).await
    }

    /// One job.
    ///
    /// # Errors
    ///
    /// When `job` names none, or several.
    pub async fn status(&self, job: String) -> Result<JobStatus, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Status(job, answer))).await
    }

    /// The report of a job, finished or not.
    ///
    /// # Errors
    ///
    /// When `job` names none, or several.
    pub async fn result(&self, job: String) -> Result<(JobStatus, Report), Refusal> {
        self.ask(|answer| Input::Ask(Ask::Result(job, answer))).await
    }

    /// Pauses, resumes, cancels or retries a job. Durable when it returns.
    ///
    /// # Errors
    ///
    /// When `job` names none or several, or is not in a state for it.
    pub async fn control(&self, job: String, action: Action, by: Actor) -> Result<JobStatus, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Control(job, action, by, answer))).await
    }

    /// The connected workers, and the quarantined.
    ///
    /// # Errors
    ///
    /// When the engine is stopping.
    pub async fn workers(&self) -> Result<WorkersReply, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Workers(answer))).await
    }

    /// Has a worker finish what it computes, and leave. On record when it returns.
    ///
    /// # Errors
    ///
    /// When `worker` names none, or several.
    pub async fn drain(&self, worker: String, by: Actor) -> Result<String, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Drain(worker, by, answer))).await
    }

    /// Has the workers of a pool leave that are more than are to stay, whoever is free first. On record when it returns.
    ///
    /// # Errors
    ///
    /// When `pool` can be the name of none, or the engine is stopping.
    pub async fn release(&self, pool: String, keep: u32, by: Actor) -> Result<ReleaseReply, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Release(pool, keep, by, answer))).await
    }

    /// The `last` acts of people, oldest first.
    ///
    /// # Errors
    ///
    /// When the engine is stopping.
    pub async fn acts(&self, last: usize) -> Result<Vec<v1::Act>, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Acts(last, answer))).await
    }

    /// How everything stands, for `/metrics`.
    ///
    /// # Errors
    ///
    /// When the engine is stopping.
    pub async fn farm(&self) -> Result<Farm, Refusal> {
        let waiting = self.inputs.max_capacity() - self.inputs.capacity();
        let farm = self.ask(|answer| Input::Ask(Ask::Farm(answer))).await?;
        Ok(Farm { inputs_waiting: waiting as u64, ..farm })
    }

    /// Lifts the quarantine of a worker; returns its name, or its id. Durable when it returns.
    ///
    /// # Errors
    ///
    /// When `worker` names no quarantined worker, or several.
    pub async fn readmit(&self, worker: String, by: Actor) -> Result<String, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Readmit(worker, by, answer))).await
    }

    /// Has a sample of a job computed again, which is put on record.
    ///
    /// # Errors
    ///
    /// When there is no such job, it is not in a state for it, or is being verified already.
    pub(crate) async fn verify(&self, request: VerifyRequest, by: Actor) -> Result<Verifying, Refusal> {
        self.ask(|answer| Input::Ask(Ask::Verify(request, by, answer))).await
    }

    /// Whether it answers.
    ///
    /// # Errors
    ///
    /// When the engine is stopping.
    pub async fn pulse(&self) -> Result<(), Refusal> {
        self.ask(|answer| Input::Ask(Ask::Pulse(answer))).await
    }

    /// Nobody waits for a verification any more.
    pub(crate) async fn verify_stop(&self, job: JobId, number: u64) {
        // When the engine is gone too, there is nothing to stop.
        drop(self.inputs.send(Input::Ask(Ask::VerifyStop(job, number))).await);
    }

    /// Lets a worker in. What the engine has for it goes to `outgoing`.
    ///
    /// # Errors
    ///
    /// When it does not fit this coordinator.
    pub async fn hello(&self, hello: Hello, outgoing: Outgoing) -> Result<Welcomed, Refusal> {
        self.ask(|answer| Input::Hello(hello, outgoing, answer)).await
    }

    /// Passes a message of a worker on. Waits while the engine is busy, which is what slows down a worker that sends
    /// too much. False when the engine is gone.
    pub async fn from_worker(&self, session: SessionId, message: FromWorker) -> bool {
        let len_bytes = message.encoded_len();
        let counted = &self.telemetry.counted;
        counted.worker_messages.inc();
        counted.worker_bytes.inc_by(len_bytes as u64);
        let len_kib = u32::try_from(len_bytes / 1024 + 1).unwrap_or(u32::MAX).min(INPUT_KIB);
        let Ok(room) = Arc::clone(&self.room).acquire_many_owned(len_kib).await else { return false };
        self.inputs.send(Input::FromWorker(session, message, room)).await.is_ok()
    }

    /// A worker's connection has ended.
    pub async fn gone(&self, session: SessionId) {
        // When the engine is gone too, nobody needs to know.
        drop(self.inputs.send(Input::Gone(session)).await);
    }

    /// Ticks whenever a job has moved.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.clone()
    }
}

pub(crate) type SharedJob = Arc<dyn jobs::ErasedJob>;

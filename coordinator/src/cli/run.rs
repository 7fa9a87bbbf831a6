//! `nonet run`: coordinator, ledger and one worker in this process, joined by the same gRPC as a cluster.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::{ArgMatches, FromArgMatches};
use jobs::{ErasedKind, input::Surroundings};
use proto::v1::{Action, JobStatus, State, SubmitRequest};
use tokio::{runtime::Handle, sync::mpsc, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use worker::{
    agent,
    cli::{stop_on_signal, threads},
    config::{Config, WorkerError},
    config_file::ConfigFile,
    dial::Dial,
    labels::Labels,
    lease::Pace,
    objects::Objects,
    storage::Stores,
};

use super::{
    args::{OUTPUT, RunArgs},
    exit::{Failure, Outcome},
    format, output,
    progress::Progress,
};
use crate::{
    client::{Client, ClientError},
    engine::{Engine, EngineConfig, EngineTask},
    ledger::{EmbeddedLedger, Ledger},
    scheduler::Policy,
    seat::Seat,
    server,
};

/// How long an interrupted run may take to write down what it has.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// Folder of the parts below that of the state.
const PARTS: &str = "parts";
/// Folder of what came through standard input, below that of the state.
const INPUTS: &str = "inputs";
/// How often the embedded worker speaks. It is never lost, so this is only how fresh the progress is.
const HEARTBEAT_MS: u32 = 250;

/// Reads the arguments, runs the job, prints the report.
pub async fn run(matches: &ArgMatches) -> Result<Outcome, Failure> {
    let (kind, matches) = kind(matches)?;
    let (args, output) = read(kind, matches)?;
    let file = ConfigFile::read(args.config.as_deref())?;
    let state = args.state.or(file.state).unwrap_or_else(|| "nonet-state".into());
    let threads = threads(args.threads.or(file.threads)).map_err(Failure::usage)?;
    let stop = stop_on_signal()?;
    let request = tokio::select! {
        request = submission(kind, matches, Some(state.join(INPUTS))) => request?,
        () = stop.cancelled() => return Ok(interrupted_early()),
    };
    let request = SubmitRequest { fresh: args.fresh, ..request };
    let house = tokio::select! {
        house = House::open(state.clone()) => house?,
        () = stop.cancelled() => return Ok(interrupted_early()),
    };
    let outcome = {
        let asked = Asked { request, format: args.format, output };
        let work = in_house(&house, &state, threads, asked, &stop);
        tokio::pin!(work);
        tokio::select! {
            outcome = &mut work => outcome,
            // The worker has been told too: it hands in what it has, and then `work` ends.
            () = stop.cancelled() => timeout(STOP_TIMEOUT, work).await.unwrap_or(Ok(Outcome::Interrupted)),
        }
    };
    let outcome = house.close(outcome).await;
    if matches!(outcome, Ok(Outcome::Interrupted)) {
        let how =
            if args.fresh { "the same command without --fresh resumes" } else { "the same command resumes" };
        eprintln!("nonet: interrupted; {how}");
    }
    outcome
}

/// Says that nothing is lost: what earlier runs of the same job have done is still there.
fn interrupted_early() -> Outcome {
    eprintln!("nonet: interrupted before anything was computed; the same command resumes");
    Outcome::Interrupted
}

fn read(kind: &dyn ErasedKind, matches: &ArgMatches) -> Result<(RunArgs, Option<PathBuf>), Failure> {
    let args = RunArgs::from_arg_matches(matches).map_err(|e| Failure::usage(e.to_string()))?;
    // Only kinds with an output have the argument.
    let output = matches.try_get_one::<PathBuf>(OUTPUT).ok().flatten().cloned();
    if let Some(path) = &output {
        output::check(kind, path)?;
    }
    Ok((args, output))
}

/// The kind that was typed, and the matches of its subcommand.
pub fn kind(matches: &ArgMatches) -> Result<(&'static dyn ErasedKind, &ArgMatches), Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Failure::usage("no job kind is given".into()));
    };
    let kind = jobs::find(name).ok_or_else(|| Failure::usage(format!("there is no job kind {name:?}")))?;
    Ok((kind, matches))
}

/// The job that was typed. May take long: what is named is looked up, off the async threads. `inputs` is the folder that
/// keeps standard input, where it can be read.
pub async fn submission(
    kind: &'static dyn ErasedKind,
    matches: &ArgMatches,
    inputs: Option<PathBuf>,
) -> Result<SubmitRequest, Failure> {
    let (matches, runtime) = (matches.clone(), Handle::current());
    let looked_up = tokio::task::spawn_blocking(move || {
        let tell = |what: &str| eprintln!("nonet: {what}");
        kind.settings(
            &matches,
            &Surroundings { storage: Arc::new(Stores::new(runtime)), inputs, tell: &tell },
        )
    });
    let settings =
        looked_up.await.map_err(|e| Failure::failed(format!("looking up the input failed: {e}")))?;
    let settings = settings.map_err(|e| Failure::usage(e.to_string()))?;
    let (kind, revision) = (kind.name().into(), kind.revision());
    Ok(SubmitRequest { kind, revision, settings, ..SubmitRequest::default() })
}

/// Coordinator and server of this process.
struct House {
    engine: EngineTask,
    dial: Arc<Dial>,
    stop_server: CancellationToken,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl House {
    async fn open(state: PathBuf) -> Result<Self, Failure> {
        let ledger = open_ledger(state).await?;
        let policy = Policy { sole_worker: true, ..Policy::default() };
        let config = EngineConfig { policy, heartbeat_ms: HEARTBEAT_MS, start_unfinished: false };
        let engine = Engine::start(ledger, config)?;
        let (pipes, incoming) = mpsc::channel(4);
        let stop_server = CancellationToken::new();
        let server = tokio::spawn(server::serve_memory(
            Seat::of(engine.engine.clone()),
            incoming,
            stop_server.clone(),
        ));
        Ok(Self { engine, dial: Arc::new(Dial::Memory(pipes)), stop_server, server })
    }

    /// Ends everything in order, so that what was done is on disk when this returns.
    async fn close(self, outcome: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        let Self { engine, dial, stop_server, server } = self;
        stop_server.cancel();
        drop(dial);
        let served = server.await.map_err(|e| Failure::failed(format!("the server failed: {e}")))?;
        engine.stop.cancel();
        let ended = engine.task.await.map_err(|e| Failure::failed(format!("the engine failed: {e}")))?;
        // The ledger's trouble is the cause, whatever else failed because of it.
        ended?;
        let outcome = outcome?;
        served.map_err(|e| Failure::failed(format!("the server failed: {e}")))?;
        Ok(outcome)
    }
}

/// Opens the ledger in a folder, off the async threads.
pub async fn open_ledger(state: PathBuf) -> Result<Box<dyn Ledger>, Failure> {
    let opened = tokio::task::spawn_blocking(move || EmbeddedLedger::open(&state)).await;
    let opened = opened.map_err(|e| Failure::failed(format!("opening the ledger failed: {e}")))?;
    Ok(Box::new(opened.map_err(Failure::from)?))
}

/// What was typed.
struct Asked {
    request: SubmitRequest,
    format: super::args::ReportFormat,
    output: Option<PathBuf>,
}

async fn in_house(
    house: &House,
    state: &std::path::Path,
    threads: usize,
    asked: Asked,
    stop: &CancellationToken,
) -> Result<Outcome, Failure> {
    let Asked { request, format, output } = asked;
    let mut client = Client::connect(&house.dial).await?;
    let (mut job, existed) = client.submit(request).await?;
    if existed {
        job = take_up(&mut client, job).await?;
    }
    let name = job.name.clone();
    let parts = Objects::folder(state.join(PARTS));
    if job.state() != State::Finished {
        let config = Config {
            dial: Arc::clone(&house.dial),
            state: state.join("worker"),
            parts: Some(parts.clone()),
            threads,
            prefetch: threads,
            name: "embedded".into(),
            labels: Labels::new(),
            pace: Pace::default(),
            drain: Duration::from_secs(8),
        };
        let outcome = compute(&mut client, job, config, existed, stop).await?;
        if outcome == Outcome::Interrupted {
            return Ok(outcome);
        }
    }
    let (status, report) = client.result(&name).await?;
    if let Some(path) = output {
        output::write(&status, &report, &parts, path).await?;
    }
    format::print_report(&status, &report, format, Some(&parts)).await
}

/// What a job that is there already needs to go on.
async fn take_up(client: &mut Client, job: JobStatus) -> Result<JobStatus, Failure> {
    let action = match job.state() {
        State::Finished if job.quarantined_units > 0 => Action::Retry,
        State::Finished => {
            eprintln!("nonet: answered from the ledger (--fresh computes anew)");
            return Ok(job);
        }
        State::Paused => Action::Resume,
        State::Cancelled => Action::Retry,
        State::Conflicted | State::Stale => return Err(Failure::failed(job.detail)),
        State::Running | State::Unspecified => return Ok(job),
    };
    Ok(client.control(&job.name, action).await?)
}

async fn compute(
    client: &mut Client,
    job: JobStatus,
    config: Config,
    existed: bool,
    stop: &CancellationToken,
) -> Result<Outcome, Failure> {
    let stop_worker = CancellationToken::new();
    let mut worker = tokio::spawn(agent::run(config, stop_worker.clone()));
    let ended = tokio::select! {
        ended = watch(client, job, existed) => ended.map(|()| Outcome::Done),
        ended = &mut worker => return Err(worker_ended(ended)),
        () = stop.cancelled() => Ok(Outcome::Interrupted),
    };
    stop_worker.cancel();
    match worker.await {
        Ok(Ok(())) => ended,
        failed => Err(worker_ended(failed)),
    }
}

fn worker_ended(ended: Result<Result<(), WorkerError>, tokio::task::JoinError>) -> Failure {
    match ended {
        Ok(Ok(())) => Failure::failed("the worker stopped by itself".into()),
        Ok(Err(error)) => error.into(),
        Err(error) => Failure::failed(format!("the worker failed: {error}")),
    }
}

/// Shows what a coordinator says of a job, until it rests or the coordinator says nothing more.
async fn follow(
    client: &mut Client,
    last: &mut JobStatus,
    progress: &mut Progress,
) -> Result<(), ClientError> {
    let mut statuses = client.watch(&last.name).await?;
    while let Some(status) = statuses.message().await? {
        progress.show(&status);
        *last = status;
    }
    Ok(())
}

/// Follows a job until it rests; `resumes` when this command takes it up from an earlier life.
pub async fn watch(client: &mut Client, job: JobStatus, resumes: bool) -> Result<(), Failure> {
    let mut progress = Progress::new(&job, resumes);
    let mut last = job;
    loop {
        let followed = follow(client, &mut last, &mut progress).await;
        let rests = !matches!(last.state(), State::Running | State::Paused);
        let known = !matches!(followed, Err(ClientError::Invalid(_)));
        if rests || !known || !client.follow().await {
            progress.end();
            followed?;
            break;
        }
        tracing::warn!("the coordinator went away; another one leads now");
    }
    match last.state() {
        State::Finished => Ok(()),
        State::Conflicted | State::Stale => Err(Failure::failed(last.detail)),
        State::Cancelled => Err(Failure::failed("the job was cancelled".into())),
        _ => Err(Failure::failed("the coordinator went away before the job was done".into())),
    }
}

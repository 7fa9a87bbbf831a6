//! A running engine, and workers that say anything: bytes that decode, results and events of leases that there are or not,
//! believable lies. It goes on, and answers; the ledger need refuse nothing of it; nothing counts twice, or with fewer workers
//! behind it than the job asks for; and another engine takes over.

#![no_main]

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{Arc, LazyLock},
};

use arbitrary::Arbitrary;
use coordinator::{
    engine::{Engine, EngineConfig, EngineTask},
    ledger::{Actor, CommitRecord, Entry, JobSummary, Ledger, fuzz::Memory},
    scheduler::{JobId, Policy, RangeSet, SessionId, WorkerId},
};
use coordinator_fuzz::{Small, small};
use jobs::UnitContext;
use libfuzzer_sys::fuzz_target;
use proto::{
    Message,
    v1::{
        Action, Commit, Failure, FromWorker, Hello, KindVersion, LeaseEvent, SubmitRequest, ToWorker,
        lease_event::Event, order::Order,
    },
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

#[derive(Arbitrary, Debug)]
struct Input {
    /// Its results can be lied about.
    recount: bool,
    replicas: u8,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// Any first word.
    Hello(Vec<u8>),
    /// One that is welcome.
    Open {
        worker: u8,
        slots: u8,
        prefetch: u8,
    },
    Gone(u8),
    /// Any message.
    Say {
        session: u8,
        bytes: Vec<u8>,
    },
    Message {
        session: u8,
        commits: Vec<Offer>,
        events: Vec<(u8, u8, u64)>,
        draining: bool,
    },
    /// What a worker does that was given a lease: it commits all or half of it, and returns it.
    Obey {
        grant: u8,
        half: bool,
        lie: bool,
        busy_us: u64,
    },
    Control(u8),
    /// Another submission of the same job.
    Submit {
        replicas: u8,
        fresh: bool,
    },
    Drain(u8),
    Readmit(u8),
    /// Lets the ledger's thread catch up.
    Settle,
}

#[derive(Arbitrary, Debug)]
struct Offer {
    start: u64,
    units: u8,
    lie: bool,
    partial: Option<Vec<u8>>,
    broken: Option<(u8, Vec<u8>)>,
    busy_us: u64,
}

/// What a worker was given.
struct Grant {
    session: SessionId,
    lease: u64,
    units: Range<u64>,
}

static NOOP: LazyLock<Small> = LazyLock::new(|| small("noop", &["--units", "1000"]));
static RECOUNT: LazyLock<Small> = LazyLock::new(|| small("recount", &["--shape", "2x3"]));

/// What units yield; a lie is one that a worker could have computed.
fn yielded(of: &Small, units: Range<u64>, lie: bool) -> Vec<u8> {
    let mut sum = Arc::clone(&of.job).accumulator();
    for unit in units.start..units.end.min(of.job.units()) {
        sum.run_unit(unit, &UnitContext::free()).expect("it runs");
    }
    let mut bytes = sum.bytes().expect("small");
    if lie && let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    bytes
}

fn commit(of: &Small, job: JobId, sequence: u64, offer: Offer) -> Commit {
    let start = if offer.units % 2 == 0 { offer.start } else { offer.start % of.job.units() };
    let end = start.saturating_add(u64::from(offer.units / 2));
    let partial = offer.partial.unwrap_or_else(|| yielded(of, start..end, offer.lie));
    let mut commit = Commit {
        sequence,
        job: job.0.to_vec().into(),
        start,
        end,
        digest: blake3::hash(&partial).as_bytes().to_vec().into(),
        partial: partial.into(),
        busy_us: offer.busy_us,
    };
    match offer.broken {
        Some((0..=63, bytes)) => commit.digest = bytes.into(),
        Some((64..=127, bytes)) => commit.job = bytes.into(),
        _ => {}
    }
    commit
}

fn event((lease, what, number): (u8, u8, u64)) -> LeaseEvent {
    let event = match what % 5 {
        0 => Some(Event::Reached(number)),
        1 => Some(Event::Shrunk(number)),
        2 => Some(Event::Failed(Failure { unit: number, error: "é".repeat(usize::from(what) * 20) })),
        3 => Some(Event::Returned(true)),
        _ => None,
    };
    LeaseEvent { lease: lease.into(), event }
}

fn welcome(worker: u8, slots: u8, prefetch: u8) -> Hello {
    let kinds =
        jobs::KINDS.iter().map(|kind| KindVersion { name: kind.name().into(), revision: kind.revision() });
    Hello {
        protocol: proto::PROTOCOL,
        version: "fuzz".into(),
        worker_id: vec![worker % 4; 16].into(),
        name: "w".into(),
        slots: slots.into(),
        prefetch: prefetch.into(),
        kinds: kinds.collect(),
        newest_protocol: 0,
        labels: Vec::new(),
    }
}

fn request(of: &Small, replicas: u8, fresh: bool) -> SubmitRequest {
    SubmitRequest {
        kind: of.kind.name().into(),
        revision: of.kind.revision(),
        settings: of.settings.clone(),
        weight: 1,
        fresh,
        replicas: u32::from(replicas % 4),
        requirements: Vec::new(),
    }
}

fn started(ledger: &Memory) -> EngineTask {
    let config = EngineConfig { policy: Policy::default(), heartbeat_ms: 1000, start_unfinished: true };
    Engine::start(Box::new(ledger.clone()), config).expect("an engine")
}

/// The job, as it is on record.
fn recorded(ledger: &Memory) -> JobSummary {
    ledger.jobs().expect("jobs").pop().expect("it was submitted")
}

fn message(commits: Vec<Commit>, events: Vec<LeaseEvent>, draining: bool) -> FromWorker {
    let message = FromWorker { hello: None, commits, events, draining };
    FromWorker::decode(&message.encode_to_vec()[..]).expect("it was just made")
}

fn note(session: SessionId, message: ToWorker, grants: &mut Vec<Grant>) {
    for order in message.orders {
        if let Some(Order::Grant(grant)) = order.order {
            grants.push(Grant { session, lease: order.lease, units: grant.start..grant.end });
        }
    }
}

async fn run(input: Input) {
    let of = if input.recount { &*RECOUNT } else { &*NOOP };
    let ledger = Memory::default();
    let EngineTask { engine, task, stop } = started(&ledger);
    let me = Actor::default;
    let name = engine.submit(request(of, input.replicas, false), me()).await.expect("submitted").0.name;
    let (mut ears, mut grants, mut sequence) = (Vec::new(), Vec::new(), 0);
    for step in input.steps.into_iter().take(60) {
        let session = |session: u8| SessionId(u64::from(session % 8));
        let worker = |worker: u8| format!("{:02x}", worker % 4);
        let job = recorded(&ledger).record.id;
        let hello = match step {
            Step::Hello(bytes) => Hello::decode(&bytes[..]).ok(),
            Step::Open { worker, slots, prefetch } => Some(welcome(worker, slots, prefetch)),
            Step::Gone(id) => {
                engine.gone(session(id)).await;
                None
            }
            Step::Say { session: id, bytes } => {
                if let Ok(message) = FromWorker::decode(&bytes[..]) {
                    engine.from_worker(session(id), message).await;
                }
                None
            }
            Step::Message { session: id, commits, events, draining } => {
                let commits = commits.into_iter().map(|offer| {
                    sequence += 1;
                    commit(of, job, sequence, offer)
                });
                let events = events.into_iter().map(event).collect();
                engine.from_worker(session(id), message(commits.collect(), events, draining)).await;
                None
            }
            Step::Obey { grant, half, lie, busy_us } => {
                if let Some(Grant { session, lease, units: Range { start, end } }) =
                    grants.get(usize::from(grant) % grants.len().max(1))
                {
                    sequence += 1;
                    let units = if half { (end - start).div_ceil(2) } else { end - start };
                    let partial = Some(yielded(of, *start..start + units, lie));
                    let offer = Offer { start: *start, units: 0, lie, partial, broken: None, busy_us };
                    let commit = Commit { end: start + units, ..commit(of, job, sequence, offer) };
                    let returned = LeaseEvent { lease: *lease, event: Some(Event::Returned(true)) };
                    engine.from_worker(*session, message(vec![commit], vec![returned], false)).await;
                }
                None
            }
            Step::Control(action) => {
                if let Ok(action) = Action::try_from(i32::from(action % 6)) {
                    drop(engine.control(name.clone(), action, me()).await);
                }
                None
            }
            Step::Submit { replicas, fresh } => {
                drop(engine.submit(request(of, replicas, fresh), me()).await);
                None
            }
            Step::Drain(id) => {
                drop(engine.drain(worker(id), me()).await);
                None
            }
            Step::Readmit(id) => {
                drop(engine.readmit(worker(id), me()).await);
                None
            }
            Step::Settle => {
                drop(engine.status(name.clone()).await);
                None
            }
        };
        if let Some(hello) = hello {
            let (outgoing, ear) = mpsc::channel(16);
            if let Ok(welcomed) = engine.hello(hello, outgoing).await {
                // A word is what makes a worker get leases.
                engine.from_worker(welcomed.session, FromWorker::default()).await;
                ears.push((welcomed.session, ear));
            }
        }
        for (session, ear) in &mut ears {
            while let Ok(message) = ear.try_recv() {
                message.into_iter().for_each(|message| note(*session, message, &mut grants));
            }
        }
    }
    engine.workers().await.expect("it answers");
    engine.result(name.clone()).await.expect("it has a report");
    stop.cancel();
    task.await.expect("no panic").expect("the ledger never fails");
    check(&ledger, started(&ledger), name).await;
}

/// What is on record, and what another engine makes of it.
async fn check(ledger: &Memory, next: EngineTask, name: String) {
    let JobSummary { record, state, replicas, claims, .. } = recorded(ledger);
    let liars: BTreeSet<_> =
        ledger.quarantined().expect("in memory").into_iter().map(|liar| liar.worker).collect();
    assert!(claims.iter().all(|claim| !liars.contains(&claim.worker)));
    let mut done = RangeSet::new();
    let each = &mut |commit: &CommitRecord, by: &[WorkerId]| {
        let by: BTreeSet<_> = by.iter().collect();
        assert!(by.len() >= replicas as usize && by.iter().any(|worker| !liars.contains(worker)));
        assert!(done.insert(commit.range.clone()));
        Ok(())
    };
    ledger.commits(record.id, each).expect("in memory");
    for entry in ledger.refused() {
        match entry {
            // The job was replaced while they were on their way.
            Entry::Commit(CommitRecord { job, .. }) | Entry::State { job, .. } if job != record.id => {}
            Entry::Claim(CommitRecord { job, .. }) | Entry::Withdraw { job, .. } if job != record.id => {}
            Entry::Confirm { commit, .. } | Entry::Conflict(commit) if commit.job != record.id => {}
            Entry::Failure { job, .. } | Entry::Quarantine { job, .. } if job != record.id => {}
            entry => panic!("refused: {entry:?}"),
        }
    }
    let (status, _) = next.engine.result(name).await.expect("it has a report");
    let units: u64 = done.iter().map(|range| range.end - range.start).sum();
    assert_eq!(status.done, units, "{state:?}");
    next.stop.cancel();
    next.task.await.expect("no panic").expect("the ledger never fails");
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

fuzz_target!(|input: Input| RUNTIME.block_on(run(input)));

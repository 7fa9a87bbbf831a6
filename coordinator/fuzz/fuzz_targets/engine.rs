//! A running engine, and workers that say anything: bytes that decode, results and events of leases that there are or not.
//! It goes on, and answers.

#![no_main]

use std::sync::{Arc, LazyLock, Mutex};

use arbitrary::Arbitrary;
use coordinator::{
    engine::{Engine, EngineConfig},
    ledger::{CommitRecord, Entry, JobSummary, Ledger, LedgerError},
    scheduler::{JobId, Policy, SessionId},
};
use libfuzzer_sys::fuzz_target;
use proto::{
    Message,
    v1::{
        Action, Commit, Failure, FromWorker, Hello, KindVersion, LeaseEvent, SubmitRequest,
        lease_event::Event,
    },
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

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
    Control(u8),
    /// Lets the ledger's thread catch up.
    Settle,
}

#[derive(Arbitrary, Debug)]
struct Offer {
    start: u64,
    units: u8,
    partial: Option<Vec<u8>>,
    broken: Option<(u8, Vec<u8>)>,
    busy_us: u64,
}

const UNITS: u64 = 1000;

/// Entries in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<Entry>>>);

impl Ledger for Memory {
    fn append(&mut self, group: &[Entry]) -> Result<(), LedgerError> {
        self.0.lock().expect("not poisoned").extend_from_slice(group);
        Ok(())
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError> {
        Ok(Vec::new())
    }

    fn commits(
        &self,
        job: JobId,
        each: &mut dyn FnMut(CommitRecord) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let mut commits: Vec<_> = self.all(job);
        commits.sort_by_key(|commit| commit.range.start);
        commits.into_iter().try_for_each(each)
    }

    fn commit_at(&self, job: JobId, start: u64) -> Result<Option<CommitRecord>, LedgerError> {
        Ok(self.all(job).into_iter().find(|commit| commit.range.start == start))
    }

    fn ledger_id(&self) -> [u8; 16] {
        [1; 16]
    }
}

impl Memory {
    fn all(&self, job: JobId) -> Vec<CommitRecord> {
        let entries = self.0.lock().expect("not poisoned");
        let commit = |entry: &Entry| match entry {
            Entry::Commit(commit) if commit.job == job => Some(commit.clone()),
            _ => None,
        };
        entries.iter().filter_map(commit).collect()
    }

    fn job(&self) -> Vec<u8> {
        let entries = self.0.lock().expect("not poisoned");
        let job =
            entries.iter().find_map(|entry| if let Entry::Job(job) = entry { Some(job.id.0) } else { None });
        job.expect("it was submitted").to_vec()
    }
}

/// What `noop` yields for units: their number and their sum, as postcard writes it.
fn yielded(start: u64, end: u64) -> Vec<u8> {
    let below = |n: u64| u128::from(n) * u128::from(n.saturating_sub(1)) / 2;
    let mut bytes = Vec::new();
    for mut number in [u128::from(end.saturating_sub(start)), below(end).saturating_sub(below(start))] {
        while number > 127 {
            bytes.push(u8::try_from(number & 127).expect("seven bits") | 128);
            number >>= 7;
        }
        bytes.push(u8::try_from(number).expect("seven bits"));
    }
    bytes
}

fn commit(job: &[u8], sequence: u64, offer: Offer) -> Commit {
    let start = if offer.units % 2 == 0 { offer.start } else { offer.start % UNITS };
    let end = start.saturating_add(u64::from(offer.units / 2));
    let partial = offer.partial.unwrap_or_else(|| yielded(start, end));
    let digest = blake3::hash(&partial).as_bytes().to_vec();
    let mut commit = Commit {
        sequence,
        job: job.to_vec().into(),
        start,
        end,
        digest: digest.into(),
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
    }
}

async fn run(steps: Vec<Step>) {
    let ledger = Memory::default();
    let config = EngineConfig { policy: Policy::default(), heartbeat_ms: 1000, start_unfinished: true };
    let started = Engine::start(Box::new(ledger.clone()), config).expect("an engine");
    let engine = started.engine;
    let settings = format!(r#"{{"units":{UNITS},"unit_us":0,"fail":[],"panic":[],"label":""}}"#);
    let revision = jobs::find("noop").expect("a kind").revision();
    let request = SubmitRequest { kind: "noop".into(), revision, settings, weight: 1, fresh: false };
    let name = engine.submit(request).await.expect("submitted").0.name;
    let job = ledger.job();
    let mut ears = Vec::new();
    let mut sequence = 0;
    for step in steps.into_iter().take(40) {
        let session = |session: u8| SessionId(u64::from(session % 8));
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
                    commit(&job, sequence, offer)
                });
                let events = events.into_iter().map(event).collect();
                let message = FromWorker { hello: None, commits: commits.collect(), events, draining };
                let bytes = message.encode_to_vec();
                engine
                    .from_worker(session(id), FromWorker::decode(&bytes[..]).expect("it was just made"))
                    .await;
                None
            }
            Step::Control(action) => {
                if let Ok(action) = Action::try_from(i32::from(action % 6)) {
                    drop(engine.control(name.clone(), action).await);
                }
                None
            }
            Step::Settle => {
                drop(engine.status(name.clone()).await);
                None
            }
        };
        if let Some(hello) = hello {
            let (outgoing, ear) = mpsc::channel(16);
            drop(engine.hello(hello, outgoing).await);
            ears.push(ear);
        }
        for ear in &mut ears {
            while ear.try_recv().is_ok() {}
        }
    }
    engine.list().await.expect("it answers");
    engine.result(name).await.expect("it has a report");
    started.stop.cancel();
    started.task.await.expect("no panic").expect("the ledger never fails");
    // Nothing is counted twice.
    let mut done = coordinator::scheduler::RangeSet::new();
    for commit in ledger.all(JobId(job.try_into().expect("16 bytes"))) {
        assert!(done.insert(commit.range));
    }
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

fuzz_target!(|steps: Vec<Step>| RUNTIME.block_on(run(steps)));

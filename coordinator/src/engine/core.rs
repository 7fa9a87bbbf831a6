//! The loop: inputs in, scheduler's commands out.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use proto::v1::{self, Grant, Job, Order, Verdict as WireVerdict, order::Order as Wish};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{
    Ask, EngineConfig, Input, Refusal,
    acts::Acts,
    admin::Ticket,
    departed::{DepartedOnes, How},
    doubts::Said,
    job_entry::JobEntry,
    sessions::{Session, Sessions},
    verify::Verification,
    writer::{After, Reply, Request, Writer},
};
use crate::{
    ledger::{CommitRecord, Entry, JobState, Ledger, LedgerError, Quarantine},
    scheduler::{
        CloseReason, Command, Event, JobId, LeaseId, Millis, Scheduler, SessionId, Token, Verdict, WorkerId,
    },
    telemetry::Telemetry,
    traces::Leases,
};

/// All state of the engine.
pub(crate) struct Core {
    pub(super) config: EngineConfig,
    pub(super) scheduler: Scheduler,
    /// Run ids begin with the time, so this is the order of submission.
    pub(super) jobs: BTreeMap<JobId, JobEntry>,
    pub(super) sessions: Sessions,
    pub(super) offers: HashMap<Token, Offer>,
    pub(super) last_token: u64,
    pub(super) tickets: HashMap<u64, Ticket>,
    pub(super) last_ticket: u64,
    /// Questions about jobs whose past is being read.
    pub(super) parked: HashMap<JobId, Vec<Ask>>,
    /// Jobs whose past is being read.
    pub(super) being_read: usize,
    /// Workers that wait until it is: their results could not be judged yet.
    pub(super) at_the_door: Vec<Input>,
    pub(super) ledger_id: [u8; 16],
    pub(super) acts: Acts,
    pub(super) departed: DepartedOnes,
    /// Workers whose results are not believed.
    pub(super) quarantined: BTreeMap<WorkerId, Quarantine>,
    /// Samples that are computed again, at most one a job.
    pub(super) verifications: HashMap<JobId, Verification>,
    pub(super) last_verification: u64,
    pub(super) telemetry: Telemetry,
    /// Those that are traced.
    pub(super) traced: Leases,
    writer: Writer,
    replies: mpsc::UnboundedReceiver<Reply>,
    started: Instant,
    change: watch::Sender<u64>,
    pub(super) moved: bool,
    commands: VecDeque<Command>,
    obeying: bool,
    pub(super) failure: Option<LedgerError>,
}

/// A commit between its arrival and its answer.
pub(super) struct Offer {
    pub session: SessionId,
    pub sequence: u64,
    pub record: CommitRecord,
    /// Whether it is in the sum once it is durable.
    pub counts: bool,
    pub arrived: std::time::Instant,
}

const TICK: Duration = Duration::from_millis(100);
/// Inputs taken in one go; what they cause is sent together.
const BATCH: usize = 256;

impl Core {
    pub fn new(
        ledger: Box<dyn Ledger>,
        config: EngineConfig,
        change: watch::Sender<u64>,
        telemetry: Telemetry,
    ) -> Result<Self, LedgerError> {
        let jobs =
            ledger.jobs()?.into_iter().map(|summary| (summary.record.id, JobEntry::read(summary))).collect();
        let ledger_id = ledger.ledger_id();
        let acts = Acts::read(ledger.acts()?);
        let quarantined = ledger.quarantined()?.into_iter().map(|known| (known.worker, known)).collect();
        // Unbounded, or the ledger's thread and the engine could wait for each other. What is in it is bounded by
        // what was asked.
        let (reply, replies) = mpsc::unbounded_channel();
        let writer = Writer::start(ledger, telemetry.clone(), move |answer| drop(reply.send(answer)));
        let writer = writer
            .map_err(|e| LedgerError::inconsistent(format!("cannot start the ledger's thread: {e}")))?;
        Ok(Self {
            scheduler: Scheduler::new(config.policy.clone()),
            config,
            jobs,
            sessions: Sessions::default(),
            offers: HashMap::new(),
            last_token: 0,
            tickets: HashMap::new(),
            last_ticket: 0,
            parked: HashMap::new(),
            being_read: 0,
            at_the_door: Vec::new(),
            ledger_id,
            acts,
            departed: DepartedOnes::default(),
            quarantined,
            verifications: HashMap::new(),
            last_verification: 0,
            traced: Leases::new(telemetry.traces.clone()),
            telemetry,
            writer,
            replies,
            started: Instant::now(),
            change,
            moved: false,
            commands: VecDeque::new(),
            obeying: false,
            failure: None,
        })
    }

    /// Works until it is told to stop, or the ledger fails. What was asked of the ledger is durable then.
    pub async fn run(
        mut self,
        mut inputs: mpsc::Receiver<Input>,
        stop: CancellationToken,
    ) -> Result<(), LedgerError> {
        let done = self.work(&mut inputs, &stop).await;
        let wait = self.writer.end();
        drop((self, inputs));
        if tokio::task::spawn_blocking(wait).await.is_err() {
            tracing::error!("waiting for the ledger's thread panicked");
        }
        done
    }

    async fn work(
        &mut self,
        inputs: &mut mpsc::Receiver<Input>,
        stop: &CancellationToken,
    ) -> Result<(), LedgerError> {
        self.recall_quarantined();
        if self.config.start_unfinished {
            // Of a finished job with units given up, only its commits tell whether they were done after all.
            let wanted = |entry: &JobEntry| entry.is_live() || !entry.quarantined.is_empty();
            let unfinished: Vec<_> =
                self.jobs.iter().filter(|(_, entry)| wanted(entry)).map(|(&id, _)| id).collect();
            unfinished.into_iter().for_each(|id| self.read_past(id));
        }
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            // Else nothing but answers is taken, not even the time: nobody is silent for too long because of us.
            let has_room = self.writer.has_room();
            tokio::select! {
                count = inputs.recv_many(&mut batch, BATCH), if has_room => {
                    if count == 0 {
                        return Ok(());
                    }
                    batch.drain(..).for_each(|input| self.input(input));
                }
                reply = self.replies.recv() => {
                    let Some(reply) = reply else {
                        return Err(LedgerError::inconsistent("the ledger's thread ended by itself"));
                    };
                    self.ledger_says(reply);
                    while let Ok(reply) = self.replies.try_recv() {
                        self.ledger_says(reply);
                    }
                }
                () = stop.cancelled() => return Ok(()),
                _ = tick.tick(), if has_room => {
                    // What was said before now counts as said, even if this process was stopped for a while:
                    // otherwise workers would be closed for a silence that was ours.
                    for _ in 0..inputs.len() {
                        if let Ok(input) = inputs.try_recv() {
                            self.input(input);
                        }
                    }
                    self.close_the_mute();
                    self.feed(Event::Tick);
                    self.look_for_verifiers();
                    if std::mem::take(&mut self.moved) {
                        self.announce();
                    }
                }
            }
            for session in self.sessions.flush() {
                tracing::warn!(?session, "a worker does not take what it is sent: its leases go to others");
                self.close(session, How::Unread);
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
        }
    }

    pub(super) fn input(&mut self, input: Input) {
        match input {
            Input::Hello(..) if self.being_read > 0 => self.at_the_door.push(input),
            Input::Hello(hello, outgoing, answer) => self.welcome(hello, outgoing, answer),
            Input::FromWorker(session, message, _room) => self.heard(session, message),
            Input::Gone(session) => self.gone(session),
            Input::Ask(ask) => self.asked(ask),
        }
    }

    /// Tells the scheduler, and does what it says, in its order: what a command causes comes after the commands that
    /// were there before.
    pub(super) fn feed(&mut self, event: Event) {
        if let Event::JobRemoved(job) = &event {
            // Whoever waits for it hears that it is over.
            self.verifications.remove(job);
        }
        let now = self.now();
        self.commands.extend(self.scheduler.step(now, event));
        if !std::mem::replace(&mut self.obeying, true) {
            while let Some(command) = self.commands.pop_front() {
                self.obey(command);
            }
            self.obeying = false;
        }
    }

    pub(super) fn now(&self) -> Millis {
        Millis::try_from(self.started.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }

    /// Wakes everyone who watches a job.
    pub(super) fn announce(&self) {
        self.change.send_modify(|n| *n = n.wrapping_add(1));
    }

    pub(super) fn append(&mut self, entry: Entry, after: After) {
        self.ask_ledger(Request::Append(entry, after));
    }

    /// Redeems a ticket when everything appended so far is durable.
    pub(super) fn when_durable(&mut self, ticket: After) {
        self.ask_ledger(Request::Barrier(ticket));
    }

    pub(super) fn ask_ledger(&self, request: Request) {
        if !self.writer.ask(request) {
            // Its last reply, on the way, says why; the engine ends when it arrives.
            tracing::debug!("the ledger takes nothing more");
        }
    }

    /// Its stream has ended, after it said that it would leave or without a word.
    fn gone(&mut self, id: SessionId) {
        let draining = self.sessions.peek(id).is_some_and(|session| session.draining);
        self.close(id, if draining { How::Left } else { How::Lost });
    }

    pub(super) fn close(&mut self, id: SessionId, how: How) {
        if let Some(session) = self.close_session(id, how) {
            tracing::info!(worker = session.name, "worker left");
            self.feed(Event::SessionClosed(id));
        }
    }

    /// Forgets a session, counts why, and remembers it for people.
    pub(super) fn close_session(&mut self, id: SessionId, how: How) -> Option<Session> {
        let session = self.sessions.close(id)?;
        self.telemetry.counted.sessions_closed.count(how.name());
        self.trace_end_of_all(id, &session.name, how.name());
        self.departed.note(&session, how, unix_ms());
        Some(session)
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Grant { session, lease, job, range, whole } => {
                self.telemetry.counted.grants.inc();
                self.traced.granted(session, lease, job, &range);
                self.define(session, job);
                let grant = Grant { job: job.0.to_vec().into(), start: range.start, end: range.end, whole };
                self.order(session, lease, Wish::Grant(grant));
            }
            Command::Shrink { session, lease, end } => self.order(session, lease, Wish::Shrink(end)),
            Command::Revoke { session, lease } => self.order(session, lease, Wish::Revoke(true)),
            Command::Abandon { session, lease } => {
                self.trace_end(session, lease, "abandoned");
                self.order(session, lease, Wish::Abandon(true));
            }
            Command::Persist(token) => {
                if let Some(offer) = self.offers.get(&token) {
                    let entry = Entry::Commit(offer.record.clone());
                    self.append(entry, After::Commit(token));
                }
            }
            Command::Compare(token) => {
                if let Some(Offer { record, .. }) = self.offers.get(&token) {
                    self.ask_ledger(Request::Lookup(token, record.job, record.range.start));
                }
            }
            Command::Answer(token, verdict) => self.answer(token, verdict),
            Command::RecordFailure { job, unit, worker, error } => {
                self.record_failure(job, unit, worker, error);
            }
            Command::Quarantine { job, unit } => {
                let Some(entry) = self.jobs.get_mut(&job) else { return };
                entry.quarantined.insert_merged(unit..unit + 1);
                self.telemetry.counted.units_quarantined.inc();
                self.append(Entry::Quarantine { job, unit }, After::Nothing);
                self.moved = true;
            }
            Command::Finished(job) => self.finished(job),
            Command::Claim(token) => self.write_vote(token, None),
            Command::Confirm { token, by } => self.write_vote(token, Some(by)),
            Command::Withdraw { job, range } => {
                self.append(Entry::Withdraw { job, range }, After::Nothing);
            }
            Command::QuarantineWorker { worker, job, range, digest, against } => {
                self.quarantine(worker, &Said { job, range, digest, against });
            }
            Command::Checked { job, committed, found } => self.checked(job, &committed, found),
            Command::Leave(session) => self.tell_to_leave(session),
            Command::Rests(session, rest_ms) => {
                if let Some(session) = self.sessions.peek(session) {
                    let (worker, seconds) = (&session.name, rest_ms.div_ceil(1000));
                    tracing::warn!(
                        worker,
                        "worker gets nothing for {seconds} s: too much in a row went wrong on it"
                    );
                }
            }
            Command::Close(session, reason) => {
                let (how, reason) = match reason {
                    CloseReason::Silent => {
                        (How::Silent, Refusal::NotNow("it was silent for too long".into()))
                    }
                    CloseReason::Superseded => (How::Superseded, Refusal::Superseded),
                    CloseReason::Quarantined => {
                        (How::Quarantined, Refusal::Invalid("its results are not believed".into()))
                    }
                };
                if let Some(session) = self.close_session(session, how) {
                    tracing::warn!(worker = session.name, "worker closed: {reason}");
                    session.dismiss(reason);
                }
            }
        }
    }

    fn order(&mut self, session: SessionId, lease: LeaseId, wish: Wish) {
        if let Some(session) = self.sessions.writing(session) {
            session.outbox().orders.push(Order { lease: lease.0, order: Some(wish) });
        }
    }

    /// Tells a worker what a job is, once a stream.
    fn define(&mut self, session: SessionId, job: JobId) {
        let (Some(session), Some(entry)) = (self.sessions.writing(session), self.jobs.get(&job)) else {
            return;
        };
        if session.told.insert(job) {
            let record = &entry.record;
            session.outbox().jobs.push(Job {
                job: job.0.to_vec().into(),
                kind: record.kind.clone(),
                revision: record.revision,
                settings: record.settings.clone(),
            });
        }
    }

    fn answer(&mut self, token: Token, verdict: Verdict) {
        let Some(offer) = self.offers.remove(&token) else { return };
        let wire = match verdict {
            Verdict::Accepted => WireVerdict::Accepted,
            Verdict::Duplicate => WireVerdict::Duplicate,
            Verdict::Overlap => WireVerdict::Overlap,
            Verdict::Conflict => WireVerdict::Conflict,
            Verdict::Unknown => WireVerdict::UnknownJob,
            Verdict::Refused => {
                self.telemetry.counted.commits.count("refused");
                return self.refuse(&offer);
            }
        };
        if verdict == Verdict::Conflict {
            return self.conflict(offer);
        }
        self.answer_wire(offer.session, offer.sequence, wire);
    }

    pub(super) fn answer_wire(&mut self, session: SessionId, sequence: u64, verdict: WireVerdict) {
        self.telemetry.counted.commits.count(match verdict {
            WireVerdict::Accepted => "accepted",
            WireVerdict::Duplicate => "duplicate",
            WireVerdict::Overlap => "overlap",
            WireVerdict::Conflict => "conflict",
            WireVerdict::UnknownJob => "unknown_job",
            WireVerdict::Malformed => "malformed",
            WireVerdict::Later => "later",
            WireVerdict::Unspecified => "other",
        });
        if let Some(session) = self.sessions.writing(session) {
            session.outbox().answers.push(v1::Answer { sequence, verdict: verdict.into() });
        }
    }

    /// Two results for one range: one of them is wrong. Both are kept, and the job stops.
    ///
    /// The worker hears of it only when the second one is durable too: until then it keeps its own copy.
    fn conflict(&mut self, offer: Offer) {
        let Offer { session, sequence, record: second, .. } = offer;
        let job = second.job;
        let Some(entry) = self.jobs.get_mut(&job) else {
            // The job was replaced by a fresh run while the ledger looked the range up.
            return self.answer_wire(session, sequence, WireVerdict::UnknownJob);
        };
        tracing::error!(?job, range = ?second.range, "two different results for one range: the job stops");
        self.telemetry.counted.conflicts.inc();
        entry.conflicts.push(second.clone());
        let ticket = self.ticket(Ticket::Conflict(session, sequence));
        self.append(Entry::Conflict(second), ticket);
        self.set_state(job, JobState::Conflicted, After::Nothing);
        self.feed(Event::JobRemoved(job));
        self.reread(job);
    }

    fn record_failure(&mut self, job: JobId, unit: u64, worker: WorkerId, error: String) {
        tracing::warn!(?job, unit, ?worker, "a unit failed: {error}");
        self.telemetry.counted.unit_failures.inc();
        let Some(entry) = self.jobs.get_mut(&job) else { return };
        entry.add_failure(unit, worker, error.clone());
        self.append(Entry::Failure { job, unit, worker, error }, After::Nothing);
        self.moved = true;
    }

    pub(super) fn set_state(&mut self, job: JobId, state: JobState, after: After) {
        let at_unix_ms = unix_ms();
        let Some(entry) = self.jobs.get_mut(&job) else { return };
        (entry.state, entry.state_unix_ms) = (state, at_unix_ms);
        self.append(Entry::State { job, state, at_unix_ms }, after);
        self.announce();
    }

    /// Every unit is done or given up, and so are those of the jobs that it needs. Nobody is told before the ledger has
    /// it.
    pub(super) fn finished(&mut self, job: JobId) {
        let is_finished =
            |entry: &JobEntry| entry.state == JobState::Running && self.waits_for(entry).is_none();
        if self.jobs.get(&job).is_some_and(is_finished) {
            let ticket = self.ticket(Ticket::Finished(job));
            self.append(Entry::State { job, state: JobState::Finished, at_unix_ms: unix_ms() }, ticket);
        }
    }
}

/// The time of day, for people; nothing is decided by it.
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

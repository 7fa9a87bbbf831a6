//! The engine around the scheduler: does what it is ordered, and doubts it.

use coordinator::scheduler::{
    Checked, CloseReason, Command, Comparison, Event, JobSpec, Need, Token, Verdict, Vote,
};
use rand::RngExt;

use crate::{
    chaos::{self, Chaos},
    ledger::Entry,
    world::{Down, Happening, Offered, Persisting, Sabotage, World},
};

/// What happened, to see that the simulation simulates.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// When everything was finished; not summed up.
    pub settled_ms: u64,
    pub steps: u64,
    pub commits: u64,
    pub duplicates: u64,
    pub overlaps: u64,
    pub conflicts: u64,
    pub unknown: u64,
    pub shrinks: u64,
    pub shrunk: u64,
    pub abandoned: u64,
    pub revoked: u64,
    pub silent: u64,
    pub superseded: u64,
    pub failures: u64,
    pub quarantined: u64,
    pub crashes: u64,
    pub finished: u64,
    pub claims: u64,
    pub confirmed: u64,
    pub liars: u64,
    pub withdrawn: u64,
    pub checked: u64,
    pub differ: u64,
    pub released: u64,
    pub left: u64,
    pub rests: u64,
}

impl Report {
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.fields().into_iter().zip(other.clone().fields()) {
            *mine += *theirs;
        }
    }

    pub fn is_eventful(&self) -> bool {
        self.clone().fields().iter().all(|count| **count >= 10)
    }

    fn fields(&mut self) -> [&mut u64; 25] {
        let Self { steps, commits, duplicates, overlaps, conflicts, unknown, shrinks, shrunk, .. } = self;
        let Self { abandoned, revoked, silent, superseded, failures, quarantined, crashes, finished, .. } =
            self;
        let Self { claims, confirmed, liars, withdrawn, checked, differ, released, left, rests, .. } = self;
        [
            steps,
            commits,
            duplicates,
            overlaps,
            conflicts,
            unknown,
            shrinks,
            shrunk,
            abandoned,
            revoked,
            silent,
            superseded,
            failures,
            quarantined,
            crashes,
            finished,
            claims,
            confirmed,
            liars,
            withdrawn,
            checked,
            differ,
            released,
            left,
            rests,
        ]
    }
}

impl World {
    /// One step of the scheduler, followed by the model, and what it orders.
    #[allow(clippy::needless_pass_by_value)] // as the scheduler's own
    pub fn step(&mut self, event: Event) -> Result<(), String> {
        let Some(scheduler) = &mut self.scheduler else { return Ok(()) };
        self.report.steps += 1;
        let lost = self.sabotage == Some(Sabotage::LoseReturn);
        let commands = match &event {
            Event::Returned { session, .. } if lost => scheduler.step(self.now, Event::Heard(*session)),
            Event::JobAdded { job, spec } if self.sabotage == Some(Sabotage::ForgetNeeds) => {
                let spec = JobSpec { need: Need::default(), ..spec.clone() };
                scheduler.step(self.now, Event::JobAdded { job: *job, spec })
            }
            _ => scheduler.step(self.now, event.clone()),
        };
        self.model
            .follow(scheduler, &event, &commands, &self.offers)
            .map_err(|error| format!("{error}\nafter {event:?}\n   -> {commands:?}"))?;
        self.report.shrunk += u64::from(matches!(event, Event::Shrunk { .. }));
        for command in commands {
            self.obey(command)?;
        }
        Ok(())
    }

    fn obey(&mut self, command: Command) -> Result<(), String> {
        match command {
            Command::Grant { session, .. }
            | Command::Shrink { session, .. }
            | Command::Revoke { session, .. }
            | Command::Abandon { session, .. } => {
                self.report.shrinks += u64::from(matches!(command, Command::Shrink { .. }));
                self.report.abandoned += u64::from(matches!(command, Command::Abandon { .. }));
                self.report.revoked += u64::from(matches!(command, Command::Revoke { .. }));
                self.send_down(session, Down::Order(command));
            }
            Command::Persist(token) => {
                let Offered { session, number, job, range, digest, worker, .. } =
                    self.persist(token, Persisting::Commit);
                self.write(Entry::Commit { token, job, range, digest, by: vec![worker] });
                if self.sabotage == Some(Sabotage::AnswerEarly) {
                    self.acknowledged.push(self.offers[&token].clone());
                    self.send_down(session, Down::Verdict(number));
                    if self.rng.random_bool(0.02) {
                        self.at(self.now, Happening::Chaos(Chaos::Crash));
                    }
                }
            }
            Command::Claim(token) => {
                self.report.claims += 1;
                let Offered { job, range, digest, worker, .. } = self.persist(token, Persisting::Claim);
                self.write(match self.sabotage {
                    Some(Sabotage::BelieveAnyone) => {
                        Entry::Commit { token, job, range, digest, by: vec![worker] }
                    }
                    _ => Entry::Claim { token, job, vote: Vote { range, worker, digest } },
                });
            }
            Command::Confirm { token, by } => {
                self.report.confirmed += 1;
                let Offered { job, range, digest, .. } = self.persist(token, Persisting::Confirm);
                let replicas = self.ledger.books[&job].replicas;
                let distinct: std::collections::BTreeSet<_> = by.iter().collect();
                if distinct.len() != by.len() || distinct.len() < replicas as usize {
                    return Err(format!("{range:?} is confirmed by {by:?}"));
                }
                self.write(Entry::Commit { token, job, range, digest, by });
            }
            Command::Withdraw { job, range } => self.write(Entry::Withdraw { job, range }),
            Command::QuarantineWorker { worker, .. } => {
                self.report.liars += 1;
                if !self.liars.contains(&worker) {
                    return Err(format!("{worker:?} never lied"));
                }
                self.banned.insert(worker);
                self.write(Entry::QuarantineWorker { worker });
            }
            Command::Checked { found, .. } => {
                self.report.checked += 1;
                self.report.differ += u64::from(matches!(found, Checked::Different { .. }));
            }
            Command::Compare(token) => {
                let delay = self.rng.random_range(0..=10);
                self.after(delay, Happening::Compared(self.epoch, token));
            }
            Command::Answer(token, verdict) => return self.answer(token, verdict),
            Command::RecordFailure { job, unit, worker, .. } => {
                self.report.failures += 1;
                self.write(Entry::Failure { job, unit, worker });
            }
            Command::Quarantine { job, unit } => {
                self.report.quarantined += 1;
                let mut workers = self.ledger.failures_of(job, unit);
                if !self.policy.sole_worker {
                    workers.sort();
                    workers.dedup();
                }
                if workers.len() < 2 {
                    return Err(format!("unit {unit} given up after {workers:?}"));
                }
                if workers.len() < 5 && !self.policy.sole_worker {
                    self.model.check_given_up(job, &workers)?;
                }
                self.write(Entry::Quarantine { job, unit });
            }
            Command::Finished(_) => self.report.finished += 1,
            Command::Leave(session) => {
                self.report.released += 1;
                self.send_down(session, Down::Order(command));
            }
            Command::Rests(..) => self.report.rests += 1,
            Command::Close(session, reason) => {
                match reason {
                    CloseReason::Silent => self.report.silent += 1,
                    CloseReason::Superseded => self.report.superseded += 1,
                    CloseReason::Quarantined => {}
                }
                if let Some(link) = self.links.get_mut(&session) {
                    link.cut = true;
                }
                let delay = self.rng.random_range(0..3_000);
                self.after(delay, Happening::WorkerNotices(session));
            }
        }
        Ok(())
    }

    fn persist(&mut self, token: Token, purpose: Persisting) -> Offered {
        let offer = self.offers.get_mut(&token).expect("checked by the model");
        offer.persisting = Some(purpose);
        offer.clone()
    }

    fn write(&mut self, entry: Entry) {
        if self.ledger.waiting.is_empty() {
            let delay = self.rng.random_range(1..=20);
            self.after(delay, Happening::Flush);
        }
        self.ledger.waiting.push_back(entry);
    }

    fn answer(&mut self, token: Token, verdict: Verdict) -> Result<(), String> {
        let offer = self.offers.remove(&token).ok_or_else(|| format!("{token:?} has its answer already"))?;
        let book = self.ledger.books.get(&offer.job);
        let known = self.scheduler.as_ref().and_then(|scheduler| scheduler.job(offer.job));
        let fits = known.is_some_and(|job| !offer.range.is_empty() && offer.range.end <= job.units);
        match verdict {
            Verdict::Accepted | Verdict::Duplicate => {
                self.report.commits += 1;
                self.report.duplicates += u64::from(verdict == Verdict::Duplicate);
                self.is_written(&offer)?;
                self.acknowledged.push(offer.clone());
            }
            Verdict::Overlap => {
                self.report.overlaps += 1;
                let cuts = book.is_some_and(|book| {
                    let across = |vote: &Vote| {
                        vote.range != offer.range
                            && vote.range.start < offer.range.end
                            && offer.range.start < vote.range.end
                    };
                    let waiting = self.offers.values().any(|other| {
                        other.job == offer.job
                            && other.persisting.is_some()
                            && other.range.start < offer.range.end
                            && offer.range.start < other.range.end
                    });
                    waiting
                        || book.claims.iter().any(across)
                        || book.compare(&offer.range, &offer.digest) == Comparison::Overlap
                });
                if !cuts {
                    return Err(format!("{offer:?} was refused"));
                }
            }
            Verdict::Conflict => {
                self.report.conflicts += 1;
                let book = self.ledger.books.get_mut(&offer.job).ok_or("conflict in no job")?;
                book.conflicted = true;
                let honest = chaos::digest(offer.job, &offer.range);
                if book.replicas > 1 {
                    return Err(format!("{offer:?} stops a job whose liars can be told"));
                }
                if offer.digest == honest && book.commits[&offer.range.start].1 == honest {
                    return Err(format!("{offer:?} is taken for a lie"));
                }
                self.at(self.now, Happening::Remove(self.epoch, offer.job));
            }
            Verdict::Refused => {
                if !self.banned.contains(&offer.worker) && !self.liars.contains(&offer.worker) {
                    return Err(format!("{offer:?} is not believed"));
                }
            }
            Verdict::Unknown => {
                self.report.unknown += 1;
                if fits {
                    return Err(format!("{offer:?} is said to be unknown"));
                }
            }
        }
        self.send_down(offer.session, Down::Verdict(offer.number));
        Ok(())
    }
}

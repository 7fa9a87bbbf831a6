//! A second opinion on the scheduler's books, kept from its events and commands alone.

use std::collections::{BTreeMap, BTreeSet};

use coordinator::scheduler::{
    Command, Event, JobId, LeaseId, RangeSet, Scheduler, SessionId, Token, Verdict,
};

use crate::world::Offered;

#[derive(Debug)]
struct Held {
    session: SessionId,
    job: JobId,
    units: RangeSet,
}

#[derive(Debug, Default)]
struct JobModel {
    units: u64,
    paused: bool,
    finished: bool,
    done: RangeSet,
    in_flight: RangeSet,
    quarantined: RangeSet,
}

/// What must be true of the scheduler, by naive bookkeeping.
#[derive(Debug, Default)]
pub struct Model {
    jobs: BTreeMap<JobId, JobModel>,
    /// Credit by session.
    sessions: BTreeMap<SessionId, (u64, bool)>,
    held: BTreeMap<LeaseId, Held>,
    ever: BTreeSet<LeaseId>,
    steps: u64,
}

impl Model {
    /// Takes one step in, and compares.
    pub fn follow(
        &mut self,
        scheduler: &Scheduler,
        event: &Event,
        commands: &[Command],
        offers: &BTreeMap<Token, Offered>,
    ) -> Result<(), String> {
        self.event(event, offers);
        for command in commands {
            self.command(event, command, offers)?;
        }
        self.held.retain(|_, held| !held.units.is_empty());
        self.steps += 1;
        self.compare(scheduler)
    }

    /// Whether the job has ended by what was told.
    pub fn is_finished(&self, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|job| job.finished)
    }

    fn event(&mut self, event: &Event, offers: &BTreeMap<Token, Offered>) {
        match event {
            Event::JobAdded { job, spec } => {
                let mut model = JobModel { units: spec.units, paused: spec.paused, ..JobModel::default() };
                model.done = spec.done.clone();
                model.quarantined = spec.quarantined.clone();
                for range in spec.done.iter() {
                    model.quarantined.remove(&range);
                }
                for offer in offers.values().filter(|offer| offer.job == *job && offer.persisting) {
                    model.in_flight.insert_merged(offer.range.clone());
                    model.quarantined.remove(&offer.range);
                }
                for range in spec.done.iter() {
                    model.in_flight.remove(&range);
                }
                self.jobs.entry(*job).or_insert(model);
            }
            Event::JobPaused(job) => self.with(*job, |job| job.paused = true),
            Event::JobResumed(job) => self.with(*job, |job| job.paused = false),
            Event::JobRemoved(job) => drop(self.jobs.remove(job)),
            Event::JobRetried(job) => self.with(*job, |job| {
                job.quarantined = RangeSet::new();
                job.finished = false;
            }),
            Event::SessionOpened { session, slots, prefetch, .. } => {
                self.sessions.entry(*session).or_insert((u64::from(*slots) + u64::from(*prefetch), false));
            }
            Event::SessionClosed(session) => self.close(*session),
            Event::Draining(session) => drop(self.sessions.get_mut(session).map(|session| session.1 = true)),
            Event::Returned { session, lease } => self.give_back(*session, *lease, 0),
            Event::Shrunk { session, lease, end } => self.give_back(*session, *lease, *end),
            Event::Persisted(token) => {
                if let Some(offer) = offers.get(token) {
                    self.with(offer.job, |job| {
                        job.in_flight.remove(&offer.range);
                        job.done.insert_merged(offer.range.clone());
                    });
                }
            }
            _ => {}
        }
    }

    fn command(
        &mut self,
        event: &Event,
        command: &Command,
        offers: &BTreeMap<Token, Offered>,
    ) -> Result<(), String> {
        match command {
            Command::Grant { session, lease, job, range } => {
                return self
                    .granted(*session, *lease, *job, range)
                    .map_err(|error| format!("{command:?}: {error}"));
            }
            Command::Abandon { lease, .. } => drop(self.held.remove(lease)),
            Command::Close(session, _) => self.close(*session),
            Command::Persist(token) => {
                let offer = offers.get(token).ok_or_else(|| format!("{command:?} of nothing"))?;
                for held in self.held.values_mut().filter(|held| held.job == offer.job) {
                    held.units.remove(&offer.range);
                }
                let job = self.jobs.get_mut(&offer.job).ok_or_else(|| format!("{command:?} for no job"))?;
                job.quarantined.remove(&offer.range);
                if job.done.intersects(&offer.range) || !job.in_flight.insert(offer.range.clone()) {
                    return Err(format!("{:?} would be counted twice", offer.range));
                }
            }
            Command::Answer(token, verdict) if *verdict != Verdict::Accepted => {
                let offer = offers.get(token).ok_or_else(|| format!("{command:?} to nothing"))?;
                for held in self.held.values_mut() {
                    if held.job == offer.job && held.session == offer.session {
                        held.units.remove(&offer.range);
                    }
                }
            }
            Command::RecordFailure { unit, .. } => {
                let Event::Failed { session, lease, .. } = event else {
                    return Err(format!("{command:?} from nothing"));
                };
                let held =
                    self.held_by(*session, *lease).ok_or_else(|| format!("{command:?} without a lease"))?;
                if held.units.remove(&(*unit..unit + 1)) == 0 {
                    return Err(format!("{command:?} outside of the lease"));
                }
            }
            Command::Quarantine { job, unit } => self.with(*job, |job| {
                job.quarantined.insert_merged(*unit..unit + 1);
            }),
            Command::Finished(id) => {
                let job =
                    self.jobs.get_mut(id).ok_or_else(|| format!("{command:?}, which does not exist"))?;
                if std::mem::replace(&mut job.finished, true) {
                    return Err(format!("{command:?} for the second time"));
                }
                if job.done.units() + job.quarantined.units() != job.units {
                    return Err(format!(
                        "{command:?} with {:?} done and {:?} given up",
                        job.done, job.quarantined
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn granted(
        &mut self,
        session: SessionId,
        lease: LeaseId,
        job_id: JobId,
        range: &std::ops::Range<u64>,
    ) -> Result<(), String> {
        let job = self.jobs.get(&job_id).ok_or("no such job")?;
        let &(credit, draining) = self.sessions.get(&session).ok_or("no such session")?;
        let taken = [&job.done, &job.in_flight, &job.quarantined].iter().any(|set| set.intersects(range));
        let leased = self.held.values().any(|held| held.job == job_id && held.units.intersects(range));
        let holds =
            self.held.values().filter(|held| held.session == session && !held.units.is_empty()).count()
                as u64;
        let wrong = [
            (range.is_empty() || range.end > job.units, "outside of the job"),
            (job.paused, "the job is paused"),
            (draining, "the session takes no more"),
            (taken, "done, in flight or given up"),
            (leased, "leased already"),
            (holds >= credit, "no credit"),
            (!self.ever.insert(lease), "lease known"),
        ];
        if let Some((_, error)) = wrong.iter().find(|(wrong, _)| *wrong) {
            return Err((*error).into());
        }
        self.held
            .insert(lease, Held { session, job: job_id, units: std::iter::once(range.clone()).collect() });
        Ok(())
    }

    fn compare(&self, scheduler: &Scheduler) -> Result<(), String> {
        scheduler.check()?;
        let sessions: Vec<_> = scheduler.sessions().map(|session| session.session).collect();
        if !sessions.iter().eq(self.sessions.keys()) {
            return Err(format!("sessions {sessions:?}, by my books {:?}", self.sessions.keys()));
        }
        if scheduler.jobs().count() != self.jobs.len() {
            return Err("another number of jobs than by my books".into());
        }
        for status in scheduler.jobs() {
            let model = self.jobs.get(&status.job).ok_or("a job that should not be")?;
            let held = self.held.values().filter(|held| held.job == status.job);
            let leased: u64 = held.map(|held| held.units.units()).sum();
            let rest = status.pending + status.suspects;
            let mine = [model.done.units(), model.in_flight.units(), leased, model.quarantined.units()];
            if mine != [status.done, status.in_flight, status.leased, status.quarantined]
                || mine.iter().sum::<u64>() + rest != model.units
            {
                return Err(format!(
                    "{status:?}; by my books done, in flight, leased, given up are {mine:?}"
                ));
            }
            let seldom = self.steps.is_multiple_of(64);
            if seldom && scheduler.done(status.job).as_ref() != Some(&model.done) {
                return Err(format!(
                    "{:?} are done, by my books {:?}",
                    scheduler.done(status.job),
                    model.done
                ));
            }
            if seldom && scheduler.quarantined(status.job).as_ref() != Some(&model.quarantined) {
                return Err(format!("{:?} given up, by my books {:?}", status.job, model.quarantined));
            }
        }
        Ok(())
    }

    fn with(&mut self, job: JobId, change: impl FnOnce(&mut JobModel)) {
        if let Some(job) = self.jobs.get_mut(&job) {
            change(job);
        }
    }

    fn held_by(&mut self, session: SessionId, lease: LeaseId) -> Option<&mut Held> {
        self.held.get_mut(&lease).filter(|held| held.session == session)
    }

    fn give_back(&mut self, session: SessionId, lease: LeaseId, from: u64) {
        if let Some(held) = self.held_by(session, lease) {
            held.units.remove(&(from..u64::MAX));
        }
    }

    fn close(&mut self, session: SessionId) {
        self.sessions.remove(&session);
        self.held.retain(|_, held| held.session != session);
    }
}

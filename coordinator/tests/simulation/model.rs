//! A second opinion on the scheduler's books, kept from its events and commands alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coordinator::scheduler::{
    Abilities, Command, Event, JobId, LeaseId, Need, RangeSet, Scheduler, SessionId, Token, Verdict, WorkerId,
};

use crate::world::{Offered, Persisting};

#[derive(Debug)]
struct Held {
    session: SessionId,
    job: JobId,
    units: RangeSet,
    /// Holds a range that is computed once more, and no units.
    whole: bool,
}

#[derive(Debug, Default)]
struct JobModel {
    units: u64,
    paused: bool,
    finished: bool,
    done: RangeSet,
    in_flight: RangeSet,
    quarantined: RangeSet,
    need: Need,
    /// Workers that have handed something in.
    able: BTreeSet<WorkerId>,
    /// Ranges that do not count yet, by start: end, and whose results there are.
    claims: BTreeMap<u64, (u64, BTreeSet<WorkerId>)>,
}

impl JobModel {
    fn claimed(&self) -> RangeSet {
        let mut claimed = RangeSet::new();
        for (&start, &(end, _)) in &self.claims {
            claimed.insert_merged(start..end);
        }
        claimed
    }

    fn claim(&mut self, offer: &Offered) {
        let claim = self.claims.entry(offer.range.start).or_insert((offer.range.end, BTreeSet::new()));
        claim.1.insert(offer.worker);
    }
}

/// What must be true of the scheduler, by naive bookkeeping.
#[derive(Debug, Default)]
pub struct Model {
    jobs: BTreeMap<JobId, JobModel>,
    /// Credit by session, whether it drains, and whose it is.
    sessions: BTreeMap<SessionId, (u64, bool, WorkerId)>,
    abilities: BTreeMap<SessionId, Arc<Abilities>>,
    /// Who of a pool may be told to leave, and how many must stay.
    releases: BTreeMap<String, (usize, BTreeSet<WorkerId>)>,
    liars: BTreeSet<WorkerId>,
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
        let failing = self.take_failing(event);
        self.forget_unclaimed(event, offers);
        for command in commands {
            self.command((event, failing), command, offers)?;
            self.forget_unclaimed(event, offers);
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
                model.need = spec.need.clone();
                for range in spec.done.iter() {
                    model.quarantined.remove(&range);
                }
                for vote in spec.claims.iter().filter(|vote| !self.liars.contains(&vote.worker)) {
                    if spec.replicas > 1 && !spec.done.intersects(&vote.range) {
                        let claim = model.claims.entry(vote.range.start);
                        claim.or_insert((vote.range.end, BTreeSet::new())).1.insert(vote.worker);
                        model.quarantined.remove(&vote.range);
                    }
                }
                for offer in offers.values().filter(|offer| offer.job == *job) {
                    match offer.persisting {
                        None => continue,
                        Some(Persisting::Commit) => drop(model.in_flight.insert_merged(offer.range.clone())),
                        Some(Persisting::Claim) if self.liars.contains(&offer.worker) => continue,
                        Some(_) if spec.done.intersects(&offer.range) => continue,
                        Some(_) => model.claim(offer),
                    }
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
            Event::JobNeeds(job, need) => self.with(*job, |job| job.need = need.clone()),
            Event::Release { pool, keep } => {
                let members = self.staying(pool).collect();
                self.releases.insert(pool.clone(), (*keep as usize, members));
            }
            Event::Commit { worker, job, .. } => self.with(*job, |job| {
                job.able.insert(*worker);
            }),
            Event::SessionOpened { session, worker, slots, prefetch, abilities } => {
                let credit = u64::from(*slots) + u64::from(*prefetch);
                if !self.liars.contains(worker) {
                    self.sessions.entry(*session).or_insert((credit, false, *worker));
                    self.abilities.entry(*session).or_insert_with(|| Arc::clone(abilities));
                }
            }
            Event::WorkerQuarantined(worker) => self.expelled(*worker),
            Event::Withdrawn { job, ranges } => self.with(*job, |job| {
                for range in ranges {
                    job.done.remove(range);
                }
                job.finished &= job.done.units() + job.quarantined.units() == job.units;
            }),
            Event::SessionClosed(session) => self.close(*session),
            Event::Draining(session) => drop(self.sessions.get_mut(session).map(|session| session.1 = true)),
            Event::Returned { session, lease } => {
                if let Some(held) = self.held_by(*session, *lease) {
                    held.units = RangeSet::new();
                }
            }
            Event::Shrunk { session, lease, end } => self.give_back(*session, *lease, *end),
            Event::Persisted(token) => {
                let Some(offer) = offers.get(token) else { return };
                if offer.persisting != Some(Persisting::Claim) {
                    self.with(offer.job, |job| {
                        job.in_flight.remove(&offer.range);
                        job.claims.remove(&offer.range.start);
                        job.done.insert_merged(offer.range.clone());
                    });
                }
            }
            _ => {}
        }
    }

    fn command(
        &mut self,
        (event, failing): (&Event, bool),
        command: &Command,
        offers: &BTreeMap<Token, Offered>,
    ) -> Result<(), String> {
        match command {
            Command::Grant { session, lease, job, range, whole } => {
                return self
                    .granted((*session, *lease), *job, range, *whole)
                    .map_err(|error| format!("{command:?}: {error}"));
            }
            Command::Claim(token) | Command::Confirm { token, .. } => {
                let offer = offers.get(token).ok_or_else(|| format!("{command:?} of nothing"))?;
                return self.voted(offer).map_err(|error| format!("{command:?}: {error}"));
            }
            Command::Withdraw { job, range } => {
                self.with(*job, |job| drop(job.claims.remove(&range.start)));
            }
            Command::QuarantineWorker { worker, .. } => self.expelled(*worker),
            Command::Abandon { lease, .. } => drop(self.held.remove(lease)),
            Command::Close(session, _) => self.close(*session),
            Command::Persist(token) => {
                let offer = offers.get(token).ok_or_else(|| format!("{command:?} of nothing"))?;
                for held in self.held.values_mut().filter(|held| held.job == offer.job) {
                    held.units.remove(&offer.range);
                }
                let job = self.jobs.get_mut(&offer.job).ok_or_else(|| format!("{command:?} for no job"))?;
                job.quarantined.remove(&offer.range);
                let claimed = job.claimed().intersects(&offer.range);
                if claimed || job.done.intersects(&offer.range) || !job.in_flight.insert(offer.range.clone())
                {
                    return Err(format!("{:?} would be counted twice", offer.range));
                }
            }
            Command::Answer(token, verdict) if *verdict != Verdict::Accepted => {
                let offer = offers.get(token).ok_or_else(|| format!("{command:?} to nothing"))?;
                for held in self.held.values_mut() {
                    let all = held.units.iter().eq(std::iter::once(offer.range.clone()));
                    if held.job == offer.job && held.session == offer.session && (all || !held.whole) {
                        held.units.remove(&offer.range);
                    }
                }
            }
            Command::RecordFailure { unit, .. } => {
                let Event::Failed { session, lease, .. } = event else {
                    return Err(format!("{command:?} from nothing"));
                };
                if failing {
                    return Ok(());
                }
                let held =
                    self.held_by(*session, *lease).ok_or_else(|| format!("{command:?} without a lease"))?;
                if held.units.remove(&(*unit..unit + 1)) == 0 {
                    return Err(format!("{command:?} outside of the lease"));
                }
            }
            Command::Quarantine { job, unit } => self.with(*job, |job| {
                job.quarantined.insert_merged(*unit..unit + 1);
            }),
            Command::Leave(session) => {
                return self.leaves(*session).map_err(|error| format!("{command:?}: {error}"));
            }
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
        (session, lease): (SessionId, LeaseId),
        job_id: JobId,
        range: &std::ops::Range<u64>,
        whole: bool,
    ) -> Result<(), String> {
        let job = self.jobs.get(&job_id).ok_or("no such job")?;
        let &(credit, draining, worker) = self.sessions.get(&session).ok_or("no such session")?;
        let claim = job.claims.get(&range.start).filter(|claim| claim.0 == range.end);
        let taken = if whole {
            claim.map_or(!job.done.contains(range), |claim| claim.1.contains(&worker))
        } else {
            let sets = [&job.done, &job.in_flight, &job.quarantined, &job.claimed()];
            sets.iter().any(|set| set.intersects(range))
        };
        let same = |held: &&Held| held.job == job_id && held.whole == whole;
        let leased = self.held.values().filter(same).any(|held| held.units.intersects(range));
        let holds =
            self.held.values().filter(|held| held.session == session && !held.units.is_empty()).count()
                as u64;
        let wrong = [
            (range.is_empty() || range.end > job.units, "outside of the job"),
            (job.paused, "the job is paused"),
            (draining, "the session takes no more"),
            (!job.need.met_by(&self.abilities[&session]), "it lacks what the job needs"),
            (taken, "done, in flight, claimed or given up"),
            (leased, "leased already"),
            (holds >= credit, "no credit"),
            (!self.ever.insert(lease), "lease known"),
        ];
        if let Some((_, error)) = wrong.iter().find(|(wrong, _)| *wrong) {
            return Err((*error).into());
        }
        self.held.insert(
            lease,
            Held { session, job: job_id, units: std::iter::once(range.clone()).collect(), whole },
        );
        Ok(())
    }

    /// Workers of a pool that take leases.
    fn staying<'a>(&'a self, pool: &'a str) -> impl Iterator<Item = WorkerId> + 'a {
        let staying = self.sessions.iter().filter(|(_, session)| !session.1);
        let in_pool = move |id: &SessionId| pool.is_empty() || self.abilities[id].pool() == pool;
        staying.filter(move |(id, _)| in_pool(id)).map(|(_, session)| session.2)
    }

    /// Whoever leaves is one too many of a pool.
    fn leaves(&mut self, session: SessionId) -> Result<(), String> {
        let &(_, draining, worker) = self.sessions.get(&session).ok_or("no such session")?;
        let own = self.abilities[&session].pool().to_owned();
        let is_surplus = |pool: &str| {
            self.releases.get(pool).is_some_and(|(keep, members)| {
                let staying = self.staying(pool).filter(|worker| members.contains(worker)).count();
                members.contains(&worker) && staying > *keep
            })
        };
        if draining || !(is_surplus("") || is_surplus(&own)) {
            return Err(format!("it could stay: {:?}", self.releases));
        }
        for (_, members) in self.releases.values_mut() {
            members.remove(&worker);
        }
        self.sessions.entry(session).and_modify(|session| session.1 = true);
        Ok(())
    }

    /// Whether so few failures may give a unit up: somebody can compute the job, or nobody else is there.
    pub fn check_given_up(&self, id: JobId, failed_on: &[WorkerId]) -> Result<(), String> {
        let job = self.jobs.get(&id).ok_or("a unit of no job")?;
        let others = self.sessions.iter().filter(|(session, of)| {
            !of.1 && !failed_on.contains(&of.2) && job.need.met_by(&self.abilities[session])
        });
        let others: Vec<_> = others.map(|(_, session)| session.2).collect();
        if others.is_empty() || failed_on.iter().any(|worker| job.able.contains(worker)) {
            return Ok(());
        }
        Err(format!(
            "a unit is given up after {failed_on:?}, who can do nothing, and {others:?} were not asked"
        ))
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
            let held = self.held.values().filter(|held| held.job == status.job && !held.whole);
            let leased: u64 = held.map(|held| held.units.units()).sum();
            let rest = status.pending + status.suspects;
            let claimed = model.claimed().units();
            let mine =
                [model.done.units(), model.in_flight.units(), leased, model.quarantined.units(), claimed];
            if mine != [status.done, status.in_flight, status.leased, status.quarantined, status.claimed]
                || mine.iter().sum::<u64>() + rest != model.units
            {
                return Err(format!(
                    "{status:?}; by my books done, in flight, leased, given up, claimed are {mine:?}"
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
        // One that is to be committed whole is not shortened.
        if let Some(held) = self.held_by(session, lease)
            && !held.whole
        {
            held.units.remove(&(from..u64::MAX));
        }
    }

    /// A range that is computed once more is given back when a unit of it fails. True if that is what happened.
    fn take_failing(&mut self, event: &Event) -> bool {
        let Event::Failed { session, lease, unit, .. } = event else { return false };
        let at = *unit..unit.saturating_add(1);
        let failing =
            self.held_by(*session, *lease).is_some_and(|held| held.whole && held.units.contains(&at));
        if failing {
            self.held.remove(lease);
        }
        failing
    }

    /// A result that waits for others, or agrees with them.
    fn voted(&mut self, offer: &Offered) -> Result<(), String> {
        let job = self.jobs.get_mut(&offer.job).ok_or("no job")?;
        let range = &offer.range;
        let known = job.claims.get(&range.start).is_some_and(|claim| claim.0 == range.end);
        if job.done.intersects(range) && job.done.contains(range) {
            // Held against what counts already.
        } else if known {
            job.claim(offer);
        } else {
            if job.done.intersects(range)
                || job.in_flight.intersects(range)
                || job.claimed().intersects(range)
            {
                return Err("cuts across others".into());
            }
            job.claim(offer);
            job.quarantined.remove(range);
            for held in self.held.values_mut().filter(|held| held.job == offer.job && !held.whole) {
                held.units.remove(range);
            }
        }
        self.held.retain(|_, held| !held.whole || held.job != offer.job || !held.units.contains(range));
        Ok(())
    }

    fn expelled(&mut self, worker: WorkerId) {
        self.liars.insert(worker);
        let own: Vec<_> =
            self.sessions.iter().filter(|(_, session)| session.2 == worker).map(|(&id, _)| id).collect();
        own.into_iter().for_each(|session| self.close(session));
        for job in self.jobs.values_mut() {
            for claim in job.claims.values_mut() {
                claim.1.remove(&worker);
            }
        }
    }

    /// Ranges of which nobody who is believed says anything return to the pool, unless something is on its way to the
    /// disk.
    fn forget_unclaimed(&mut self, event: &Event, offers: &BTreeMap<Token, Offered>) {
        for (id, job) in &mut self.jobs {
            job.claims.retain(|&start, claim| {
                let range = start..claim.0;
                !claim.1.is_empty()
                    || offers.iter().any(|(token, offer)| {
                        let waits = offer.persisting.is_some() && *event != Event::Persisted(*token);
                        waits && offer.job == *id && offer.range == range
                    })
            });
        }
    }

    fn close(&mut self, session: SessionId) {
        self.sessions.remove(&session);
        self.abilities.remove(&session);
        self.held.retain(|_, held| held.session != session);
    }
}

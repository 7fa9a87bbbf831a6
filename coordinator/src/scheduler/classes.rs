//! Sessions and jobs, sorted by who may compute what.
//!
//! Jobs that need the same of a worker share a need, and sessions that meet the same needs share a class. There are few of
//! both, whatever the number of jobs and sessions: so a session that fits no job costs a step nothing, and no step looks at
//! every session with every job.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Abilities, JobId, Need, SessionId, session::Appetite};

/// A need in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NeedId(u64);

/// A class. Does not outlive the next new need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClassId(u64);

/// Jobs that need the same.
#[derive(Debug)]
struct Needed {
    need: Need,
    jobs: usize,
    /// Those that have something to grant, the one that got least first.
    ready: BTreeSet<(u128, JobId)>,
    /// Slots of all sessions that meet it.
    slots: u64,
}

/// Sessions that meet the same needs.
#[derive(Debug, Default)]
pub(super) struct Class {
    /// Ascending.
    pub fits: Vec<NeedId>,
    pub sessions: BTreeSet<SessionId>,
    /// Those that should get leases, the neediest first.
    pub hungry: BTreeSet<(Appetite, SessionId)>,
}

/// A session that takes leases, as the classes see it.
#[derive(Debug)]
struct Member {
    abilities: Arc<Abilities>,
    slots: u32,
    class: ClassId,
    queued: Option<Appetite>,
}

/// All needs, all classes.
#[derive(Debug, Default)]
pub(super) struct Classes {
    ids: BTreeMap<Need, NeedId>,
    needs: BTreeMap<NeedId, Needed>,
    last_need: u64,
    by_fits: BTreeMap<Vec<NeedId>, ClassId>,
    by_id: BTreeMap<ClassId, Class>,
    last_class: u64,
    members: BTreeMap<SessionId, Member>,
    /// Members by the kind and revision of jobs that they know.
    knowing: BTreeMap<String, BTreeMap<u32, usize>>,
}

impl Classes {
    pub(super) const fn new() -> Self {
        Self {
            ids: BTreeMap::new(),
            needs: BTreeMap::new(),
            last_need: 0,
            by_fits: BTreeMap::new(),
            by_id: BTreeMap::new(),
            last_class: 0,
            members: BTreeMap::new(),
            knowing: BTreeMap::new(),
        }
    }

    /// A job comes in. Costs a look at every session when nothing like it was needed before.
    pub(super) fn add_job(&mut self, need: Need) -> NeedId {
        if let Some(&id) = self.ids.get(&need) {
            if let Some(needed) = self.needs.get_mut(&id) {
                needed.jobs += 1;
            }
            return id;
        }
        // What no job needs any more has served its time: it is kept for the next job of its kind until now.
        self.needs.retain(|_, needed| needed.jobs > 0);
        self.ids.retain(|_, id| self.needs.contains_key(id));
        self.last_need += 1;
        let id = NeedId(self.last_need);
        self.ids.insert(need.clone(), id);
        self.needs.insert(id, Needed { need, jobs: 1, ready: BTreeSet::new(), slots: 0 });
        self.sort_anew();
        id
    }

    /// A job goes; it must not be ready.
    pub(super) fn remove_job(&mut self, id: NeedId) {
        if let Some(needed) = self.needs.get_mut(&id) {
            needed.jobs = needed.jobs.saturating_sub(1);
        }
    }

    /// Moves a job in the queue of those that have something to grant.
    pub(super) fn queue_job(&mut self, id: NeedId, job: JobId, from: Option<u128>, to: Option<u128>) {
        let Some(needed) = self.needs.get_mut(&id) else { return };
        if let Some(pass) = from {
            needed.ready.remove(&(pass, job));
        }
        if let Some(pass) = to {
            needed.ready.insert((pass, job));
        }
    }

    /// A session comes in, or takes leases again.
    pub(super) fn add_session(&mut self, session: SessionId, abilities: Arc<Abilities>, slots: u32) {
        let class = self.class_for(&abilities);
        self.enter(session, slots, class);
        for (kind, revision) in &abilities.kinds {
            *self.knowing.entry(kind.clone()).or_default().entry(*revision).or_default() += 1;
        }
        self.members.insert(session, Member { abilities, slots, class, queued: None });
    }

    /// A session takes no more leases.
    pub(super) fn remove_session(&mut self, session: SessionId) {
        let Some(member) = self.members.remove(&session) else { return };
        for (kind, revision) in &member.abilities.kinds {
            let Some(revisions) = self.knowing.get_mut(kind) else { continue };
            if let Some(count) = revisions.get_mut(revision) {
                *count = count.saturating_sub(1);
            }
            revisions.retain(|_, count| *count > 0);
            if revisions.is_empty() {
                self.knowing.remove(kind);
            }
        }
        let Some(class) = self.by_id.get_mut(&member.class) else { return };
        class.sessions.remove(&session);
        if let Some(appetite) = member.queued {
            class.hungry.remove(&(appetite, session));
        }
        for need in &class.fits {
            if let Some(needed) = self.needs.get_mut(need) {
                needed.slots = needed.slots.saturating_sub(u64::from(member.slots));
            }
        }
        if class.sessions.is_empty() {
            self.by_fits.remove(&class.fits);
            self.by_id.remove(&member.class);
        }
    }

    /// Moves a session in the queue for grants.
    pub(super) fn queue_session(&mut self, session: SessionId, wanted: Option<Appetite>) {
        let Some(member) = self.members.get_mut(&session) else { return };
        let Some(class) = self.by_id.get_mut(&member.class).filter(|_| member.queued != wanted) else {
            return;
        };
        if let Some(appetite) = member.queued {
            class.hungry.remove(&(appetite, session));
        }
        if let Some(appetite) = wanted {
            class.hungry.insert((appetite, session));
        }
        member.queued = wanted;
    }

    /// Takes the neediest session that some job with work fits out of the queue.
    pub(super) fn pop_neediest(&mut self) -> Option<(ClassId, Appetite, SessionId)> {
        let needs = &self.needs;
        let has_work = |class: &Class| {
            class.fits.iter().any(|need| needs.get(need).is_some_and(|needed| !needed.ready.is_empty()))
        };
        let first = self.by_id.iter().filter_map(|(&id, class)| {
            let &(appetite, session) = class.hungry.first()?;
            has_work(class).then_some((appetite, session, id))
        });
        let (appetite, session, id) = first.min()?;
        self.queue_session(session, None);
        Some((id, appetite, session))
    }

    /// The jobs that a session fits and that have something to grant, the one that got least first.
    pub(super) fn ready_for(&self, class: ClassId) -> impl Iterator<Item = JobId> + '_ {
        let fits = self.by_id.get(&class).map_or(&[][..], |class| &class.fits);
        let mut queues: Vec<_> =
            fits.iter().filter_map(|need| self.needs.get(need)).map(|n| n.ready.iter().peekable()).collect();
        std::iter::from_fn(move || {
            let first = queues.iter_mut().filter_map(|queue| Some((*queue.peek()?, queue)));
            let (_, queue) = first.min_by_key(|(front, _)| *front)?;
            queue.next().map(|&(_, job)| job)
        })
    }

    /// Sessions that take leases.
    pub(super) fn members(&self) -> usize {
        self.members.len()
    }

    /// Whether one of them knows a job kind in this revision.
    pub(super) fn is_known(&self, kind: &str, revision: u32) -> bool {
        self.knowing.get(kind).is_some_and(|revisions| revisions.contains_key(&revision))
    }

    /// Slots of the sessions that meet a need.
    pub(super) fn slots(&self, need: NeedId) -> u64 {
        self.needs.get(&need).map_or(0, |needed| needed.slots)
    }

    /// Sessions that take leases and meet a need.
    pub(super) fn sessions_for(&self, need: NeedId) -> impl Iterator<Item = SessionId> + '_ {
        let fit = self.by_id.values().filter(move |class| class.fits.binary_search(&need).is_ok());
        fit.flat_map(|class| class.sessions.iter().copied())
    }

    /// The same, counted.
    pub(super) fn count_for(&self, need: NeedId) -> usize {
        let fit = self.by_id.values().filter(|class| class.fits.binary_search(&need).is_ok());
        fit.map(|class| class.sessions.len()).sum()
    }

    /// Whether a session takes leases and meets a need.
    pub(super) fn fits(&self, session: SessionId, need: NeedId) -> bool {
        let class = self.members.get(&session).and_then(|member| self.by_id.get(&member.class));
        class.is_some_and(|class| class.fits.binary_search(&need).is_ok())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Class> {
        self.by_id.values()
    }

    /// Sessions in the queue for grants, the neediest of each class first.
    pub(super) fn hungry(&self) -> impl Iterator<Item = (Appetite, SessionId)> + '_ {
        self.by_id.values().flat_map(|class| class.hungry.iter().copied())
    }

    fn class_for(&mut self, abilities: &Abilities) -> ClassId {
        let fits: Vec<_> = self
            .needs
            .iter()
            .filter(|(_, needed)| needed.need.met_by(abilities))
            .map(|(&id, _)| id)
            .collect();
        if let Some(&id) = self.by_fits.get(&fits) {
            return id;
        }
        self.last_class += 1;
        let id = ClassId(self.last_class);
        self.by_fits.insert(fits.clone(), id);
        self.by_id.insert(id, Class { fits, ..Class::default() });
        id
    }

    fn enter(&mut self, session: SessionId, slots: u32, id: ClassId) {
        let Some(class) = self.by_id.get_mut(&id) else { return };
        class.sessions.insert(session);
        for need in &class.fits {
            if let Some(needed) = self.needs.get_mut(need) {
                needed.slots += u64::from(slots);
            }
        }
    }

    fn sort_anew(&mut self) {
        self.by_id.clear();
        self.by_fits.clear();
        self.needs.values_mut().for_each(|needed| needed.slots = 0);
        for (session, mut member) in std::mem::take(&mut self.members) {
            let wanted = member.queued.take();
            member.class = self.class_for(&member.abilities);
            self.enter(session, member.slots, member.class);
            self.members.insert(session, member);
            self.queue_session(session, wanted);
        }
    }

    /// Recounts everything, given who takes leases, and how the jobs are queued by need.
    pub(super) fn check(
        &self,
        sessions: &BTreeMap<SessionId, Option<Appetite>>,
        jobs: &BTreeMap<JobId, (NeedId, Option<u128>)>,
    ) -> Result<(), String> {
        let members =
            self.members.iter().map(|(&id, member)| (id, member.queued)).collect::<BTreeMap<_, _>>();
        if members != *sessions {
            return Err(format!("{members:?} take leases, should be {sessions:?}"));
        }
        let (mut slots, mut seen, mut hungry) = (BTreeMap::<NeedId, u64>::new(), 0, 0);
        for class in self.by_id.values() {
            for session in &class.sessions {
                let member = self.members.get(session).ok_or("a session that is gone is in a class")?;
                let fits =
                    |need: &NeedId| self.needs.get(need).is_some_and(|n| n.need.met_by(&member.abilities));
                if !class.fits.iter().all(fits)
                    || self.needs.keys().filter(|id| fits(id)).count() != class.fits.len()
                {
                    return Err(format!("{session:?} is in the wrong class {:?}", class.fits));
                }
                hungry += usize::from(member.queued.is_some());
                if member.queued.is_some_and(|appetite| !class.hungry.contains(&(appetite, *session))) {
                    return Err(format!("{session:?} is queued as {:?}, and is not", member.queued));
                }
                class
                    .fits
                    .iter()
                    .for_each(|need| *slots.entry(*need).or_default() += u64::from(member.slots));
            }
            seen += class.sessions.len();
        }
        if seen != self.members.len() || hungry != self.hungry().count() {
            return Err(format!("{seen} sessions in classes, {hungry} hungry"));
        }
        for (id, needed) in &self.needs {
            let ready: BTreeSet<_> = jobs
                .iter()
                .filter(|(_, of)| of.0 == *id)
                .filter_map(|(&job, of)| Some((of.1?, job)))
                .collect();
            let count = jobs.values().filter(|of| of.0 == *id).count();
            if ready != needed.ready
                || count != needed.jobs
                || slots.get(id).copied().unwrap_or(0) != needed.slots
            {
                return Err(format!("{needed:?} should have {count} jobs, {ready:?} ready, {slots:?} slots"));
            }
        }
        Ok(())
    }
}

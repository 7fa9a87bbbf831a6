//! Pools that are to become smaller: whoever is free first leaves. Nobody is picked, and nobody who is busy is cut off.
//!
//! A release is about the workers that are connected when it is said. Those that come later are neither counted nor sent
//! away: while a pool is restarted worker by worker, or a worker that was told to leave is started again by whoever looks
//! after it, there may be more than are to stay for a while, and sending them away would go on for ever.

use std::collections::BTreeSet;

use super::{Command, Millis, Scheduler, SessionId, WorkerId};

/// What was said of a pool.
#[derive(Debug)]
pub(super) struct Release {
    said: Millis,
    keep: usize,
    /// Workers that it is about and that were not told to leave.
    members: BTreeSet<WorkerId>,
    /// Those of them that are connected and take leases.
    staying: usize,
}

/// Pools with a release. What was said first is forgotten beyond.
const MAX_RELEASES: usize = 1_000;

impl Scheduler {
    /// Workers of a pool (of all, if it has no name) that are connected and take leases.
    pub fn staying(&self, pool: &str) -> usize {
        self.of_pool(pool).count()
    }

    fn of_pool<'a>(&'a self, pool: &'a str) -> impl Iterator<Item = (SessionId, WorkerId)> + 'a {
        let in_pool = move |session: &super::Session| {
            !session.draining && (pool.is_empty() || session.abilities.pool() == pool)
        };
        self.sessions.iter().filter(move |(_, s)| in_pool(s)).map(|(&id, session)| (id, session.worker))
    }

    /// So many of the workers of a pool that are connected now are to stay.
    pub(super) fn release(&mut self, pool: String, keep: u32, out: &mut Vec<Command>) {
        let members: BTreeSet<_> = self.of_pool(&pool).map(|(_, worker)| worker).collect();
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        self.releases.remove(&pool);
        if members.len() <= keep {
            return;
        }
        if self.releases.len() >= MAX_RELEASES {
            let first = self.releases.iter().min_by_key(|(_, release)| release.said);
            if let Some(pool) = first.map(|(pool, _)| pool.clone()) {
                self.releases.remove(&pool);
            }
        }
        let staying = members.len();
        self.releases.insert(pool, Release { said: self.now, keep, members, staying });
        let mut free: Vec<_> = self.classes.hungry().collect();
        free.sort_unstable();
        free.into_iter().for_each(|(_, session)| self.let_go_if_surplus(session, out));
    }

    /// To be called when a session wants something: it leaves instead, if there are more than are to stay.
    pub(super) fn let_go_if_surplus(&mut self, id: SessionId, out: &mut Vec<Command>) {
        if self.releases.is_empty() {
            return;
        }
        let Some(session) = self.sessions.get(&id).filter(|session| !session.draining) else { return };
        let worker = session.worker;
        let is_surplus = |pool: &str| {
            self.releases
                .get(pool)
                .is_some_and(|release| release.staying > release.keep && release.members.contains(&worker))
        };
        if !is_surplus("") && !is_surplus(session.abilities.pool()) {
            return;
        }
        let pools = [String::new(), session.abilities.pool().to_owned()];
        self.draining(id);
        // One that comes back is another one: else whoever starts it again would do so for ever.
        for pool in pools {
            if let Some(release) = self.releases.get_mut(&pool) {
                release.members.remove(&worker);
            }
        }
        out.push(Command::Leave(id));
    }

    /// A worker takes leases from here on, or does not any more.
    pub(super) fn count_staying(&mut self, id: SessionId, stays: bool) {
        if self.releases.is_empty() {
            return;
        }
        let Some(session) = self.sessions.get(&id) else { return };
        let pool = session.abilities.pool();
        let named = if pool.is_empty() { None } else { Some(pool) };
        for pool in std::iter::once("").chain(named) {
            let Some(release) = self.releases.get_mut(pool) else { continue };
            if release.members.contains(&session.worker) {
                release.staying = if stays { release.staying + 1 } else { release.staying.saturating_sub(1) };
            }
        }
    }

    pub(super) fn check_releases(&self) -> Result<(), String> {
        for (pool, release) in &self.releases {
            let staying = self.of_pool(pool).filter(|(_, worker)| release.members.contains(worker)).count();
            if staying != release.staying {
                return Err(format!("{staying} of pool {pool:?} stay, by its books {}", release.staying));
            }
        }
        Ok(())
    }
}

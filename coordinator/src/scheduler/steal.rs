//! The end of a job: idle slots take work from busy ones.
//!
//! Nothing is taken by force. A worker is asked to stop a lease earlier and says where it will; only then do the units
//! return to the pool. So a unit is computed by two workers only if one of them was given up.

use super::{
    Command, LeaseId, Scheduler,
    classes::{Class, NeedId},
    session::Lease,
};

/// A lease that could give.
struct Victim {
    lease: LeaseId,
    need: NeedId,
    /// In stock, not begun: may be taken whole.
    stock: bool,
    /// Computing time that is left in it.
    remaining_ns: u128,
    /// Where it should end.
    end: u64,
}

impl Scheduler {
    /// Asks busy sessions for work if slots are idle and nothing is left to grant.
    pub(super) fn steal(&mut self, out: &mut Vec<Command>) {
        // One that fits no job would only make busy ones stop early for nobody.
        let is_idle = |class: &&Class| {
            !class.fits.is_empty() && class.hungry.first().is_some_and(|(first, _)| !first.busy)
        };
        let someone_idle = !self.leases.is_empty() && self.classes.iter().any(|class| is_idle(&class));
        if !someone_idle || self.now < self.next_steal {
            return;
        }
        self.next_steal = self.now.saturating_add(self.policy.steal_interval_ms);
        let mut idle: Vec<_> = self
            .classes
            .iter()
            .filter(is_idle)
            .map(|class| (class.fits.clone(), self.idle_slots(class)))
            .collect();
        let mut take_slot = |need: NeedId| {
            let free = idle.iter_mut().find(|(fits, slots)| *slots > 0 && fits.binary_search(&need).is_ok());
            free.map(|(_, slots)| *slots -= 1).is_some()
        };
        let (mut victims, promised) = self.victims();
        for need in promised {
            take_slot(need);
        }
        // Stock first, it costs nobody anything; then the leases that would keep us waiting longest.
        victims.sort_by_key(|victim| (!victim.stock, std::cmp::Reverse(victim.remaining_ns), victim.lease));
        for victim in victims.into_iter().filter(|victim| take_slot(victim.need)) {
            if let Some(lease) = self.leases.get_mut(&victim.lease) {
                lease.asked = Some(self.now);
                out.push(Command::Shrink { session: lease.session, lease: victim.lease, end: victim.end });
            }
        }
    }

    fn idle_slots(&self, class: &Class) -> u64 {
        let idle = class.hungry.iter().take_while(|(appetite, _)| !appetite.busy);
        let slots = |id| self.sessions.get(id).map_or(0, |session| session.slots_now(&self.policy));
        idle.map(|(appetite, id)| u64::from(slots(id).saturating_sub(appetite.held))).sum()
    }

    /// Leases that could give, and what is needed for those that were asked and will answer soon.
    fn victims(&self) -> (Vec<Victim>, Vec<NeedId>) {
        let (mut victims, mut promised) = (Vec::new(), Vec::new());
        for session in self.sessions.values() {
            let slots = usize::try_from(session.slots).unwrap_or(usize::MAX);
            for (at, id) in session.leases.iter().enumerate() {
                let Some(lease) = self.leases.get(id) else { continue };
                match lease.asked {
                    Some(when) if self.now < when.saturating_add(self.policy.shrink_patience_ms) => {
                        promised.extend(self.jobs.get(&lease.job).map(|job| job.need));
                    }
                    Some(_) => {}
                    // One worker's result of exactly this range is wanted.
                    None if lease.revoked || lease.whole => {}
                    None => victims.extend(self.victim(*id, lease, at >= slots && !lease.started)),
                }
            }
        }
        (victims, promised)
    }

    fn victim(&self, id: LeaseId, lease: &Lease, stock: bool) -> Option<Victim> {
        let worker = self.sessions.get(&lease.session)?.worker;
        let measured = self.workers.get(&worker).and_then(|worker| worker.speeds.get(&lease.job));
        let waited_ns = (self.now - lease.granted).saturating_mul(1_000_000);
        // Without a measurement the first unit costs at least what it has cost so far.
        let ns_per_unit = measured.map_or(waited_ns, |speed| speed.ns_per_unit);
        // The last stretch that is in the worker's hands; almost always the only one.
        let job = self.jobs.get(&lease.job)?;
        let (need, lease_id) = (job.need, id);
        let open = job.leased_to(id, &(lease.reached..lease.range.end)).last()?;
        let units = open.end - open.start;
        let remaining_ns = u128::from(units) * u128::from(ns_per_unit);
        if stock {
            return Some(Victim { lease: lease_id, need, stock, remaining_ns, end: lease.range.start });
        }
        // The first unit is being computed; the worker keeps the larger half.
        let end = open.start + units.div_ceil(2);
        let worth_it = units >= 2 && remaining_ns > u128::from(self.policy.split_above_ms) * 1_000_000;
        worth_it.then_some(Victim { lease: lease_id, need, stock, remaining_ns, end })
    }
}

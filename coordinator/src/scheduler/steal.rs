//! The end of a job: idle slots take work from busy ones.
//!
//! Nothing is taken by force. A worker is asked to stop a lease earlier and says where it will; only then do the units
//! return to the pool. So a unit is computed by two workers only if one of them was given up.

use super::{Command, LeaseId, Scheduler, session::Lease};

/// A lease that could give.
struct Victim {
    lease: LeaseId,
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
        let someone_idle = self.hungry.first().is_some_and(|(appetite, _)| !appetite.busy);
        if !someone_idle || self.leases.is_empty() || self.now < self.next_steal {
            return;
        }
        self.next_steal = self.now.saturating_add(self.policy.steal_interval_ms);
        let idle_slots: u64 = self
            .hungry
            .iter()
            .take_while(|(appetite, _)| !appetite.busy)
            .filter_map(|(appetite, id)| Some(u64::from(self.sessions.get(id)?.slots - appetite.held)))
            .sum();
        let (mut victims, promised) = self.victims();
        let wanted = usize::try_from(idle_slots.saturating_sub(promised)).unwrap_or(usize::MAX);
        // Stock first, it costs nobody anything; then the leases that would keep us waiting longest.
        victims.sort_by_key(|victim| (!victim.stock, std::cmp::Reverse(victim.remaining_ns), victim.lease));
        for victim in victims.into_iter().take(wanted) {
            if let Some(lease) = self.leases.get_mut(&victim.lease) {
                lease.asked = Some(self.now);
                out.push(Command::Shrink { session: lease.session, lease: victim.lease, end: victim.end });
            }
        }
    }

    /// Leases that could give, and how many have been asked and will answer soon.
    fn victims(&self) -> (Vec<Victim>, u64) {
        let (mut victims, mut promised) = (Vec::new(), 0);
        for session in self.sessions.values() {
            let slots = usize::try_from(session.slots).unwrap_or(usize::MAX);
            for (at, id) in session.leases.iter().enumerate() {
                let Some(lease) = self.leases.get(id) else { continue };
                match lease.asked {
                    Some(when) => {
                        promised += u64::from(self.now < when.saturating_add(self.policy.shrink_patience_ms));
                    }
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
        let open = self.jobs.get(&lease.job)?.leased_to(id, &(lease.reached..lease.range.end)).last()?;
        let units = open.end - open.start;
        let remaining_ns = u128::from(units) * u128::from(ns_per_unit);
        if stock {
            return Some(Victim { lease: id, stock, remaining_ns, end: lease.range.start });
        }
        // The first unit is being computed; the worker keeps the larger half.
        let end = open.start + units.div_ceil(2);
        let worth_it = units >= 2 && remaining_ns > u128::from(self.policy.split_above_ms) * 1_000_000;
        worth_it.then_some(Victim { lease: id, stock, remaining_ns, end })
    }
}

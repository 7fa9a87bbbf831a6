//! What the coordinator says.

use std::sync::Arc;

use proto::v1::{Grant, LeaseEvent, Order, ToWorker, lease_event::Event, order};

use super::Agent;
use crate::lease::Lease;

impl Agent {
    pub(super) fn told(&mut self, message: ToWorker) {
        for job in message.jobs {
            if let Ok(id) = job.job.as_ref().try_into() {
                self.jobs.define(id, job.kind, job.revision, job.settings);
            }
        }
        for answer in message.answers {
            self.answered(answer.sequence, answer.verdict());
        }
        if message.leave {
            self.finish_and_leave();
        }
        for order in message.orders {
            self.ordered(order);
        }
    }

    fn ordered(&mut self, order: Order) {
        match order.order {
            Some(order::Order::Grant(grant)) => self.granted(order.lease, &grant),
            Some(order::Order::Shrink(end)) => {
                let Some(lease) = self.current.get(&order.lease) else { return };
                let event = Event::Shrunk(lease.shrink(end));
                self.outbox.event(LeaseEvent { lease: order.lease, event: Some(event) });
            }
            Some(order::Order::Revoke(_)) => self.withdraw(order.lease, Lease::revoke, true),
            Some(order::Order::Abandon(_)) => self.withdraw(order.lease, Lease::abandon, false),
            None => tracing::debug!("an order this version does not know"),
        }
    }

    fn granted(&mut self, id: u64, grant: &Grant) {
        let Ok(job) = grant.job.as_ref().try_into() else { return };
        let Some(link) = &self.link else { return };
        let defined = self.jobs.get(&job).filter(|_| grant.start < grant.end && !self.leaves());
        let Some(open) = defined else {
            return self.outbox.event(LeaseEvent { lease: id, event: Some(Event::Returned(true)) });
        };
        self.last_key += 1;
        let lease =
            Lease::new(id, self.last_key, link.ledger, job, grant.start..grant.end).whole(grant.whole);
        let lease = Arc::new(lease);
        self.current.insert(id, Arc::clone(&lease));
        self.leases.insert(lease.key, Arc::clone(&lease));
        self.crew.add(lease, open);
    }

    /// Ends a lease early. One that has not begun is returned here and now; a running one by its thread.
    fn withdraw(&mut self, id: u64, how: fn(&Lease), answer: bool) {
        let Some(lease) = self.current.get(&id).cloned() else { return };
        how(&lease);
        let waited = self.crew.take_back(&lease);
        if waited {
            self.leases.remove(&lease.key);
            if answer {
                self.outbox.event(LeaseEvent { lease: id, event: Some(Event::Returned(true)) });
            }
        }
        if waited || !answer {
            self.current.remove(&id);
        }
    }
}

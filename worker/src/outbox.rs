//! What waits to be sent, and what was sent and not yet acknowledged.

use std::collections::{BTreeMap, VecDeque};

use proto::{
    Message,
    v1::{Commit, FromWorker, LeaseEvent},
};

use crate::spool::SpooledCommit as Output;

/// Results until they are acknowledged, and lease events until they are sent.
#[derive(Default)]
pub struct Outbox {
    last_sequence: u64,
    unacknowledged: BTreeMap<u64, Output>,
    unsent: VecDeque<u64>,
    events: VecDeque<LeaseEvent>,
    nudge: bool,
    draining: bool,
    /// The ledger of the current link. Results for another one wait for a link to it.
    ledger: [u8; 16],
}

/// Error texts in one message are cut off at about this many bytes.
const EVENT_BYTES: usize = 1 << 20;

impl Outbox {
    /// Takes a result into care.
    pub fn commit(&mut self, output: Output) {
        self.last_sequence += 1;
        if output.ledger == self.ledger {
            self.unsent.push_back(self.last_sequence);
        }
        self.unacknowledged.insert(self.last_sequence, output);
    }

    /// Queues a lease event. It goes out after every result queued before it.
    pub fn event(&mut self, event: LeaseEvent) {
        self.events.push_back(event);
    }

    /// Sends a message soon, even an empty one: a heartbeat.
    pub fn nudge(&mut self) {
        self.nudge = true;
    }

    /// Tells the coordinator that no further leases are wanted.
    pub fn drain(&mut self) {
        self.draining = true;
        self.nudge = true;
    }

    /// Whether there is something to send.
    pub fn wants_to_send(&self) -> bool {
        self.nudge || !self.unsent.is_empty() || !self.events.is_empty()
    }

    /// Whether everything is sent, and acknowledged where that matters.
    pub fn settled(&self) -> bool {
        !self.wants_to_send() && !self.unacknowledged.values().any(|output| output.ledger == self.ledger)
    }

    /// Results not yet acknowledged.
    pub fn unacknowledged(&self) -> impl Iterator<Item = &Output> {
        self.unacknowledged.values()
    }

    /// A new connection to `ledger`: lease events of the old one are void, its results are sent again.
    pub fn reconnect(&mut self, ledger: &[u8; 16]) {
        self.events.clear();
        self.ledger = *ledger;
        self.unsent =
            self.unacknowledged.iter().filter(|(_, o)| o.ledger == *ledger).map(|(&s, _)| s).collect();
        // The coordinator grants nothing before it has heard what there is already.
        self.nudge = true;
    }

    /// An answer came; the result is handed back for the spool to forget.
    pub fn answered(&mut self, sequence: u64) -> Option<Output> {
        self.unacknowledged.remove(&sequence)
    }

    /// The next message, within the bounds of the protocol.
    pub fn next_message(&mut self) -> FromWorker {
        let mut message = FromWorker { draining: self.draining, ..FromWorker::default() };
        let mut len_bytes = 0;
        while message.commits.len() < proto::MAX_BATCH && len_bytes < proto::BATCH_BYTES {
            let Some(sequence) = self.unsent.pop_front() else { break };
            let Some(output) = self.unacknowledged.get(&sequence) else { continue };
            len_bytes += output.partial.len() + 128;
            message.commits.push(to_wire(sequence, output));
        }
        // An event such as "returned" says that all results of the lease were sent, so it must not overtake them.
        if self.unsent.is_empty() {
            let mut len_bytes = 0;
            while message.events.len() < proto::MAX_BATCH && len_bytes < EVENT_BYTES {
                let Some(event) = self.events.pop_front() else { break };
                len_bytes += event.encoded_len();
                message.events.push(event);
            }
        }
        self.nudge = false;
        message
    }
}

fn to_wire(sequence: u64, output: &Output) -> Commit {
    Commit {
        sequence,
        job: output.job.to_vec().into(),
        start: output.range.start,
        end: output.range.end,
        digest: output.digest.to_vec().into(),
        partial: output.partial.clone().into(),
        busy_us: output.busy_us,
    }
}

#[cfg(test)]
mod tests {
    use proto::v1::lease_event::Event;

    use super::*;

    fn output(start: u64) -> Output {
        Output {
            ledger: [1; 16],
            job: [2; 16],
            range: start..start + 1,
            digest: [3; 32],
            partial: vec![7; 1000],
            busy_us: 1,
        }
    }

    #[test]
    fn an_event_never_overtakes_a_result() {
        let mut outbox = Outbox::default();
        outbox.reconnect(&[1; 16]);
        for start in 0..3000 {
            outbox.commit(output(start));
        }
        outbox.event(LeaseEvent { lease: 9, event: Some(Event::Returned(true)) });
        let (mut commits, mut messages) = (0, 0);
        while outbox.wants_to_send() {
            let message = outbox.next_message();
            commits += message.commits.len();
            messages += 1;
            assert!(message.commits.len() <= proto::MAX_BATCH);
            assert_eq!(message.events.is_empty(), commits < 3000);
        }
        // 3000 results of 1000 bytes and 128 more each, sent on at 2^20 bytes: 930 a message.
        assert_eq!((commits, messages), (3000, 4));
        assert!(!outbox.settled());
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again_to_its_own_ledger_only() {
        let mut outbox = Outbox::default();
        outbox.reconnect(&[1; 16]);
        outbox.commit(output(0));
        outbox.commit(output(1));
        let sent = outbox.next_message();
        assert_eq!(outbox.answered(sent.commits[0].sequence), Some(output(0)));
        outbox.reconnect(&[9; 16]);
        outbox.commit(output(2));
        assert!(outbox.next_message().commits.is_empty() && outbox.settled());
        outbox.reconnect(&[1; 16]);
        let again = outbox.next_message().commits;
        assert_eq!((again.len(), &again[0]), (2, &sent.commits[1]));
    }
}

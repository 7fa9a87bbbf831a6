//! Any bytes as messages: those of workers, coordinators, users and etcd. What decodes encodes to something that decodes
//! as the same. What a coordinator tells a worker of its leases is done.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use proto::{Message, etcd, v1};
use worker::lease::Lease;

fn read<M: Message + Default + PartialEq>(bytes: &[u8]) -> Option<M> {
    let message = M::decode(bytes).ok()?;
    let again = message.encode_to_vec();
    assert_eq!(again.len(), message.encoded_len());
    assert!(M::decode(&again[..]).expect("it was just made") == message);
    Some(message)
}

fn obey(message: v1::ToWorker) {
    let mut leases = BTreeMap::new();
    for order in message.orders {
        match order.order {
            Some(v1::order::Order::Grant(grant)) if grant.start < grant.end => {
                let lease = Lease::new(order.lease, 1, [0; 16], [0; 16], grant.start..grant.end);
                leases.insert(order.lease, (lease, grant.start..=grant.end));
            }
            Some(v1::order::Order::Shrink(end)) => {
                if let Some((lease, possible)) = leases.get(&order.lease) {
                    assert!(possible.contains(&lease.shrink(end)));
                }
            }
            Some(v1::order::Order::Revoke(_)) => leases.iter().for_each(|(_, lease)| lease.0.revoke()),
            Some(v1::order::Order::Abandon(_)) => leases.iter().for_each(|(_, lease)| lease.0.abandon()),
            _ => {}
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else { return };
    match which % 20 {
        0 => drop(read::<v1::FromWorker>(rest)),
        1 => read::<v1::ToWorker>(rest).into_iter().for_each(obey),
        2 => drop(read::<v1::SubmitRequest>(rest)),
        3 => drop(read::<v1::SubmitReply>(rest)),
        4 => drop(read::<v1::StatusRequest>(rest)),
        5 => drop(read::<v1::JobStatus>(rest)),
        6 => drop(read::<v1::ListReply>(rest)),
        7 => drop(read::<v1::ResultReply>(rest)),
        8 => drop(read::<v1::ControlRequest>(rest)),
        9 => drop(read::<v1::WorkersReply>(rest)),
        10 => drop(read::<v1::DrainRequest>(rest)),
        11 => drop(read::<v1::LeaderReply>(rest)),
        12 => drop(read::<etcd::RangeResponse>(rest)),
        13 => drop(read::<v1::AuditRequest>(rest)),
        14 => drop(read::<v1::AuditReply>(rest)),
        15 => drop(read::<v1::ReadmitRequest>(rest)),
        16 => drop(read::<v1::VerifyRequest>(rest)),
        17 => drop(read::<v1::VerifyStatus>(rest)),
        18 => drop(read::<etcd::StatusResponse>(rest)),
        _ => drop(read::<etcd::TxnResponse>(rest)),
    }
});

//! Any bytes as a group in etcd, and any payload in a whole one, give entries or an error.

#![no_main]

use coordinator::ledger::etcd::fuzz::{group, group_of};
use coordinator_fuzz::frame;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((raw, rest)) = bytes.split_first() else { return };
    let previous = [3; 32];
    let whole = if raw % 2 == 0 { rest.to_vec() } else { frame(&previous, rest).0 };
    let Ok((entries, _)) = group(&whole, &previous) else { return };
    let Ok(again) = group_of(&entries, &previous) else { return };
    assert_eq!(group(&again, &previous).expect("it was just made").0, entries);
    assert!(again.len() < whole.len() || again == whole);
});

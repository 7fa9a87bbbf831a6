//! Any bytes as a journal, and any payloads in whole frames, give entries or an error; entries encode to what was read.

#![no_main]

use std::fs;

use coordinator::ledger::{Frames, JOURNAL, etcd::fuzz::group_of};
use coordinator_fuzz::{folder, frame, header, pieces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((raw, rest)) = bytes.split_first() else { return };
    let (mut journal, mut chain) = header();
    match raw % 3 {
        0 => journal = rest.to_vec(),
        1 => journal.extend(rest),
        _ => {
            for payload in pieces(rest) {
                let (frame, next) = frame(&chain, payload);
                journal.extend(frame);
                chain = next;
            }
        }
    }
    fs::write(folder().join(JOURNAL), &journal).expect("written");
    let Ok(mut frames) = Frames::open(folder()) else { return };
    loop {
        let before = frames.position();
        let Ok(Some(read)) = frames.next_frame() else { break };
        let entries: Vec<_> = read.entries.iter().map(|(_, entry)| entry.clone()).collect();
        for (place, entry) in &read.entries {
            assert_eq!(frames.read(*place).as_ref(), Ok(entry));
        }
        // Refused when an entry is larger than any that is written.
        let Ok(again) = group_of(&entries, &before.chain) else { continue };
        let there =
            usize::try_from(before.end).expect("small")..usize::try_from(read.position.end).expect("small");
        // Numbers can be written longer than they are.
        assert!(again.len() <= there.len());
        if again.len() == there.len() {
            assert_eq!(again, &journal[there]);
        }
    }
});

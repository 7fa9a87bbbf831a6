//! Any bytes as records of a worker's checkpoint, and as values in its store, give records or an error.

#![no_main]

use std::sync::LazyLock;

use coordinator_fuzz::{folder, pieces};
use libfuzzer_sys::fuzz_target;
use worker::{
    spool::fuzz::{progress, result, stored},
    store::{
        Purpose, Store,
        fuzz::{head, raw_head, whole},
    },
};

/// For the words of errors.
static STORE: LazyLock<Store> = LazyLock::new(|| {
    let purpose = Purpose { name: "fuzzing", format: 1, cure: String::new() };
    Store::open(folder(), purpose).expect("a store")
});

fuzz_target!(|bytes: &[u8]| {
    let Some((what, rest)) = bytes.split_first() else { return };
    match (what % 3, pieces(rest).as_slice()) {
        (0, &[key, value, ..]) => {
            let Ok(read) = result(&STORE, key, value) else { return };
            let (key, value) = stored(&STORE, &read).expect("encodes");
            assert_eq!(result(&STORE, &key, &value), Ok(read));
        }
        (1, _) => {
            let Ok(again) = progress(&STORE, rest) else { return };
            assert_eq!(progress(&STORE, &again), Ok(again));
        }
        (2, &[key, found, ..]) => {
            if let Some(value) = whole(key, found) {
                assert_eq!(head(key, value), found);
            }
            if let Some((length, first)) = raw_head(found) {
                assert!(first.len() <= length);
            }
            // Whatever it is, it is found again, unless it needs parts.
            let head = head(key, rest);
            assert!(rest.len() > 4096 || whole(key, &head) == Some(rest));
        }
        _ => {}
    }
});

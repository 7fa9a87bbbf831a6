//! Any bytes give a photograph or an error, in grey and in colours of the same size.
//!
//! `cargo +nightly fuzz run photo_load`, in `shared`, with some small pictures in `fuzz/corpus/photo_load`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use shared::photo::load::{load, load_colour};

fuzz_target!(|bytes: &[u8]| {
    if let (Ok(photo), Ok(colour)) = (load(bytes), load_colour(bytes)) {
        assert_eq!((photo.gray.width(), photo.gray.height()), (colour.width(), colour.height()));
    }
});

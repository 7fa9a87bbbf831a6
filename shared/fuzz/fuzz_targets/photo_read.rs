//! Any bytes that give a small photograph are read to the end: boards, or a reason why there are none.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use shared::photo::{load::load, reading::Reader};

/// Larger ones take the time of many small ones and the same paths.
const PIXELS: usize = 160 * 160;

static READER: LazyLock<Reader> = LazyLock::new(Reader::new);

fuzz_target!(|bytes: &[u8]| {
    let Ok(photo) = load(bytes) else { return };
    if photo.gray.width() * photo.gray.height() > PIXELS {
        return;
    }
    let reading = READER.read(&photo, None);
    assert_eq!(reading.boards.is_empty(), reading.refusal.is_some(), "either boards or a reason");
});

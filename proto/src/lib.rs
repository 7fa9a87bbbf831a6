//! The wire: messages and services generated from `proto/nonet/v1/*.proto`, and the bounds both ends keep to.
//!
//! Settings and partials are opaque here, so a new job kind changes nothing in this crate.

pub mod labels;

/// Version 1 of the protocol.
#[allow(clippy::pedantic, missing_docs)]
pub mod v1 {
    tonic::include_proto!("nonet.v1");
}

/// What Nonet needs of etcd's API.
#[allow(clippy::pedantic, missing_docs)]
pub mod etcd {
    tonic::include_proto!("etcdserverpb");
}

/// What every message can do: encode, decode, tell its size.
pub use prost::Message;

/// The newest version of the worker protocol that this program speaks. Coordinator and worker speak the newest that both
/// know.
pub const PROTOCOL: u32 = 2;

/// The oldest version of the worker protocol that this program speaks: without labels, and workers do not know `leave`.
pub const OLDEST_PROTOCOL: u32 = 1;

/// The first version in which a worker can be told to leave.
pub const LEAVE_PROTOCOL: u32 = 2;

/// Upper bound of one message, on both ends. Batches are cut well below it.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Upper bound of commits, grants or answers in one message.
pub const MAX_BATCH: usize = 1024;

/// Batches are sent on when their partials reach this many bytes.
pub const BATCH_BYTES: usize = 1 << 20;

/// Upper bound of names and error texts in bytes.
pub const MAX_TEXT_BYTES: usize = 4 << 10;

/// A name or an error text as it may be shown: a line of at most [`MAX_TEXT_BYTES`]. What would move a terminal's cursor, change
/// its colours or turn the direction of writing is replaced, whoever has sent it.
#[must_use]
pub fn bounded_text(text: String) -> String {
    let is_unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut text = if text.contains(is_unseen) { text.replace(is_unseen, " ") } else { text };
    if text.len() > MAX_TEXT_BYTES {
        let end = (0..=MAX_TEXT_BYTES).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters_and_move_no_cursor() {
        assert_eq!(bounded_text("unit 7: no such file – é".into()), "unit 7: no such file – é");
        assert_eq!(bounded_text("a\x1b[2J\x07b\r\nc\u{9b}d\u{202e}e".into()), "a [2J b  c d e");
        let cut = bounded_text("é".repeat(MAX_TEXT_BYTES));
        assert_eq!(cut.len(), MAX_TEXT_BYTES);
        assert_eq!(bounded_text(format!("a{cut}")).len(), MAX_TEXT_BYTES - 1);
    }
}

//! The wire: messages and services generated from `proto/nonet/v1/*.proto`, and the bounds both ends keep to.
//!
//! Settings and partials are opaque here, so a new job kind changes nothing in this crate.

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

/// Version of the worker protocol. Coordinator and worker must agree on it.
pub const PROTOCOL: u32 = 1;

/// Upper bound of one message, on both ends. Batches are cut well below it.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Upper bound of commits, grants or answers in one message.
pub const MAX_BATCH: usize = 1024;

/// Batches are sent on when their partials reach this many bytes.
pub const BATCH_BYTES: usize = 1 << 20;

/// Upper bound of names and error texts in bytes.
pub const MAX_TEXT_BYTES: usize = 4 << 10;

/// Cuts a text to [`MAX_TEXT_BYTES`] at a character boundary.
#[must_use]
pub fn bounded_text(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        let end = (0..=MAX_TEXT_BYTES).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

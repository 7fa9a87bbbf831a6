//! Why a file could not be read.

use super::{
    MAX_EDGE, MAX_PIXELS, MIN_EDGE,
    format::{Format, Refused},
};

/// Why the bytes of a file give no picture. Messages go on from the name of the file, which the caller puts before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// No bytes.
    #[error("is empty")]
    Empty,
    /// Nothing that begins like a picture.
    #[error("is no picture: {0}")]
    NoPicture(String),
    /// A format that is known and not read.
    #[error("is {}, which is not read here: {}", .0.name(), .0.advice())]
    Refused(Refused),
    /// A picture of a kind that its format allows and that is not read.
    #[error("is a {format} of a kind that is not read here ({what}): save it as PNG or as ordinary JPEG")]
    Unsupported {
        /// Its format.
        format: Format,
        /// What is not read.
        what: String,
    },
    /// The end is missing.
    #[error("breaks off: the end of the {0} is missing; copy or download it again")]
    Truncated(Format),
    /// The data contradict themselves.
    #[error("is a damaged {format}: {what}")]
    Damaged {
        /// Its format.
        format: Format,
        /// What the decoder says.
        what: String,
    },
    /// An edge shorter than [`MIN_EDGE`].
    #[error("is {width} x {height} pixels: too small to read; each edge must have at least {MIN_EDGE}")]
    TooSmall {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// An edge longer than [`MAX_EDGE`].
    #[error("is {width} x {height} pixels: too long; each edge may have at most {MAX_EDGE}")]
    TooLong {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// More than [`MAX_PIXELS`].
    #[error(
        "is {width} x {height} pixels, {} megapixels: too large; at most {} megapixels are read",
        megapixels(*.width, *.height), MAX_PIXELS / 1_000_000
    )]
    TooLarge {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The way it is stored would take too much memory to undo.
    #[error(
        "is a {format} of {width} x {height} pixels, stored so that reading it would take {} megabytes; at most {} are \
         used: make it smaller, or save it as ordinary JPEG",
        .bytes.div_ceil(1_000_000), super::limits::MAX_MEMORY / 1_000_000
    )]
    TooMuchMemory {
        /// Its format.
        format: Format,
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// What it would take.
        bytes: u64,
    },
}

/// A millionth of the pixels, rounded up.
fn megapixels(width: u32, height: u32) -> u64 {
    (u64::from(width) * u64::from(height)).div_ceil(1_000_000)
}

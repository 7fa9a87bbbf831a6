//! What is refused before anything is allocated.

use super::{
    Unreadable,
    budget::{Reserved, reserve},
    format::Format,
};

/// Pixels that a picture may have.
pub const MAX_PIXELS: u64 = 100_000_000;
/// Pixels that each edge of a picture must have.
pub const MIN_EDGE: u32 = 64;
/// Pixels that each edge of a picture may have.
pub const MAX_EDGE: u32 = 30_000;

/// Bytes that decoding may take, the file itself and the small picture that comes of it not counted. A hundred
/// megapixels fit where a decoder needs three bytes a pixel: every baseline JPEG; PNG and TIFF of eight bits without
/// transparency. Elsewhere fewer do.
pub const MAX_MEMORY: u64 = 320_000_000;

/// Whether a picture of this size is read; if not, why.
pub fn check_size(width: u32, height: u32) -> Result<(), Unreadable> {
    if width.min(height) < MIN_EDGE {
        return Err(Unreadable::TooSmall { width, height });
    }
    // First: who has 200 megapixels is told so, also when an edge is too long.
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(Unreadable::TooLarge { width, height });
    }
    if width.max(height) > MAX_EDGE {
        return Err(Unreadable::TooLong { width, height });
    }
    Ok(())
}

/// Memory for decoding, if it may take so many bytes: waits until other threads have left that much.
pub fn memory_for(format: Format, (width, height): (u32, u32), bytes: u64) -> Result<Reserved, Unreadable> {
    if bytes > MAX_MEMORY {
        return Err(Unreadable::TooMuchMemory { format, width, height, bytes });
    }
    Ok(reserve(bytes))
}

//! The bytes of a file to a grey picture.

use super::Gray;

/// The longer edge of [`Photo::gray`] at most.
pub const LONG_EDGE: usize = 1600;

/// A photograph, ready to be read.
#[derive(Clone, Debug)]
pub struct Photo {
    /// Grey, turned as the file says (EXIF), made smaller if it was larger than [`LONG_EDGE`].
    pub gray: Gray,
    /// Its size before that, turned too.
    pub width: u32,
    /// See `width`.
    pub height: u32,
}

//! The bytes of a file to a grey picture, or to one in colours of the same size.
//!
//! A file is what it begins with, not what its name says. Decoders are in Rust; of a file that is too large, damaged or
//! broken off is said what is wrong with it. The same bytes give the same pixels on every machine: whole numbers
//! throughout, and decoders without code of their own for some processors.

mod budget;
mod common;
mod ends;
mod first_scan;
mod format;
mod jpeg;
mod limits;
mod markers;
mod rows;
mod shrink;
mod tiff;
mod turn;
mod unreadable;

use self::rows::Stored;
pub use self::{
    format::{Format, Refused},
    limits::{MAX_EDGE, MAX_PIXELS, MIN_EDGE},
    unreadable::Unreadable,
};
use super::{Colour, Gray};

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

/// Reads a photograph from the bytes of its file: JPEG, PNG, WebP, TIFF, BMP, GIF. Of several pictures in a file the
/// first is read. What is transparent is on white paper. Pictures are made smaller by the mean of what each new pixel
/// covers, never larger.
///
/// Costs some 60 milliseconds for a JPEG of 12 megapixels, nearly all of it for its code; at most 400 megabytes, all threads
/// of the process together: large pictures wait for each other.
///
/// # Errors
///
/// See [`Unreadable`]. A file whose end is missing is refused, even when most of the picture is there.
pub fn load(bytes: &[u8]) -> Result<Photo, Unreadable> {
    let Flat { size: (width, height), old, pixels } = flat::<1>(bytes)?;
    let gray = Gray::new(width, height, pixels).unwrap_or_else(|| unreachable!("a pixel for each place"));
    Ok(Photo { gray, width: old.0, height: old.1 })
}

/// Reads a photograph in colours, of the size of [`Photo::gray`] and turned the same way, to draw on. Costs a half more
/// than [`load`].
///
/// # Errors
///
/// As [`load`], but progressive JPEG of more than some 35 megapixels takes too much memory.
pub fn load_colour(bytes: &[u8]) -> Result<Colour, Unreadable> {
    let Flat { size: (width, height), pixels, .. } = flat::<3>(bytes)?;
    Ok(Colour::new(width, height, pixels).unwrap_or_else(|| unreachable!("three bytes for each place")))
}

/// A picture of some bytes a pixel, turned and small.
struct Flat {
    size: (usize, usize),
    /// Its size before it was made smaller, turned.
    old: (u32, u32),
    pixels: Vec<u8>,
}

/// Reads a picture of `C` bytes a pixel: 1 for grey, 3 for RGB.
fn flat<const C: usize>(bytes: &[u8]) -> Result<Flat, Unreadable> {
    let stored = match format::recognise(bytes)? {
        Format::Jpeg => jpeg::decode(bytes, C == 1)?,
        Format::Tiff => tiff::decode(bytes)?,
        format => common::decode(format, bytes)?,
    };
    let turn = stored.turn;
    let old = (stored.width, stored.height);
    let size = shrink::target(old.0 as usize, old.1 as usize, LONG_EDGE);
    let pixels = turn.apply::<C>(size, small::<C>(stored, size));
    Ok(Flat { size: turn.size(size), old: turn.size(old), pixels })
}

/// What was stored, as `C` bytes a pixel, of that size.
fn small<const C: usize>(stored: Stored, size: (usize, usize)) -> Vec<u8> {
    let old = (stored.width as usize, stored.height as usize);
    if old == size && stored.is_ready::<C>() {
        return stored.bytes;
    }
    let rows = stored.bytes.chunks_exact(stored.row_bytes());
    let mut converted = vec![0; old.0 * C];
    if old == size {
        let mut pixels = Vec::with_capacity(old.0 * old.1 * C);
        for row in rows {
            stored.convert::<C>(row, &mut converted);
            pixels.extend_from_slice(&converted);
        }
        return pixels;
    }
    let mut shrink = shrink::Shrink::<C>::new(old, size);
    for row in rows {
        if stored.is_ready::<C>() {
            shrink.push(row);
        } else {
            stored.convert::<C>(row, &mut converted);
            shrink.push(&converted);
        }
    }
    shrink.into_pixels()
}

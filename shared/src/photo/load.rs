//! The bytes of a file to a grey picture.
#![allow(clippy::cast_possible_truncation, clippy::missing_panics_doc, reason = "PLACEHOLDER")]

use std::io::Cursor;

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

/// Why a file is no picture that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

/// Bytes of memory that a decoder may take.
const MOST_DECODED_BYTES: u64 = 200 << 20;

/// PLACEHOLDER, replaced when the loader lands: no EXIF, and every n-th pixel of pictures that are too large.
///
/// # Errors
///
/// When the bytes are no picture.
pub fn load(bytes: &[u8]) -> Result<Photo, Unreadable> {
    let (colour, width, height) = decoded(bytes)?;
    let gray =
        |&[r, g, b]: &[u8; 3]| ((u32::from(r) * 77 + u32::from(g) * 150 + u32::from(b) * 29) >> 8) as u8;
    let gray = Gray::new(colour.width(), colour.height(), colour.pixels().iter().map(gray).collect());
    Ok(Photo { gray: gray.expect("as many pixels"), width, height })
}

/// PLACEHOLDER: see [`load`].
///
/// # Errors
///
/// As [`load`].
pub fn load_colour(bytes: &[u8]) -> Result<Colour, Unreadable> {
    decoded(bytes).map(|(colour, ..)| colour)
}

fn decoded(bytes: &[u8]) -> Result<(Colour, u32, u32), Unreadable> {
    let failed = |error: &dyn std::fmt::Display| Unreadable(error.to_string());
    if bytes.is_empty() {
        return Err(Unreadable("the file is empty".into()));
    }
    let (width, height, rgb) = if bytes.starts_with(&[0xFF, 0xD8]) {
        let options = zune_core::options::DecoderOptions::default().set_strict_mode(true);
        let mut decoder =
            zune_jpeg::JpegDecoder::new_with_options(zune_core::bytestream::ZCursor::new(bytes), options);
        let rgb = decoder.decode().map_err(|error| failed(&error))?;
        let (width, height) = decoder.dimensions().unwrap_or_default();
        (width, height, rgb)
    } else {
        let mut reader =
            image::ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|e| failed(&e))?;
        let mut limits = image::Limits::default();
        limits.max_alloc = Some(MOST_DECODED_BYTES);
        reader.limits(limits);
        let picture = reader.decode().map_err(|error| failed(&error))?.into_rgb8();
        (picture.width() as usize, picture.height() as usize, picture.into_raw())
    };
    let step = width.max(height).div_ceil(LONG_EDGE).max(1);
    let (small_width, small_height) = (width / step, height / step);
    let (pixels, _) = rgb.as_chunks::<3>();
    let at = |y: usize| (0..small_width).map(move |x| pixels[y * step * width + x * step]);
    let small = (0..small_height).flat_map(at).collect();
    let colour =
        Colour::new(small_width, small_height, small).ok_or_else(|| Unreadable("no pixels".into()))?;
    Ok((colour, width as u32, height as u32))
}

//! PNG, WebP, BMP and GIF, by the crate `image`.

use std::io::Cursor;

use image::{
    ColorType, ImageDecoder, ImageError, Limits,
    codecs::{bmp::BmpDecoder, gif::GifDecoder, png::PngDecoder, webp::WebPDecoder},
};

use super::{
    Unreadable, ends,
    format::Format,
    limits::{MAX_EDGE, MAX_MEMORY, check_size, memory_for},
    rows::{Samples, Stored},
    turn::Turn,
};

/// Bytes that a PNG decoder may take besides the pixels: a row or two, a colour profile.
const PNG_EXTRA: u64 = 32_000_000;

/// Decodes a picture of one of these formats.
pub fn decode(format: Format, bytes: &[u8]) -> Result<Stored, Unreadable> {
    ends::check(format, bytes)?;
    let reader = Cursor::new(bytes);
    let failed = |error| failed(format, error);
    match format {
        Format::Png => {
            // Before the decoder looks at anything else.
            let size = |at: usize| {
                bytes.get(at..at + 4).map(|edge| edge.iter().fold(0, |sum, &b| sum << 8 | u32::from(b)))
            };
            if let (Some(width), Some(height)) = (size(16), size(20)) {
                check_size(width, height)?;
            }
            let mut limits = Limits::no_limits();
            limits.max_alloc = Some(PNG_EXTRA);
            read(format, PngDecoder::with_limits(reader, limits).map_err(failed)?, 0, None)
        }
        // Planes of brightness and colour, and what animations are put together from.
        Format::WebP => read(format, WebPDecoder::new(reader).map_err(failed)?, 6, Some(web_p_turn(bytes))),
        Format::Bmp => read(format, BmpDecoder::new(reader).map_err(failed)?, 0, None),
        // A frame as large as the picture may lie beside it.
        _ => read(format, GifDecoder::new(reader).map_err(failed)?, 5, None),
    }
}

/// The turn of a WebP. Its decoder would allocate for EXIF data what they say to be long, up to four gigabytes, before it
/// looks whether the file is as long.
fn web_p_turn(bytes: &[u8]) -> Turn {
    // Only with a header of this kind there are chunks besides the picture.
    if bytes.get(12..16) != Some(b"VP8X") {
        return Turn::default();
    }
    let mut rest = bytes.get(12..).unwrap_or_default();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let [.., a, b, c, d] = *head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let Some(data) = after.get(..length) else { break };
        if head.starts_with(b"EXIF") {
            return Turn::from_exif_block(data);
        }
        // Chunks begin at even places.
        rest = after.get(length + length % 2..).unwrap_or_default();
    }
    Turn::default()
}

/// Reads a picture whose decoder takes some bytes a pixel besides the pixels themselves. Its turn is asked of the decoder
/// unless it is known.
fn read(
    format: Format,
    mut decoder: impl ImageDecoder,
    besides: u64,
    turn: Option<Turn>,
) -> Result<Stored, Unreadable> {
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    let pixels = u64::from(width) * u64::from(height);
    let memory = memory_for(format, (width, height), decoder.total_bytes().saturating_add(pixels * besides))?;
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(MAX_EDGE);
    limits.max_image_height = Some(MAX_EDGE);
    limits.max_alloc = Some(MAX_MEMORY);
    decoder.set_limits(limits).map_err(|error| failed(format, error))?;

    let (samples, wide) = match decoder.color_type() {
        ColorType::L8 => (Samples::Grey, false),
        ColorType::La8 => (Samples::GreyAlpha, false),
        ColorType::Rgb8 => (Samples::Rgb, false),
        ColorType::Rgba8 => (Samples::Rgba, false),
        ColorType::L16 => (Samples::Grey, true),
        ColorType::La16 => (Samples::GreyAlpha, true),
        ColorType::Rgb16 => (Samples::Rgb, true),
        ColorType::Rgba16 => (Samples::Rgba, true),
        other => return Err(Unreadable::Unsupported { format, what: format!("pixels of kind {other:?}") }),
    };
    let turn = turn.unwrap_or_else(|| {
        // Broken EXIF data are no broken picture.
        let exif = decoder.exif_metadata().ok().flatten();
        exif.map(|block| Turn::from_exif_block(&block)).unwrap_or_default()
    });
    let mut stored = Stored { width, height, turn, samples, wide, bytes: Vec::new(), _memory: memory };
    stored.bytes = vec![0; stored.row_bytes() * height as usize];
    decoder.read_image(&mut stored.bytes).map_err(|error| failed(format, error))?;
    Ok(stored)
}

fn failed(format: Format, error: ImageError) -> Unreadable {
    match error {
        ImageError::Unsupported(error) => Unreadable::Unsupported { format, what: error.to_string() },
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Unreadable::Truncated(format)
        }
        error => Unreadable::Damaged { format, what: error.to_string() },
    }
}

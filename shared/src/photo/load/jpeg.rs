//! JPEG, by zune-jpeg: of a photograph in colours only the brightness is decoded when only that is asked for.

use zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};
use zune_jpeg::JpegDecoder;

use super::{
    Unreadable,
    format::Format,
    limits::{MAX_EDGE, check_size, memory_for},
    markers::{self, Markers, largest_sampling},
    rows::{Samples, Stored},
    turn::Turn,
};

/// Decodes a JPEG, to grey where `grey` allows it and it costs less, else to RGB.
pub fn decode(bytes: &[u8], grey: bool) -> Result<Stored, Unreadable> {
    let markers = markers::read(bytes)?;
    let (width, height) = (u32::from(markers.width), u32::from(markers.height));
    check_size(width, height)?;

    let guarded = markers::guarded(bytes, &markers);
    let edge = MAX_EDGE as usize;
    // Strict: else what cannot be read is filled up with grey.
    let options = DecoderOptions::default().set_strict_mode(true).set_max_width(edge).set_max_height(edge);
    let options = options.jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(guarded.as_slice()), options);
    decoder.decode_headers().map_err(damaged)?;
    let has_luma = has_luma(&markers, decoder.input_colorspace());
    let has_colours = has_colours(&markers);
    if !has_luma && !has_colours {
        let (across, down) = largest_sampling(&markers.sampling);
        let what = format!("one colour sample for {across} x {down} of brightness");
        return Err(Unreadable::Unsupported { format: Format::Jpeg, what });
    }
    // Where the decoder gets colours wrong, a grey picture is still something to draw on.
    let luma = has_luma && (grey || !has_colours);
    if luma {
        decoder.set_options(options.jpeg_set_out_colorspace(ColorSpace::Luma));
    }
    let memory = memory_for(Format::Jpeg, (width, height), memory(&markers, luma))?;
    markers::check_means(bytes, &markers)?;

    let samples = if luma { Samples::Grey } else { Samples::Rgb };
    let turn = markers.exif.map(Turn::from_exif_block).unwrap_or_default();
    let mut stored = Stored { width, height, turn, samples, wide: false, bytes: Vec::new(), _memory: memory };
    stored.bytes = vec![0; stored.row_bytes() * height as usize];
    if decoder.output_buffer_size() != Some(stored.bytes.len()) {
        return Err(damaged("its headers contradict each other"));
    }
    decoder.decode_into(&mut stored.bytes).map_err(damaged)?;
    Ok(stored)
}

/// Whether the first component is the brightness, at full size, and sampled in a way whose brightness the decoder gives
/// rightly by itself: it does not where units are higher than wide, nor where they are four wide and two high.
fn has_luma(markers: &Markers<'_>, colours: Option<ColorSpace>) -> bool {
    let largest = largest_sampling(&markers.sampling);
    matches!(colours, Some(ColorSpace::YCbCr | ColorSpace::Luma))
        && (markers.sampling.len() == 1
            || (markers.sampling[0] == largest && (largest.1 == 1 || largest == (2, 2))))
}

/// Whether colours are sampled in a way that the decoder gives rightly: where units are four blocks wide or high, it does
/// not.
fn has_colours(markers: &Markers<'_>) -> bool {
    let (across, down) = largest_sampling(&markers.sampling);
    markers.sampling.len() == 1 || across.max(down) <= 2
}

/// The bytes that decoding takes: pixels, and, where they come in several scans, coefficients of two bytes.
fn memory(markers: &Markers<'_>, luma: bool) -> u64 {
    let (width, height) = (u64::from(markers.width), u64::from(markers.height));
    let pixels = width * height * if luma { 1 } else { 3 };
    if !markers.progressive && markers.scans.len() == 1 {
        return pixels;
    }
    let (across, down) = largest_sampling(&markers.sampling);
    let units = width.div_ceil(8 * u64::from(across)) * height.div_ceil(8 * u64::from(down));
    let blocks: u64 = markers.sampling.iter().map(|part| u64::from(part.0) * u64::from(part.1)).sum();
    // The decoder takes this many times what it needs where units are higher than wide.
    let spare = u64::from(down.div_ceil(across));
    pixels + units * blocks * 64 * 2 * spare
}

fn damaged(error: impl std::fmt::Display) -> Unreadable {
    Unreadable::Damaged { format: Format::Jpeg, what: error.to_string() }
}

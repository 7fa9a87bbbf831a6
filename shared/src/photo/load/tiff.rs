//! TIFF, by the crate `tiff`: the first page.

use std::io::{Cursor, ErrorKind};

use tiff::{
    ColorType, TiffError,
    decoder::{BufferLayoutPreference, Decoder, DecodingSampleType, Limits},
    tags::Tag,
};

use super::{
    Unreadable,
    format::Format,
    limits::{MAX_MEMORY, check_size, memory_for},
    rows::{Samples, Stored, narrow},
    turn::Turn,
};

/// Bytes that one strip or tile may have besides, unpacked.
const STRIP: usize = 64_000_000;
/// Bytes that one entry of the directory may have: the places of the strips are the largest.
const ENTRY: usize = 4_000_000;

/// Decodes a TIFF.
pub fn decode(bytes: &[u8]) -> Result<Stored, Unreadable> {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = usize::try_from(MAX_MEMORY).unwrap_or(usize::MAX);
    limits.intermediate_buffer_size = STRIP;
    limits.ifd_value_size = ENTRY;
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(failed)?.with_limits(limits);
    let (width, height) = decoder.dimensions().map_err(failed)?;
    check_size(width, height)?;

    let colours = decoder.colortype().map_err(failed)?;
    let layout = decoder.image_buffer_layout().map_err(failed)?;
    let memory = memory_for(Format::Tiff, (width, height), layout.complete_len as u64)?;
    let (samples, wide) = samples(&mut decoder, colours, &layout)?;
    // A broken tag is no broken picture.
    let orientation =
        decoder.find_tag(Tag::Orientation).ok().flatten().and_then(|value| value.into_u16().ok());
    let turn = Turn::from_exif(orientation.and_then(|number| u8::try_from(number).ok()).unwrap_or(1));

    let mut stored = Stored { width, height, turn, samples, wide, bytes: Vec::new(), _memory: memory };
    let length = stored.row_bytes() * height as usize;
    if layout.len != length {
        return Err(unsupported(format!("{colours:?}, in rows of {:?} bytes", layout.row_stride)));
    }
    stored.bytes = vec![0; length];
    decoder.read_image_bytes(&mut stored.bytes).map_err(failed)?;
    Ok(stored)
}

/// What pixels are made of, and whether in 16 bits.
fn samples(
    decoder: &mut Decoder<Cursor<&[u8]>>,
    colours: ColorType,
    layout: &BufferLayoutPreference,
) -> Result<(Samples, bool), Unreadable> {
    let wide = match layout.sample_type {
        Some(DecodingSampleType::U8) => false,
        Some(DecodingSampleType::U16) => true,
        _ => return Err(unsupported("its samples are no whole numbers of up to 16 bits".to_owned())),
    };
    if layout.planes != 1 {
        return Err(unsupported("its colours are stored one after the other".to_owned()));
    }
    let samples = match colours {
        ColorType::Gray(bits @ (1 | 2 | 4)) => Samples::Index { bits: bits.into(), colours: ramp(bits) },
        ColorType::Palette(bits @ (1 | 2 | 4 | 8)) => {
            Samples::Index { bits: bits.into(), colours: palette(decoder)? }
        }
        ColorType::Gray(8 | 16) => Samples::Grey,
        ColorType::GrayA(8 | 16) => Samples::GreyAlpha,
        ColorType::RGB(8 | 16) => Samples::Rgb,
        ColorType::RGBA(8 | 16) => Samples::Rgba,
        ColorType::CMYK(8 | 16) => Samples::Cmyk,
        other => return Err(unsupported(format!("colours of kind {other:?}"))),
    };
    Ok((samples, wide))
}

/// Levels from black to white.
fn ramp(bits: u8) -> Vec<[u8; 3]> {
    let most = (1_u8 << bits) - 1;
    (0..=most).map(|level| [level * (255 / most); 3]).collect()
}

/// The colours: all reds, all greens, all blues, of 16 bits.
fn palette(decoder: &mut Decoder<Cursor<&[u8]>>) -> Result<Vec<[u8; 3]>, Unreadable> {
    let map = decoder.get_tag_u16_vec(Tag::ColorMap).map_err(failed)?;
    let count = map.len() / 3;
    Ok((0..count).map(|at| [map[at], map[count + at], map[2 * count + at]].map(narrow)).collect())
}

fn failed(error: TiffError) -> Unreadable {
    match error {
        TiffError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Unreadable::Truncated(Format::Tiff)
        }
        TiffError::UnsupportedError(error) => unsupported(error.to_string()),
        error => Unreadable::Damaged { format: Format::Tiff, what: error.to_string() },
    }
}

fn unsupported(what: String) -> Unreadable {
    Unreadable::Unsupported { format: Format::Tiff, what }
}

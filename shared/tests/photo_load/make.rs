//! Pictures in every format.

use std::io::Cursor;

use image::{
    ExtendedColorType, ImageEncoder,
    codecs::{bmp::BmpEncoder, gif::GifEncoder, png::PngEncoder, webp::WebPEncoder},
};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use tiff::{
    encoder::{TiffEncoder, colortype},
    tags::Tag,
};

/// A picture in colours, three bytes a pixel: a dark corner at the top left, a slope elsewhere.
pub fn corner(width: u32, height: u32) -> Vec<u8> {
    let mut pixels = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let dark = x < width / 4 && y < height / 4;
            let level = if dark { 20 } else { 140 + (x * 40 / width + y * 20 / height) };
            let level = u8::try_from(level).unwrap();
            pixels.extend([level, level + 8, level + 20]);
        }
    }
    pixels
}

/// The level that a colour has.
pub fn luma(rgb: &[u8]) -> u8 {
    let sum: u32 =
        rgb.iter().zip([19_595, 38_470, 7_471]).map(|(&part, weight)| u32::from(part) * weight).sum();
    u8::try_from((sum + 0x8000) >> 16).unwrap()
}

/// The levels of a picture in colours.
pub fn grey(rgb: &[u8]) -> Vec<u8> {
    rgb.chunks_exact(3).map(luma).collect()
}

/// EXIF data that say how a picture lies, in either byte order.
pub fn exif(orientation: u8, big: bool) -> Vec<u8> {
    if big {
        [b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".as_slice(), &[orientation], b"\0\0\0\0\0\0"]
            .concat()
    } else {
        [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[orientation], b"\0\0\0\0\0\0\0"]
            .concat()
    }
}

/// How a JPEG is made.
#[derive(Clone)]
pub struct Jpeg {
    pub color: ColorType,
    pub sampling: SamplingFactor,
    pub progressive: bool,
    pub restart: u16,
    pub exif: Option<Vec<u8>>,
}

impl Default for Jpeg {
    fn default() -> Self {
        let (color, sampling) = (ColorType::Rgb, SamplingFactor::R_4_2_0);
        Self { color, sampling, progressive: false, restart: 0, exif: None }
    }
}

/// A JPEG of quality 95.
pub fn jpeg(pixels: &[u8], width: u32, height: u32, how: &Jpeg) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 95);
    encoder.set_sampling_factor(how.sampling);
    encoder.set_progressive(how.progressive);
    if how.restart > 0 {
        encoder.set_restart_interval(how.restart);
    }
    if let Some(exif) = &how.exif {
        encoder.add_app_segment(1, [b"Exif\0\0".as_slice(), exif].concat()).unwrap();
    }
    encoder.encode(pixels, width.try_into().unwrap(), height.try_into().unwrap(), how.color).unwrap();
    bytes
}

/// A PNG of any kind of pixels that `image` writes.
pub fn png(
    pixels: &[u8],
    width: u32,
    height: u32,
    kind: ExtendedColorType,
    exif: Option<Vec<u8>>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = PngEncoder::new(&mut bytes);
    if let Some(exif) = exif {
        encoder.set_exif_metadata(exif).unwrap();
    }
    encoder.write_image(pixels, width, height, kind).unwrap();
    bytes
}

/// A WebP without loss.
pub fn webp(
    pixels: &[u8],
    width: u32,
    height: u32,
    kind: ExtendedColorType,
    exif: Option<Vec<u8>>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = WebPEncoder::new_lossless(&mut bytes);
    if let Some(exif) = exif {
        encoder.set_exif_metadata(exif).unwrap();
    }
    encoder.write_image(pixels, width, height, kind).unwrap();
    bytes
}

/// A BMP.
pub fn bmp(pixels: &[u8], width: u32, height: u32, kind: ExtendedColorType) -> Vec<u8> {
    let mut bytes = Vec::new();
    BmpEncoder::new(&mut bytes).write_image(pixels, width, height, kind).unwrap();
    bytes
}

/// A GIF of one picture.
pub fn gif(pixels: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    GifEncoder::new(&mut bytes).encode(pixels, width, height, ExtendedColorType::Rgb8).unwrap();
    bytes
}

/// A TIFF of one kind of pixels that lies in one of eight ways.
pub fn tiff<C: colortype::ColorType>(
    pixels: &[C::Inner],
    width: u32,
    height: u32,
    orientation: u16,
) -> Vec<u8>
where
    [C::Inner]: tiff::encoder::TiffValue,
{
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    let mut picture = encoder.new_image::<C>(width, height).unwrap();
    picture.encoder().write_tag(Tag::Orientation, orientation).unwrap();
    picture.write_data(pixels).unwrap();
    bytes.into_inner()
}

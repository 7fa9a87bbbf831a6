//! Small pictures of each format to begin with, into `corpus/photo_load` and `corpus/photo_read`.

use std::{fs, path::Path};

use image::ExtendedColorType as Kind;
use jpeg_encoder::{ColorType, SamplingFactor};
use tiff::encoder::colortype;

#[allow(dead_code, missing_docs)]
#[path = "../tests/photo_load/make.rs"]
mod make;

use make::Jpeg;

/// Pixels of an edge of a grid: cells of 16 and a line.
const GRID: u32 = 9 * 16 + 1;

/// A grid on paper, three bytes a pixel, with a bar or two for digits in some cells.
fn grid(size: u32) -> Vec<u8> {
    let margin = (size - GRID) / 2;
    let mut pixels = Vec::new();
    for (y, x) in (0..size).flat_map(|y| (0..size).map(move |x| (y, x))) {
        let inside = |at: u32| (margin..margin + GRID).contains(&at);
        let (u, v) = (x.wrapping_sub(margin), y.wrapping_sub(margin));
        let line = |at: u32| at % 16 == 0 || (at % 48 == 1);
        let digit = (u / 16 * 5 + v / 16 * 3) % 4 == 1
            && (4..13).contains(&(v % 16))
            && ((7..9).contains(&(u % 16)) || (v % 16 == 4 && (5..12).contains(&(u % 16))));
        let dark = inside(x) && inside(y) && (line(u) || line(v) || digit);
        pixels.extend([if dark { 30 } else { 230 }; 3]);
    }
    pixels
}

/// A picture in every format, by name.
fn all(rgb: &[u8], size: u32) -> Vec<(&'static str, Vec<u8>)> {
    let jpeg = |pixels: &[u8], color, sampling, progressive, restart, exif| {
        let how = Jpeg { color, sampling, progressive, restart, exif };
        make::jpeg(pixels, size, size, &how)
    };
    let (grey, exif) = (make::grey(rgb), Some(make::exif(6, true)));
    let (a, b) = (SamplingFactor::R_4_2_0, SamplingFactor::R_4_4_4);
    vec![
        ("baseline.jpg", jpeg(rgb, ColorType::Rgb, a, false, 0, exif.clone())),
        ("progressive.jpg", jpeg(rgb, ColorType::Rgb, a, true, 0, None)),
        ("restart.jpg", jpeg(rgb, ColorType::Rgb, b, false, 3, None)),
        ("progressive-restart.jpg", jpeg(rgb, ColorType::Rgb, b, true, 3, None)),
        ("grey.jpg", jpeg(&grey, ColorType::Luma, b, false, 0, None)),
        ("rgb.png", make::png(rgb, size, size, Kind::Rgb8, exif.clone())),
        ("grey.png", make::png(&grey, size, size, Kind::L8, None)),
        ("rgb.webp", make::webp(rgb, size, size, Kind::Rgb8, exif)),
        ("rgb.gif", make::gif(rgb, size, size)),
        ("rgb.bmp", make::bmp(rgb, size, size, Kind::Rgb8)),
        ("grey.bmp", make::bmp(&grey, size, size, Kind::L8)),
        ("rgb.tiff", make::tiff::<colortype::RGB8>(rgb, size, size, 6)),
        ("grey.tiff", make::tiff::<colortype::Gray8>(&grey, size, size, 1)),
    ]
}

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (target, size, rgb) in [("photo_load", 64, make::corner(64, 64)), ("photo_read", 155, grid(155))] {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder).expect("a folder for the seeds");
        for (name, bytes) in all(&rgb, size) {
            fs::write(folder.join(name), bytes).expect("a seed");
        }
    }
}

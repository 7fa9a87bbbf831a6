//! Every format and kind of pixels.

use image::ExtendedColorType as Kind;
use jpeg_encoder::{ColorType, SamplingFactor};
use shared::photo::load::{Refused, Unreadable, load, load_colour};
use tiff::encoder::colortype;

use crate::make::{self, Jpeg};

const WIDTH: u32 = 101;
const HEIGHT: u32 = 75;

/// A picture is read as these colours, up to `within`, in grey and in colours.
fn assert_reads(what: &str, bytes: &[u8], rgb: &[u8], within: u8) {
    let photo = load(bytes).unwrap_or_else(|error| panic!("{what} {error}"));
    let colour = load_colour(bytes).unwrap_or_else(|error| panic!("{what} {error}"));
    assert_eq!((photo.width, photo.height), (WIDTH, HEIGHT), "{what}");
    assert_eq!((photo.gray.width(), photo.gray.height()), (colour.width(), colour.height()), "{what}");
    let worst = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
    let grey = worst(photo.gray.pixels(), &make::grey(rgb));
    assert!(grey <= within, "{what}: grey is {grey} off");
    let colours = worst(colour.pixels(), rgb);
    assert!(colours <= within, "{what}: colours are {colours} off");
}

/// Smooth, so that what JPEG does to edges is not measured.
fn smooth() -> Vec<u8> {
    let level = |x: u32, y: u32| u8::try_from(60 + x + y / 2).unwrap();
    (0..HEIGHT)
        .flat_map(|y| (0..WIDTH).flat_map(move |x| [level(x, y), level(x, y) + 6, level(x, y) - 9]))
        .collect()
}

fn wide(bytes: &[u8]) -> Vec<u16> {
    bytes.iter().map(|&byte| u16::from(byte) * 257).collect()
}

fn wide_bytes(bytes: &[u8]) -> Vec<u8> {
    wide(bytes).into_iter().flat_map(u16::to_ne_bytes).collect()
}

#[test]
fn jpeg_of_every_sampling_and_order() {
    let rgb = smooth();
    let samplings = [
        ("4:4:4", SamplingFactor::R_4_4_4),
        ("4:4:0", SamplingFactor::R_4_4_0),
        ("4:2:2", SamplingFactor::R_4_2_2),
        ("4:2:0", SamplingFactor::R_4_2_0),
    ];
    for (name, sampling) in samplings {
        for progressive in [false, true] {
            for restart in [0, 1, 3, 7] {
                let how = Jpeg { sampling, progressive, restart, ..Jpeg::default() };
                let what = format!("JPEG {name}, progressive {progressive}, restarts {restart}");
                assert_reads(&what, &make::jpeg(&rgb, WIDTH, HEIGHT, &how), &rgb, 12);
            }
        }
    }
}

/// The decoder gives wrong colours where units are four blocks wide or high.
#[test]
fn jpeg_of_rare_samplings() {
    let rgb = smooth();
    let grey = make::grey(&rgb);
    for progressive in [false, true] {
        let jpeg = |sampling| {
            let how = Jpeg { sampling, progressive, ..Jpeg::default() };
            make::jpeg(&rgb, WIDTH, HEIGHT, &how)
        };
        let bytes = jpeg(SamplingFactor::R_4_1_1);
        let worst = |a: &[u8]| a.iter().zip(&grey).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(worst(load(&bytes).unwrap().gray.pixels()) <= 12);
        assert!(worst(&make::grey(load_colour(&bytes).unwrap().pixels())) <= 12);
        for sampling in [SamplingFactor::R_4_4_1, SamplingFactor::R_4_1_0] {
            assert!(matches!(load(&jpeg(sampling)), Err(Unreadable::Unsupported { .. })));
        }
    }
}

#[test]
fn jpeg_in_grey_and_in_four_colours() {
    let rgb = smooth();
    let grey = make::grey(&rgb);
    let three: Vec<u8> = grey.iter().flat_map(|&level| [level; 3]).collect();
    let ink: Vec<u8> = rgb.chunks_exact(3).flat_map(|c| [255 - c[0], 255 - c[1], 255 - c[2], 0]).collect();
    for progressive in [false, true] {
        let how = |color| Jpeg { color, progressive, sampling: SamplingFactor::R_4_4_4, ..Jpeg::default() };
        assert_reads("grey JPEG", &make::jpeg(&grey, WIDTH, HEIGHT, &how(ColorType::Luma)), &three, 4);
        assert_reads("CMYK JPEG", &make::jpeg(&ink, WIDTH, HEIGHT, &how(ColorType::Cmyk)), &rgb, 5);
        assert_reads("YCCK JPEG", &make::jpeg(&ink, WIDTH, HEIGHT, &how(ColorType::CmykAsYcck)), &rgb, 6);
    }
}

#[test]
fn png_of_every_kind() {
    let rgb = make::corner(WIDTH, HEIGHT);
    let grey = make::grey(&rgb);
    let three: Vec<u8> = grey.iter().flat_map(|&level| [level; 3]).collect();
    let png = |pixels: &[u8], kind| make::png(pixels, WIDTH, HEIGHT, kind, None);
    assert_reads("PNG L8", &png(&grey, Kind::L8), &three, 0);
    assert_reads("PNG L16", &png(&wide_bytes(&grey), Kind::L16), &three, 0);
    assert_reads("PNG RGB8", &png(&rgb, Kind::Rgb8), &rgb, 0);
    assert_reads("PNG RGB16", &png(&wide_bytes(&rgb), Kind::Rgb16), &rgb, 0);
}

#[test]
fn transparency_is_over_white() {
    let rgb = make::corner(WIDTH, HEIGHT);
    for (alpha, part) in [(0_u8, 0.0), (255, 1.0), (102, 0.4)] {
        let rgba: Vec<u8> = rgb.chunks_exact(3).flat_map(|c| [c[0], c[1], c[2], alpha]).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
        let seen: Vec<u8> =
            rgb.iter().map(|&level| (f64::from(level) * part + 255.0 * (1.0 - part)).round() as u8).collect();
        let within = u8::from(alpha == 102);
        assert_reads("PNG RGBA8", &make::png(&rgba, WIDTH, HEIGHT, Kind::Rgba8, None), &seen, within);
        let wide = wide_bytes(&rgba);
        assert_reads("PNG RGBA16", &make::png(&wide, WIDTH, HEIGHT, Kind::Rgba16, None), &seen, within);
        assert_reads("WebP RGBA", &make::webp(&rgba, WIDTH, HEIGHT, Kind::Rgba8, None), &seen, within);
        let pairs: Vec<u8> = make::grey(&rgb).into_iter().flat_map(|level| [level, alpha]).collect();
        let seen: Vec<u8> = make::grey(&seen).into_iter().flat_map(|level| [level; 3]).collect();
        assert_reads("PNG LA8", &make::png(&pairs, WIDTH, HEIGHT, Kind::La8, None), &seen, 1);
    }
}

#[test]
fn png_with_few_bits_and_with_a_palette() {
    for (depth, bits) in [
        (png::BitDepth::One, 1),
        (png::BitDepth::Two, 2),
        (png::BitDepth::Four, 4),
        (png::BitDepth::Eight, 8_usize),
    ] {
        let most = (1_usize << bits) - 1;
        let index = |x: usize, y: usize| (x + y * 3) & most;
        let mut rows = Vec::new();
        let (mut levels, mut colours) = (Vec::new(), Vec::new());
        let palette: Vec<u8> = (0..=most)
            .flat_map(|at| [at * 255 / most, 255 - at * 255 / most, 7])
            .map(|c| u8::try_from(c).unwrap())
            .collect();
        for y in 0..HEIGHT as usize {
            let mut row = vec![0_u8; (WIDTH as usize * bits).div_ceil(8)];
            for x in 0..WIDTH as usize {
                row[x * bits / 8] |= u8::try_from(index(x, y)).unwrap() << (8 - bits - x * bits % 8);
                levels.extend([u8::try_from(index(x, y) * 255 / most).unwrap(); 3]);
                colours.extend_from_slice(&palette[index(x, y) * 3..][..3]);
            }
            rows.extend(row);
        }
        for (kind, seen) in [(png::ColorType::Grayscale, &levels), (png::ColorType::Indexed, &colours)] {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
            encoder.set_color(kind);
            encoder.set_depth(depth);
            if kind == png::ColorType::Indexed {
                encoder.set_palette(palette.clone());
            }
            encoder.write_header().unwrap().write_image_data(&rows).unwrap();
            assert_reads(&format!("PNG {kind:?} of {bits} bits"), &bytes, seen, 0);
        }
    }
}

#[test]
fn webp_bmp_and_gif() {
    let rgb = make::corner(WIDTH, HEIGHT);
    assert_reads("WebP", &make::webp(&rgb, WIDTH, HEIGHT, Kind::Rgb8, None), &rgb, 0);
    assert_reads("BMP", &make::bmp(&rgb, WIDTH, HEIGHT, Kind::Rgb8), &rgb, 0);
    let three: Vec<u8> = make::grey(&rgb).into_iter().flat_map(|level| [level; 3]).collect();
    assert_reads("grey BMP", &make::bmp(&make::grey(&rgb), WIDTH, HEIGHT, Kind::L8), &three, 0);
    // 256 colours are enough for this one.
    assert_reads("GIF", &make::gif(&rgb, WIDTH, HEIGHT), &rgb, 3);
}

#[test]
fn tiff_of_every_kind() {
    let rgb = make::corner(WIDTH, HEIGHT);
    let grey = make::grey(&rgb);
    let three: Vec<u8> = grey.iter().flat_map(|&level| [level; 3]).collect();
    assert_reads("TIFF L8", &make::tiff::<colortype::Gray8>(&grey, WIDTH, HEIGHT, 1), &three, 0);
    assert_reads("TIFF L16", &make::tiff::<colortype::Gray16>(&wide(&grey), WIDTH, HEIGHT, 1), &three, 0);
    assert_reads("TIFF RGB8", &make::tiff::<colortype::RGB8>(&rgb, WIDTH, HEIGHT, 1), &rgb, 0);
    assert_reads("TIFF RGB16", &make::tiff::<colortype::RGB16>(&wide(&rgb), WIDTH, HEIGHT, 1), &rgb, 0);
    let ink: Vec<u8> = rgb.chunks_exact(3).flat_map(|c| [255 - c[0], 255 - c[1], 255 - c[2], 0]).collect();
    assert_reads("TIFF CMYK", &make::tiff::<colortype::CMYK8>(&ink, WIDTH, HEIGHT, 1), &rgb, 0);
}

#[test]
fn others_are_refused_by_name() {
    let refused = |bytes: &[u8]| match load(bytes) {
        Err(Unreadable::Refused(what)) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"), Refused::Heic);
    assert_eq!(refused(b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic"), Refused::Heic);
    assert_eq!(refused(b"\0\0\0\x18ftypmif1\0\0\0\0mif1avif"), Refused::Avif);
    assert_eq!(refused(b"\0\0\0\x18ftypisom\0\0\0\0"), Refused::Film);
    assert_eq!(refused(b"%PDF-1.7\n"), Refused::Pdf);
    assert_eq!(refused(b"<?xml version='1.0'?><svg/>"), Refused::Svg);
    assert_eq!(refused(b"PK\x03\x04...."), Refused::Archive);
    assert_eq!(refused(b"II*\0\x10\0\0\0CR\x02\0"), Refused::Raw);
    let said = load(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic").unwrap_err().to_string();
    assert!(said.starts_with("is a HEIC photograph, which is not read here: convert it"), "{said}");

    let said = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
    assert_eq!(said(b""), "is empty");
    assert_eq!(said(b"530070000600195000098000060\n"), "is no picture: it is text");
    assert_eq!(said("BMW, für alle".as_bytes()), "is no picture: it is text");
    assert_eq!(
        said(&[0, 1, 2, 3, 4]),
        "is no picture: it begins with 00 01 02 03, like no format that is known here"
    );
}

//! Files that break off or are damaged.

use image::ExtendedColorType as Kind;
use jpeg_encoder::{ColorType, SamplingFactor};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shared::photo::load::{Format, Unreadable, load, load_colour};
use tiff::encoder::colortype;

use crate::make::{self, Jpeg};

const SIZE: u32 = 72;

fn all() -> Vec<(Format, Vec<u8>)> {
    let rgb = make::corner(SIZE, SIZE);
    let exif = Some(make::exif(6, false));
    let jpeg = |progressive, restart| {
        let how = Jpeg { progressive, restart, exif: exif.clone(), ..Jpeg::default() };
        (Format::Jpeg, make::jpeg(&rgb, SIZE, SIZE, &how))
    };
    vec![
        jpeg(false, 0),
        jpeg(false, 2),
        jpeg(false, 5),
        jpeg(true, 0),
        jpeg(true, 5),
        (Format::Png, make::png(&rgb, SIZE, SIZE, Kind::Rgb8, exif.clone())),
        (Format::WebP, make::webp(&rgb, SIZE, SIZE, Kind::Rgb8, exif.clone())),
        (Format::Gif, make::gif(&rgb, SIZE, SIZE)),
        (Format::Bmp, make::bmp(&rgb, SIZE, SIZE, Kind::Rgb8)),
        (Format::Tiff, make::tiff::<colortype::RGB8>(&rgb, SIZE, SIZE, 6)),
    ]
}

#[test]
fn cut_off_at_every_length() {
    for (format, bytes) in all() {
        let whole = load(&bytes).unwrap().gray;
        let mut truncated = 0;
        for length in 0..bytes.len() {
            match load(&bytes[..length]) {
                Err(Unreadable::Truncated(named)) => {
                    assert_eq!(named, format);
                    truncated += 1;
                }
                Err(_) => {}
                // Behind the picture a TIFF may have bytes that say nothing.
                Ok(photo) => {
                    assert!(format == Format::Tiff && photo.gray == whole, "{format} cut to {length}");
                }
            }
        }
        assert!(truncated * 2 > bytes.len(), "{format}: {truncated} of {} said to break off", bytes.len());
    }
}

#[test]
fn the_message_for_a_file_that_breaks_off() {
    let (_, bytes) = all().swap_remove(0);
    let said = load(&bytes[..bytes.len() / 2]).unwrap_err().to_string();
    assert_eq!(said, "breaks off: the end of the JPEG is missing; copy or download it again");
}

#[test]
fn an_end_that_was_put_on_later_is_not_believed() {
    for at in 0..5 {
        let (_, bytes) = all().swap_remove(at);
        let cut = [&bytes[..bytes.len() * 2 / 3], b"\xff\xd9"].concat();
        let error = load(&cut).unwrap_err();
        assert!(matches!(error, Unreadable::Damaged { .. } | Unreadable::Truncated(Format::Jpeg)), "{error}");
    }
}

#[test]
fn more_pictures_behind_the_first_are_nothing_to_it() {
    let (_, bytes) = all().swap_remove(0);
    let twice = [bytes.as_slice(), &bytes, b"and a tail"].concat();
    assert_eq!(load(&twice).unwrap().gray, load(&bytes).unwrap().gray);
}

/// Found by fuzzing: at a restart that is not due the decoder goes on with zeros, and most of the picture is grey.
#[test]
fn a_jpeg_with_restarts_that_are_not_due() {
    for (_, bytes) in [1, 4].map(|at| all().swap_remove(at)) {
        let interval = bytes.windows(4).position(|marker| marker == [0xff, 0xdd, 0, 4]).unwrap() + 5;
        for units in [0, 12, 24] {
            let mut damaged = bytes.clone();
            damaged[interval] = units;
            let error = load(&damaged).unwrap_err();
            assert!(error.to_string().contains("restarts where none are due"), "every {units}: {error}");
        }
    }
}

/// Bits and bytes changed, put in and taken out: whatever comes of it, no panic. The seed is printed with a failure.
#[test]
fn damaged_at_random() {
    let seed = 20_260_101;
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for (format, bytes) in all() {
        for round in 0..600 {
            let mut damaged = bytes.clone();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(0..damaged.len());
                match random.random_range(0..4) {
                    0 => damaged[at] ^= 1 << random.random_range(0..8),
                    1 => damaged[at] = random.random(),
                    2 => damaged.insert(at, random.random()),
                    _ => {
                        damaged.remove(at);
                    }
                }
            }
            let result = std::panic::catch_unwind(|| (load(&damaged).is_ok(), load_colour(&damaged).is_ok()));
            assert!(result.is_ok(), "{format}, seed {seed}, round {round}");
        }
    }
}

/// Progressive pictures of every kind: in one first scan or in one for each component, with restarts, grey, of four colours.
fn progressive() -> Vec<Vec<u8>> {
    let (width, height) = (136, 120);
    let rgb = make::corner(width, height);
    let (grey, four) = (make::grey(&rgb), rgb.repeat(2)[..(width * height * 4) as usize].to_vec());
    let of = |pixels: &[u8], color, sampling, restart| {
        let how = Jpeg { color, sampling, restart, progressive: true, ..Jpeg::default() };
        make::jpeg(pixels, width, height, &how)
    };
    vec![
        of(&rgb, ColorType::Rgb, SamplingFactor::R_4_2_0, 0),
        of(&rgb, ColorType::Rgb, SamplingFactor::R_4_4_4, 0),
        of(&rgb, ColorType::Rgb, SamplingFactor::R_4_2_2, 7),
        of(&grey, ColorType::Luma, SamplingFactor::R_4_4_4, 0),
        // Not a whole number of restarts: at one that would be due at the end the decoder looks for a marker.
        of(&grey, ColorType::Luma, SamplingFactor::R_4_4_4, 4),
        of(&four, ColorType::Cmyk, SamplingFactor::R_4_4_4, 0),
    ]
}

/// Where the data of each scan begin and end.
fn scans(jpeg: &[u8]) -> Vec<std::ops::Range<usize>> {
    let marker = |at: usize, wanted: fn(u8) -> bool| {
        (at..jpeg.len() - 1).find(|&at| jpeg[at] == 0xff && wanted(jpeg[at + 1])).unwrap()
    };
    let mut scans = Vec::new();
    let mut at = 2;
    while jpeg[at + 1] != 0xd9 {
        let begin = at + 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
        let is_scan = jpeg[at + 1] == 0xda;
        at = if is_scan { marker(begin, |code| !matches!(code, 0 | 0xd0..=0xd7)) } else { begin };
        if is_scan {
            scans.push(begin..at);
        }
    }
    scans
}

#[test]
fn a_first_scan_that_breaks_off_is_not_filled_up() {
    for (number, bytes) in progressive().into_iter().enumerate() {
        let whole = load(&bytes).unwrap().gray;
        assert_eq!(load(&[bytes.as_slice(), b"\0\xff\xd9 a tail"].concat()).unwrap().gray, whole);
        let first = scans(&bytes)[0].clone();
        for cut in first.clone() {
            // With an end that a program put on, with some more bytes of something else, and without.
            for end in [b"\xff\xd9".as_slice(), b"\xff\xff\xd9 and a tail", b"\0\0\0\0", b""] {
                let error = load(&[&bytes[..cut], end].concat());
                // With an end put on, too few restarts are what is seen first.
                let named = matches!(error, Err(Unreadable::Truncated(Format::Jpeg)))
                    || (matches!(number, 2 | 4) && matches!(error, Err(Unreadable::Damaged { .. })));
                assert!(named, "picture {number}, {cut} of {first:?}, {end:?}");
            }
            // More scans are there: then it is no end that is missing.
            let hole = load(&[&bytes[..cut], &bytes[first.end..]].concat());
            let named = matches!(hole, Err(Unreadable::Damaged { .. }));
            assert!(named, "picture {number}, {cut} of {first:?}: {:?}", hole.err());
        }
    }
}

#[test]
fn later_scans_that_break_off_are_refused_too() {
    for (number, bytes) in progressive().into_iter().enumerate() {
        let scans = scans(&bytes);
        assert!(scans.len() > 1);
        for scan in &scans[1..] {
            // What is put behind may be taken for the last byte or two.
            for cut in scan.start..scan.end - 2 {
                let result = load(&[&bytes[..cut], b"\xff\xd9"].concat());
                assert!(result.is_err(), "picture {number}, {cut} of {scan:?}");
            }
        }
    }
}

#[test]
fn a_progressive_picture_without_refinements_is_coarse_and_whole() {
    let bytes = progressive().swap_remove(0);
    let whole = load(&bytes).unwrap().gray;
    // The encoder gives each component a first scan.
    let coarse = load(&[&bytes[..scans(&bytes)[2].end], b"\xff\xd9"].concat()).unwrap().gray;
    let apart =
        whole.pixels().iter().zip(coarse.pixels()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>();
    assert!(apart / (136 * 120) < 4, "{apart}");
}

#[test]
fn a_first_scan_without_some_component_is_refused() {
    // The frame has one component more than any scan comes to.
    let bytes = progressive().swap_remove(3);
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc2]).unwrap();
    let name = bytes[frame + 10];
    let components = [3, name, 0x11, 0, name + 1, 0x11, 0, name + 2, 0x11, 0];
    let missing =
        [&bytes[..frame + 2], &[0, 17], &bytes[frame + 4..frame + 9], &components, &bytes[frame + 13..]]
            .concat();
    assert_eq!(load(&missing).unwrap_err(), Unreadable::Truncated(Format::Jpeg));
}

//! Files that break off or are damaged.

use image::ExtendedColorType as Kind;
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
        assert!(matches!(error, Unreadable::Damaged { .. }), "{error}");
    }
}

#[test]
fn more_pictures_behind_the_first_are_nothing_to_it() {
    let (_, bytes) = all().swap_remove(0);
    let twice = [bytes.as_slice(), &bytes, b"and a tail"].concat();
    assert_eq!(load(&twice).unwrap().gray, load(&bytes).unwrap().gray);
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

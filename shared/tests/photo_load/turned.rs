//! All eight ways that a picture can lie.

use image::ExtendedColorType as Kind;
use shared::photo::{
    Colour, Gray,
    load::{load, load_colour},
};
use tiff::encoder::colortype;

use crate::make::{self, Jpeg};

const WIDTH: u32 = 120;
const HEIGHT: u32 = 80;

/// Where the dark corner is to be seen: right, below; and whether width and height change places.
const SEEN: [(bool, bool, bool); 8] = [
    (false, false, false),
    (true, false, false),
    (true, true, false),
    (false, true, false),
    (false, false, true),
    (true, false, true),
    (true, true, true),
    (false, true, true),
];

fn assert_lies(what: &str, bytes: &[u8], orientation: u8) {
    let photo = load(bytes).unwrap_or_else(|error| panic!("{what} {error}"));
    let (right, below, changed) = SEEN[usize::from(orientation) - 1];
    let size = if changed { (HEIGHT, WIDTH) } else { (WIDTH, HEIGHT) };
    assert_eq!((photo.width, photo.height), size, "{what} {orientation}");
    assert_eq!(
        (photo.gray.width(), photo.gray.height()),
        (size.0 as usize, size.1 as usize),
        "{what} {orientation}"
    );
    let colour = load_colour(bytes).unwrap();
    for x in [false, true] {
        for y in [false, true] {
            let dark = (x, y) == (right, below);
            assert_eq!(level(&photo.gray, x, y) < 80, dark, "{what} {orientation}");
            assert_eq!(level_in_colours(&colour, x, y) < 80, dark, "{what} {orientation}");
        }
    }
}

fn level(gray: &Gray, right: bool, below: bool) -> u8 {
    gray.at(if right { gray.width() - 6 } else { 5 }, if below { gray.height() - 6 } else { 5 })
}

fn level_in_colours(colour: &Colour, right: bool, below: bool) -> u8 {
    make::luma(
        &colour.at(if right { colour.width() - 6 } else { 5 }, if below { colour.height() - 6 } else { 5 }),
    )
}

#[test]
fn every_format_honours_it() {
    let rgb = make::corner(WIDTH, HEIGHT);
    for orientation in 1..=8 {
        for big in [false, true] {
            let exif = Some(make::exif(orientation, big));
            let how = Jpeg { exif: exif.clone(), ..Jpeg::default() };
            assert_lies("JPEG", &make::jpeg(&rgb, WIDTH, HEIGHT, &how), orientation);
            assert_lies("PNG", &make::png(&rgb, WIDTH, HEIGHT, Kind::Rgb8, exif.clone()), orientation);
            assert_lies("WebP", &make::webp(&rgb, WIDTH, HEIGHT, Kind::Rgb8, exif), orientation);
        }
        assert_lies(
            "TIFF",
            &make::tiff::<colortype::RGB8>(&rgb, WIDTH, HEIGHT, orientation.into()),
            orientation,
        );
    }
}

#[test]
fn broken_exif_is_no_error() {
    let rgb = make::corner(WIDTH, HEIGHT);
    let whole = make::exif(6, true);
    let mut blocks: Vec<Vec<u8>> = (0..whole.len() - 8).map(|length| whole[..length].to_vec()).collect();
    blocks.extend([make::exif(0, true), make::exif(9, false), vec![0xff; 40]]);
    // A directory that lies beyond the end.
    blocks.push(b"II*\0\xff\xff\xff\xff\x01\0".to_vec());
    for exif in blocks {
        let how = Jpeg { exif: Some(exif.clone()), ..Jpeg::default() };
        assert_lies("JPEG", &make::jpeg(&rgb, WIDTH, HEIGHT, &how), 1);
        assert_lies("PNG", &make::png(&rgb, WIDTH, HEIGHT, Kind::Rgb8, Some(exif)), 1);
    }
}

#[test]
fn large_pictures_are_turned_after_they_are_made_smaller() {
    let grey = make::grey(&make::corner(2400, 1800));
    let exif = Some(make::exif(6, true));
    let photo = load(&make::png(&grey, 2400, 1800, Kind::L8, exif)).unwrap();
    assert_eq!((photo.width, photo.height), (1800, 2400));
    assert_eq!((photo.gray.width(), photo.gray.height()), (1200, 1600));
    assert!(level(&photo.gray, true, false) < 80 && level(&photo.gray, false, false) > 80);
}

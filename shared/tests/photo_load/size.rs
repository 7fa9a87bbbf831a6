//! Making pictures smaller, against a slow way that is easily seen to be right.

use image::ExtendedColorType as Kind;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shared::photo::load::{LONG_EDGE, load, load_colour};

use crate::make;

/// The mean of the rectangle under each new pixel, part by part: each old pixel is cut into as many parts, across and
/// down, as the new picture has pixels, and a new pixel has as many as the old picture.
fn slow(pixels: &[u8], channels: usize, old: (usize, usize), new: (usize, usize)) -> Vec<u8> {
    let overlap = |a: (usize, usize), b: (usize, usize)| (a.1.min(b.1) - a.0.max(b.0)) as u64;
    let mut small = Vec::new();
    for y in 0..new.1 {
        let down = (y * old.1, (y + 1) * old.1);
        for x in 0..new.0 {
            let across = (x * old.0, (x + 1) * old.0);
            for channel in 0..channels {
                let mut sum = 0;
                for row in down.0 / new.1..down.1.div_ceil(new.1) {
                    for column in across.0 / new.0..across.1.div_ceil(new.0) {
                        let parts = overlap(down, (row * new.1, (row + 1) * new.1))
                            * overlap(across, (column * new.0, (column + 1) * new.0));
                        sum += parts * u64::from(pixels[(row * old.0 + column) * channels + channel]);
                    }
                }
                let area = (old.0 * old.1) as u64;
                small.push(u8::try_from((sum + area / 2) / area).unwrap());
            }
        }
    }
    small
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = vec![0; length];
    random.fill_bytes(&mut bytes);
    bytes
}

#[test]
fn the_fast_way_is_the_slow_way() {
    let mut random = ChaCha8Rng::seed_from_u64(1600);
    let mut sizes =
        vec![(1601, 64), (3200, 128), (64, 1603), (3199, 97), (100, 4800), (1600, 1601), (20_011, 64)];
    sizes.extend((0..8).map(|_| (random.random_range(1601..5000), random.random_range(64..300))));
    for (at, (width, height)) in sizes.into_iter().enumerate() {
        let longer = width.max(height);
        let scaled = |edge: usize| (edge * LONG_EDGE * 2 + longer) / (longer * 2);
        let new = (scaled(width), scaled(height));
        let (w, h) = (u32::try_from(width).unwrap(), u32::try_from(height).unwrap());

        let mut grey = noise(width * height, at as u64);
        if at == 0 {
            // Nothing gets brighter than white nor darker than black.
            grey = grey.iter().map(|level| if level % 3 == 0 { 0 } else { 255 }).collect();
        }
        let photo = load(&make::png(&grey, w, h, Kind::L8, None)).unwrap();
        assert_eq!((photo.width, photo.height), (w, h));
        assert_eq!((photo.gray.width(), photo.gray.height()), new);
        assert!(photo.gray.pixels() == slow(&grey, 1, (width, height), new), "grey {width} x {height}");

        let rgb = noise(width * height * 3, at as u64);
        let colour = load_colour(&make::png(&rgb, w, h, Kind::Rgb8, None)).unwrap();
        assert!(colour.pixels() == slow(&rgb, 3, (width, height), new), "colours {width} x {height}");
    }
}

#[test]
fn white_stays_white() {
    let photo = load(&make::png(&vec![255; 2777 * 2111], 2777, 2111, Kind::L8, None)).unwrap();
    assert!(photo.gray.pixels().iter().all(|&level| level == 255));
}

#[test]
fn nothing_is_made_larger() {
    for (width, height) in [(64, 64), (65, 1600), (1600, 70), (640, 480)] {
        let grey = noise(width * height, 3);
        let (w, h) = (u32::try_from(width).unwrap(), u32::try_from(height).unwrap());
        let photo = load(&make::png(&grey, w, h, Kind::L8, None)).unwrap();
        assert_eq!((photo.gray.width(), photo.gray.height()), (width, height));
        assert!(photo.gray.pixels() == grey);
    }
}

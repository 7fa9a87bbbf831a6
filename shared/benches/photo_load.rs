//! Bytes of a photograph to a grey picture. `Criterion` prints milliseconds.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use shared::photo::load::{load, load_colour};

/// A page with lines and digits' worth of strokes, shadows and grain, as a telephone stores it: 4:2:0, quality 90.
fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut state = 1_u32;
    let mut pixels = Vec::with_capacity(usize::from(width) * usize::from(height) * 3);
    for y in 0..u32::from(height) {
        for x in 0..u32::from(width) {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let grain = state >> 28;
            let shadow = (x + y) * 60 / (u32::from(width) + u32::from(height));
            let ink = x % 97 < 5 || y % 89 < 5 || (x % 31 < 7 && y % 37 < 20 && (x + y) % 13 < 6);
            let level = if ink { 40 } else { 210 } - shadow / 2 + grain;
            pixels.extend([level, level - 8, level - 16].map(|level| u8::try_from(level).unwrap_or(0)));
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 90);
    encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
    encoder.encode(&pixels, width, height, ColorType::Rgb).expect("a picture");
    bytes
}

fn loading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("photo_load");
    group.sample_size(20);
    for (name, width, height) in [("12 megapixels", 4032, 3024), ("640x480", 640, 480)] {
        let bytes = jpeg(width, height);
        group.bench_function(format!("grey, JPEG of {name}, {} KB", bytes.len() / 1000), |bencher| {
            bencher.iter(|| load(black_box(&bytes)).expect("a photograph"));
        });
        group.bench_function(format!("colour, JPEG of {name}"), |bencher| {
            bencher.iter(|| load_colour(black_box(&bytes)).expect("a photograph"));
        });
    }
    group.finish();
}

criterion_group!(benches, loading);
criterion_main!(benches);

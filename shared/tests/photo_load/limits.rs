//! Pictures that are refused for their size, before memory is taken for them.

use image::ExtendedColorType as Kind;
use shared::photo::load::{Format, Unreadable, load, load_colour};

use crate::make::{self, Jpeg};

/// A PNG that says it is so large, its checksum right, with hardly any data.
fn claims(width: u32, height: u32, depth: png::BitDepth, color: png::ColorType) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    // Deflate: an empty block.
    writer.write_chunk(png::chunk::IDAT, &[0x78, 1, 1, 0, 0, 0xff, 0xff, 0, 0, 0, 1]).unwrap();
    drop(writer);
    if !bytes.ends_with(b"IEND\xae\x42\x60\x82") {
        bytes.extend(b"\0\0\0\0IEND\xae\x42\x60\x82");
    }
    bytes
}

fn grey(width: u32, height: u32) -> Vec<u8> {
    claims(width, height, png::BitDepth::Eight, png::ColorType::Grayscale)
}

/// A JPEG whose header says another size.
fn jpeg_of(width: u16, height: u16, progressive: bool) -> Vec<u8> {
    let how = Jpeg { progressive, sampling: jpeg_encoder::SamplingFactor::R_4_4_4, ..Jpeg::default() };
    let mut bytes = make::jpeg(&make::corner(64, 64), 64, 64, &how);
    let frame =
        bytes.windows(4).position(|w| w[0] == 0xff && w[1] == if progressive { 0xc2 } else { 0xc0 }).unwrap();
    bytes[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    bytes[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    bytes
}

#[test]
fn sizes() {
    let said = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
    assert_eq!(
        said(&grey(20_000, 10_000)),
        "is 20000 x 10000 pixels, 200 megapixels: too large; at most 100 megapixels are read"
    );
    assert_eq!(
        load(&grey(10_001, 10_000)).unwrap_err(),
        Unreadable::TooLarge { width: 10_001, height: 10_000 }
    );
    assert_eq!(said(&grey(30_001, 64)), "is 30001 x 64 pixels: too long; each edge may have at most 30000");
    assert_eq!(
        said(&grey(63, 200)),
        "is 63 x 200 pixels: too small to read; each edge must have at least 64"
    );
    assert_eq!(
        load(&jpeg_of(20_000, 10_000, false)).unwrap_err(),
        Unreadable::TooLarge { width: 20_000, height: 10_000 }
    );
    assert!(matches!(load(&jpeg_of(65_000, 1000, false)).unwrap_err(), Unreadable::TooLong { .. }));
    assert!(matches!(load(&jpeg_of(10, 1000, false)).unwrap_err(), Unreadable::TooSmall { .. }));
    let small = make::bmp(&make::corner(64, 60), 64, 60, Kind::Rgb8);
    assert!(matches!(load(&small).unwrap_err(), Unreadable::TooSmall { .. }));
    assert!(load(&make::bmp(&make::corner(64, 64), 64, 64, Kind::Rgb8)).is_ok());
}

#[test]
fn memory() {
    let wide = claims(10_000, 10_000, png::BitDepth::Sixteen, png::ColorType::Rgba);
    assert_eq!(
        load(&wide).unwrap_err(),
        Unreadable::TooMuchMemory { format: Format::Png, width: 10_000, height: 10_000, bytes: 800_000_000 }
    );
    // Two bytes for each coefficient of three components, and a byte for each pixel.
    assert!(matches!(
        load(&jpeg_of(10_000, 10_000, true)).unwrap_err(),
        Unreadable::TooMuchMemory { bytes: 700_000_000.., .. }
    ));
    assert!(matches!(load(&jpeg_of(6500, 6500, true)).unwrap_err(), Unreadable::Damaged { .. }));
    assert!(matches!(load_colour(&jpeg_of(6500, 6500, true)).unwrap_err(), Unreadable::TooMuchMemory { .. }));
}

/// A hundred megapixels of nothing, in a hundred kilobytes, are read; more are refused without being unpacked.
#[test]
fn a_bomb() {
    let bytes = make::png(&vec![0; 100_000_000], 10_000, 10_000, Kind::L8, None);
    assert!(bytes.len() < 1_000_000);
    let photo = load(&bytes).unwrap();
    assert_eq!((photo.gray.width(), photo.gray.height()), (1600, 1600));
    assert!(photo.gray.pixels().iter().all(|&level| level == 0));
    for (width, height) in [(u32::MAX, u32::MAX), (1 << 31, 64), (30_000, 30_000), (0, 0)] {
        let mut bytes = bytes.clone();
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let error = load(&bytes).unwrap_err();
        assert!(
            matches!(
                error,
                Unreadable::TooLarge { .. } | Unreadable::TooLong { .. } | Unreadable::TooSmall { .. }
            ),
            "{error}"
        );
    }
}

/// EXIF data that say that they are four gigabytes long are no reason to ask for as much. Found by fuzzing.
#[test]
fn exif_of_a_claimed_length() {
    let rgb = make::corner(72, 64);
    let mut bytes = make::webp(&rgb, 72, 64, Kind::Rgb8, Some(make::exif(6, false)));
    let turned = load(&bytes).unwrap().gray;
    assert_eq!((turned.width(), turned.height()), (64, 72));
    let at = bytes.windows(4).position(|name| name == b"EXIF").unwrap();
    bytes[at + 4..at + 8].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    let photo = load(&bytes).unwrap().gray;
    assert_eq!((photo.width(), photo.height()), (72, 64));
    assert!(photo.pixels().iter().eq(make::grey(&rgb).iter()));
    // Where the system tells: what the process had at most, of address space, which is where it would show.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).map(str::trim);
    if let Some(kilobytes) = peak.and_then(|line| line.split(' ').next()) {
        assert!(kilobytes.parse::<u64>().unwrap() < 4_000_000, "{kilobytes} kB");
    }
}

//! How keys and values lie in sled.
//!
//! ```text
//! 1 key          version u8, crc32 of key and value, length u32, the first PART_BYTES of the value
//! 2 key part     the next PART_BYTES; part is a big-endian u16
//! ```

use super::MAX_VALUE_BYTES;

/// What one sled value holds at most: 17 of them, the fullest leaf, stay well below its 128 KiB.
pub const PART_BYTES: usize = 4 << 10;
/// Version of the layout below, apart from what the purpose puts in.
const LAYOUT: u8 = 1;
/// Version, checksum, length.
const HEAD_BYTES: usize = 1 + 4 + 4;
/// First byte of sled's keys.
pub mod space {
    pub const META: u8 = 0;
    pub const HEAD: u8 = 1;
    pub const PART: u8 = 2;
}
pub fn head_key(key: &[u8]) -> Vec<u8> {
    [&[space::HEAD], key].concat()
}

pub fn part_key(key: &[u8], part: u16) -> Vec<u8> {
    [&[space::PART], key, &part.to_be_bytes()].concat()
}

/// Parts beside the head.
pub fn part_count(length: usize) -> u16 {
    u16::try_from(length.saturating_sub(1) / PART_BYTES).unwrap_or(u16::MAX)
}

pub fn checksum(key: &[u8], value: &[u8]) -> [u8; 4] {
    let mut crc = crc32fast::Hasher::new();
    crc.update(key);
    crc.update(value);
    crc.finalize().to_le_bytes()
}

/// Version, checksum of key and value, length of the value, and as much of it as fits.
pub fn head(key: &[u8], value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
    let first = &value[..value.len().min(PART_BYTES)];
    [&[LAYOUT], &checksum(key, value)[..], &length.to_le_bytes(), first].concat()
}

/// Length of the value and its first bytes, unchecked.
pub fn raw_head(found: &[u8]) -> Option<(usize, &[u8])> {
    let (front, first) = found.split_at_checked(HEAD_BYTES)?;
    let length = u32::from_le_bytes(front[5..].try_into().ok()?);
    let length = usize::try_from(length).ok().filter(|l| *l <= MAX_VALUE_BYTES)?;
    (front[0] == LAYOUT && first.len() == length.min(PART_BYTES)).then_some((length, first))
}

/// A value that fits its head, checked.
pub fn split_head<'a>(key: &[u8], found: &'a [u8]) -> Option<(usize, &'a [u8])> {
    let (length, value) = raw_head(found)?;
    (value.len() == length && found[1..5] == checksum(key, value)).then_some((length, value))
}

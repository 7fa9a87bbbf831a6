//! For `coordinator/fuzz`: values as they lie in sled, from any bytes.

use super::layout;

/// Length and first bytes of a value, unchecked.
pub fn raw_head(found: &[u8]) -> Option<(usize, &[u8])> {
    layout::raw_head(found)
}

/// A value without parts, checked.
pub fn whole<'a>(key: &[u8], found: &'a [u8]) -> Option<&'a [u8]> {
    layout::split_head(key, found).map(|(_, value)| value)
}

/// What is stored of a value under its own key.
pub fn head(key: &[u8], value: &[u8]) -> Vec<u8> {
    layout::head(key, value)
}

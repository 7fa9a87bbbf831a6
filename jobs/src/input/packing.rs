//! How files are packed, told by their first bytes.

use serde::{Deserialize, Serialize};

/// A way of packing that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878, any number of frames.
    Zstd,
}

/// First bytes that [`Packing::of`] wants to see.
pub const FIRST_BYTES: u64 = 16;

/// Packed files that are not read, by their first bytes: without a word they would be lines of nonsense.
const OTHERS: [(&[u8], &str); 4] = [
    (b"\xFD7zXZ\0", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"7z\xBC\xAF\x27\x1C", "7z"),
    (b"\x04\x22\x4D\x18", "lz4"),
];

impl Packing {
    /// How a file that begins with `first` is packed, if it is.
    ///
    /// # Errors
    ///
    /// When it is packed in a way that is not read.
    pub fn of(first: &[u8]) -> Result<Option<Self>, String> {
        let is_bzip2 = first.starts_with(b"BZh") && first.get(4..10) == Some(&b"1AY&SY"[..]);
        let other = OTHERS.iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, name)| *name);
        match first {
            [0x1F, 0x8B, 8, ..] => Ok(Some(Self::Gzip)),
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Ok(Some(Self::Zstd)),
            _ => match other.or(is_bzip2.then_some("bzip2")) {
                Some(name) => {
                    Err(format!("packed with {name}: unpack it first; gzip and zstd can be read as they are"))
                }
                None => Ok(None),
            },
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

//! Whether the end of a PNG, a WebP or a GIF is there: decoders stop when they have the picture, or fill up.

use super::{Unreadable, format::Format};

/// Nothing, or that the file breaks off. Follows lengths and allocates nothing.
pub fn check(format: Format, bytes: &[u8]) -> Result<(), Unreadable> {
    let whole = match format {
        Format::Png => png(bytes),
        Format::WebP => web_p(bytes),
        Format::Gif => gif(bytes),
        // The decoders of these run into a missing end; JPEG has a module of its own.
        Format::Jpeg | Format::Tiff | Format::Bmp => Some(()),
    };
    whole.ok_or(Unreadable::Truncated(format))
}

/// Chunks: length, name, data, checksum. The last is called IEND.
fn png(bytes: &[u8]) -> Option<()> {
    let mut rest = bytes.get(8..)?;
    loop {
        let (length, after) = rest.split_first_chunk()?;
        let name = after.get(..4)?;
        rest = after.get(usize::try_from(u32::from_be_bytes(*length)).ok()?.checked_add(8)?..)?;
        if name == b"IEND" {
            return Some(());
        }
    }
}

/// One chunk that holds all others and says its length.
fn web_p(bytes: &[u8]) -> Option<()> {
    let length = u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?);
    (bytes.len() >= usize::try_from(length).ok()?.checked_add(8)?).then_some(())
}

/// A header, colours, then blocks of several kinds; the last is one byte.
fn gif(bytes: &[u8]) -> Option<()> {
    let colours = |flags: u8| if flags & 0x80 == 0 { 0 } else { 6_usize << (flags & 7) };
    let mut at = 13 + colours(*bytes.get(10)?);
    loop {
        at = match *bytes.get(at)? {
            b'!' => gif_parts(bytes, at + 2)?,
            b',' => gif_parts(bytes, at + 11 + colours(*bytes.get(at + 9)?))?,
            // The end; or something damaged, and the decoder says how.
            _ => return Some(()),
        };
    }
}

/// The end of parts of up to 255 bytes, each with its length before it, up to one of none.
fn gif_parts(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    }
}

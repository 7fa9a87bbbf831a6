//! Files that are not text.

use super::error::LayoutError;

/// How files of other kinds begin, what they are, and whether they may have text packed inside.
const BEGINNINGS: [(&[u8], &str, bool); 18] = [
    (b"\x1F\x8B", "gzip", true),
    (b"\x28\xB5\x2F\xFD", "zstd", true),
    (b"\xFD7zXZ\0", "xz", true),
    (b"BZh", "bzip2", true),
    (b"PK\x03\x04", "a zip archive (or a spreadsheet)", true),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive", true),
    (b"Rar!\x1A\x07", "a rar archive", true),
    (b"\x04\x22\x4D\x18", "lz4", true),
    (b"\x89PNG", "a PNG picture", false),
    (b"\xFF\xD8\xFF", "a JPEG picture", false),
    (b"GIF8", "a GIF picture", false),
    (b"RIFF", "a WebP picture or a sound", false),
    (b"%PDF", "a PDF document", false),
    (b"SQLite format 3\0", "an SQLite database", false),
    (b"PAR1", "a Parquet table", false),
    (b"\x7FELF", "a program", false),
    (b"\xFF\xFE", "UTF-16 text (UTF-8 is read)", false),
    (b"\xFE\xFF", "UTF-16 text (UTF-8 is read)", false),
];

/// Refuses what is not text.
///
/// # Errors
///
/// Names what it looks like, or the first byte that no text has.
pub fn check(head: &[u8]) -> Result<(), LayoutError> {
    if let Some(&(_, kind, packed)) = BEGINNINGS.iter().find(|(beginning, ..)| head.starts_with(beginning)) {
        return Err(LayoutError::OtherFile { kind, packed });
    }
    let text = head.trim_ascii_start();
    let is_page = |tag: &[u8]| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    if is_page(b"<!doctype html") || is_page(b"<html") {
        return Err(LayoutError::OtherFile { kind: "a web page", packed: false });
    }
    // Tabs, ends of lines and pages, and the end of file that old editors leave behind are in texts.
    let is_text = |byte: u8| byte >= 0x20 && byte != 0x7F || b"\t\n\r\x0C\x1A".contains(&byte);
    match head.iter().position(|&byte| !is_text(byte)) {
        Some(at) => Err(LayoutError::Binary { place: at + 1, byte: head[at] }),
        None => Ok(()),
    }
}

//! What single bytes mean, and bytes as they are quoted in errors.

/// Whether a byte stands for an empty cell, blanks aside.
pub fn is_blank_sign(byte: u8) -> bool {
    matches!(byte, b'.' | b'0' | b'*' | b'_' | b'-' | b'x' | b'X' | b'?')
}

/// Whether a byte could be (part of) a cell in some notation; whatever else ends a puzzle. Bytes that are not ASCII
/// count, so that a letter from elsewhere in a puzzle is an error there instead of the puzzle's end.
pub fn is_cell_like(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || is_blank_sign(byte) || !byte.is_ascii()
}

/// Whether a line that begins so is a comment.
pub fn is_comment(text: &[u8]) -> bool {
    text.starts_with(b"#") || text.starts_with(b"//")
}

/// Cuts the byte order mark off.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

/// Cuts blanks, quotes and brackets off the beginning, as they surround numbers in JSON and the like.
pub fn bare_start(text: &[u8]) -> &[u8] {
    &text[text.iter().position(|&byte| !is_wrapping(byte)).unwrap_or(text.len())..]
}

/// Cuts them off both ends.
pub fn bare(text: &[u8]) -> &[u8] {
    let text = bare_start(text);
    &text[..text.iter().rposition(|&byte| !is_wrapping(byte)).map_or(0, |last| last + 1)]
}

fn is_wrapping(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'[](){}".contains(&byte)
}

/// Number of characters: bytes that begin one.
pub fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// The character that begins at a byte; U+FFFD when it is none.
pub fn character(text: &[u8], at: usize) -> char {
    let bytes = text.get(at..text.len().min(at + 4)).unwrap_or_default();
    let chunk = bytes.utf8_chunks().next();
    chunk.and_then(|chunk| chunk.valid().chars().next()).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The first characters, for a message: at most 12.
pub fn quoted(text: &[u8]) -> String {
    let start = String::from_utf8_lossy(&text[..text.len().min(64)]);
    let mut quote: String = start.chars().take(12).collect();
    if quote.len() < text.len() {
        quote.push('…');
    }
    quote
}

//! Drawings in ASCII, whatever they are drawn with.

use super::signs::is_cell_like;

/// A line of a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strokes {
    /// Upright strokes are `|`, level ones `=`, other strokes `+`, dots and squares `.`. What is none of this is `@`.
    pub text: Vec<u8>,
    /// The first character that is not ASCII and none of this, and how many cells could be before it.
    pub strange: Option<(usize, char)>,
}

/// Reads a line.
pub fn drawn(line: &[u8]) -> Strokes {
    let mut strokes = Strokes { text: Vec::with_capacity(line.len()), strange: None };
    for chunk in line.utf8_chunks() {
        let invalid = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        for character in chunk.valid().chars().chain(invalid) {
            match ascii(character) {
                Some(byte) => strokes.text.push(byte),
                None if character == '\u{feff}' => {}
                None => {
                    let text = &strokes.text;
                    let before = || text.iter().filter(|&&byte| is_cell_like(byte)).count();
                    strokes.strange.get_or_insert_with(|| (before(), character));
                    strokes.text.push(b'@');
                }
            }
        }
    }
    strokes
}

fn ascii(character: char) -> Option<u8> {
    Some(match character {
        '\0'..='\x7F' => u8::try_from(character).ok()?,
        '│' | '┃' | '║' | '┆' | '┇' | '┊' | '┋' | '╎' | '╏' | '╵' | '╷' | '╹' | '╻' | '╽' | '╿' => {
            b'|'
        }
        '─' | '━' | '═' | '┄' | '┅' | '┈' | '┉' | '╌' | '╍' | '╴' | '╶' | '╸' | '╺' | '╼' | '╾' => {
            b'='
        }
        '\u{2500}'..='\u{257F}' => b'+',
        // Blanks that are not broken, or as wide as something.
        '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{3000}' => b' ',
        '·' | '•' | '∙' | '⋅' | '□' | '▢' => b'.',
        '–' | '—' | '−' => b'-',
        _ => return None,
    })
}

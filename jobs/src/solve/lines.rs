//! The lines that begin in a range of bytes.

use std::ops::Range;

/// Bytes of a line at most. A longer one is reported, and never held in memory.
pub use shared::grid::notation::MOST_LINE_BYTES;

/// The bytes of a piece of a file: from the first line that begins in it to the end of the last.
pub struct Lines {
    text: Vec<u8>,
    /// Whether the file's first line is among them.
    pub from_the_beginning: bool,
}

/// A line, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// As it is.
    Text(&'a [u8]),
    /// More than [`MOST_LINE_BYTES`].
    TooLong,
}

impl Lines {
    /// Reads the lines that begin in a range; `read` gives a range of bytes, as far as there are such. Takes memory for
    /// the range and one line.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn read<E>(
        bytes: Range<u64>,
        read: impl FnOnce(Range<u64>) -> Result<Vec<u8>, E>,
    ) -> Result<Self, E> {
        // The byte before tells whether a line begins at the start.
        let from = bytes.start.saturating_sub(1);
        let len_bytes = bytes.end - from;
        let mut text = read(from..bytes.end.saturating_add(MOST_LINE_BYTES as u64 + 1))?;
        let inside = text.len().min(usize::try_from(len_bytes).unwrap_or(usize::MAX));
        let begin = if bytes.start == 0 { 0 } else { after_newline(&text, 0).unwrap_or(text.len()) };
        // The last line that begins inside ends here or further on.
        let end = if inside == 0 || text[inside - 1] == b'\n' {
            inside
        } else {
            after_newline(&text, inside).unwrap_or(text.len())
        };
        // A range in which no line begins is within a long one.
        let end = if begin >= inside { begin } else { end };
        text.truncate(end);
        text.drain(..begin);
        Ok(Self { text, from_the_beginning: bytes.start == 0 })
    }

    /// All of it, but for a mark of the byte order.
    pub fn text(&self) -> &[u8] {
        match self.text.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if self.from_the_beginning => rest,
            _ => &self.text,
        }
    }

    /// Calls `f` with each line.
    pub fn each<'a>(&'a self, mut f: impl FnMut(Line<'a>)) {
        let mut text = self.text();
        while !text.is_empty() {
            let end = memchr::memchr(b'\n', text);
            let line = &text[..end.unwrap_or(text.len())];
            text = end.map_or(&[], |end| &text[end + 1..]);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            f(if line.len() > MOST_LINE_BYTES { Line::TooLong } else { Line::Text(line) });
        }
    }
}

/// What follows the first newline at or after `from`.
fn after_newline(text: &[u8], from: usize) -> Option<usize> {
    memchr::memchr(b'\n', text.get(from..)?).map(|at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &[u8], bytes: Range<u64>) -> Vec<Option<String>> {
        let place = |at: u64| file.len().min(usize::try_from(at).unwrap());
        let read = |bytes: Range<u64>| Ok::<_, ()>(file[place(bytes.start)..place(bytes.end)].to_vec());
        let lines = Lines::read(bytes, read).unwrap();
        let mut all = Vec::new();
        lines.each(|line| {
            all.push(match line {
                Line::Text(text) => Some(String::from_utf8(text.to_vec()).unwrap()),
                Line::TooLong => None,
            });
        });
        all
    }

    #[test]
    fn every_cut_of_a_file_gives_every_line_once() {
        let long = "l".repeat(3 * MOST_LINE_BYTES);
        let exact = "e".repeat(MOST_LINE_BYTES);
        for text in [
            "",
            "\n",
            "a\nbb\n\nccc",
            "a\r\nb\r\n",
            "\u{feff}a\n",
            &format!("a\n{long}\nb\n{exact}\n"),
            &long,
        ] {
            let file = text.as_bytes();
            let whole = lines(file, 0..text.len() as u64);
            let expected = text.trim_start_matches('\u{feff}').lines();
            let expected: Vec<_> =
                expected.map(|line| (line.len() <= MOST_LINE_BYTES).then(|| line.to_owned())).collect();
            assert_eq!(whole, expected);
            for step in [1, 2, 3, 5, MOST_LINE_BYTES as u64, 5000] {
                if step < 100 && text.len() > 100 {
                    continue;
                }
                let starts = (0..text.len() as u64).step_by(step.try_into().unwrap());
                let pieces =
                    starts.flat_map(|start| lines(file, start..(start + step).min(text.len() as u64)));
                assert_eq!(pieces.collect::<Vec<_>>(), whole, "steps of {step}");
            }
        }
    }
}

//! zstd, frame after frame, with a bound on what a frame may ask for.

use std::io::{self, BufRead, Read};

use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::stored::Stored;

/// The largest window that is unpacked: what `zstd -d` takes without being told otherwise. It is in memory as a whole.
pub const MOST_WINDOW_BYTES: u64 = 1 << MOST_WINDOW_LOG;
const MOST_WINDOW_LOG: u32 = 27;

/// Bytes of a frame's header at most (RFC 8878, 3.1.1.1).
const MOST_HEADER_BYTES: usize = 18;

/// The unpacked bytes of all frames.
pub struct ZstdFrames {
    stored: Stored,
    decoder: Decoder<'static>,
    inside: bool,
    window_bytes: u64,
    most_window_bytes: u64,
}

impl ZstdFrames {
    /// Refuses frames with windows larger than `most_window_bytes`.
    pub fn new(stored: Stored, most_window_bytes: u64) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MOST_WINDOW_LOG))?;
        let most_window_bytes = most_window_bytes.min(MOST_WINDOW_BYTES);
        Ok(Self { stored, decoder, inside: false, window_bytes: 0, most_window_bytes })
    }

    /// The largest window so far.
    pub fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Looks at the header of the next frame. False when there is none.
    fn begin(&mut self) -> io::Result<bool> {
        let header = self.stored.peek(MOST_HEADER_BYTES)?;
        if header.is_empty() {
            return Ok(false);
        }
        let window = window_bytes(header).unwrap_or(0);
        if window > self.most_window_bytes {
            let most = self.most_window_bytes >> 20;
            let what = format!("unpacking takes {} MiB of memory, at most {most} are given", window >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        self.window_bytes = self.window_bytes.max(window);
        self.inside = true;
        Ok(true)
    }
}

impl Read for ZstdFrames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let damaged = |error: io::Error| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
        loop {
            if into.is_empty() || !self.inside && !self.begin()? {
                return Ok(0);
            }
            let input = self.stored.fill_buf()?;
            let at_end = input.is_empty();
            let done = self.decoder.run_on_buffers(input, into).map_err(damaged)?;
            self.stored.consume(done.bytes_read);
            self.inside = done.remaining > 0;
            if done.bytes_written > 0 {
                return Ok(done.bytes_written);
            }
            if at_end && self.inside {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// What a frame's header says of its window (RFC 8878, 3.1.1.1): nothing when it is none, or one of a frame to skip.
fn window_bytes(header: &[u8]) -> Option<u64> {
    let (magic, rest) = header.split_first_chunk::<4>()?;
    if magic != b"\x28\xB5\x2F\xFD" {
        return None;
    }
    let (&descriptor, rest) = rest.split_first()?;
    if descriptor & 0x20 == 0 {
        let window = *rest.first()?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // In a single segment: the window is the whole content, whose length follows the dictionary's number.
    let content = rest.get([0, 1, 2, 4][usize::from(descriptor & 3)]..)?;
    let number = |bytes: usize| {
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(content.get(..bytes)?);
        Some(u64::from_le_bytes(all))
    };
    match descriptor >> 6 {
        0 => number(1),
        1 => number(2).map(|length| length + 256),
        2 => number(4),
        _ => number(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_what_the_packer_was_asked_for() {
        for log in [10, 17, 23, 27] {
            let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
            packer.window_log(log).unwrap();
            io::Write::write_all(&mut packer, b"text").unwrap();
            assert_eq!(window_bytes(&packer.finish().unwrap()), Some(1 << log));
        }
        for bytes in [0, 1, 255, 256, 257, 65_791, 65_792, 100_000] {
            let packed = zstd::bulk::compress(&vec![0; bytes], 1).unwrap();
            assert_eq!(window_bytes(&packed), Some(bytes as u64));
        }
        assert_eq!(window_bytes(b"\x50\x2A\x4D\x18\0\0\0\0"), None);
        assert_eq!(window_bytes(b"\x28\xB5\x2F\xFD"), None);
        assert_eq!(window_bytes(b"\x28\xB5\x2F\xFD\xE0"), None);
    }
}

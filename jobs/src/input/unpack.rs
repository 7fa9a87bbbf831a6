//! One packed file being unpacked, from its beginning on.

use std::{
    io::{self, Read},
    ops::Range,
    sync::Arc,
};

use flate2::bufread::MultiGzDecoder;

use super::{
    file::{File, Packed},
    packing::Packing,
    storage::{Storage, changed},
    stored::Stored,
    zstd_frames::{MOST_WINDOW_BYTES, ZstdFrames},
};

/// Bytes behind that are kept: ranges overlap by a line, for whose end one has to look.
const TAIL_BYTES: usize = 64 << 10;

/// Bytes unpacked at a time.
const PIECE_BYTES: usize = 256 << 10;

/// What the inflating of gzip takes.
const GZIP_BYTES: u64 = 64 << 10;

/// What the unpacking of zstd takes beside its window.
const ZSTD_BYTES: u64 = 512 << 10;

enum Decoder {
    Gzip(Box<MultiGzDecoder<Stored>>),
    Zstd(Box<ZstdFrames>),
}

impl Decoder {
    fn new(by: Packing, file: &File, most_window: u64, storage: &Arc<dyn Storage>) -> Result<Self, String> {
        let stored = Stored::new(file, storage);
        Ok(match by {
            Packing::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(stored))),
            Packing::Zstd => {
                let frames = ZstdFrames::new(stored, most_window);
                Self::Zstd(Box::new(frames.map_err(|error| damaged(file, by, &error))?))
            }
        })
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(into),
            Self::Zstd(frames) => frames.read(into),
        }
    }
}

/// What went wrong, in words.
fn damaged(file: &File, by: Packing, error: &io::Error) -> String {
    let (at, name) = (&file.at, by.name());
    match error.kind() {
        // The storage's own words.
        io::ErrorKind::Other => error.to_string(),
        io::ErrorKind::UnexpectedEof => format!("{at}: the {name} file is cut off"),
        _ => format!("{at}: the {name} file is damaged: {error}"),
    }
}

/// Unpacks a file once, for its length, and to see whether it is whole. `progress` hears how far it is, in unpacked bytes.
pub fn measure(
    by: Packing,
    file: &File,
    storage: &Arc<dyn Storage>,
    progress: &mut dyn FnMut(u64),
) -> Result<Packed, String> {
    let mut decoder = Decoder::new(by, file, MOST_WINDOW_BYTES, storage)?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut len_bytes = 0u64;
    loop {
        let bytes = decoder.read(&mut piece).map_err(|error| damaged(file, by, &error))?;
        if bytes == 0 {
            let window_bytes = match decoder {
                Decoder::Gzip(_) => 32 << 10,
                Decoder::Zstd(frames) => frames.window_bytes(),
            };
            return Ok(Packed { by, len_bytes, window_bytes });
        }
        len_bytes += bytes as u64;
        progress(len_bytes);
    }
}

/// A file, unpacked up to somewhere.
pub struct Unpacker {
    pub(super) file: File,
    by: Packing,
    decoder: Decoder,
    /// Bytes unpacked so far.
    at: u64,
    /// The last of them.
    tail: Vec<u8>,
}

impl Unpacker {
    /// At the beginning of a file.
    pub fn new(file: &File, packed: &Packed, storage: &Arc<dyn Storage>) -> Result<Self, String> {
        let decoder = Decoder::new(packed.by, file, packed.window_bytes, storage)?;
        Ok(Self { file: file.clone(), by: packed.by, decoder, at: 0, tail: Vec::new() })
    }

    /// Bytes of memory that unpacking a file takes.
    pub fn memory_bytes(file: &File, packed: &Packed) -> u64 {
        let decoder = match packed.by {
            Packing::Gzip => GZIP_BYTES,
            Packing::Zstd => packed.window_bytes.saturating_add(ZSTD_BYTES),
        };
        decoder.saturating_add(TAIL_BYTES as u64 + Stored::memory_bytes(file))
    }

    /// The first byte that it can still give.
    pub fn reaches_from(&self) -> u64 {
        self.at - self.tail.len() as u64
    }

    /// Unpacks on to `bytes`, and gives them; nothing when it is stopped. What comes before them is unpacked and dropped;
    /// `bytes.start` is not below [`Self::reaches_from`], and `bytes.end` not beyond the file's length.
    pub fn read(&mut self, bytes: Range<u64>, stopped: &dyn Fn() -> bool) -> Result<Option<Vec<u8>>, String> {
        let mut piece = Vec::new();
        while self.at < bytes.start {
            if stopped() {
                return Ok(None);
            }
            piece.clear();
            self.unpack(bytes.start - self.at, &mut piece)?;
        }
        let behind = usize::try_from(self.at - bytes.start).expect("not below where it reaches from");
        let mut all = self.tail[self.tail.len() - behind..].to_vec();
        all.truncate(usize::try_from(bytes.end - bytes.start).unwrap_or(usize::MAX));
        while self.at < bytes.end {
            if stopped() {
                return Ok(None);
            }
            self.unpack(bytes.end - self.at, &mut all)?;
        }
        Ok(Some(all))
    }

    /// Unpacks some bytes, at most `most` and at least one.
    fn unpack(&mut self, most: u64, into: &mut Vec<u8>) -> Result<(), String> {
        let before = into.len();
        into.resize(before + usize::try_from(most).map_or(PIECE_BYTES, |most| most.min(PIECE_BYTES)), 0);
        let bytes = self.decoder.read(&mut into[before..]);
        let bytes = bytes.map_err(|error| damaged(&self.file, self.by, &error))?;
        into.truncate(before + bytes);
        if bytes == 0 {
            // It was longer when it was measured.
            return Err(changed(&self.file.at));
        }
        self.at += bytes as u64;
        let new = &into[before + bytes.saturating_sub(TAIL_BYTES)..];
        self.tail.drain(..(self.tail.len() + new.len()).saturating_sub(TAIL_BYTES));
        self.tail.extend_from_slice(new);
        Ok(())
    }
}

//! The journal: an append-only file of frames, one a group, each synced before the group counts.
//!
//! What an interrupted write leaves is at the end, is one frame at most, and was never acknowledged: it is cut off on
//! opening, and kept aside. Anything else that does not read is damage, and stops.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufReader, Read, Seek, SeekFrom},
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use worker::store::sync_folder;

use super::{
    Entry, LedgerError,
    frame::{self, HEAD_BYTES, HEADER_BYTES, Head, MAX_ENTRY_BYTES, MAX_FRAME_BYTES, Place, Position},
};

/// Name of the journal in the state folder.
pub const JOURNAL: &str = "journal";

/// A journal that is open for appending.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    id: [u8; 16],
    position: Position,
    buffer: Vec<u8>,
    failed: Option<LedgerError>,
}

impl Journal {
    /// Creates an empty journal with a random id in `dir`.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn create(dir: &Path) -> Result<Self, LedgerError> {
        let path = dir.join(JOURNAL);
        let id = uuid::Uuid::new_v4().into_bytes();
        let header = frame::encode_header(&id);
        // Under another name first: a journal either has its header or does not exist.
        let draft = dir.join("journal.new");
        File::create(&draft)
            .and_then(|f| f.write_all_at(&header, 0).and_then(|()| f.sync_all()))
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(|e| LedgerError::io("create", &path, &e))?;
        sync_folder(dir)?;
        let file = open_file(&path)?;
        Ok(Self { file, path, id, position: Position::genesis(&header), buffer: Vec::new(), failed: None })
    }

    /// Opens the journal whose frames `frames` has read to the end, and cuts off what an interrupted write left.
    ///
    /// # Errors
    ///
    /// When frames are left to read, or whatever the system says.
    pub fn open(frames: Frames) -> Result<Self, LedgerError> {
        let Frames { path, id, position, ended, tail, .. } = frames;
        if !ended {
            return Err(LedgerError::Inconsistent("the journal was not read to its end".into()));
        }
        let file = open_file(&path)?;
        if let Some(tail) = tail {
            let aside = path.with_file_name(format!("{JOURNAL}.torn-{}", tail.offset));
            tracing::warn!(
                journal = %path.display(), offset = tail.offset, bytes = tail.bytes, why = tail.why,
                kept = %aside.display(), "cutting off an interrupted write, which was never acknowledged"
            );
            let mut source = File::open(&path).map_err(|e| LedgerError::io("open", &path, &e))?;
            source
                .seek(SeekFrom::Start(tail.offset))
                .and_then(|_| File::create(&aside))
                .and_then(|mut copy| std::io::copy(&mut source, &mut copy).and_then(|_| copy.sync_all()))
                .map_err(|e| LedgerError::io("write", &aside, &e))?;
            sync_folder(path.parent().unwrap_or(Path::new(".")))?;
            file.set_len(tail.offset)
                .and_then(|()| file.sync_all())
                .map_err(|e| LedgerError::io("shorten", &path, &e))?;
        }
        Ok(Self { file, path, id, position, buffer: Vec::new(), failed: None })
    }

    /// The ledger's id.
    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// The end.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Appends a group and returns, with the places of its entries, when it survives a power cut.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Refused`] when the group is too large; then nothing happened. After any other error the journal
    /// takes nothing more.
    pub fn append(&mut self, group: &[Entry]) -> Result<Vec<Place>, LedgerError> {
        if let Some(first) = &self.failed {
            return Err(if first.is_full() {
                first.clone()
            } else {
                LedgerError::Poisoned(first.to_string())
            });
        }
        let start = self.position.end;
        let (places, chain) = frame::encode(group, &self.position.chain, start, &mut self.buffer)?;
        let written = self.file.write_all_at(&self.buffer, start).and_then(|()| self.file.sync_data());
        if let Err(e) = written {
            let error = LedgerError::io("write to", &self.path, &e);
            self.failed = Some(error.clone());
            // Take back what may have been written. Whether or not this works, the next opening sees what is there.
            let _ = self.file.set_len(start).and_then(|()| self.file.sync_all());
            return Err(error);
        }
        self.position = Position { end: start + self.buffer.len() as u64, start, chain };
        Ok(places)
    }

    /// For reading entries, of which the next mostly lies near the last.
    pub fn nearby(&self) -> Nearby<'_> {
        Nearby { journal: self, start: 0, bytes: Vec::new() }
    }
}

/// A stretch of a journal in memory.
#[derive(Debug)]
pub struct Nearby<'a> {
    journal: &'a Journal,
    start: u64,
    bytes: Vec<u8>,
}

/// Read at a time where the next entry is no farther away.
const STRETCH_BYTES: u64 = 1 << 18;

impl Nearby<'_> {
    /// Reads one entry.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Damaged`] when it is not what was written.
    pub fn read(&mut self, place: Place) -> Result<Entry, LedgerError> {
        let Journal { file, path, position, .. } = self.journal;
        let length = length_of(path, position.end, place)?;
        if self.found(place, length).is_none() {
            let is_near = self.start.abs_diff(place.offset) <= 2 * STRETCH_BYTES;
            // Workers take turns: what comes next in the job may stand a little before.
            let before = if is_near { STRETCH_BYTES / 8 } else { 0 };
            let start = place.offset.saturating_sub(before);
            let end = place.offset + u64::from(place.length);
            let end = if is_near { end.max(start + STRETCH_BYTES).min(position.end) } else { end };
            (self.start, self.bytes) = (start, read_bytes(file, path, start..end)?);
        }
        let bytes = self.found(place, length).unwrap_or_default();
        decode(path, place, bytes)
    }

    fn found(&self, place: Place, length: usize) -> Option<&[u8]> {
        let at = usize::try_from(place.offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(at..)?.get(..length)
    }
}

/// Reads one entry of a journal that ends at `end`.
pub(super) fn read_entry(file: &File, path: &Path, end: u64, place: Place) -> Result<Entry, LedgerError> {
    length_of(path, end, place)?;
    let bytes = read_bytes(file, path, place.offset..place.offset + u64::from(place.length))?;
    decode(path, place, &bytes)
}

/// The length of an entry that lies within a journal that ends at `end`.
fn length_of(path: &Path, end: u64, place: Place) -> Result<usize, LedgerError> {
    let length = usize::try_from(place.length).unwrap_or(usize::MAX);
    let inside = place.offset.checked_add(u64::from(place.length)).is_some_and(|e| e <= end);
    if length > MAX_ENTRY_BYTES || !inside {
        let what = format!("the index points to {length} bytes here, where no entry can be");
        return Err(damaged(path, place.offset, what));
    }
    Ok(length)
}

fn read_bytes(file: &File, path: &Path, range: Range<u64>) -> Result<Vec<u8>, LedgerError> {
    let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, range.start).map_err(|e| LedgerError::io("read", path, &e))?;
    Ok(bytes)
}

fn decode(path: &Path, place: Place, bytes: &[u8]) -> Result<Entry, LedgerError> {
    if crc32fast::hash(bytes) != place.crc {
        return Err(damaged(path, place.offset, "an entry does not match its checksum".into()));
    }
    let entry = postcard::from_bytes(bytes);
    entry.map_err(|e| damaged(path, place.offset, format!("an entry does not decode: {e}")))
}

/// A frame as read.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Where it begins and ends, and the chain.
    pub position: Position,
    /// What it holds.
    pub entries: Vec<(Place, Entry)>,
}

/// What an interrupted write left at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
    /// What is wrong with it.
    pub why: String,
}

/// Reads a journal frame by frame, holding one at a time. Sees the file as long as it was when this was opened.
#[derive(Debug)]
pub struct Frames {
    path: PathBuf,
    reader: BufReader<File>,
    size: u64,
    id: [u8; 16],
    position: Position,
    ended: bool,
    tail: Option<Tail>,
}

impl Frames {
    /// Opens the journal in `dir` at its first frame.
    ///
    /// # Errors
    ///
    /// When it is missing, or no journal of this format.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        let path = dir.join(JOURNAL);
        let io = |e: &std::io::Error| LedgerError::io("read", &path, e);
        let file = File::open(&path).map_err(|e| io(&e))?;
        let size = file.metadata().map_err(|e| io(&e))?.len();
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut header = [0; HEADER_BYTES];
        if size < HEADER_BYTES as u64 {
            return Err(LedgerError::Format { path, what: format!("it has {size} bytes only") });
        }
        reader.read_exact(&mut header).map_err(|e| io(&e))?;
        let id =
            frame::decode_header(&header).map_err(|what| LedgerError::Format { path: path.clone(), what })?;
        let position = Position::genesis(&header);
        Ok(Self { path, reader, size, id, position, ended: false, tail: None })
    }

    /// The ledger's id.
    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// Length of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The end of the last frame that was read.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Reads one entry of what precedes the end of the file.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Damaged`] when it is not what was written.
    pub fn read(&self, place: Place) -> Result<Entry, LedgerError> {
        read_entry(self.reader.get_ref(), &self.path, self.size, place)
    }

    /// What an interrupted write left, once all frames are read.
    pub fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// Goes on behind `position` without reading what precedes it. Returns whether the frame that ends there is whole
    /// and has this chain; if not, nothing changes.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn skip_to(&mut self, position: Position) -> Result<bool, LedgerError> {
        if position.start != 0 {
            let Some(body) = position.end.checked_sub(position.start + HEAD_BYTES as u64) else {
                return Ok(false);
            };
            let body = usize::try_from(body).unwrap_or(usize::MAX);
            if position.end > self.size || body > MAX_FRAME_BYTES {
                return Ok(false);
            }
            let mut bytes = vec![0; HEAD_BYTES + body];
            let file = self.reader.get_ref();
            file.read_exact_at(&mut bytes, position.start)
                .map_err(|e| LedgerError::io("read", &self.path, &e))?;
            let whole = Head::decode(&bytes).is_some_and(|head| {
                head.length == body && head.chain == position.chain && head.fits(&bytes[HEAD_BYTES..])
            });
            if !whole {
                return Ok(false);
            }
        } else if position != self.position {
            return Ok(false);
        }
        self.reader
            .seek(SeekFrom::Start(position.end))
            .map_err(|e| LedgerError::io("read", &self.path, &e))?;
        self.position = position;
        Ok(true)
    }

    /// The next frame, or `None` at the end.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Damaged`] when a frame is bad and is not the interrupted last one.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, LedgerError> {
        let start = self.position.end;
        let left = self.size - start;
        if self.ended || left == 0 {
            self.ended = true;
            return Ok(None);
        }
        if left < HEAD_BYTES as u64 {
            return self.bad(format!("{left} bytes are too few for a frame"));
        }
        let mut head = [0; HEAD_BYTES];
        self.reader.read_exact(&mut head).map_err(|e| LedgerError::io("read", &self.path, &e))?;
        let Some(head) = Head::decode(&head) else { return self.bad("no frame begins here".into()) };
        // `length` is bounded by MAX_FRAME_BYTES, and by the file: no more is allocated than is there.
        if head.length as u64 > left - HEAD_BYTES as u64 {
            return self.bad(format!("a frame of {} bytes begins here and is cut short", head.length));
        }
        let mut payload = vec![0; head.length];
        self.reader.read_exact(&mut payload).map_err(|e| LedgerError::io("read", &self.path, &e))?;
        if !head.fits(&payload) {
            return self.bad("a frame does not match its checksum".into());
        }
        // From here on the frame is what was written, so nothing that is wrong with it comes from an interruption.
        if head.chain != frame::chain(&self.position.chain, &payload) {
            let what =
                "a frame does not follow the one before it (one is missing, doubled or from elsewhere)";
            return Err(damaged(&self.path, start, what.into()));
        }
        let body = start + HEAD_BYTES as u64;
        let entries = frame::decode(&payload, body).map_err(|what| damaged(&self.path, start, what))?;
        self.position = Position { start, end: body + payload.len() as u64, chain: head.chain };
        Ok(Some(Frame { position: self.position, entries }))
    }

    /// Tells an interrupted last frame from damage: of the first kind there is one at most, with nothing behind it.
    fn bad(&mut self, why: String) -> Result<Option<Frame>, LedgerError> {
        let offset = self.position.end;
        let bytes = self.size - offset;
        if bytes > (HEAD_BYTES + MAX_FRAME_BYTES) as u64 {
            let what = format!("{why}, and {bytes} bytes follow, more than one frame");
            return Err(damaged(&self.path, offset, what));
        }
        let mut rest = vec![0; usize::try_from(bytes).unwrap_or(0)];
        self.reader
            .get_ref()
            .read_exact_at(&mut rest, offset)
            .map_err(|e| LedgerError::io("read", &self.path, &e))?;
        if let Some(at) = frame::find_whole_frame(&rest) {
            let what = format!("{why}, while a whole frame follows at byte {}", offset + at as u64);
            return Err(damaged(&self.path, offset, what));
        }
        self.ended = true;
        self.tail = Some(Tail { offset, bytes, why });
        Ok(None)
    }
}

fn open_file(path: &Path) -> Result<File, LedgerError> {
    OpenOptions::new().read(true).write(true).open(path).map_err(|e| LedgerError::io("open", path, &e))
}

pub(super) fn damaged(path: &Path, offset: u64, what: String) -> LedgerError {
    let dir = path.parent().unwrap_or(path).display();
    let path_shown = path.display();
    let cure = format!(
        "Everything before that byte is intact. Restore the file from a backup; or keep a copy of it, cut the damage \
         off with `truncate -s {offset} {path_shown}` and run `nonet ledger rebuild --state {dir}`: what was recorded \
         behind it will be computed again"
    );
    LedgerError::Damaged { path: path.into(), offset, what, cure }
}

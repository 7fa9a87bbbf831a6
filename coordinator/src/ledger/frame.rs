//! The bytes of a journal.
//!
//! ```text
//! journal  NONETJNL  format u32  ledger id 16 bytes  crc32 of what precedes          32 bytes
//! frame    magic 4   length u32  crc32 u32  chain 32 bytes                           44 bytes
//!          payload of `length` bytes: version u8, then Vec<Entry> in postcard
//!
//! crc32 covers length, chain and payload.      Integers are little-endian.
//! chain = blake3(chain of the previous frame, payload); of the first one: blake3(journal header, payload)
//! ```
//!
//! The checksum tells whether a frame is whole, wherever one is met; the chain tells that none is missing, doubled or
//! swapped before it, and its last value stands for the whole journal.

use serde::{Deserialize, Serialize};

use super::{Entry, LedgerError};

/// Upper bound of a payload: a full group of the largest commits.
pub const MAX_FRAME_BYTES: usize = 32 << 20;
/// Upper bound of one entry: the largest settings or partial, twice, so that it is those bounds which are met first.
pub const MAX_ENTRY_BYTES: usize = 128 << 10;

pub(super) const HEADER_BYTES: usize = 32;
pub(super) const HEAD_BYTES: usize = 44;
const JOURNAL_MAGIC: &[u8; 8] = b"NONETJNL";
const JOURNAL_FORMAT: u32 = 1;
const FRAME_MAGIC: [u8; 4] = [0xf7, b'N', b'f', b'r'];
const PAYLOAD_VERSION: u8 = 1;

/// A value of the chain.
pub type Chain = [u8; 32];

/// Where an entry lies in the journal: enough to read it alone, and to see that it is what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Offset in the file.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// crc32 of these bytes.
    pub crc: u32,
}

/// The end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Offset behind the frame, where the next one begins.
    pub end: u64,
    /// Offset of the frame; 0 when there is none yet.
    pub start: u64,
    /// Chain up to here.
    pub chain: Chain,
}

impl Position {
    /// Before the first frame.
    pub(super) fn genesis(header: &[u8; HEADER_BYTES]) -> Self {
        Self { end: HEADER_BYTES as u64, start: 0, chain: *blake3::hash(header).as_bytes() }
    }
}

pub(super) fn encode_header(id: &[u8; 16]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(JOURNAL_MAGIC);
    header[8..12].copy_from_slice(&JOURNAL_FORMAT.to_le_bytes());
    header[12..28].copy_from_slice(id);
    let crc = crc32fast::hash(&header[..28]);
    header[28..].copy_from_slice(&crc.to_le_bytes());
    header
}

/// The ledger id, or what is wrong.
pub(super) fn decode_header(header: &[u8; HEADER_BYTES]) -> Result<[u8; 16], String> {
    if &header[..8] != JOURNAL_MAGIC {
        return Err("it does not begin like one".into());
    }
    if crc32fast::hash(&header[..28]).to_le_bytes() != header[28..] {
        return Err("its first 32 bytes are damaged; restore them from a backup".into());
    }
    let format = u32_at(header, 8);
    if format != JOURNAL_FORMAT {
        return Err(format!("its format is {format}, this program writes {JOURNAL_FORMAT}"));
    }
    let mut id = [0; 16];
    id.copy_from_slice(&header[12..28]);
    Ok(id)
}

/// Encodes a group into `buffer` as a frame; returns the places of its entries when the frame begins at `start`.
pub(super) fn encode(
    group: &[Entry],
    previous: &Chain,
    start: u64,
    buffer: &mut Vec<u8>,
) -> Result<(Vec<Place>, Chain), LedgerError> {
    let unencodable = |e: postcard::Error| LedgerError::Refused(format!("an entry does not encode: {e}"));
    buffer.clear();
    buffer.resize(HEAD_BYTES, 0);
    buffer.push(PAYLOAD_VERSION);
    *buffer = postcard::to_extend(&group.len(), std::mem::take(buffer)).map_err(unencodable)?;
    let mut places = Vec::with_capacity(group.len());
    for entry in group {
        let from = buffer.len();
        *buffer = postcard::to_extend(entry, std::mem::take(buffer)).map_err(unencodable)?;
        let bytes = &buffer[from..];
        let length = u32::try_from(bytes.len()).ok().filter(|l| *l as usize <= MAX_ENTRY_BYTES);
        let Some(length) = length else {
            let size = bytes.len();
            return Err(LedgerError::Refused(format!(
                "an entry of {size} bytes exceeds the limit of {MAX_ENTRY_BYTES}"
            )));
        };
        places.push(Place { offset: start + from as u64, length, crc: crc32fast::hash(bytes) });
    }
    let payload = &buffer[HEAD_BYTES..];
    let length = u32::try_from(payload.len()).ok().filter(|l| *l as usize <= MAX_FRAME_BYTES);
    let Some(length) = length else {
        let size = payload.len();
        return Err(LedgerError::Refused(format!(
            "a group of {size} bytes exceeds the limit of {MAX_FRAME_BYTES}; append it in two"
        )));
    };
    let next = chain(previous, payload);
    let crc = checksum(length, &next, payload);
    buffer[..4].copy_from_slice(&FRAME_MAGIC);
    buffer[4..8].copy_from_slice(&length.to_le_bytes());
    buffer[8..12].copy_from_slice(&crc.to_le_bytes());
    buffer[12..44].copy_from_slice(&next);
    Ok((places, next))
}

/// The fields of a frame's head.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub length: usize,
    crc: u32,
    pub chain: Chain,
}

impl Head {
    /// Reads a head; `None` when it is none, or promises more than a frame may hold.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEAD_BYTES)?;
        let length = usize::try_from(u32_at(bytes, 4)).ok()?;
        let mut chain = [0; 32];
        chain.copy_from_slice(&bytes[12..]);
        (bytes[..4] == FRAME_MAGIC && length <= MAX_FRAME_BYTES).then_some(Self {
            length,
            crc: u32_at(bytes, 8),
            chain,
        })
    }

    /// Whether this payload is what the head was made for.
    pub fn fits(&self, payload: &[u8]) -> bool {
        u32::try_from(payload.len()).is_ok_and(|l| checksum(l, &self.chain, payload) == self.crc)
    }
}

/// Offset of a whole frame inside `bytes`, at 1 or later.
pub(super) fn find_whole_frame(bytes: &[u8]) -> Option<usize> {
    (1..bytes.len().saturating_sub(HEAD_BYTES - 1)).find(|&at| {
        bytes[at..at + 4] == FRAME_MAGIC
            && Head::decode(&bytes[at..]).is_some_and(|head| {
                let from = at + HEAD_BYTES;
                bytes.get(from..from + head.length).is_some_and(|payload| head.fits(payload))
            })
    })
}

/// The entries of a payload that lies at `offset` of the file, with their places.
pub(super) fn decode(payload: &[u8], offset: u64) -> Result<Vec<(Place, Entry)>, String> {
    let (&version, rest) = payload.split_first().ok_or("it is empty")?;
    if version != PAYLOAD_VERSION {
        return Err(format!("its version is {version}, this program writes {PAYLOAD_VERSION}"));
    }
    let undecodable = |e: postcard::Error| format!("its entries do not decode: {e}");
    let (count, mut rest) = postcard::take_from_bytes::<usize>(rest).map_err(undecodable)?;
    let mut entries = Vec::with_capacity(count.min(rest.len()));
    for _ in 0..count {
        let (entry, behind) = postcard::take_from_bytes::<Entry>(rest).map_err(undecodable)?;
        let bytes = &rest[..rest.len() - behind.len()];
        let offset = offset + (payload.len() - rest.len()) as u64;
        let length = u32::try_from(bytes.len()).map_err(|e| e.to_string())?;
        entries.push((Place { offset, length, crc: crc32fast::hash(bytes) }, entry));
        rest = behind;
    }
    if rest.is_empty() { Ok(entries) } else { Err(format!("{} bytes follow its last entry", rest.len())) }
}

/// The entries of one frame, and the chain up to it, if it follows `previous`.
pub(super) fn decode_whole(frame: &[u8], previous: &Chain) -> Result<(Vec<Entry>, Chain), String> {
    let head = Head::decode(frame).ok_or("it does not begin like a group")?;
    let payload =
        frame.get(HEAD_BYTES..).filter(|payload| payload.len() == head.length && head.fits(payload));
    let payload = payload.ok_or("its checksum is another one")?;
    if chain(previous, payload) != head.chain {
        return Err("it does not follow the group before it".into());
    }
    let entries = decode(payload, HEAD_BYTES as u64)?;
    Ok((entries.into_iter().map(|(_, entry)| entry).collect(), head.chain))
}

/// The next value of a chain.
pub(crate) fn chain(previous: &Chain, payload: &[u8]) -> Chain {
    *blake3::Hasher::new().update(previous).update(payload).finalize().as_bytes()
}

fn checksum(length: u32, chain: &Chain, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&length.to_le_bytes());
    crc.update(chain);
    crc.update(payload);
    crc.finalize()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

//! What the targets share, and `seeds` with them: small jobs, sealed frames, sealed certificates.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex},
};

use jobs::{ErasedJob, ErasedKind, OutputError, PartSink, PartSource, input::Surroundings};

/// An open job, and what it was opened from.
pub struct Small {
    /// Its kind.
    pub kind: &'static dyn ErasedKind,
    /// Its settings.
    pub settings: String,
    /// It.
    pub job: Arc<dyn ErasedJob>,
}

/// A folder for this process. `TMPDIR` should be in memory.
pub fn folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> =
        LazyLock::new(|| tempfile::Builder::new().prefix("nonet-fuzz-").tempdir().expect("a folder").keep());
    &FOLDER
}

/// Settings from a command line; `None` when the kind refuses it.
pub fn settings(kind: &'static dyn ErasedKind, args: &[&str]) -> Option<String> {
    let words = [&[kind.name()], args].concat();
    let matches = kind.command().try_get_matches_from(words).expect("arguments of the kind");
    kind.settings(&matches, &Surroundings::local()).ok()
}

/// A job from a command line.
pub fn small(kind: &str, args: &[&str]) -> Small {
    let kind = jobs::find(kind).expect("a kind");
    let settings = settings(kind, args).expect("settings");
    let job = kind.open(&settings).expect("a job");
    Small { kind, settings, job }
}

/// Jobs of every kind, of small settings.
pub fn all() -> Vec<Small> {
    let puzzles = folder().join("corpus.txt");
    fs::write(&puzzles, format!("{PUZZLE}\n1...\n..3.\n{PUZZLE}x\n1.../..../..3./....\nno puzzle\n"))
        .expect("written");
    let photo = folder().join("photo.png");
    fs::write(&photo, b"no picture").expect("written");
    let (puzzles, photo) = (puzzles.to_str().expect("UTF-8"), photo.to_str().expect("UTF-8"));
    vec![
        small("noop", &["--units", "100"]),
        small("recount", &["--shape", "2x2"]),
        small("recount", &["--shape", "2x2", "--method", "search"]),
        small("recount", &["--method", "audit"]),
        small("burnside", &["--shape", "2x2"]),
        small("automorphic", &[]),
        small("solve", &[puzzles, "--columns", "puzzle,verdict,problem,level,minimal"]),
        small("photos", &[photo]),
        small("unavoidable", &[GRID, "--max-size", "8", "--sets"]),
        small("hitting", &[GRID, "--clues", "4..6"]),
        small("minimal", &["--shape", "2x2"]),
        small("minimal", &["--sample", "200"]),
    ]
}

/// A 4x4 grid.
pub const GRID: &str = "1234341221434321";
/// A 9x9 puzzle.
pub const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// Parts in memory.
#[derive(Default)]
pub struct Parts(Mutex<BTreeMap<u64, Vec<u8>>>);

impl PartSink for Parts {
    fn put(&self, unit: u64, part: Vec<u8>) -> Result<(), String> {
        self.0.lock().expect("not poisoned").insert(unit, part);
        Ok(())
    }
}

impl PartSource for Parts {
    fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError> {
        let part = self.0.lock().expect("not poisoned").get(&unit).cloned();
        part.ok_or_else(|| OutputError::Part(format!("part {unit} is not there")))
    }
}

/// The chain behind a payload.
pub fn chain(previous: &[u8; 32], payload: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new().update(previous).update(payload).finalize().as_bytes()
}

/// A frame of a journal whose checksum and chain fit any payload.
pub fn frame(previous: &[u8; 32], payload: &[u8]) -> (Vec<u8>, [u8; 32]) {
    let next = chain(previous, payload);
    let length = u32::try_from(payload.len()).expect("small").to_le_bytes();
    let crc = crc32fast::hash(&[&length, &next[..], payload].concat());
    let head = [&b"\xf7Nfr"[..], &length, &crc.to_le_bytes(), &next].concat();
    ([&head, payload].concat(), next)
}

/// The header of a journal, and the chain behind it.
pub fn header() -> (Vec<u8>, [u8; 32]) {
    let mut header = [&b"NONETJNL"[..], &1u32.to_le_bytes(), &[7; 16]].concat();
    header.extend(crc32fast::hash(&header).to_le_bytes());
    let chain = *blake3::hash(&header).as_bytes();
    (header, chain)
}

/// Cuts bytes into pieces, each behind its length in two bytes.
pub fn pieces(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let (piece, behind) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
        pieces.push(piece);
        bytes = behind;
    }
    pieces
}

/// Makes a certificate of lines of JSON: `"digest":""` and `"name":""` are filled in, and so is `"job":""` of the first
/// line, with the last name; then every line gets its value of the chain.
pub fn seal(lines: &str) -> Vec<u8> {
    let mut records: Vec<Result<serde_json::Value, &str>> =
        lines.lines().map(|line| serde_json::from_str(line).map_err(|_| line)).collect();
    let text = |record: &serde_json::Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let mut last = String::new();
    for record in records.iter_mut().flatten() {
        if record["record"] == "range" && record["digest"] == "" {
            let partial = text(record, "partial");
            let byte =
                |at: usize| u8::from_str_radix(partial.get(at..at + 2).unwrap_or_default(), 16).unwrap_or(0);
            let bytes: Vec<u8> = (0..partial.len()).step_by(2).map(byte).collect();
            record["digest"] = blake3::hash(&bytes).to_hex().to_string().into();
        }
        if record["record"] == "job" && record["name"] == "" {
            let revision = record["revision"].as_u64().and_then(|number| u32::try_from(number).ok());
            let name =
                jobs::job_name(&text(record, "kind"), revision.unwrap_or(0), &text(record, "settings"));
            last = hex(&name);
            record["name"] = last.clone().into();
        }
    }
    if let Some(Ok(first)) = records.first_mut()
        && first["job"] == ""
    {
        first["job"] = last.into();
    }
    let (mut sealed, mut at) = (Vec::new(), [0; 32]);
    for record in records {
        let json = record.map_or_else(str::to_owned, |value| value.to_string());
        at = chain(&at, json.as_bytes());
        writeln!(sealed, "{} {json}", hex(&at)).expect("memory");
    }
    sealed
}

/// Small hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes as they are, or packed.
pub fn packed(how: u8, bytes: &[u8]) -> Vec<u8> {
    match how % 4 {
        0 => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(bytes).expect("memory");
            packer.finish().expect("memory")
        }
        1 => zstd::bulk::compress(bytes, 1).expect("packs"),
        _ => bytes.to_vec(),
    }
}

//! What is kept in etcd, under which keys.
//!
//! ```text
//! ledger         format of all this, and the ledger's id
//! leader         the coordinator that leads
//! beat           written twice a second by the one that leads
//! head           number and chain of the last group
//! log/SEQ        a group of entries, as a frame of the journal; those since the base
//! base           the state of the ledger at group SEQ: how many pieces it has, and their digest
//! base/GEN/I     a piece of it
//! page/ID        commits of a job, ascending; the base says which pages a job has
//! ```
//!
//! Nothing is changed in place but `head`, `base`, `leader` and `beat`: pieces and pages are new keys until the base names them, and
//! are removed when it does not any more. Numbers in keys are 16 hexadecimal digits, so that keys sort by them.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    ledger::{Act, Chain, CommitRecord, JobSummary, LedgerError, Quarantine},
    scheduler::{JobId, WorkerId},
};

pub(super) const FORMAT: u32 = 2;
pub(super) const LEDGER: &str = "ledger";
pub(super) const LEADER: &str = "leader";
pub(super) const BEAT: &str = "beat";
pub(super) const HEAD: &str = "head";
pub(super) const LOG: &str = "log/";
pub(super) const BASE: &str = "base";
pub(super) const PIECE: &str = "base/";
pub(super) const PAGE: &str = "page/";

/// A page is split when its commits take more than this. etcd refuses requests above 1.5 MiB.
pub(super) const PAGE_BYTES: usize = 512 << 10;
/// Size of a piece of the base.
pub(super) const PIECE_BYTES: usize = 512 << 10;
/// What a value may unpack to: against values that were not written by this program.
const MAX_PAGE_UNPACKED: usize = 4 << 20;
const MAX_BASE_UNPACKED: usize = 1 << 30;
const ZSTD_LEVEL: i32 = 3;

/// The key `ledger`, as JSON: people look at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub format: u32,
    pub id: String,
}

/// The last group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub seq: u64,
    pub chain: Chain,
}

/// The state at a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    /// Number of the pieces' keys.
    pub generation: u64,
    pub pieces: u32,
    /// blake3 of all pieces, one behind the other.
    pub digest: [u8; 32],
    /// The group that the state includes, and all before it.
    pub head: Head,
}

/// What the pieces say.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Body {
    pub next_page: u64,
    pub next_order: u64,
    pub removed: Vec<JobId>,
    pub jobs: Vec<JobBody>,
    pub workers: Vec<Quarantine>,
    /// The newest ones.
    pub acts: Vec<Act>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct JobBody {
    pub order: u64,
    pub summary: JobSummary,
    pub pages: Vec<PageRef>,
}

/// A page of commits: those from `start` on, up to the next page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageRef {
    pub id: u64,
    pub start: u64,
    pub len_bytes: u32,
    pub commits: u32,
    /// blake3 of the page.
    pub digest: [u8; 32],
}

/// Pages of all jobs.
pub(super) type Directory = BTreeMap<JobId, Vec<PageRef>>;

pub(super) fn numbered(prefix: &str, number: u64) -> String {
    format!("{prefix}{number:016x}")
}

pub(super) fn piece(generation: u64, index: u32) -> String {
    format!("{PIECE}{generation:016x}/{index:08x}")
}

pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, LedgerError> {
    postcard::to_stdvec(value).map_err(|e| LedgerError::inconsistent(format!("a value does not encode: {e}")))
}

pub(super) fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, LedgerError> {
    postcard::from_bytes(bytes).map_err(|e| damaged(what, &e))
}

/// Something in etcd is not what this program wrote.
pub(super) fn damaged(what: &str, why: &dyn std::fmt::Display) -> LedgerError {
    LedgerError::inconsistent(format!(
        "the ledger in etcd is damaged: {what}: {why}. Restore etcd from a snapshot, or name another ledger"
    ))
}

/// What stands behind the body: earlier versions did not write it, and do not read it.
#[derive(Serialize, Deserialize)]
struct Behind {
    /// What workers must have, of the jobs that ask for something.
    requirements: Vec<(JobId, Vec<String>)>,
}

/// Encodes the body of a base, as pieces.
pub(super) fn encode_body(body: &Body) -> Result<(Vec<Vec<u8>>, [u8; 32]), LedgerError> {
    let asking = body.jobs.iter().filter(|job| !job.summary.requirements.is_empty());
    let requirements = asking.map(|job| (job.summary.record.id, job.summary.requirements.clone())).collect();
    let packed = pack(&[encode(body)?, encode(&Behind { requirements })?].concat())?;
    let digest = *blake3::hash(&packed).as_bytes();
    Ok((packed.chunks(PIECE_BYTES).map(<[u8]>::to_vec).collect(), digest))
}

pub(super) fn decode_body(packed: &[u8], digest: &[u8; 32]) -> Result<Body, LedgerError> {
    if blake3::hash(packed).as_bytes() != digest {
        return Err(damaged("base", &"its digest is another one"));
    }
    let unpacked = unpack("base", packed, MAX_BASE_UNPACKED)?;
    let (mut body, rest): (Body, _) =
        postcard::take_from_bytes(&unpacked).map_err(|e| damaged("base", &e))?;
    if !rest.is_empty() {
        let Behind { requirements } = decode("base", rest)?;
        let mut of: BTreeMap<_, _> = requirements.into_iter().collect();
        for job in &mut body.jobs {
            job.summary.requirements = of.remove(&job.summary.record.id).unwrap_or_default();
        }
    }
    Ok(body)
}

fn pack(bytes: &[u8]) -> Result<Vec<u8>, LedgerError> {
    zstd::bulk::compress(bytes, ZSTD_LEVEL)
        .map_err(|e| LedgerError::inconsistent(format!("a value does not pack: {e}")))
}

fn unpack(what: &str, packed: &[u8], most: usize) -> Result<Vec<u8>, LedgerError> {
    let promised = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten();
    let len = promised.and_then(|len| usize::try_from(len).ok()).filter(|len| *len <= most);
    let len = len.ok_or_else(|| damaged(what, &"it does not tell a sensible size"))?;
    zstd::bulk::decompress(packed, len).map_err(|e| damaged(what, &e))
}

/// A commit that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub commit: CommitRecord,
    /// All workers that stand behind it.
    pub by: Vec<WorkerId>,
}

impl Kept {
    /// One that its worker alone stands behind.
    pub fn alone(commit: CommitRecord) -> Self {
        Self { by: vec![commit.worker], commit }
    }

    pub fn start(&self) -> u64 {
        self.commit.range.start
    }
}

#[derive(Serialize, Deserialize)]
struct Page {
    workers: Vec<WorkerId>,
    commits: Vec<Stored>,
}

/// A commit of a page. Most of it follows from its neighbours or from itself.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Units between the one before and this.
    gap: u64,
    len: u64,
    /// `None`: that of the partial.
    digest: Option<[u8; 32]>,
    partial: Vec<u8>,
    /// Among the page's.
    worker: u32,
    /// Those that stand behind it; none: its worker alone.
    by: Vec<u32>,
    busy_us: u64,
    /// Since the one before.
    at_delta_ms: i64,
}

/// Encodes commits, which must ascend.
pub(super) fn encode_page(commits: &[Kept]) -> Result<Vec<u8>, LedgerError> {
    let mut page = Page { workers: Vec::new(), commits: Vec::with_capacity(commits.len()) };
    let mut known = BTreeMap::new();
    let (mut end, mut at) = (0, 0);
    for Kept { commit, by } in commits {
        let Range { start, end: next } = commit.range;
        let descends = || LedgerError::inconsistent("commits that do not ascend");
        let gap = start.checked_sub(end).ok_or_else(descends)?;
        let mut number = |worker: WorkerId| {
            let number = *known.entry(worker).or_insert_with(|| {
                page.workers.push(worker);
                page.workers.len() - 1
            });
            u32::try_from(number).unwrap_or(u32::MAX)
        };
        page.commits.push(Stored {
            gap,
            len: next - start,
            digest: (blake3::hash(&commit.partial).as_bytes() != &commit.digest).then_some(commit.digest),
            partial: commit.partial.clone(),
            worker: number(commit.worker),
            by: if *by == [commit.worker] { Vec::new() } else { by.iter().map(|w| number(*w)).collect() },
            busy_us: commit.busy_us,
            at_delta_ms: commit.at_unix_ms.wrapping_sub(at).cast_signed(),
        });
        (end, at) = (next, commit.at_unix_ms);
    }
    pack(&encode(&page)?)
}

/// The commits of a page of `job`.
pub(super) fn decode_page(job: JobId, reference: &PageRef, packed: &[u8]) -> Result<Vec<Kept>, LedgerError> {
    let what = format!("page {} of {job:?}", reference.id);
    if blake3::hash(packed).as_bytes() != &reference.digest {
        return Err(damaged(&what, &"its digest is another one"));
    }
    let page: Page = decode(&what, &unpack(&what, packed, MAX_PAGE_UNPACKED)?)?;
    let worker = |number: u32| {
        let worker = page.workers.get(number as usize).copied();
        worker.ok_or_else(|| damaged(&what, &"it names a worker that it does not have"))
    };
    let mut commits = Vec::with_capacity(page.commits.len());
    let (mut end, mut at) = (0_u64, 0_u64);
    for stored in page.commits {
        let start = end.checked_add(stored.gap);
        let range = start.and_then(|start| Some(start..start.checked_add(stored.len)?));
        let range = range.ok_or_else(|| damaged(&what, &"its ranges end beyond all numbers"))?;
        at = at.wrapping_add_signed(stored.at_delta_ms);
        end = range.end;
        let digest = stored.digest.unwrap_or_else(|| *blake3::hash(&stored.partial).as_bytes());
        let (partial, busy_us) = (stored.partial, stored.busy_us);
        let alone = worker(stored.worker)?;
        let by = stored.by.into_iter().map(worker).collect::<Result<Vec<_>, _>>()?;
        let by = if by.is_empty() { vec![alone] } else { by };
        let commit = CommitRecord { job, range, digest, partial, worker: alone, busy_us, at_unix_ms: at };
        commits.push(Kept { commit, by });
    }
    Ok(commits)
}

/// Splits commits into pages of at most [`PAGE_BYTES`] unpacked, but at least one commit each.
pub(super) fn split(commits: &[Kept]) -> Vec<&[Kept]> {
    /// What a commit takes beside its partial, at most.
    const BESIDE: usize = 64;
    let mut pages = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (at, commit) in commits.iter().enumerate() {
        let more = commit.commit.partial.len() + BESIDE;
        if bytes > 0 && bytes + more > PAGE_BYTES {
            pages.push(&commits[from..at]);
            (from, bytes) = (at, 0);
        }
        bytes += more;
    }
    pages.push(&commits[from..]);
    pages.retain(|page| !page.is_empty());
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits(seed: u64) -> Vec<Kept> {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut end = 0;
        let count = rng.random_range(0..2000);
        (0..count)
            .map(|_| {
                let start = end + rng.random_range(0..3) * rng.random_range(0..1000);
                end = start + rng.random_range(1..1000);
                let len =
                    if rng.random_bool(0.02) { rng.random_range(0..65_536) } else { rng.random_range(0..9) };
                let partial: Vec<u8> = (0..len).map(|_| rng.random()).collect();
                let own = *blake3::hash(&partial).as_bytes();
                let commit = CommitRecord {
                    job: JobId([7; 16]),
                    range: start..end,
                    digest: if rng.random_bool(0.9) { own } else { rng.random() },
                    partial,
                    worker: WorkerId([rng.random_range(0..5); 16]),
                    busy_us: rng.random(),
                    at_unix_ms: rng.random(),
                };
                let others = (0..rng.random_range(0..3)).map(|i| WorkerId([10 + i; 16]));
                Kept { by: std::iter::once(commit.worker).chain(others).collect(), commit }
            })
            .collect()
    }

    #[test]
    fn pages_have_what_was_put_in_and_stay_small() {
        let seed = rand::random();
        println!("seed {seed}");
        for seed in seed..seed + 10 {
            let commits = commits(seed);
            let mut again = Vec::new();
            for page in split(&commits) {
                let packed = encode_page(page).expect("encodes");
                assert!(packed.len() < PAGE_BYTES + 100_000, "{} bytes", packed.len());
                let digest = *blake3::hash(&packed).as_bytes();
                let reference = PageRef { id: 1, start: 0, len_bytes: 0, commits: 0, digest };
                again.extend(decode_page(JobId([7; 16]), &reference, &packed).expect("decodes"));
                if let Some(mut broken) = packed.len().checked_sub(1).map(|_| packed.clone()) {
                    broken[packed.len() / 2] ^= 1;
                    decode_page(JobId([7; 16]), &reference, &broken).expect_err("a flipped bit");
                }
            }
            assert_eq!(again, commits);
        }
    }

    #[test]
    fn a_base_of_an_earlier_version_asks_for_nothing_and_one_of_this_is_read_by_it() {
        let record = crate::ledger::JobRecord {
            id: JobId([1; 16]),
            name: [2; 16],
            kind: "noop".into(),
            revision: 1,
            settings: "{}".into(),
            units: 9,
            weight: 1,
            created_unix_ms: 8,
        };
        let asked = vec!["avx512".to_owned(), "memory_gib>=16".to_owned()];
        let summary = JobSummary { requirements: asked.clone(), ..JobSummary::submitted(record) };
        let body = Body { jobs: vec![JobBody { order: 0, summary, pages: Vec::new() }], ..Body::default() };
        let (pieces, digest) = encode_body(&body).expect("encodes");
        let packed = pieces.concat();
        let again = decode_body(&packed, &digest).expect("decodes");
        assert_eq!(again.jobs[0].summary.requirements, asked);
        // As it was read before there was anything behind it.
        let unpacked = unpack("base", &packed, MAX_BASE_UNPACKED).expect("unpacks");
        let earlier: Body = decode("base", &unpacked).expect("decodes");
        assert_eq!(earlier.jobs[0].summary.record, body.jobs[0].summary.record);
        // As it was written.
        let old = pack(&encode(&body).expect("encodes")).expect("packs");
        let read = decode_body(&old, blake3::hash(&old).as_bytes()).expect("decodes");
        assert!(read.jobs[0].summary.requirements.is_empty());
    }

    #[test]
    fn what_promises_too_much_is_not_unpacked() {
        let bomb = zstd::bulk::compress(&vec![0; MAX_PAGE_UNPACKED + 1], 3).expect("packs");
        let digest = *blake3::hash(&bomb).as_bytes();
        let reference = PageRef { id: 1, start: 0, len_bytes: 0, commits: 0, digest };
        let error = decode_page(JobId([7; 16]), &reference, &bomb).expect_err("too large");
        assert!(error.to_string().contains("sensible size"), "{error}");
    }
}

//! Every kind in the registry is certified, and its certificate holds: whatever its report says, it says again when it is
//! read back from JSON and added up anew.

use std::{ops::Range, path::Path, sync::Arc};

use jobs::{ErasedKind, KINDS, UnitContext, input::Surroundings, photos::drawn};
use shared::random::Random;

use super::*;
use crate::{
    ledger::{Act, EachCommit, JobSummary, LedgerError, Quarantine, Reading},
    scheduler::WorkerId,
};

const GRIDS: [&str; 3] = ["1234341221434321", "1234341223414123", "1234341243212143"];
const NINE: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
const PUZZLE: &str = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";
const NEED: &str = r#"{"units":3,"unit_us":0,"fail":[],"panic":[],"label":"need"}"#;

/// Units that are computed; those of longer jobs are given up behind them.
const COMPUTED: u64 = 48;
/// Computing times that each job is certified with.
const ROUNDS: usize = 20;

/// What may be typed for small jobs of a kind: each of its reports that differs in form.
fn typed(kind: &str, dir: &Path, random: &mut Random) -> Vec<Vec<String>> {
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.join(name), bytes).expect("a file");
        dir.join(name).to_str().expect("UTF-8").to_owned()
    };
    match kind {
        "recount" | "burnside" => vec![vec!["--shape".into(), "2x2".into()]],
        "automorphic" => vec![vec![]],
        "solve" => vec![vec![file("corpus.txt", format!("{PUZZLE}\n{}\nnone\n", GRIDS[0]).as_bytes())]],
        "photos" => vec![vec![file("photo.png", &drawn::puzzle(PUZZLE).png().expect("a picture"))]],
        "unavoidable" => vec![vec![GRIDS[0].into(), GRIDS[1].into(), "--sets".into()]],
        "hitting" => {
            let within = |grids: &[&str], clues: &str| {
                let words = grids.iter().copied().chain(["--clues", clues]);
                words.map(str::to_owned).collect::<Vec<_>>()
            };
            vec![within(&GRIDS, "4..6"), within(&[NINE, NINE, NINE], "8")]
        }
        "minimal" => {
            let sample = |seed: usize| vec!["--sample=3".to_owned(), format!("--seed={seed}")];
            let samples = (0..4).map(|_| sample(random.below(1_000_000)));
            std::iter::once(vec!["--shape=2x2".to_owned()]).chain(samples).collect()
        }
        "noop" => vec![vec!["--units=20".into(), "--parts".into()], vec!["--needs".into(), NEED.into()]],
        _ => panic!("no small job of the kind {kind} is known here: add one"),
    }
}

/// A ledger of some jobs of which each commit took whatever time.
#[derive(Default)]
struct Memory {
    jobs: Vec<JobSummary>,
    commits: Vec<CommitRecord>,
}

impl Memory {
    /// Adds a job, after those that it needs; its name.
    fn put(&mut self, kind: &dyn ErasedKind, settings: &str) -> [u8; 16] {
        let settings = kind.canonical(settings).expect("settings");
        let job = kind.open(&settings).expect("a job");
        for need in job.needs() {
            self.put(jobs::find(need.kind).expect("a kind"), &need.settings);
        }
        let (revision, id) = (kind.revision(), JobId([u8::try_from(self.jobs.len()).expect("few"); 16]));
        let name = jobs::job_name(kind.name(), revision, &settings);
        let units = job.units();
        let computed = units.min(COMPUTED);
        for start in (0..computed).step_by(3) {
            let range = start..(start + 3).min(computed);
            let partial = yielded(Arc::clone(&job).accumulator(), range.clone());
            let digest = *blake3::hash(&partial).as_bytes();
            let worker = WorkerId([7; 16]);
            let commit = CommitRecord { job: id, range, digest, partial, worker, busy_us: 0, at_unix_ms: 2 };
            self.commits.push(commit);
        }
        let kind = kind.name().into();
        let record = JobRecord { id, name, kind, revision, settings, units, weight: 1, created_unix_ms: 1 };
        let quarantined = (computed..units).collect();
        let state = JobState::Finished;
        self.jobs.push(JobSummary { state, quarantined, ..JobSummary::submitted(record) });
        name
    }
}

fn yielded(mut sum: Box<dyn jobs::Accumulator>, mut range: Range<u64>) -> Vec<u8> {
    range.try_for_each(|unit| sum.run_unit(unit, &UnitContext::free())).expect("computed");
    sum.bytes().expect("a partial")
}

impl Reading for Memory {
    fn ledger_id(&self) -> [u8; 16] {
        [3; 16]
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError> {
        Ok(self.jobs.clone())
    }

    fn acts(&self) -> Result<Vec<Act>, LedgerError> {
        Ok(Vec::new())
    }

    fn quarantined(&self) -> Result<Vec<Quarantine>, LedgerError> {
        Ok(Vec::new())
    }

    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError> {
        let mut of_job = self.commits.iter().filter(|commit| commit.job == job);
        of_job.try_for_each(|commit| each(commit, &[commit.worker]))
    }
}

#[test]
fn the_certificate_of_every_kind_holds_whatever_time_was_taken() {
    let seed = std::env::var("NONET_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(rand::random);
    println!("NONET_TEST_SEED={seed}");
    let (mut random, dir) = (Random::new(seed), tempfile::tempdir().expect("a folder"));
    for kind in KINDS {
        for typed in typed(kind.name(), dir.path(), &mut random) {
            let words = [vec![kind.name().to_owned()], typed].concat();
            let matches = kind.command().try_get_matches_from(&words).expect("arguments");
            let settings = kind.settings(&matches, &Surroundings::local()).expect("settings");
            let mut ledger = Memory::default();
            let name = hex(&ledger.put(*kind, &settings));
            for _ in 0..ROUNDS {
                // From microseconds to hours.
                let most = 10_usize.pow(u32::try_from(1 + random.below(10)).expect("small"));
                ledger.commits.iter_mut().for_each(|commit| commit.busy_us = random.below(most) as u64);
                let mut bytes = Vec::new();
                make(&ledger, &name, &mut bytes).expect("a certificate");
                if let Err(error) = checked(&bytes) {
                    panic!("{words:?}: {error}");
                }
            }
        }
    }
}

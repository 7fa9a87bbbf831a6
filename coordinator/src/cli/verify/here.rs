//! The sample computed in this process, from the journal of a ledger.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use jobs::input::Storage;
use proto::v1::{Difference, VerifyRequest, VerifyStatus};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use worker::storage::Stores;

use super::{
    super::{each::each, exit::Failure},
    pace::Pace,
};
use crate::{
    certificate::{Recomputed, one_job, recompute_range},
    engine::{Sample, choose, reopen},
    ledger::{JournalReading, Reading, committed},
    scheduler::{Committed, hex},
};

/// Computes the sample again.
pub async fn compute(
    state: PathBuf,
    request: VerifyRequest,
    threads: usize,
    stop: CancellationToken,
) -> Result<VerifyStatus, Failure> {
    let storage: Arc<dyn Storage> = Arc::new(Stores::new(Handle::current()));
    let work = tokio::task::spawn_blocking(move || {
        again(&state, &request, threads, &storage, &|| stop.is_cancelled())
    });
    work.await.map_err(|error| Failure::failed(format!("it failed: {error}")))?
}

fn again(
    state: &Path,
    request: &VerifyRequest,
    threads: usize,
    storage: &Arc<dyn Storage>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<VerifyStatus, Failure> {
    let ledger = JournalReading::open(state)?;
    let jobs = ledger.jobs()?;
    let record = &one_job(&jobs, &request.job).map_err(Failure::usage)?.record;
    let opened = reopen(
        (&record.kind, record.revision, &record.settings),
        record.units,
        "verify it with the program that made it",
    );
    let job = opened.map_err(Failure::failed)?.job;
    let sample = Sample { share_ppm: request.share_ppm, seed: request.seed };
    let chosen = choose(committed(&ledger, record.id)?, units, sample);
    let total = chosen.iter().map(units).sum();
    eprintln!("nonet: computing {} ranges of {total} work units again (seed {})", chosen.len(), request.seed);
    let status = VerifyStatus { ranges: chosen.len() as u64, units: total, ..VerifyStatus::default() };
    let shown = Mutex::new((status, Pace::new()));
    each(&chosen, threads, stop, |range| {
        let found = recompute_range(&job, &range.range, &range.digest, storage, stop);
        let (status, pace) = &mut *shown.lock().unwrap_or_else(PoisonError::into_inner);
        count(status, range, found);
        pace.show(status);
    });
    let (mut status, pace) = shown.into_inner().unwrap_or_else(PoisonError::into_inner);
    pace.end();
    status.differences.sort_by_key(|difference| difference.start);
    Ok(status)
}

fn units(committed: &Committed) -> u64 {
    committed.range.end - committed.range.start
}

fn count(status: &mut VerifyStatus, committed: &Committed, found: Recomputed) {
    match found {
        Recomputed::Stopped => return,
        Recomputed::Failed(why) => {
            status.failed_ranges += 1;
            status.last_failure = why;
            return;
        }
        Recomputed::Same => status.agreeing_ranges += 1,
        Recomputed::Different(digest) => {
            status.differing_ranges += 1;
            status.differences.push(Difference {
                start: committed.range.start,
                end: committed.range.end,
                workers: committed.by.iter().map(|worker| worker.text()).collect(),
                digest: hex(&committed.digest),
                second_worker: "this machine".into(),
                second_digest: hex(&digest),
            });
        }
    }
    status.checked_ranges += 1;
    status.checked_units += units(committed);
}

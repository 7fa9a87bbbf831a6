//! `nonet ledger rebuild`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use serde::Serialize;
use worker::store::{FolderLock, Store, sync_folder};

use super::{
    Ledger, LedgerError,
    audit::as_text,
    embedded::{EmbeddedLedger, LOCK, STORE},
    journal::Frames,
};

/// What [`rebuild`] did.
#[derive(Clone, Debug, Serialize)]
pub struct RebuildReport {
    /// Jobs in the new index.
    pub jobs: usize,
    /// Bytes of the journal that were read.
    #[serde(serialize_with = "as_text")]
    pub bytes: u64,
    /// Where the old store went, if there was one.
    pub moved: Option<PathBuf>,
    /// How long it took.
    pub seconds: f64,
}

/// Moves the store aside and makes a new one from the journal. `progress` is told the bytes read so far, and all.
///
/// # Errors
///
/// When another process has the ledger, when the journal is missing or damaged, and whatever the system says.
pub fn rebuild(dir: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<RebuildReport, LedgerError> {
    let begun = Instant::now();
    // Before anything is moved: without a journal there is nothing to rebuild from.
    let bytes = Frames::open(dir)?.size();
    let lock = FolderLock::take(dir, LOCK)?;
    let store = dir.join(STORE);
    let mut moved = None;
    if store.exists() {
        // Held until the new one is made: a process that opened the store in spite of the ledger's lock is found out.
        let held = FolderLock::take(&store, Store::LOCK)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let mut aside = dir.join(format!("{STORE}.bad-{now}"));
        let mut again = 0;
        while aside.exists() {
            again += 1;
            aside = dir.join(format!("{STORE}.bad-{now}-{again}"));
        }
        fs::rename(&store, &aside).map_err(|e| LedgerError::io("move aside", &store, &e))?;
        sync_folder(dir)?;
        tracing::info!(to = %aside.display(), "moved the old index aside");
        moved = Some(aside);
        drop(held);
    }
    let ledger = EmbeddedLedger::open_locked(dir, lock, progress)?;
    let jobs = ledger.jobs()?.len();
    Ok(RebuildReport { jobs, bytes, moved, seconds: begun.elapsed().as_secs_f64() })
}

//! Files that are read again when they change: tokens and certificates are renewed while the coordinator runs.

use std::{fs, os::unix::fs::MetadataExt, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// How often files are looked at. SIGHUP is quicker.
const EVERY: Duration = Duration::from_secs(1);

/// What is made of files.
pub struct Reread<T> {
    what: &'static str,
    files: Vec<PathBuf>,
    read: Box<dyn Fn() -> Result<T, String> + Send + Sync>,
    now: watch::Sender<Arc<T>>,
}

/// When a file was last changed, as far as it tells: time, length, inode.
type Mark = Option<(i64, i64, u64, u64)>;

impl<T: Send + Sync + 'static> Reread<T> {
    /// Reads them for the first time, and again whenever they change, until `stop`. If they are broken then, what was read
    /// before stays.
    ///
    /// # Errors
    ///
    /// When the first time fails.
    pub fn open(
        what: &'static str,
        files: Vec<PathBuf>,
        read: impl Fn() -> Result<T, String> + Send + Sync + 'static,
        stop: CancellationToken,
    ) -> Result<Arc<Self>, String> {
        let marks = marks(&files);
        let now = watch::Sender::new(Arc::new(read()?));
        let this = Arc::new(Self { what, files, read: Box::new(read), now });
        let hangup = signal(SignalKind::hangup()).map_err(|e| format!("cannot listen to SIGHUP: {e}"))?;
        tokio::spawn(Arc::clone(&this).watch(marks, hangup, stop));
        Ok(this)
    }

    /// As last read.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.now.borrow())
    }

    /// Tells whenever they have been read again.
    pub fn changes(&self) -> watch::Receiver<Arc<T>> {
        self.now.subscribe()
    }

    async fn watch(self: Arc<Self>, mut marked: Vec<Mark>, mut hangup: Signal, stop: CancellationToken) {
        loop {
            let asked = tokio::select! {
                () = sleep(EVERY) => false,
                _ = hangup.recv() => true,
                () = stop.cancelled() => return,
            };
            let marks = marks(&self.files);
            if marks == marked && !asked {
                continue;
            }
            // Marked before it is read: what changes meanwhile is met in the next round.
            marked = marks;
            match (self.read)() {
                Ok(value) => {
                    self.now.send_replace(Arc::new(value));
                    tracing::info!("{} read again", self.what);
                }
                Err(why) => {
                    tracing::error!("{} not read again, what was read before stays: {why}", self.what);
                }
            }
        }
    }
}

fn marks(files: &[PathBuf]) -> Vec<Mark> {
    let mark =
        |path: &PathBuf| fs::metadata(path).ok().map(|m| (m.mtime(), m.mtime_nsec(), m.len(), m.ino()));
    files.iter().map(mark).collect()
}

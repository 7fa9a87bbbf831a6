//! The coordinator's side of a pool: who is there, and how many are to stay.

use proto::v1::WorkerStatus;

use crate::{cli::exit::Failure, client::Client};

/// A pool of a coordinator.
#[derive(Debug)]
pub struct Pool<'a> {
    /// The way to it.
    pub client: Client,
    /// Value of the label that its workers have.
    pub name: &'a str,
}

/// Its connected workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Those that were not told to leave.
    pub staying: u32,
    /// Those that were, and finish what they hold.
    pub leaving: u32,
}

impl Census {
    /// How many leave sooner or later when `keep` are to stay.
    pub fn leaving_for(self, keep: u32) -> u32 {
        self.leaving + self.staying.saturating_sub(keep)
    }
}

impl Pool<'_> {
    /// Has `keep` of the connected workers stay. The others leave as they become free; how many they are.
    pub async fn release(&mut self, keep: u32) -> Result<u32, Failure> {
        Ok(self.client.release(self.name, keep).await?.leaving)
    }

    /// Who is connected.
    pub async fn count(&mut self) -> Result<Census, Failure> {
        let workers = self.client.workers().await?.workers;
        let mine = workers.iter().filter(|worker| self.has(worker));
        Ok(mine.fold(Census::default(), |census, worker| {
            let Census { staying, leaving } = census;
            if worker.leaving {
                Census { staying, leaving: leaving + 1 }
            } else {
                Census { staying: staying + 1, leaving }
            }
        }))
    }

    fn has(&self, worker: &WorkerStatus) -> bool {
        worker.labels.iter().any(|label| label.name == proto::labels::POOL && label.value == self.name)
    }
}

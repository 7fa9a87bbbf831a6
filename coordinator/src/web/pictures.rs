//! Pictures of jobs, drawn once for all who look: each costs the engine a walk over the job's ranges.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use super::{answers::Trouble, shapes};
use crate::engine::Engine;

/// A picture is good for so long, and so many times longer than it took.
const LEAST_AGE: Duration = Duration::from_millis(500);
const AGE_PER_COST: u32 = 20;
/// Jobs whose pictures are kept.
const MOST: usize = 64;
/// No name of a job is longer, and no kind.
const MAX_NAME_BYTES: usize = 64;

type Slot = Arc<Mutex<Option<Drawn>>>;

/// The pictures that were drawn last.
#[derive(Default)]
pub struct Pictures(std::sync::Mutex<HashMap<String, Slot>>);

struct Drawn {
    until: Instant,
    json: Arc<str>,
}

impl Pictures {
    /// The picture of a job, as JSON.
    pub async fn get(&self, engine: Engine, job: String) -> Result<Arc<str>, Trouble> {
        if job.len() > MAX_NAME_BYTES {
            return Err(Trouble::absent("there is no job of so long a name".into()));
        }
        let slot = self.slot(&job);
        // Whoever comes while it is drawn waits for it.
        let mut drawn = slot.lock().await;
        let began = Instant::now();
        if let Some(drawn) = drawn.as_ref().filter(|drawn| drawn.until > began) {
            return Ok(Arc::clone(&drawn.json));
        }
        let picture = match engine.picture(job.clone()).await {
            Ok(picture) => picture,
            Err(refusal) => {
                // What is no job keeps no place.
                self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&job);
                return Err(refusal.into());
            }
        };
        let json: Arc<str> = shapes::picture(&picture).to_string().into();
        let until = Instant::now() + LEAST_AGE.max(began.elapsed() * AGE_PER_COST);
        *drawn = Some(Drawn { until, json: Arc::clone(&json) });
        Ok(json)
    }

    fn slot(&self, job: &str) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MOST && !slots.contains_key(job) {
            // Those that would be drawn anew anyway, or all: who is at one has its own handle.
            let now = Instant::now();
            let is_good = |slot: &Slot| match slot.try_lock() {
                Ok(drawn) => drawn.as_ref().is_some_and(|drawn| drawn.until > now),
                Err(_) => true,
            };
            slots.retain(|_, slot| is_good(slot));
            if slots.len() >= MOST {
                slots.clear();
            }
        }
        Arc::clone(slots.entry(job.to_owned()).or_default())
    }
}

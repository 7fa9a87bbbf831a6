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
        let slot = self.slot(&job);
        // Whoever comes while it is drawn waits for it.
        let mut drawn = slot.lock().await;
        let began = Instant::now();
        if let Some(drawn) = drawn.as_ref().filter(|drawn| drawn.until > began) {
            return Ok(Arc::clone(&drawn.json));
        }
        let json: Arc<str> = shapes::picture(&engine.picture(job).await?).to_string().into();
        let until = Instant::now() + LEAST_AGE.max(began.elapsed() * AGE_PER_COST);
        *drawn = Some(Drawn { until, json: Arc::clone(&json) });
        Ok(json)
    }

    fn slot(&self, job: &str) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MOST && !slots.contains_key(job) {
            // Who is at it has its own handle.
            slots.clear();
        }
        Arc::clone(slots.entry(job.to_owned()).or_default())
    }
}

//! What is told to everybody who watches, as server-sent events.
//!
//! One task asks the engine, at most twice a second, and only while somebody watches; what it makes of the answer is shared
//! by all. Nobody is waited for: who reads slowly misses what was replaced meanwhile. What has not changed is not sent again.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::body::Bytes;
use futures_util::stream::{Stream, unfold};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{Site, guard::Asker, shapes};
use crate::{
    engine::{Engine, Refusal, Wanted, unix_ms},
    server::places::{Place, Who},
};

/// Jobs and workers that are told of.
const MOST_JOBS: usize = 200;
const MOST_WORKERS: usize = 200;
/// No more often than this.
const LEAST_PAUSE: Duration = Duration::from_millis(500);
/// Workers come and go without a job's moving.
const MOST_PAUSE: Duration = Duration::from_secs(1);
/// And for a kilobyte that is told, so long: what one watcher is sent stays below 100 KB a second.
const PAUSE_PER_KB: Duration = Duration::from_millis(10);
/// A watcher that hears nothing for longer is cut off, and comes again.
const PULSE: Duration = Duration::from_secs(5);
/// How soon a browser comes again.
const AGAIN: &str = "retry: 1000\n\n";

/// What is told of one thing.
#[derive(Clone, Default)]
struct Told {
    /// How often it has changed.
    number: u64,
    /// What it says, and the event that carries it.
    says: Arc<str>,
    event: Bytes,
}

/// All that is told.
#[derive(Clone, Default)]
pub struct Frames {
    standing: Told,
    jobs: Told,
    workers: Told,
}

impl Frames {
    fn forget(&mut self) {
        [&mut self.standing, &mut self.jobs, &mut self.workers].into_iter().for_each(Told::forget);
    }
}

impl Told {
    fn forget(&mut self) {
        *self = Self { number: self.number, ..Self::default() };
    }

    /// True when this is something new.
    fn tell(&mut self, name: &str, what: &Value) -> bool {
        let says = what.to_string();
        if *self.says == *says {
            return false;
        }
        let now = unix_ms();
        let event = format!("event: {name}\ndata: {{\"now_unix_ms\":{now},\"view\":{says}}}\n\n");
        *self = Self { number: self.number + 1, says: says.into(), event: event.into() };
        true
    }
}

/// The task that tells; ends with the coordinator.
pub async fn tell(site: Arc<Site>, frames: watch::Sender<Frames>, stop: CancellationToken) {
    let telling = async {
        loop {
            // Nobody there: nothing is asked, and what was said last grows old.
            while frames.receiver_count() <= 1 {
                frames.send_modify(Frames::forget);
                site.somebody.notified().await;
            }
            let began = Instant::now();
            let mut next = frames.borrow().clone();
            let before = next.clone();
            look(&site, &mut next).await;
            let len = [
                (&before.standing, &next.standing),
                (&before.jobs, &next.jobs),
                (&before.workers, &next.workers),
            ]
            .map(|(before, next)| if before.number == next.number { 0 } else { next.event.len() })
            .iter()
            .sum::<usize>();
            if len > 0 {
                frames.send_replace(next);
            }
            // What it costs to ask is a small part of the time too.
            let kilobytes = u32::try_from(len / 1000).unwrap_or(u32::MAX);
            let pause = (PAUSE_PER_KB * kilobytes).max(began.elapsed() * 10).max(LEAST_PAUSE);
            sleep_until(began + pause).await;
            if let Ok(engine) = site.seat.engine() {
                moved(&engine, began + pause.max(MOST_PAUSE)).await;
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = stop.cancelled() => {}
    }
}

/// Until something has moved, at most until `late`.
async fn moved(engine: &Engine, late: Instant) {
    let mut changes = engine.changes();
    tokio::select! {
        changed = changes.changed() => if changed.is_err() { sleep_until(late).await },
        () = sleep_until(late) => {}
    }
}

async fn look(site: &Site, frames: &mut Frames) {
    let view = async {
        let engine = site.seat.engine().map_err(|_| Refusal::NotNow(String::new()))?;
        let jobs = engine.view_jobs(Wanted { most: MOST_JOBS, ..Wanted::default() }).await?;
        let crew = engine.view_crew(Wanted { most: MOST_WORKERS, ..Wanted::default() }).await?;
        Ok::<_, Refusal>((jobs, crew))
    };
    let Ok((jobs, crew)) = view.await else {
        let leader = site.seat.leader().map(|leader| json!({ "url": leader.url, "page": leader.page }));
        frames.standing.tell("standing", &json!({ "leads": false, "leader": leader }));
        // What was told before is not for whoever comes now.
        [&mut frames.jobs, &mut frames.workers].into_iter().for_each(Told::forget);
        return;
    };
    frames.standing.tell("standing", &json!({ "leads": true }));
    frames.jobs.tell("jobs", &shapes::jobs(&jobs));
    frames.workers.tell("workers", &shapes::crew(&crew));
}

/// What one watcher is sent, until the coordinator stops or its token is gone.
pub fn events(
    site: Arc<Site>,
    asker: Asker,
    place: Place<Who>,
    stop: CancellationToken,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let frames = site.frames.clone();
    site.somebody.notify_one();
    let over = async move {
        tokio::select! {
            () = site.guard.withdrawn(&asker) => {}
            () = stop.cancelled() => {}
        }
    };
    let watching = Watching { frames, seen: [0; 3], first: true, over: Box::pin(over), _place: place };
    unfold(Some(watching), |watching| async move {
        let mut watching = watching?;
        match watching.next().await {
            Some(event) => Some((Ok(event), Some(watching))),
            None => Some((Ok(Bytes::from_static(b"event: over\ndata: {}\n\n")), None)),
        }
    })
}

struct Watching {
    frames: watch::Receiver<Frames>,
    /// Numbers of what was sent.
    seen: [u64; 3],
    first: bool,
    over: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
    _place: Place<Who>,
}

impl Watching {
    /// None when it is over.
    async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.first) {
            return Some(Bytes::from_static(AGAIN.as_bytes()));
        }
        loop {
            let Frames { standing, jobs, workers } = self.frames.borrow_and_update().clone();
            for (seen, told) in self.seen.iter_mut().zip([standing, jobs, workers]) {
                if std::mem::replace(seen, told.number) != told.number && !told.event.is_empty() {
                    return Some(told.event);
                }
            }
            tokio::select! {
                biased;
                () = &mut self.over => return None,
                changed = self.frames.changed() => changed.ok()?,
                () = sleep(PULSE) => {
                    let pulse = format!("event: pulse\ndata: {{\"now_unix_ms\":{}}}\n\n", unix_ms());
                    return Some(pulse.into());
                }
            }
        }
    }
}

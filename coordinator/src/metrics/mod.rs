//! What the coordinator knows of itself and its farm, as `OpenMetrics` text for Prometheus and the like.
//!
//! `counted.rs` is what happens: counters that whoever sees it moves. `snapshot.rs` is how things stand, asked once a
//! scrape: of the engine by one message, of the system through `process.rs`. `text.rs` writes both down; every metric has
//! its name, unit and meaning there, and nowhere else. `deploy/grafana` and `deploy/prometheus` go by these names
//! (`tests/observability.rs`).

mod counted;
mod process;
mod snapshot;
mod text;

pub use self::{
    counted::{Counted, OpenConnection, Split},
    process::Process,
    snapshot::{Farm, JobLine, SHOWN_JOBS, Snapshot, collect},
    text::{CONTENT_TYPE, render},
};

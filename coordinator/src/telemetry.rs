//! What a coordinator tells of itself while it works. Whoever sees something happen counts it here.

use std::sync::Arc;

use crate::{metrics::Counted, traces::Traces};

/// Counters for `/metrics`, and spans for a collector of traces. Cheap to clone; all clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Telemetry {
    /// Since this process began, whoever has led meanwhile.
    pub counted: Arc<Counted>,
    /// Off, unless somebody collects them.
    pub traces: Traces,
}

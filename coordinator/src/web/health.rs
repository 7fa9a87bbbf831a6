//! Health and readiness: for Kubernetes, load balancers and scripts.

use std::{sync::Arc, time::Duration};

use axum::{extract::State, http::StatusCode};
use tokio::time::timeout;

use super::Site;

/// An engine that takes longer is not ready for anything.
const PULSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Answers as long as this process does.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether clients may come here. One that stands by is ready: it tells them who leads, and takes over when that one dies.
pub async fn readyz(State(site): State<Arc<Site>>) -> (StatusCode, String) {
    let not_ready = |why: String| (StatusCode::SERVICE_UNAVAILABLE, why + "\n");
    match site.seat.engine() {
        Ok(engine) => match timeout(PULSE_TIMEOUT, engine.pulse()).await {
            Ok(Ok(())) => (StatusCode::OK, "leads\n".into()),
            Ok(Err(refusal)) => not_ready(refusal.to_string()),
            Err(_) => not_ready(format!("the engine has not answered within {} s", PULSE_TIMEOUT.as_secs())),
        },
        Err(Some(url)) => (StatusCode::OK, format!("stands by: {url} leads\n")),
        Err(None) => not_ready("stands by, and none leads yet".into()),
    }
}

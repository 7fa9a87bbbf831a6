//! `/metrics`: for Prometheus and the like.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use super::Site;
use crate::metrics::{CONTENT_TYPE, collect, render};

/// How everything stands, as `OpenMetrics` text.
pub async fn metrics(State(site): State<Arc<Site>>) -> Response {
    match render(collect(&site.seat, &site.telemetry).await) {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

//! Plots between coordinator and client: JSON, bounded.

use serde::{Serialize, Serializer};

use super::Plot;

/// Upper bound of the plots of a report as JSON. A report is as good without those that exceed it.
pub const MAX_PLOTS_BYTES: usize = 2 << 20;

/// The first of these plots that stay below [`MAX_PLOTS_BYTES`] together.
#[must_use]
pub fn to_json(plots: &[Plot]) -> String {
    let mut json = String::from("[");
    for plot in plots {
        // Texts and finite numbers are always JSON.
        let Ok(plot) = serde_json::to_string(plot) else { continue };
        // A comma before it, a bracket behind.
        if json.len() + plot.len() + 2 > MAX_PLOTS_BYTES {
            break;
        }
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&plot);
    }
    json.push(']');
    json
}

/// Reads what [`to_json`] has written. A coordinator that knows no plots sends none at all.
///
/// # Errors
///
/// When these are no plots, or too many.
pub fn from_json(json: &str) -> Result<Vec<Plot>, String> {
    if json.is_empty() {
        return Ok(Vec::new());
    }
    if json.len() > MAX_PLOTS_BYTES {
        return Err(format!("{} bytes; at most {MAX_PLOTS_BYTES} are accepted", json.len()));
    }
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// Writes the points that JSON has numbers for.
pub fn finite<S: Serializer>(points: &[(f64, f64)], to: S) -> Result<S::Ok, S::Error> {
    let finite = points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
    finite.collect::<Vec<_>>().serialize(to)
}

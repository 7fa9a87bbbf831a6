//! Waits until the workers of a pool are as many as are wanted.

use std::time::Duration;

use tokio::time::sleep;
use worker::cli::stop_on_signal;

use super::farm::Pool;
use crate::cli::exit::{Failure, Outcome};

const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Waits; says whenever the number has changed. A signal ends it, and changes nothing.
pub async fn until(mut pool: Pool<'_>, wanted: u32) -> Result<Outcome, Failure> {
    let stop = stop_on_signal()?;
    let mut told = None;
    loop {
        let now = pool.count().await?;
        let there = now.staying + now.leaving;
        if told != Some(there) {
            eprintln!("nonet: {there} of {wanted} workers are connected");
            told = Some(there);
        }
        if now.staying == wanted && now.leaving == 0 {
            return Ok(Outcome::Done);
        }
        tokio::select! {
            () = sleep(LOOK_AGAIN) => {}
            () = stop.cancelled() => {
                eprintln!("nonet: interrupted; the same command goes on waiting");
                return Ok(Outcome::Interrupted);
            }
        }
    }
}

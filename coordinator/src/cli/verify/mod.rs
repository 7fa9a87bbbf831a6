//! `nonet verify`: a random sample of a job, computed again by others, or here.

mod here;
mod pace;

use std::{fmt::Write, path::PathBuf};

use clap::Args;
use proto::v1::{Difference, VerifyRequest, VerifyStatus};
use serde_json::json;
use worker::cli::{stop_on_signal, threads};

use self::pace::Pace;
use super::{
    args::{Format, RemoteArgs},
    certificate::share,
    exit::{Failure, Outcome},
    format::{lines, print},
    remote::connect,
};

use crate::{client::ClientError, shown::short};

/// Arguments of `nonet verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Start of the job's name, or its kind if there is only one of it
    job: String,
    /// Share of the work units, such as 1%: whole committed ranges, at least one
    #[arg(long, value_name = "SHARE", value_parser = share)]
    sample: f64,
    /// Where the choice of the sample begins [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    to: RemoteArgs,
    /// Compute the sample here, from the ledger in this folder, and ask no coordinator; one may be running on it
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Computing threads, with --state [default: one per core]
    #[arg(long, env = "NONET_THREADS", value_name = "N")]
    threads: Option<usize>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs it.
pub async fn run(args: VerifyArgs) -> Result<Outcome, Failure> {
    let seed = args.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().1);
    let request = VerifyRequest { job: args.job, share_ppm: millionths(args.sample), seed };
    let stop = stop_on_signal()?;
    let status = match args.state {
        None => {
            let followed = follow(args.to, request.clone());
            tokio::select! {
                status = followed => status?,
                // The coordinator calls the rest off.
                () = stop.cancelled() => return Ok(Outcome::Interrupted),
            }
        }
        Some(state) => {
            let threads = threads(args.threads).map_err(Failure::usage)?;
            let again = here::compute(state, request.clone(), threads, stop.clone()).await?;
            if stop.is_cancelled() {
                return Ok(Outcome::Interrupted);
            }
            again
        }
    };
    match args.format {
        Format::Json => print(&(to_json(&status, &request).to_string() + "\n"))?,
        Format::Table => print(&to_table(&status, &request))?,
        Format::Csv => print(&to_csv(&status.differences))?,
    }
    judge(&status)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share is above 0 and at most 1"
)]
fn millionths(share: f64) -> u32 {
    ((share * 1e6).round() as u32).clamp(1, 1_000_000)
}

/// Has the coordinator's other workers compute the sample.
async fn follow(to: RemoteArgs, request: VerifyRequest) -> Result<VerifyStatus, Failure> {
    let mut client = connect(to).await?;
    eprintln!("nonet: verifying {} (seed {})", request.job, request.seed);
    let mut statuses = client.verify(request).await?;
    let (mut pace, mut last) = (Pace::new(), VerifyStatus::default());
    while let Some(status) = statuses.message().await.map_err(ClientError::from)? {
        pace.show(&status);
        last = status;
        if last.done {
            break;
        }
    }
    pace.end();
    if last.done {
        return Ok(last);
    }
    Err(Failure::failed("the coordinator went away before the sample was computed again".into()))
}

/// What is wrong with a sample decides how the command ends.
fn judge(status: &VerifyStatus) -> Result<Outcome, Failure> {
    if let Some(first) = status.differences.first() {
        let count = status.differing_ranges;
        return Err(Failure::failed(format!(
            "{count} of {} ranges yield something else when they are computed again, the first of them units {}..{} of \
             worker {}",
            status.ranges,
            first.start,
            first.end,
            first.workers.join(", ")
        )));
    }
    if status.failed_ranges > 0 {
        let (count, why) = (status.failed_ranges, &status.last_failure);
        return Err(Failure::failed(format!("{count} ranges cannot be computed again: {why}")));
    }
    if status.agreeing_ranges > 0 {
        return Ok(Outcome::Done);
    }
    // Who asks whether a job can be relied on must not take silence for a yes.
    Err(Failure::failed(match status.dropped_ranges {
        0 => "nothing was verified: no range of the job is committed yet".into(),
        dropped => format!(
            "nothing was verified: {dropped} of {} ranges do not count any more, or are being looked into already; verify \
             the job again",
            status.ranges
        ),
    }))
}

fn to_table(status: &VerifyStatus, request: &VerifyRequest) -> String {
    let VerifyStatus { ranges, units, agreeing_ranges, differing_ranges, checked_units, .. } = status;
    let mut text = format!("sample   {ranges} ranges, {units} work units (seed {})\n", request.seed);
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "checked  {checked_units} work units; {agreeing_ranges} ranges agree, {differing_ranges} differ"
    );
    for (count, what) in [
        (status.failed_ranges, "ranges could not be computed again"),
        (status.dropped_ranges, "ranges do not count any more, or are being looked into already"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "         {count} {what}");
        }
    }
    for Difference { start, end, workers, digest, second_worker, second_digest } in &status.differences {
        let first = workers.iter().map(|worker| short(worker)).collect::<Vec<_>>().join(", ");
        let (digest, second, other) = (short(digest), short(second_worker), short(second_digest));
        let _ =
            writeln!(text, "DIFFERS  units {start}..{end}: {digest} by worker {first}, {other} by {second}");
    }
    text
}

fn to_json(status: &VerifyStatus, request: &VerifyRequest) -> serde_json::Value {
    let difference = |d: &Difference| {
        json!({
            "start": d.start.to_string(), "end": d.end.to_string(), "workers": d.workers, "digest": d.digest,
            "second_worker": d.second_worker, "second_digest": d.second_digest,
        })
    };
    json!({
        "seed": request.seed.to_string(),
        "share_ppm": request.share_ppm,
        "ranges": status.ranges,
        "units": status.units.to_string(),
        "checked_ranges": status.checked_ranges,
        "checked_units": status.checked_units.to_string(),
        "agreeing": status.agreeing_ranges,
        "differing": status.differing_ranges,
        "failed": status.failed_ranges,
        "dropped": status.dropped_ranges,
        "differences": status.differences.iter().map(difference).collect::<Vec<_>>(),
    })
}

fn to_csv(differences: &[Difference]) -> String {
    let head = "start,end,workers,digest,second_worker,second_digest".to_owned();
    let row = |d: &Difference| {
        let (workers, second) = (d.workers.join(" "), &d.second_worker);
        format!("{},{},{workers},{},{second},{}", d.start, d.end, d.digest, d.second_digest)
    };
    lines(std::iter::once(head).chain(differences.iter().map(row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_which_nothing_agrees_is_no_good_news() {
        let said = |status: VerifyStatus| judge(&status).map_err(|failure| failure.text().to_owned());
        let nothing = said(VerifyStatus::default()).expect_err("nothing is committed");
        assert!(nothing.contains("committed yet"), "{nothing}");
        let dropped = VerifyStatus { ranges: 3, dropped_ranges: 3, ..VerifyStatus::default() };
        let all = said(dropped.clone()).expect_err("all were dropped");
        assert!(all.contains("3 of 3 ranges"), "{all}");
        let one = VerifyStatus { ranges: 4, agreeing_ranges: 1, ..dropped };
        assert!(said(one).is_ok());
    }
}

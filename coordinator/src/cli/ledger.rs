//! `nonet ledger check|rebuild|export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    args::Format,
    exit::{Failure, Outcome},
    format,
    source::LedgerAt,
};
use crate::ledger::{self, CheckReport};

/// Arguments of `nonet ledger`.
#[derive(Debug, Args)]
pub struct LedgerArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Verify every frame, digest and range of the journal, and that the store agrees with it
    #[command(
        after_help = "Exit code 1 when something is wrong.\n\nExample:\n  nonet ledger check --state ./nonet-state"
    )]
    Check {
        #[command(flatten)]
        at: LedgerAt,
        /// How to print the findings
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Move the store aside and make a new one from the journal
    #[command(after_help = "Example:\n  nonet ledger rebuild --state ./nonet-state")]
    Rebuild {
        #[command(flatten)]
        at: At,
    },
    /// Write every entry of the journal as a line of JSON to standard output; of a ledger in etcd, which keeps no journal,
    /// what it knows of each job
    #[command(after_help = "Example:\n  nonet ledger export --state ./nonet-state > ledger.jsonl")]
    Export {
        #[command(flatten)]
        at: LedgerAt,
    },
}

#[derive(Debug, Args)]
struct At {
    /// Folder of the ledger
    #[arg(long, env = "NONET_STATE", value_name = "DIR", default_value = "nonet-state")]
    state: PathBuf,
}

/// Runs the action off the async threads: all of it is reading and writing files.
pub async fn ledger(args: LedgerArgs) -> Result<Outcome, Failure> {
    let done = tokio::task::spawn_blocking(move || act(args.action)).await;
    done.map_err(|e| Failure::failed(format!("the ledger's tool failed: {e}")))?
}

fn act(action: Action) -> Result<Outcome, Failure> {
    match action {
        Action::Check { at, format } => {
            let report = match at.in_etcd()? {
                Some(reading) => reading.check()?,
                None => ledger::check(&at.state)?,
            };
            match format {
                Format::Json => format::print(&(to_json(&report)? + "\n"))?,
                Format::Table | Format::Csv => format::print(&table(&report))?,
            }
            match report.findings.as_slice() {
                [] => Ok(Outcome::Done),
                [finding] => Err(Failure::failed(finding.clone())),
                [finding, rest @ ..] => {
                    Err(Failure::failed(format!("{finding} (and {} more findings)", rest.len())))
                }
            }
        }
        Action::Rebuild { at } => {
            let report = ledger::rebuild(&at.state, &mut |_, _| {})?;
            let aside = report
                .moved
                .map_or(String::new(), |path| format!("; the old store is in {}", path.display()));
            format::print(&format!(
                "rebuilt {} jobs from {} bytes of journal{aside}\n",
                report.jobs, report.bytes
            ))?;
            Ok(Outcome::Done)
        }
        Action::Export { at } => {
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            let exported = match at.in_etcd()? {
                Some(reading) => ledger::export_known(&reading, &mut out)?,
                None => ledger::export(&at.state, &mut out)?,
            };
            eprintln!("nonet: {} entries", exported.entries);
            Ok(Outcome::Done)
        }
    }
}

fn to_json(report: &CheckReport) -> Result<String, Failure> {
    serde_json::to_string(report).map_err(|e| Failure::failed(e.to_string()))
}

fn table(report: &CheckReport) -> String {
    let CheckReport { ledger, frames, entries, bytes, chain, jobs, store, tail, findings, .. } = report;
    let mut text =
        format!("ledger   {ledger}\njournal  {entries} entries in {frames} groups, {bytes} bytes\n");
    text += &format!("chain    {chain}\nstore    {store}\n");
    if let Some(tail) = tail {
        text += &format!("tail     {tail}\n");
    }
    for job in jobs {
        text += &format!(
            "job {}  {}, {:?}: {} of {} units in {} commits; duplicates {}, overlaps {}, wrong digests {}, gaps {}\n",
            job.job,
            job.kind,
            job.state,
            job.committed_units,
            job.units,
            job.commits,
            job.duplicates,
            job.overlaps,
            job.wrong_digests,
            job.gaps
        );
        if job.replicas > 1 || job.claims != 0 || job.withdrawn_units != 0 {
            text += &format!(
                "    {} workers have to agree; {} results do not count, {} units were withdrawn\n",
                job.replicas, job.claims, job.withdrawn_units
            );
        }
    }
    if report.quarantined_workers > 0 {
        text += &format!("workers  {} quarantined\n", report.quarantined_workers);
    }
    for finding in findings {
        text += &format!("FINDING  {finding}\n");
    }
    text + if findings.is_empty() { "all is well\n" } else { "" }
}

//! Commands that ask a coordinator elsewhere.

use std::sync::Arc;

use clap::{ArgMatches, FromArgMatches};
use proto::v1::{Action, State, SubmitRequest};
use tokio::runtime::Handle;
use worker::{
    cli::{DEFAULT_COORDINATOR, stop_on_signal},
    config_file::ConfigFile,
    objects::Objects,
};

use super::{
    args::{
        Format, JobArgs, ListArgs, RemoteArgs, ReportFormat, ResultArgs, StatusArgs, SubmitArgs, WhichArgs,
    },
    exit::{Failure, Outcome},
    format, output, run,
};
use crate::{client::Client, shown};

/// A connection, as the options say.
pub async fn connect(to: RemoteArgs) -> Result<Client, Failure> {
    let file = ConfigFile::read(to.config.as_deref())?;
    let address = to.coordinator.or_else(|| file.coordinator.clone());
    let address = address.unwrap_or_else(|| DEFAULT_COORDINATOR.into());
    Ok(Client::connect(&Arc::new(to.credentials.dial(&address, &file)?)).await?)
}

/// `nonet submit`.
pub async fn submit(matches: &ArgMatches) -> Result<Outcome, Failure> {
    let (kind, matches) = run::kind(matches)?;
    let args = SubmitArgs::from_arg_matches(matches).map_err(|e| Failure::usage(e.to_string()))?;
    if args.format == ReportFormat::Html && !args.wait {
        return Err(Failure::usage("--format html is for reports: --wait is missing".into()));
    }
    let request = run::submission(kind, matches, None).await?;
    let (weight, replicas, fresh) = (args.weight, args.replicas, args.fresh);
    let requirements = args.require;
    let request = SubmitRequest { weight, replicas, fresh, requirements, ..request };
    let mut client = connect(args.to).await?;
    let (job, existed) = client.submit(request).await?;
    if existed {
        eprintln!("nonet: the coordinator has this job already (--fresh computes anew)");
    }
    if !args.wait {
        let line = match args.format {
            ReportFormat::Json => shown::job_json(&job).to_string(),
            ReportFormat::Table | ReportFormat::Csv | ReportFormat::Html => shown::job_line(&job),
        };
        format::print(&(line + "\n"))?;
        return Ok(Outcome::Done);
    }
    if job.state() == State::Running && !job.detail.is_empty() {
        eprintln!("nonet: {}", job.detail);
    }
    let name = job.name.clone();
    let stop = stop_on_signal()?;
    tokio::select! {
        ended = run::watch(&mut client, job, false) => ended?,
        () = stop.cancelled() => {
            eprintln!("nonet: interrupted; the job goes on, and the same command waits for it again");
            return Ok(Outcome::Interrupted);
        }
    }
    let (status, report) = client.result(&name).await?;
    format::print_report(&status, &report, args.format, None).await
}

/// `nonet jobs`.
pub async fn jobs(args: ListArgs) -> Result<Outcome, Failure> {
    let jobs = connect(args.to).await?.list().await?;
    format::print(&format::jobs(&jobs, args.format))?;
    Ok(Outcome::Done)
}

/// `nonet status`.
pub async fn status(args: StatusArgs) -> Result<Outcome, Failure> {
    let StatusArgs { job: JobArgs { which: WhichArgs { job, to }, format }, watch } = args;
    let mut client = connect(to).await?;
    let status = client.status(&job).await?;
    if watch && matches!(status.state(), State::Running | State::Paused) {
        let stop = stop_on_signal()?;
        let name = status.name.clone();
        tokio::select! {
            ended = run::watch(&mut client, status, false) => ended?,
            () = stop.cancelled() => return Ok(Outcome::Interrupted),
        }
        let status = client.status(&name).await?;
        return print_status(&status, format);
    }
    print_status(&status, format)
}

fn print_status(status: &proto::v1::JobStatus, format: Format) -> Result<Outcome, Failure> {
    let text = match format {
        Format::Table => shown::job_line(status) + "\n",
        Format::Json => shown::job_json(status).to_string() + "\n",
        Format::Csv => format::jobs(std::slice::from_ref(status), format),
    };
    format::print(&text)?;
    Ok(Outcome::Done)
}

/// `nonet result`.
pub async fn result(args: ResultArgs) -> Result<Outcome, Failure> {
    let ResultArgs { which: WhichArgs { job, to }, format, output, parts } = args;
    let parts = parts.or(ConfigFile::read(to.config.as_deref())?.parts);
    let parts = parts.map(|place| Objects::open(&place, &Handle::current())).transpose();
    let parts = parts.map_err(|error| Failure::usage(format!("--parts: {error}")))?;
    if output.is_some() && parts.is_none() {
        let what =
            "--output puts parts together: --parts is missing, the folder or URL that the workers have";
        return Err(Failure::usage(what.into()));
    }
    let (status, report) = connect(to).await?.result(&job).await?;
    if status.state() != State::Finished {
        eprintln!("nonet: not finished: {}", shown::job_line(&status));
    }
    if let Some((path, parts)) = output.zip(parts.as_ref()) {
        output::write(&status, &report, parts, path).await?;
    }
    format::print_report(&status, &report, format, parts.as_ref()).await
}

/// `nonet pause|resume|cancel|retry`.
pub async fn control(verb: &str, args: JobArgs) -> Result<Outcome, Failure> {
    let action = match verb {
        "pause" => Action::Pause,
        "resume" => Action::Resume,
        "cancel" => Action::Cancel,
        _ => Action::Retry,
    };
    let JobArgs { which: WhichArgs { job, to }, format } = args;
    let status = connect(to).await?.control(&job, action).await?;
    print_status(&status, format)
}

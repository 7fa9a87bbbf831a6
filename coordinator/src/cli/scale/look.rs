//! Looks at what is there: the site, the queue, and who is connected.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    accounts::{self, SubmitLimit},
    args::SlurmArgs,
    duration::{self, TimeLimit},
    farm::Pool,
    queue::{self, Phase, Task},
    site::{self, Partition, Site},
    tool::hear,
};
use crate::cli::exit::Failure;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The site, and what there is to note about it.
#[derive(Debug)]
pub struct Rules {
    /// Its configuration.
    pub site: Site,
    /// Limits of accounts and QOS.
    pub limits: Vec<SubmitLimit>,
    /// What the user may want to know.
    pub notes: Vec<String>,
}

/// A worker has ended this long after it was told to, or does not end at all.
const WORKER_ENDS_S: u64 = 10;

/// Reads what the site allows, and whether it allows what is asked for.
pub async fn rules(wanted: u32, options: &SlurmArgs) -> Result<Rules, Failure> {
    let site = hear("scontrol", &words(&["show", "config"])).await?;
    let site = site::config(&site).map_err(Failure::failed)?;
    let partitions = hear("scontrol", &words(&["--all", "--oneliner", "show", "partition"])).await?;
    let partitions = site::partitions(&partitions).map_err(Failure::failed)?;
    let mut notes = Vec::new();
    let chosen = choose(&partitions, options.partition.as_deref())?;
    if wanted > 0 {
        allowed(&chosen, options, &mut notes)?;
        fits(&chosen, wanted, options.threads, &mut notes);
    }
    if let Some(wait_s) = site.kill_wait_s.filter(|&s| s < WORKER_ENDS_S) {
        notes.push(format!(
            "KillWait of this site is {wait_s} s: a worker that Slurm preempts may be killed before it has handed back what \
             it holds (nothing is lost: that is computed again)"
        ));
    }
    let limits = if site.limits_enforced {
        let first = chosen.first().map(|p| p.name.as_str()).unwrap_or_default();
        match account_limits(&site, options, first).await {
            Ok(limits) => limits,
            Err(failure) => {
                notes.push(format!("limits of accounts are not known: {}", failure.text()));
                Vec::new()
            }
        }
    } else {
        Vec::new()
    };
    Ok(Rules { site, limits, notes })
}

/// The partitions in question.
fn choose<'a>(all: &'a [Partition], named: Option<&str>) -> Result<Vec<&'a Partition>, Failure> {
    let list = || all.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(named) = named else {
        return match all.iter().find(|p| p.is_default) {
            Some(default) => Ok(vec![default]),
            None => Err(Failure::usage(format!(
                "this site has no default partition: --partition names one of {}",
                list()
            ))),
        };
    };
    let find = |name: &str| {
        let found = all.iter().find(|p| p.name == name);
        found.ok_or_else(|| Failure::usage(format!("--partition {name}: this site has {}", list())))
    };
    named.split(',').map(find).collect()
}

/// Whether one of the partitions takes such jobs.
fn allowed(chosen: &[&Partition], options: &SlurmArgs, notes: &mut Vec<String>) -> Result<(), Failure> {
    let asked = options.time.as_deref().map(duration::parse).transpose().map_err(Failure::usage)?;
    let longest = chosen.iter().map(|p| p.max_time).max().unwrap_or(TimeLimit::Unlimited);
    if let Some(asked) = asked.filter(|&asked| asked > longest) {
        return Err(Failure::usage(format!(
            "--time {asked}: MaxTime of partition {} is {longest}, and such jobs would wait for ever; workers come back by \
             themselves when their time is over",
            names(chosen)
        )));
    }
    let stretch = asked.or_else(|| chosen.iter().map(|p| p.default_time).min());
    if let Some(TimeLimit::Seconds(stretch_s)) = stretch {
        check_stretch(stretch_s, options, notes)?;
    }
    for partition in chosen.iter().filter(|p| p.state != "UP") {
        let (name, state) = (&partition.name, &partition.state);
        if state == "DOWN" {
            notes.push(format!("partition {name} is DOWN: what is submitted waits until it is up"));
        } else if chosen.len() == 1 {
            return Err(Failure::failed(format!("partition {name} takes no jobs: it is {state}")));
        }
    }
    if let (Some(account), [partition]) = (&options.account, chosen)
        && let Some(accounts) = partition.accounts.as_ref().filter(|accounts| !accounts.contains(account))
    {
        let (name, accounts) = (&partition.name, accounts.join(", "));
        return Err(Failure::usage(format!("--account {account}: partition {name} is for {accounts}")));
    }
    Ok(())
}

fn check_stretch(stretch_s: u64, options: &SlurmArgs, notes: &mut Vec<String>) -> Result<(), Failure> {
    let signal_s = u64::from(options.signal_s);
    let limit = TimeLimit::Seconds(stretch_s);
    if stretch_s <= signal_s {
        return Err(Failure::usage(format!(
            "a worker would have {limit}, and be told to hand back {signal_s} s before its end: ask for more with --time"
        )));
    }
    if stretch_s < signal_s + 600 {
        notes.push(format!(
            "workers have {limit} and come back after it: most of their time goes into that; more --time is better"
        ));
    }
    Ok(())
}

fn names(partitions: &[&Partition]) -> String {
    partitions.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(",")
}

fn fits(chosen: &[&Partition], wanted: u32, threads: u32, notes: &mut Vec<String>) {
    let cpus: Option<u64> = chosen.iter().map(|p| p.total_cpus).sum();
    let needed = u64::from(wanted) * u64::from(threads);
    if let Some(cpus) = cpus.filter(|&cpus| cpus < needed) {
        notes.push(format!(
            "{wanted} workers of {threads} threads need {needed} processors, and partition {} has {cpus} (TotalCPUs): \
             some will wait",
            names(chosen)
        ));
    }
}

async fn account_limits(
    site: &Site,
    options: &SlurmArgs,
    partition: &str,
) -> Result<Vec<SubmitLimit>, Failure> {
    let user = hear("id", &words(&["-un"])).await?;
    let mut query = words(&["--noheader", "--parsable2", "show", "assoc"]);
    query.push(format!("user={}", user.trim()));
    if let Some(cluster) = &site.cluster {
        query.push(format!("cluster={cluster}"));
    }
    query.push(format!("format={}", accounts::ASSOCIATION));
    let all = accounts::associations(&hear("sacctmgr", &query).await?);
    let mine = accounts::choose(&all, options.account.as_deref(), partition);
    let mut limits = mine.map(|a| a.limits().to_vec()).unwrap_or_default();
    let qos = options.qos.clone().or_else(|| mine?.default_qos.clone());
    if let Some(qos) = qos {
        let mut query = words(&["--noheader", "--parsable2", "show", "qos"]);
        query.extend([qos.clone(), format!("format={}", accounts::QOS)]);
        limits.extend(accounts::qos_limits(&hear("sacctmgr", &query).await?, &qos));
    }
    Ok(limits)
}

/// What is there of a pool.
#[derive(Debug)]
pub struct Situation {
    /// Tasks of this farm.
    pub tasks: Vec<Task>,
    /// Tasks of the same name that belong to another farm, or to nobody we know.
    pub strangers: usize,
    /// Tasks of all jobs of this user.
    pub all_of_user: u64,
}

/// Asks Slurm for the tasks named `name`.
pub async fn queue(name: &str, comment: &str) -> Result<Situation, Failure> {
    let mut query = words(&["--me", "--array", "--noheader"]);
    let all = hear("squeue", &[&query[..], &["--format=%F".into()]].concat()).await?;
    query.extend([format!("--name={name}"), format!("--format={}", queue::FORMAT)]);
    let tasks = queue::parse(&hear("squeue", &query).await?).map_err(Failure::failed)?;
    let (tasks, strangers): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|task| task.comment == comment);
    let all_of_user = all.lines().filter(|line| !line.trim().is_empty()).count() as u64;
    Ok(Situation { tasks, strangers: strangers.len(), all_of_user })
}

/// What is there when it is clear who stays.
#[derive(Debug)]
pub struct Settled {
    /// Tasks before anything was done.
    pub before: Vec<Task>,
    /// What is there now.
    pub there: Situation,
    /// Workers that are there and leave.
    pub leaving: u32,
    /// The same with those that were free, and have left already.
    pub let_go: u32,
}

/// How long is waited for tasks that come, go, or come back. Most take a second or two.
const SETTLE: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// Tells the coordinator how many of the pool are to stay, and looks until it is clear who is there: a task that ends may
/// be one that requeues itself, and a worker that has only just started is not among those that are too many.
///
pub async fn settled(
    pool: &mut Pool<'_>,
    wanted: u32,
    (name, comment): (&str, &str),
) -> Result<Settled, Failure> {
    let since = Instant::now();
    let before = queue(name, comment).await?.tasks;
    let told = pool.release(wanted).await?;
    let mut released = pool.count().await?;
    loop {
        let there = queue(name, comment).await?;
        let leaving = released.leaving_for(wanted);
        let running = there.tasks.iter().filter(|task| task.phase == Phase::Running).count();
        let ending = there.tasks.iter().any(|task| task.phase == Phase::Ending);
        let unheard = running > usize::try_from(wanted + leaving).unwrap_or(usize::MAX);
        if !(ending || unheard) || since.elapsed() > SETTLE {
            return Ok(Settled { before, there, leaving, let_go: told.max(leaving) });
        }
        sleep(LOOK_AGAIN).await;
        let now = pool.count().await?;
        // Only when somebody has come: every release is written down.
        if now.staying > released.staying && now.staying > wanted {
            pool.release(wanted).await?;
        }
        released = now;
    }
}

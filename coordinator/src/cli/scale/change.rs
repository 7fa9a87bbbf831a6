//! The command itself: looks, plans, and does.

use std::{fs::File, path::Path};

use worker::{cli::DEFAULT_COORDINATOR, config_file::ConfigFile, dial::is_loopback};

use super::{
    args::ScaleArgs,
    farm::Pool,
    look::{self, Rules, Settled, Situation},
    plan::{Plan, There, plan},
    queue,
    report::Report,
    script::{Worker, quote, script},
    submit::{self, Request},
    tool, wait,
    worker_options::{self, Way},
};
use crate::cli::{
    exit::{Failure, Outcome},
    format::print,
    remote::connect,
};

/// What is submitted, and for whom.
struct Order<'a> {
    request: Request<'a>,
    script: String,
}

/// `nonet scale`.
pub async fn scale(args: ScaleArgs) -> Result<Outcome, Failure> {
    args.check()?;
    let file = ConfigFile::read(args.to.config.as_deref())?;
    let coordinator = args.to.coordinator.clone().or_else(|| file.coordinator.clone());
    let coordinator = coordinator.unwrap_or_else(|| DEFAULT_COORDINATOR.into());
    let allow_plaintext = args.to.credentials.allow_plaintext() || file.allow_plaintext.unwrap_or(false);
    let way = Way { coordinator: &coordinator, allow_plaintext };
    let options = worker_options::complete(&args.worker_options, &way)?;
    let (state, logs) = args.slurm_options.folders(&args.pool)?;
    let program = args.slurm_options.program()?;
    let (name, comment) = (format!("nonet-{}", args.pool), comment(&coordinator));
    let wishes = args.slurm_options.wishes();
    let worker = Worker {
        program: &program,
        folder: &state,
        pool: &args.pool,
        threads: args.slurm_options.threads,
        options: &options,
    };
    let request = Request {
        name: &name,
        comment: &comment,
        logs: &logs,
        threads: args.slurm_options.threads,
        signal_s: args.slurm_options.signal_s,
        wishes: &wishes,
    };
    let order = Order { request, script: script(&worker) };
    let mut rules = look::rules(args.slurm, &args.slurm_options).await?;
    if args.slurm > 0 && only_here(&coordinator) {
        rules.notes.push(format!("workers on other machines than this one do not reach {coordinator}"));
    }
    if args.dry_run {
        return rehearse(&args, &order, rules).await;
    }
    perform(args, &order, rules).await
}

/// Which farm tasks belong to. Names of several coordinators come in any order.
fn comment(coordinator: &str) -> String {
    let mut all: Vec<_> = coordinator.split(',').map(|url| url.trim().trim_end_matches('/')).collect();
    all.sort_unstable();
    format!("nonet worker of {}", all.join(","))
}

/// Whether a worker elsewhere could not reach any of these.
fn only_here(coordinator: &str) -> bool {
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.rsplit_once(':').map_or(rest, |(host, _)| host);
        host.trim_matches(['[', ']']).to_owned()
    };
    coordinator.split(',').all(|url| is_loopback(&host(url.trim())))
}

async fn perform(args: ScaleArgs, order: &Order<'_>, rules: Rules) -> Result<Outcome, Failure> {
    let Rules { site, limits, mut notes } = rules;
    let ScaleArgs { slurm: wanted, pool: pool_name, to, wait, format, .. } = args;
    let names = (order.request.name, order.request.comment);
    let client = connect(to).await.map_err(|failure| without_coordinator(&failure, names.0))?;
    let lock = lock(order.request.logs).await?;
    let mut pool = Pool { client, name: &pool_name };
    let Settled { before, there, leaving, let_go } = look::settled(&mut pool, wanted, names).await?;
    note(&there, names.0, &mut notes);
    let plan = planned(wanted, &there, leaving, &site, &limits);
    if plan.surplus > 0 {
        notes.push(format!(
            "{} workers more than are wanted run and are not connected yet: run this again when they are",
            plan.surplus
        ));
    }
    cancel(&plan).await?;
    let (submitted, refused) = submit_all(order, &plan).await;
    drop(lock);
    notes.iter().for_each(|note| eprintln!("nonet: {note}"));
    let report = Report {
        pool: &pool_name,
        wanted,
        tasks: &before,
        plan: &plan,
        leaving: let_go,
        submitted: &submitted,
        notes: &notes,
    };
    print(&report.text(format))?;
    if let Some(failure) = refused {
        return Err(failure);
    }
    if plan.not_placed > 0 {
        let because = plan.because.as_deref().unwrap_or("a limit of the site");
        return Err(Failure::failed(format!(
            "{} of {wanted} workers are not placed: {because}",
            plan.not_placed
        )));
    }
    if wait {
        return wait::until(pool, wanted).await;
    }
    Ok(Outcome::Done)
}

fn without_coordinator(failure: &Failure, name: &str) -> Failure {
    failure.and(&format!(
        "nothing was changed. Without a coordinator workers cannot be asked to leave; `scancel --me --name={name}` ends them \
         all, after they have handed back what they hold"
    ))
}

fn planned(
    wanted: u32,
    there: &Situation,
    leaving: u32,
    site: &super::site::Site,
    limits: &[super::accounts::SubmitLimit],
) -> Plan {
    let leaving = usize::try_from(leaving).unwrap_or(usize::MAX);
    let there = There { tasks: &there.tasks, leaving, all_of_user: there.all_of_user };
    plan(wanted.into(), &there, site, limits)
}

fn note(there: &Situation, name: &str, notes: &mut Vec<String>) {
    if there.strangers > 0 {
        notes.push(format!(
            "{} tasks named {name} belong to another coordinator and are left alone: `squeue --me --format='%i %k'`",
            there.strangers
        ));
    }
}

/// Two at once would both see what is missing, and both submit it. The second waits for the first.
async fn lock(logs: &Path) -> Result<File, Failure> {
    let path = logs.join("lock");
    let failed = |e: std::io::Error| Failure::failed(format!("{}: {e}", path.display()));
    std::fs::create_dir_all(logs).map_err(failed)?;
    let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
    if file.try_lock().is_ok() {
        return Ok(file);
    }
    eprintln!("nonet: another `nonet scale` of this pool is at work; waiting for it");
    let locked = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
    locked.map_err(|e| Failure::failed(format!("{}: {e}", path.display())))?.map_err(failed)
}

/// Tasks that wait. One that has begun a moment ago is told to end as others are, and hands back what it holds.
async fn cancel(plan: &Plan) -> Result<(), Failure> {
    // Not with --state=PENDING: tasks that wait are one record in Slurm, and that option cancels the whole of it.
    for name in queue::names(&plan.cancel) {
        tool::hear("scancel", &[name]).await?;
    }
    Ok(())
}

/// Submits what is planned, up to the first refusal.
async fn submit_all(order: &Order<'_>, plan: &Plan) -> (Vec<(u64, u64)>, Option<Failure>) {
    let mut submitted = Vec::new();
    for &tasks in &plan.arrays {
        match submit::submit(&order.request, tasks, &order.script).await {
            Ok(job) => submitted.push((job, tasks)),
            Err(failure) => return (submitted, Some(failure)),
        }
    }
    (submitted, None)
}

/// Says what [`perform`] would do, as far as Slurm alone can tell. What is submitted is printed so that it can be
/// submitted by hand.
async fn rehearse(args: &ScaleArgs, order: &Order<'_>, rules: Rules) -> Result<Outcome, Failure> {
    let Rules { site, limits, mut notes } = rules;
    let there = look::queue(order.request.name, order.request.comment).await?;
    note(&there, order.request.name, &mut notes);
    let plan = planned(args.slurm, &there, 0, &site, &limits);
    notes.iter().for_each(|note| eprintln!("nonet: {note}"));
    let mut text = String::new();
    if plan.surplus > 0 {
        text += &format!("nonet release --pool {} --keep {}\n", args.pool, args.slurm);
    }
    for name in queue::names(&plan.cancel) {
        text += &format!("scancel {}\n", quote(&name));
    }
    for &tasks in &plan.arrays {
        let options = submit::options(&order.request, tasks);
        let options: Vec<_> = options.iter().map(|option| quote(option)).collect();
        text += &format!("sbatch {} <<'NONET'\n{}NONET\n", options.join(" "), order.script);
    }
    if text.is_empty() {
        text += "# nothing to do\n";
    }
    if let Some(because) = &plan.because {
        text += &format!("# {} of {} workers cannot be placed: {because}\n", plan.not_placed, args.slurm);
    }
    print(&text)?;
    Ok(Outcome::Done)
}

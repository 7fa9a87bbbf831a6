//! What can be typed.

use std::path::PathBuf;

use clap::{Arg, Args, Command, ValueEnum, value_parser};
use worker::{cli::WorkerArgs, credentials::CredentialArgs};

use super::{
    audit::AuditArgs, bench::BenchArgs, canonical::CanonicalArgs, certificate::CertificateArgs,
    certs::CertsArgs, compare::CompareArgs, daemon::CoordinatorArgs, explain::ExplainArgs,
    ledger::LedgerArgs, photos_eval::EvalArgs, read::ReadArgs, scale::ScaleArgs, storm::StormArgs,
    tokens::TokensArgs, verify::VerifyArgs,
};
use crate::scheduler::Requirement;

/// How a listing or a status is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// JSON
    Json,
    /// A table, with a header line
    Csv,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    #[default]
    Table,
    /// One JSON object; exact counts are strings
    Json,
    /// The main table, with a header line
    Csv,
    /// A page to open in a browser, with plots where there are some
    Html,
}

/// Options of `nonet run`, beside those of the kind.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub struct RunArgs {
    /// Folder of the ledger [default: ./nonet-state]
    #[arg(long, env = "NONET_STATE", value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Computing threads [default: one per core]
    #[arg(long, env = "NONET_THREADS", value_name = "N")]
    pub threads: Option<usize>,
    /// Compute anew, also what the ledger has; an interrupted run resumes without this option
    #[arg(long)]
    pub fresh: bool,
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    /// TOML file with defaults for these options
    #[arg(long, env = "NONET_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Options of `nonet submit`, beside those of the kind.
#[derive(Debug, Args)]
#[command(next_help_heading = "Submitting")]
pub struct SubmitArgs {
    #[command(flatten)]
    pub to: RemoteArgs,
    /// Share of the workers, relative to other jobs
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub weight: u32,
    /// Distinct workers that have to agree on a result before it counts; whoever disagrees is quarantined. A job that is
    /// there already takes a larger number only as long as it has no results
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    pub replicas: u32,
    /// What its workers must have: a label as `avx512`, or a comparison as `memory_gib>=16`, `pool=slurm`, `pool!=spot`; all
    /// of them if given several times. Of a job that is there already they replace what was asked for, and `any` takes it
    /// away
    #[arg(long, value_name = "TEXT", value_parser = requirement)]
    pub require: Vec<String>,
    /// Replace an earlier run of the same job
    #[arg(long)]
    pub fresh: bool,
    /// Wait for the end and print the report
    #[arg(long)]
    pub wait: bool,
    /// How to print the report; `html` needs --wait
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
}

/// Where the coordinator is.
#[derive(Debug, Args)]
pub struct RemoteArgs {
    /// Coordinator: http:// on this machine, https:// elsewhere [default: <http://127.0.0.1:7700>]
    #[arg(long, env = "NONET_COORDINATOR", value_name = "URL")]
    pub coordinator: Option<String>,
    /// TOML file with defaults for these options
    #[arg(long, env = "NONET_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub credentials: CredentialArgs,
}

/// A listing.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub to: RemoteArgs,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// One job, and who knows it.
#[derive(Debug, Args)]
pub struct WhichArgs {
    /// Start of the job's name, or its kind if there is only one of it
    pub job: String,
    #[command(flatten)]
    pub to: RemoteArgs,
}

/// One job.
#[derive(Debug, Args)]
pub struct JobArgs {
    #[command(flatten)]
    pub which: WhichArgs,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The result of a job.
#[derive(Debug, Args)]
pub struct ResultArgs {
    #[command(flatten)]
    pub which: WhichArgs,
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    /// Write the job's output, put together from its parts, to FILE; needs --parts
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Where the workers write parts: the folder, or the URL as <s3://bucket/parts>, that they have as --parts
    #[arg(long, env = "NONET_PARTS", value_name = "DIR|URL")]
    pub parts: Option<String>,
}

/// One job, once or until it rests.
#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub job: JobArgs,
    /// Show progress until the job rests
    #[arg(long)]
    pub watch: bool,
}

/// One worker.
#[derive(Debug, Args)]
pub struct WorkerArg {
    /// Name of the worker, or the start of its id
    pub worker: String,
    #[command(flatten)]
    pub to: RemoteArgs,
}

/// The workers of a pool.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// Workers with this label `pool` [default: all workers]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub pool: String,
    /// So many of those that are connected now are to stay
    #[arg(long, value_name = "N")]
    pub keep: u32,
    #[command(flatten)]
    pub to: RemoteArgs,
    /// How to print what comes of it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

fn requirement(text: &str) -> Result<String, String> {
    if text.trim() == "any" {
        return Ok(text.into());
    }
    text.parse::<Requirement>().map(|requirement| requirement.to_string())
}

const ABOUT: &str =
    "Sudoku mathematics too big for one sitting: counts, searches and bulk runs that survive every kill.";

const AFTER: &str = "\
Examples:
  nonet run recount                        count all 9x9 grids, here and now
  nonet coordinator                        serve a cluster; then, on each machine:
  nonet worker --coordinator https://HEAD:7700 --tls DIR     (`nonet certs` makes DIR)
  nonet submit recount --method search --wait

Exit codes: 0 done; 1 failed; 2 bad usage or input; 3 done, but work units were given up;
130 interrupted, and the same command resumes.";

const WORKER_EXAMPLES: &str = "\
worker --coordinator http://127.0.0.1:7700
  nonet worker --coordinator https://head:7700 --tls ./nonet-certs/node17
  nonet worker --coordinator http://127.0.0.1:7700 --parts s3://bucket/parts
  nonet worker --coordinator https://head:7700 --tls ./spot --pool spot --notice aws";

const SCALE_EXAMPLES: &str = "\
scale --slurm 40 --coordinator https://head:7700 --tls certs/alice --threads 32 --time 12:00:00 -- --tls certs/slurm
  nonet scale --slurm 10      fewer: those that wait are cancelled, the others leave when they are free
  nonet scale --slurm 4 --partition spot --dry-run";

const RESULT_EXAMPLES: &str = "\
result recount
  nonet result solve --format html > report.html
  nonet result solve --output solved.csv --parts s3://bucket/parts";

/// The whole command line. Kinds of jobs come from the registry.
pub fn command() -> Command {
    let [run, submit, storm] = of_kinds();
    let nonet = Command::new("nonet")
        .about(ABOUT)
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(AFTER)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(run)
        .subcommand(submit)
        .subcommand(storm);
    with_security(with_tools(with_cluster(nonet)))
}

/// The daemons, and what is asked of a coordinator.
fn with_cluster(nonet: Command) -> Command {
    nonet
        .subcommand(with::<CoordinatorArgs>(verb(
            "coordinator",
            "Serve jobs to workers",
            "coordinator --listen 127.0.0.1:7700 --state ./nonet-state\n  \
             nonet coordinator --listen 0.0.0.0:7700 --tls ./nonet-certs/head --tokens tokens.toml",
        )))
        .subcommand(with::<WorkerArgs>(verb("worker", "Compute for a coordinator", WORKER_EXAMPLES)))
        .subcommand(with::<ListArgs>(verb("jobs", "List jobs", "jobs --format json")))
        .subcommand(with::<StatusArgs>(verb("status", "Show where a job stands", "status recount --watch")))
        .subcommand(with::<ResultArgs>(verb(
            "result",
            "Print a job's report, finished or not",
            RESULT_EXAMPLES,
        )))
        .subcommand(with::<JobArgs>(verb("pause", "Hand out no more of a job", "pause recount")))
        .subcommand(with::<JobArgs>(verb("resume", "Go on with a paused job", "resume recount")))
        .subcommand(with::<JobArgs>(verb("cancel", "Stop a job; what is done is kept", "cancel recount")))
        .subcommand(with::<JobArgs>(verb(
            "retry",
            "Take up a cancelled job, or the work units that were given up",
            "retry recount",
        )))
        .subcommand(with::<VerifyArgs>(verb(
            "verify",
            "Have a random sample of a job computed again by other workers, or here, and compare",
            "verify recount --sample 1%\n  nonet verify recount --sample 1% --state ./nonet-state",
        )))
        .subcommand(with::<ListArgs>(verb(
            "workers",
            "List connected workers, and those that are quarantined",
            "workers",
        )))
        .subcommand(with::<WorkerArg>(verb(
            "drain",
            "Have a worker finish what it computes, and end",
            "drain node17",
        )))
        .subcommand(with::<ReleaseArgs>(verb(
            "release",
            "Have the workers of a pool end that are more than are to stay, whoever is free first",
            "release --pool slurm --keep 4",
        )))
        .subcommand(with::<WorkerArg>(verb("readmit", "Let a quarantined worker in again", "readmit node17")))
        .subcommand(with::<ScaleArgs>(verb(
            "scale",
            "Have as many workers as are wanted: in jobs of Slurm, which come back when their time is over",
            SCALE_EXAMPLES,
        )))
}

/// What works on files here.
fn with_tools(nonet: Command) -> Command {
    nonet
        .subcommand(with::<LedgerArgs>(verb(
            "ledger",
            "Check, rebuild or export a ledger",
            "ledger check --state ./nonet-state",
        )))
        .subcommand(with::<CertificateArgs>(verb(
            "certificate",
            "Certify a finished job in a file that anybody can check",
            "certificate recount -o recount.cert\n  nonet certificate check recount.cert --sample 1%",
        )))
        .subcommand(with::<CanonicalArgs>(verb(
            "canonical",
            "Print the minlex forms of grids and puzzles",
            "canonical puzzles.txt --dedup",
        )))
        .subcommand(with::<ExplainArgs>(verb(
            "explain",
            "Solve a puzzle by pencil and paper and tell every step",
            "explain 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
        )))
        .subcommand(with::<CompareArgs>(verb(
            "compare",
            "Solve the same puzzles by several methods, and measure each",
            "compare --corpus puzzles.txt --methods bitslice,fewest,dlx\n  \
             nonet compare --corpus easy.txt --corpus hard.txt --format html > compared.html",
        )))
        .subcommand(with::<ReadArgs>(verb(
            "read",
            "Read the sudoku on a photograph",
            "read newspaper.jpg --solve --overlay read.png",
        )))
        .subcommand(with::<EvalArgs>(verb(
            "photos-eval",
            "Read photographs of which it is known what is on them, and count what is right",
            "photos-eval photos/manifest.csv --wrong",
        )))
        .subcommand(with::<BenchArgs>(verb("bench", "Measure this program on this machine", "bench recount")))
}

/// Adds arguments. What a command is about stays: clap would take the comment on their struct for it.
fn with<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned();
    let command = A::augment_args(command);
    match about {
        Some(about) => command.about(about),
        None => command,
    }
}

/// Who may do what, and who did.
fn with_security(nonet: Command) -> Command {
    nonet
        .subcommand(with::<AuditArgs>(verb(
            "audit",
            "List who submitted, paused, cancelled, drained, released",
            "audit --last 20 --format json",
        )))
        .subcommand(with::<CertsArgs>(verb(
            "certs",
            "Make certificates for a farm of several machines",
            "certs init\n  nonet certs issue head --role coordinator --host head.example.org\n  \
             nonet certs issue node17 --role worker",
        )))
        .subcommand(with::<TokensArgs>(verb(
            "tokens",
            "Make, list and remove the tokens that a coordinator asks for",
            "tokens add alice --role operator --file tokens.toml > alice.token",
        )))
}

/// The commands that take a kind and its arguments.
fn of_kinds() -> [Command; 3] {
    let run = Command::new("run").about("Run a job on this machine; killed and started again, it resumes");
    let run = run.after_help(
        "Examples:\n  nonet run recount --shape 2x3\n  nonet run solve puzzles.txt --format html > report.html",
    );
    let submit = Command::new("submit").about("Hand a job to a coordinator");
    let submit = submit.after_help(
        "Examples:\n  nonet submit recount --method search --wait\n  nonet submit recount --method search --replicas 2\n  \
         nonet submit solve puzzles.txt --require avx512 --require 'memory_gib>=16' --require pool!=spot",
    );
    let storm = Command::new("storm")
        .about("Run a job under kills, pauses and cuts, and count what was lost or doubled");
    let storm = storm.after_help(
        "Coordinators and workers of its own, on this machine. Exit code 1 when anything was lost, doubled or did not end.\n\n\
         Examples:\n  nonet storm noop --units 5000 --unit-us 2000 --seconds 5 --repeat 20\n  \
         nonet storm recount --method search --on etcd --seed 7",
    );
    [with_outputs(kinds::<RunArgs>(run)), kinds::<SubmitArgs>(submit), kinds::<StormArgs>(storm)]
}

/// A command with its example.
fn verb(name: &'static str, about: &'static str, example: &'static str) -> Command {
    let head = if example.contains('\n') { "Examples" } else { "Example" };
    Command::new(name).about(about).after_help(format!("{head}:\n  nonet {example}"))
}

/// The argument of kinds that have an output.
pub const OUTPUT: &str = "output";

fn with_outputs(mut command: Command) -> Command {
    for kind in jobs::KINDS {
        let Some(about) = kind.output() else { continue };
        let output = Arg::new(OUTPUT).short('o').long(OUTPUT).value_name("FILE");
        let output = output.value_parser(value_parser!(PathBuf)).help_heading("Running");
        let output = output.help(format!("Write {about}, to FILE when all is done"));
        command = command.mut_subcommand(kind.name(), |kind| kind.arg(output));
    }
    command
}

fn kinds<A: Args>(mut command: Command) -> Command {
    for kind in jobs::KINDS {
        command = command.subcommand(with::<A>(kind.command()));
    }
    command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("KIND")
        .subcommand_help_heading("Kinds")
}

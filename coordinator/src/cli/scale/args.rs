//! What can be typed behind `nonet scale`, and what is wrong with it.

use std::path::{Path, PathBuf};

use clap::Args;

use super::duration;
use crate::cli::{
    args::{Format, RemoteArgs},
    exit::Failure,
};

/// Options of `nonet scale`.
#[derive(Debug, Args)]
pub struct ScaleArgs {
    /// Workers that there are to be, in jobs of Slurm; 0 lets go of all
    #[arg(long, value_name = "N", required = true, value_parser = clap::value_parser!(u32).range(..=MOST_WORKERS))]
    pub slurm: u32,
    #[command(flatten)]
    pub to: RemoteArgs,
    /// Which workers: those with this value of the label `pool`, in jobs named nonet-NAME
    #[arg(long, value_name = "NAME", default_value = "slurm")]
    pub pool: String,
    /// Wait until so many are connected
    #[arg(long)]
    pub wait: bool,
    /// Print what would be submitted, cancelled and let go, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How to print what was done
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    #[command(flatten)]
    pub slurm_options: SlurmArgs,
    /// Options of `nonet worker` for all of them, as `-- --tls DIR --parts DIR`
    #[arg(last = true, value_name = "WORKER OPTIONS")]
    pub worker_options: Vec<String>,
}

/// What the jobs are to have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Slurm")]
pub struct SlurmArgs {
    /// Computing threads of a worker, and processors that Slurm gives it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// Partition, or several with commas between [default: that of the site]
    #[arg(long, env = "SBATCH_PARTITION", value_name = "NAME")]
    pub partition: Option<String>,
    /// Account that pays
    #[arg(long, env = "SBATCH_ACCOUNT", value_name = "NAME")]
    pub account: Option<String>,
    /// Quality of service
    #[arg(long, env = "SBATCH_QOS", value_name = "NAME")]
    pub qos: Option<String>,
    /// Time of one stretch, as 12:00:00 or 2-00:00:00; workers come back for the next one [default: that of the partition]
    #[arg(long, env = "SBATCH_TIMELIMIT", value_name = "TIME", value_parser = time)]
    pub time: Option<String>,
    /// Memory for each processor, as 2G
    #[arg(long, env = "SBATCH_MEM_PER_CPU", value_name = "SIZE")]
    pub mem_per_cpu: Option<String>,
    /// Features that the nodes must have
    #[arg(long, env = "SBATCH_CONSTRAINT", value_name = "FEATURES")]
    pub constraint: Option<String>,
    /// Another option of sbatch, as --sbatch=--reservation=maths
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub sbatch: Vec<String>,
    /// Tell workers to hand back so long before the end of their time. Slurm may do it a minute earlier
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(15..=65_535))]
    pub signal_s: u32,
    /// Folder of the workers' checkpoints. On storage that all nodes share, a worker that comes back on another node hands in
    /// what it still had; on a node's own, that is computed again
    #[arg(long, value_name = "DIR", default_value = "nonet-slurm")]
    pub state: PathBuf,
    /// Folder of what workers say, on storage that all nodes share [default: that of --state]
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,
    /// `nonet` as it is called on the nodes [default: this program]
    #[arg(long, value_name = "PATH")]
    pub worker_program: Option<PathBuf>,
}

/// As many as a coordinator lets in.
const MOST_WORKERS: i64 = 20_000;
/// Bytes of a name; it is part of paths and of names of jobs.
const MOST_POOL_BYTES: usize = 64;

fn time(text: &str) -> Result<String, String> {
    duration::parse(text).map(|_| text.to_owned())
}

impl ScaleArgs {
    /// What clap does not see.
    ///
    /// # Errors
    ///
    /// Says which option cannot be used.
    pub fn check(&self) -> Result<(), Failure> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let begins = self.pool.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !begins || self.pool.len() > MOST_POOL_BYTES || !self.pool.chars().all(plain) {
            return Err(Failure::usage(format!(
                "--pool {:?}: expected letters, digits, `_`, `-` and `.`, at most {MOST_POOL_BYTES}",
                self.pool
            )));
        }
        for option in &self.slurm_options.sbatch {
            let taken = OURS.iter().find(|ours| option.split('=').next() == Some(ours));
            if let Some(taken) = taken {
                return Err(Failure::usage(format!(
                    "--sbatch={option}: {taken} is set by `nonet scale` itself"
                )));
            }
            if !option.starts_with('-') {
                return Err(Failure::usage(format!(
                    "--sbatch={option}: expected an option, as --sbatch=--reservation=maths"
                )));
            }
        }
        Ok(())
    }
}

/// Options of sbatch without which tasks would not be found again, or not end as they should.
const OURS: &[&str] = &[
    "--array",
    "-a",
    "--job-name",
    "-J",
    "--comment",
    "--signal",
    "--requeue",
    "--no-requeue",
    "--output",
    "-o",
    "--open-mode",
    "--export",
    "--wait",
    "-W",
    "--ntasks",
    "-n",
    "--nodes",
    "-N",
    "--cpus-per-task",
    "-c",
    "--parsable",
    "--wrap",
    "--test-only",
];

impl SlurmArgs {
    /// Options of sbatch for what the user wishes.
    pub fn wishes(&self) -> Vec<String> {
        let named = [
            ("partition", &self.partition),
            ("account", &self.account),
            ("qos", &self.qos),
            ("time", &self.time),
            ("mem-per-cpu", &self.mem_per_cpu),
            ("constraint", &self.constraint),
        ];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let named = named.map(|(name, value)| format!("--{name}={value}"));
        named.chain(self.sbatch.iter().cloned()).collect()
    }

    /// The folder of this pool's checkpoints, and that of its logs.
    ///
    /// # Errors
    ///
    /// When Slurm could not use such a name.
    pub fn folders(&self, pool: &str) -> Result<(PathBuf, PathBuf), Failure> {
        let logs = self.logs.as_deref().unwrap_or(&self.state);
        Ok((absolute("--state", &self.state)?.join(pool), absolute("--logs", logs)?.join(pool)))
    }

    /// The program of the workers.
    ///
    /// # Errors
    ///
    /// When this program does not know where it is itself.
    pub fn program(&self) -> Result<PathBuf, Failure> {
        match &self.worker_program {
            // A bare name is looked for on the node.
            Some(path) if path.components().count() == 1 => Ok(path.clone()),
            Some(path) => absolute("--worker-program", path),
            None => std::env::current_exe().map_err(|e| {
                Failure::failed(format!("where this program is: {e}; --worker-program says it"))
            }),
        }
    }
}

/// Tasks may start in another folder than this one.
fn absolute(option: &str, path: &Path) -> Result<PathBuf, Failure> {
    let shown = path.display();
    let whole = std::path::absolute(path).map_err(|e| Failure::usage(format!("{option} {shown}: {e}")))?;
    // sbatch replaces `%` in names of files, and takes nothing literally behind a backslash.
    let usable = whole.to_str().is_some_and(|text| !text.contains(['%', '\\', '\n', '"']));
    if !usable {
        let text =
            "has a character that Slurm does not leave as it is (`%`, a backslash, a quote or a line end)";
        return Err(Failure::usage(format!("{option} {shown}: its path {text}")));
    }
    Ok(whole)
}

//! A real Slurm on this machine, which ends with the test: its own munge, controller and nodes, in a folder of its own. It
//! touches nothing of an installed configuration, and several can run side by side.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{Process, free_address, pause, until};

/// What the test wants of it.
pub struct Wish {
    pub nodes: usize,
    pub cpus_per_node: usize,
    /// Further lines of slurm.conf; they win over ours.
    pub lines: &'static str,
}

/// A Slurm.
pub struct Slurm {
    dir: tempfile::TempDir,
    daemons: Vec<Process>,
}

/// Whether Slurm can be tested with. Where `NONET_REQUIRE_SLURM` is set, as in CI, it must.
pub fn is_here() -> bool {
    // Not by asking for versions: the clients want a configuration even for that.
    let folders: Vec<_> = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let there = |program: &str| folders.iter().any(|folder| folder.join(program).is_file());
    let is_root = rustix::process::geteuid().is_root();
    let here = is_root && ["munged", "slurmctld", "slurmd", "sbatch"].into_iter().all(there);
    assert!(
        here || std::env::var_os("NONET_REQUIRE_SLURM").is_none(),
        "Slurm is required, and not installed or not root's to start"
    );
    if !here {
        println!(
            "SKIPPED: needs root, and Slurm (Debian: apt-get install munge slurmctld slurmd slurm-client)"
        );
    }
    here
}

impl Slurm {
    /// Starts one and waits until its nodes are idle.
    pub fn start(wish: &Wish) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let mut slurm = Self { dir, daemons: Vec::new() };
        for folder in ["state", "spool", "log"] {
            std::fs::create_dir(slurm.path(folder)).expect("a folder");
        }
        let key: [u8; 64] = rand::random();
        std::fs::write(slurm.path("munge.key"), key).expect("a key");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o400);
        std::fs::set_permissions(slurm.path("munge.key"), mode).expect("a mode");
        std::fs::write(slurm.conf(), slurm.configuration(wish)).expect("a configuration");
        slurm.daemon("munged", &slurm.munge_options());
        until("munge answers", || slurm.path("munge.socket").exists());
        slurm.daemon("slurmctld", &["-D".into()]);
        until("slurmctld answers", || slurm.run("scontrol", &["ping"]).contains("is UP"));
        for node in 0..wish.nodes {
            slurm.daemon("slurmd", &["-D".into(), "-N".into(), format!("n{node}")]);
        }
        until("all nodes are idle", || {
            let idle = slurm.run("sinfo", &["--noheader", "--Node", "--states=idle", "--format=%N"]);
            // A line for each partition of a node.
            idle.lines().collect::<std::collections::BTreeSet<_>>().len() == wish.nodes
        });
        slurm
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn conf(&self) -> PathBuf {
        self.path("slurm.conf")
    }

    /// Options that keep all of munge in the folder. `--force`: a folder below /tmp is not where it likes to live.
    fn munge_options(&self) -> Vec<String> {
        let files = [
            ("socket", "munge.socket"),
            ("key-file", "munge.key"),
            ("pid-file", "munge.pid"),
            ("log-file", "log/munged"),
            ("seed-file", "munge.seed"),
        ];
        let files = files.map(|(option, file)| format!("--{option}={}", self.path(file).display()));
        ["--foreground".into(), "--force".into()].into_iter().chain(files).collect()
    }

    fn configuration(&self, wish: &Wish) -> String {
        let dir = self.dir.path().display();
        let port = || free_address().rsplit_once(':').expect("a port").1.to_owned();
        // A requeued job waits until credentials of its earlier life have expired: `cred_expire`, at least 5 s.
        let mut text = format!(
            "ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={dir}/munge.socket,cred_expire=5\nCredType=cred/munge\n\
             StateSaveLocation={dir}/state\nSlurmdSpoolDir={dir}/spool/%n\nSlurmctldPidFile={dir}/slurmctld.pid\n\
             SlurmdPidFile={dir}/slurmd-%n.pid\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SwitchType=switch/none\nMpiDefault=none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             SchedulerType=sched/backfill\n\
             SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1\n\
             SlurmdParameters=config_overrides\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\nReturnToService=2\n\
             KillWait=15\nMinJobAge=300\n",
            port()
        );
        for node in 0..wish.nodes {
            text += &format!(
                "NodeName=n{node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs={}\n",
                port(),
                wish.cpus_per_node
            );
        }
        text + wish.lines
    }

    fn daemon(&mut self, program: &str, args: &[String]) {
        let log = self.path(&format!("log/{program}-{}", self.daemons.len()));
        let log = std::fs::File::create(log).expect("a log");
        let mut command = self.command(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.daemons.push(Process(command.spawn().expect("a daemon of Slurm")));
    }

    /// A command that talks to this Slurm, whatever the caller's environment says.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        self.aim(&mut command);
        command
    }

    /// Has a command talk to this Slurm.
    pub fn aim(&self, command: &mut Command) {
        let prefixes = ["SLURM_", "SBATCH_", "SQUEUE_", "NONET_"];
        let of_slurm = |name: &String| prefixes.iter().any(|prefix| name.starts_with(prefix));
        for name in std::env::vars().map(|(name, _)| name).filter(of_slurm) {
            command.env_remove(name);
        }
        command.env("SLURM_CONF", self.conf());
    }

    /// Standard output of one of Slurm's commands; empty when it failed.
    pub fn run(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output().expect("a command of Slurm");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Tasks as `ARRAY_INDEX STATE`, sorted.
    pub fn tasks(&self) -> Vec<String> {
        let text = self.run("squeue", &["--noheader", "--array", "--format=%F_%K %T"]);
        let mut tasks: Vec<_> = text.lines().map(str::to_owned).collect();
        tasks.sort_unstable();
        tasks
    }

    /// Those in a state.
    pub fn in_state(&self, state: &str) -> Vec<String> {
        let end = format!(" {state}");
        let tasks = self.tasks().into_iter();
        tasks.filter_map(|task| task.strip_suffix(&end).map(str::to_owned)).collect()
    }

    /// What its daemons said.
    pub fn log(&self) -> String {
        let files = std::fs::read_dir(self.path("log")).into_iter().flatten().flatten();
        let mut text = String::new();
        for file in files {
            let said = std::fs::read_to_string(file.path()).unwrap_or_default();
            let lines: Vec<_> = said.lines().collect();
            let end = &lines[lines.len().saturating_sub(15)..];
            text += &format!("--- {}\n{}\n", file.file_name().display(), end.join("\n"));
        }
        text
    }
}

/// How long jobs may take to end before the daemons are killed all the same.
const FAREWELL: Duration = Duration::from_secs(20);

impl Drop for Slurm {
    /// Jobs are not children of the daemons: they would go on when those are killed.
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.log());
        }
        self.run("scancel", &["--me"]);
        let since = Instant::now();
        while !self.tasks().is_empty() && since.elapsed() < FAREWELL {
            pause();
        }
    }
}

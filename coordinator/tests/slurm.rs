//! `nonet scale` against a real Slurm.

mod farm;

use std::{
    io::Read,
    path::Path,
    process::{Command, Stdio},
};

use farm::{
    Farm, Process, nonet,
    slurm::{Slurm, Wish, is_here},
    until,
};
use serde_json::Value;

/// A farm without workers of its own, and a Slurm.
struct Site {
    farm: Farm,
    slurm: Slurm,
}

impl Site {
    fn start(wish: &Wish) -> Self {
        let slurm = Slurm::start(wish);
        Self { farm: Farm::start(0, &["--lease-ms", "500", "--silence-ms", "3000"]), slurm }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = nonet(&["scale", "--coordinator", &self.farm.url, "--state"]);
        self.slurm.aim(&mut command);
        command.arg(self.state()).args(args);
        command
    }

    fn state(&self) -> std::path::PathBuf {
        self.farm.dir.path().join("slurm")
    }

    /// Exit code, standard output, standard error of `nonet scale`.
    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let mut process = start(self.command(args), Stdio::piped());
        let mut stdout = process.0.stdout.take().expect("piped");
        let (code, stderr) = process.end();
        let mut text = String::new();
        stdout.read_to_string(&mut text).expect("UTF-8");
        (code, text, stderr)
    }

    /// Scales, which must succeed.
    fn scale(&self, workers: usize, args: &[&str]) -> Value {
        let workers = workers.to_string();
        let all = [&["--slurm", &workers, "--format", "json"], args].concat();
        let (code, stdout, stderr) = self.run(&all);
        assert_eq!(code, Some(0), "{stderr}\n{}", self.slurm.log());
        serde_json::from_str(&stdout).expect("JSON")
    }

    /// Names and ids of the connected workers.
    fn workers(&self) -> Vec<(String, String)> {
        let listed = self.farm.ask(&["workers"]);
        let text = |worker: &Value, key: &str| worker[key].as_str().expect("text").to_owned();
        let all = listed.as_array().expect("a list").iter();
        let mut all: Vec<_> = all.map(|worker| (text(worker, "name"), text(worker, "id"))).collect();
        all.sort_unstable();
        all
    }

    /// What the workers of pool `slurm` and their scripts said.
    fn said(&self) -> String {
        said_in(&self.state().join("slurm"))
    }
}

fn start(mut command: Command, stdout: Stdio) -> Process {
    Process(command.stdout(stdout).stderr(Stdio::piped()).spawn().expect("nonet starts"))
}

fn said_in(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let logs = files.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.map(|path| std::fs::read_to_string(path).unwrap_or_default()).collect()
}

fn sum_below(units: u64) -> String {
    (units * (units - 1) / 2).to_string()
}

const WORKER: &[&str] = &["--", "--commit-every-ms", "300"];

/// The whole life of a pool: it grows, computes, shrinks in the middle of a job, loses a task and ends.
#[test]
fn a_pool_grows_and_shrinks_by_draining_and_no_unit_is_lost() {
    if !is_here() {
        return;
    }
    let mut site = Site::start(&Wish { nodes: 3, cpus_per_node: 2, lines: PARTITION });
    // Two at once: the second finds what the first has made.
    let scale = || start(site.command(&[&["--slurm", "4"], WORKER].concat()), Stdio::null());
    for process in [scale(), scale()] {
        let (code, stderr) = process.end();
        assert_eq!(code, Some(0), "{stderr}\n{}", site.slurm.log());
    }
    assert_eq!(site.slurm.tasks().len(), 4, "{:?}", site.slurm.tasks());
    let again = site.scale(4, &[&["--wait"], WORKER].concat());
    assert_eq!((&again["submitted"], &again["leaving"]), (&0.into(), &0.into()), "{again}");
    assert_eq!(site.workers().len(), 4);

    // Thirty seconds of computing.
    let units = 6_000;
    site.farm.ask(&["submit", "noop", "--units", &units.to_string(), "--unit-us", "5000"]);
    until("the four are at it", || site.farm.ask(&["status", "noop"])["workers"] == 4);
    let shrunk = site.scale(2, &[&["--wait"], WORKER].concat());
    assert_eq!((&shrunk["leaving"], &shrunk["cancelled"]), (&2.into(), &0.into()), "{shrunk}");
    assert_eq!(site.workers().len(), 2);
    until("Slurm has two", || site.slurm.tasks().len() == 2);
    assert_eq!(site.farm.ask(&["status", "noop"])["state"], "running", "it must shrink amid the job");
    let said = site.said();
    assert_eq!(said.matches(": released").count(), 2, "{said}");
    assert!(!said.contains("told to end") && !said.contains("queues up"), "{said}");

    // A task that somebody cancels hands back, and does not rise again; the next call makes another.
    let victim = site.slurm.in_state("RUNNING").remove(0);
    site.slurm.run("scancel", &[&victim]);
    until("the cancelled task is gone", || site.slurm.tasks().len() == 1);
    assert!(site.said().contains(&format!("task {victim}: told to end by Slurm")), "{}", site.said());
    let grown = site.scale(2, &[&["--wait"], WORKER].concat());
    assert_eq!(grown["submitted"], 1, "{grown}");

    let status = site.farm.wait("noop");
    assert_eq!(status["state"], "finished", "{status}\n{}", site.farm.log());
    assert_eq!(site.farm.ask(&["result", "noop"])["sum"], sum_below(units));
    let ended = site.scale(0, &["--wait"]);
    assert_eq!(ended["leaving"], 2, "{ended}");
    until("Slurm has none", || site.slurm.tasks().is_empty());
    let kept: Vec<_> = std::fs::read_dir(site.state().join("slurm")).expect("a folder").flatten().collect();
    let folders = kept.iter().filter(|entry| entry.path().is_dir()).map(std::fs::DirEntry::file_name);
    assert_eq!(folders.collect::<Vec<_>>(), [victim.as_str()], "released workers leave nothing behind");
    let report = site.farm.check_ledger();
    let job = &report["jobs"][0];
    assert_eq!((&job["committed_units"], &job["gaps"]), (&units.to_string().into(), &"0".into()), "{job}");
}

const PARTITION: &str = "PartitionName=main Nodes=ALL Default=YES State=UP MaxTime=INFINITE\n";

/// Time that runs out and a requeue from outside: the task comes back, its worker is the same, and the job ends right.
#[test]
fn a_worker_whose_time_is_over_comes_back_as_the_same() {
    if !is_here() {
        return;
    }
    let mut site = Site::start(&Wish { nodes: 2, cpus_per_node: 1, lines: PARTITION });
    // Slurm looks at its clocks every thirty seconds, and tells up to a minute early: at the first look.
    let limits = ["--time", "2", "--signal-s", "75", "--wait"];
    site.scale(2, &[&limits[..], WORKER].concat());
    let before = site.workers();
    // Seventy seconds of computing: more than two workers do before they are told.
    let units = 14_000;
    site.farm.ask(&["submit", "noop", "--units", &units.to_string(), "--unit-us", "5000"]);
    until("both are at it", || site.farm.ask(&["status", "noop"])["workers"] == 2);

    let first = site.slurm.in_state("RUNNING").remove(0);
    assert!(first.ends_with("_0"), "{first}: the task that has its array's number");
    site.slurm.run("scontrol", &["requeue", &first]);
    until("the requeued worker is away", || site.workers().len() == 1);
    until("the requeued worker is back", || site.workers().len() == 2);
    let ids = |workers: &[(String, String)]| {
        let mut ids: Vec<_> = workers.iter().map(|(_, id)| id.clone()).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&site.workers()), ids(&before));

    until("the time of both is nearly over", || site.said().matches("nearly over").count() >= 2);
    until("both are back", || site.workers().len() == 2);
    assert_eq!(ids(&site.workers()), ids(&before));
    assert_eq!(site.slurm.tasks().len(), 2, "{:?}", site.slurm.tasks());
    assert!(!site.said().contains("released"), "{}", site.said());

    let status = site.farm.wait("noop");
    assert_eq!(status["state"], "finished", "{status}\n{}", site.farm.log());
    assert_eq!(site.farm.ask(&["result", "noop"])["sum"], sum_below(units));
    site.farm.check_ledger();
}

/// Jobs that matter more take the workers' processors: workers hand back, wait, and are the same when they come back.
#[test]
fn a_worker_that_is_preempted_comes_back_when_there_is_room() {
    if !is_here() {
        return;
    }
    let lines = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n\
        PartitionName=spot Nodes=ALL Default=YES State=UP MaxTime=INFINITE PriorityTier=1\n\
        PartitionName=urgent Nodes=ALL State=UP MaxTime=INFINITE PriorityTier=9 PreemptMode=OFF\n";
    let mut site = Site::start(&Wish { nodes: 1, cpus_per_node: 2, lines });
    site.scale(2, &[&["--wait"], WORKER].concat());
    let before = site.workers();
    let units = 6_000;
    site.farm.ask(&["submit", "noop", "--units", &units.to_string(), "--unit-us", "5000"]);
    until("both are at it", || site.farm.ask(&["status", "noop"])["workers"] == 2);
    let urgent =
        ["--partition=urgent", "--parsable", "--cpus-per-task=2", "--output=/dev/null", "--wrap=sleep 2"];
    let urgent = site.slurm.run("sbatch", &urgent).trim().to_owned();
    until("the urgent job runs", || site.slurm.in_state("RUNNING").contains(&format!("{urgent}_N/A")));
    assert!(site.workers().is_empty(), "{:?}", site.workers());
    let waiting = site.scale(2, WORKER);
    assert_eq!((&waiting["waiting"], &waiting["submitted"]), (&2.into(), &0.into()), "{waiting}");
    until("both are back", || site.workers().len() == 2);
    assert_eq!(site.workers(), before);
    assert_eq!(site.said().matches("told to end by Slurm").count(), 2, "{}", site.said());
    let status = site.farm.wait("noop");
    assert_eq!(status["state"], "finished", "{status}\n{}", site.farm.log());
    assert_eq!(site.farm.ask(&["result", "noop"])["sum"], sum_below(units));
    site.farm.check_ledger();
}

/// What the site allows is read: arrays are cut, what has no room is said, what waits is cancelled first.
#[test]
fn limits_of_the_site_are_read_and_kept() {
    if !is_here() {
        return;
    }
    let lines = "MaxArraySize=3\nMaxJobCount=12\n\
        PartitionName=main Nodes=ALL Default=YES State=UP MaxTime=1:00:00 DefaultTime=30:00\n\
        PartitionName=shut Nodes=ALL State=INACTIVE\n";
    let site = Site::start(&Wish { nodes: 2, cpus_per_node: 2, lines });
    let refused = ["--slurm", "12", "--constraint", "gold", "--pool", "other"];
    let (code, _, stderr) = site.run(&refused);
    assert!(code == Some(1) && stderr.contains("--constraint names a feature"), "{stderr}");
    let (code, stdout, stderr) = site.run(&["--slurm", "20", "--format", "json"]);
    let grown: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(
        (code, &grown["not_placed"], &grown["submitted"]),
        (Some(1), &9.into(), &11.into()),
        "{stderr}"
    );
    assert!(
        stderr.contains("9 of 20 workers are not placed: what MaxJobCount=12 of the site leaves is 11"),
        "{stderr}"
    );
    let arrays = grown["arrays"].as_array().expect("a list");
    let tasks: Vec<_> = arrays.iter().map(|array| array["tasks"].as_u64().expect("a number")).collect();
    assert_eq!(tasks, [3, 3, 3, 2]);
    assert!(grown["notes"].to_string().contains("TotalCPUs"), "{grown}");
    until("four run", || site.slurm.in_state("RUNNING").len() == 4);
    let running = site.slurm.in_state("RUNNING");
    until("four are connected", || site.workers().len() == 4);

    // Seven wait for processors. They go, the last first, and nobody who runs.
    assert_eq!(site.scale(6, WORKER)["cancelled"], 5);
    until("six are left", || site.slurm.tasks().len() == 6);
    let shrunk = site.scale(4, WORKER);
    assert_eq!((&shrunk["cancelled"], &shrunk["leaving"]), (&2.into(), &0.into()), "{shrunk}");
    assert_eq!(shrunk["waiting_for"][0]["tasks"], 2, "{shrunk}");
    until("only the running are left", || site.slurm.tasks().len() == 4);
    assert_eq!(site.slurm.in_state("RUNNING"), running);

    let (code, _, stderr) = site.run(&["--slurm", "20", "--time", "2:00:00"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("MaxTime of partition main is 0-01:00:00"), "{stderr}");
    let (code, _, stderr) = site.run(&["--slurm", "20", "--time", "1"]);
    assert!(code == Some(2) && stderr.contains("before its end"), "{stderr}");
    let (code, _, stderr) = site.run(&["--slurm", "20", "--partition", "none"]);
    assert!(code == Some(2) && stderr.contains("this site has main, shut"), "{stderr}");
    let (code, _, stderr) = site.run(&["--slurm", "20", "--partition", "shut"]);
    assert!(code == Some(1) && stderr.contains("INACTIVE"), "{stderr}");
    site.scale(0, &["--wait"]);
}

/// A dry run is a text that can be submitted by hand, and changes nothing; bad input is refused before anything is done.
#[test]
fn a_dry_run_changes_nothing_and_mistakes_are_said() {
    if !is_here() {
        return;
    }
    let mut site = Site::start(&Wish { nodes: 1, cpus_per_node: 2, lines: PARTITION });
    let dry = ["--slurm", "2", "--dry-run", "--", "--commit-every-ms", "300"];
    let (code, text, stderr) = site.run(&dry);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        text.starts_with("sbatch --parsable --job-name=nonet-slurm") && text.contains("--array=0-1"),
        "{text}"
    );
    assert!(site.slurm.tasks().is_empty() && !site.state().exists());

    // By hand: what it prints is what it does.
    std::fs::create_dir_all(site.state().join("slurm")).expect("a folder");
    let by_hand = site.slurm.command("sh").args(["-c", &text]).output().expect("sh runs");
    assert!(by_hand.status.success(), "{by_hand:?}");
    until("both are connected", || site.workers().len() == 2);
    let (_, text, _) = site.run(&["--slurm", "2", "--dry-run"]);
    assert_eq!(text, "# nothing to do\n");
    let (_, text, _) = site.run(&["--slurm", "1", "--dry-run"]);
    assert_eq!(text, "nonet release --pool slurm --keep 1\n");
    site.scale(0, &["--wait"]);

    let usage = [
        (&["--slurm", "2", "--", "--prefetsch", "1"][..], "--prefetsch"),
        (&["--slurm", "2", "--", "--state", "x"], "before the --"),
        (&["--slurm", "2", "--pool", "a b"], "--pool"),
        (&["--slurm", "2", "--sbatch=--array=0-9"], "--array is set"),
        (&["--slurm", "2", "--time", "soon"], "no time"),
        (&["--slurm", "20001"], "20001"),
        (&["--slurm", "2", "--state", "50%"], "`%`"),
        (&[], "--slurm"),
    ];
    for (args, what) in usage {
        let mut command = nonet(&["scale", "--coordinator", &site.farm.url]);
        site.slurm.aim(&mut command);
        let output = command.args(args).output().expect("nonet runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(what), "{args:?}: {said}");
    }

    let mut command = site.command(&["--slurm", "2"]);
    let output = command.env("PATH", "/nowhere").output().expect("nonet runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("scontrol is not here"), "{said}");

    let conf = std::fs::read_to_string(site.slurm.conf()).expect("a configuration");
    let port = farm::free_address().rsplit_once(':').expect("a port").1.to_owned();
    let conf = conf.lines().map(|line| match line.split_once('=') {
        Some(("SlurmctldPort", _)) => format!("SlurmctldPort={port}\n"),
        _ => format!("{line}\n"),
    });
    let elsewhere = site.farm.dir.path().join("slurm.conf");
    std::fs::write(&elsewhere, conf.collect::<String>()).expect("a configuration");
    let output = site.command(&["--slurm", "2"]).env("SLURM_CONF", &elsewhere).output().expect("nonet runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("slurmctld cannot be reached"), "{said}");

    site.farm.stop_coordinator();
    let (code, _, stderr) = site.run(&["--slurm", "2"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("nothing was changed") && stderr.contains("scancel --me"), "{stderr}");
    assert!(site.slurm.tasks().is_empty());
}

//! Real `nonet` processes on loopback, for tests that start, ask and kill them.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod authority;
pub mod cluster;
pub mod etcd;
pub mod host;
pub mod http;
pub mod page;
pub mod s3;
pub mod slurm;

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// No single step of a test takes longer, even on a busy machine; a step that does is a hang.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A process that is killed when the test is over, however it ends.
pub struct Process(pub Child);

impl Process {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// SIGKILL: nothing is flushed, nobody is told.
    pub fn kill(&mut self) {
        self.0.kill().expect("a running process");
        self.0.wait().expect("a child");
    }

    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().expect("kill").success());
    }

    /// Reads on standard error until a line has these words. Nothing that is said behind it is lost.
    pub fn until_said(&mut self, words: &str) {
        let (mut heard, mut byte) = (Vec::new(), [0]);
        let stderr = self.0.stderr.as_mut().expect("piped");
        while !String::from_utf8_lossy(&heard).contains(words) {
            if byte[0] == b'\n' {
                heard.clear();
            }
            let count = std::io::Read::read(stderr, &mut byte).expect("a pipe");
            assert_eq!(count, 1, "it ended, and has not said {words:?}");
            heard.push(byte[0]);
        }
    }

    /// Waits for the end, at most [`PATIENCE`]; the exit code, and what was said on standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait().expect("a child") {
                break status;
            }
            assert!(since.elapsed() < PATIENCE, "process {} does not end", self.pid());
            pause();
        };
        let mut said = String::new();
        if let Some(stderr) = &mut self.0.stderr {
            std::io::Read::read_to_string(stderr, &mut said).expect("text");
        }
        (status.code(), said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The interval of polling where a process gives no event to wait for.
pub fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// Polls until `done`, at most [`PATIENCE`].
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < PATIENCE, "waited too long: {what}");
        pause();
    }
}

/// `nonet` with nothing of the caller's environment that would change what it does.
pub fn nonet(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nonet"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("NONET_")) {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs `nonet` to its end.
pub fn output(args: &[&str]) -> Output {
    nonet(args).output().expect("nonet runs")
}

/// Exit code, standard output, standard error.
pub fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = output(args);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Starts `nonet` and leaves it running.
pub fn spawn(args: &[&str]) -> Process {
    start(nonet(args))
}

/// Starts a command and leaves it running.
pub fn start(mut command: Command) -> Process {
    Process(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("nonet starts"))
}

/// What workers and users show the coordinator: options of theirs.
#[derive(Default)]
pub struct Shown {
    pub by_workers: Vec<String>,
    pub by_users: Vec<String>,
}

/// A coordinator, its workers and their folders.
pub struct Farm {
    pub dir: tempfile::TempDir,
    pub url: String,
    listen: String,
    options: Vec<String>,
    shown: Shown,
    /// The URL that parts go to, and the S3 server: else they go to a folder.
    pub bucket: Option<(String, String)>,
    pub coordinator: Option<Process>,
    pub workers: Vec<Option<Process>>,
}

impl Farm {
    /// A coordinator with `options`, and `workers` workers of one thread.
    pub fn start(workers: usize, options: &[&str]) -> Self {
        Self::start_as(workers, options, Shown::default(), free_address())
    }

    /// The same, with what is shown, listening there.
    pub fn start_as(workers: usize, options: &[&str], shown: Shown, listen: String) -> Self {
        let scheme = if options.contains(&"--tls") { "https" } else { "http" };
        let mut farm = Self {
            dir: tempfile::tempdir().expect("a folder"),
            url: format!("{scheme}://{listen}"),
            listen,
            options: options.iter().map(ToString::to_string).collect(),
            shown,
            bucket: None,
            coordinator: None,
            workers: Vec::new(),
        };
        farm.start_coordinator();
        farm.workers.resize_with(workers, || None);
        (0..workers).for_each(|i| farm.start_worker(i));
        farm
    }

    pub fn state(&self) -> PathBuf {
        self.dir.path().join("coordinator")
    }

    /// The folder of the parts, which all workers share.
    pub fn parts(&self) -> PathBuf {
        self.dir.path().join("parts")
    }

    /// Starts the coordinator and waits until it listens.
    pub fn start_coordinator(&mut self) {
        let mut command = nonet(&["coordinator", "--listen", &self.listen]);
        command.arg("--state").arg(self.state()).args(&self.options);
        let log =
            std::fs::File::options().create(true).append(true).open(self.dir.path().join("coordinator.log"));
        let mut child =
            command.stdout(Stdio::piped()).stderr(log.expect("a log")).spawn().expect("nonet starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        self.coordinator = Some(Process(child));
        assert_eq!(line.trim(), self.url, "{}", self.log());
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("coordinator.log")).unwrap_or_default()
    }

    pub fn start_worker(&mut self, i: usize) {
        let mut command =
            nonet(&["worker", "--coordinator", &self.url, "--threads", "1", "--commit-every-ms", "300"]);
        command
            .args(["--name", &format!("w{i}"), "--state"])
            .arg(self.dir.path().join(format!("worker-{i}")))
            .args(&self.shown.by_workers)
            .arg("--parts");
        command = if let Some((parts, server)) = &self.bucket {
            command.arg(parts);
            s3::with_keys(command, server)
        } else {
            command.arg(self.parts());
            command
        };
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join(format!("w{i}.log")));
        let child = command.stdout(Stdio::null()).stderr(log.expect("a log")).spawn().expect("nonet starts");
        self.workers[i] = Some(Process(child));
    }

    pub fn kill_worker(&mut self, i: usize) {
        self.workers[i].take().expect("a running worker").kill();
    }

    pub fn kill_coordinator(&mut self) {
        self.coordinator.take().expect("a running coordinator").kill();
    }

    /// Asks the coordinator; the answer must be JSON.
    pub fn ask(&self, args: &[&str]) -> Value {
        self.ask_code(args, 0)
    }

    /// The same, of a command that ends with this code.
    pub fn ask_code(&self, args: &[&str], expected: i32) -> Value {
        let mut args = args.to_vec();
        args.extend(["--coordinator", &self.url, "--format", "json"]);
        args.extend(self.shown.by_users.iter().map(String::as_str));
        let (code, stdout, stderr) = run(&args);
        assert_eq!(code, Some(expected), "{args:?}: {stderr}");
        serde_json::from_str(&stdout).expect("JSON")
    }

    /// Waits until the named job rests; its status.
    pub fn wait(&self, job: &str) -> Value {
        self.ask(&["status", job, "--watch"])
    }

    /// Stops the coordinator as an operator would.
    pub fn stop_coordinator(&mut self) {
        let coordinator = self.coordinator.take().expect("a running coordinator");
        coordinator.signal("TERM");
        assert_eq!(coordinator.end().0, Some(0));
    }

    /// Stops the coordinator, and has its ledger checked: every range once.
    pub fn check_ledger(&mut self) -> Value {
        self.stop_coordinator();
        let state = self.state();
        let report = check(&state);
        for job in report["jobs"].as_array().expect("jobs") {
            for fault in ["duplicates", "overlaps", "wrong_digests"] {
                assert_eq!(job[fault], "0", "{fault}: {job}");
            }
        }
        report
    }
}

/// `nonet ledger check`, which must find nothing wrong.
pub fn check(state: &Path) -> Value {
    let state = state.to_str().expect("UTF-8");
    let (code, stdout, stderr) = run(&["ledger", "check", "--state", state, "--format", "json"]);
    assert_eq!(code, Some(0), "{stderr}\n{stdout}");
    serde_json::from_str(&stdout).expect("JSON")
}

/// An address on loopback where nobody listens.
pub fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string()
}

/// A seed for this run: `NONET_TEST_SEED`, or a new one. It is printed, so that a failure can be repeated.
pub fn seed() -> u64 {
    let seed =
        std::env::var("NONET_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(rand::random);
    println!("NONET_TEST_SEED={seed}");
    seed
}

/// Parts of all runs that a run with this state folder has written.
pub fn count_parts(state: &Path) -> usize {
    let runs = std::fs::read_dir(state.join("parts/runs")).into_iter().flatten().flatten();
    runs.map(|run| std::fs::read_dir(run.path()).map_or(0, Iterator::count)).sum()
}

/// The file of a unit's part, below a folder of parts with a single run.
pub fn object_of(parts: &Path, unit: u64) -> PathBuf {
    let run = std::fs::read_dir(parts.join("runs")).expect("runs").next().expect("a run").expect("a run");
    let entries = std::fs::read_dir(run.path()).expect("an index").flatten();
    let mut names = entries.map(|entry| entry.file_name().into_string().expect("UTF-8"));
    let prefix = format!("{unit:020}-");
    let name = names.find_map(|name| name.strip_prefix(&prefix).map(str::to_owned)).expect("an entry");
    // Behind it is who has made it.
    let name = name.split_once('-').expect("a worker").0;
    parts.join(&name[..2]).join(name)
}

//! Several coordinators on one ledger in etcd, and workers that know all of them.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{Process, etcd::Etcd, host::Host, nonet, run, until};

/// Real processes: etcd, coordinators, workers.
pub struct Cluster {
    pub dir: tempfile::TempDir,
    hosts: Vec<Host>,
    pub etcd: Etcd,
    listen: Vec<String>,
    pub coordinators: Vec<Option<Process>>,
    pub workers: Vec<Option<Process>>,
    /// Environment of a coordinator: its clock, say.
    pub environment: Vec<Vec<(String, String)>>,
}

impl Cluster {
    /// On this machine.
    pub fn start(coordinators: usize, workers: usize) -> Self {
        Self::start_on(&vec![Host::here(); coordinators], workers, &[])
    }

    /// A node of etcd and a coordinator on each host, and the workers on them in turn.
    pub fn start_on(hosts: &[Host], workers: usize, environment: &[Vec<(String, String)>]) -> Self {
        let etcd = Etcd::start_on(&if hosts.len() < 3 { vec![Host::here(); 3] } else { hosts.to_vec() });
        let listen = hosts.iter().map(|host| host.address(7700));
        let mut cluster = Self {
            dir: tempfile::tempdir().expect("a folder"),
            hosts: hosts.to_vec(),
            etcd,
            listen: listen.collect(),
            coordinators: Vec::new(),
            workers: Vec::new(),
            environment: environment.to_vec(),
        };
        cluster.coordinators.resize_with(hosts.len(), || None);
        cluster.environment.resize_with(hosts.len(), Vec::new);
        (0..hosts.len()).for_each(|i| cluster.start_coordinator(i));
        cluster.workers.resize_with(workers, || None);
        (0..workers).for_each(|i| cluster.start_worker(i));
        cluster
    }

    fn on(&self, i: usize, args: &[&str]) -> Command {
        let plain = nonet(args);
        let mut command =
            self.hosts[i % self.hosts.len()].command(plain.get_program().to_str().expect("UTF-8"));
        command.args(plain.get_args()).stdin(Stdio::null());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn log_to(&self, name: &str) -> std::fs::File {
        let path = self.dir.path().join(format!("{name}.log"));
        std::fs::File::options().create(true).append(true).open(path).expect("a log")
    }

    /// Starts a coordinator and waits until it listens.
    pub fn start_coordinator(&mut self, i: usize) {
        let ledger = self.etcd.ledger("farm");
        let mut command = self.on(i, &["coordinator", "--allow-plaintext", "--listen", &self.listen[i]]);
        command
            .args(["--ledger", &ledger, "--lease-ms", "500", "--silence-ms", "2000"])
            .env("NONET_LOG", "info");
        command.envs(self.environment[i].iter().cloned());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(self.log_to(&format!("c{i}")))
            .spawn()
            .expect("nonet starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        self.coordinators[i] = Some(Process(child));
        assert_eq!(line.trim(), format!("http://{}", self.listen[i]), "{}", self.log(i));
    }

    pub fn start_worker(&mut self, i: usize) {
        let urls = self.urls();
        let mut command = self.on(
            i,
            &[
                "worker",
                "--allow-plaintext",
                "--coordinator",
                &urls,
                "--threads",
                "1",
                "--commit-every-ms",
                "300",
            ],
        );
        command
            .args(["--name", &format!("w{i}"), "--state"])
            .arg(self.dir.path().join(format!("worker-{i}")));
        let child = command
            .stdout(Stdio::null())
            .stderr(self.log_to(&format!("w{i}")))
            .spawn()
            .expect("nonet starts");
        self.workers[i] = Some(Process(child));
    }

    /// All addresses, as workers and users are told them.
    pub fn urls(&self) -> String {
        self.listen.iter().map(|listen| format!("http://{listen}")).collect::<Vec<_>>().join(",")
    }

    pub fn url(&self, i: usize) -> String {
        format!("http://{}", self.listen[i])
    }

    pub fn log(&self, i: usize) -> String {
        std::fs::read_to_string(self.log_path(i)).unwrap_or_default()
    }

    fn log_path(&self, i: usize) -> PathBuf {
        self.dir.path().join(format!("c{i}.log"))
    }

    /// Asks whoever leads; the answer must be JSON.
    pub fn ask(&self, args: &[&str]) -> Value {
        let urls = self.urls();
        let mut args = args.to_vec();
        args.extend(["--allow-plaintext", "--coordinator", &urls, "--format", "json"]);
        let (code, stdout, stderr) = run(&args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        serde_json::from_str(&stdout).expect("JSON")
    }

    /// Units done, if anybody can tell.
    pub fn done(&self, job: &str) -> Option<u64> {
        let (code, stdout, _) =
            run(&["status", job, "--allow-plaintext", "--coordinator", &self.urls(), "--format", "json"]);
        let status: Value = serde_json::from_str(&stdout).ok().filter(|_| code == Some(0))?;
        status["done"].as_u64()
    }

    /// Which of the running coordinators leads: each is asked by itself, and the others refuse.
    pub fn leader(&self) -> Option<usize> {
        let running = (0..self.coordinators.len()).filter(|i| self.coordinators[*i].is_some());
        running
            .into_iter()
            .find(|i| run(&["jobs", "--allow-plaintext", "--coordinator", &self.url(*i)]).0 == Some(0))
    }

    pub fn until_led(&self) -> usize {
        let mut leader = None;
        until("a coordinator leads", || {
            leader = self.leader();
            leader.is_some()
        });
        leader.expect("a leader")
    }

    /// Has the ledger checked: every range once. The first job.
    pub fn check_ledger(&self) -> Value {
        let ledger = self.etcd.ledger("farm");
        let (code, stdout, stderr) =
            run(&["ledger", "check", "--ledger", &ledger, "--format", "json", "--allow-plaintext"]);
        assert_eq!(code, Some(0), "{stderr}\n{stdout}");
        let report: Value = serde_json::from_str(&stdout).expect("JSON");
        for job in report["jobs"].as_array().expect("jobs") {
            for fault in ["duplicates", "overlaps", "wrong_digests"] {
                assert_eq!(job[fault], "0", "{fault}: {job}");
            }
        }
        report["jobs"][0].clone()
    }

    /// Waits until the job rests, and checks that every unit counted once.
    pub fn end(&self, units: u64) {
        let status = self.ask(&["status", "noop", "--watch"]);
        assert_eq!(status["state"], "finished", "{status}");
        let result = self.ask(&["result", "noop"]);
        assert_eq!(result["units"], units.to_string());
        assert_eq!(result["sum"], (u128::from(units) * u128::from(units - 1) / 2).to_string());
        let job = self.check_ledger();
        assert_eq!(
            (&job["committed_units"], &job["gaps"]),
            (&units.to_string().into(), &"0".into()),
            "{job}"
        );
    }
}

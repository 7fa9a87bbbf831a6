"""HyperQueue. PyPI has its Python API with a server and workers in one process: that gives tasks/s. Where its command
`hq` is named (HQ=/path/to/hq), server and workers are processes of their own, and are killed too."""

import os
import subprocess
import sys
import time
from importlib.metadata import version

from measure import HOLD, Noop, Stage, attempt, kill, tell, until

HQ = os.environ.get("HQ")


def noop_api(tasks):
    from hyperqueue import Job
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    with Stage() as stage, LocalCluster(server_dir=str(stage.dir)) as cluster:
        for _ in range(2):
            cluster.start_worker(WorkerConfig(cores=1))
        client = cluster.client()
        job = Job(max_fails=0)
        for _ in range(tasks):
            job.program(["true"], stdout=None, stderr=None)
        with Noop(stage, tasks) as measured:
            client.wait_for_jobs([client.submit(job)], raise_on_error=True)
        return measured.result()


class Cluster:
    def __init__(self, stage, workers):
        self.stage = stage
        os.environ["HQ_SERVER_DIR"] = str(stage.dir / "hq")
        self.head = self.start_head()
        self.workers = [self.start_worker() for _ in range(workers)]
        until(lambda: self.connected() == workers)

    def start_head(self):
        return self.stage.start(HQ, "server", "start", "--journal", self.stage.dir / "journal")

    def start_worker(self):
        return self.stage.start(HQ, "worker", "start", "--cpus", 1, "--on-server-lost", "finish-running")

    def connected(self):
        try:
            return self.stage.run(HQ, "--output-mode", "quiet", "worker", "list").count("RUNNING")
        except subprocess.CalledProcessError:
            return None


def noop(tasks):
    with Stage() as stage:
        Cluster(stage, 2)
        with Noop(stage, tasks) as measured:
            stage.run(HQ, "submit", "--wait", "--array", f"1-{tasks}", "--stdout", "none", "--stderr", "none", "true")
        return measured.result()


def logged(stage, name):
    path = stage.dir / name
    return path.read_text().split() if path.exists() else []


def worker_killed():
    with Stage() as stage:
        Cluster(stage, 3)
        command = f"echo $PPID >> {stage.dir}/held; sleep {HOLD}"
        pending = stage.start(
            HQ, "submit", "--wait", "--array", "1-2", "--stdout", "none", "--stderr", "none", "--", "sh", "-c", command
        )
        pids = until(lambda: logged(stage, "held") if len(logged(stage, "held")) == 2 else None)
        time.sleep(1)
        killed = time.monotonic()
        kill(int(pids[0]))
        pending.wait()
        return round(time.monotonic() - killed - HOLD, 2)


def head_killed():
    with Stage() as stage:
        cluster = Cluster(stage, 2)
        command = f"sleep 0.1; echo x >> {stage.dir}/done"
        stage.run(
            HQ, "submit", "--array", "1-200", "--stdout", "none", "--stderr", "none", "--", "sh", "-c", command
        )
        until(lambda: len(logged(stage, "done")) >= 50)
        kill(cluster.head.pid)
        killed = time.monotonic()
        cluster.head.wait()
        cluster.start_head()
        before = len(logged(stage, "done"))
        # Its workers end when their server is lost.
        until(lambda: cluster.connected() is not None)
        for _ in range(2):
            cluster.start_worker()
        until(lambda: len(logged(stage, "done")) > before)
        return round(time.monotonic() - killed, 2)


if __name__ == "__main__":
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    if HQ:
        text = subprocess.run([HQ, "--version"], capture_output=True, text=True).stdout.split()[-1]
        tell(
            "HyperQueue", text,
            noop=attempt(noop, tasks), worker_s=attempt(worker_killed), head_s=attempt(head_killed),
        )
    else:
        tell(
            "HyperQueue, in one process", version("hyperqueue"),
            noop=attempt(noop_api, tasks), worker_s="needs hq", head_s="needs hq",
        )

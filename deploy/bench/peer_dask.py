"""Dask.distributed: a scheduler, and workers of one thread."""

import os
import sys
import time

import distributed
from distributed import Client

from measure import HOLD, Noop, Stage, attempt, free_port, kill, tell, until

BIN = os.path.dirname(sys.executable)


class Cluster:
    def __init__(self, stage, workers):
        self.stage, self.port = stage, free_port()
        self.head = self.start_head()
        self.workers = [self.start_worker(i) for i in range(workers)]
        self.client = Client(f"tcp://127.0.0.1:{self.port}", timeout=30)
        until(lambda: len(self.client.scheduler_info(n_workers=-1)["workers"]) == workers)

    def start_head(self):
        return self.stage.start(
            f"{BIN}/dask", "scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard"
        )

    def start_worker(self, i):
        return self.stage.start(
            f"{BIN}/dask", "worker", f"tcp://127.0.0.1:{self.port}", "--nworkers", 1, "--nthreads", 1, "--no-nanny",
            "--name", f"w{i}", "--no-dashboard", "--local-directory", self.stage.dir / f"w{i}",
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.client.close(timeout=1)
        except Exception:  # noqa: BLE001
            pass


def nothing(_):
    return None


def hold(_):
    time.sleep(HOLD)


def short(_):
    time.sleep(0.1)


def noop(tasks):
    with Stage() as stage, Cluster(stage, 2) as cluster:
        cluster.client.gather(cluster.client.map(nothing, range(4), pure=False))
        with Noop(stage, tasks) as measured:
            cluster.client.gather(cluster.client.map(nothing, range(tasks), pure=False))
        return measured.result()


def worker_killed():
    with Stage() as stage, Cluster(stage, 3) as cluster:
        pending = cluster.client.map(hold, range(2), pure=False)
        names = {info["id"]: address for address, info in cluster.client.scheduler_info(n_workers=-1)["workers"].items()}
        busy = until(lambda: [n for n, a in names.items() if cluster.client.processing().get(a)] or None)
        time.sleep(1)
        killed = time.monotonic()
        kill(cluster.workers[int(str(busy[0])[1:])].pid)
        cluster.client.gather(pending)
        return round(time.monotonic() - killed - HOLD, 2)


def head_killed():
    with Stage() as stage, Cluster(stage, 2) as cluster:
        pending = cluster.client.map(short, range(200), pure=False)
        until(lambda: sum(f.done() for f in pending) >= 50)
        kill(cluster.head.pid)
        cluster.head.wait()
        cluster.start_head()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if any(f.status in ("cancelled", "lost") for f in pending):
                return "lost (futures cancelled)"
            if all(f.status == "finished" for f in pending):
                return "done"
            time.sleep(0.05)
        return f"lost ({sum(f.status == 'finished' for f in pending)} of 200 done after 60 s)"


if __name__ == "__main__":
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    tell(
        "Dask", distributed.__version__,
        noop=attempt(noop, tasks), worker_s=attempt(worker_killed), head_s=attempt(head_killed),
    )

"""Nonet itself, by its command line: `NONET=/path/to/nonet`."""

import json
import os
import subprocess
import sys
import time

from measure import HOLD, Noop, Stage, attempt, free_port, kill, tell, until

NONET = os.environ.get("NONET", "nonet")


class Farm:
    def __init__(self, stage, workers, lease, prefetch):
        self.stage, self.port, self.lease = stage, free_port(), lease
        self.url = f"http://127.0.0.1:{self.port}"
        self.head = self.start_head()
        options = ["--threads", 1, "--prefetch", prefetch, "--coordinator", self.url]
        self.workers = [
            stage.start(NONET, "worker", *options, "--name", f"w{i}", "--state", f"worker-{i}") for i in range(workers)
        ]
        until(lambda: len(self.workers_seen()) == workers)

    def start_head(self):
        return self.stage.start(
            NONET, "coordinator", "--listen", f"127.0.0.1:{self.port}", "--state", "ledger",
            "--fixed-lease-units", self.lease, "--web", "off",
        )

    def ask(self, *args):
        """What it says; nothing while no coordinator answers."""
        try:
            return json.loads(self.stage.run(NONET, *args, "--format", "json", "--coordinator", self.url))
        except subprocess.CalledProcessError:
            return None

    def workers_seen(self):
        return self.ask("workers") or []

    def done(self):
        status = self.ask("status", "noop")
        return int(status["done"]) if status else 0

    def submit(self, units, *options):
        self.stage.run(NONET, "submit", "noop", "--units", units, *options, "--coordinator", self.url)

    def wait(self):
        self.stage.run(NONET, "status", "noop", "--watch", "--coordinator", self.url)


def noop(tasks, lease):
    with Stage() as stage:
        farm = Farm(stage, 2, lease, 512)
        with Noop(stage, tasks) as measured:
            farm.submit(tasks)
            farm.wait()
        return measured.result()


def worker_killed():
    with Stage() as stage:
        farm = Farm(stage, 3, 1, 0)
        farm.submit(2, "--unit-us", int(HOLD * 1e6))
        busy = lambda: [w["name"] for w in farm.workers_seen() if int(w["leases"]) > 0]  # noqa: E731
        names = until(lambda: busy() if len(busy()) == 2 else None)
        time.sleep(1)
        killed = time.monotonic()
        kill(farm.workers[int(names[0][1:])].pid)
        farm.wait()
        return round(time.monotonic() - killed - HOLD, 2)


def head_killed():
    with Stage() as stage:
        farm = Farm(stage, 2, 1, 0)
        farm.submit(200, "--unit-us", 100_000)
        until(lambda: farm.done() >= 50)
        kill(farm.head.pid)
        killed = time.monotonic()
        farm.head.wait()
        farm.start_head()
        before = until(farm.done)
        until(lambda: farm.done() > before)
        return round(time.monotonic() - killed, 2)


if __name__ == "__main__":
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    version = os.popen(f"{NONET} --version").read().split()[-1]
    worker_s, head_s = attempt(worker_killed), attempt(head_killed)
    tell("Nonet, 1 unit a lease", version, noop=attempt(noop, tasks // 5, 1), worker_s=worker_s, head_s=head_s)
    tell("Nonet, 256 units a lease", version, noop=attempt(noop, tasks, 256), worker_s="", head_s="")

"""What all peers have in common: processes that are counted, killed and cleaned away, and the numbers that are printed.

Three measurements, the same for everybody:

noop    N tasks that do nothing, two workers of one slot on this machine: tasks/s from submission to the last result, and
        CPU per task over all processes (head, workers, client), from /proc.
worker  two tasks of HOLD seconds, three workers of one slot: one that computes is killed with SIGKILL, the idle one takes
        over. Time to recover: what the job took longer than a task that begins when the worker was killed.
head    tasks of a tenth of a second, two workers: the head is killed with SIGKILL when a quarter is done, and started
        again as the manual says (with workers, where these do not come back by themselves). Time to recover: from the
        kill to the first task that is finished after it; or "lost" where the job does not go on.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

HOLD = 5.0
TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Stage:
    """Processes with a mark in their environment, so that whatever they start is found too."""

    def __init__(self):
        self.mark = uuid.uuid4().hex
        self.dir = Path(tempfile.mkdtemp(prefix="nonet-peers-"))
        os.environ["NONET_PEER_MARK"] = self.mark

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _ in range(20):
            pids = [pid for pid in self.pids() if pid != os.getpid()]
            for pid in pids:
                kill(pid)
            if not pids:
                break
            time.sleep(0.1)
        shutil.rmtree(self.dir, ignore_errors=True)

    def start(self, *args, **more):
        log = open(self.dir / "log", "ab")
        more.setdefault("stdout", log)
        more.setdefault("stderr", log)
        return subprocess.Popen([str(a) for a in args], stdin=subprocess.DEVNULL, cwd=self.dir, **more)

    def run(self, *args, **more):
        return subprocess.run(
            [str(a) for a in args], check=True, capture_output=True, text=True, cwd=self.dir, **more
        ).stdout

    def pids(self):
        """Our own process, and every process that has the mark."""
        found = [os.getpid()]
        mark = self.mark.encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if mark in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
                except OSError:
                    pass
        return found

    def cpu_seconds(self):
        """User and system time of all of them, and of their children that have ended (proc(5), fields 14 to 17)."""
        total = 0
        for pid in self.pids():
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                total += sum(int(field) for field in fields[11:15])
            except OSError:
                pass
        return total / TICK

    def find(self, *words):
        """Processes whose command line has all these words."""
        found = []
        for pid in self.pids():
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if all(word in line for word in words):
                found.append(pid)
        return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def until(what, patience=60.0):
    """Asks until there is an answer."""
    begun = time.monotonic()
    while time.monotonic() - begun < patience:
        answer = what()
        if answer:
            return answer
        time.sleep(0.01)
    raise TimeoutError("waited too long")


class Noop:
    """Measures a block: `with Noop(stage, tasks) as noop: ...`, then `noop.result()`."""

    def __init__(self, stage, tasks):
        self.stage, self.tasks = stage, tasks

    def __enter__(self):
        self.cpu, self.begun = self.stage.cpu_seconds(), time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begun
        self.cpu = self.stage.cpu_seconds() - self.cpu

    def result(self):
        return {
            "tasks": self.tasks,
            "tasks_per_s": round(self.tasks / self.seconds, 1),
            "cpu_us_per_task": round(self.cpu / self.tasks * 1e6, 2),
        }


def tell(peer, version, **what):
    print(json.dumps({"peer": peer, "version": version, **what}), flush=True)


def attempt(measure, *args):
    """A measurement that fails says so in the table instead of ending it."""
    try:
        return measure(*args)
    except Exception as error:  # noqa: BLE001
        return f"failed: {type(error).__name__}: {str(error)[:80]}"

"""Ray: a head, and nodes of one CPU; tasks, and actors."""

import os
import sys
import time

from measure import HOLD, Noop, Stage, attempt, free_port, kill, tell, until

os.environ.update(RAY_DEDUP_LOGS="0", RAY_USAGE_STATS_ENABLED="0")
import ray  # noqa: E402

RAY = os.path.join(os.path.dirname(sys.executable), "ray")


class Cluster:
    def __init__(self, stage, nodes, connect=True):
        self.port = free_port()
        self.stage = stage
        self.start_head()
        for i in range(nodes):
            stage.run(
                RAY, "start", "--address", f"127.0.0.1:{self.port}", "--num-cpus", 1,
                "--resources", '{"n%d": 1}' % i, "--disable-usage-stats",
            )
        if not connect:
            return
        ray.init(address=f"127.0.0.1:{self.port}", log_to_driver=False, logging_level="ERROR")
        until(lambda: ray.cluster_resources().get("CPU", 0) == nodes)

    def start_head(self):
        self.stage.run(
            RAY, "start", "--head", "--port", self.port, "--num-cpus", 0, "--include-dashboard", "false",
            "--temp-dir", self.stage.dir / "ray", "--disable-usage-stats",
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            ray.shutdown()
        except Exception:  # noqa: BLE001
            pass


def noop(tasks):
    @ray.remote(num_cpus=1)
    def nothing():
        return None

    with Stage() as stage, Cluster(stage, 2):
        ray.get([nothing.remote() for _ in range(4)])
        with Noop(stage, tasks) as measured:
            ray.get([nothing.remote() for _ in range(tasks)])
        return measured.result()


def noop_actors(tasks):
    @ray.remote(num_cpus=1)
    class Nothing:
        def call(self):
            return None

    with Stage() as stage, Cluster(stage, 2):
        actors = [Nothing.remote() for _ in range(2)]
        ray.get([actor.call.remote() for actor in actors])
        with Noop(stage, tasks) as measured:
            ray.get([actors[i % 2].call.remote() for i in range(tasks)])
        return measured.result()


def worker_killed():
    @ray.remote(num_cpus=1, max_retries=5)
    def hold(log):
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(HOLD)

    with Stage() as stage, Cluster(stage, 3):
        held = stage.dir / "held"
        held.touch()
        pending = [hold.remote(str(held)) for _ in range(2)]
        until(lambda: len(held.read_text().split()) == 2)
        time.sleep(1)
        victim = int(held.read_text().split()[0])
        # The node is lost: its raylet, and what that has started.
        raylet = parent(victim)
        killed = time.monotonic()
        kill(raylet)
        kill(victim)
        ray.get(pending)
        return round(time.monotonic() - killed - HOLD, 2)


def parent(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


def head_killed():
    """The head's node is killed: its GCS and its raylet. The driver is a process of its own, for it ends with its raylet."""
    with Stage() as stage, Cluster(stage, 2, connect=False) as cluster:
        done = stage.dir / "done"
        done.touch()
        driver = stage.start(sys.executable, os.path.abspath(__file__), "driver", cluster.port, done)
        until(lambda: len(done.read_text()) >= 50)
        heads = stage.find("gcs_server") + stage.find("raylet/raylet", "--head")
        for pid in heads:
            kill(pid)
        killed = time.monotonic()
        # On one machine it refuses to start beside the nodes that live.
        attempt(cluster.start_head)
        deadline = killed + 60
        while time.monotonic() < deadline and driver.poll() is None:
            time.sleep(0.05)
        count = len(done.read_text())
        if count < 200:
            how = "waits" if driver.poll() is None else "has ended"
            return f"lost (its driver {how} with {count} of 200 done)"
        return f"done after {time.monotonic() - killed:.1f}"


def drive(port, log):
    @ray.remote(num_cpus=1)
    def short():
        time.sleep(0.1)
        with open(log, "a") as file:
            file.write("x")

    ray.init(address=f"127.0.0.1:{port}", log_to_driver=False, logging_level="ERROR")
    ray.get([short.remote() for _ in range(200)])


if __name__ == "__main__":
    what = sys.argv[1]
    tasks = int(sys.argv[2]) if len(sys.argv) == 3 else 10_000
    if what == "noop":
        tell("Ray tasks", ray.__version__, noop=attempt(noop, tasks), worker_s="", head_s="")
    elif what == "actors":
        tell("Ray actors", ray.__version__, noop=attempt(noop_actors, tasks), worker_s="", head_s="")
    elif what == "worker":
        tell("Ray tasks", ray.__version__, worker_s=attempt(worker_killed))
    elif what == "head":
        tell("Ray tasks", ray.__version__, head_s=attempt(head_killed))
    elif what == "driver":
        drive(sys.argv[2], sys.argv[3])

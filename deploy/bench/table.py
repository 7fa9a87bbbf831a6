"""Joins the lines that the peers have printed (JSON, one an object) to a table."""

import json
import sys

rows = {}
for line in sys.stdin:
    if line.startswith("{"):
        said = json.loads(line)
        row = rows.setdefault((said["peer"], said["version"]), {})
        row.update({key: value for key, value in said.items() if value != ""})

print("| peer | tasks/s | CPU us per task | worker killed, s | head killed, s |")
print("|---|---:|---:|---:|---:|")
for (peer, version), row in rows.items():
    noop = row.get("noop", "")
    if isinstance(noop, dict):
        tasks, cpu = f"{noop['tasks_per_s']:,.0f}", f"{noop['cpu_us_per_task']:,.1f}"
    else:
        tasks, cpu = noop, ""
    print(f"| {peer} ({version}) | {tasks} | {cpu} | {row.get('worker_s', '')} | {row.get('head_s', '')} |")

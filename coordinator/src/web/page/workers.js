// The table of workers: those that are here and what they do, those that are not believed, those that went.

import { setButtons, verbsOfWorker } from "./acts.js";
import { $, complain, copy, make, put, reconcile, say, setProgress, setState } from "./dom.js";
import { filtered, queryOf, state } from "./state.js";
import { age, count, duration, now, plural, short } from "./words.js";

const FEW = 8;
/// Labels that every worker has: they are told where there is room.
const USUAL = ["os", "arch", "cores", "memory_gib", "pool"];

export function drawWorkers() {
  if (!state.workers) return;
  const query = queryOf({ q: $("workers-text").value.trim() });
  const view = filtered("workers", query, drawWorkers, complain);
  if (!view) return;
  $("workers-filter").hidden = state.workers.connected < FEW && !query;
  const others = [
    ...view.quarantined.map((worker) => ({ ...worker, is: "not believed" })),
    ...view.gone.map((worker) => ({ ...worker, is: worker.how })),
  ];
  const rows = query ? view.workers : [...view.workers, ...others];
  reconcile($("workers"), rows, (worker) => `${worker.id} ${worker.is || ""}`, build, change);
  $("workers-table").hidden = rows.length === 0;
  $("workers-none").hidden = rows.length > 0 || query !== "";
  const hidden = view.matching - view.workers.length;
  const more = hidden > 0 ? `and ${plural(hidden, "worker")} more` : "";
  put($("workers-note"), query && rows.length === 0 ? "No worker is like that." : more);
}

function build(worker) {
  const row = copy("worker-row");
  put(row.querySelector("strong"), worker.name || short(worker.id));
  put(row.querySelector("code"), short(worker.id));
  row.querySelector("code").title = worker.id;
  row.classList.toggle("gone", Boolean(worker.is));
  return row;
}

function change(row, worker) {
  const chip = row.querySelector(".state");
  setState(chip, worker.is || standing(worker));
  chip.title = worker.why || "";
  put(row.querySelector(".pool"), (worker.labels && worker.labels.pool) || "");
  put(row.querySelector(".machine"), worker.is ? "" : machine(worker));
  put(row.querySelector(".done b"), worker.units_done === undefined ? "" : count(worker.units_done));
  put(row.querySelector(".failed"), worker.failures && worker.failures !== "0" ? `${count(worker.failures)} failed` : "");
  const since = row.querySelector(".since");
  since.dataset.at = worker.is ? worker.at_unix_ms : worker.connected_unix_ms;
  since.dataset.words = worker.is ? "{} ago" : "for {}";
  grow(since);
  put(row.querySelector(".why"), worker.is ? worker.why : troubles(worker));
  reconcile(row.querySelector(".leases"), worker.does || [], (lease) => `${lease.job} ${lease.start}`, buildLease, changeLease);
  const name = worker.name || short(worker.id);
  setButtons(row.querySelector(".acts"), verbsOfWorker(worker), { worker: worker.id }, name);
}

/// What a worker that is here does, in a word.
function standing(worker) {
  if (worker.leaving) return "leaving";
  if (worker.draining) return "draining";
  if (worker.silent_s > 0) return "silent";
  if (worker.resting_s > 0) return "resting";
  return worker.leases > 0 ? "computing" : "idle";
}

function troubles(worker) {
  if (worker.silent_s > 0) return `not heard for ${duration(worker.silent_s * 1000)}`;
  if (worker.resting_s > 0) return `too much in a row went wrong on it: gets nothing for ${duration(worker.resting_s * 1000)}`;
  return "";
}

/// Slots, what machine it is, and what else it says of itself.
function machine({ slots, version, labels }) {
  const own = Object.entries(labels).filter(([name]) => !USUAL.includes(name));
  const memory = labels.memory_gib ? `${labels.memory_gib} GiB` : "";
  const said = own.map(([name, value]) => (value === "yes" ? name : `${name}=${value}`));
  return [plural(slots, "slot"), memory, labels.arch, ...said, version && `Nonet ${version}`].filter(Boolean).join(" · ");
}

function buildLease() {
  const line = make("div");
  const bar = make("div", { of: "progress" });
  bar.setAttribute("role", "progressbar");
  bar.setAttribute("aria-label", "Progress of this lease");
  bar.setAttribute("aria-valuemin", "0");
  bar.setAttribute("aria-valuemax", "100");
  bar.append(make("div"));
  line.append(make("a"), bar);
  return line;
}

function changeLease(line, lease) {
  const [link, bar] = line.children;
  link.href = `#/jobs/${lease.job}`;
  put(link, `${lease.kind} ${count(lease.start)}–${count(BigInt(lease.end) - 1n)}${lease.compares ? " (again)" : ""}`);
  setProgress(bar, lease.reached_per_mille, `${Math.floor(lease.reached_per_mille / 10)} %`, "running");
}

/// Says who has gone.
export function tellGone(before, after) {
  if (!before) return;
  const id = (worker) => `${worker.id} ${worker.at_unix_ms}`;
  const known = new Set(before.gone.map(id));
  const told = after.gone.filter((worker) => !known.has(id(worker))).map((worker) => `Worker ${worker.name}: ${worker.how}.`);
  if (told.length) say(told.slice(0, 3).join(" "));
}

function grow(element) {
  put(element, element.dataset.words.replace("{}", age(now() - Number(element.dataset.at))));
}

setInterval(() => document.querySelectorAll("[data-at]").forEach(grow), 1000);
$("workers-text").addEventListener("input", drawWorkers);
$("workers-filter").addEventListener("submit", (event) => event.preventDefault());

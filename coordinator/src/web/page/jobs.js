// The list of jobs.

import { setButtons, verbsOfJob } from "./acts.js";
import { $, complain, copy, put, reconcile, say, setProgress, setState } from "./dom.js";
import { filtered, queryOf, state } from "./state.js";
import { count, duration, percent, plural, rate, short } from "./words.js";

/// So many are found without a filter.
const FEW = 8;

export function drawJobs() {
  if (!state.jobs) return;
  const query = queryOf({ q: $("jobs-text").value.trim(), state: $("jobs-state").value });
  const view = filtered("jobs", query, drawJobs, complain);
  if (!view) return;
  const all = Object.values(state.jobs.by_state).reduce((sum, n) => sum + n, 0);
  $("jobs-filter").hidden = all < FEW && !query;
  $("jobs-none").hidden = all > 0;
  reconcile($("jobs"), view.jobs, (job) => job.name, build, change);
  const hidden = view.matching - view.jobs.length;
  const more = hidden > 0 ? `and ${plural(hidden, "job")} more` : "";
  put($("jobs-note"), query && view.matching === 0 ? "No job is like that." : more);
}

function build(job) {
  const row = copy("job-row");
  const title = row.querySelector(".title");
  title.href = `#/jobs/${job.name}`;
  put(title, job.kind);
  put(row.querySelector("code"), short(job.name));
  row.querySelector("code").title = job.name;
  put(row.querySelector(".settings"), job.settings === "{}" ? "" : job.settings);
  row.querySelector(".settings").title = job.settings;
  row.querySelector(".progress").setAttribute("aria-label", `Progress of ${job.kind} ${short(job.name)}`);
  return row;
}

function change(row, job) {
  setState(row.querySelector(".state"), job.state);
  setProgress(row.querySelector(".progress"), job.done_per_mille, `${percent(job)}, ${job.state}`, job.state);
  put(row.querySelector(".share"), percent(job));
  put(row.querySelector(".rest"), [`${count(job.done)} of ${count(job.units)} units`, ...pace(job)].join(" · "));
  put(row.querySelector(".detail"), remarks(job));
  setButtons(row.querySelector(".acts"), verbsOfJob(job), { job: job.name, kind: job.kind }, `${job.kind} ${short(job.name)}`);
}

/// Rate and time to go.
function pace(job) {
  if (job.state !== "running") return [];
  const left = job.eta_ms ? `${duration(Number(job.eta_ms))} to go` : "";
  return [rate(job.units_per_1000s), left].filter(Boolean);
}

/// What else is to be said of a job: what it lacks, what it waits for, what went wrong.
export function remarks(job) {
  const said = [job.detail];
  if (job.waits_for) said.push(`needs ${job.waits_for}`);
  if (job.given_up !== "0") said.push(`${plural(BigInt(job.given_up), "unit")} given up`);
  if (job.failed_once !== "0") said.push(`${plural(BigInt(job.failed_once), "unit")} failed once, to be tried by another worker`);
  return said.filter(Boolean).join("; ");
}

/// Says which jobs are not what they were.
export function tellChanges(before, after) {
  if (!before) return;
  const was = new Map(before.jobs.map((job) => [job.name, job.state]));
  const told = after.jobs
    .filter((job) => was.has(job.name) && was.get(job.name) !== job.state)
    .map((job) => `${job.kind} ${short(job.name)} is ${job.state}.`);
  if (told.length) say(told.slice(0, 3).join(" "));
}

for (const id of ["jobs-text", "jobs-state"]) $(id).addEventListener("input", drawJobs);
$("jobs-filter").addEventListener("submit", (event) => event.preventDefault());

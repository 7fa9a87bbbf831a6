// One job: where it stands, its picture, what was given up, its result.

import { setButtons, verbsOfJob } from "./acts.js";
import { $, complain, define, make, put, reconcile, setProgress, setState } from "./dom.js";
import { remarks } from "./jobs.js";
import { drawPicture } from "./picture.js";
import { ask, knownJob } from "./state.js";
import { capital, count, duration, grouped, percent, rate, short } from "./words.js";

/// No more often than this, however fast a job moves.
const PAUSE_MS = 400;
/// A report is shown whole up to this height.
const TALLEST_PX = 100000;

const detail = { name: null, asking: false, again: false, shown: "", job: null, picture: null };

/// The job that is shown, if one is.
export const openedJob = () => detail.name;

export function closeDetail() {
  detail.name = null;
}

/// Shows a job, which need not be known yet.
export function openDetail(name) {
  if (detail.name !== name) {
    Object.assign(detail, { name, shown: "", job: null, picture: null });
    $("result").hidden = true;
    $("result").removeAttribute("src");
    $("given-up").hidden = true;
    for (const id of ["detail-acts", "detail-facts", "detail-settings"]) $(id).replaceChildren();
    put($("detail-title"), "…");
    put($("detail-name"), name);
    const known = knownJob(name);
    if (known) draw(known);
    drawPicture(null, null);
  }
  refreshDetail();
}

/// What was told of all jobs may be of this one: what it lacks is asked for where it has moved, or is not among those told.
export function hearOfDetail() {
  const [told, shown] = [knownJob(detail.name), detail.job];
  const parts = ["run", "state", "done", "leased", "given_up", "failed_once", "unconfirmed"];
  if (!told || !shown || parts.some((part) => told[part] !== shown[part])) refreshDetail();
  else if (told.detail !== shown.detail || told.units_per_1000s !== shown.units_per_1000s) draw({ ...shown, ...told, settings: shown.settings });
}

/// Asks for the job and its picture; once more when something has changed meanwhile.
export async function refreshDetail() {
  const { name } = detail;
  if (!name) return;
  detail.again = detail.asking;
  if (detail.asking) return;
  detail.asking = true;
  try {
    const [job, picture] = await Promise.all([ask(`jobs/${name}`), ask(`jobs/${name}/ranges`)]);
    if (detail.name === name) drawAll(job, picture);
  } catch (error) {
    if (error.status === 404) {
      complain("This job is gone.");
      location.hash = "";
    } else if (error.status && error.status !== 503 && error.status !== 429) complain(error.message);
  } finally {
    setTimeout(() => {
      detail.asking = false;
      if (detail.again) refreshDetail();
    }, PAUSE_MS);
  }
}

function drawAll(job, picture) {
  detail.picture = picture;
  draw(job);
  drawPicture(job, picture);
  put($("detail-settings"), pretty(job.settings));
  drawGivenUp(job);
  drawResult(job);
}

function draw(job) {
  detail.job = job;
  put($("detail-title"), job.kind);
  document.title = `${job.kind} ${percent(job)} · Nonet`;
  setState($("detail-state"), job.state);
  setProgress($("detail-progress"), job.done_per_mille, `${percent(job)}, ${job.state}`, job.state);
  setButtons($("detail-acts"), verbsOfJob(job), { job: job.name, kind: job.kind }, `${job.kind} ${short(job.name)}`);
  $("detail-notice").hidden = !remarks(job);
  put($("detail-notice"), remarks(job));
  define($("detail-facts"), facts(job));
}

function facts(job) {
  const time = (ms) => new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const known = [["Done", percent(job)], ["Units", `${count(job.done)} of ${count(job.units)}`]];
  if (job.state === "running") {
    known.push(["Rate", rate(job.units_per_1000s) || "—"], ["Time to go", job.eta_ms ? duration(Number(job.eta_ms)) : "—"]);
  }
  known.push(["Submitted", time(job.created_unix_ms)]);
  if (job.state !== "running") known.push([capital(job.state), time(job.state_unix_ms)]);
  if (job.requirements.length) known.push(["Asks of its workers", job.requirements.join(", ")]);
  if (job.replicas > 1) {
    known.push(["Workers for a result", String(job.replicas)], ["Not confirmed yet", `${count(job.unconfirmed)} units`]);
  }
  if (job.weight > 1) known.push(["Weight", String(job.weight)]);
  return known;
}

function pretty(settings) {
  try {
    return JSON.stringify(JSON.parse(settings), null, 2);
  } catch {
    return settings;
  }
}

function drawGivenUp(job) {
  const units = job.given_up_units;
  $("given-up").hidden = units.length === 0;
  const build = () => {
    const row = make("tr");
    row.append(make("td", { of: "number" }), make("td"), make("td"));
    return row;
  };
  reconcile($("given-up-units"), units, (unit) => unit.unit, build, (row, unit) => {
    [count(unit.unit), unit.name, unit.error].forEach((text, i) => put(row.children[i], text));
  });
  const more = BigInt(job.given_up) - BigInt(units.length);
  put($("given-up-note"), more > 0n ? `and ${grouped.format(more)} more` : "");
}

function drawResult(job) {
  const base = `/api/v1/jobs/${job.name}/report`;
  for (const form of ["html", "txt", "csv"]) $(`as-${form}`).href = `${base}.${form}`;
  $("as-json").href = base;
  for (const form of ["csv", "json"]) $(`as-${form}`).download = `${job.kind}-${short(job.name)}.${form}`;
  const rests = job.state !== "running" && job.state !== "paused";
  $("result-show").hidden = rests;
  put($("result-show"), $("result").hidden ? "Show the result so far" : "Show it as it is now");
  // A report is put together anew each time, so only when it is asked for, or cannot change any more.
  const now = `${job.run} ${job.state} ${job.done} ${job.given_up}`;
  if (rests && detail.shown !== now && job.state !== "stale") showResult(now);
}

function showResult(shown) {
  detail.shown = shown;
  const frame = $("result");
  frame.hidden = false;
  frame.src = `/api/v1/jobs/${detail.name}/report.html`;
}

/// What an operator has just done is shown at once.
addEventListener("acted", ({ detail: status }) => {
  if (status.name !== detail.name) return;
  draw(status);
  refreshDetail();
});

$("result-show").addEventListener("click", () => showResult("asked"));
$("result").addEventListener("load", () => {
  const inside = $("result").contentDocument && $("result").contentDocument.documentElement;
  if (!inside || $("result").hidden) return;
  const fit = () => {
    $("result").style.height = `${Math.min(inside.scrollHeight + 2, TALLEST_PX)}px`;
  };
  // It has tables that open.
  new ResizeObserver(fit).observe(inside);
  fit();
});

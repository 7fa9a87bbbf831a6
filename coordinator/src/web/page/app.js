// The page of a coordinator: it listens to /api/v1/events and draws what it hears.
//
// Whatever comes from outside is put in as text, never as HTML. Rows are kept and changed, not made anew, so that the
// keyboard's place is not lost. Counts come as strings, since numbers end at 2^53 here.

const $ = (id) => document.getElementById(id);

/// An element with a class and a text.
function make(tag, { text = "", of = "", title = "" } = {}) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (of) made.className = of;
  if (title) made.title = title;
  return made;
}

/// Changes a text only where it differs: a selection stays.
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// ---- words

const grouped = new Intl.NumberFormat("en");
const count = (text) => grouped.format(BigInt(text));
const short = (name) => name.slice(0, 12);
const plural = (n, one, many = `${one}s`) => `${grouped.format(n)} ${Number(n) === 1 ? one : many}`;

/// A duration in its two largest units.
function duration(ms) {
  const s = Math.max(0, Math.ceil(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${grouped.format(Math.floor(s / 86400))} d ${Math.floor((s % 86400) / 3600)} h`;
}

function ago(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
}

function rate(per1000s) {
  const n = Number(per1000s);
  if (n === 0) return "";
  return n < 10000 ? `${(n / 1000).toFixed(3)} units/s` : `${grouped.format(Math.floor(n / 1000))} units/s`;
}

const percent = (job) => `${Math.floor(job.done_per_mille / 10)}.${job.done_per_mille % 10} %`;

/// The coordinator's clock: this one may be wrong.
let ahead = 0;
const now = () => Date.now() + ahead;

// ---- talking to the coordinator

async function ask(path, body) {
  const init = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`/api/v1/${path}`, { cache: "no-store", ...init });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const error = new Error(said.error || `the coordinator answered ${answer.status}`);
  error.status = answer.status;
  throw error;
}

let me = { may_view: false, may_operate: false };
let source = null;
let silence = 0;
let again = 0;
// What was heard last.
const heard = { jobs: null, workers: null };

/// A stream that says nothing for so long is dead: it says something every five seconds.
const SILENCE_MS = 15000;
const AGAIN_MS = 1500;

/// Finds out who we are, and listens if we may.
async function connect() {
  clearTimeout(again);
  hangUp();
  try {
    me = await ask("whoami");
  } catch {
    lost();
    return;
  }
  drawMe();
  if (!me.leads) return standby(me.leader);
  if (!me.may_view) return logIn();
  listen();
}

function listen() {
  source = new EventSource("/api/v1/events");
  const on = (name, draw) => source.addEventListener(name, (event) => {
    const { now_unix_ms, view } = JSON.parse(event.data);
    if (now_unix_ms) ahead = now_unix_ms - Date.now();
    live();
    if (view) draw(view);
  });
  on("standing", (view) => (view.leads ? route() : standby(view.leader)));
  on("jobs", (view) => { announceJobs(heard.jobs, view); heard.jobs = view; drawJobs(); });
  on("workers", (view) => { announceGone(heard.workers, view); heard.workers = view; drawWorkers(); });
  on("pulse", () => refreshDetail());
  // The token, or the coordinator, is gone.
  source.addEventListener("over", () => connect());
  source.onerror = () => lost();
}

function hangUp() {
  clearTimeout(silence);
  if (source) source.close();
  source = null;
}

function live() {
  clearTimeout(silence);
  silence = setTimeout(lost, SILENCE_MS);
  if ($("link").dataset.is === "lost") say("The connection is back.");
  setLink("live", "live");
  $("banner").hidden = true;
}

function lost() {
  hangUp();
  if ($("link").dataset.is !== "lost") {
    setLink("lost", "not connected");
    banner("The connection to the coordinator is lost. What is shown is old; trying again.");
  }
  clearTimeout(again);
  again = setTimeout(connect, AGAIN_MS);
}

function setLink(is, text) {
  $("link").dataset.is = is;
  put($("link-text"), text);
}

function banner(text) {
  $("banner").hidden = false;
  put($("banner"), text);
}

function say(text) {
  $("said").textContent = text;
}

// A page that nobody looks at keeps no connection: browsers have six for each coordinator.
let unseen = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(unseen);
  if (document.hidden) unseen = setTimeout(() => { hangUp(); clearTimeout(again); setLink("connecting", "resting"); }, 60000);
  else if (!source) connect();
});

// ---- what is shown

const SECTIONS = ["login", "standby", "overview", "detail"];

function show(section, title) {
  const was = SECTIONS.find((id) => !$(id).hidden);
  SECTIONS.forEach((id) => { $(id).hidden = id !== section; });
  document.title = title ? `${title} · Nonet` : "Nonet";
  if (was && was !== section) {
    scrollTo(0, 0);
    $(`${section}-title`).focus({ preventScroll: true });
  }
}

function drawMe() {
  const named = me.asks_for_token && me.who;
  put($("who"), named ? `${me.who} (${me.role})` : "");
  $("logout").hidden = !named;
  put($("version"), me.version ? `Nonet ${me.version}` : "");
  if (drawMe.might !== me.may_operate) {
    // Rows have buttons, or have none.
    [$("jobs"), $("workers"), $("detail-acts")].forEach((list) => list.replaceChildren());
    detail.verbs = "";
    drawMe.might = me.may_operate;
  }
}

function standby(leader) {
  hangUp();
  $("banner").hidden = true;
  setLink("connecting", "standing by");
  const text = $("standby-text");
  text.replaceChildren();
  if (!leader) text.append("This coordinator does not lead, and none leads yet. This page goes on by itself.");
  else {
    text.append("Another coordinator leads: ");
    const target = leader.page || "";
    if (/^https?:\/\//.test(target)) {
      const link = make("a", { text: target });
      link.href = target + "/" + location.hash;
      text.append(link, ".");
    } else {
      text.append(make("code", { text: leader.url }), ". Its page cannot be reached from other machines (--web says where it is).");
    }
  }
  show("standby", "Standing by");
  again = setTimeout(connect, AGAIN_MS);
}

function logIn() {
  $("banner").hidden = true;
  setLink("connecting", "not logged in");
  if (me.who && !me.may_view) put($("login-error"), `${me.who} has role ${me.role}, and may not see this.`);
  show("login", "Log in");
  $("token").focus();
}

$("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  put($("login-error"), "");
  try {
    await ask("login", { token: $("token").value });
    $("token").value = "";
    connect();
  } catch (error) {
    put($("login-error"), error.message);
    $("token").select();
  }
});

$("logout").addEventListener("click", async () => {
  await ask("logout", {}).catch(() => {});
  heard.jobs = heard.workers = null;
  [$("jobs"), $("workers")].forEach((list) => list.replaceChildren());
  connect();
});

$("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });

/// `#/jobs/NAME` is a job, everything else is all of them.
function route() {
  const named = /^#\/jobs\/([0-9a-f]{32})$/.exec(location.hash);
  if (named) openDetail(named[1]);
  else { detail.name = null; show("overview", ""); drawJobs(); drawWorkers(); }
}
addEventListener("hashchange", () => { if (me.leads && me.may_view) route(); });

// ---- lists

/// Makes the children of `list` those of `items`, in their order, and keeps what is there.
function reconcile(list, items, key, build, change) {
  const known = new Map([...list.children].map((row) => [row.dataset.key, row]));
  let at = list.firstElementChild;
  for (const item of items) {
    const id = key(item);
    let row = known.get(id);
    if (row) known.delete(id);
    else { row = build(item); row.dataset.key = id; }
    change(row, item);
    if (row === at) at = at.nextElementSibling;
    else list.insertBefore(row, at);
  }
  for (const row of known.values()) row.remove();
}

function setProgress(bar, perMille, text, is) {
  bar.dataset.is = is;
  bar.setAttribute("aria-valuenow", Math.floor(perMille / 10));
  bar.setAttribute("aria-valuetext", text);
  bar.firstElementChild.style.width = `${perMille / 10}%`;
}

function setState(chip, state) {
  chip.dataset.is = state;
  put(chip, state);
}

/// Pairs of a term and what it is, as texts.
function define(list, pairs) {
  reconcile(list, pairs, ([term]) => term, ([term]) => {
    const pair = make("div");
    pair.append(make("dt", { text: term }), make("dd"));
    return pair;
  }, (pair, [, text, small]) => {
    const said = pair.lastElementChild;
    if (said.dataset.said === `${text}\n${small}`) return;
    said.dataset.said = `${text}\n${small}`;
    said.replaceChildren(text);
    if (small) said.append(make("small", { text: small }));
  });
}

// A filter asks for its own answer each time something has changed.
const filters = { jobs: null, workers: null };

function filtered(what, query, draw) {
  const view = filters[what];
  if (!query) { filters[what] = null; return heard[what]; }
  if (view && view.query === query && view.of === heard[what]) return view.view;
  if (!view || !view.asking) {
    filters[what] = { ...view, asking: true };
    const of = heard[what];
    ask(`${what}?${query}`).then((answer) => { filters[what] = { query, of, view: answer }; draw(); })
      .catch((error) => { filters[what] = null; if (error.status) banner(error.message); });
  }
  return view ? view.view : heard[what];
}

function queryOf(fields) {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value));
  return query.toString();
}

for (const [id, draw] of [["jobs-text", () => drawJobs()], ["jobs-state", () => drawJobs()], ["workers-text", () => drawWorkers()]]) {
  $(id).addEventListener("input", draw);
}
for (const form of ["jobs-filter", "workers-filter"]) $(form).addEventListener("submit", (event) => event.preventDefault());

// ---- jobs

function drawJobs() {
  drawFigures();
  if (detail.name) { refreshDetail(); return; }
  if (!heard.jobs) return;
  const query = queryOf({ q: $("jobs-text").value.trim(), state: $("jobs-state").value });
  const view = filtered("jobs", query, drawJobs);
  if (!view) return;
  const all = Object.values(heard.jobs.by_state).reduce((sum, n) => sum + n, 0);
  $("jobs-filter").hidden = all < 8 && !query;
  if (all === 0) {
    $("jobs").replaceChildren(make("li", { of: "empty", text: "No jobs yet: `nonet submit KIND` brings one." }));
  } else {
    reconcile($("jobs"), view.jobs, (job) => job.name, buildJob, changeJob);
  }
  const hidden = view.matching - view.jobs.length;
  put($("jobs-note"), query && view.matching === 0 ? "No job is like that." : hidden > 0 ? `and ${plural(hidden, "job")} more` : "");
}

function buildJob(job) {
  const row = $("job-row").content.firstElementChild.cloneNode(true);
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

function changeJob(row, job) {
  setState(row.querySelector(".state"), job.state);
  setProgress(row.querySelector(".progress"), job.done_per_mille, `${percent(job)}, ${job.state}`, job.state);
  const words = row.querySelector(".words");
  const text = [`${count(job.done)} of ${count(job.units)} units`, ...pace(job)].join(" · ");
  if (words.dataset.said !== percent(job) + text) {
    words.dataset.said = percent(job) + text;
    words.replaceChildren(make("b", { text: percent(job) }), ` · ${text}`);
  }
  put(row.querySelector(".detail"), why(job));
  setVerbs(row.querySelector(".acts"), job);
}

/// Rate and time to go.
function pace(job) {
  if (job.state !== "running") return [];
  const words = [];
  if (rate(job.units_per_1000s)) words.push(rate(job.units_per_1000s));
  if (job.eta_ms) words.push(`${duration(Number(job.eta_ms))} to go`);
  return words;
}

/// What else is to be said of a job.
function why(job) {
  const said = [];
  if (job.detail) said.push(job.detail);
  if (job.waits_for) said.push(`needs ${job.waits_for}`);
  if (job.given_up !== "0") said.push(`${count(job.given_up)} units given up`);
  return said.join("; ");
}

function announceJobs(before, after) {
  if (!before) return;
  const was = new Map(before.jobs.map((job) => [job.name, job.state]));
  const told = after.jobs.filter((job) => was.has(job.name) && was.get(job.name) !== job.state)
    .map((job) => `${job.kind} ${short(job.name)} is ${job.state}.`);
  if (told.length) say(told.slice(0, 3).join(" "));
}

function drawFigures() {
  if (!heard.jobs || !heard.workers) return;
  const states = heard.jobs.by_state;
  const crew = heard.workers;
  const rates = heard.jobs.jobs.filter((job) => job.state === "running").reduce((sum, job) => sum + Number(job.units_per_1000s), 0);
  const others = Object.entries(states).filter(([state]) => state !== "running").map(([state, n]) => `${grouped.format(n)} ${state}`);
  const gone = crew.gone.filter((worker) => worker.how === "lost").length;
  define($("figures"), [
    ["Jobs running", grouped.format(states.running || 0), others.join(", ") || "no others"],
    ["Workers", grouped.format(crew.connected), [`${grouped.format(crew.busy)} of ${grouped.format(crew.slots)} slots at work`, ...(crew.resting ? [`${grouped.format(crew.resting)} resting`] : []), ...(crew.draining ? [`${grouped.format(crew.draining)} draining`] : []), ...(gone ? [`${gone} lost`] : [])].join(", ")],
    ["Slots", grouped.format(crew.slots), `${plural(crew.leases, "lease")} out`],
    ["Units a second", rate(String(rates)).replace(" units/s", "") || "0", "over the last minute"],
  ]);
}

// ---- what operators do

const VERBS = {
  running: ["pause", "cancel"], paused: ["resume", "cancel"], cancelled: ["retry"], finished: [], conflict: [], stale: [], unknown: [],
};

function verbsOf(job) {
  const verbs = [...(VERBS[job.state] || [])];
  if (job.given_up !== "0" && (job.state === "running" || job.state === "finished")) verbs.push("retry");
  return verbs;
}

/// One button for each thing that can be done. Buttons stay where they are and change what they do: pause is resume next.
function setVerbs(place, job) {
  const verbs = me.may_operate ? verbsOf(job) : [];
  while (place.children.length > verbs.length) place.lastElementChild.remove();
  while (place.children.length < verbs.length) {
    const button = make("button");
    button.type = "button";
    button.addEventListener("click", () => act(button));
    place.append(button);
  }
  verbs.forEach((verb, i) => {
    const button = place.children[i];
    const text = verb[0].toUpperCase() + verb.slice(1);
    Object.assign(button.dataset, { verb, job: job.name, kind: job.kind });
    put(button, text);
    button.setAttribute("aria-label", `${text} ${job.kind} ${short(job.name)}`);
    button.classList.toggle("danger", verb === "cancel");
  });
}

async function act(button) {
  if (button.getAttribute("aria-disabled") === "true") return;
  const { verb, job, kind, worker } = button.dataset;
  if (verb === "cancel" && !(await sure(`Cancel ${kind}?`, `Job ${short(job)} stops. What is done is kept, and retry takes it up again.`, "Cancel it"))) return;
  if (verb === "drain" && !(await sure("Drain this worker?", "It gets no further leases until it connects again.", "Drain it"))) return;
  button.setAttribute("aria-disabled", "true");
  try {
    if (worker) await ask(`workers/${worker}/${verb}`, {});
    else {
      const status = await ask(`jobs/${job}/${verb}`, {});
      const known = heard.jobs && heard.jobs.jobs.findIndex((other) => other.name === job);
      if (known >= 0) { announceJobs(heard.jobs, { jobs: [status] }); heard.jobs.jobs[known] = { ...status, settings: heard.jobs.jobs[known].settings }; }
      drawJobs();
    }
  } catch (error) {
    banner(error.message);
    if (error.status === 401 || error.status === 403) connect();
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

function sure(title, text, yes) {
  put($("confirm-title"), title);
  put($("confirm-text"), text);
  put($("confirm-yes"), yes);
  const dialog = $("confirm");
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((decide) => dialog.addEventListener("close", () => decide(dialog.returnValue === "yes"), { once: true }));
}

// ---- workers

function drawWorkers() {
  drawFigures();
  if (!heard.workers || detail.name) return;
  const query = queryOf({ q: $("workers-text").value.trim() });
  const view = filtered("workers", query, drawWorkers);
  if (!view) return;
  $("workers-filter").hidden = heard.workers.connected < 8 && !query;
  const believed = view.quarantined.map((worker) => ({ ...worker, is: "not believed" }));
  const gone = view.gone.map((worker) => ({ ...worker, is: worker.how }));
  const rows = [...view.workers, ...(query ? [] : [...believed, ...gone])];
  reconcile($("workers"), rows, (worker) => worker.id + (worker.is ? "-" : ""), buildWorker, changeWorker);
  $("workers-table").hidden = rows.length === 0;
  const hidden = view.matching - view.workers.length;
  put($("workers-note"), rows.length === 0
    ? (query ? "No worker is like that." : "No workers yet: `nonet worker --coordinator URL` brings one.")
    : hidden > 0 ? `and ${plural(hidden, "worker")} more` : "");
}

function buildWorker(worker) {
  const row = $("worker-row").content.firstElementChild.cloneNode(true);
  put(row.querySelector("strong"), worker.name || short(worker.id));
  put(row.querySelector("code"), short(worker.id));
  row.querySelector("code").title = worker.id;
  return row;
}

function changeWorker(row, worker) {
  row.classList.toggle("gone", Boolean(worker.is));
  const state = worker.is || (worker.draining ? "draining" : worker.silent_s > 0 ? "silent" : worker.leases > 0 ? "computing" : "idle");
  setState(row.querySelector(".state"), state);
  row.querySelector(".state").title = worker.why || (worker.silent_s > 0 ? `silent for ${worker.silent_s} s` : "");
  put(row.querySelector(".done"), worker.units_done === undefined ? "" : count(worker.units_done));
  const since = row.querySelector(".since");
  since.dataset.at = worker.is ? worker.at_unix_ms : worker.connected_unix_ms;
  since.dataset.words = worker.is ? "{} ago" : "for {}";
  age(since);
  const does = row.querySelector(".does");
  if (worker.is) { put(does, worker.why); setDrain(row, null); return; }
  const held = worker.does.map((lease, i) => ({ ...lease, i }));
  if (does.firstChild && does.firstChild.nodeType === Node.TEXT_NODE) does.replaceChildren();
  reconcile(does, held, (lease) => String(lease.i), () => {
    const line = make("div");
    const bar = make("div", { of: "progress" });
    bar.setAttribute("role", "progressbar");
    bar.setAttribute("aria-label", "Progress of this lease");
    bar.append(make("div"));
    line.append(make("span"), bar);
    return line;
  }, (line, lease) => {
    const last = BigInt(lease.end) - 1n;
    put(line.firstElementChild, `${lease.kind} ${count(lease.start)}–${count(last)}${lease.compares ? " (again)" : ""}`);
    line.firstElementChild.title = `job ${lease.job}`;
    setProgress(line.lastElementChild, lease.reached_per_mille, `${Math.floor(lease.reached_per_mille / 10)} %`, "running");
  });
  setDrain(row, worker);
}

/// The one thing that is done to workers.
function setDrain(row, worker) {
  const place = row.querySelector(".acts");
  const verb = !me.may_operate ? "" : worker ? (worker.draining ? "" : "drain") : row.querySelector(".state").dataset.is === "not believed" ? "readmit" : "";
  if (!verb) { place.replaceChildren(); return; }
  if (!place.firstElementChild) {
    const button = make("button");
    button.type = "button";
    button.addEventListener("click", () => act(button));
    place.append(button);
  }
  const button = place.firstElementChild;
  Object.assign(button.dataset, { verb, worker: row.dataset.key || (worker && worker.id) });
  button.dataset.worker = button.dataset.worker.replace("-", "");
  put(button, verb[0].toUpperCase() + verb.slice(1));
  button.setAttribute("aria-label", `${button.textContent} ${row.querySelector("strong").textContent}`);
}

function announceGone(before, after) {
  if (!before) return;
  const known = new Set(before.gone.map((worker) => worker.id + worker.at_unix_ms));
  const told = after.gone.filter((worker) => !known.has(worker.id + worker.at_unix_ms)).map((worker) => `Worker ${worker.name}: ${worker.how}.`);
  if (told.length) say(told.slice(0, 3).join(" "));
}

function age(element) {
  put(element, element.dataset.words.replace("{}", ago(now() - Number(element.dataset.at))));
}
setInterval(() => document.querySelectorAll("[data-at]").forEach(age), 1000);

// ---- one job

const detail = { name: null, job: null, asking: false, stale: false, shown: "", verbs: "", picture: null };

function openDetail(name) {
  if (detail.name !== name) {
    Object.assign(detail, { name, job: null, shown: "", picture: null });
    $("result").hidden = true;
    $("result").removeAttribute("src");
    $("detail-acts").replaceChildren();
    put($("detail-title"), "…");
    put($("detail-name"), name);
    put($("picture-note"), "");
    const known = heard.jobs && heard.jobs.jobs.find((job) => job.name === name);
    if (known) drawDetail(known);
    draw();
  }
  show("detail", detail.job ? detail.job.kind : "Job");
  refreshDetail();
}

/// Asks for the job and its picture; once more when something has changed meanwhile.
async function refreshDetail() {
  const { name } = detail;
  if (!name) return;
  if (detail.asking) { detail.stale = true; return; }
  detail.asking = true;
  try {
    const [job, picture] = await Promise.all([ask(`jobs/${name}`), ask(`jobs/${name}/ranges`)]);
    if (detail.name === name) { drawDetail(job, true); detail.picture = picture; draw(); }
  } catch (error) {
    if (error.status === 404) { banner("This job is gone."); location.hash = ""; }
    else if (error.status) banner(error.message);
  } finally {
    detail.asking = false;
    if (detail.stale) { detail.stale = false; setTimeout(refreshDetail, 400); }
  }
}

function drawDetail(job, whole = false) {
  detail.job = job;
  put($("detail-title"), job.kind);
  document.title = `${job.kind} ${percent(job)} · Nonet`;
  setState($("detail-state"), job.state);
  setProgress($("detail-progress"), job.done_per_mille, `${percent(job)}, ${job.state}`, job.state);
  setVerbs($("detail-acts"), job);
  $("detail-notice").hidden = !why(job);
  put($("detail-notice"), why(job));
  const time = (ms) => new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const facts = [["Done", percent(job)], ["Units", `${count(job.done)} of ${count(job.units)}`]];
  if (job.state === "running") facts.push(["Rate", rate(job.units_per_1000s) || "—"], ["Time to go", job.eta_ms ? duration(Number(job.eta_ms)) : "—"]);
  facts.push(["Submitted", time(job.created_unix_ms)]);
  if (job.state !== "running") facts.push([`${job.state[0].toUpperCase()}${job.state.slice(1)}`, time(job.state_unix_ms)]);
  if (job.replicas > 1) facts.push(["Workers for a result", String(job.replicas)], ["Not confirmed yet", `${count(job.unconfirmed)} units`]);
  if (job.weight > 1) facts.push(["Weight", String(job.weight)]);
  define($("detail-facts"), facts);
  if (whole) {
    let settings = job.settings;
    try { settings = JSON.stringify(JSON.parse(settings), null, 2); } catch { /* Shown as it is. */ }
    put($("detail-settings"), settings);
    drawGivenUp(job);
    drawResult(job);
  }
}

function drawGivenUp(job) {
  const units = job.given_up_units;
  $("given-up").hidden = units.length === 0;
  reconcile($("given-up-units"), units, (unit) => unit.unit, () => {
    const row = make("tr");
    row.append(make("td"), make("td"), make("td"));
    return row;
  }, (row, unit) => [count(unit.unit), unit.name, unit.error].forEach((text, i) => put(row.children[i], text)));
  const more = BigInt(job.given_up) - BigInt(units.length);
  put($("given-up-note"), more > 0n ? `and ${grouped.format(more)} more` : "");
}

// ---- results

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

$("result-show").addEventListener("click", () => showResult("asked"));
$("result").addEventListener("load", () => {
  const inside = $("result").contentDocument && $("result").contentDocument.documentElement;
  if (!inside || $("result").hidden) return;
  const fit = () => { $("result").style.height = `${Math.min(inside.scrollHeight + 2, 100000)}px`; };
  // It has tables that open.
  new ResizeObserver(fit).observe(inside);
  fit();
});

// ---- the picture

const PLACES = { done: "done", running: "running", unconfirmed: "not confirmed yet", failed_once: "failed once", given_up: "given up", waiting: "waiting" };
const CELL = 13;
const GAP = 2;

/// One cell for each stretch of the job's units, line by line; a cell is filled by shares, from below.
function draw() {
  const canvas = $("canvas");
  const picture = detail.picture;
  $("picture").hidden = !picture;
  if (!picture) return;
  drawLegend(picture);
  if (!picture.known) { canvas.hidden = true; return; }
  canvas.hidden = false;
  const width = canvas.clientWidth;
  if (!width) return;
  const stretches = picture.stretches;
  const columns = Math.max(1, Math.floor((width + GAP) / (CELL + GAP)));
  const side = stretches.length <= columns ? Math.min(34, (width + GAP) / Math.max(1, stretches.length) - GAP) : (width + GAP) / columns - GAP;
  const lines = Math.ceil(stretches.length / Math.min(columns, stretches.length || 1));
  const height = lines * (side + GAP) - GAP;
  const scale = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const style = getComputedStyle(document.documentElement);
  const colours = picture.places.map((place) => style.getPropertyValue(`--${place}`).trim());
  const brush = canvas.getContext("2d");
  brush.scale(scale, scale);
  detail.cells = { columns: Math.min(columns, stretches.length), side };
  stretches.forEach((shares, i) => {
    const x = (i % columns) * (side + GAP);
    let bottom = Math.floor(i / columns) * (side + GAP) + side;
    brush.save();
    brush.beginPath();
    brush.roundRect(x, bottom - side, side, side, 2.5);
    brush.clip();
    brush.fillStyle = colours[colours.length - 1];
    brush.fillRect(x, bottom - side, side, side);
    shares.slice(0, -1).forEach((share, place) => {
      if (share === 0) return;
      // What has gone wrong is seen however little it is.
      const tall = Math.max(share * side / 1000, place >= 3 ? 3 : 1);
      brush.fillStyle = colours[place];
      brush.fillRect(x, bottom - tall, side, tall);
      bottom -= tall;
    });
    brush.restore();
  });
}

function drawLegend(picture) {
  const job = detail.job;
  if (!job) return;
  const n = (text) => BigInt(text);
  const counts = { done: n(job.done), running: n(job.leased), unconfirmed: n(job.unconfirmed), failed_once: n(job.failed_once), given_up: n(job.given_up) };
  const rest = n(job.units) - Object.values(counts).reduce((sum, some) => sum + some, 0n);
  counts.waiting = rest > 0n ? rest : 0n;
  const shown = Object.entries(counts).filter(([place, some]) => some > 0n || place === "done" || place === "running");
  reconcile($("legend"), shown, ([place]) => place, ([place]) => { const item = make("li"); item.dataset.is = place; return item; },
    (item, [place, some]) => put(item, `${PLACES[place]} ${grouped.format(some)}`));
  const words = shown.map(([place, some]) => `${grouped.format(some)} ${PLACES[place]}`).join(", ");
  $("canvas").setAttribute("aria-label", `Where the ${count(job.units)} units are: ${words}`);
  if (!picture.known) put($("picture-note"), "Which ranges are done is not known: this program cannot open the job.");
  else if (!$("picture-note").textContent) {
    const each = picture.stretches.length ? Number(n(job.units)) / picture.stretches.length : 1;
    put($("picture-note"), each > 1 ? `From unit 0 on, line by line; a square is about ${grouped.format(Math.round(each))} units.` : "From unit 0 on, line by line; a square is a unit.");
  }
}

$("canvas").addEventListener("pointermove", (event) => {
  const { picture, cells } = detail;
  if (!picture || !picture.known || !cells) return;
  const column = Math.floor(event.offsetX / (cells.side + GAP));
  const at = Math.floor(event.offsetY / (cells.side + GAP)) * cells.columns + column;
  const shares = column < cells.columns && picture.stretches[at];
  if (!shares) { $("canvas").title = ""; return; }
  const [units, len] = [BigInt(picture.units), BigInt(picture.stretches.length)];
  const [first, last] = [(units * BigInt(at)) / len, (units * BigInt(at + 1)) / len - 1n];
  const words = shares.map((share, i) => share > 0 && `${PLACES[picture.places[i]]} ${share / 10} %`).filter(Boolean).join(", ");
  $("canvas").title = `units ${grouped.format(first)} to ${grouped.format(last)}: ${words}`;
});
new ResizeObserver(() => draw()).observe($("picture"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

connect();

// The page of a coordinator: it listens to /api/v1/events and draws what it hears.
//
// `link.js` listens, `state.js` keeps what was heard, `jobs.js`, `workers.js`, `detail.js` and `picture.js` draw it, `acts.js`
// does what operators may. Here it is put together.

import { closeDetail, hearOfDetail, openDetail, openedJob, refreshDetail } from "./detail.js";
import { $, define, make, put } from "./dom.js";
import { drawJobs, tellChanges } from "./jobs.js";
import { connect, start } from "./link.js";
import { ask, state } from "./state.js";
import { drawWorkers, tellGone } from "./workers.js";
import { grouped, plural, speed } from "./words.js";

const SECTIONS = ["login", "standby", "overview", "detail"];

/// Shows one section. The keyboard's place moves to it when it is another one.
function show(section, title) {
  const was = SECTIONS.find((id) => !$(id).hidden);
  SECTIONS.forEach((id) => {
    $(id).hidden = id !== section;
  });
  if (title !== null) document.title = title ? `${title} · Nonet` : "Nonet";
  if (was && was !== section) {
    scrollTo(0, 0);
    $(`${section}-title`).focus({ preventScroll: true });
  }
}

/// `#/jobs/NAME` is a job, everything else is all of them.
function route() {
  const named = /^#\/jobs\/([0-9a-f]{32})$/.exec(location.hash);
  if (named) {
    show("detail", null);
    openDetail(named[1]);
    return;
  }
  closeDetail();
  show("overview", "");
  draw();
}

function draw() {
  drawFigures();
  if (openedJob()) {
    refreshDetail();
    return;
  }
  drawJobs();
  drawWorkers();
}

function drawFigures() {
  if (!state.jobs || !state.workers) return;
  const { by_state: states, jobs } = state.jobs;
  const crew = state.workers;
  const others = Object.entries(states).filter(([of]) => of !== "running").map(([of, n]) => `${grouped.format(n)} ${of}`);
  const lost = crew.gone.filter((worker) => worker.how === "lost").length;
  const some = [["resting", crew.resting], ["draining", crew.draining], ["lost", lost]].filter(([, n]) => n > 0);
  const rates = jobs.filter((job) => job.state === "running").reduce((sum, job) => sum + Number(job.units_per_1000s), 0);
  define($("figures"), [
    ["Jobs running", grouped.format(states.running || 0), others.join(", ") || "no others"],
    ["Workers", grouped.format(crew.connected), some.map(([of, n]) => `${grouped.format(n)} ${of}`).join(", ") || "connected"],
    ["Slots at work", grouped.format(crew.busy), `of ${grouped.format(crew.slots)}, ${plural(crew.leases, "lease")} out`],
    ["Units a second", speed(rates) || "0", "over the last minute"],
  ]);
}

/// Who we are. Where that has changed, buttons come or go.
function drawMe() {
  const { me } = state;
  const named = me.asks_for_token && me.who;
  put($("who"), named ? `${me.who} (${me.role})` : "");
  $("logout").hidden = !named;
  put($("version"), me.version ? `Nonet ${me.version}` : "");
}

function standby(leader) {
  const text = $("standby-text");
  text.replaceChildren();
  if (!leader) {
    text.append("This coordinator does not lead, and none leads yet. This page goes on by itself.");
  } else if (/^https?:\/\//.test(leader.page || "")) {
    const link = make("a", { text: leader.page });
    link.href = `${leader.page}/${location.hash}`;
    text.append("Another coordinator leads: ", link, ".");
  } else {
    const where = make("code", { text: leader.url });
    text.append("Another coordinator leads: ", where, ". Its page cannot be reached from other machines (--web says where it is).");
  }
  show("standby", "Standing by");
}

function logIn() {
  const { me } = state;
  if (me.who && !me.may_view) put($("login-error"), `${me.who} has role ${me.role}, and may not see this.`);
  forget();
  show("login", "Log in");
  $("token").focus();
}

/// What was seen is not for whoever comes next.
function forget() {
  state.jobs = null;
  state.workers = null;
  closeDetail();
  for (const id of ["jobs", "workers", "figures"]) $(id).replaceChildren();
}

$("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  put($("login-error"), "");
  try {
    await ask("login", { token: $("token").value });
    $("token").value = "";
    connect();
  } catch (error) {
    put($("login-error"), error.status ? error.message : "The coordinator does not answer.");
    $("token").select();
  }
});

$("logout").addEventListener("click", async () => {
  await ask("logout", {}).catch(() => {});
  forget();
  connect();
});

$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});

addEventListener("hashchange", () => {
  if (state.me.leads && state.me.may_view) route();
});
addEventListener("acted", draw);

start({
  me: drawMe,
  login: logIn,
  standby,
  leads: route,
  pulse: refreshDetail,
  jobs(view) {
    tellChanges(state.jobs, view);
    state.jobs = view;
    drawFigures();
    if (openedJob()) hearOfDetail();
    else drawJobs();
  },
  workers(view) {
    tellGone(state.workers, view);
    state.workers = view;
    drawFigures();
    if (!openedJob()) drawWorkers();
  },
});

// The connection: it finds out who we are, listens, notices that nothing comes any more, and begins anew.

import { $, put, say } from "./dom.js";
import { ask, state } from "./state.js";
import { setClock } from "./words.js";

/// A stream that says nothing for so long is dead: it says something every five seconds.
const SILENCE_MS = 15000;
const AGAIN_MS = 1500;
/// A page that nobody looks at keeps no connection: browsers have six for each coordinator.
const UNSEEN_MS = 60000;

const LOST = "The connection to the coordinator is lost. What is shown is old; trying again.";
const MUTE = "The coordinator sends no news: perhaps too many pages are open. Trying again.";

/// What is to be done about what is heard; set by `start`.
let on = {};
let source = null;
let silence = 0;
let again = 0;
let unseen = 0;

/// Begins. `on` has a function for each thing that may be heard: `me`, `standby`, `login`, `leads`, `jobs`, `workers`, `pulse`.
export function start(handlers) {
  on = handlers;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(unseen);
    if (document.hidden) unseen = setTimeout(rest, UNSEEN_MS);
    else if (!source) connect();
  });
  connect();
}

/// Finds out who we are, and listens if we may.
export async function connect() {
  clearTimeout(again);
  hangUp();
  try {
    state.me = await ask("whoami");
  } catch (error) {
    lost(error.status ? `${error.message}.` : LOST);
    return;
  }
  on.me();
  if (!state.me.leads) stoodBy(state.me.leader);
  else if (state.me.may_view) listen();
  else {
    still("not logged in");
    on.login();
  }
}

function listen() {
  const heard = new EventSource("/api/v1/events");
  let anything = false;
  source = heard;
  const hear = (name, draw) => heard.addEventListener(name, (event) => {
    const { now_unix_ms: clock, view } = JSON.parse(event.data);
    if (clock) setClock(clock);
    anything = true;
    live();
    draw(view);
  });
  hear("standing", (view) => (view.leads ? on.leads() : stoodBy(view.leader)));
  hear("jobs", (view) => on.jobs(view));
  hear("workers", (view) => on.workers(view));
  hear("pulse", () => on.pulse());
  // The token, or the coordinator, is gone.
  heard.addEventListener("over", () => connect());
  heard.onerror = () => lost(anything ? LOST : MUTE);
}

function hangUp() {
  clearTimeout(silence);
  if (source) source.close();
  source = null;
}

function live() {
  clearTimeout(silence);
  silence = setTimeout(() => lost(LOST), SILENCE_MS);
  if ($("link").dataset.is === "lost") say("The connection is back.");
  setLink("live", "live");
  $("banner").hidden = true;
}

function lost(why) {
  hangUp();
  setLink("lost", "not connected");
  $("banner").hidden = false;
  put($("banner"), why);
  clearTimeout(again);
  again = setTimeout(connect, AGAIN_MS);
}

/// Nothing is told here, and that is right.
function still(text) {
  setLink("connecting", text);
  $("banner").hidden = true;
}

function stoodBy(leader) {
  hangUp();
  still("standing by");
  on.standby(leader);
  clearTimeout(again);
  again = setTimeout(connect, AGAIN_MS);
}

function rest() {
  hangUp();
  clearTimeout(again);
  setLink("connecting", "resting");
}

function setLink(is, text) {
  $("link").dataset.is = is;
  put($("link-text"), text);
}

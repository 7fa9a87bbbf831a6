// What operators do: buttons, and the question before what cannot be taken back at once.

import { $, calm, complain, make, put, say } from "./dom.js";
import { ask, knownJob, state } from "./state.js";
import { connect } from "./link.js";
import { capital, short } from "./words.js";

const OF_STATE = { running: ["pause", "cancel"], paused: ["resume", "cancel"], cancelled: ["retry"] };

const QUESTIONS = {
  cancel: ({ kind, job }) => ({
    title: `Cancel ${kind}?`,
    text: `Job ${short(job)} stops. What is done is kept, and retry takes it up again.`,
    yes: "Cancel it",
  }),
  drain: ({ name }) => ({
    title: `Drain ${name}?`,
    text: "It finishes what it computes, and leaves.",
    yes: "Drain it",
  }),
};

/// What can be done with a job, by whoever looks.
export function verbsOfJob(job) {
  if (!state.me.may_operate) return [];
  const verbs = OF_STATE[job.state] || [];
  const retries = job.given_up !== "0" && (job.state === "running" || job.state === "finished");
  return retries ? [...verbs, "retry"] : verbs;
}

/// What can be done with a worker.
export function verbsOfWorker(worker) {
  if (!state.me.may_operate) return [];
  if (worker.is) return worker.is === "not believed" ? ["readmit"] : [];
  return worker.draining ? [] : ["drain"];
}

/// One button for each thing that can be done with `what`, of that name. Buttons stay where they are and change what they do:
/// pause is resume next.
export function setButtons(place, verbs, what, name) {
  while (place.children.length > verbs.length) {
    // Whoever stands on a button that goes is to stand on its neighbour.
    const last = place.lastElementChild;
    if (last === document.activeElement && last.previousElementSibling) last.previousElementSibling.focus();
    last.remove();
  }
  while (place.children.length < verbs.length) {
    const button = make("button");
    button.type = "button";
    button.addEventListener("click", () => act(button));
    place.append(button);
  }
  verbs.forEach((verb, i) => {
    const button = place.children[i];
    Object.assign(button.dataset, { verb, name, ...what });
    put(button, capital(verb));
    button.setAttribute("aria-label", `${capital(verb)} ${name}`);
    button.classList.toggle("danger", verb === "cancel");
  });
}

async function act(button) {
  const { verb, job, worker } = button.dataset;
  if (button.getAttribute("aria-disabled") === "true") return;
  const question = QUESTIONS[verb] && QUESTIONS[verb](button.dataset);
  if (question && !(await sure(question))) return;
  button.setAttribute("aria-disabled", "true");
  try {
    if (worker) await ask(`workers/${worker}/${verb}`, {});
    else changed(await ask(`jobs/${job}/${verb}`, {}));
    calm();
  } catch (error) {
    complain(error.status ? error.message : "The coordinator does not answer: nothing was done, as far as is known.");
    if (error.status === 401 || error.status === 403) connect();
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/// Shows what has become of a job before it is told to all.
function changed(status) {
  const known = knownJob(status.name);
  const { settings } = known || status;
  if (known && known.state !== status.state) say(`${status.kind} ${short(status.name)} is ${status.state}.`);
  if (known) Object.assign(known, status, { settings });
  dispatchEvent(new CustomEvent("acted", { detail: status }));
}

/// Asks; no is the answer of Escape, too.
function sure({ title, text, yes }) {
  put($("confirm-title"), title);
  put($("confirm-text"), text);
  put($("confirm-yes"), yes);
  const dialog = $("confirm");
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((decide) => {
    dialog.addEventListener("close", () => decide(dialog.returnValue === "yes"), { once: true });
  });
}

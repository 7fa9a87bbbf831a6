// What is known, and talking to the coordinator.

/// Who we are, and what was heard last.
export const state = {
  me: { may_view: false, may_operate: false },
  jobs: null,
  workers: null,
};

/// What a coordinator answers; an error has its `status`, or none where there was no answer.
export async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`/api/v1/${path}`, { cache: "no-store", ...init });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const error = new Error(said.error || `the coordinator answered ${answer.status}`);
  error.status = answer.status;
  throw error;
}

/// A job that was told of.
export const knownJob = (name) => state.jobs && state.jobs.jobs.find((job) => job.name === name);

const filters = { jobs: null, workers: null };

/// What was told last, or what a filter leaves of all there is: it asks anew each time something has changed, and `draw` is
/// called with the answer.
export function filtered(what, query, draw, fail) {
  const view = filters[what];
  if (!query) {
    filters[what] = null;
    return state[what];
  }
  if (view && view.query === query && view.of === state[what]) return view.view;
  if (!view || !view.asking) {
    filters[what] = { ...view, asking: true };
    const of = state[what];
    ask(`${what}?${query}`).then(
      (answer) => {
        filters[what] = { query, of, view: answer };
        draw();
      },
      (error) => {
        filters[what] = null;
        if (error.status) fail(error.message);
      },
    );
  }
  return (view && view.view) || state[what];
}

/// A query of those fields that say something.
export function queryOf(fields) {
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value)).toString();
}
